"""A run over many repositories: select, read, say the budget, write one after the other."""
