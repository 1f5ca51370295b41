"""Reading the published releases of vLLM as source: fetch a tree, extract what it says, compare two."""
