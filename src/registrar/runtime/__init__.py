"""What a run has of the machine.

For others: `clock` and `cancellation` are time and signals, as arguments; `concurrency` works on
several threads, `workspace` reads files, `loopback` knows the addresses of the machine itself.
"""
