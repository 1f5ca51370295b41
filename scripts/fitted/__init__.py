"""`fit` held against the corpus: whoever could not start, asked again with the same model, device and release."""
