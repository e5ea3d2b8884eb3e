"""The values that travel: spec and files -> repository -> plan -> result.

They are named tuples: nobody changes them, and a class is made five times as fast as a frozen
dataclass, which counts when a run makes fifty of them before its first request.
"""
