"""The pull requests from the branches of a list: each is looked at once, and all rules ask here."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from registrar.models.repository import BranchState, PullRequest
from registrar.models.task import Task
from registrar.registration.lookups import Lookups
from registrar.registration.mark import CLOSED_BY_US, EMPTY_MARK, Mark, hashed


class Candidate(NamedTuple):
    """A pull request from one of the names of the working branch."""

    pull: PullRequest
    mark: Mark | None
    """The mark of its description; ``None`` if it has none."""
    is_of_list: bool
    """Whether it belongs to this list, as far as its mark and its base branch say."""
    is_elsewhere: bool = False
    """Whether its list is in another repository, at the same path and without a name."""

    @property
    def is_theirs(self) -> bool:
        """Whether a person has reopened it after registrar had closed it as no longer needed."""
        return self.pull.is_open and self.mark is not None and self.mark.is_needless

    @property
    def is_of_any_list(self) -> bool:
        """Whether it is registrar's, perhaps of another list."""
        return self.mark is not None and not self.mark.is_needless

    @property
    def is_mistake(self) -> bool:
        """Whether registrar has opened it from somebody else's branch, and has closed it again."""
        return CLOSED_BY_US in self.pull.body

    @property
    def of_list(self) -> Mark | None:
        """The mark, if the pull request is registrar's and of this list; otherwise ``None``."""
        return self.mark if self.is_of_list and not self.is_theirs else None


class Candidates:
    """The pull requests from all names of the working branch that were read."""

    def __init__(self, task: Task, lookups: Lookups) -> None:
        self._task = task
        self._may_write = lookups.may_write
        self._seen: dict[int, Candidate] = {}
        self._by_writer: dict[int, bool] = {}

    def of(self, state: BranchState) -> Iterator[Candidate]:
        """Yield the pull requests from a branch, the newest first."""
        yield from map(self._candidate, state.pull_requests)

    def newest_first(self, states: Iterable[BranchState]) -> list[Candidate]:
        """Return the pull requests from several branches, the newest first."""
        found = (each for state in states for each in self.of(state))
        return sorted(found, key=lambda each: each.pull.number, reverse=True)

    def open_one(self, state: BranchState) -> Candidate | None:
        """Return an open pull request from a branch, if possible one into the base branch."""
        base = self._task.base_branch
        pulls = [each for each in self.of(state) if each.pull.is_open]
        return min(pulls, key=lambda each: each.pull.base_branch != base, default=None)

    def counts(self, candidate: Candidate) -> bool:
        """Whether a pull request counts: somebody who may write opened it and, if it is open, it is
        to be merged into the base branch of this list.

        This has to be checked, because anybody who may read a public repository can open a pull
        request between two of its branches, with any description.
        """
        return self.is_by_writer(candidate) and not self._is_elsewhere(candidate.pull)

    def is_by_writer(self, candidate: Candidate) -> bool:
        """Whether somebody who may write has opened a pull request."""
        pull = candidate.pull
        if pull.number not in self._by_writer:
            self._by_writer[pull.number] = is_by_writer(pull, self._may_write)
        return self._by_writer[pull.number]

    def _is_elsewhere(self, pull: PullRequest) -> bool:
        return pull.is_open and pull.base_branch != self._task.base_branch

    def ours(self, candidate: Candidate) -> Mark | None:
        """Return the mark of a pull request if it is of this list and counts, otherwise `None`."""
        mark = candidate.of_list
        return mark if mark and self.counts(candidate) else None

    @property
    def withdrawable(self) -> int:
        """Number of open pull requests of the list that were read with the repository; their
        authors are not looked at.
        """
        found = self.newest_first(self._task.state.branches.values())
        ours = (each for each in found if each.of_list and not each.is_elsewhere)
        opened = (each.pull for each in ours if each.pull.is_open)
        return sum(1 for pull in opened if pull.base_branch == self._task.base_branch)

    @property
    def ignored(self) -> tuple[PullRequest, ...]:
        """The pull requests that a rule has asked about, and that do not count.

        Those of registrar that are open with another base branch belong to another list.
        """
        asked = [self._seen[number] for number in self._by_writer]
        others = (each for each in asked if not (self.is_by_writer(each) and each.is_of_any_list))
        return tuple(each.pull for each in others if not self.counts(each))

    def may_be_moved(self, candidate: Candidate) -> bool:
        """Whether a pull request is from a list in another file, but names only paths of this list:
        then the file of this list may have been moved.

        A list with a name is recognised by the name, so the path of its file does not matter.
        """
        files, other, pull = self._task.spec.file_list, candidate.mark, candidate.pull
        if files.name or other is None or candidate.of_list or other.is_needless or pull.merged:
            return False
        listed = {hashed(each.path) for each in self._task.definitions}
        is_other = bool(other.list and other.wrote) and pull.base_branch == self._task.base_branch
        return is_other and (other.wrote or {}).keys() <= listed and self.counts(candidate)

    def _candidate(self, pull: PullRequest) -> Candidate:
        known = self._seen.get(pull.number)
        if known is None or known.pull is not pull:
            mark = Mark.of(pull.body)
            is_elsewhere = mark is not None and mark.is_elsewhere(self._task.spec.source)
            is_of_list = self._is_of_list(pull, mark or EMPTY_MARK)
            known = Candidate(pull, mark, is_of_list, is_elsewhere)
            self._seen[pull.number] = known
        return known

    def _is_of_list(self, pull: PullRequest, mark: Mark) -> bool:
        """Whether a pull request belongs to the list of the task, as far as its mark says.

        The mark names a base branch only if that was not the default branch then. So a pull request
        into the present base may name no base. One into another branch may name none only if the
        present base is the default branch, because that may have been renamed since.
        """
        task, spec = self._task, self._task.spec
        if mark.list and mark.is_of(spec.id_with_base(task.base_branch)):
            return True
        may_name_none = task.base_branch in {pull.base_branch, task.repository.default_branch}
        return may_name_none and mark.is_of(spec.file_list.id)


def is_by_writer(pull: PullRequest, may_write: Callable[[str], bool | None]) -> bool:
    """Whether the author of a pull request may write to the repository.

    `author_association` does not show whether the author may write. It is used only if the token
    may not read the author's permission.
    """
    if pull.is_by_writer or not pull.author:
        return pull.is_by_writer
    may = may_write(pull.author)
    return pull.is_by_member if may is None else may
