"""The flags of `vllm serve` by release: the noun, the tables, how a name is found, and how words are spelled."""
