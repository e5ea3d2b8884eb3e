"""What a run has of the machine.

For others: `cancellation` has time and signals, as arguments; `concurrency` works on several
threads, `workspace` reads files, `terminal` asks, `addresses` knows which are its own.
"""
