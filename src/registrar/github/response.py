"""One response of the host, and what its shape proves.

A proxy's HTML page with status 200, an empty body or a cut-off one look like success to a
client that does not check. So the shape is checked before it is believed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registrar.texts.escaping import Lines

OK = 200
CREATED = 201
REDIRECTS = range(300, 400)
BAD_REQUEST = 400
UNAUTHORIZED = 401
FORBIDDEN = 403
NOT_FOUND = 404
CONFLICT = 409
UNPROCESSABLE = 422
TOO_MANY_REQUESTS = 429
SERVER_ERROR = 500


@dataclass(frozen=True, slots=True)
class Response:
    """Status, headers (names in lower case) and the body: ``None`` when it is not JSON."""

    status: int
    headers: Mapping[str, str]
    data: Any
    may_have_been_applied: bool = False
    """Whether the request was sent before, and that may have been applied."""

    @classmethod
    def parse(cls, status: int, headers: Mapping[str, str], body: str) -> Response:
        """Read the body as JSON, whatever the host says that it is."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            data = None
        return cls(status, headers, data)

    @property
    def message(self) -> str:
        """The host's own words: ``message`` and the messages of its ``errors``; may be empty."""
        if not isinstance(self.data, dict):
            return ""
        errors = self.data.get("errors")
        details = [
            item if isinstance(item, str) else item.get("message")
            for item in (errors if isinstance(errors, list) else [])
            if isinstance(item, (str, dict))
        ]
        texts = [self.data.get("message"), *details]
        return Lines("; ".join(dict.fromkeys(t for t in texts if isinstance(t, str) and t)))

    @property
    def says_not_found(self) -> bool:
        """Only a 404 that says ``Not Found`` means that something is missing."""
        return (
            self.status == NOT_FOUND
            and isinstance(self.data, dict)
            and self.data.get("message") == "Not Found"
        )

    @property
    def asks_for_sso(self) -> bool:
        """Whether an organisation hides behind single sign-on (docs: "X-GitHub-SSO")."""
        return "x-github-sso" in self.headers

    @property
    def did_something(self) -> bool:
        """Whether a success is one: GraphQL answers 200 too when every mutation was refused."""
        if not isinstance(self.data, dict) or "errors" not in self.data:
            return True
        data = self.data.get("data")
        return isinstance(data, dict) and any(data.values())

    def holds(self, *fields: str) -> bool:
        """Whether the response is an object that has all of ``fields``, none of them null."""
        return isinstance(self.data, dict) and all(
            self.data.get(field) is not None for field in fields
        )

    @property
    def describes_entry(self) -> bool:
        """Whether this is what ``GET contents`` says of a file, link, submodule or directory."""
        if isinstance(self.data, list):
            # git has no empty directories
            return bool(self.data) and all(
                isinstance(item, dict) and "path" in item for item in self.data
            )
        return self.holds("type", "path", "sha")
