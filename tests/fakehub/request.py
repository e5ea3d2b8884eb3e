"""A request as it has arrived at the stand-in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived; `status` and `ended` stay None until it is answered.

    `path` is decoded and without the Enterprise Server prefix; `started` and `ended` are
    monotonic seconds; `status` is also None where a fault answered nothing. `received` and `sent`
    are the bytes of the bodies.
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
        """Those of the body; none where it is no JSON object."""
        return self.json if isinstance(self.json, dict) else {}


def parsed(raw: bytes) -> Any:
    """Return a body as JSON; None if it is not JSON."""
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None


def token_in(authorization: str | None) -> str | None:
    """The token of an Authorization header."""
    kind, _, value = (authorization or "").partition(" ")
    return value.strip() or None if kind.lower() in {"bearer", "token"} else None
