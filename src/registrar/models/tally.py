"""How many repositories, lists and paths stand how: everything that is counted is counted here."""

from collections import Counter

from registrar.models.record import ONLY_LOOKED_AT, Record, Status
from registrar.models.selection import Exclusion
from registrar.models.settings import FailOn
from registrar.models.standing import Completeness, Standing


class Tally:
    """Counts lists in repositories, one after the other, and keeps nothing else of them.

    A run over many repositories has two of them: of what was read, from which its budget is made,
    and of how everything ended, from which its exit code is, and every number that anybody reads.
    With two lists there are two of everything for each repository, unless it says otherwise.
    """

    def __init__(self) -> None:
        self.lists = Counter[Status]()
        """Number of lists in each state."""
        self.left = Counter[Status]()
        """Number of lists by what is left to do; those that failed as `Status.FAILED`."""
        self.paths: dict[str, Counter[Standing]] = {}
        """For each listed path, in how many repositories it stands in each way."""
        self.completeness: dict[str, Completeness] = {}
        """How far all lists are carried out in each repository, by its name in lower case."""
        self.excluded: dict[str, Exclusion] = {}
        """Why repositories are left out, by their names in lower case."""
        self.open: dict[tuple[str, str], str] = {}
        """When each open pull request that proposes a path was opened, by repository and list."""
        self.conflicting = 0
        """Number of open pull requests that cannot be merged; they are not in `open`."""
        self.without_pull_requests = 0
        """Number of lists for which the token may not read the pull requests."""
        self.withdrawable = 0
        """Number of lists with pull requests that could be withdrawn, at most."""
        self.not_pushable = 0
        """Number of lists with missing files to propose, if the token's user may not push."""
        self.refused = 0
        """Number of lists with files that the token may not write."""
        self.refused_whole = 0
        """Number of lists with such files and no other missing ones."""
        self.left_branches = 0
        """Number of branches that the run has left without a commit."""
        self.has_failed = False
        """Whether the run fails because of one of them."""
        self._states: dict[str, Status] = {}

    def add(self, record: Record) -> None:
        """Count one list in one repository."""
        name = record.spec.repository.full_name.lower()
        if record.exclusion:
            self.excluded[name] = record.exclusion
            return
        status, left = record.status, record.left_to_do
        self.lists[status] += 1
        self._states[name] = min(self._states.get(name, status), status, key=lambda of: of.place)
        complete = self.completeness.get(name, Completeness.COMPLETE)
        self.completeness[name] = min(complete, record.completeness)
        if record.failure or left is not Status.FAILED:
            self.left[Status.FAILED if record.failure else left] += 1
        else:
            self.refused_whole += 1
        self.without_pull_requests += not record.knows_pull_requests
        self.withdrawable += record.withdrawable > 0
        is_to_propose = left in {Status.TO_OPEN, Status.TO_UPDATE}
        self.not_pushable += is_to_propose and record.repository.can_push is False
        self.refused += record.is_refused
        self.left_branches += bool(record.left_branch)
        self.has_failed |= record.fails_run
        for file in record.files:
            self.paths.setdefault(file.path, Counter())[file.standing] += 1
        if any(file.conflicts_with for file in record.files):
            self.conflicting += 1
        elif since := record.open_since:
            self.open[name, record.spec.file_list.label] = since

    @property
    def states(self) -> Counter[Status]:
        """Number of repositories in each state: each is in one, the first of those of its lists."""
        return Counter(self._states.values())

    @property
    def standings(self) -> Counter[Standing]:
        """Number of listed paths that stand in each way, in all repositories together."""
        return sum(self.paths.values(), Counter[Standing]())

    @property
    def repositories(self) -> int:
        """Number of repositories that are not left out."""
        return len(self._states)

    def reach(self, least: Completeness) -> int:
        """Number of repositories in which all lists are carried out so far, or further."""
        return sum(each >= least for each in self.completeness.values())

    def found(self, kind: FailOn) -> int:
        """Number of listed paths that ``kind`` is about."""
        return kind.found_in(self.standings)

    @property
    def missing(self) -> int:
        """Number of lists with files that are absent and wanted."""
        return self.left[Status.TO_OPEN] + self.proposed + self.refused_whole

    @property
    def proposed(self) -> int:
        """Number of those with an open pull request."""
        return self.left[Status.TO_UPDATE] + self.only_looked_at

    @property
    def only_looked_at(self) -> int:
        """Number of those about which nothing is to be done."""
        return sum(self.left[each] for each in ONLY_LOOKED_AT)
