"""Compare an answer of the stand-in with the recorded one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from tests.recordings import Recording

SAID = {"encoding", "mode", "truncated", "type"}
"""The fields of a success whose values are compared, because they are GitHub's own words. In all
other fields only the types of the values are compared."""
SAID_OF_ERRORS = {*SAID, "code", "field", "message", "path", "resource", "status"}
IDS = re.compile(r"\b[0-9a-f]{40}\b|(?<=global id of ')[^']+|(?<=user ID )\d+|(?<=include `)[^`]+")


def unlike(recording: Recording, status: int, headers: Iterable[str], body: Any) -> list[str]:
    """Return the differences between an answer and the recorded one, in words.

    An error must have exactly the recorded fields. A success may have more, because only some were
    recorded. ``headers`` are the names of the headers; ``body`` is ``None`` if it is not JSON.
    """
    found = _values(recording.body, body, "$", is_error=recording.status >= 300)
    if status != recording.status:
        found.insert(0, f"status {status}, recorded {recording.status}")
    missing = recording.headers.keys() - {name.lower() for name in headers}
    return [*found, *(f"no header {name}" for name in sorted(missing))]


def _values(recorded: Any, answered: Any, where: str, *, is_error: bool) -> list[str]:
    """Return the differences between two values; ``where`` is their place in the body."""
    if isinstance(recorded, dict) and isinstance(answered, dict):
        return _fields(recorded, answered, where, is_error=is_error)
    if isinstance(recorded, list) and isinstance(answered, list):
        return _items(recorded, answered, where, is_error=is_error)
    alike = type(recorded) is type(answered)
    return [] if alike else [f"{where}: {answered!r}, recorded {recorded!r}"]


def _fields(
    recorded: dict[str, Any], answered: dict[str, Any], where: str, *, is_error: bool
) -> list[str]:
    """Return the differences between two objects."""
    found = [f"{where}: no {key}" for key in recorded.keys() - answered.keys()]
    if is_error:
        found += [f"{where}: {key} is too much" for key in answered.keys() - recorded.keys()]
    for key in recorded.keys() & answered.keys():
        path, in_error = f"{where}.{key}", is_error or key == "errors"
        if key in (SAID_OF_ERRORS if in_error else SAID):
            pair = (recorded[key], answered[key])
            if pair[0] != pair[1] and _without_ids(pair[0]) != _without_ids(pair[1]):
                found.append(f"{path}: {pair[1]!r}, recorded {pair[0]!r}")
        else:
            found += _values(recorded[key], answered[key], path, is_error=in_error)
    return found


def _items(recorded: list[Any], answered: list[Any], where: str, *, is_error: bool) -> list[str]:
    """Return the differences between two lists.

    In an error, each item must be like the recorded one at the same place. In a success, each
    recorded item is compared with the most similar one.
    """
    if bool(recorded) != bool(answered) or (is_error and len(recorded) != len(answered)):
        return [f"{where}: {answered!r}, recorded {recorded!r}"]
    if is_error:
        pairs = zip(recorded, answered, strict=True)
        return [each for pair in pairs for each in _values(*pair, where, is_error=True)]
    closest = (
        min((_values(item, each, where, is_error=False) for each in answered), key=len)
        for item in recorded
    )
    return [each for found in closest for each in found]


def _without_ids(value: Any) -> Any:
    """Return a value without ids, because each repository has others."""
    return json.loads(IDS.sub("ID", json.dumps(value)))
