"""What the headers of an answer say about waiting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_LONGEST = 10 * 365 * 24 * 3600.0
"""Seconds: a header that asks for more is cut to it, so that the moment has a date."""


def asked_pause(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that GitHub asks to wait: ``Retry-After``, or until the primary limit's reset.

    ``now`` is our own time, in seconds since the epoch, for answers without ``Date``.
    """
    pause = retry_after(headers, now)
    reset = number(headers.get("x-ratelimit-reset"))
    if pause is None and reset is not None and headers.get("x-ratelimit-remaining") == "0":
        pause = max(reset - _their_time(headers, now), 0.0) + 1
    return None if pause is None else min(pause, _LONGEST)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds of the header ``Retry-After``, which holds a number or a date."""
    value = headers.get("retry-after", "")
    seconds = number(value)
    if seconds is None and value:
        date = _date(value)
        seconds = None if date is None else max(date - _their_time(headers, now), 0.0)
    return None if seconds is None else min(seconds, _LONGEST)


def number(text: str | None) -> float | None:
    """A finite number from 0 in a header, or ``None``."""
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _their_time(headers: Mapping[str, str], now: float) -> float:
    """GitHub's clock, where the answer has one: ours may be wrong by hours."""
    date = _date(headers.get("date", ""))
    return now if date is None else date


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, TypeError):
        return None
