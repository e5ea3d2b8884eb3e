"""The outcome of a request to GitHub, and the error for one that did not succeed."""

from __future__ import annotations

from enum import Enum, auto

from registrar.errors import RegistrarError
from registrar.texts.messages import Message


class Kind(Enum):
    """What an answer means; the rest of the program sees no status codes."""

    SUCCESS = auto()
    PARTIAL = auto()
    """GraphQL gave only a part of the data: ask for less at once."""
    NOT_FOUND = auto()
    """A 404 that says ``Not Found``: the only thing that means missing."""
    ALREADY_EXISTS = auto()
    """What was to be created exists."""
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


NOTHING_DONE = frozenset(
    {
        Kind.NOT_FOUND,
        Kind.ALREADY_EXISTS,
        Kind.EMPTY_REPOSITORY,
        Kind.NO_LIMITS,
        Kind.TOKEN_REJECTED,
        Kind.PERMISSION,
        Kind.VALIDATION,
        Kind.NO_DRAFTS,
        Kind.STALE,
        Kind.REFUSED,
    }
)
"""A clear refusal: the request itself has changed nothing."""
ENDS_THE_RUN = frozenset({Kind.TOKEN_REJECTED, Kind.FATAL})
"""What would be the same for every other repository."""


class OutOfTime(RegistrarError):
    """Waiting any longer would exceed ``max_wait_minutes``."""

    def __init__(
        self, message: Message, cause: Message, *, may_have_been_applied: bool = False
    ) -> None:
        """``cause`` says in a few words what would have been waited for, and until when.

        ``may_have_been_applied`` is about the write that was waiting, all tries together.
        """
        super().__init__(message)
        self.cause = cause
        self.may_have_been_applied = may_have_been_applied


class GitHubError(RegistrarError):
    """GitHub refused a request, or gave no usable answer."""

    def __init__(
        self,
        message: Message,
        kind: Kind,
        *,
        may_have_been_applied: bool = False,
    ) -> None:
        """``may_have_been_applied`` is about this request, all tries together."""
        super().__init__(message)
        self.kind = kind
        self.nothing_done = kind in NOTHING_DONE
        self.may_have_been_applied = may_have_been_applied

    @property
    def already_exists(self) -> bool:
        """Whether what was to be created exists."""
        return self.kind is Kind.ALREADY_EXISTS
