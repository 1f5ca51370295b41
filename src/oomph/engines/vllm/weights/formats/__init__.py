"""What a quantized matrix takes on one rank, one file per format."""
