"""What one rank of vLLM allocates for a model's weights."""
