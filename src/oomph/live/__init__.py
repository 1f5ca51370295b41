"""Running engines: driven, watched and guarded."""
