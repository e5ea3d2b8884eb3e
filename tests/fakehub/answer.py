"""The answer that the stand-in sends over the connection."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .request import Request


@dataclass(slots=True)
class Response:
    """An HTTP response. A body that is not bytes is sent as JSON.

    With `json`, bytes are sent as JSON, too, instead of as HTML. With `cut`, `Content-Length` gives
    the length of the whole body, but only the first half is sent.
    """

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    json: bool = False
    cut: bool = False

    def payload(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return json.dumps(self.body, separators=(",", ":")).encode()

    @property
    def content_type(self) -> str:
        as_json = self.json or not isinstance(self.body, bytes)
        return f"{'application/json' if as_json else 'text/html'}; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Drop:
    """No answer: the connection is closed, or reset."""

    reset: bool


Script: TypeAlias = Callable[[], Iterator[bytes | float | Drop]]
"""A function that yields bytes to send, seconds to wait, or a `Drop` that ends the connection."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes that a script sends instead of an HTTP response; then the connection is closed."""

    script: Script


Answer: TypeAlias = Response | Drop | Raw
Change: TypeAlias = Callable[["Request", Response], Answer]
"""A function that makes another answer from a request and the right answer to it."""


def error_body(
    status: int,
    message: str,
    documentation_url: str,
    errors: Sequence[Mapping[str, Any] | str] = (),
) -> dict[str, Any]:
    """Return the JSON body of an error; GitHub gives the status in it as a string."""
    body: dict[str, Any] = {"message": message}
    if errors:
        body["errors"] = list(errors)
    return body | {"documentation_url": documentation_url, "status": str(status)}
