"""What can end a run early, its text, and the exit code that it leads to."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from registrar.failure import NOTHING_DONE, Failure, Kind
from registrar.texts.messages import Message, msg

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_REFUSED = 2
EXIT_CANCELLED = 128
"""Added to the number of the signal, as a shell reports it."""


class RegistrarError(Exception):
    """The run, or one of its registrations, cannot go on."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.cause.identity)
        self.failure = failure

    @property
    def message(self) -> Message:
        """The text that a person will read: what is wrong, where, and what to do."""
        return self.failure.message

    @property
    def kind(self) -> Kind:
        return self.failure.kind

    @property
    def nothing_done(self) -> bool:
        """Whether what failed is certain to have changed nothing."""
        return self.kind in NOTHING_DONE and not self.failure.may_have_been_applied


class Refused(RegistrarError):
    """The run must not start, or must not write."""

    def __init__(self, message: Message, kind: Kind = Kind.NOT_BEGUN) -> None:
        super().__init__(Failure.of(message, kind))


class OutOfTime(RegistrarError):
    """Waiting any longer would exceed ``max_wait_minutes``, or the end of the run."""

    def __init__(self, failure: Failure, waits_for: Message) -> None:
        """``waits_for`` says in a few words what would have been waited for, and until when."""
        super().__init__(failure)
        self.waits_for = waits_for


class GitHubError(RegistrarError):
    """GitHub refused a request, or gave no usable answer."""

    @property
    def already_exists(self) -> bool:
        return self.kind is Kind.ALREADY_EXISTS

    @property
    def may_have_been_applied(self) -> bool:
        """Whether the write may have been applied, in any of its tries."""
        return self.failure.may_have_been_applied


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

    def __init__(self, signal_number: int) -> None:
        """``signal_number`` is that of SIGINT or SIGTERM."""
        super().__init__(signal_number)
        self.signal_number = signal_number

    @property
    def signal_name(self) -> str:
        """``SIGINT``, ``SIGTERM`` or ``SIGHUP``."""
        return signal.Signals(self.signal_number).name


def exit_code(error: BaseException, *, wrote: bool) -> int:
    """Exit code of what ``error`` ended; ``wrote``: something was, or may have been, written."""
    if isinstance(error, Cancelled):
        return EXIT_CANCELLED + error.signal_number
    refused = isinstance(error, RegistrarError) and error.nothing_done
    return EXIT_REFUSED if refused and not wrote else EXIT_FAILED


def describe(error: BaseException, branch: str = "") -> Failure:
    """Describe what ended a run or a registration, which had ``branch`` as its working branch."""
    if isinstance(error, RegistrarError):
        return error.failure
    if isinstance(error, Cancelled):
        key = "run.cancelled_on_branch" if branch else "run.cancelled"
        return Failure.of(msg(key, signal=error.signal_name, branch=branch), Kind.CANCELLED)
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    name = type(error).__name__
    return Failure.of(msg("run.unexpected", error=f"{name}: {error}", where=where), about=where)
