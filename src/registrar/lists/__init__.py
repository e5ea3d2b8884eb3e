"""Reads definition files: from the text of a file to the entries and rules of a list.

Other packages use `loading`, which reads such a file, and `profiles`, which has the built-in lists.
"""
