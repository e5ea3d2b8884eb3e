"""What becomes of many repositories, and what is known of it before the first write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import NamedTuple

from registrar.errors import EXIT_CANCELLED, EXIT_DONE, EXIT_FAILED
from registrar.failure import Failure
from registrar.models.repository import PullRequest
from registrar.models.result import RegistrationResult
from registrar.models.rules import Replaced
from registrar.models.selection import Exclusion, Shard
from registrar.models.spec import FailOn, Mode
from registrar.texts.messages import Message


class FleetState(StrEnum):
    """How a repository stands at the end; those that need a person come first."""

    FAILED = "failed"
    OPENED = "opened"
    UPDATED = "updated"
    MISSING = "missing"
    """A run that writes nothing found that files are missing."""
    DEFERRED = "deferred"
    """Left for the next run."""
    UNREAD = "unread"
    """Questions about it alone would have taken more points, or more time, than were left."""
    WAITING = "waiting"
    """Its open pull request already holds everything."""
    DECLINED = "declined"
    """Somebody closed the pull request, or took everything that is missing out of it."""
    COMPLETE = "complete"


class FleetRow(NamedTuple):
    """How one list stands in one repository."""

    repository: str
    profile: str
    list_name: str
    """What people call the list."""
    state: FleetState
    url: str = ""
    """Address of the repository for people; empty where it is not known."""
    missing: int = 0
    """Number of files that the default branch lacks."""
    notable: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Paths that are there and deserve a look (`evidence.notable`)."""
    failure: Failure | None = None
    """Why it failed, or is left for the next run."""
    pull_request: PullRequest | None = None


class PullState(Enum):
    """What is left to do where files are missing."""

    TO_OPEN = auto()
    TO_UPDATE = auto()
    """The open pull request does not propose all of them."""
    WAITING = auto()
    """The open pull request proposes all of them."""
    DECLINED = auto()


class Counts(NamedTuple):
    """What is known after the reading.

    ``found`` and ``excluded`` count repositories, the rest counts lists in repositories: two each
    for two profiles.
    """

    found: int
    excluded: Mapping[Exclusion, int]
    queries: int
    """Requests that the reading took."""
    points_left: int | None
    of: Counter[PullState]
    """Number of lists with missing files, by what is left to do."""
    unread: int = 0
    """Number of those whose pull requests the token may not read."""

    @property
    def selected(self) -> int:
        """Number of repositories that are worked on."""
        return self.found - sum(self.excluded.values())

    @property
    def missing(self) -> int:
        """Number of lists with missing files."""
        return self.of.total()

    @property
    def proposed(self) -> int:
        """Number of those with an open pull request."""
        return self.of[PullState.TO_UPDATE] + self.of[PullState.WAITING]


POINTS_PER_REPOSITORY = 2
"""A query, and what writes everything at once or a commit."""


class Budget(NamedTuple):
    """What a run is going to do."""

    counts: Counts
    now: int
    """Pull requests that this run is going to open."""
    writes: int
    """Writing requests that it takes."""
    interval: float
    """Seconds from one writing request to the next."""
    matrix: tuple[Shard, ...]

    @property
    def deferred(self) -> int:
        """Number of pull requests that are left for the next run."""
        return self.counts.of[PullState.TO_OPEN] - self.now

    @property
    def seconds(self) -> float:
        """How long the writing takes."""
        return self.writes * self.interval

    @property
    def points(self) -> int:
        """Points of GraphQL that the writing takes at most: every repository is read once more."""
        of = self.counts.of
        return POINTS_PER_REPOSITORY * (self.now + of[PullState.TO_UPDATE]) + of[PullState.WAITING]


MOST_NAMED = 200
"""Repositories with notable files that are named at most; the rest is counted."""


class FleetResult:
    """The growing result: whatever ends the run, what was done until then is here.

    Nothing else is kept of a repository that is complete.
    """

    def __init__(self, mode: Mode, fail_on: Collection[FailOn] = ()) -> None:
        """Nothing has been done yet; ``fail_on`` is what fails a check."""
        self.mode = mode
        self.fail_on = fail_on
        self.notable = Counter[str]()
        """Number of paths that are there and deserve a look, by `evidence.KINDS`."""
        self.with_notable: dict[str, list[FleetRow]] = {}
        """The first `MOST_NAMED` rows that have such paths, also complete ones, by why."""
        self.rows_with = Counter[str]()
        """Number of all such rows."""
        self.repositories = 0
        """Number of selected repositories."""
        self.counts = Counter[FleetState]()
        self.rows: list[FleetRow] = []
        self.rules = Counter[tuple[str, int]]()
        """To how many repositories a rule applies, by the name of its list and its number."""
        self.replaced = Counter[Replaced]()
        """In how many repositories an entry of a list takes the place of another one."""
        self.unset = Counter[tuple[str, str]]()
        """How many repositories lack a custom property, by the path that it is for and its name."""
        self.alone = 0
        """Number of lists in repositories that take requests of their own to be previewed."""
        self.notes: list[Message] = []
        """What is worth knowing of the lists."""
        self.budget: Budget | None = None
        self.cancelled = 0
        """Exit code of the signal that ended the run; 0 where none did."""
        self.stopped: Message | None = None
        """Why the run ended before its work did."""

    def add(self, row: FleetRow) -> None:
        """Keep how one repository ended."""
        self.counts[row.state] += 1
        for kind, paths in row.notable.items():
            self.notable[kind] += len(paths)
            self.rows_with[kind] += 1
            named = self.with_notable.setdefault(kind, [])
            if len(named) < MOST_NAMED:
                named.append(row)
        if row.state is not FleetState.COMPLETE:
            self.rows.append(row)

    def count_rules(self, previewed: RegistrationResult) -> None:
        """Keep what the rules of a list make of one repository."""
        self.rules.update((previewed.list_name, number) for number in previewed.fitting)
        self.replaced.update(previewed.replaced)
        unset = ((file.definition.path, file.unset) for file in previewed.files if file.unset)
        self.unset.update(unset)

    def stop(self, reason: Message, exit_code: int) -> None:
        """Keep what ended the run; ``exit_code`` is of a signal where it is above others."""
        self.stopped = reason
        self.cancelled = exit_code if exit_code > EXIT_CANCELLED else 0

    @property
    def incomplete(self) -> int:
        """Number of rows that are not complete."""
        return self.counts.total() - self.counts[FleetState.COMPLETE]

    def count(self, kind: FailOn) -> int:
        """Number of what fails a check that ``kind`` is about."""
        if kind is FailOn.MISSING:
            return self.incomplete
        return sum(self.notable[each] for each in kind.notable)

    @property
    def exit_code(self) -> int:
        """What the repositories make of the exit code; what is deferred is no failure."""
        fails_check = self.mode is Mode.CHECK and any(map(self.count, self.fail_on))
        failed = self.counts[FleetState.FAILED] or fails_check
        return self.cancelled or (EXIT_FAILED if failed else EXIT_DONE)
