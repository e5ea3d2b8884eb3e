"""The parts of the machine that a run uses: time, signals, threads, files and the terminal.

Other packages use `cancellation` for time and signals, `concurrency` for threads, `workspace` to
read files, `terminal` to ask a question, and `addresses` for the machine's own addresses.
"""
