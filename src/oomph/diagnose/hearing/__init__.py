"""How lines of a log become a case: what is said, by whom, what failed first, and when."""
