"""The nouns, and the arithmetic that no engine can change."""
