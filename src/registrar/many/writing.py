"""The writing: in what order, whether the next repository may be begun, and how it ended."""

import hashlib
import math
from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

from registrar.errors import ENDS_THE_WRITING, EXIT_DONE, LEAVES_FOR_NEXT_RUN, Cause, Kind, Refused
from registrar.github.limits import interval_for
from registrar.models.result import Done, PullRequestOperation, RegistrationResult, Status
from registrar.models.run_result import Budget
from registrar.models.selection import MOST_SHARDS, Shard
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
        Status.TO_WITHDRAW: 1,
    }


def with_writing(read: Budget, settings: Settings) -> Budget:
    """Plan the writing after the reading, in as many shards as end in time; a check has none."""
    if settings.mode is Mode.CHECK:
        return read
    most = settings.part.share(settings.max_pull_requests)
    # Nothing is done about missing files where pull requests are withdrawn
    asked = {} if settings.mode is Mode.WITHDRAW else read.of
    to_open, to_update = asked.get(Status.TO_OPEN, 0), asked.get(Status.TO_UPDATE, 0)
    updates = min(to_update, most)
    now = min(to_open, most - updates)
    each = writes_of(settings.pull_request)
    writes = now * each[Status.TO_OPEN] + updates * each[Status.TO_UPDATE]
    writes += read.of[Status.TO_WITHDRAW] * each[Status.TO_WITHDRAW]
    # Each ends in time; there is none for no writes
    total = math.ceil(writes * interval_for(writes) / settings.max_seconds) if writes else 0
    if total > MOST_SHARDS:
        raise Refused(msg("fleet.too_many_shards", count=total, most=MOST_SHARDS))
    matrix = tuple(Shard(number, total) for number in range(1, total + 1))
    # The shards write one after the other, so that an hour may see several of them
    interval = interval_for(writes * settings.part.total)
    deferred = to_open + to_update - now - updates
    planned = read._replace(now=now, updates=updates, deferred=deferred, writes=writes)
    return planned._replace(interval=interval, matrix=matrix)


SAME_CAUSE = 5
"""Failures in a row with one cause that end the writing: the rest would fail, too."""
_OPERATIONS = {
    PullRequestOperation.CREATED: Status.OPENED,
    PullRequestOperation.UPDATED: Status.UPDATED,
    PullRequestOperation.REOPENED: Status.OPENED,
    PullRequestOperation.WITHDRAWN: Status.WITHDRAWN,
    PullRequestOperation.NONE: Status.WAITING,
}


class Gate:
    """Whether the next repository may be begun: the cap, the time, and what ended the last ones."""

    def __init__(self, settings: Settings, pace: "Pace", cancellation: Cancellation) -> None:
        """``pace`` knows when the run ends."""
        self._pace = pace
        self._clock = cancellation.clock
        self._cap = settings.part.share(settings.max_pull_requests)
        self._written = 0
        """Pull requests that were, or may have been, opened or updated."""
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
        """Whether the cap leaves room for it."""
        return read.left_to_do is Status.WAITING or self._written < self._cap

    def note(self, row: RegistrationResult, *, writes: int, wrote: bool) -> None:
        """Learn from a repository that took ``writes``."""
        self._largest = max(self._largest, writes)
        self._written += wrote
        failure = row.first_failure
        if row.status is not Status.FAILED or row.pull_request or failure is None:
            self._causes = []
        else:
            is_same = self._causes[-1:] == [failure.cause]
            self._causes = [*(self._causes if is_same else []), failure.cause]

    @property
    def same_cause(self) -> Cause | None:
        """The cause of `SAME_CAUSE` failures in a row; ``None`` where there are fewer."""
        return self._causes[0] if len(self._causes) == SAME_CAUSE else None


def writes_left(expected: int, *, done: int, made: int) -> int:
    """Writes that the ``expected`` ones take, when the ``done`` ones took ``made``.

    Where GitHub refuses the one request that does everything, or is slow to know what was just
    made, a pull request takes several.
    """
    return math.ceil(expected * max(made / done, 1.0)) if done else expected


def in_order(todo: Iterable[RegistrationResult], day: date) -> list[RegistrationResult]:
    """Put repositories with an open pull request first.

    Otherwise their order changes with the day, so that a cap starves none; it is the same for the
    same repositories and day.
    """

    def key(read: RegistrationResult) -> tuple[bool, bytes]:
        place = hashlib.sha256(f"{day.isoformat()} {read.spec.repository.id}".encode()).digest()
        return read.left_to_do is Status.TO_OPEN, place

    return sorted(todo, key=key)


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
    if done.exit_code != EXIT_DONE:
        status = Status.FAILED
    elif not done.pull_request:
        status = done.left_to_do
    elif status is Status.UPDATED and not done.wrote:
        # Only its description was written
        status = Status.WAITING
    return done._replace(status=status)


def left_alone(read: RegistrationResult) -> RegistrationResult:
    """Say how a repository stands that is left for the next run."""
    is_waiting = read.left_to_do is Status.WAITING
    status = Status.WAITING if is_waiting else Status.DEFERRED
    return read._replace(status=status, failure=None)


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
    return is_open or done.wrote or bool(done.count(Done.UNKNOWN))


def why_stop(done: RegistrationResult, gate: Gate) -> Message | None:
    """Say why the other repositories would end as this one; ``None`` where they would not."""
    failure = done.first_failure
    if failure and failure.kind is Kind.CANCELLED:
        return failure.message
    if failure and failure.kind in ENDS_THE_WRITING:
        return msg("fleet.stopped", reason=failure.cause.message)
    if cause := gate.same_cause:
        return msg("fleet.same_cause", count=SAME_CAUSE, reason=cause.message)
    return None
