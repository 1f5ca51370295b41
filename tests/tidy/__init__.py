"""The repository's own rules."""
