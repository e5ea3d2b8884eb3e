"""A run over many repositories: list them, read them, report the budget, write one by one."""
