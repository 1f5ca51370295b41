"""What a probe of a machine means for an engine."""
