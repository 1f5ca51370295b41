"""Nouns → what people and programs read."""
