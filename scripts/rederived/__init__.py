"""What guides say about sizes, asked again: each figure of docs/explain/sizing-rederived.md is made here."""
