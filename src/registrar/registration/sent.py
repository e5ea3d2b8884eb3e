"""The steps that one run has sent to the branches of a list, and the result of each step.

A step is listed before its request is sent, so that it is known however the run ends. It is *done*
if GitHub has confirmed it, and *refused* if GitHub has said that nothing was done. Otherwise it is
*unclear*, because the answer was lost or has not come yet. It stays unclear after the branch was
read again: the reading shows the files that exist, and this list shows which of them this run may
have written.
"""

import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, TypeVar, cast

from registrar.errors import ENDS_THE_WRITING, GitHubError, Kind, RegistrarError
from registrar.models.files import FileDefinition
from registrar.models.repository import PullRequest
from registrar.registration.mark import CLOSED_BY_US, EMPTY_MARK, Mark

_MOST_READINGS = 6
"""How often in a row a run reads a branch again without headway, if somebody writes to it or
answers are lost. A healthy run over a large list has headway at each reading: another run has
created files in between, or the next file is unclear. So it does not reach the limit."""
_MAY_HAVE_MOVED = frozenset({Kind.STALE, Kind.LAG})
Given = TypeVar("Given")


class MakeBranch(NamedTuple):
    """Make a branch at the commit that was read."""

    branch: str


class Commit(NamedTuple):
    """Write files to a branch with one commit."""

    branch: str
    parent: str
    """The commit that has to be the head of the branch; empty if the request does not name one."""
    files: frozenset[tuple[str, str]]
    """Paths, each with the id of the blob that is written."""

    @classmethod
    def of(cls, branch: str, parent: str, files: Iterable[FileDefinition]) -> "Commit":
        """Return the step that writes these files."""
        return cls(branch, parent, frozenset((each.path, each.blob_id) for each in files))

    def holds(self, file: FileDefinition) -> bool:
        """Whether the commit writes a file with this path and content."""
        return (file.path, file.blob_id) in self.files


class Open(NamedTuple):
    """Open a pull request from a branch."""

    branch: str
    body: str


class Close(NamedTuple):
    """Close a pull request; its new mark gives the reason."""

    pull_request: PullRequest
    """The pull request as it was read."""
    mark: Mark = EMPTY_MARK
    """The new mark, which says withdrawn or needless. `EMPTY_MARK` if this run has opened the pull
    request from somebody else's branch."""

    @property
    def is_own_mistake(self) -> bool:
        """Whether the pull request is closed because this run should not have opened it."""
        return not (self.mark.is_withdrawn or self.mark.is_needless)

    def is_done_by(self, now: PullRequest) -> bool:
        """Whether the pull request, as it is ``now``, was closed for this reason."""
        reason = self.mark.is_withdrawn, self.mark.is_needless
        mark = Mark.of(now.body) or EMPTY_MARK
        return not now.is_open and (mark.is_withdrawn, mark.is_needless) == reason

    @property
    def closed(self) -> PullRequest:
        """The pull request after this step, as far as it matters for a plan: closed, and with the
        comments that say why."""
        body = CLOSED_BY_US if self.is_own_mistake else self.mark.text
        return self.pull_request._replace(is_open=False, body=body)


Step: TypeAlias = MakeBranch | Commit | Open


def _key_of(step: Step) -> Step:
    """Return a step without the description of a pull request, so that two steps that open a pull
    request from the same branch are equal.
    """
    return step._replace(body="") if isinstance(step, Open) else step


def _items(step: Step) -> Iterable[tuple[type, object]]:
    """Return the single things that a step does."""
    items = step.files if isinstance(step, Commit) else [step.branch]
    return ((type(step), item) for item in items)


class Unclear(Exception):
    """Raised if a branch has to be read again, because the result of a step is unclear."""

    def __init__(self, step: Step) -> None:
        super().__init__(step.branch)
        self.step = step


@dataclass(slots=True)
class Sending:
    """A step that was sent, and its result.

    ==========  =======  ======================================================================
    is_unclear  is_done  result
    ==========  =======  ======================================================================
    true        false    unclear: the answer was lost (``error`` is set), or has not come yet
    false       true     done: ``given`` is the result of the request
    false       false    refused; without ``error``, the same request has done other steps
    ==========  =======  ======================================================================

    ``is_there`` can be true for an unclear step, too: an earlier try of the same request, whose
    answer was lost, may have made the file, branch or pull request that exists.
    """

    step: Step
    reading: int
    """`SentSteps.readings` at the moment when the step was sent."""
    is_alone: bool = True
    """Whether the step had a request of its own, which did no other step."""
    is_unclear: bool = True
    is_done: bool = False
    given: object = None
    """The result of the request: the pull request, or the id of the commit."""
    error: RegistrarError | None = None
    is_there: bool = False
    """Whether GitHub has refused the step because such a file, branch or pull request exists."""

    def has_made(self, given: object) -> None:
        """Keep the result of the request, which has done the step."""
        self.given, self.is_done, self.is_unclear = given, True, False

    def was_left_out(self) -> None:
        """Keep that GitHub has answered the request, but has refused this step of several."""
        self.is_unclear = False

    def has_failed(self, error: GitHubError) -> None:
        """Keep the error by which GitHub has refused the step, or which left its result unclear."""
        self.error, self.is_there = error, error.already_exists
        self.is_unclear = error.may_have_been_applied


@dataclass(slots=True)
class SentSteps:
    """The steps of one run, in the order in which they were sent."""

    readings: int = 0
    """How often a branch was read again."""
    tried_to_close: set[int] = field(default_factory=set)
    """Numbers of the pull requests that this run has tried to close."""
    _tries: int = 0
    """How often in a row the run has tried to read a branch again without headway."""
    _furthest: tuple[int, ...] = (0, 0, -sys.maxsize)
    """The most that was sent and done by any reading, and the fewest files of a commit."""
    _all: list[Sending] = field(default_factory=list)
    _last: dict[Step, Sending] = field(default_factory=dict)
    """The last sending of each step."""
    _looked: int = 0
    """How many steps had been sent at the last look at the branch."""

    @property
    def branches(self) -> frozenset[str]:
        """Names of the branches that steps were sent to."""
        return frozenset(each.step.branch for each in self._all)

    @property
    def may_read(self) -> bool:
        """Whether an unclear step may be followed by one more reading."""
        return self._tries < _MOST_READINGS

    def count_reading(self) -> None:
        """Count that a branch is read again because of an unclear step.

        The count begins again after headway: something else was sent or done than ever before, or a
        commit needs fewer files, because another run has created some.
        """
        sent = {item for each in self._all for item in _items(each.step)}
        done = {item for each in self._all if each.is_done for item in _items(each.step)}
        sizes = [len(each.step.files) for each in self._all if isinstance(each.step, Commit)]
        now = len(sent), len(done), -min(sizes, default=sys.maxsize)
        has_headway = any(map(operator.gt, now, self._furthest))
        self._tries = 1 if has_headway else self._tries + 1
        self._furthest = tuple(map(max, now, self._furthest))

    def cannot_read(self, unclear: Step, error: RegistrarError) -> None:
        """Learn that a branch could not be read again after an ``unclear`` step.

        Raises ``error`` if the run cannot go on: the branch itself may not exist, or every other
        request would fail, too. If a pull request may have been opened, `send` raises ``error``
        when it is called for it again, so that the message is about the pull request.
        """
        if isinstance(unclear, Open):
            self._all[-1].error = error
        elif isinstance(unclear, MakeBranch) or error.kind in ENDS_THE_WRITING:
            raise error

    def send(self, step: Step, request: Callable[[], Given]) -> Given:
        """Send a step with a request of its own, and return the result of the request.

        Such a step is sent only once: for the same step, a later call returns the same result, or
        raises the same error. Raises `Unclear` if the branch has to be read again first, and
        `GitHubError` if the step has failed and reading the branch again would not help.
        """
        if earlier := self._last.get(_key_of(step)):
            if earlier.is_done:
                return cast("Given", earlier.given)
            if earlier.is_alone and earlier.error:
                raise earlier.error
        sending = self.begin(step)
        try:
            given = request()
        except GitHubError as error:
            sending.has_failed(error)
            # If a path exists, the writer looks at this path alone
            if not (error.already_exists and isinstance(step, Commit)):
                must_read = error.already_exists or error.kind in _MAY_HAVE_MOVED
                must_read |= bool(self._unread(step.branch))
                self.ask_again(error, step, must_read=must_read)
            raise
        sending.has_made(given)
        return given

    def begin(self, step: Step, *, is_alone: bool = True) -> Sending:
        """Add a step to the list, right before its request is sent."""
        sending = self._last[_key_of(step)] = Sending(step, self.readings, is_alone)
        self._all.append(sending)
        return sending

    def note_look(self) -> None:
        """Note that the branch was looked at again, and that this run may go on writing to it."""
        self._looked = len(self._all)

    def forget_unsent(self) -> None:
        """Remove the steps that have no answer. The caller knows that their request was not sent.

        This is for the end of a run: `send` still knows them, and would send them again.
        """
        self._all = [each for each in self._all if each.error or not each.is_unclear]

    def ask_again(self, error: GitHubError, step: Step, *, must_read: bool = False) -> None:
        """Raise `Unclear` if the step may have been done, or if the branch ``must_read`` be read
        again for another reason, unless that was done too often already.
        """
        if self.may_read and (must_read or error.may_have_been_applied):
            raise Unclear(step) from error

    # --- The questions of a decision -----------------------------------------------------------

    def has_written_to(self, branch: str) -> bool:
        """Whether this run has made a branch, or a commit on it."""
        return any(each.is_done for each in self._on(branch, MakeBranch, Commit))

    def may_have_made(self, branch: str) -> bool:
        """Whether this run may have made a branch."""
        return any(each.is_unclear for each in self._on(branch, MakeBranch))

    def has_opened(self, pull: PullRequest) -> bool:
        """Whether this run opened a pull request. The number shows it; if GitHub's answer was lost,
        the same description does.
        """
        return any(
            each.given.number == pull.number
            if isinstance(each.given, PullRequest)
            else each.is_unclear and pull.has_body(each.step.body)
            for each in self._on(pull.head_branch, Open)
            if isinstance(each.step, Open)
        )

    def opened(self, branch: str) -> list[PullRequest]:
        """Return the pull requests that this run knows to have opened from a branch."""
        given = (each.given for each in self._on(branch, Open))
        return [each for each in given if isinstance(each, PullRequest)]

    def may_have_written(self, branch: str, file: FileDefinition) -> bool:
        """Whether an unclear commit of this run may have written a file that a branch has."""
        return any(c.branch == branch and c.holds(file) for c in self.unclear_commits)

    def may_be_there(self, branch: str) -> Mapping[str, bool]:
        """Return the paths that were sent one by one and that a branch may have, even if GitHub
        does not list them yet.

        The value is true if GitHub has said that the path exists.
        """
        failed = (each for each in self._on(branch, Commit) if not each.is_done and each.is_alone)
        return {
            path: each.is_there
            for each in failed
            if isinstance(each.step, Commit) and not each.step.parent
            if each.is_there or each.is_unclear
            for path, _ in each.step.files
        }

    def may_have_opened(self, branch: str) -> bool:
        """Whether a request to open a pull request has failed, so that there may be one."""
        return any(each.is_alone and each.error for each in self._on(branch, Open))

    @property
    def unclear_commits(self) -> list[Commit]:
        """The commits of this run whose result is unclear."""
        steps = (each.step for each in self._all if each.is_unclear)
        return [step for step in steps if isinstance(step, Commit)]

    def is_unread(self, branch: str, file: FileDefinition) -> bool:
        """Whether this run may have written a file to a branch that was not read again since."""
        return any(step.holds(file) for step in self._unread(branch))

    def _unread(self, branch: str) -> list[Commit]:
        """Return the unclear commits to a branch that was not read again since, without those whose
        path was looked at.
        """
        unread = (
            each.step
            for each in self._on(branch, Commit)
            if each.is_unclear and not each.is_there and each.reading == self.readings
        )
        return [step for step in unread if isinstance(step, Commit)]

    def commits_since_look(self, branch: str) -> list[str]:
        """Return the ids of the commits that this run has, or may have, made on a branch since it
        last looked at it; an id is empty if GitHub's answer was lost.
        """
        return [str(each.given or "") for each in self._commits(branch, self._looked)]

    def files_after(self, branch: str, head: str) -> int:
        """Return how many files this run has committed to a branch after ``head``.

        If that is not a commit of this run, those since the last look count. A commit without an
        answer does not count, because GitHub may have refused it.
        """
        ids = [each.given for each in self._all]
        first = ids.index(head) + 1 if head in ids else self._looked
        steps = (each.step for each in self._commits(branch, first) if each.is_done)
        return sum(len(step.files) for step in steps if isinstance(step, Commit))

    def _commits(self, branch: str, first: int) -> list[Sending]:
        return [
            each
            for each in self._all[first:]
            if each.step.branch == branch and isinstance(each.step, Commit)
            if each.is_done or each.is_unclear
        ]

    def _on(self, branch: str, *kinds: type) -> list[Sending]:
        return [e for e in self._all if e.step.branch == branch and isinstance(e.step, kinds)]
