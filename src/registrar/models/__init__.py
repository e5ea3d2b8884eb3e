"""The values that travel: spec and files -> repository -> task -> record.

They are named tuples, which nobody changes: such a class is made five times as fast as a frozen
dataclass, which counts when a run makes fifty of them before its first request. Only `RunResult`
and `ManyResult` grow while the run goes on, so that what was done is known however it ends.
"""
