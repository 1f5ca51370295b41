"""What several rules reason with: sums, phases, and the sentences of one part of the way up."""
