"""A request as it has arrived at the stand-in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """A request that has arrived; `status` and `ended` are None until it is answered.

    `path` is decoded and has no Enterprise Server prefix. `started` and `ended` are in monotonic
    seconds. `status` stays None if a fault closed the connection or sent its own bytes. `received`
    and `sent` are the sizes of the two bodies in bytes.
    """

    number: int
    method: str
    path: str
    raw_target: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    json: Any
    token: str | None
    started: float
    received: int
    sent: int = 0
    ended: float | None = None
    status: int | None = None

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the body; empty if the body is not a JSON object."""
        return self.json if isinstance(self.json, dict) else {}


def parsed(raw: bytes) -> Any:
    """Return the value of a JSON body; None if it is empty or not JSON."""
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None


def token_in(authorization: str | None) -> str | None:
    """Return the token of an Authorization header; None if it has none."""
    kind, _, value = (authorization or "").partition(" ")
    return value.strip() or None if kind.lower() in {"bearer", "token"} else None
