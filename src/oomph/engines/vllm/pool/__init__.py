"""The KV pool of vLLM: what each layer keeps, how layers share blocks, and how many blocks there are."""
