"""The types and functions that the steps of a registration share."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from registrar.errors import ENDS_THE_READING, Failure, GitHubError, Refused
from registrar.models.paths import Create, ListedPath, Outcome, Result
from registrar.models.repository import PullRequest, Repository, RepositoryState, Unknown
from registrar.models.spec import RegistrationSpec
from registrar.models.task import Task
from registrar.presence.alternatives import may_inherit
from registrar.presence.special_files import OWNER_DIRECTORIES
from registrar.registration.plan import Plan
from registrar.registration.progress import Progress
from registrar.registration.proposal import Proposal
from registrar.registration.sent import Close, Commit, SentSteps
from registrar.rendering.states import other_case_reason
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

    def pending(self) -> list[ListedPath]:
        """Return the paths that have their turn when the files of the branch are written."""
        return [each for each in self.progress.result().files if each.is_waiting]

    def to_write(self) -> list[ListedPath]:
        """Return the paths whose files are still to be created or updated."""
        return [each for each in self.progress.result().files if each.is_to_write]

    def note_unknown(self, commit: Commit) -> None:
        """Record the pending files of a commit as unknown, because GitHub's answer was lost."""
        failure = Failure.of(msg("reason.unknown"))._replace(may_have_been_applied=True)
        pending = (each for each in self.to_write() if commit.holds(each.definition))
        self.progress.record({each.path: failed(failure) for each in pending})


def written(listed: ListedPath, commit: str = "") -> Outcome:
    """Return the outcome of a file that was created or updated.

    ``commit`` is the id of its commit; empty if it is not known.
    """
    is_new = isinstance(listed.plan, Create)
    reason = other_case_reason(listed) if is_new else None
    return Outcome(Result.DONE, reason, commit=commit, is_as_listed=True)


def failed(failure: Failure) -> Outcome:
    """Return the outcome of a file that could not be created or updated."""
    result = Result.UNKNOWN if failure.may_have_been_applied else Result.FAILED
    return Outcome(result, failure=failure)


class Writer(Protocol):
    """The interface of a class that carries out a plan."""

    def tell(self, plan: Plan, /) -> None:
        """Keep and print a plan."""

    def close(self, step: Close, /) -> PullRequest:
        """Read a pull request once more and close it; return it as it is then.

        It is left open if it has changed since it was first read, or, if it is no longer needed,
        if GitHub refuses to close it. If somebody else has closed it, it is returned as they have
        left it.
        """

    def write(self, plan: Plan, /) -> None:
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
    counts, listed = spec.settings.respect_alternatives, spec.file_list.possible
    if not counts:
        listed = tuple(each for each in listed if each.path not in state.entries)
    is_asked = (counts or spec.tells_what_is_lost) and may_inherit(listed)
    if not is_asked or state.repository.has_defaults:
        return state
    try:
        owner = client.owner_files(state.repository.owner, OWNER_DIRECTORIES)
        return state._replace(owner=owner)
    except (Refused, GitHubError):
        if counts:
            raise
        return state._replace(owner=Unknown.NOT_SHOWN)
