"""Refuses before the first write what the repository, or the token, is known to refuse later."""

from collections.abc import Iterable, Sequence

from registrar.errors import Failure, Kind, Refused, RegistrarError
from registrar.models.files import FileDefinition
from registrar.models.task import Task
from registrar.presence.special_files import WORKFLOW_FILES
from registrar.texts.messages import msg


def require_writable(
    task: Task, files: Sequence[FileDefinition], scopes: frozenset[str] | None
) -> None:
    """Refuse to create ``files`` if that is known to fail.

    ``scopes`` are those of a classic token; ``None`` if GitHub names none, as of other tokens.
    """
    repository = task.repository
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
    if unread := task.state.pull_requests_error:
        raise RegistrarError(unread._replace(kind=Kind.NOT_BEGUN))
    if refused := [each.path for each in lacking_scope(files, scopes)]:
        raise Refused(msg("preflight.workflow_scope", paths=refused, scopes=sorted(scopes or ())))


def lacking_scope(
    files: Iterable[FileDefinition], scopes: frozenset[str] | None
) -> list[FileDefinition]:
    """Give the workflow files, where a classic token has ``scopes`` and may not write these."""
    if scopes is None or "workflow" in scopes:
        return []
    return [each for each in files if each.path.startswith(WORKFLOW_FILES)]


def scope_failure(scopes: frozenset[str] | None) -> Failure:
    """Say why a file fails that `lacking_scope` gives."""
    return Failure.of(msg("reason.workflow_scope", scopes=sorted(scopes or ())), Kind.PERMISSION)
