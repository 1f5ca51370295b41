"""What no formula gives: quantities that were measured at real start-ups, as factors on what a formula does give."""
