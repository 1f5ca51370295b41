"""What a proof means: what to send, what became of it, and what follows. Pure."""
