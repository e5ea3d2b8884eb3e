"""What the steps of a registration share."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from registrar.errors import ENDS_THE_READING, Cancelled, Failure, GitHubError, OutOfTime, Refused
from registrar.models.files import FileDefinition
from registrar.models.paths import Done, PathOutcome
from registrar.models.plan import Plan
from registrar.models.repository import Repository, RepositoryState
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import Standing
from registrar.presence.alternatives import may_inherit
from registrar.presence.names import forms_of
from registrar.presence.special_files import OWNER_DIRECTORIES
from registrar.registration.answers import Claim, Made, NotMade
from registrar.registration.decide import Branch
from registrar.registration.progress import Progress
from registrar.registration.proposal import Proposal
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client


class Work(NamedTuple):
    """A registration that writes: what each of its steps needs."""

    client: "Client"
    plan: Plan
    proposal: Proposal
    progress: Progress

    def make_branch(self, name: str) -> Made | NotMade:
        """Make a branch at the commit that was read, and nothing else."""
        try:
            self.client.rest.create_branch(self.plan.repository, name, self.plan.state.base_sha)
        except GitHubError as error:
            if error.may_have_been_applied:
                return NotMade(error, answer_was_lost=True)
            if error.already_exists:
                return NotMade(error)
            raise
        return Made()

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
        if branch.may_be_ours and is_same:
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

    @contextmanager
    def interruptible(self, definitions: Sequence[FileDefinition]) -> Iterator[None]:
        """Note what the write inside may have created, where a signal or a limit ends it."""
        try:
            yield
        except (Cancelled, OutOfTime):
            if self.client.session.may_have_been_applied:
                self.note_unknown(definitions)
            raise

    def note_unknown(self, definitions: Iterable[FileDefinition]) -> None:
        """Record the files without a result as unknown: GitHub's answer about them was lost."""
        failure = Failure.of(msg("reason.unknown"))._replace(may_have_been_applied=True)
        pending = self.progress.pending(definitions)
        self.progress.record(*(PathOutcome(each.path, Done.UNKNOWN, failure) for each in pending))


class Strategy(Protocol):
    """How a repository is read and written: what a module of a strategy has."""

    def inspect(self, client: "Client", progress: Progress, /) -> Plan:
        """Read at one commit what a repository has of the listed paths; say what is to be done."""

    def require_rate_limit(self, client: "Client", files: Sequence[FileDefinition], /) -> None:
        """Refuse to begin creating ``files`` when the token's rate limit does not suffice."""

    def claim(self, work: Work, claim: Claim, /) -> Made | NotMade:
        """Make the first branch, and perhaps do everything else in the same request.

        `create_files` does what it leaves undone.
        """

    def create_files(self, work: Work, branch: Branch, /) -> None:
        """Create every missing file that has no result yet; a failed one does not stop the run."""


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
