"""One repository: the decision about branch and pull request, and the writing of the files."""
