"""What vLLM computes, as pure functions; the tables in `facts` say which release uses which."""
