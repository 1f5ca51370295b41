"""Which flags to use: settings that hold a workload on given hardware, found by search, proven by the forecast."""
