"""The flags of `vllm serve` by release: the noun, the two tables, and how a name is found."""
