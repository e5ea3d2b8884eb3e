"""A run over many repositories: list, read, report the budget, write one after the other."""
