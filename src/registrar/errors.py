"""What can end a run early, its text, and the exit code that it leads to."""

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
    """What a failure, or a refusal of GitHub, means; status codes stay in ``github/``."""

    PARTIAL = auto()
    """GraphQL gave only a part of the data: ask for less at once."""
    TIMED_OUT = auto()
    """GraphQL ran out of time: mostly that passes, or less has to be asked for at once."""
    NOT_FOUND = auto()
    """A 404 that says ``Not Found``: the only thing that means missing."""
    ALREADY_EXISTS = auto()
    """What was to be created exists."""
    TOO_LARGE = auto()
    """What was asked for exists, and is too large to be shown."""
    UNRELATED = auto()
    """Two commits that were to be compared have none in common."""
    EMPTY_REPOSITORY = auto()
    NO_LIMITS = auto()
    """An Enterprise Server without rate limits, asked for them."""
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
    """Any other clear refusal: a rule, an archived repository, a path below a file."""
    LAG = auto()
    """What this run made is not known everywhere yet."""
    LIMIT = auto()
    """A rate limit, primary or secondary."""
    TRANSIENT = auto()
    """A failure that may be gone the next time: server error, time-out, lost connection."""
    UNEXPECTED = auto()
    """A message of GitHub that we do not know: nothing is concluded from it."""
    UNUSABLE = auto()
    """No answer of GitHub's API: a proxy's page, a body cut off, a field of another type."""
    FATAL = auto()
    """A failure that trying again does not mend: certificates, redirects."""
    NOT_BEGUN = auto()
    """The run itself refuses to begin: inputs, or a repository that cannot be written to."""
    USED_UP = auto()
    """The token's rate limit does not suffice for what comes next."""
    OUT_OF_TIME = auto()
    """Going on would last longer than the run may wait."""
    MOVED = auto()
    """The repository is not the one that was chosen, or no longer chosen under its name."""
    CANCELLED = auto()
    """A signal ended the run."""
    OTHER = auto()
    """Nothing is decided by it."""


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
        Kind.USED_UP,
    }
)
"""A clear refusal: it has changed nothing."""
ASK_FOR_LESS = frozenset({Kind.PARTIAL, Kind.TIMED_OUT})
"""A query for less may not meet this."""
ENDS_THE_READING = frozenset({Kind.TOKEN_REJECTED, Kind.FATAL})
"""Reading any other repository would fail alike."""
ENDS_THE_WRITING = frozenset({Kind.TOKEN_REJECTED, Kind.USED_UP, Kind.OUT_OF_TIME, Kind.CANCELLED})
"""Writing to any other repository would end alike."""
LEAVES_FOR_NEXT_RUN = frozenset({Kind.USED_UP, Kind.OUT_OF_TIME, Kind.CANCELLED, Kind.MOVED})
"""Nothing is wrong with the repository: the next run does it, or finishes it."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something failed; equal for failures that differ only in names, numbers or addresses."""

    message: Message = field(compare=False)
    """The reason by itself, without what was being done."""
    identity: str
    told: Message | None = field(default=None, compare=False)
    """What those are told who may not know which repository it is about: it names nothing.
    ``None``: the kind of the failure alone."""


class Failure(NamedTuple):
    """What went wrong."""

    kind: Kind
    message: Message
    """What a person reads: what is wrong, where, and what to do."""
    cause: Cause
    may_have_been_applied: bool = False
    """Whether a write may have been applied all the same."""

    @classmethod
    def of(
        cls,
        message: Message,
        kind: Kind = Kind.OTHER,
        *,
        about: str = "",
        told: Message | None = None,
    ) -> "Failure":
        """Make a failure that we found ourselves.

        ``about`` is what besides the sentence makes it another cause: a path for example. ``told``
        is that of its `Cause`.
        """
        return cls(kind, message, Cause(message, f"{message.identity} {about}", told))


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

    def __init__(
        self, diagnostics: Sequence[Diagnostic], warnings: Sequence[Diagnostic] = ()
    ) -> None:
        """``diagnostics`` holds at least one; ``warnings`` were found besides."""
        super().__init__(diagnostics[0].message)
        self.diagnostics = tuple(diagnostics)
        self.warnings = tuple(warnings)


class Cancelled(BaseException):
    """A signal asked the run to end.

    Not an `Exception`: what keeps a failed file from stopping the run must not catch it.
    """

    def __init__(self, signal_number: int) -> None:
        """``signal_number`` is that of SIGINT or SIGTERM."""
        super().__init__(signal_number)
        self.signal_number = signal_number


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
        name = signal.Signals(error.signal_number).name
        return Failure.of(msg(key, signal=name, branch=branch), Kind.CANCELLED)
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    name = type(error).__name__
    # Its words may hold whatever an answer held
    return Failure.of(
        msg("run.unexpected", error=Lines(f"{name}: {error}"), where=where), about=where
    )
