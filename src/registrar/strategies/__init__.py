"""The ways to read and to write a repository."""
