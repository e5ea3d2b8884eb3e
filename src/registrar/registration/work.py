"""What the steps of a registration share."""

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
    """A registration that writes: what each of its steps needs."""

    client: "Client"
    task: Task
    proposal: Proposal
    progress: Progress
    sent: SentSteps

    def pending(self) -> list[FileDefinition]:
        """The missing files about which nothing was done yet."""
        return self.progress.pending(self.task.missing)

    def written(self, branch: Branch, definition: FileDefinition, commit: str = "") -> PathOutcome:
        """Say that a file was created, or corrected, with its commit if that is known."""
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
        """Say that the branch holds a file: our own lost write, another's, or its base's."""
        if definition.path in branch.from_base:
            return PathOutcome(definition.path, Done.SKIPPED, reason=msg("reason.from_base"))
        is_same = blob == definition.blob_id
        if is_same and self.sent.may_have_written(branch.name, definition):
            return self.written(branch, definition)
        reason = msg("reason.on_branch" if is_same else "reason.edited")
        skipped = PathOutcome(definition.path, Done.SKIPPED, reason=reason, is_as_listed=is_same)
        return skipped._replace(standing=Standing.PROPOSED)

    def failed(self, branch: Branch, definition: FileDefinition, failure: Failure) -> PathOutcome:
        """Say that a file could not be created, or corrected."""
        is_there = definition.path in branch.replaces
        standing = Standing.PROPOSED if is_there else Standing.TO_CREATE
        done = Done.UNKNOWN if failure.may_have_been_applied else Done.FAILED
        return PathOutcome(definition.path, done, failure, standing=standing)

    def note_unknown(self, commit: Commit) -> None:
        """Record its files without a result as unknown: GitHub's answer about them was lost."""
        failure = Failure.of(msg("reason.unknown"))._replace(may_have_been_applied=True)
        pending = filter(commit.holds, self.pending())
        self.progress.record(*(PathOutcome(each.path, Done.UNKNOWN, failure) for each in pending))


class Writer(Protocol):
    """Does the steps of a decision: what a way to write has."""

    def tell(self, decision: Decision, /) -> None:
        """Keep and print what was decided."""

    def close(self, step: Close, /) -> PullRequest | None:
        """Close a pull request, unless it has changed since it was read (then `None`).

        It is looked at once more before. Gives it as it is by then; somebody may have closed it.
        """

    def write(self, write: Write, /) -> None:
        """Make or continue the branch, create the files, and see to the pull request.

        `Unclear` if the branch has to be read again first.
        """


class Strategy(Protocol):
    """How a repository is read and written: what a module of a strategy has."""

    @property
    def writer(self) -> Callable[[Work], Writer]:
        """The way to write."""

    def inspect(self, client: "Client", progress: Progress, /) -> Task:
        """Read at one commit what a repository has of the listed paths; say what is to be done."""


MOST_BLOBS = 50
"""Contents that a plan reads at most, to show what would replace them."""


def read_blobs(
    client: "Callable[[str], Client]", wanted: Mapping[str, Repository]
) -> Mapping[str, bytes]:
    """Read blobs by their ids, each from the given repository. If more than `MOST_BLOBS` are
    wanted, none is read; a blob that GitHub refuses is left out.

    ``client`` gives the client for a repository, by its name.
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
    """Add what the target inherits from its owner's repository ``.github``, where asked for.

    Where it counts as present, that has to be known; for a note only if GitHub says it.
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
