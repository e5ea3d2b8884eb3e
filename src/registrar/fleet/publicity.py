"""Whether what a run publishes is read by others than those who may see private repositories."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from registrar.errors import RegistrarError
from registrar.inputs.settings import Settings
from registrar.models.selection import ListedRepository
from registrar.workspace import Folder, Unreadable

if TYPE_CHECKING:
    from registrar.github.many import ManyClient


_PUBLIC = ("public", "internal")
EVENT_BYTES = 25_000_000
"""GitHub's largest event
(https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap)."""


def may_be_public(settings: Settings) -> bool:
    """Whether the log may be public, as far as is known without a request."""
    return settings.in_workflow and _event_visibility(settings) in {None, *_PUBLIC}


def is_public(settings: Settings, found: Iterable[ListedRepository], client: ManyClient) -> bool:
    """Whether the workflow's repository is public, or may be.

    An internal one counts as public: the whole enterprise reads its log. The event tells, except
    a scheduled one, which describes no repository; then the list; then one request. Where no
    workflow runs us, nothing is published.
    """
    if not settings.in_workflow:
        return False
    if visibility := _event_visibility(settings):
        return visibility in _PUBLIC
    name = settings.workflow_repository.lower()
    if not name:
        return True
    listed = next((each for each in found if each.full_name.lower() == name), None)
    try:
        return (listed or client.listed(settings.workflow_repository)).visibility in _PUBLIC
    except RegistrarError:
        return True


def _event_visibility(settings: Settings) -> str | None:
    """Visibility of the repository as the event says it; ``None`` where it does not.

    Not every private repository is one in the event: ``private`` holds for internal ones, too.
    """
    if settings.event is None:
        return None
    try:
        event = json.loads(
            Folder(settings.event.parent).read(settings.event.name, most=EVENT_BYTES)
        )
    except (Unreadable, ValueError, RecursionError):
        return None
    repository = event.get("repository") if isinstance(event, dict) else None
    if not isinstance(repository, dict):
        return None
    visibility = repository.get("visibility")
    if isinstance(visibility, str):
        return visibility
    return "public" if repository.get("private") is False else None
