"""Definition files: from the text of a list to the files that a repository should have."""
