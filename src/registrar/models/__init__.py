"""The values that travel: spec and files -> repository -> plan -> result. They are frozen."""
