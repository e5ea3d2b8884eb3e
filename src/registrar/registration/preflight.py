"""Checks before the first write whether the repository or the token would refuse a later one."""

from collections.abc import Iterable, Sequence

from registrar.errors import Failure, Kind, Refused, RegistrarError
from registrar.github.limits import Resource, TokenLimits
from registrar.lists.constraints import ALL_BYTES
from registrar.models.files import FileDefinition
from registrar.models.settings import CommitStrategy
from registrar.models.task import Task
from registrar.presence.special_files import WORKFLOW_FILES
from registrar.texts.messages import msg


def require_writable(task: Task, files: Sequence[FileDefinition], limits: TokenLimits) -> None:
    """Raise `RegistrarError` if it is known that ``files`` cannot be created or proposed.

    A run that creates files also needs enough requests or points until the end of the rate limit.
    """
    repository, scopes = task.repository, limits.scopes
    target = repository.full_name
    if repository.archived:
        raise Refused(msg("preflight.archived", target=target))
    if not repository.takes_pull_requests:
        raise Refused(msg("preflight.no_pull_requests", target=target))
    require_scope(scopes)
    if repository.can_push is False:
        raise Refused(msg("preflight.no_push", target=target))
    if unread := task.state.pull_requests_error:
        raise RegistrarError(unread._replace(kind=Kind.NOT_BEGUN))
    if refused := [each.path for each in lacking_scope(files, scopes)]:
        raise Refused(msg("preflight.workflow_scope", paths=refused, scopes=sorted(scopes or ())))
    if sum(len(each.content) for each in files) > ALL_BYTES:
        # The list has fewer bytes, but values of custom properties can be of any length
        raise Refused(msg("preflight.contents_too_large", target=target, most=ALL_BYTES))
    if task.spec.writes and task.spec.settings.commit_strategy is CommitStrategy.SINGLE:
        limits.require(Resource.GRAPHQL, 1)
    elif task.spec.writes:
        # A request for the branch, one for each file, and one for the pull request
        limits.require(Resource.REST, len(files) + 2)


def require_scope(scopes: frozenset[str] | None) -> None:
    """Raise `Refused` if a classic token with ``scopes`` may write to no repository at all."""
    if scopes is not None and not scopes & {"repo", "public_repo"}:
        # A token with `public_repo` alone sees only public repositories, so this one is public
        raise Refused(msg("preflight.scope", scopes=sorted(scopes) or msg("label.none")))


def lacking_scope(
    files: Iterable[FileDefinition], scopes: frozenset[str] | None
) -> list[FileDefinition]:
    """Return the workflow files of ``files`` if a classic token with ``scopes`` may not write them;
    otherwise an empty list.
    """
    if scopes is None or "workflow" in scopes:
        return []
    return [each for each in files if each.path.startswith(WORKFLOW_FILES)]


def scope_failure(scopes: frozenset[str] | None) -> Failure:
    """Return the failure of the files that `lacking_scope` returns."""
    return Failure.of(msg("reason.workflow_scope", scopes=sorted(scopes or ())), Kind.PERMISSION)
