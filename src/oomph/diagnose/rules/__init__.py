"""One file, one rule. Codes are never reused."""
