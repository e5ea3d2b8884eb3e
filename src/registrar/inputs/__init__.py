"""Options and environment -> settings, with every diagnostic at once.

`cli` reads the command line, `reading` all inputs together, `settings` is what comes out;
`environment` knows the variables of the runner, `interface` every input and its default.
"""
