"""Rules on running engines: what their figures say is wrong now, one file each."""
