"""The writing: in what order, whether the next repository may be begun, and how it ended."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum, auto
from typing import TYPE_CHECKING

from registrar.errors import ENDS_THE_WRITING, LEAVES_FOR_NEXT_RUN, Cause, Kind
from registrar.github.limits import interval_for
from registrar.models.paths import Done, ListedPath, by_path
from registrar.models.record import (
    ONLY_LOOKED_AT,
    TO_DO,
    PullRequestOperation,
    Record,
    Status,
)
from registrar.models.run_result import Budget
from registrar.models.settings import Mode, PullRequestOptions, Settings
from registrar.models.standing import Standing
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.client import Client
    from registrar.github.limits import Pace


def writes_of(options: PullRequestOptions) -> dict[Status, int]:
    """Writing requests of one pull request, if there are any.

    A new one needs one for everything, an open one two: a commit and its description. Every kind of
    option needs one more; reviewers are asked only when the pull request is opened. A needless one
    needs one besides, to be closed.
    """
    always = sum(map(bool, (options.labels, options.assignees)))
    once = sum(map(bool, (options.reviewers, options.team_reviewers)))
    return {
        Status.TO_OPEN: 1 + always + once,
        Status.TO_UPDATE: 2 + always,
        Status.TO_WITHDRAW: 1,
    }


class Room:
    """How many more pull requests a run may open, and how many it may update or close.

    A plan counts with it what a run of the same day would take, and a run decides with it.
    """

    def __init__(self, settings: Settings) -> None:
        self._cap = settings.max_pull_requests
        self._opened = 0
        self._changed = 0

    def has_for(self, previewed: Record) -> bool:
        """Whether there is room for what is left to do somewhere; a withdrawal has no cap."""
        opened, changed = _planned(previewed)
        has_room = not opened or self._opened < self._cap
        return has_room and (not changed or self._changed < self._cap)

    def take(self, opened: int, changed: int) -> None:
        """Take room for pull requests that are opened, and for those that are changed."""
        self._opened += opened
        self._changed += changed


def _planned(previewed: Record) -> tuple[int, int]:
    """Pull requests that are to be opened, and to be updated or closed, at most.

    Where one has become needless, another one may be opened for what is missing.
    """
    left = previewed.left_to_do
    if left not in {Status.TO_OPEN, Status.TO_UPDATE, Status.TO_CLOSE}:
        return 0, 0
    return int(left is Status.TO_OPEN), previewed.to_close + (left is Status.TO_UPDATE)


def _is_to_write(previewed: Record) -> bool:
    return previewed.left_to_do in TO_DO and not previewed.failure


def next_ones(ordered: Iterable[Record], settings: Settings) -> list[Record]:
    """Give the repositories that a run takes next, of those that are ``ordered``.

    In the place of one that fails, or needs nothing after all, the next one has its turn.
    """
    room, taken = Room(settings), list[Record]()
    for each in filter(_is_to_write, ordered):
        if room.has_for(each):
            room.take(*_planned(each))
            taken.append(each)
    return taken


def with_writing(of_reading: Budget, settings: Settings, ordered: Sequence[Record]) -> Budget:
    """Plan the writing after the reading, of what is left to do in this order; a check has none."""
    if settings.mode is Mode.CHECK:
        return of_reading
    taken = next_ones(ordered, settings)
    count = Counter(each.left_to_do for each in taken)
    writes_each = writes_of(settings.pull_request)
    writes = sum(number * writes_each.get(status, 0) for status, number in count.items())
    writes += sum(each.to_close for each in taken)
    return of_reading._replace(
        now=count[Status.TO_OPEN],
        updates=count[Status.TO_UPDATE],
        closes=count[Status.TO_CLOSE],
        deferred=sum(map(_is_to_write, ordered)) - len(taken),
        writes=writes,
        interval=interval_for(writes),
        next=tuple(taken),
    )


_DAY = 86_400
SAME_CAUSE = 5
"""Failures in a row with one cause that end the writing: the rest would fail, too."""


class Gate:
    """Whether the next repository may be begun: caps, time, and what ended the last ones."""

    def __init__(self, settings: Settings, pace: "Pace", cancellation: Cancellation) -> None:
        """``pace`` knows when the run ends."""
        self._pace = pace
        self._clock = cancellation.clock
        self._room = Room(settings)
        """Of it, what was, or may have been, done."""
        self._largest = 1
        """The most writes that one repository needed: the next one may need as many."""
        self._causes: list[Cause] = []
        """The cause of the last failures in a row, once for each of them."""

    @property
    def has_time(self) -> bool:
        """Whether the next repository can be written to before the run ends."""
        write_at = self._clock.monotonic() + self._pace.seconds_until(self._largest)
        return self._pace.end is None or write_at < self._pace.end

    def has_room_for(self, previewed: Record) -> bool:
        """Whether the cap on what is to be done there leaves room for it; a withdrawal has none."""
        return self._room.has_for(previewed)

    def note(
        self,
        previewed: Record,
        row: Record,
        *,
        writes: int,
        wrote: bool,
        closed: int,
    ) -> None:
        """Learn from a repository that needed ``writes``.

        ``wrote`` says whether a pull request was, or may have been, opened or changed; ``closed``
        is how many needless ones were.
        """
        self._largest = max(self._largest, writes)
        is_new = row.operation is PullRequestOperation.CREATED
        is_new |= previewed.left_to_do is Status.TO_OPEN
        self._room.take(wrote and is_new, max(closed, wrote and not is_new))
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


_AS_PLANNED = 10


def writes_left(expected: int, *, done: int, made: int) -> int:
    """Estimate how many requests ``expected`` writes need, when ``done`` ones needed ``made``.

    Where GitHub refuses the one request that does everything, or is slow to know what was just
    made, a pull request needs several. What was planned counts as much as `_AS_PLANNED` writes that
    were done: the first repository alone says little about the others.
    """
    return math.ceil(expected * max((made + _AS_PLANNED) / (done + _AS_PLANNED), 1.0))


_GUESSED = frozenset({Standing.TO_CREATE, Standing.PROPOSED, Standing.DECLINED})
"""States that may be wrong as long as the pull request itself was not read, because people may have
changed it.
"""


class _Turn(IntEnum):
    """When it is a repository's turn."""

    INTERRUPTED = auto()
    """A run has left a branch without a pull request."""
    USUAL = auto()
    WAITING = auto()
    """It is only looked at again."""
    DOOMED = auto()
    """What was read shows that it is going to fail."""


_MOST_INTERRUPTED = SAME_CAUSE - 1
"""Interrupted ones that come first: a run that is killed leaves one. So many that fail for good do
not end a run before any other one had its turn."""


def in_order(todo: Iterable[Record], moment: float) -> list[Record]:
    """Put the repositories into the order in which they are written to.

    A few that an interrupted run has left come first, then all by name, from a start that moves
    with the day of the ``moment`` (seconds since the epoch, UTC), then those that are only looked
    at, and last what is going to fail. So failures that end every run do not always end it before
    the same others, and a plan names what a run of the same day takes next: the start is drawn
    among names, so that it stays where others have had their turn meanwhile.
    """
    by_name = sorted(todo, key=lambda each: each.spec.repository.full_name.lower())
    turns = {id(each): _turn(each) for each in by_name}
    interrupted = [each for each in by_name if turns[id(each)] is _Turn.INTERRUPTED]
    turns |= {id(each): _Turn.USUAL for each in interrupted[_MOST_INTERRUPTED:]}
    if usual := [place for place, each in enumerate(by_name) if turns[id(each)] is _Turn.USUAL]:
        start = min(usual, key=lambda place: _lot(by_name[place], int(moment // _DAY)))
        by_name = by_name[start:] + by_name[:start]
    return sorted(by_name, key=lambda each: turns[id(each)])


def _lot(previewed: Record, day: int) -> bytes:
    name = previewed.spec.repository.full_name.lower()
    return hashlib.sha256(f"{day} {name}".encode()).digest()


def _turn(previewed: Record) -> _Turn:
    is_refused = previewed.repository.can_push is False or not previewed.knows_pull_requests
    fails = previewed.failure or previewed.failed or previewed.standings[Standing.BLOCKED]
    if is_refused or fails:
        return _Turn.DOOMED
    if previewed.left_to_do in ONLY_LOOKED_AT:
        return _Turn.WAITING
    return _Turn.INTERRUPTED if previewed.interrupted else _Turn.USUAL


def ended(previewed: Record, registered: Record, *, wrote: bool) -> Record:
    """Say how a repository stands after its registration."""
    failed, is_open = registered.failed, registered.operation is not PullRequestOperation.NONE
    left = left_alone(previewed)
    if not registered.files:
        registered = registered._replace(paths=left.paths, pull_request=left.pull_request)
    why = registered.failure
    if why and why.kind in LEAVES_FOR_NEXT_RUN and not (is_open or failed):
        is_said = wrote or why.kind is Kind.MOVED
        return registered._replace(left=left.left, failure=why if is_said else None)
    return registered


def left_alone(previewed: Record) -> Record:
    """Say how a repository stands that is left for the next run, without what is only a guess.

    States of paths that depend on what people did to a pull request are such guesses; that the pull
    request is open is known.
    """
    left = previewed.left_to_do
    paths = previewed.files
    if previewed.is_guess:
        paths = tuple(
            ListedPath(file.definition, Standing.UNREAD) if file.standing in _GUESSED else file
            for file in paths
        )
    return previewed._replace(left=left, paths=by_path(paths), failure=None)


def may_have_written(previewed: Record, registered: Record, client: "Client") -> bool:
    """Whether a registration has opened or changed a pull request, as far as that is known.

    An answer may have been lost, and GitHub may not show yet what it had done, even if it
    refuses another pull request because of it.
    """
    session = client.session
    may_be_there = session.may_have_been_applied or session.has_lost_answer
    is_seen = registered.pull_request is not None or may_be_there
    was_to_open = previewed.left_to_do is Status.TO_OPEN
    is_open = registered.operation is PullRequestOperation.CREATED or (was_to_open and is_seen)
    was_to_close = previewed.left_to_do is Status.TO_CLOSE
    is_closed = registered.operation is PullRequestOperation.CLOSED or (
        was_to_close and may_be_there
    )
    return is_open or is_closed or registered.wrote or bool(registered.count(Done.UNKNOWN))


def why_stop(registered: Record, gate: Gate, reason: Callable[[Record], Message]) -> Message | None:
    """Say why the other repositories would end as this one; ``None`` if they would not.

    ``reason`` gives what may be said of why a repository failed.
    """
    failure = registered.first_failure
    if failure and failure.kind is Kind.CANCELLED:
        return failure.message
    if failure and failure.kind in ENDS_THE_WRITING:
        return msg("many.stopped", reason=reason(registered))
    if gate.is_same_cause:
        return msg("many.same_cause", count=SAME_CAUSE, reason=reason(registered))
    return None
