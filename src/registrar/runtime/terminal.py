"""Asks the person at the terminal for confirmation before a run writes."""

import os
import select
import termios

from registrar.runtime.cancellation import NAP_SECONDS, Cancellation

_PLACE = "/dev/tty"
"""The terminal that controls the process, also if standard input or output is something else."""
_MOST_BYTES = 1024
"""The largest number of bytes of an answer. A terminal gives one line at a time."""
_YES = frozenset({"yes", "はい"})
"""The question names both, and says that anything else writes nothing."""


def is_attended() -> bool:
    """Whether standard input is a terminal. The steps of a workflow never have one as their input,
    even if somebody has started the runner at a terminal.
    """
    return os.isatty(0)


def says_yes(question: str, cancellation: Cancellation) -> bool | None:
    """Ask at the terminal of this process, and return whether the answer is a yes.

    ``None`` if nobody can be asked, because there is no terminal, or because the process is in the
    background: the system would stop it as soon as it reads. The end of the input counts as a no.
    Raises `Cancelled` if a signal arrives.
    """
    try:
        terminal = os.open(_PLACE, os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return None
    try:
        if os.tcgetpgrp(terminal) != os.getpgrp():
            return None
        # A key that was pressed before the question appears does not answer it
        termios.tcflush(terminal, termios.TCIFLUSH)
        os.write(terminal, f"{question}\n".encode(errors="backslashreplace"))
        while not select.select([terminal], [], [], NAP_SECONDS)[0]:
            cancellation.check()
        answer = os.read(terminal, _MOST_BYTES)
    except (OSError, termios.error):
        # The terminal was closed
        return False
    finally:
        os.close(terminal)
    return answer.decode(errors="replace").strip().lower() in _YES
