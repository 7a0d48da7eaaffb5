"""Which construction serves a machine best: the list, the prices, the choice."""
