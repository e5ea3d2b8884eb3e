"""The types and functions that the steps of a registration share."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from registrar.errors import ENDS_THE_READING, Failure, GitHubError, Refused
from registrar.models.files import FileDefinition
from registrar.models.paths import Done, PathOutcome
from registrar.models.repository import PullRequest, Repository, RepositoryState
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import Standing
from registrar.models.task import Task
from registrar.presence.alternatives import may_inherit
from registrar.presence.names import forms_of
from registrar.presence.special_files import OWNER_DIRECTORIES
from registrar.registration.decision import Branch, Decision, Write
from registrar.registration.progress import Progress
from registrar.registration.proposal import Proposal
from registrar.registration.sent import Close, Commit, SentSteps
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client


class Work(NamedTuple):
    """The objects that each step of a registration needs."""

    client: "Client"
    task: Task
    proposal: Proposal
    progress: Progress
    sent: SentSteps

    def pending(self) -> list[FileDefinition]:
        """Return the missing files for which nothing was done yet."""
        return self.progress.pending(self.task.missing)

    def written(self, branch: Branch, definition: FileDefinition, commit: str = "") -> PathOutcome:
        """Return the outcome of a file that was created or updated.

        ``commit`` is the id of its commit; empty if it is not known.
        """
        path = definition.path
        outcome = PathOutcome(path, standing=Standing.PROPOSED, is_as_listed=True, commit=commit)
        if replaced := branch.replaces.get(path):
            return outcome._replace(done=Done.UPDATED, replaces=replaced.sha)
        reason = None
        if other := self.progress.listed(definition).other_case:
            key = "reason.unicode_form" if forms_of(path, other) else "reason.other_case"
            reason = msg(key, other=other)
        return outcome._replace(done=Done.CREATED, reason=reason)

    def there(self, branch: Branch, definition: FileDefinition, blob: str) -> PathOutcome:
        """Return the outcome of a file that the branch has already, with the blob id ``blob``.

        Either this run has written it and the answer was lost, or somebody else has, or the branch
        has it from the commit from which it starts.
        """
        if definition.path in branch.from_base:
            return PathOutcome(definition.path, Done.SKIPPED, reason=msg("reason.from_base"))
        is_same = blob == definition.blob_id
        if is_same and self.sent.may_have_written(branch.name, definition):
            return self.written(branch, definition)
        reason = msg("reason.on_branch" if is_same else "reason.edited")
        skipped = PathOutcome(definition.path, Done.SKIPPED, reason=reason, is_as_listed=is_same)
        return skipped._replace(standing=Standing.PROPOSED)

    def failed(self, branch: Branch, definition: FileDefinition, failure: Failure) -> PathOutcome:
        """Return the outcome of a file that could not be created or updated."""
        is_there = definition.path in branch.replaces
        standing = Standing.PROPOSED if is_there else Standing.TO_CREATE
        done = Done.UNKNOWN if failure.may_have_been_applied else Done.FAILED
        return PathOutcome(definition.path, done, failure, standing=standing)

    def note_unknown(self, commit: Commit) -> None:
        """Record the pending files of a commit as unknown, because GitHub's answer was lost."""
        failure = Failure.of(msg("reason.unknown"))._replace(may_have_been_applied=True)
        pending = filter(commit.holds, self.pending())
        self.progress.record(*(PathOutcome(each.path, Done.UNKNOWN, failure) for each in pending))


class Writer(Protocol):
    """The interface of a class that does the steps of a decision."""

    def tell(self, decision: Decision, /) -> None:
        """Keep and print the findings of a decision."""

    def close(self, step: Close, /) -> PullRequest | None:
        """Read a pull request once more and close it; return it as it is then.

        If it has changed since it was first read, it is left open, and `None` is returned. If
        somebody else has closed it, it is returned as they have left it.
        """

    def write(self, write: Write, /) -> None:
        """Make or continue the branch, create the files, and open or update the pull request.

        Raises `Unclear` if the branch has to be read again before the run can go on.
        """


class Strategy(Protocol):
    """The interface of a module that says how a repository is read and written."""

    @property
    def writer(self) -> Callable[[Work], Writer]:
        """The class of the writer."""

    def inspect(self, client: "Client", progress: Progress, /) -> Task:
        """Read the listed paths of a repository at one commit, and return the task."""


MOST_BLOBS = 50
"""The most blobs that a plan reads, to show how updates would change them. A plan with more updates
shows the new content of each file without a comparison."""


def read_blobs(
    client: "Callable[[str], Client]", wanted: Mapping[str, Repository]
) -> Mapping[str, bytes]:
    """Read blobs by their ids, each from the given repository, and return their contents. If more
    than `MOST_BLOBS` are wanted, none is read; a blob that GitHub refuses is left out.

    ``client`` returns the client for the name of a repository. Raises `GitHubError` if reading any
    other blob would fail, too.
    """
    if len(wanted) > MOST_BLOBS:
        return {}
    found: dict[str, bytes] = {}
    for sha, repository in wanted.items():
        try:
            found[sha] = client(repository.full_name).rest.blob(repository, sha)
        except GitHubError as error:
            if error.kind in ENDS_THE_READING:
                raise
    return found


def with_owner(client: "Client", spec: RegistrationSpec, state: RepositoryState) -> RepositoryState:
    """Add the files that the target inherits from its owner's repository ``.github``, if the result
    depends on them.

    If inherited files count as present, an error of the reading is raised. If they are only for a
    note, the error is ignored.
    """
    owner, _, name = state.repository.full_name.partition("/")
    counts, listed = spec.settings.respect_alternatives, spec.file_list.possible
    if not counts:
        listed = tuple(each for each in listed if each.path not in state.entries)
    is_asked = (counts or spec.tells_what_is_lost) and may_inherit(listed)
    if not is_asked or name.lower() == ".github":
        return state
    try:
        return state._replace(owner=client.owner_files(owner, OWNER_DIRECTORIES))
    except (Refused, GitHubError):
        if counts:
            raise
        return state
