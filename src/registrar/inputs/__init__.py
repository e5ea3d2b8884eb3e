"""Options and environment -> settings, with every diagnostic at once.

`settings` reads them all, `cli` the command line; `interface` knows every input and its default,
`environment` the variables of the runner.
"""
