"""Files with lists: from the text of one to the files that a repository should have.

For others: `loading` reads such a file, `profiles` has the built-in ones.
"""
