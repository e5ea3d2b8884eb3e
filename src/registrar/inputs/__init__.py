"""Reads the options and the environment into settings, and reports every diagnostic at once.

Other packages use `reader` for the settings, `cli` for the command line, `environment` for the
variables of the runner, and `lists` to load the lists of a run.
"""
