"""The strategies: how a repository is read and written."""
