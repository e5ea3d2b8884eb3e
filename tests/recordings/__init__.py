"""Answers of GitHub, with names of our own: data for tests, and for a table of the documentation.

Each file has the answers to some kinds of requests. An answer is *recorded* if somebody has
published it, and *documented* if only GitHub's documentation shows it. If it is neither, nobody has
confirmed it. Two tests use all answers: `tests/unit/test_recordings.py` gives them to our code and
compares its results, and `tests/unit/fakehub/test_recordings.py` compares them with the answers of
the stand-in.

    python -m tests.recordings   # writes them as a table, into tests/recordings/README.md

The fields of an answer:

request     the kind of the request, a key of `calls.CALLS`
case        the situation at GitHub in which it gives this answer
recorded    the places that show it: `owner/repo#1`, `owner/repo:path`, or an address; or several
documented  the page of GitHub's documentation, if nobody has published the answer
status, headers, body
token       the kind of token, if it is not a classic one
given       values of the request that are not the usual ones (fields of `calls.Given`)
after       kinds of requests that the same run has sent just before, with success
then        the case (of the same request) with which the next request is answered
gives       the result of our code: the model, or its fields that matter
fails       the kind of the error and the key of its explanation, if the result is an error
ends        the exit code of a whole run that gets this answer each time, by its way: `per-file`,
            `single` or `many`
says        the key of the text in its log, if it is not that of the explanation
again       whether our code sends the request more than once
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
FILES = (
    *("reading", "writing", "pull-requests", "listings"),
    *("graphql-reading", "graphql-writing"),
)
IDS = {
    "<base>": "ba5e" * 10,
    "<head>": "4ead" * 10,
    "<blob>": "b10b" * 10,
    "<tree>": "7ee0" * 10,
    # The directories in `graphql-reading.yml` have these ids, which are hashes of their entries
    "<root>": "c7c5d44aac5cb982a807c39abac82ce01cfd8f3d",
    "<docs>": "441de93354c5bf88419a298e77a9ee320c2d4f34",
}
"""Names in the files, and the ids of commits, files and directories that replace them."""
_OCTOKIT = "octokit/octokit.net:Octokit.Tests.Integration/Clients"
_BORS = "bors-ng/bors-ng:lib/github/github/server.ex"
BY_NUMBER: Mapping[str, str] = {
    "GET properties/values": "",
    "POST git/refs": _BORS,
    "POST pulls": _BORS,
    "PATCH pulls/N": _BORS,
    "POST labels": f"{_OCTOKIT}/IssuesLabelsClientTests.cs",
    "POST assignees": "",
    "POST requested_reviewers": f"{_OCTOKIT}/PullRequestReviewRequestsClientTests.cs",
}
"""The requests that a run over many repositories sends to ``/repositories/{number}``, each with the
address of another client that sends it there; empty if nobody has shown that this works. The
answers are assumed to be the same as to the request with the name of the repository."""


@dataclass(frozen=True)
class Recording:
    """One answer, and the result that our code must make of it (fields: see the module)."""

    request: str
    case: str
    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    recorded: str | Sequence[str] = ()
    documented: str | Sequence[str] = ()
    token: str = "classic"
    given: Mapping[str, Any] = field(default_factory=dict)
    after: Sequence[str] = ()
    then: str = ""
    gives: Any = None
    fails: Mapping[str, str] | None = None
    ends: Mapping[str, int] = field(default_factory=dict)
    says: str = ""
    again: bool = False

    @property
    def name(self) -> str:
        """The kind of request and the case, which are unique together."""
        return f"{self.request}: {self.case}"

    @property
    def sources(self) -> list[str]:
        """The addresses at which the answer is published or documented."""
        found = self.recorded or self.documented
        return [found] if isinstance(found, str) else list(found)


@cache
def recordings() -> Mapping[str, Recording]:
    """Return all answers by their names, in the order of the files.

    Raises ValueError if two answers have the same name.
    """
    found: dict[str, Recording] = {}
    for name in FILES:
        text = (HERE / f"{name}.yml").read_text("utf-8")
        text = re.sub("|".join(IDS), lambda match: IDS[match[0]], text)
        # The loader in C takes a tenth of the time
        for entry in yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            each = Recording(**entry)
            if each.name in found:
                raise ValueError(f"{each.name} is there twice")
            found[each.name] = each
    for request, source in BY_NUMBER.items():
        each = next(e for e in found.values() if e.request == request and e.status < 300)
        numbered = replace(
            each, request=f"{request} by number", recorded=source or (), documented=()
        )
        found[numbered.name] = numbered
    return found
