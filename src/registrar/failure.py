"""What went wrong, as a value: decisions ask for its kind, groups compare its cause."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from registrar.texts.messages import Message


class Kind(Enum):
    """What an answer of GitHub, or a failure, means; status codes stay in ``github/``."""

    SUCCESS = auto()
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
    EMPTY_REPOSITORY = auto()
    NO_LIMITS = auto()
    """An Enterprise Server without rate limits, asked for them."""
    TOKEN_REJECTED = auto()
    PERMISSION = auto()
    """The token may not do this (single sign-on included)."""
    VALIDATION = auto()
    """GitHub does not take a value of the request."""
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
    """Going on would take longer than the run may wait."""
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


class Failure(NamedTuple):
    """What went wrong."""

    kind: Kind
    message: Message
    """What a person reads: what is wrong, where, and what to do."""
    cause: Cause
    may_have_been_applied: bool = False
    """Whether a write may have been applied all the same."""

    @classmethod
    def of(cls, message: Message, kind: Kind = Kind.OTHER, *, about: str = "") -> Failure:
        """Make a failure that we found ourselves.

        ``about`` is what besides the sentence makes it another cause: a path for example.
        """
        return cls(kind, message, Cause(message, f"{message.sentence} {about}"))
