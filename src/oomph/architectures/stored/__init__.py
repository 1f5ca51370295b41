"""A config's section about quantization: how the checkpoint is stored, read as its method says."""
