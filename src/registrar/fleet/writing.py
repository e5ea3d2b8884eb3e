"""Registers in one repository after the other, at GitHub's pace, until something ends it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING

from registrar.cancellation import Cancellation
from registrar.errors import EXIT_DONE
from registrar.failure import ENDS_THE_WRITING, LEAVES_FOR_NEXT_RUN, Cause, Failure, Kind
from registrar.fleet.budget import writes_of
from registrar.fleet.rows import Rows
from registrar.fleet.targets import Reading, with_present
from registrar.inputs.settings import Settings
from registrar.models.fleet import FleetRow, FleetState, PullState
from registrar.models.result import PullRequestOperation, RegistrationResult
from registrar.models.selection import ListedRepository
from registrar.models.spec import Chosen
from registrar.registration.run import register
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.client import Client, GitHub
    from registrar.github.pace import Pace

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


class Writer:
    """The writing of one run."""

    def __init__(
        self, github: GitHub, settings: Settings, rows: Rows, cancellation: Cancellation
    ) -> None:
        """Nothing is written before `write`."""
        self._github = github
        self._settings = settings
        self._rows = rows
        self._cancellation = cancellation

    def write(self, todo: Sequence[Reading], *, planned: int, end: float) -> None:
        """Register in one repository after the other, until something ends it.

        ``planned`` are the writes that this takes; nothing new begins after ``end`` (monotonic).
        """
        today = datetime.fromtimestamp(self._cancellation.clock.time(), UTC).date()
        todo = _in_order(todo, today)
        gate = Gate(self._settings, self._github.pace, self._cancellation)
        each = writes_of(self._settings.pull_request)
        left = planned
        self._plan(planned, 0, end)
        stopped: Message | None = None
        for number, item in enumerate(todo, start=1):
            if not (stopped or gate.has_time):
                stopped = msg("fleet.out_of_minutes", minutes=self._settings.max_seconds / 60)
                self._rows.stop(stopped)
            if stopped or not gate.takes(item):
                self._rows.add(_left_alone(item), (number, len(todo)))
                self._rows.record(item.evidence)
                continue
            before = self._github.pace.writes
            row, done = self._register(item, gate, before)
            left = max(left - each.get(item.pull_state, 0), 0)
            seconds_left = self._plan(left, planned - left, end)
            self._rows.add(row, (number, len(todo)), seconds_left)
            self._rows.record(self._rows.evidence(done) if done.files else item.evidence)
            if stopped := _why_stop(done, gate):
                self._rows.stop(stopped, warn=True, exit_code=done.exit_code)

    def _plan(self, left: int, done: int, end: float) -> float:
        """Set the pace for what is left of the plan, and give the seconds that it takes."""
        pace = self._github.pace
        left = writes_left(left, done=done, made=pace.writes)
        # The shards write one after the other, so that an hour may see several of them
        pace.plan((pace.writes + left) * self._settings.part.total, end=end)
        return left * pace.interval

    def _register(
        self, item: Reading, gate: Gate, before: int
    ) -> tuple[FleetRow, RegistrationResult]:
        """Do the ordinary registration, which reads the repository again first."""
        repository, file_list = item.target.repository, item.target.files
        may_be_called = partial(self._may_be_called, repository)
        spec = file_list.spec(repository.full_name)._replace(
            facts=repository.facts,
            chosen=Chosen(repository.id, item.node_id, may_be_called),
        )
        client = self._github.client(spec.target)
        done = register(client, spec, file_list.proposal, self._rows.progress(spec, file_list))
        self._cancellation.stop_timer()
        if done.pull_request:
            seen = self._rows.reporter.hidden_names.seen
            seen(repository.full_name, done.pull_request.repository)
        self._rows.add_registration(done)
        row = _row(item, done, wrote=client.wrote)
        gate.note(
            row,
            writes=self._github.pace.writes - before,
            opened=_may_have_opened(item, done, client),
        )
        return row, done

    def _may_be_called(self, repository: ListedRepository, full_name: str) -> bool:
        """Whether a repository is selected by the name that it has by now."""
        selection = self._settings.selection
        is_unchanged = full_name.lower() == repository.full_name.lower()
        return is_unchanged or bool(selection and selection.takes(full_name))


def writes_left(planned: int, *, done: int, made: int) -> int:
    """Writes that the ``planned`` ones take, when the ``done`` ones took ``made``.

    Where GitHub refuses the one request that does everything, or is slow to know what was just
    made, a pull request takes several.
    """
    return math.ceil(planned * max(made / done, 1.0)) if done else planned


def order(repository_ids: Iterable[int], day: date) -> list[int]:
    """Put repositories in an order that changes with the day, so that a cap starves none of them.

    It is the same for the same repositories and day.
    """

    def key(repository_id: int) -> bytes:
        return hashlib.sha256(f"{day.isoformat()} {repository_id}".encode()).digest()

    return sorted(repository_ids, key=key)


def _in_order(todo: Sequence[Reading], day: date) -> list[Reading]:
    """Put those with an open pull request first."""
    ids = order({item.target.repository.id for item in todo}, day)
    place = {number: index for index, number in enumerate(ids)}
    return sorted(
        todo,
        key=lambda item: (item.pull_state is PullState.TO_OPEN, place[item.target.repository.id]),
    )


def _row(item: Reading, done: RegistrationResult, *, wrote: bool) -> FleetRow:
    """Say how a repository stands after its registration."""
    is_open = done.operation is not PullRequestOperation.NONE
    ended = done.failure
    if ended and ended.kind in LEAVES_FOR_NEXT_RUN and not (is_open or done.failed):
        is_worth_telling = wrote or ended.kind is Kind.MOVED
        return _left_alone(item)._replace(failure=ended if is_worth_telling else None)
    state = _OPERATIONS[done.operation]
    if done.exit_code != EXIT_DONE:
        state = FleetState.FAILED
    elif not done.pull_request:
        state = FleetState.DECLINED if done.missing else FleetState.COMPLETE
    missing = done.missing if done.files else item.row.missing
    failure = _failure_of(done) if state is FleetState.FAILED else None
    present = [file.found for file in done.files if file.found]
    row = item.target.row(state, missing, failure, done.pull_request)
    return with_present(row, present, len(done.codeowners))


def _left_alone(item: Reading) -> FleetRow:
    """Say how a repository stands that is left for the next run."""
    is_waiting = item.pull_state is PullState.WAITING
    state = FleetState.WAITING if is_waiting else FleetState.DEFERRED
    return item.target.row(state, item.row.missing, pull_request=item.row.pull_request)


def _may_have_opened(item: Reading, done: RegistrationResult, client: Client) -> bool:
    """Whether a registration has opened a pull request, as far as that is known.

    An answer may have been lost, and GitHub may not show yet what it had done.
    """
    is_seen = done.pull_request is not None or client.may_have_been_applied
    was_to_open = item.pull_state is PullState.TO_OPEN
    return done.operation is PullRequestOperation.CREATED or (was_to_open and is_seen)


def _why_stop(done: RegistrationResult, gate: Gate) -> Message | None:
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
