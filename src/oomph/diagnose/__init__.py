"""From what is known of an engine to what is wrong with it, and what would help: pure."""
