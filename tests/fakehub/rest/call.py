"""Calls (requests that are checked and authenticated), and the handlers that answer them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlencode

import pygit2

from tests.fakehub.acts import Acts
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
    """A request that matches the description, with its token.

    `parameters` are the ones of the path, `query` the ones of the query.
    """

    host: StandInHost
    token: Token
    show: Representations
    parameters: dict[str, str]
    query: dict[str, str]

    def page(self, items: Sequence[T], default: int = 30) -> Sequence[T]:
        """Return the page of a list that the query asks for, with `default` items by default."""
        size, number = self._paging(default)
        return items[(number - 1) * size : number * size]

    def links(self, target: str, count: int, default: int = 30) -> dict[str, str]:
        """Return the `Link` header to the other pages of `count` items; none for a single page."""
        size, number = self._paging(default)
        last = max(1, -(-count // size))
        pages = {
            "prev": number - 1 if number > 1 else None,
            "next": number + 1 if number < last else None,
            "last": last if number < last else None,
            "first": 1 if number > 1 else None,
        }
        links = [
            f'<{target}?{urlencode(self.query | {"page": str(page)})}>; rel="{name}"'
            for name, page in pages.items()
            if page is not None
        ]
        return {"Link": ", ".join(links)} if links else {}

    def to(self, repository: Repository, body: Any) -> RepositoryCall:
        """Return the same request with its repository and its body."""
        return RepositoryCall(
            self.host, self.token, self.show, self.parameters, self.query, repository, body
        )

    def _paging(self, default: int) -> tuple[int, int]:
        size = min(100, int(self.query.get("per_page", default))) or default
        return size, max(1, int(self.query.get("page", 1)))


@dataclass(slots=True)
class RepositoryCall(Call):
    """A request to a repository that the token sees."""

    repository: Repository
    body: Any

    @property
    def git(self) -> pygit2.Repository:
        return self.repository.git

    @property
    def acts(self) -> Acts:
        """The verbs of the client that sent the request."""
        return self.repository.by(self.token.actor)

    def symptom(self, thing: str, *possible: Symptom) -> Symptom | None:
        """Return how the answer shows that it does not know a thing yet (`Written.symptom`)."""
        return self.repository.written.symptom(self.host.quirks.lag, thing, *possible)

    def number(self) -> PullRequest:
        text = self.parameters.get("pull_number") or self.parameters["issue_number"]
        if not text.isdigit():
            raise not_found()
        return self.repository.pull_request(int(text))


Handler: TypeAlias = Callable[[RepositoryCall], Response]


@dataclass(frozen=True, slots=True)
class Route:
    """A handler and its permissions.

    The token needs one of `needs`. With `locked` the handler runs while it holds the lock of the
    repository; otherwise several requests may overlap.
    """

    handler: Handler
    needs: tuple[str, ...]
    locked: bool


ROUTES: dict[str, Route] = {}
LISTINGS: dict[str, Callable[[Call], Response]] = {}
"""Handlers of requests without a repository in their path."""


def operation(name: str, *needs: str, locked: bool = True) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        ROUTES[name] = Route(handler, needs, locked)
        return handler

    return register


def require_fields(body: dict[str, Any], *names: str) -> None:
    """Raise `Refusal` 422 in the words of the contents API if a field is missing."""
    for name in names:
        if not isinstance(body.get(name), str):
            raise Refusal(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')
