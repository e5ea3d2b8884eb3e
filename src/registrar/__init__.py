"""registrar: creates the files of a list that a repository lacks, and opens one pull request."""

__version__ = "0.1.0"
