"""How well logs of failures are explained: the parts of `scripts/score_explain`."""
