"""The world → nouns: what people type, what files, drivers and servers say."""
