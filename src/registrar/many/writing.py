"""The writing: in what order, whether the next repository may be begun, and how it ended."""

import hashlib
import math
from collections.abc import Callable, Iterable
from enum import IntEnum, auto
from typing import TYPE_CHECKING

from registrar.errors import ENDS_THE_WRITING, EXIT_DONE, LEAVES_FOR_NEXT_RUN, Cause, Kind
from registrar.github.limits import interval_for
from registrar.many.reading import unread
from registrar.models.paths import Done
from registrar.models.result import PullRequestOperation, RegistrationResult, Status
from registrar.models.run_result import Budget
from registrar.models.settings import Mode, PullRequestOptions, Settings
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.client import Client
    from registrar.github.limits import Pace


def writes_of(options: PullRequestOptions) -> dict[Status, int]:
    """Writing requests of one pull request, where there are any.

    A new one takes one for everything, an open one two: a commit and its description. Every kind of
    option takes one more; reviewers are asked once.
    """
    always = sum(map(bool, (options.labels, options.assignees)))
    once = sum(map(bool, (options.reviewers, options.team_reviewers)))
    return {
        Status.TO_OPEN: 1 + always + once,
        Status.TO_UPDATE: 2 + always,
        Status.TO_CLOSE: 1,
        Status.TO_WITHDRAW: 1,
    }


def with_writing(read: Budget, settings: Settings) -> Budget:
    """Plan the writing after the reading; a check has none."""
    if settings.mode is Mode.CHECK:
        return read
    most = settings.max_pull_requests
    # Nothing is done about missing files where pull requests are withdrawn
    asked = {} if settings.mode is Mode.WITHDRAW else read.of
    to_open, to_update = asked.get(Status.TO_OPEN, 0), asked.get(Status.TO_UPDATE, 0)
    updates, now = min(to_update, most), min(to_open, most)
    to_close = asked.get(Status.TO_CLOSE, 0)
    closes = min(to_close, most - updates)
    each = writes_of(settings.pull_request)
    writes = now * each[Status.TO_OPEN] + updates * each[Status.TO_UPDATE]
    writes += closes * each[Status.TO_CLOSE]
    writes += read.of[Status.TO_WITHDRAW] * each[Status.TO_WITHDRAW]
    deferred = to_open + to_update + to_close - now - updates - closes
    planned = read._replace(
        now=now, updates=updates, closes=closes, deferred=deferred, writes=writes
    )
    return planned._replace(interval=interval_for(writes))


SAME_CAUSE = 5
"""Failures in a row with one cause that end the writing: the rest would fail, too."""
_OPERATIONS = {
    PullRequestOperation.CREATED: Status.OPENED,
    PullRequestOperation.UPDATED: Status.UPDATED,
    PullRequestOperation.REOPENED: Status.OPENED,
    PullRequestOperation.WITHDRAWN: Status.WITHDRAWN,
    PullRequestOperation.CLOSED: Status.CLOSED,
    PullRequestOperation.NONE: Status.WAITING,
}


class Gate:
    """Whether the next repository may be begun: caps, time, and what ended the last ones."""

    def __init__(self, settings: Settings, pace: "Pace", cancellation: Cancellation) -> None:
        """``pace`` knows when the run ends."""
        self._pace = pace
        self._clock = cancellation.clock
        self._cap = settings.max_pull_requests
        self._opened = 0
        """Pull requests that were, or may have been, opened."""
        self._updated = 0
        """Those that were, or may have been, updated or closed."""
        self._largest = 1
        """Writes that a repository took at most: the next one may take as many."""
        self._causes: list[Cause] = []
        """Of the failures in a row, as long as it is one."""

    @property
    def has_time(self) -> bool:
        """Whether the next repository can be written to before the run ends."""
        write_at = self._clock.monotonic() + self._pace.seconds_until(self._largest)
        return self._pace.end is None or write_at < self._pace.end

    def takes(self, read: RegistrationResult) -> bool:
        """Whether the cap of what it needs leaves room for it; a withdrawal needs none."""
        updated = self._updated
        caps = {
            Status.TO_OPEN: self._opened,
            Status.TO_UPDATE: updated,
            Status.TO_CLOSE: updated,
        }
        return caps.get(read.left_to_do, -1) < self._cap

    def note(
        self, read: RegistrationResult, row: RegistrationResult, *, writes: int, wrote: bool
    ) -> None:
        """Learn from a repository that took ``writes``, and whether a pull request may have."""
        self._largest = max(self._largest, writes)
        is_new = row.operation is PullRequestOperation.CREATED
        is_new |= read.left_to_do is Status.TO_OPEN
        self._opened += wrote and is_new
        self._updated += wrote and not is_new
        failure = row.first_failure
        if row.status is not Status.FAILED or failure is None:
            self._causes = []
        else:
            is_same = self._causes[-1:] == [failure.cause]
            self._causes = [*(self._causes if is_same else []), failure.cause]

    @property
    def is_same_cause(self) -> bool:
        """Whether the last `SAME_CAUSE` repositories failed, and all for one cause."""
        return len(self._causes) == SAME_CAUSE


def writes_left(expected: int, *, done: int, made: int) -> int:
    """Writes that the ``expected`` ones take, when the ``done`` ones took ``made``.

    Where GitHub refuses the one request that does everything, or is slow to know what was just
    made, a pull request takes several.
    """
    return math.ceil(expected * max(made / done, 1.0)) if done else expected


class _Turn(IntEnum):
    """When it is a repository's turn."""

    INTERRUPTED = auto()
    """A run has left a branch without a pull request."""
    USUAL = auto()
    WAITING = auto()
    """It is only looked at again."""
    DOOMED = auto()
    """What was read tells that it is going to fail."""


_MOST_INTERRUPTED = SAME_CAUSE - 1
"""Interrupted ones that come first: a run that is killed leaves one. So many that fail for good do
not end a run before any other one had its turn."""


def in_order(todo: Iterable[RegistrationResult], moment: float) -> list[RegistrationResult]:
    """Put the repositories into the order in which they are written to.

    A few that an interrupted run has left come first, then all by name, from a start that moves
    with the ``moment`` of the run (seconds since the epoch), then those that are only looked at,
    and last what is going to fail. So failures that end every run do not always end it before the
    same others; those that got their turn are gone from what the next start is chosen of.
    """
    by_name = sorted(todo, key=lambda read: read.spec.repository.full_name.lower())
    turns = {id(read): _turn(read) for read in by_name}
    interrupted = [read for read in by_name if turns[id(read)] is _Turn.INTERRUPTED]
    turns |= {id(read): _Turn.USUAL for read in interrupted[_MOST_INTERRUPTED:]}
    if usual := [place for place, read in enumerate(by_name) if turns[id(read)] is _Turn.USUAL]:
        digest = hashlib.sha256(str(int(moment)).encode()).digest()
        start = usual[int.from_bytes(digest) % len(usual)]
        by_name = by_name[start:] + by_name[:start]
    return sorted(by_name, key=lambda read: turns[id(read)])


def _turn(read: RegistrationResult) -> _Turn:
    is_refused = read.repository.can_push is False or not read.knows_pull_requests
    if is_refused or read.status is Status.FAILED:
        return _Turn.DOOMED
    if read.left_to_do is Status.WAITING:
        return _Turn.WAITING
    return _Turn.INTERRUPTED if read.interrupted else _Turn.USUAL


def ended(read: RegistrationResult, done: RegistrationResult, *, wrote: bool) -> RegistrationResult:
    """Say how a repository stands after its registration."""
    failed, is_open = done.failed, done.operation is not PullRequestOperation.NONE
    if not done.files:
        done = done._replace(files=read.files)
    why = done.failure
    if why and why.kind in LEAVES_FOR_NEXT_RUN and not (is_open or failed):
        is_worth_telling = wrote or why.kind is Kind.MOVED
        left = left_alone(read)
        return done._replace(status=left.status, failure=why if is_worth_telling else None)
    status = _OPERATIONS[done.operation]
    if status is Status.UPDATED and not done.wrote:
        # Only its description was written
        status = Status.WAITING
    is_written = done.pull_request is not None and status is not Status.WAITING
    if done.exit_code != EXIT_DONE and not is_written:
        status = Status.FAILED
    elif not done.pull_request:
        status = done.left_to_do
    return done._replace(status=status)


def left_alone(read: RegistrationResult) -> RegistrationResult:
    """Say how a repository stands that is left for the next run, without what is only a guess."""
    to_do = {Status.TO_OPEN, Status.TO_UPDATE, Status.TO_CLOSE, Status.TO_WITHDRAW}
    is_left = read.left_to_do in to_do
    status = Status.DEFERRED if is_left else read.left_to_do
    known = unread(read.spec) if is_left and read.is_guess else read
    return known._replace(status=status, failure=None)


def may_have_written(read: RegistrationResult, done: RegistrationResult, client: "Client") -> bool:
    """Whether a registration has opened or changed a pull request, as far as that is known.

    An answer may have been lost, and GitHub may not show yet what it had done, even where it
    refuses another pull request because of it.
    """
    session = client.session
    may_be_there = session.may_have_been_applied or session.has_lost_answer
    is_seen = done.pull_request is not None or may_be_there
    was_to_open = read.left_to_do is Status.TO_OPEN
    is_open = done.operation is PullRequestOperation.CREATED or (was_to_open and is_seen)
    was_to_close = read.left_to_do is Status.TO_CLOSE
    is_closed = done.operation is PullRequestOperation.CLOSED or (was_to_close and may_be_there)
    return is_open or is_closed or done.wrote or bool(done.count(Done.UNKNOWN))


def why_stop(
    done: RegistrationResult, gate: Gate, reason: Callable[[RegistrationResult], Message]
) -> Message | None:
    """Say why the other repositories would end as this one; ``None`` where they would not.

    ``reason`` gives what may be said of why a repository failed.
    """
    failure = done.first_failure
    if failure and failure.kind is Kind.CANCELLED:
        return failure.message
    if failure and failure.kind in ENDS_THE_WRITING:
        return msg("many.stopped", reason=reason(done))
    if gate.is_same_cause:
        return msg("many.same_cause", count=SAME_CAUSE, reason=reason(done))
    return None
