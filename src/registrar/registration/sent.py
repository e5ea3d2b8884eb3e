"""What one run has sent to the branches of a list, step by step, and what became of each step.

A step is listed before its request is sent, so that it is known however the run ends. It is *done*
if GitHub has said so, and *refused* if GitHub has said that nothing was done. Else it is
*unclear*: the answer was lost, or has not come yet. It stays so after a later reading: what was
read then says what is there, and this list says whether it may be ours.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, TypeVar, cast

from registrar.errors import ENDS_THE_WRITING, GitHubError, Kind, RegistrarError
from registrar.models.files import FileDefinition
from registrar.models.repository import PullRequest
from registrar.registration.mark import CLOSED_BY_US, NO_MARK, Mark

_MOST_READINGS = 6
"""How often a run reads its branch again, because somebody writes to it, or answers are lost."""
_MAY_HAVE_MOVED = frozenset({Kind.STALE, Kind.LAG})
Given = TypeVar("Given")


class MakeBranch(NamedTuple):
    """Make a branch at the commit that was read."""

    branch: str


class Commit(NamedTuple):
    """Write files to a branch with one commit."""

    branch: str
    parent: str
    """The commit at which the branch has to be; empty if the request does not say."""
    files: frozenset[tuple[str, str]]
    """Paths, each with the id of the blob that is written."""

    @classmethod
    def of(cls, branch: str, parent: str, files: Iterable[FileDefinition]) -> "Commit":
        """Give the commit that writes these files."""
        return cls(branch, parent, frozenset((each.path, each.blob_id) for each in files))

    def holds(self, file: FileDefinition) -> bool:
        """Whether it writes a file."""
        return (file.path, file.blob_id) in self.files


class Open(NamedTuple):
    """Open the pull request of a branch."""

    branch: str
    body: str


class Close(NamedTuple):
    """Close a pull request, for the reason that its mark gives from then on."""

    pull_request: PullRequest
    """As it was read."""
    mark: Mark = NO_MARK
    """Withdrawn, or needless. Else this run has opened it, and from somebody else's branch."""

    @property
    def is_own_mistake(self) -> bool:
        """Whether it is closed because this run should not have opened it."""
        return not (self.mark.is_withdrawn or self.mark.is_needless)

    @property
    def closed(self) -> PullRequest:
        """The pull request once that is done, as far as a decision asks."""
        body = CLOSED_BY_US if self.is_own_mistake else self.mark.text
        return self.pull_request._replace(is_open=False, body=body)


Step: TypeAlias = MakeBranch | Commit | Open


def _what(step: Step) -> Step:
    """What a step is about: a branch has one pull request, with any description."""
    return step._replace(body="") if isinstance(step, Open) else step


class Unclear(Exception):
    """A branch has to be read again before it is known what became of a step."""

    def __init__(self, step: Step) -> None:
        super().__init__(step.branch)
        self.step = step


@dataclass(slots=True)
class Sending:
    """A step that was sent."""

    step: Step
    reading: int
    """Number of times that the branch had been read again before."""
    is_alone: bool = True
    """Whether it had a request of its own."""
    is_unclear: bool = True
    is_done: bool = False
    given: object = None
    """What was made: a pull request, or the id of a commit."""
    error: RegistrarError | None = None
    is_there: bool = False
    """Whether GitHub has refused it because there is such a thing already."""

    def has_made(self, given: object, *, is_done: bool = True) -> None:
        """Keep what GitHub has made; not ``is_done``: it has refused the step."""
        self.given, self.is_done, self.is_unclear = given, is_done, False

    def has_failed(self, error: GitHubError) -> None:
        """Keep why GitHub has refused the step, or why nobody knows what became of it."""
        self.error, self.is_there = error, error.already_exists
        self.is_unclear = error.may_have_been_applied


@dataclass(slots=True)
class SentSteps:
    """The steps of one run."""

    readings: int = 0
    """How often a branch was read again."""
    tries: int = 0
    """How often that was tried."""
    _all: list[Sending] = field(default_factory=list)
    _last: dict[Step, Sending] = field(default_factory=dict)
    """The last sending of each step."""

    @property
    def branches(self) -> frozenset[str]:
        """Names of the branches that steps were sent to."""
        return frozenset(each.step.branch for each in self._all)

    @property
    def may_read(self) -> bool:
        """Whether an unclear step may be followed by one more reading."""
        return self.tries < _MOST_READINGS

    def cannot_read(self, unclear: Step, error: RegistrarError) -> None:
        """Go on with what is known, because the branch could not be read after an ``unclear`` step.

        Raises the ``error`` if nothing can follow. A pull request that may be open ends the run
        in its own words.
        """
        if isinstance(unclear, Open):
            self._all[-1].error = error
        elif isinstance(unclear, MakeBranch) or error.kind in ENDS_THE_WRITING:
            raise error

    def send(self, step: Step, request: Callable[[], Given]) -> Given:
        """Send a step with a request of its own, and give what it has made.

        Once only: the very step gives later what it gave, or raises what it raised. `Unclear` if
        the branch has to be read again first; `GitHubError` if that would tell no more.
        """
        if earlier := self._last.get(_what(step)):
            if earlier.is_done:
                return cast("Given", earlier.given)
            if earlier.is_alone and earlier.error:
                raise earlier.error
        sending = self.begin(step)
        try:
            given = request()
        except GitHubError as error:
            sending.has_failed(error)
            is_there = error.already_exists or error.kind in _MAY_HAVE_MOVED
            is_there |= bool(self._unread(step.branch))
            self.ask_again(error, step, is_there=is_there)
            raise
        sending.has_made(given)
        return given

    def begin(self, step: Step, *, is_alone: bool = True) -> Sending:
        """List a step that is sent next."""
        sending = self._last[_what(step)] = Sending(step, self.readings, is_alone)
        self._all.append(sending)
        return sending

    def forget_unsent(self) -> None:
        """Take out the step that was listed, and whose request was not sent."""
        self._all = [each for each in self._all if each.error or not each.is_unclear]

    def ask_again(self, error: GitHubError, step: Step, *, is_there: bool = False) -> None:
        """Raise `Unclear` if the branch is to be read again, and may be."""
        if self.may_read and (is_there or error.may_have_been_applied):
            raise Unclear(step) from error

    # --- What a decision asks ------------------------------------------------------------------

    def has_written_to(self, branch: str) -> bool:
        """Whether this run has made a branch, or a commit on it."""
        return any(each.is_done for each in self._on(branch, MakeBranch, Commit))

    def may_have_made(self, branch: str) -> bool:
        """Whether this run may have made a branch."""
        return any(each.is_unclear for each in self._on(branch, MakeBranch))

    def opened(self, pull: PullRequest) -> bool:
        """Whether this run opened a pull request: its number, or the very description, shows it."""
        return any(
            each.given.number == pull.number
            if isinstance(each.given, PullRequest)
            else each.is_unclear and pull.has_body(each.step.body)
            for each in self._on(pull.head_branch, Open)
            if isinstance(each.step, Open)
        )

    def may_have_written(self, branch: str, file: FileDefinition) -> bool:
        """Whether a commit of this run may have written a file that was found on a branch."""
        return any(c.branch == branch and c.holds(file) for c in self.unclear_commits)

    def may_be_there(self, branch: str) -> Mapping[str, bool]:
        """Paths that were sent one by one and that a branch may hold, even if GitHub does not list
        them yet.

        True if GitHub has said that something is there.
        """
        failed = (each for each in self._on(branch, Commit) if not each.is_done and each.is_alone)
        return {
            path: each.is_there
            for each in failed
            if isinstance(each.step, Commit) and not each.step.parent
            if each.is_there or each.is_unclear
            for path, _ in each.step.files
        }

    def is_opening(self, branch: str) -> bool:
        """Whether a request to open a pull request has failed, so that there may be one."""
        return any(each.is_alone and each.error for each in self._on(branch, Open))

    def head(self, branch: str) -> str:
        """The commit at which this run has left a branch since it was read; empty: none."""
        commits = self._on(branch, Commit)
        now = (each.given for each in commits if each.reading == self.readings)
        return next((str(each) for each in reversed([*now]) if each), "")

    @property
    def unclear_commits(self) -> list[Commit]:
        """The commits that this run may have made, as far as their answers say."""
        steps = (each.step for each in self._all if each.is_unclear)
        return [step for step in steps if isinstance(step, Commit)]

    def is_unread(self, branch: str, file: FileDefinition) -> bool:
        """Whether a branch may hold a file, and was not read since that became possible."""
        steps = (each.step for each in self._unread(branch))
        return any(isinstance(step, Commit) and step.holds(file) for step in steps)

    def _unread(self, branch: str) -> list[Sending]:
        return [
            each
            for each in self._on(branch, Commit)
            if (each.is_unclear or each.is_there) and each.reading == self.readings
        ]

    def _on(self, branch: str, *kinds: type) -> list[Sending]:
        return [e for e in self._all if e.step.branch == branch and isinstance(e.step, kinds)]
