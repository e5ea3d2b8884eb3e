"""A described, authenticated request to a repository, and who answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pygit2

from tests.fakehub.answer import Response
from tests.fakehub.quirks import Symptom
from tests.fakehub.refusals import Refusal, not_found
from tests.fakehub.repository import PullRequest, Repository
from tests.fakehub.representations import Representations
from tests.fakehub.tokens import Token

if TYPE_CHECKING:
    from tests.fakehub.host import StandInHost

T = TypeVar("T")


@dataclass(slots=True)
class Call:
    """A request that is described, authenticated and addressed to a visible repository."""

    host: StandInHost
    repository: Repository
    token: Token
    show: Representations
    parameters: dict[str, str]
    query: dict[str, str]
    body: Any

    @property
    def git(self) -> pygit2.Repository:
        return self.repository.git

    def symptom(self, thing: str, *possible: Symptom) -> Symptom | None:
        """How the answer is to show that it does not know yet what was just written."""
        return self.repository.written.symptom(self.host.quirks.lag, thing, *possible)

    def number(self) -> PullRequest:
        text = self.parameters.get("pull_number") or self.parameters["issue_number"]
        if not text.isdigit():
            raise not_found()
        return self.repository.pull_request(int(text))

    def page(self, items: list[T], default: int) -> list[T]:
        size = min(100, int(self.query.get("per_page", default))) or default
        start = (max(1, int(self.query.get("page", 1))) - 1) * size
        return items[start : start + size]


Handler: TypeAlias = Callable[[Call], Response]


@dataclass(frozen=True, slots=True)
class Route:
    """A handler and the permissions of which it needs one; `locked` as a whole by default."""

    handler: Handler
    needs: tuple[str, ...]
    locked: bool


ROUTES: dict[str, Route] = {}


def operation(name: str, *needs: str, locked: bool = True) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        ROUTES[name] = Route(handler, needs, locked)
        return handler

    return register


def require_fields(body: dict[str, Any], *names: str) -> None:
    """Raise `Refusal` 422 in the words of the contents API where a field is missing."""
    for name in names:
        if not isinstance(body.get(name), str):
            raise Refusal(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')
