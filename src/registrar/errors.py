"""What can end a run early, its text, and the exit code that it leads to."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from registrar.texts.messages import Message, msg

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_REFUSED = 2
EXIT_CANCELLED = 128
"""Added to the number of the signal, as a shell reports it."""


class RegistrarError(Exception):
    """The run, or one of its registrations, cannot go on."""

    nothing_done = False
    """Whether what failed is certain to have changed nothing."""

    def __init__(self, message: Message) -> None:
        """Keep the text that a person will read: what is wrong, where, and what to do."""
        super().__init__(message.key)
        self.message = message


class Refused(RegistrarError):
    """The run must not start, or must not write."""

    nothing_done = True


class Diagnostic(NamedTuple):
    """An error or a warning about the input, with its place (``line`` counts from 1)."""

    message: Message
    file: str | None = None
    line: int | None = None


class InvalidInput(Refused):
    """Inputs or a definition file cannot be used; carries every diagnostic at once."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        """``diagnostics`` holds at least one."""
        super().__init__(diagnostics[0].message)
        self.diagnostics = tuple(diagnostics)


class Cancelled(BaseException):
    """A signal asked the run to end.

    Not an `Exception`: what keeps a failed file from stopping the run must not catch it.
    """

    def __init__(self, signal_number: int, *, may_have_been_applied: bool = False) -> None:
        """``may_have_been_applied`` is about the write in progress."""
        super().__init__(signal_number)
        self.signal_number = signal_number
        self.may_have_been_applied = may_have_been_applied
        """Whether a write may have been applied."""

    @property
    def signal_name(self) -> str:
        """``SIGINT`` or ``SIGTERM``."""
        return signal.Signals(self.signal_number).name


def exit_code(error: BaseException, *, wrote: bool) -> int:
    """Exit code of what ``error`` ended; ``wrote``: something was, or may have been, written."""
    if isinstance(error, Cancelled):
        return EXIT_CANCELLED + error.signal_number
    refused = isinstance(error, RegistrarError) and error.nothing_done
    return EXIT_REFUSED if refused and not wrote else EXIT_FAILED


def describe(error: BaseException, branch: str = "") -> Message:
    """Describe what ended a run or a registration, which had ``branch`` as its working branch."""
    if isinstance(error, RegistrarError):
        return error.message
    if isinstance(error, Cancelled):
        key = "run.cancelled_on_branch" if branch else "run.cancelled"
        return msg(key, signal=error.signal_name, branch=branch)
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    return msg("run.unexpected", error=f"{type(error).__name__}: {error}", where=where)
