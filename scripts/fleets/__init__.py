"""A made-up fleet, to see how long a Prometheus needs for the rules."""
