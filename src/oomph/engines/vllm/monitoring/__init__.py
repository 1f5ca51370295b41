"""Which question of an operator is answered by which expression, in which release."""
