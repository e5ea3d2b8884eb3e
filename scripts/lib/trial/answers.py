"""Answers as a table, and as a file that becomes recordings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scripts.lib.trial.recorder import Exchange
from tests.recordings import Recording, recordings
from tests.recordings.calls import CALLS
from tests.recordings.compare import errors_unlike, unlike
from tests.recordings.table import answer, shown

HEADERS = {
    *("link", "location", "retry-after", "x-accepted-github-permissions", "x-github-sso"),
    *("x-oauth-scopes", "x-accepted-oauth-scopes", "gh-limited-by"),
}
"""Those that our code reads, or that say what is missing."""
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_LONGEST_LIST = 3
"""Items of a list that are kept."""
OK, NEW, WRONG = "ok", "new", "WRONG"


class Names:
    """Puts names of ours in the place of those that an answer holds."""

    def __init__(self, secrets: Sequence[str], names: Mapping[str, str]) -> None:
        """``names`` has ours by those of the caller, in any letter case."""
        self._secrets = secrets
        self._names = {
            re.compile(rf"(?<![\w-]){re.escape(old)}(?![\w-])", re.IGNORECASE): new
            for old, new in sorted(names.items(), key=lambda pair: -len(pair[0]))
        }
        self._ours = set(names.values())
        # The part of a repository's name behind the slash may be any word: only where it is alone
        self._alone = {
            old.lower().partition("/")[2]: new.partition("/")[2]
            for old, new in names.items()
            if "/" in old
        }

    def text(self, text: str) -> str:
        """A text without secrets, names and e-mail addresses."""
        if text.lower() in self._alone:
            return self._alone[text.lower()]
        for secret in self._secrets:
            text = text.replace(secret, "***")
        for old, new in self._names.items():
            text = old.sub(new, text)
        return _EMAIL.sub("somebody@example.com", text)

    def data(self, value: Any) -> Any:
        """JSON without them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.data(item) for item in value]
        if isinstance(value, dict):
            return {name: self.data(item) for name, item in value.items()}
        return value

    def short(self, value: Any) -> Any:
        """The same without numbers of people, other repositories, and most of long lists."""
        if isinstance(value, list):
            return [self.short(item) for item in value if not self._is_other(item)][:_LONGEST_LIST]
        if isinstance(value, dict):
            numbers = {"id", "databaseId"}
            return {
                name: 1 if name in numbers and isinstance(item, int) else self.short(item)
                for name, item in value.items()
            }
        return value

    def _is_other(self, item: Any) -> bool:
        """Whether it is a repository that nothing was tried with."""
        full_name = item.get("full_name") if isinstance(item, dict) else None
        return full_name is not None and full_name not in self._ours


class Row(NamedTuple):
    """What was expected of a request, and what came."""

    step: str
    verdict: str
    """`OK`, `NEW` (nobody had confirmed what was expected) or `WRONG`."""
    expected: str
    real: str
    details: Sequence[str] = ()


def rows(
    step: str, expected: Sequence[str], exchanges: Sequence[Exchange], *, of_run: bool
) -> Iterator[Row]:
    """Hold the exchanges of a step against the recordings that are expected of them.

    Each exchange has to be like one of those, and each of those has to come. A run of the action
    asks GraphQL for other paths than the recordings: there the errors are compared alone.
    """
    wanted = [recordings()[name] for name in expected]

    def is_unlike(recording: Recording, exchange: Exchange) -> list[str]:
        if not CALLS[recording.request].is_it(exchange):
            return ["another kind of request"]
        if of_run and recording.is_graphql:
            others = [each for each in wanted if each.request == recording.request]
            return errors_unlike(recording, others, exchange.status, exchange.body)
        return unlike(recording, exchange.status, exchange.headers, exchange.body, strict=False)

    like = {each.name: [one for one in exchanges if not is_unlike(each, one)] for each in wanted}
    left = [one for one in exchanges if not any(one in found for found in like.values())]
    for each in wanted:
        verdict, count = OK if each.sources else NEW, len(like[each.name])
        if count:
            times = f"the same, {count} times" if count > 1 else "the same"
            yield Row(step, verdict, described(each), times)
        elif other := next((one for one in left if CALLS[each.request].is_it(one)), None):
            left.remove(other)
            verdict = WRONG if each.sources else NEW
            yield Row(step, verdict, described(each), real(other), is_unlike(each, other))
        else:
            yield Row(step, WRONG, described(each), "no such answer")
    is_open = wanted and not any(each.sources for each in wanted)
    for exchange in left:
        verdict = NEW if is_open else WRONG
        yield Row(step, verdict, f"{kind_of(exchange)}: nothing like it", real(exchange))


def described(recording: Recording) -> str:
    """Request, case and words."""
    return f"{recording.name}: {answer(recording)}"


def real(exchange: Exchange) -> str:
    """Status and words of an answer: message, type of the error, its path."""
    if isinstance(exchange.body, list):
        return f"{exchange.status}, {len(exchange.body)} items"
    return answer(Recording("", "", exchange.status, exchange.body))


def kind_of(exchange: Exchange) -> str:
    """What kind of request it is, as far as it is known."""
    kinds = (name for name, call in CALLS.items() if call.is_it(exchange))
    return next(kinds, f"{exchange.method} {shown(exchange.path)}")


def save(file: Path, found: Sequence[tuple[str, Exchange]], names: Names) -> None:
    """Write the answers in the form of the recordings: JSON, which is YAML as well."""
    entries = [
        {
            "request": kind_of(exchange),
            "case": f"{step} ({number})",
            "status": exchange.status,
            "headers": {name: value for name, value in exchange.headers.items() if name in HEADERS},
            "body": names.short(exchange.body),
        }
        for number, (step, exchange) in enumerate(found, 1)
    ]
    file.write_text(json.dumps(entries, ensure_ascii=False, indent=1) + "\n", "utf-8")
