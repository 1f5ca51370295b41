"""vLLM: its releases, what each does with memory, and how each writes it down."""
