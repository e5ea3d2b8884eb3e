"""Answers as a table, and as a file that becomes recordings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import requests

from scripts.lib.trial.recorder import Exchange
from tests.recordings import Recording, recordings
from tests.recordings.calls import CALLS
from tests.recordings.compare import SAID, SAID_OF_ERRORS, errors_unlike, forms, unlike
from tests.recordings.table import answer, said, shown

OK, PASSING, NEW, WRONG = "ok", "passing", "new", "WRONG"
COMPARED = """\
Compared: the status, the names of headers and fields, the types of their values; of errors also the
words of {words}. Of GraphQL's answers to a run of the action, the errors alone.
passing: GitHub asked for patience, or refused what was then done in another way, as recorded. new:
nobody had confirmed it, or it differs in what the action does not look at.""".format(
    words=", ".join(sorted(SAID_OF_ERRORS - SAID))
)
_HEADERS = {
    *("retry-after", "x-accepted-github-permissions", "x-accepted-oauth-scopes", "x-oauth-scopes"),
}
_CUT_HEADERS = {
    "gh-limited-by": ".+",
    "link": "<[^>]*>",
    "location": ".+",
    "x-github-sso": "=.*",
}
"""Headers that our code reads, or that say what is missing; and what is not kept of the second."""
_KEPT = {*SAID, "errors", "state", "viewerPermission"}
_KEPT_OF_ERRORS = {*_KEPT, *SAID_OF_ERRORS, "documentation_url"}
"""Fields with words of GitHub's own, which are kept; of all others the type is."""
_NAMED_BY_THE_CALLER = {"custom_properties"}
"""Objects whose fields have names of the caller's."""
_OF_ALL = ("GET repo", "query repository")
"""Kinds of request with the recordings of what any other may meet."""
_LONGEST_LIST = 3
"""Items of a list that are kept."""
WEB_FLOW = "noreply@github.com"
_EMAIL = re.compile(r"[^\s<>()\"'`]+@[\w-]+\.[\w.-]+")
_MASKS = (
    (_EMAIL, "somebody@example.com"),
    (re.compile(r"https?://(?!docs\.github\.com/)[^\s'\"`)>]+"), "https://example.com"),
    (re.compile(r"\b(?:\d+\.){3}\d+\b|\b[0-9A-Fa-f]*(?::[0-9A-Fa-f]*){2,}"), "…"),
    (re.compile(r"(?i)(?<=\bid )\d+|\b(?!65536\b)\d{4,}\b"), "1"),
)
"""What may name somebody in a message: addresses, and numbers of people and requests."""
_WORDS = re.compile(rf"an error|no error|\$(?!\.errors)\S*\.(?:{'|'.join(sorted(SAID))}): ")
"""Differences in what the action goes by, also where it ended as expected."""
_QUOTED = re.compile(r"(?P<quote>['\"`])(?P<text>[^'\"`]*)(?P=quote)")


class Names:
    """Puts names of ours in the place of those that an answer holds."""

    def __init__(self, secrets: Sequence[str], names: Mapping[str, str]) -> None:
        """``names`` has ours by those of the caller, in any letter case."""
        self._secrets = secrets
        self._names = {
            _word(old): new for old, new in sorted(names.items(), key=lambda pair: -len(pair[0]))
        }

    def learn(self, value: Any) -> None:
        """Take note of the people in an answer, whom later messages may name."""
        if isinstance(value, list):
            for item in value:
                self.learn(item)
        if isinstance(value, dict):
            # Commits that GitHub makes are by "GitHub"
            is_person = value.get("email", WEB_FLOW) != WEB_FLOW
            for name in (value.get("login"), value.get("name") if is_person else None):
                if isinstance(name, str) and name:
                    self._names.setdefault(_word(name), "octocat")
            self.learn(list(value.values()))

    def text(self, text: str) -> str:
        """A text without secrets and without these names."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        for old, new in self._names.items():
            text = old.sub(new, text)
        return text

    def data(self, value: Any) -> Any:
        """JSON without them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.data(item) for item in value]
        if isinstance(value, dict):
            return {name: item if name in SAID else self.data(item) for name, item in value.items()}
        return value


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)


def kept(value: Any, *, is_error: bool, is_kept: bool = False) -> Any:
    """What is saved of an answer: GitHub's own words, and of everything else the type.

    The names of the caller's repositories are replaced beforehand (`Names`).
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _masked(value) if is_kept else "text"
    if isinstance(value, list):
        return [kept(each, is_error=is_error, is_kept=is_kept) for each in value[:_LONGEST_LIST]]
    if isinstance(value, dict):
        return {
            name: kept(
                {} if name in _NAMED_BY_THE_CALLER else item,
                is_error=is_error or name == "errors",
                is_kept=name in (_KEPT_OF_ERRORS if is_error else _KEPT),
            )
            for name, item in value.items()
        }
    return 1


def _masked(text: str) -> str:
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    return _QUOTED.sub(lambda found: found[0] if found["text"] in _known() else "…", text)


@cache
def _known() -> str:
    """Everything that the recordings say."""
    return json.dumps([each.body for each in recordings().values()], ensure_ascii=False)


class Row(NamedTuple):
    """What was expected of a request, and what came."""

    step: str
    verdict: str
    """`OK`, `PASSING`, `NEW` (nobody had confirmed what was expected) or `WRONG`."""
    expected: str
    real: str
    details: Sequence[str] = ()


@dataclass
class Step:
    """What is exchanged in a step of the trial, held against what is expected of it.

    Each exchange has to be like one of the recordings in ``expected``, and each of those has to
    come. A kind of request stands for any of its recordings.
    """

    title: str
    expected: Sequence[str]
    of_run: bool = False
    """A run of the action asks GraphQL for other paths than the recordings: there the errors are
    compared alone. It may also get other answers that are recorded."""
    comes_out: bool = False
    """Whether our code made of the answer what it makes of the recording, or the action ended as
    expected: then it got over errors that are recorded, and of an answer matter the status and the
    words of `SAID` alone."""
    exchanges: list[Exchange] = field(default_factory=list)
    earlier: list[Exchange] = field(default_factory=list)
    """What came before the request was sent once more, because it was not as expected."""

    def rows(self) -> Iterator[Row]:
        """What was expected, and what came."""
        wanted = [recordings()[name] for name in self.expected if name not in CALLS]
        unlike_all = [
            one for one in self.exchanges if all(self._unlike(each, one) for each in wanted)
        ]
        passing = [one for one in unlike_all if asks_for_patience(one) or self._is_overcome(one)]
        left = [one for one in unlike_all if one not in passing]
        for each in wanted:
            yield self._wanted(each, left, passing)
        for name in (name for name in self.expected if name in CALLS):
            found = [one for one in left if CALLS[name].is_it(one)]
            left = [one for one in left if one not in found]
            yield from (self._of_any(name, one) for one in found)
            if not found:
                yield Row(self.title, WRONG, name, "not asked")
        is_open = wanted and not any(each.sources for each in wanted)
        for one in left:
            if (self.of_run or passing) and self._recorded(kind_of(one), one):
                yield self._of_any(kind_of(one), one)
            else:
                verdict = NEW if is_open else WRONG
                yield Row(self.title, verdict, f"{kind_of(one)}: nothing like it", real(one))
        for one in (*self.earlier, *passing):
            yield Row(self.title, PASSING, f"{kind_of(one)}: overcome", real(one))

    @property
    def is_wrong(self) -> bool:
        """Whether an answer is not as expected."""
        return any(row.verdict == WRONG for row in self.rows())

    def begin_anew(self) -> None:
        """Hold only what comes from now on against what is expected."""
        self.earlier += self.exchanges
        self.exchanges.clear()

    def _unlike(self, recording: Recording, one: Exchange) -> list[str]:
        if not CALLS[recording.request].is_it(one):
            return ["another kind of request"]
        if self.of_run and recording.is_graphql:
            listed = (recordings()[name] for name in self.expected if name not in CALLS)
            others = [each for each in listed if each.request == recording.request]
            return errors_unlike(recording, others, one.status, one.body)
        return unlike(recording, one.status, one.headers, one.body, strict=False)

    def _is_overcome(self, one: Exchange) -> bool:
        """Whether it is an error that is recorded of its kind, and all came out as expected."""
        kind = kind_of(one).removesuffix(" by number")
        same = [each for each in recordings().values() if each.request == kind]
        if one.is_graphql:
            found = forms(one.body) if isinstance(one.body, dict) else frozenset()
            is_recorded = bool(found) and found <= {e for each in same for e in forms(each.body)}
        else:
            is_recorded = any(each.fails and not self._unlike(each, one) for each in same)
        return self.comes_out and is_recorded and kind not in self.expected

    def _wanted(
        self, recording: Recording, left: list[Exchange], passing: Sequence[Exchange]
    ) -> Row:
        """The row of a recording; takes one that is unlike it out of what is ``left``."""
        about = described(recording)
        verdict = OK if recording.sources else NEW
        if count := sum(not self._unlike(recording, one) for one in self.exchanges):
            times = f"the same, {count} times" if count > 1 else "the same"
            return Row(self.title, verdict, about, times)
        other = next((one for one in left if CALLS[recording.request].is_it(one)), None)
        if other is None:
            overcome = self.comes_out and any(map(CALLS[recording.request].is_it, passing))
            said = "not this time" if overcome else "no such answer"
            return Row(self.title, PASSING if overcome else WRONG, about, said)
        left.remove(other)
        differences = self._unlike(recording, other)
        is_other = other.status != recording.status or any(map(_WORDS.match, differences))
        changes_nothing = self.comes_out and not is_other
        verdict = WRONG if recording.sources and not changes_nothing else NEW
        return Row(self.title, verdict, about, real(other), differences)

    def _of_any(self, kind: str, one: Exchange) -> Row:
        recording = self._recorded(kind, one)
        verdict = OK if recording and recording.sources else NEW
        return Row(self.title, verdict, described(recording) if recording else kind, real(one))

    def _recorded(self, kind: str, one: Exchange) -> Recording | None:
        of_kind = (each for each in recordings().values() if each.request == kind)
        return next((each for each in of_kind if not self._unlike(each, one)), None)


def asks_for_patience(exchange: Exchange, *, with_lag: bool = True) -> bool:
    """Whether it is an answer after which the action asks again: a failure, a limit, or lag.

    After lag alone it asks again soon.
    """
    if (
        exchange.status >= requests.codes.server_error
        or exchange.status == requests.codes.too_many_requests
    ):
        return True
    words = _words(Recording("", "", exchange.status, exchange.body))
    others = {"UNUSABLE", *(() if with_lag else ("LAG",))}
    return bool(words) and any(
        (each.again or "is used up" in each.case or "short time" in each.case)
        and (each.fails or {}).get("kind") not in others
        and (CALLS[each.request].is_it(exchange) or each.request in _OF_ALL)
        and words == _words(each)
        for each in recordings().values()
    )


def _words(recording: Recording) -> set[str]:
    # What follows a quotation mark is about this one repository
    return {re.split("['\"`]", each)[0] for each in said(recording)}


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
    kinds = [name for name, call in CALLS.items() if call.is_it(exchange)]
    numbered = (name for name in kinds if name.endswith(" by number"))
    unknown = f"{exchange.method} {shown(exchange.path)}"
    return next(numbered, kinds[0] if kinds else unknown)


def entry(step: str, number: int, exchange: Exchange) -> str:
    """An answer in the form of the recordings, as a line of a YAML list."""
    headers = {name: value for name, value in exchange.headers.items() if name in _HEADERS}
    for name, cut in _CUT_HEADERS.items():
        if name in exchange.headers:
            headers[name] = re.sub(cut, "…", exchange.headers[name])
    saved = {
        "request": re.sub(r"\d+", "1", kind_of(exchange)),
        "case": f"{step} ({number})",
        "status": exchange.status,
        "headers": headers,
        "body": kept(exchange.body, is_error=exchange.status >= requests.codes.multiple_choices),
    }
    return f"- {json.dumps(saved, ensure_ascii=False)}\n"
