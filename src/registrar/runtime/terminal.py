"""Asks the person at a terminal for confirmation before a run writes."""

import os
import select
from collections.abc import Mapping
from typing import TextIO

from registrar.runtime.cancellation import NAP_SECONDS, Cancellation

_MOST_BYTES = 1024
"""The largest number of bytes of an answer. A terminal gives one line at a time."""
_YES = frozenset({"y", "yes", "はい"})


class Terminal:
    """A terminal with a person who reads the output and can answer."""

    def __init__(self, stdin: TextIO, cancellation: Cancellation) -> None:
        self._descriptor = stdin.fileno()
        self._cancellation = cancellation

    @classmethod
    def found(
        cls,
        environ: Mapping[str, str],
        stdin: TextIO | None,
        stdout: TextIO,
        cancellation: Cancellation,
    ) -> "Terminal | None":
        """Return the terminal; ``None`` if there is none, or if the variable ``CI`` is set.

        GitHub and most other services that run workflows set it
        (https://docs.github.com/en/actions/reference/workflows-and-actions/variables).
        """
        is_alone = environ.get("CI", "").lower() not in {"", "0", "false"}
        if is_alone or stdin is None or not (stdin.isatty() and stdout.isatty()):
            return None
        return cls(stdin, cancellation)

    def says_yes(self) -> bool:
        """Wait for one line, and return whether it is a yes. The end of the input counts as a no.

        Raises `Cancelled` if a signal arrives.
        """
        while not select.select([self._descriptor], [], [], NAP_SECONDS)[0]:
            self._cancellation.check()
        try:
            answer = os.read(self._descriptor, _MOST_BYTES)
        except OSError:
            # The terminal was closed
            return False
        return answer.decode(errors="replace").strip().lower() in _YES
