"""The errors that can end a run early, with their texts and their exit codes."""

import signal
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

from registrar.texts.escaping import Lines
from registrar.texts.messages import Message, msg


class Kind(Enum):
    """The meaning of a failure, or of a refusal of GitHub. Only ``github/`` knows status codes."""

    PARTIAL = auto()
    """GraphQL gave only a part of the data, so a query has to ask for less at once."""
    TIMED_OUT = auto()
    """GraphQL ran out of time. Mostly this passes; otherwise a query has to ask for less at once.
    """
    NOT_FOUND = auto()
    """A 404 with the words ``Not Found``. Only this kind means that a file is missing."""
    ALREADY_EXISTS = auto()
    """A path, a branch or a pull request that the request creates exists already."""
    TOO_LARGE = auto()
    """The file exists, but it is too large to be shown."""
    UNRELATED = auto()
    """Two commits cannot be compared, because they have no commit in common."""
    EMPTY_REPOSITORY = auto()
    NO_LIMITS = auto()
    """The Enterprise Server has no rate limits, so it cannot report them."""
    TOKEN_REJECTED = auto()
    PERMISSION = auto()
    """The token may not do this (single sign-on included)."""
    VALIDATION = auto()
    """GitHub does not accept a value of the request."""
    NO_DRAFTS = auto()
    """The plan of the repository has no draft pull requests."""
    STALE = auto()
    """The branch is not at the commit that the write expects."""
    REFUSED = auto()
    """Any other clear refusal: a rule, a path below a file."""
    LAG = auto()
    """A branch, a file or a pull request that this run has made is not visible everywhere yet."""
    LIMIT = auto()
    """A rate limit, primary or secondary."""
    TRANSIENT = auto()
    """A failure that may be gone the next time: server error, time-out, lost connection."""
    UNEXPECTED = auto()
    """A message of GitHub that registrar does not know, so it concludes nothing from it."""
    UNUSABLE = auto()
    """No answer of GitHub's API: a proxy's page, a body cut off, a field of another type."""
    FATAL = auto()
    """A failure that comes again if the request is repeated: certificates, redirects."""
    NOT_BEGUN = auto()
    """registrar itself refuses to begin, because of the inputs or a repository that cannot be
    written to."""
    USED_UP = auto()
    """The token's rate limit does not suffice for the next requests."""
    OUT_OF_TIME = auto()
    """The run would have to wait longer than it may."""
    MOVED = auto()
    """Another repository has the name by now, or the repository is more private than before."""
    OUT_OF_REACH = auto()
    """Since it was read, the repository was archived, or the selection does not match its new name.
    """
    CANCELLED = auto()
    """A signal ended the run."""
    OTHER = auto()
    """Any other failure. No decision depends on this kind."""


NOTHING_DONE = frozenset(
    {
        Kind.NOT_FOUND,
        Kind.ALREADY_EXISTS,
        Kind.TOO_LARGE,
        Kind.UNRELATED,
        Kind.EMPTY_REPOSITORY,
        Kind.NO_LIMITS,
        Kind.TOKEN_REJECTED,
        Kind.PERMISSION,
        Kind.VALIDATION,
        Kind.NO_DRAFTS,
        Kind.STALE,
        Kind.REFUSED,
        Kind.NOT_BEGUN,
        Kind.MOVED,
        Kind.OUT_OF_REACH,
        Kind.USED_UP,
    }
)
"""Clear refusals, which have changed nothing."""
ASK_FOR_LESS = frozenset({Kind.PARTIAL, Kind.TIMED_OUT})
"""Failures that a query for less data may avoid."""
ENDS_THE_READING = frozenset({Kind.TOKEN_REJECTED, Kind.FATAL})
"""Failures with which the reading of any other repository would end, too."""
ENDS_THE_WRITING = frozenset({Kind.TOKEN_REJECTED, Kind.USED_UP, Kind.OUT_OF_TIME, Kind.CANCELLED})
"""Failures with which the writing to any other repository would end, too."""
FROM_ELSEWHERE = ENDS_THE_WRITING | {
    Kind.LIMIT,
    Kind.TRANSIENT,
    Kind.UNUSABLE,
    Kind.FATAL,
    Kind.LAG,
}
"""Failures for which a repository itself gives no reason."""
LEAVES_FOR_NEXT_RUN = frozenset({Kind.USED_UP, Kind.OUT_OF_TIME, Kind.CANCELLED, Kind.MOVED})
"""Failures that are not about the repository, so the next run begins or finishes it."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The reason of a failure. Two are equal if the failures differ only in names, numbers or
    addresses.
    """

    message: Message = field(compare=False)
    """The reason alone, without the operation that failed."""
    identity: str


class Failure(NamedTuple):
    """A failure, as it is reported and as other code decides by it."""

    kind: Kind
    message: Message
    """The text for a person: the problem, its place, and the remedy."""
    cause: Cause
    may_have_been_applied: bool = False
    """Whether a write may have been applied in spite of the failure."""

    @classmethod
    def of(
        cls,
        message: Message,
        kind: Kind = Kind.OTHER,
        *,
        about: str = "",
    ) -> "Failure":
        """Make a failure that registrar itself has found.

        Two failures with the same sentence have different causes if their ``about`` differs, for
        example in a path.
        """
        return cls(kind, message, Cause(message, f"{message.identity} {about}"))


EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_REFUSED = 2
EXIT_CANCELLED = 128
"""The exit code is the sum of this and the number of the signal, as in a shell."""


class RegistrarError(Exception):
    """The run, or one of its registrations, cannot go on."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.cause.identity)
        self.failure = failure

    @property
    def message(self) -> Message:
        """The text for a person: the problem, its place, and the remedy."""
        return self.failure.message

    @property
    def kind(self) -> Kind:
        return self.failure.kind

    @property
    def nothing_done(self) -> bool:
        """Whether the failed operation has certainly changed nothing."""
        return self.kind in NOTHING_DONE and not self.failure.may_have_been_applied


class Refused(RegistrarError):
    """The run must not start, or must not write."""

    def __init__(self, message: Message, kind: Kind = Kind.NOT_BEGUN) -> None:
        super().__init__(Failure.of(message, kind))


class OutOfTime(RegistrarError):
    """Waiting any longer would exceed ``max_wait_minutes``, or the end of the run."""

    def __init__(self, failure: Failure, waits_for: Message) -> None:
        """``waits_for`` names in a few words the reason and the end of the waiting."""
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
    """Inputs or a definition file cannot be used. The error has all diagnostics."""

    def __init__(
        self, diagnostics: Sequence[Diagnostic], warnings: Sequence[Diagnostic] = ()
    ) -> None:
        """``diagnostics`` has at least one; ``warnings`` were found in the same input."""
        super().__init__(diagnostics[0].message)
        self.diagnostics = tuple(diagnostics)
        self.warnings = tuple(warnings)


class Cancelled(BaseException):
    """A signal asked the run to end.

    It is not an `Exception`, so that code which goes on after a failed file does not catch it.
    """

    def __init__(self, signal_number: int) -> None:
        """``signal_number`` is the number of SIGINT or SIGTERM."""
        super().__init__(signal_number)
        self.signal_number = signal_number


def exit_code(error: BaseException, *, wrote: bool) -> int:
    """Return the exit code of a run or a registration that ``error`` ended.

    ``wrote`` is true if something was, or may have been, written.
    """
    if isinstance(error, Cancelled):
        return EXIT_CANCELLED + error.signal_number
    refused = isinstance(error, RegistrarError) and error.nothing_done
    return EXIT_REFUSED if refused and not wrote else EXIT_FAILED


def describe(error: BaseException, branch: str = "", *, wrote: bool = True) -> Failure:
    """Return the failure for an error that ended a run or a registration.

    ``branch`` is its working branch; empty if there is none yet. ``wrote`` is false if it is known
    that nothing was written.
    """
    if isinstance(error, RegistrarError):
        return error.failure
    if isinstance(error, Cancelled):
        key = "run.cancelled" if wrote else "run.cancelled_before"
        key = "run.cancelled_on_branch" if branch else key
        name = signal.Signals(error.signal_number).name
        return Failure.of(msg(key, signal=name, branch=branch), Kind.CANCELLED)
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    name = type(error).__name__
    # The error may contain parts of an answer, so its text is marked as GitHub's words
    return Failure.of(
        msg("run.unexpected", error=Lines(f"{name}: {error}"), where=where), about=where
    )
