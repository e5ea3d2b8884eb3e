"""Decides which listed paths a repository has, and which other files count as a listed one.

Other packages use `tasks` to compare a repository with a list, `alternatives` to look into
directories, `special_files` for the places where GitHub looks for a file, and `names` for names
that some operating systems cannot tell apart.
"""
