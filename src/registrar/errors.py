"""What can end a run early; every error knows its text and its exit code."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass

from registrar.texts.messages import Message

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_REFUSED = 2
EXIT_CANCELLED = 128
"""Added to the number of the signal, as a shell reports it."""


class RegistrarError(Exception):
    """The run, or one of its registrations, cannot go on."""

    exit_code = EXIT_FAILED

    def __init__(self, message: Message) -> None:
        """Keep the text that a person will read: what is wrong, where, and what to do."""
        super().__init__(message.key)
        self.message = message


class Refused(RegistrarError):
    """The run must not start, or must not write: nothing was written (exit code 2)."""

    exit_code = EXIT_REFUSED


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One diagnostic of the input, with its place (``line`` counts from 1)."""

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

    def __init__(self, signal_number: int) -> None:
        """``signal_number`` is the signal that asked."""
        super().__init__(signal_number)
        self.signal_number = signal_number
        self.may_have_been_applied = False
        """Whether a write may have been applied."""

    @property
    def exit_code(self) -> int:
        """Exit code of a process that the signal ended."""
        return EXIT_CANCELLED + self.signal_number

    @property
    def signal_name(self) -> str:
        """``SIGINT`` or ``SIGTERM``."""
        return signal.Signals(self.signal_number).name
