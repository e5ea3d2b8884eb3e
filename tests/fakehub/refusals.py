"""The answers with which the host refuses a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Refusal(Exception):
    """The refusal of a request that GitHub understands.

    `errors` is the list of the same name in a validation error. `kind` is the `type` of a GraphQL
    error: None if it follows from the status, empty if the error has no type. `extensions` is the
    field of the same name of a GraphQL error.
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
    """Return a 422 `Validation Failed` with one entry in `errors`."""
    error = {"resource": resource, "field": field, "code": code, **more}
    return Refusal(422, "Validation Failed", errors=[error])
