"""Runs inside the engine environment and puts questions to one release of vLLM. Never imports oomph.

The engine is the judge: nothing here computes a size. Its functions are called with faked edges, and what they return,
print or raise is the answer.
"""
