"""Holds what oomph computes against what vLLM itself answers, model by model and setting by setting."""
