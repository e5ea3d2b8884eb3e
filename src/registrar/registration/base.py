"""The interface of the strategies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from registrar.errors import (
    Cancelled,
    Failure,
    GitHubError,
    Kind,
    OutOfTime,
    Refused,
    RegistrarError,
)
from registrar.models.files import FileDefinition
from registrar.models.plan import Plan
from registrar.models.repository import RepositoryState
from registrar.models.result import Done, FileResult
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import Standing
from registrar.presence.alternatives import may_inherit
from registrar.presence.special_files import OWNER_DIRECTORIES, WORKFLOW_FILES
from registrar.registration.decide import Branch, Claim, Made, NotMade
from registrar.registration.progress import Progress
from registrar.registration.pull_requests import Proposal
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client


class Strategy(Protocol):
    """How a repository is read and written: what a module of a strategy has."""

    CHECKS_TOKEN_FIRST: bool
    """Whether the token is checked by a request of its own before anything is read."""

    def inspect(
        self, client: Client, spec: RegistrationSpec, progress: Progress, /
    ) -> RepositoryState:
        """Read the repository, and what it has of the listed paths, at one commit."""
        ...

    def require_rate_limit(self, client: Client, files: Sequence[FileDefinition], /) -> None:
        """Refuse to begin creating ``files`` when the token's rate limit does not suffice."""
        ...

    def claim(
        self, client: Client, plan: Plan, claim: Claim, proposal: Proposal, progress: Progress, /
    ) -> Made | NotMade:
        """Make a branch, and perhaps do everything else in the same request.

        `create_files` does what it leaves undone.
        """
        ...

    def create_files(
        self, client: Client, plan: Plan, branch: Branch, proposal: Proposal, progress: Progress, /
    ) -> None:
        """Create every missing file that has no result yet; a failed one does not stop the run."""
        ...


def created(plan: Plan, definition: FileDefinition, commit: str = "") -> FileResult:
    """Give the result of a file that was created, with the commit where it is known."""
    other = plan.other_case.get(definition.path)
    reason = msg("reason.other_case", other=other) if other else None
    return FileResult(definition, Standing.PROPOSED, Done.CREATED, reason, commit)


def make_branch(client: Client, plan: Plan, name: str) -> Made | NotMade:
    """Make a branch at the commit that was read, and nothing else."""
    try:
        client.rest.create_branch(plan.repository, name, plan.state.base_sha)
    except GitHubError as error:
        if error.may_have_been_applied:
            return NotMade(error, answer_was_lost=True)
        if error.already_exists:
            return NotMade(error)
        raise
    return Made()


@contextmanager
def interruptible(
    client: Client, progress: Progress, definitions: Sequence[FileDefinition]
) -> Iterator[None]:
    """Mark what the write inside may have created, where a signal or a limit ends it half-way."""
    try:
        yield
    except (Cancelled, OutOfTime):
        if client.may_have_been_applied:
            mark_unknown(progress, definitions)
        raise


def mark_unknown(progress: Progress, definitions: Iterable[FileDefinition]) -> None:
    """Keep that nobody knows whether the files without a result were created."""
    failure = Failure.of(msg("reason.unknown"))._replace(may_have_been_applied=True)
    for definition in progress.pending(list(definitions)):
        progress.record(FileResult(definition, Standing.MISSING, Done.UNKNOWN, failure=failure))


def with_owner(client: Client, spec: RegistrationSpec, state: RepositoryState) -> RepositoryState:
    """Add what the target inherits from its owner's repository ``.github``, where asked for."""
    owner, _, name = state.repository.full_name.partition("/")
    asked_for = spec.settings.respect_alternatives and may_inherit(spec.files.possible)
    if not asked_for or name.lower() == ".github":
        return state
    return state._replace(owner=client.owner_files(owner, OWNER_DIRECTORIES))


def require_writable(
    plan: Plan, files: Sequence[FileDefinition], scopes: frozenset[str] | None
) -> None:
    """Refuse, before the first write, what is known to fail.

    ``files`` are to be created. ``scopes`` are those of a classic token, ``None`` where GitHub
    names none.
    """
    repository = plan.repository
    target = repository.full_name
    if repository.archived:
        raise Refused(msg("preflight.archived", target=target))
    if not repository.takes_pull_requests:
        raise Refused(msg("preflight.no_pull_requests", target=target))
    if scopes is not None and not scopes & {"repo", "public_repo"}:
        # With `public_repo` alone the token sees public repositories only, so this is one
        raise Refused(msg("preflight.scope", scopes=sorted(scopes) or msg("label.none")))
    if repository.can_push is False:
        raise Refused(msg("preflight.no_push", target=target))
    if unread := plan.state.pull_requests_error:
        raise RegistrarError(unread._replace(kind=Kind.NOT_BEGUN))
    workflow_files = [d.path for d in files if d.path.startswith(WORKFLOW_FILES)]
    if workflow_files and scopes is not None and "workflow" not in scopes:
        raise Refused(msg("preflight.workflow_scope", paths=workflow_files, scopes=sorted(scopes)))
