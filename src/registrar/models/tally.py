"""The numbers of repositories, lists and paths in each state, for a run over many."""

from collections import Counter, defaultdict

from registrar.models.record import Record
from registrar.models.selection import Exclusion
from registrar.models.settings import FailOn
from registrar.models.standing import Completeness, Standing
from registrar.models.status import WRITTEN, Need, Status


class Tally:
    """Counts records one after the other, without keeping them.

    A run over many repositories has two tallies. The one of the reading is for the budget. The one
    of the end is for the exit code, and for every number in the reports. A repository with two
    lists is counted once for each list, except in `excluded`, `completeness`, `reach`, `states` and
    `repositories`.
    """

    def __init__(self) -> None:
        self.lists = Counter[Status]()
        """Number of lists in each state."""
        self.needed = Counter[Status]()
        """Number of lists by `Record.needed`; failed lists count as `Status.FAILED`.

        Those in `refused_whole` are left out.
        """
        self.paths = defaultdict[str, Counter[Standing]](Counter)
        """For each listed path, the number of repositories in which it has each state. If several
        lists have the path, a repository is counted once for each of them."""
        self.completeness: dict[int | str, Completeness] = {}
        """How far all lists are carried out in each repository, by `Repository.counted_as`."""
        self.excluded: dict[int | str, Exclusion] = {}
        """The reasons for which repositories are left out, by `Repository.counted_as`."""
        self.open: dict[tuple[int | str, str], str] = {}
        """When the oldest open pull request that is still needed was opened (ISO 8601), by
        `Repository.counted_as` and the label of the list."""
        self.to_close = 0
        """An upper bound of the number of pull requests that are no longer needed."""
        self.conflicting = 0
        """Number of lists whose open pull request cannot be merged."""
        self.without_pull_requests = 0
        """Number of lists for which the token may not read the pull requests."""
        self.withdrawable = 0
        """An upper bound of the number of lists whose pull requests could be withdrawn."""
        self.writable = 0
        """Number of lists in repositories that the token may write to, as far as is known."""
        self.refused = 0
        """Number of lists with files that the token may not write."""
        self.refused_whole = 0
        """Number of lists without a pull request whose missing files have all failed, for example
        because the token may not write them."""
        self.described = 0
        """Number of lists for which the run has updated a description, and no file."""
        self.left_branches = 0
        """Number of branches that the run has left without a commit."""
        self.has_failed = False
        """Whether the run fails because of a record."""
        self._states: dict[int | str, Status] = {}

    def add(self, record: Record) -> None:
        """Count the record of one list in one repository."""
        key = record.spec.repository.counted_as
        if record.exclusion:
            self.excluded[key] = record.exclusion
            return
        status = record.status
        self.lists[status] += 1
        self._states[key] = min(self._states.get(key, status), status, key=lambda of: of.place)
        complete = self.completeness.get(key, Completeness.COMPLETE)
        self.completeness[key] = min(complete, record.completeness)
        if record.need is Need.CANNOT and not record.failure:
            self.refused_whole += 1
        else:
            self.needed[Status.FAILED if record.failure else record.needed] += 1
        self.without_pull_requests += record.told.unread is not None
        self.withdrawable += record.told.withdrawable > 0 and record.is_writable
        self.to_close += record.told.to_close if record.is_writable else 0
        self.writable += record.failure is None and record.is_writable
        self.refused += record.is_refused
        self.described += record.is_described
        self.left_branches += bool(record.left_branch)
        # Also if the pull request was opened or changed, but a file could not be added to it
        is_partial = status in WRITTEN and record.first_failure is not None
        self.has_failed |= status is Status.FAILED or is_partial
        for file in record.files:
            self.paths[file.path][file.standing] += 1
        self.conflicting += bool(record.told.conflicts)
        if since := record.open_since:
            self.open[key, record.spec.file_list.label] = since

    @property
    def states(self) -> Counter[Status]:
        """Number of repositories in each state.

        A repository with several lists has the most urgent of their states (`Status.place`).
        """
        return Counter(self._states.values())

    @property
    def standings(self) -> Counter[Standing]:
        """Number of listed paths in each state, in all repositories together."""
        return sum(self.paths.values(), Counter[Standing]())

    @property
    def repositories(self) -> int:
        """Number of repositories that are not left out."""
        return len(self._states)

    def reach(self, least: Completeness) -> int:
        """Return the number of repositories in which all lists are carried out at least so far."""
        return sum(each >= least for each in self.completeness.values())

    def found(self, kind: FailOn) -> int:
        """Return the number of listed paths that are a finding of ``kind``."""
        return kind.found_in(self.standings)

    @property
    def with_missing(self) -> int:
        """Number of lists with files that are to be proposed or that are proposed.

        `Record.wanted` counts paths, and also blocked ones.
        """
        return self.needed[Status.TO_OPEN] + self.proposed + self.refused_whole

    @property
    def proposed(self) -> int:
        """Number of the lists in `with_missing` that have an open pull request."""
        return self.needed[Status.TO_UPDATE] + self.only_looked_at

    @property
    def only_looked_at(self) -> int:
        """Number of the lists in `proposed` whose open pull request needs no change."""
        return self.needed[Status.WAITING] + self.needed[Status.CONFLICTING]
