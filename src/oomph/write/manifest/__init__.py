"""A command as something one can run: a shell line, a container, a manifest, a Python call, or files for them."""
