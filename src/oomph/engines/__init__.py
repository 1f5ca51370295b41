"""What each release of each engine does: one package per engine, over one way to write down what changed when."""
