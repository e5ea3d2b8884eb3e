"""One repository: what is missing, which branch and pull request, and the writing of both."""
