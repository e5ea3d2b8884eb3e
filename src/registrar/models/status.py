"""The need of a list in a repository, as the plan says it, and the state that people read."""

from enum import Enum, StrEnum


class Status(StrEnum):
    """The state of a repository in a run over many; states that need a person come first."""

    FAILED = "failed"
    OPENED = "opened"
    UPDATED = "updated"
    WITHDRAWN = "withdrawn"
    CLOSED = "closed"
    TO_OPEN = "to open"
    """Files are missing, and no open pull request proposes any of them."""
    TO_UPDATE = "to update"
    """The open pull request lacks files, or has earlier content of the list."""
    TO_CLOSE = "to close"
    """The default branch seems to have every file that an open pull request adds."""
    TO_WITHDRAW = "to withdraw"
    """An open pull request seems to have only files of registrar."""
    DEFERRED = "deferred"
    """Left for the next run, because of a limit."""
    NOT_WRITABLE = "not writable"
    """Something is to be done, but the token may not write to the repository."""
    NOT_NAMED = "not named"
    """Files are missing, but only a pattern selects the repository, which has the defaults of its
    owner; see `RegistrationSpec.opens_nothing`."""
    UNREAD = "not read"
    """Reading it alone would have taken more points, or more time, than were left."""
    CONFLICTING = "conflicting"
    """Its open pull request has every missing file, but cannot be merged."""
    WAITING = "waiting"
    """Its open pull request has every missing file."""
    NOT_PROPOSED = "not proposed"
    """Files are missing, no open pull request proposes them, and the run does not propose them."""
    BLOCKED = "blocked"
    """All missing paths are below a file, a link or a submodule."""
    UNSET = "unset"
    """The absent files need a custom property that is unset."""
    DECLINED = "declined"
    """All absent files were declined."""
    COMPLETE = "complete"
    """Every listed path is present."""

    @property
    def place(self) -> int:
        """The place among the states, from 0.

        If a repository has several lists, the state with the lowest place is the repository's.
        """
        return _PLACES[self]


_PLACES = {each: place for place, each in enumerate(Status)}
WRITTEN = frozenset({Status.OPENED, Status.UPDATED, Status.WITHDRAWN, Status.CLOSED})
"""The run has opened or changed a pull request, even if something else failed."""


class Need(Enum):
    """The need of a list in a repository. Only `make_plan` says it, from all paths together.

    The value is the state of a repository in which nothing was done about it yet.
    """

    OPEN = Status.TO_OPEN
    """Files are to be proposed by a new pull request."""
    UPDATE = Status.TO_UPDATE
    """Files are to be added to the open pull request, or updated in it."""
    CLOSE = Status.TO_CLOSE
    """Pull requests that are no longer needed are to be closed, and nothing else is to be done."""
    WITHDRAW = Status.TO_WITHDRAW
    WAITING = Status.WAITING
    CONFLICTING = Status.CONFLICTING
    NOT_NAMED = Status.NOT_NAMED
    NOT_PROPOSED = Status.NOT_PROPOSED
    DECLINED = Status.DECLINED
    UNSET = Status.UNSET
    BLOCKED = Status.BLOCKED
    COMPLETE = Status.COMPLETE
    CANNOT = Status.FAILED
    """It is known that no missing file can be created."""

    @property
    def is_work(self) -> bool:
        """Whether a run that writes has to open, change or close a pull request."""
        return self in {Need.OPEN, Need.UPDATE, Need.CLOSE, Need.WITHDRAW}

    @property
    def only_waits(self) -> bool:
        """Whether a pull request is open and needs no change."""
        return self in {Need.WAITING, Need.CONFLICTING}
