"""Whether what a run publishes is read by everybody."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from registrar.errors import RegistrarError
from registrar.inputs.settings import Settings
from registrar.models.selection import ListedRepository

if TYPE_CHECKING:
    from registrar.github.many import ManyClient


def is_public(settings: Settings, found: Iterable[ListedRepository], client: ManyClient) -> bool:
    """Whether the workflow's repository is public, or may be.

    The event tells, except a scheduled one, which describes no repository; then the list; then
    one request. Where no workflow runs us, nothing is published.
    """
    if not settings.in_workflow:
        return False
    private = _says_event(settings)
    if private is not None:
        return not private
    name = settings.workflow_repository.lower()
    if not name:
        return True
    listed = next((each for each in found if each.full_name.lower() == name), None)
    try:
        return (listed or client.listed(settings.workflow_repository)).visibility == "public"
    except RegistrarError:
        return True


def _says_event(settings: Settings) -> bool | None:
    """Whether the repository is private, as the event says it; ``None`` where it does not."""
    try:
        event = json.loads(settings.event.read_bytes()) if settings.event else None
    except (OSError, ValueError, RecursionError):
        return None
    repository = event.get("repository") if isinstance(event, dict) else None
    private = repository.get("private") if isinstance(repository, dict) else None
    return private if isinstance(private, bool) else None
