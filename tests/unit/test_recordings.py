"""Our code makes the right model or error of every answer in `tests/recordings`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from enum import Enum
from typing import Any

import pytest

from registrar.errors import Kind, RegistrarError
from registrar.texts.messages import Message
from tests.fakehub import Fault, FaultKind, StandInHost
from tests.harness import ROOT
from tests.recordings import IDS, Recording, recordings
from tests.recordings.calls import CALLS, FULL_NAME, Caller, Given
from tests.recordings.table import PAGE, page

WORDS_ABOUT_WAITING = {
    "host.failed",
    "host.gave_up",
    "host.lag",
    "host.unreachable",
    "limit.out_of_time",
}
"""The messages that contain the explanation of an answer."""


def successes(request: str) -> Recording:
    """Return the first successful answer to a kind of request."""
    return next(
        each for each in recordings().values() if each.request == request and each.status < 300
    )


def serve(host: StandInHost, recording: Recording, times: int | None = None) -> Fault:
    """Let the host answer requests of the recording's kind with it, ``times`` times (None: all)."""
    headers = {
        name: value.replace("https://api.github.com", host.url)
        for name, value in recording.headers.items()
    }
    return host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=CALLS[recording.request].is_it,
            times=times,
            status=recording.status,
            headers=headers,
            body=recording.body if recording.body is not None else b"",
        )
    )


def plain(value: object) -> Any:
    """Return a model as plain data."""
    if isinstance(value, Message | Enum):
        return value.key if isinstance(value, Message) else value.name
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(each) for each in value]
    return value


def part_of(expected: Any, found: Any) -> Any:
    """Return ``found`` without the fields that ``expected`` does not have."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return {name: part_of(expected[name], found.get(name)) for name in expected}
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [part_of(*pair) for pair in zip(expected, found, strict=True)]
    return found


def explanation(message: Message) -> str:
    """Return the key of the innermost explanation in a message."""
    while message.key in WORDS_ABOUT_WAITING:
        inner = message.values["reason"]
        assert isinstance(inner, Message)
        message = inner
    return message.key


def with_changes(name: str, changes: Mapping[str, Any]) -> Recording:
    """Return a recording with other values at some places of its body.

    A place is written like ``data.nodes.0``; the body itself is the place without a name.
    """
    recording = recordings()[name]
    root = {"": json.loads(json.dumps(recording.body))}
    for place, value in changes.items():
        at: Any = root
        *above, last = ["", *filter(None, place.split("."))]
        for each in above:
            at = at[int(each) if isinstance(at, list) else each]
        at[int(last) if isinstance(at, list) else last] = value
    return replace(recording, body=root[""])


def result_of(host: StandInHost, recording: Recording) -> Any:
    """Return what our code makes of an answer: plain data, or the kind of the error."""
    host.create_repository(FULL_NAME)
    run = Caller(host.url, host.create_token(recording.token))  # type: ignore[arg-type]
    serve(host, recording)
    try:
        return plain(CALLS[recording.request].send(run, Given(**recording.given)))
    except RegistrarError as error:
        return error.kind


IN_CONTENTS, IN_DIRECTORY = (
    "GET contents: a file is there",
    "GET contents of a directory: it is there",
)
IN_PULL, IN_COMPARISON = "GET pulls/N: it is there", "GET compare: one file was added"
IN_HEADS = "query repository: the branches with this part in their names"
IN_COMMITS = "query commits: both are there, with the directory"
IN_NODES = "query nodes: it is there, with the directory"
NOT_FOUND, FORBIDDEN = ({"type": kind, "message": "x"} for kind in ("NOT_FOUND", "FORBIDDEN"))


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        (IN_CONTENTS, "path", None),
        (IN_CONTENTS, "type", None),
        (IN_CONTENTS, "sha", None),
        (IN_CONTENTS, "", []),
        ("GET contents: a directory is there", "0.path", None),
        (IN_DIRECTORY, "0.name", None),
        (IN_COMPARISON, "files", None),
        (IN_COMPARISON, "files.0.status", None),
        (IN_COMPARISON, "files.0.filename", None),
        (IN_COMPARISON, "merge_base_commit.sha", None),
        ("GET collaborators/permission: somebody may write", "permission", None),
        (IN_PULL, "state", None),
        (IN_PULL, "user.login", None),
        (IN_PULL, "head.ref", None),
        (IN_PULL, "head.sha", None),
        (IN_PULL, "head.repo.full_name", None),
        (IN_PULL, "base.ref", None),
        (IN_PULL, "labels", [{"name": None}]),
        (IN_PULL, "assignees", [{"login": None}]),
        ("GET pulls: one is open", "0.head.repo.full_name", None),
        ("GET pulls: one is open", "0.head.ref", None),
        ("PUT contents: the file is made", "commit.sha", None),
        ("GET git/ref: the branch is there", "object.sha", None),
        ("GET repo: it is there", "default_branch", None),
        ("GET properties/values: some are set", "0.value", 7),
        ("GET git/trees: the whole tree", "truncated", None),
        ("GET orgs/ORG/repos: a list", "0", None),
        ("GET orgs/ORG/properties/values: a list", "", {}),
    ],
)
def test_a_value_of_another_type_is_not_used(
    host: StandInHost, name: str, place: str, value: object
) -> None:
    assert result_of(host, with_changes(name, {place: value})) is Kind.UNUSABLE


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        # GitHub describes these values as optional
        (IN_COMPARISON, {"files.0.sha": None}, {"added": {"docs/new.md": ""}}),
        ("GET properties/values: some are set", {"0.value": None}, {"tier": []}),
        (IN_PULL, {"head.repo": None}, {"head_repository": "", "author": "octocat"}),
        (IN_PULL, {"base.repo": None}, {"of": None}),
        (IN_PULL, {"merged_at": "2026-01-02T03:04:05Z"}, {"merged": True, "merge_commit": ""}),
        ("GET rate_limit: the token is accepted", {"resources.graphql": None}, None),
        (
            "query repository: the branch and its pull request are there",
            {"data.pulls.h0.nodes.0.author": None},
            {"branches": {"chore/add-files": {"pull_requests": [{"author": "", "number": 1}]}}},
        ),
        (
            "query repository: the branch and its pull request are there",
            {"data.pulls.h0.nodes.0.headRepository": None},
            {"branches": {"chore/add-files": {"pull_requests": []}}},
        ),
        (
            "query repository: the branch and its pull request are there",
            {"data.pulls.h0.nodes": None, "errors": [FORBIDDEN | {"path": ["pulls", "h0"]}]},
            {"branches": {}, "pull_requests_error": {"kind": "PERMISSION"}},
        ),
        # All names of branches, or none of them
        (IN_HEADS, {"data.repository.heads.nodes": None}, {"heads": None}),
        (IN_HEADS, {"data.repository.heads.pageInfo.hasNextPage": True}, {"heads": None}),
        (
            IN_HEADS,
            {
                "data.repository.heads.nodes": [
                    None,
                    {"name": "chore/add-files", "target": {"oid": IDS["<head>"]}},
                ]
            },
            {"heads": {"chore/add-files": IDS["<head>"]}},
        ),
        # A part that is null, with another error than usual, or without one
        (IN_NODES, {"data.nodes.0": None}, [{"message": "preflight.not_found"}]),
        (
            IN_NODES,
            {"errors": [NOT_FOUND | {"path": ["nodes", 0, "defaultBranchRef"]}]},
            [{"message": "many.unreadable"}],
        ),
        (IN_NODES, {"errors": [FORBIDDEN | {"path": ["rateLimit"]}]}, Kind.PERMISSION),
        (IN_COMMITS, {"data.repository.c0": {}}, Kind.NOT_BEGUN),
        (
            IN_COMMITS,
            {
                "data.repository.c0": None,
                "errors": [NOT_FOUND | {"path": ["repository", "c0"]}],
            },
            Kind.NOT_BEGUN,
        ),
        (
            IN_COMMITS,
            {
                "data.repository.c0": None,
                "errors": [FORBIDDEN | {"path": ["repository", "c0"]}],
            },
            Kind.PERMISSION,
        ),
        (
            "query .github: it is there, with the directory",
            {"data.repository.defaultBranchRef": None},
            None,
        ),
    ],
)
def test_what_may_be_null(
    host: StandInHost, name: str, changes: Mapping[str, Any], expected: Any
) -> None:
    assert part_of(expected, result_of(host, with_changes(name, changes))) == expected


@pytest.mark.parametrize("name", recordings())
def test_what_our_code_makes_of_an_answer(host: StandInHost, name: str) -> None:
    recording = recordings()[name]
    host.create_repository(FULL_NAME)
    run = Caller(host.url, host.create_token(recording.token))  # type: ignore[arg-type]
    given = Given(**recording.given)
    for request in recording.after:
        serve(host, successes(request), times=1)
        CALLS[request].send(run, given)
    served = serve(host, recording, times=1 if recording.then else None)
    if recording.then:
        serve(host, recordings()[f"{recording.request}: {recording.then}"])
    fails, gives = None, None
    try:
        gives = plain(CALLS[recording.request].send(run, given))
    except RegistrarError as error:
        fails = {"kind": error.kind.name, "text": explanation(error.message)}
    assert fails == recording.fails
    assert part_of(recording.gives, gives) == recording.gives
    assert (len(served.hits) > 1) == recording.again


def test_the_page_of_the_documentation_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tests.recordings`"


def test_the_source_of_a_row_stands_with_the_recordings_or_on_the_page() -> None:
    rows = (ROOT / "src/registrar/github/classify.py").read_text("utf-8")
    pages = [file.read_text("utf-8") for file in (PAGE, ROOT / "docs/github-behaviour.md")]
    sources = re.findall(r"[\w.-]+/[\w.-]+#\d+", rows)
    assert len(sources) > 30
    assert [source for source in sources if not any(f"[{source}]" in page for page in pages)] == []


def test_every_kind_of_request_has_its_answers() -> None:
    """Each kind of request has a successful answer."""
    assert {each.request for each in recordings().values() if each.status < 300} == set(CALLS)
