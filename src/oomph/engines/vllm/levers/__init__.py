"""What can be turned when a start-up does not fit, what that costs, and what is often turned in vain: pure."""
