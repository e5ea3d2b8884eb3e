"""Options and environment -> settings, with every diagnostic at once.

For others: `reader` gives what a run was asked to do, `cli` reads the command line, `environment`
the variables of the runner, `lists` the lists of a run.
"""
