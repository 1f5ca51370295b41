"""Which modules are quantized and how, one file per kind of config."""
