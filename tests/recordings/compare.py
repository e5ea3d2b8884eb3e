"""Whether an answer is as it was recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from tests.recordings import Recording

SAID = {"code", "encoding", "field", "message", "mode", "resource", "status", "truncated", "type"}
"""Fields with words of GitHub's own, which are compared; of all others the type is."""
IDS = re.compile(r"\b[0-9a-f]{40}\b|'(PR|R|T)_[\w=-]+'|(?<=user ID )\d+")


def unlike(recording: Recording, status: int, headers: Iterable[str], body: Any) -> list[str]:
    """Say what of an answer is not as recorded; its headers are given by their names.

    Of an error everything is compared, of a success what was recorded of it.
    """
    is_error = recording.status >= 300
    found = differences(recording.body, body, is_error=is_error)
    if status != recording.status:
        found.insert(0, f"status {status}, recorded {recording.status}")
    missing = recording.headers.keys() - {name.lower() for name in headers}
    return [*found, *(f"no header {name}" for name in sorted(missing))]


def differences(recorded: Any, answered: Any, where: str = "$", *, is_error: bool) -> list[str]:
    """What is not the same; a recorded success may have fewer fields."""
    if isinstance(recorded, dict) and isinstance(answered, dict):
        return different_fields(recorded, answered, where, is_error=is_error)
    if isinstance(recorded, list) and isinstance(answered, list):
        return different_items(recorded, answered, where, is_error=is_error)
    is_no_json = where == "$" and recorded is None and isinstance(answered, bytes)
    alike = is_no_json or type(recorded) is type(answered)
    return [] if alike else [f"{where}: {answered!r}, recorded {recorded!r}"]


def different_fields(
    recorded: dict[str, Any], answered: dict[str, Any], where: str, *, is_error: bool
) -> list[str]:
    found = [f"{where}: no {key}" for key in recorded.keys() - answered.keys()]
    if is_error:
        found += [f"{where}: {key} is too much" for key in answered.keys() - recorded.keys()]
    for key in recorded.keys() & answered.keys():
        path, in_error = f"{where}.{key}", is_error or key == "errors"
        if key in SAID or (key == "path" and in_error):
            if without_ids(recorded[key]) != without_ids(answered[key]):
                found.append(f"{path}: {answered[key]!r}, recorded {recorded[key]!r}")
        else:
            found += differences(recorded[key], answered[key], path, is_error=in_error)
    return found


def different_items(
    recorded: list[Any], answered: list[Any], where: str, *, is_error: bool
) -> list[str]:
    """Of a list of what is there, one item has to be alike; of errors, all of them."""
    if bool(recorded) != bool(answered) or (is_error and len(recorded) != len(answered)):
        return [f"{where}: {answered!r}, recorded {recorded!r}"]
    if is_error:
        pairs = zip(recorded, answered, strict=True)
        return [each for pair in pairs for each in differences(*pair, where, is_error=True)]
    closest = (
        min((differences(item, each, where, is_error=False) for each in answered), key=len)
        for item in recorded
    )
    return [each for found in closest for each in found]


def without_ids(value: Any) -> Any:
    """A value without what differs from one repository to the next."""
    return json.loads(IDS.sub("ID", json.dumps(value)))
