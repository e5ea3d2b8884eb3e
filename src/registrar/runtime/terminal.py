"""A terminal in which somebody can be asked before a run writes."""

import os
import select
from collections.abc import Mapping
from typing import TextIO

from registrar.runtime.cancellation import NAP_SECONDS, Cancellation

_MOST_BYTES = 1024
"""Bytes of an answer that are read: a terminal gives a line at a time."""
_YES = frozenset({"y", "yes", "はい"})


class Terminal:
    """Both ends of a terminal: somebody reads what is printed, and can answer."""

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
        """Give the terminal; ``None`` if there is none, or nobody is at it.

        Most services that run workflows set ``CI``, GitHub among them
        (https://docs.github.com/en/actions/reference/workflows-and-actions/variables).
        """
        is_alone = environ.get("CI", "").lower() not in {"", "0", "false"}
        if is_alone or stdin is None or not (stdin.isatty() and stdout.isatty()):
            return None
        return cls(stdin, cancellation)

    def says_yes(self) -> bool:
        """Wait for one line, and say whether it is a yes; the end of the input counts as no.

        A signal ends the waiting with `Cancelled`.
        """
        while not select.select([self._descriptor], [], [], NAP_SECONDS)[0]:
            self._cancellation.check()
        try:
            answer = os.read(self._descriptor, _MOST_BYTES)
        except OSError:
            # The terminal is gone
            return False
        return answer.decode(errors="replace").strip().lower() in _YES
