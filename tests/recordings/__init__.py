"""What GitHub answers, rebuilt with names of ours: data for tests, and for a table of the docs.

Each file holds the answers to some kinds of request. An answer is *recorded* (somebody published
it), *documented*, or neither: then nobody has confirmed it. Two tests use all of them: one sends
them through our code and compares what comes out (`tests/unit/test_recordings.py`), the other
compares them with what the stand-in answers (`tests/unit/fakehub/test_recordings.py`).

    python -m tests.recordings   # writes them as a table, into tests/recordings/README.md

The fields of an answer:

request     its kind, a key of `calls.CALLS`
case        what is so at GitHub when it answers this
recorded    where it was published: `owner/repo#1`, `owner/repo:path`, or an address; or several
documented  the page of GitHub's documentation, where nobody published one
status, headers, body
token       the kind of token, where it is not a classic one
given       what the request is about, where it is not the usual (a field of `calls.Given`)
after       kinds of request that the same run made just before, with success
then        the case (of the same request) that the next request is answered with
gives       what our code makes of it: the model, or those of its fields that matter
fails       the kind of the error and the key of its explanation, where it is one
again       whether our code asks more than once
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
    # Those of the directories in `graphql-reading.yml`: a tree's id is the hash of its entries
    "<root>": "c7c5d44aac5cb982a807c39abac82ce01cfd8f3d",
    "<docs>": "441de93354c5bf88419a298e77a9ee320c2d4f34",
}
"""Stand for ids of commits, files and directories."""
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
"""Requests about a repository that a run over many sends to ``/repositories/{number}``, and who
sends them there, too: the answers are those to its name, where anybody has said so."""


@dataclass(frozen=True)
class Recording:
    """One answer, and what our code makes of it."""

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
    again: bool = False

    @property
    def name(self) -> str:
        """The kind of request and the case."""
        return f"{self.request}: {self.case}"

    @property
    def sources(self) -> list[str]:
        """The addresses at which the answer is published or documented."""
        found = self.recorded or self.documented
        return [found] if isinstance(found, str) else list(found)


@cache
def recordings() -> Mapping[str, Recording]:
    """All of them by their names, in the order of the files."""
    found: dict[str, Recording] = {}
    for name in FILES:
        text = (HERE / f"{name}.yml").read_text("utf-8")
        text = re.sub("|".join(IDS), lambda match: IDS[match[0]], text)
        for entry in yaml.safe_load(text):
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
