"""The writing: in what order, whether the next repository may be begun, and how it ended."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from datetime import date
from typing import TYPE_CHECKING

from registrar.cancellation import Cancellation
from registrar.errors import EXIT_DONE
from registrar.failure import ENDS_THE_WRITING, LEAVES_FOR_NEXT_RUN, Cause, Failure, Kind
from registrar.fleet.targets import Reading
from registrar.inputs.settings import Settings
from registrar.models.fleet import FleetRow, FleetState, PullState
from registrar.models.result import PullRequestOperation, RegistrationResult
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.client import Client
    from registrar.github.limits import Pace

SAME_CAUSE = 5
"""Failures in a row with one cause that end the writing: the rest would fail, too."""
_OPERATIONS = {
    PullRequestOperation.CREATED: FleetState.OPENED,
    PullRequestOperation.UPDATED: FleetState.UPDATED,
    PullRequestOperation.NONE: FleetState.WAITING,
}


class Gate:
    """Whether the next repository may be begun: the cap, the time, and what ended the last ones."""

    def __init__(self, settings: Settings, pace: Pace, cancellation: Cancellation) -> None:
        """``pace`` knows when the run ends."""
        self._pace = pace
        self._clock = cancellation.clock
        self._cap = settings.part.share(settings.max_pull_requests)
        self._opened = 0
        """Pull requests that were, or may have been, opened."""
        self._largest = 1
        """Writes that a repository took at most: the next one may take as many."""
        self._causes: list[Cause] = []
        """Of the failures in a row, as long as it is one."""

    @property
    def has_time(self) -> bool:
        """Whether the next repository can be written to before the run ends."""
        write_at = self._clock.monotonic() + self._pace.seconds_until(self._largest)
        return self._pace.end is None or write_at < self._pace.end

    def takes(self, item: Reading) -> bool:
        """Whether the cap leaves room for it."""
        return item.pull_state is not PullState.TO_OPEN or self._opened < self._cap

    def note(self, row: FleetRow, *, writes: int, opened: bool) -> None:
        """Learn from a repository that took ``writes``."""
        self._largest = max(self._largest, writes)
        self._opened += opened
        if row.state is not FleetState.FAILED or row.pull_request or row.failure is None:
            self._causes = []
        else:
            is_same = self._causes[-1:] == [row.failure.cause]
            self._causes = [*(self._causes if is_same else []), row.failure.cause]

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


def order(repository_ids: Iterable[int], day: date) -> list[int]:
    """Put repositories in an order that changes with the day, so that a cap starves none.

    It is the same for the same repositories and day.
    """

    def key(repository_id: int) -> bytes:
        return hashlib.sha256(f"{day.isoformat()} {repository_id}".encode()).digest()

    return sorted(repository_ids, key=key)


def in_order(todo: Sequence[Reading], day: date) -> list[Reading]:
    """Put repositories with an open pull request first."""
    ids = order({item.target.repository.id for item in todo}, day)
    place = {number: index for index, number in enumerate(ids)}
    return sorted(
        todo,
        key=lambda item: (item.pull_state is PullState.TO_OPEN, place[item.target.repository.id]),
    )


def row_after(item: Reading, done: RegistrationResult, *, wrote: bool) -> FleetRow:
    """Say how a repository stands after its registration."""
    is_open = done.operation is not PullRequestOperation.NONE
    ended = done.failure
    if ended and ended.kind in LEAVES_FOR_NEXT_RUN and not (is_open or done.failed):
        is_worth_telling = wrote or ended.kind is Kind.MOVED
        return left_alone(item)._replace(failure=ended if is_worth_telling else None)
    state = _OPERATIONS[done.operation]
    if done.exit_code != EXIT_DONE:
        state = FleetState.FAILED
    elif not done.pull_request:
        state = FleetState.DECLINED if done.missing else FleetState.COMPLETE
    missing = done.missing if done.files else item.row.missing
    failure = _failure_of(done) if state is FleetState.FAILED else None
    row = item.target.row(state, missing, failure, done.pull_request)
    return row._replace(notable=done.notable)


def left_alone(item: Reading) -> FleetRow:
    """Say how a repository stands that is left for the next run."""
    is_waiting = item.pull_state is PullState.WAITING
    state = FleetState.WAITING if is_waiting else FleetState.DEFERRED
    return item.row._replace(state=state, failure=None)


def may_have_opened(item: Reading, done: RegistrationResult, client: Client) -> bool:
    """Whether a registration has opened a pull request, as far as that is known.

    An answer may have been lost, and GitHub may not show yet what it had done.
    """
    is_seen = done.pull_request is not None or client.may_have_been_applied
    was_to_open = item.pull_state is PullState.TO_OPEN
    return done.operation is PullRequestOperation.CREATED or (was_to_open and is_seen)


def why_stop(done: RegistrationResult, gate: Gate) -> Message | None:
    """Say why the other repositories would end as this one; ``None`` where they would not."""
    failure = _failure_of(done)
    if failure and failure.kind is Kind.CANCELLED:
        return failure.message
    if failure and failure.kind in ENDS_THE_WRITING:
        return msg("fleet.stopped", reason=failure.cause.message)
    if cause := gate.same_cause:
        return msg("fleet.same_cause", count=SAME_CAUSE, reason=cause.message)
    return None


def _failure_of(done: RegistrationResult) -> Failure | None:
    """What ended a registration, or why a file of it failed; ``None`` where all is well."""
    return done.failure or next((file.failure for file in done.files if file.failure), None)
