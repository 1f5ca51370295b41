"""Load for a running engine, counted to the last token."""
