"""Files with lists: from the text of one to the files that a repository should have.

`loading` reads such a file, `profiles` names the built-in ones, `constraints` says what a list and
a path may be.
"""
