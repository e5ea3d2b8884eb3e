"""Run a command and write to a file its seconds, its peak memory in bytes, and the CPU's seconds.

`python -I measure.py FILE COMMAND …`. A process of its own, because Linux counts the memory of
the process that starts a program as the program's: this one is small.
"""

import os
import resource
import sys
import time


def main(target: str, command: list[str]) -> int:
    """Wait for the command and give its exit code."""
    began = time.monotonic()
    process = os.fork()
    if process == 0:
        try:
            os.execvp(command[0], command)  # noqa: S606 (there is to be none)
        finally:
            os._exit(127)
    _, status = os.waitpid(process, 0)
    seconds = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    # macOS counts bytes, the others kilobytes
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    with open(target, "w", encoding="ascii") as file:  # noqa: PTH123 (pathlib takes memory)
        file.write(f"{seconds:.6f} {peak} {used.ru_utime + used.ru_stime:.6f}\n")
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
