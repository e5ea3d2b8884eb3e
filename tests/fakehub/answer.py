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
    """Status, body and headers; a body that is not bytes is sent as JSON.

    `cut` announces the whole length and sends half of it.
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
"""Bytes to send, seconds to wait, and perhaps how the connection ends."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes that a script sends instead of HTTP, before it closes the connection."""

    script: Script


Answer: TypeAlias = Response | Drop | Raw
Change: TypeAlias = Callable[["Request", Response], Answer]
"""What becomes of the right answer to a request."""


def error_body(
    status: int,
    message: str,
    documentation_url: str,
    errors: Sequence[Mapping[str, Any] | str] = (),
) -> dict[str, Any]:
    """An error body; the host quotes the status in it."""
    body: dict[str, Any] = {"message": message}
    if errors:
        body["errors"] = list(errors)
    return body | {"documentation_url": documentation_url, "status": str(status)}
