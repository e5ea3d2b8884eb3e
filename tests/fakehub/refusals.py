"""The answers with which the host refuses a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Refusal(Exception):
    """A request the host understands and refuses.

    `errors` is the list of the same name in a validation error. `kind` is the `type` of a
    GraphQL error where it does not follow from the status; empty: it has none. `extensions` are
    what such an error has besides.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: Sequence[Mapping[str, Any] | str] = (),
        headers: Mapping[str, str] | None = None,
        documentation_url: str | None = None,
        kind: str | None = None,
        extensions: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = dict(headers or {})
        self.documentation_url = documentation_url
        self.kind = kind
        self.extensions = extensions


def not_found(message: str = "Not Found") -> Refusal:
    return Refusal(404, message)


def invalid(resource: str, field: str, code: str = "invalid", **more: str) -> Refusal:
    """`Validation Failed` with one entry in `errors`."""
    error = {"resource": resource, "field": field, "code": code, **more}
    return Refusal(422, "Validation Failed", errors=[error])
