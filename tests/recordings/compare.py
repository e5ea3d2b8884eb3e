"""Whether an answer is as it was recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.recordings import Recording

SAID = {"encoding", "mode", "truncated", "type"}
"""Fields of a success with words of GitHub's own, which are compared; of all others the type is."""
SAID_OF_ERRORS = {*SAID, "code", "field", "message", "path", "resource", "status"}
OF_THE_TOKEN = {"viewerPermission"}
"""What the token may do says nothing about GitHub."""
PEOPLE = ("Bot", "Organization", "User")
"""Types of owners and authors: whose it is says nothing about GitHub."""
IDS = re.compile(r"\b[0-9a-f]{40}\b|(?<=global id of ')[^']+|(?<=user ID )\d+|(?<=include `)[^`]+")


def unlike(
    recording: Recording, status: int, headers: Iterable[str], body: Any, *, strict: bool = True
) -> list[str]:
    """Say what of an answer is not as recorded; its headers are given by their names.

    Of an error everything is compared, of a success what was recorded of it. Where it is about
    other things than the recording (not ``strict``), what is null or empty there may be filled.
    A ``body`` that is no JSON is ``None``.
    """
    compare = Comparison(strict)
    found = compare.values(recording.body, body, "$", is_error=recording.status >= 300)
    if status != recording.status:
        found.insert(0, f"status {status}, recorded {recording.status}")
    missing = recording.headers.keys() - {name.lower() for name in headers}
    return [*found, *(f"no header {name}" for name in sorted(missing))]


def errors_unlike(
    recording: Recording, others: Iterable[Recording], status: int, body: Any
) -> list[str]:
    """Say which errors of a GraphQL answer are not as recorded, whatever was asked for.

    It has to have all that are recorded, and besides only those of the ``others``.
    """
    if status != recording.status or not isinstance(body, dict):
        return [f"status {status}, recorded {recording.status}"]
    allowed = {each for other in (recording, *others) for each in forms(other.body)}
    lacking, odd = forms(recording.body) - forms(body), forms(body) - allowed
    return [*(f"no error {each}" for each in lacking), *(f"an error {each}" for each in odd)]


def forms(body: Any) -> frozenset[str]:
    """The errors of a GraphQL answer, in no order."""
    return frozenset(form(error) for error in body.get("errors") or ())


def form(error: Any) -> str:
    """An error without what depends on the question: fields, their type, words, place."""
    place = [
        "pN" if re.fullmatch(r"p\d+", str(step)) else 0 if isinstance(step, int) else step
        for step in error.get("path") or ()
    ]
    words = re.sub(r"'[^']*'|\"[^\"]*\"", "…", str(error.get("message", "")))
    return json.dumps([sorted(error), error.get("type"), place, words], ensure_ascii=False)


class Comparison(NamedTuple):
    """Compares what was recorded with an answer, value by value."""

    strict: bool

    def values(self, recorded: Any, answered: Any, where: str, *, is_error: bool) -> list[str]:
        """Say what is not the same at a place."""
        if isinstance(recorded, dict) and isinstance(answered, dict):
            return self.fields(recorded, answered, where, is_error=is_error)
        if isinstance(recorded, list) and isinstance(answered, list):
            return self.items(recorded, answered, where, is_error=is_error)
        is_open = recorded is None and not self.strict and not is_error
        alike = is_open or type(recorded) is type(answered)
        return [] if alike else [f"{where}: {answered!r}, recorded {recorded!r}"]

    def fields(
        self, recorded: dict[str, Any], answered: dict[str, Any], where: str, *, is_error: bool
    ) -> list[str]:
        """The same of two objects."""
        found = [f"{where}: no {key}" for key in recorded.keys() - answered.keys()]
        if is_error:
            found += [f"{where}: {key} is too much" for key in answered.keys() - recorded.keys()]
        of_token = set() if self.strict else OF_THE_TOKEN
        for key in recorded.keys() & answered.keys() - of_token:
            path, in_error = f"{where}.{key}", is_error or key == "errors"
            if key in (SAID_OF_ERRORS if in_error else SAID):
                pair = (recorded[key], answered[key])
                is_same = pair[0] == pair[1] or without_ids(pair[0]) == without_ids(pair[1])
                is_who = not self.strict and all(each in PEOPLE for each in pair)
                if not is_same and not is_who:
                    found.append(f"{path}: {pair[1]!r}, recorded {pair[0]!r}")
            else:
                found += self.values(recorded[key], answered[key], path, is_error=in_error)
        return found

    def items(
        self, recorded: list[Any], answered: list[Any], where: str, *, is_error: bool
    ) -> list[str]:
        """Of a list of what is there, one item has to be alike; of errors, all of them."""
        if not recorded and not self.strict and not is_error:
            return []
        if bool(recorded) != bool(answered) or (is_error and len(recorded) != len(answered)):
            return [f"{where}: {answered!r}, recorded {recorded!r}"]
        if is_error:
            pairs = zip(recorded, answered, strict=True)
            return [each for pair in pairs for each in self.values(*pair, where, is_error=True)]
        closest = (
            min((self.values(item, each, where, is_error=False) for each in answered), key=len)
            for item in recorded
        )
        return [each for found in closest for each in found]


def without_ids(value: Any) -> Any:
    """A value without what differs from one repository to the next."""
    return json.loads(IDS.sub("ID", json.dumps(value)))
