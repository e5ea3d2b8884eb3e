"""The values that the other packages pass on: spec and files -> repository -> task -> record.

They are named tuples, so nobody can change them. Python defines such a class five times as fast as
a frozen dataclass, and a run defines fifty of them before its first request. Only `RunResult`,
`ManyResult` and `Tally` grow while the run goes on, so that a run that ends early can still report
everything that it has done.
"""
