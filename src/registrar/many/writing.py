"""The writing of a run over many repositories: its order, its limits, and the resulting states."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from registrar.errors import ENDS_THE_WRITING, LEAVES_FOR_NEXT_RUN, Cause, Kind
from registrar.github.limits import interval_for
from registrar.models.paths import ListedPath, Unread, by_path
from registrar.models.record import PullRequestOperation, Record
from registrar.models.run_result import Budget
from registrar.models.settings import PullRequestOptions, Settings
from registrar.models.standing import Standing
from registrar.models.status import Need, Status
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.client import Client
    from registrar.github.limits import Pace


def writes_of(options: PullRequestOptions) -> dict[Need | None, int]:
    """Return the number of writing requests for one pull request, by the need of the list.

    A new pull request needs one request for everything. An open one needs two: one for the commit,
    and one for the description. Labels and assignees need one more request each. Reviewers and team
    reviewers do so only for a new pull request, because they are asked only once. The request that
    closes a pull request which is no longer needed is not included.
    """
    always = sum(map(bool, (options.labels, options.assignees)))
    once = sum(map(bool, (options.reviewers, options.team_reviewers)))
    return {
        Need.OPEN: 1 + always + once,
        Need.UPDATE: 2 + always,
        Need.WITHDRAW: 1,
    }


class Room:
    """The number of pull requests that a run may still open, and that it may still update or close.

    A plan uses it to foresee which repositories a run takes, and a run uses it to decide.
    """

    def __init__(self, settings: Settings) -> None:
        self._cap = settings.max_pull_requests
        self._opened = 0
        self._changed = 0

    def has_for(self, previewed: Record) -> bool:
        """Whether there is room for everything that is left to do for one list in a repository. A
        withdrawal has no cap.

        If one repository needs more updates and closings than the cap, it has room before any other
        one was changed: otherwise it would never have its turn.
        """
        opened, changed = _planned(previewed)
        has_room = not opened or self._opened < self._cap
        fits = self._changed + changed <= self._cap or (self._cap > 0 and not self._changed)
        return has_room and (not changed or fits)

    def take(self, opened: int, changed: int) -> None:
        """Count pull requests that were opened, and pull requests that were updated or closed."""
        self._opened += opened
        self._changed += changed


def _planned(previewed: Record) -> tuple[int, int]:
    """Return the number of pull requests to open, and the number to update or close, at most. To
    update only a description is an update, too.

    If one is no longer needed, it is closed, and another one may be opened for missing files.
    """
    if previewed.to_describe:
        return 0, 1
    match previewed.work:
        case Need.OPEN | Need.UPDATE | Need.CLOSE as work:
            return int(work is Need.OPEN), previewed.told.to_close + int(work is Need.UPDATE)
        case _:
            return 0, 0


def next_ones(ordered: Iterable[Record], settings: Settings) -> list[Record]:
    """Return those of ``ordered`` that a run would write to, as far as the caps allow.

    If one of them fails, or needs nothing after all, the run takes the next one in its place.
    """
    room, taken = Room(settings), list[Record]()
    for each in ordered:
        if (each.work or each.to_describe) and room.has_for(each):
            room.take(*_planned(each))
            taken.append(each)
    return taken


def with_writing(of_reading: Budget, settings: Settings, ordered: Sequence[Record]) -> Budget:
    """Return the budget of the reading with the plan of the writing.

    ``ordered`` are the lists in repositories that have something to do, in the order of the
    writing; none in a check.
    """
    taken = next_ones(ordered, settings)
    count = Counter(each.work for each in taken)
    writes_each = writes_of(settings.pull_request)
    writes = sum(number * writes_each.get(work, 0) for work, number in count.items())
    descriptions = sum(each.to_describe for each in taken)
    closes = sum(each.told.to_close for each in taken)
    writes += closes + descriptions
    return of_reading._replace(
        now=count[Need.OPEN],
        updates=count[Need.UPDATE],
        closes=closes,
        descriptions=descriptions,
        deferred=sum(each.work is not None for each in ordered) - len(taken) + descriptions,
        writes=writes,
        interval=interval_for(writes),
        next=tuple(taken),
    )


SAME_CAUSE = 5
"""So many failures in a row with the same cause end the writing, because the other repositories are
likely to fail in the same way."""


class Gate:
    """Decides whether the next repository may be begun, by the caps, the time and the last
    failures.
    """

    def __init__(self, settings: Settings, pace: "Pace", cancellation: Cancellation) -> None:
        """``pace`` knows when the run ends."""
        self._pace = pace
        self._clock = cancellation.clock
        self._room = Room(settings)
        """It counts everything that was, or may have been, done."""
        self._largest = 1
        """The most writes that one repository needed, because the next one may need as many."""
        self._causes: list[Cause] = []
        """The cause of the last failures in a row, once for each of them."""

    @property
    def has_time(self) -> bool:
        """Whether the next repository can be written to before the run ends."""
        write_at = self._clock.monotonic() + self._pace.seconds_until(self._largest)
        return self._pace.end is None or write_at < self._pace.end

    def has_room_for(self, previewed: Record) -> bool:
        """Whether the caps leave room for one list in a repository; a withdrawal has no cap."""
        return self._room.has_for(previewed)

    def note(
        self,
        previewed: Record,
        row: Record,
        *,
        writes: int,
        wrote: bool,
        changed: int,
    ) -> None:
        """Learn from a registration that needed ``writes`` writing requests.

        ``wrote`` is true if a pull request was, or may have been, opened or changed. ``changed`` is
        the number of pull requests that were closed because they are no longer needed, and of
        those that got a new description only.
        """
        self._largest = max(self._largest, writes)
        is_new = row.operation is PullRequestOperation.CREATED
        is_new |= previewed.work is Need.OPEN
        updated = int(wrote and previewed.work is Need.UPDATE)
        self._room.take(int(wrote and is_new), max(changed + updated, int(wrote and not is_new)))
        failure = row.first_failure
        if row.status is not Status.FAILED or failure is None:
            self._causes = []
        else:
            is_same = self._causes[-1:] == [failure.cause]
            self._causes = [*(self._causes if is_same else []), failure.cause]

    def next_of(self, left: list[Record]) -> Record:
        """Remove the record whose turn it is from ``left``, and return it.

        That is the first one. But if another failure would end the writing, it is one from the
        middle, so that neighbours with one cause cannot keep all others from their turn.
        """
        if len(self._causes) < SAME_CAUSE - 1:
            return left.pop(0)
        to_write = [place for place, each in enumerate(left) if each.work]
        return left.pop(to_write[len(to_write) // 2] if to_write else 0)

    @property
    def is_same_cause(self) -> bool:
        """Whether the last `SAME_CAUSE` repositories failed, all with the same cause."""
        return len(self._causes) == SAME_CAUSE


_AS_PLANNED = 10
"""The weight of the plan in an estimate, in requests."""


def writes_left(expected: int, *, done: int, made: int) -> int:
    """Estimate how many requests ``expected`` planned ones need, if ``done`` planned ones needed
    ``made`` requests.

    A pull request needs several requests if GitHub refuses the one that does everything, or does
    not find a new branch or pull request at once. The plan has the weight of `_AS_PLANNED` requests
    that were needed as planned, because the first repository alone shows little about the others.
    """
    return math.ceil(expected * max((made + _AS_PLANNED) / (done + _AS_PLANNED), 1.0))


_GUESSED = frozenset({Standing.TO_CREATE, Standing.PROPOSED, Standing.DECLINED})
"""States that may be wrong as long as the pull request itself was not read, because people may have
changed it.
"""


def in_order(todo: Iterable[Record]) -> list[Record]:
    """Return the records in the order in which runs write to their repositories.

    The order is by name, so that everybody knows in advance when it is a repository's turn. After
    those that need something come those that are only read again. Last come those with a branch
    that an earlier run has left without a pull request, because they may fail again.
    """

    def place(each: Record) -> tuple[bool, bool, str]:
        return each.interrupted, each.work is None, each.spec.repository.full_name.lower()

    return sorted(todo, key=place)


def ended(previewed: Record, registered: Record, *, wrote: bool) -> Record:
    """Return the final record of a list in a repository after its registration.

    ``wrote`` is true if a write has succeeded. If the registration ended only because of a limit or
    a signal, or because the repository was renamed (`Kind.MOVED`), the repository is left for the
    next run.
    """
    failed, is_open = registered.failed, registered.operation is not PullRequestOperation.NONE
    left = left_alone(previewed)
    if not registered.files:
        registered = replace(registered, paths=left.paths, pull_request=left.pull_request)
    why = registered.failure
    if why and why.kind in LEAVES_FOR_NEXT_RUN and not (is_open or failed):
        shows_failure = wrote or why.kind is Kind.MOVED
        failure = why if shows_failure else None
        told = registered.told._replace(need=previewed.need)
        return replace(registered, told=told, is_deferred=True, failure=failure)
    return registered


def left_alone(previewed: Record) -> Record:
    """Return the record of a repository that is left for the next run, without guesses.

    The state of a path is a guess if it depends on changes that people may have made to a pull
    request; such a path becomes not read. It is known that the pull request is open.
    """
    paths = previewed.files
    if previewed.is_guess:
        paths = tuple(
            ListedPath(file.definition, Unread()) if file.standing in _GUESSED else file
            for file in paths
        )
    return replace(previewed, is_deferred=True, paths=by_path(paths), failure=None)


def may_have_written(previewed: Record, registered: Record, client: "Client") -> bool:
    """Whether a registration has opened or changed a pull request, as far as that is known.

    An answer may have been lost. GitHub may also not show a pull request yet, although it refuses a
    second one because of it.
    """
    session = client.session
    may_be_there = session.may_have_been_applied or session.has_lost_answer
    was_to_open = previewed.work is Need.OPEN
    is_seen = was_to_open and registered.pull_request is not None
    is_opened = registered.operation is PullRequestOperation.CREATED
    return is_opened or is_seen or registered.wrote or may_be_there


def why_stop(registered: Record, gate: Gate) -> Message | None:
    """Return why the writing has to end, because other repositories would end in the same way;
    ``None`` if it can go on.
    """
    failure = registered.first_failure
    if failure is None:
        return None
    if failure.kind is Kind.CANCELLED:
        return failure.message
    reason = failure.cause.message
    if failure.kind in ENDS_THE_WRITING:
        return msg("many.stopped", reason=reason)
    return msg("many.same_cause", count=SAME_CAUSE, reason=reason) if gate.is_same_cause else None
