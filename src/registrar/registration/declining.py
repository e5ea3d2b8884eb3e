"""Decides about each missing path: the newest pull request of the list that proposed it decides."""

from collections.abc import Iterable
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple, Protocol

from registrar.models.repository import PullRequest
from registrar.models.task import Task
from registrar.registration.branch_contents import Contents
from registrar.registration.candidates import Candidate, Candidates
from registrar.registration.lookups import Lookups
from registrar.registration.mark import Mark

_MOST_LOOKED_AT = 10
"""The most closed pull requests whose branches are compared with the list: so many without a mark,
and so many with a mark that may name too little. Each of them costs up to three requests."""


class Fate(Enum):
    """The fate of a path in a pull request that has proposed it."""

    PROPOSED = auto()
    """It is still proposed, or registrar itself has closed the pull request."""
    DECLINED = auto()
    """The pull request was closed, or somebody took the path out of it."""
    MERGED = auto()
    """It was merged with the path."""
    UNKNOWN = auto()
    """It was merged, perhaps with the path."""


class TableRow(Protocol):
    """A pull request in the table of `decide`."""

    @property
    def pull(self) -> PullRequest:
        """The pull request."""

    def fate_of(self, path: str, /) -> Fate | None:
        """Return the fate of a path in it; ``None`` if it has not proposed the path."""


class Decision(NamedTuple):
    """The pull request that decides about a missing path, and the fate of the path in it."""

    fate: Fate
    pull: PullRequest


def decide(path: str, rows: Iterable[TableRow]) -> Decision | None:
    """Decide about a missing path; ``None`` if it was not declined, and in no merge.

    ``rows`` begins with the newest pull request. An older one cannot decline a path that a newer
    one proposes, but it may have been merged with the path.
    """
    is_proposed_since = False
    for row in rows:
        fate = row.fate_of(path)
        is_proposed_since |= fate is Fate.PROPOSED
        if fate in {Fate.DECLINED, Fate.MERGED, Fate.UNKNOWN}:
            is_said = fate is Fate.MERGED or (fate is Fate.DECLINED and not is_proposed_since)
            return Decision(fate, row.pull) if is_said else None
    return None


class Table:
    """Makes the rows of `decide`. A row asks a question that costs requests only if a path needs
    the answer.
    """

    def __init__(
        self, task: Task, lookups: Lookups, candidates: Candidates, contents: Contents
    ) -> None:
        self.missing = frozenset(each.path for each in task.missing)
        self.lookups = lookups
        self.contents = contents
        self._candidates = candidates
        self._looks = dict.fromkeys([True, False], _MOST_LOOKED_AT)

    def rows(self, candidates: Iterable[Candidate]) -> list[TableRow]:
        """Return a row for each candidate that may have proposed something, in the same order."""
        marked = ((each, self._candidates.ours(each)) for each in candidates)
        return [
            _Row(self, each, mark)
            for each, mark in marked
            if not each.is_mistake
            and (mark or (each.mark is None and each.pull.was_closed and each.is_of_list))
        ]

    def may_look(self, candidate: Candidate) -> bool:
        """Whether the branch of a closed pull request may be compared with the list.

        Those of people who may not write must not use up the places.
        """
        is_marked = candidate.mark is not None
        may = self._looks[is_marked] > 0 and self._candidates.counts(candidate)
        self._looks[is_marked] -= may
        return may


class _Row:
    def __init__(self, table: Table, candidate: Candidate, mark: Mark | None) -> None:
        self._table = table
        self._candidate = candidate
        self._mark = mark
        was_withdrawn = candidate.pull.was_closed and mark is not None and mark.is_withdrawn
        self.pull = candidate.pull._replace(is_withdrawn=was_withdrawn)

    def fate_of(self, path: str) -> Fate | None:
        pull, mark = self.pull, self._mark
        if mark is None or not mark.names(path):
            return Fate.DECLINED if path in self._beyond else None
        # Somebody may have removed the comment with the paths of a mark
        is_known = mark.wrote is not None
        if pull.is_open or mark.is_needless:
            return Fate.PROPOSED if is_known else None
        if pull.is_withdrawn:
            is_gone = path in self._removed
            return (Fate.DECLINED if is_gone else Fate.PROPOSED) if is_known else None
        if pull.was_closed:
            return Fate.DECLINED
        if not (is_known and pull.merge_commit):
            return Fate.UNKNOWN
        # A file that was deleted after the merge is proposed again; a file that was deleted before
        # it is declined
        return Fate.DECLINED if path in self._not_merged else Fate.MERGED

    @cached_property
    def _beyond(self) -> frozenset[str]:
        """The missing paths that a closed pull request adds with the list's content although no
        mark names them: it was opened by hand, somebody has removed the mark, or it was closed
        while a run was writing, which names its files afterwards.
        """
        mark, pull, contents = self._mark, self.pull, self._table.contents
        is_no = pull.was_closed and not (pull.is_withdrawn or (mark and mark.is_needless))
        if not (is_no and self._table.may_look(self._candidate)):
            return frozenset()
        if mark is None:
            return contents.added_as_listed(pull.head_sha)
        return contents.added_beyond(mark, pull.head_sha)

    @cached_property
    def _named(self) -> frozenset[str]:
        mark = self._mark
        return frozenset(path for path in self._table.missing if mark and mark.names(path))

    @cached_property
    def _removed(self) -> frozenset[str]:
        mark, contents = self._mark, self._table.contents
        return contents.removed(mark, self._named, self.pull.head_sha) if mark else frozenset()

    @cached_property
    def _not_merged(self) -> frozenset[str]:
        return self._table.lookups.lacking(self._named, self.pull.merge_commit)
