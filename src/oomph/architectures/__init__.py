"""config.json → Geometry: one file per attention family, and one way to find it."""
