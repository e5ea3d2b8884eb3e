"""Our code makes the right model or error of every answer in `tests/recordings`."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from enum import Enum
from typing import Any

import pytest

from registrar.errors import Kind, RegistrarError
from registrar.github.limits import Resource
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


def test_every_refusal_with_words_of_github_has_a_source() -> None:
    """A comment names it, or a recording has the words."""
    file = "src/registrar/github/classify.py"
    text = (ROOT / file).read_text("utf-8")
    recorded = "".join(each.read_text("utf-8") for each in PAGE.parent.glob("*.yml"))
    tables = (n.value for n in ast.parse(text).body if isinstance(n, (ast.Assign, ast.AnnAssign)))
    without, end = list[str](), 0
    for row in (row for table in tables if isinstance(table, ast.Tuple) for row in table.elts):
        lines = text.splitlines()[end : row.end_lineno]
        end = row.end_lineno or 0
        comments = " ".join(line.partition("# ")[2] for line in lines)
        texts = (n.value for n in ast.walk(row) if isinstance(n, ast.Constant))
        words = [each for each in texts if isinstance(each, str) and " " in each]
        is_named = re.search(r"\w/[\w.-]+#\d|https://|docs/|not confirmed", comments)
        if words and not is_named and not any(each in recorded for each in words):
            without += words
    assert (end > 0, without) == (True, []), file


GONE = object()
"""In the place of a value: the field is missing."""


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

    With the value `GONE` there is no such field. A place is written like ``files.0.sha``; the body
    itself is the place without a name. In an answer of GraphQL, all places but ``errors`` are below
    ``data``.
    """
    recording = recordings()[name]
    root = {"": json.loads(json.dumps(recording.body))}
    for place, value in changes.items():
        at: Any = root
        data = (
            ["data"]
            if name.startswith(("query", "mutation")) and not place.startswith("errors")
            else []
        )
        *above, last = ["", *data, *filter(None, place.split("."))]
        for each in above:
            at = at[int(each) if isinstance(at, list) else each]
        if value is GONE:
            del at[last]
        else:
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


UNUSABLE = Kind.UNUSABLE
PULL, COMPARISON = "GET pulls/N: it is there", "GET compare: one file was added"
OPEN = "query repository: the branch and its pull request are there"
HEADS = "query repository: the branches with this part in their names"
COMMITS = "query commits: both are there, with the directory"
NODES = "query nodes: it is there, with the directory"
OF_OWNER = "query .github: it is there, with the directory"
MADE = "mutation createRef, createCommitOnBranch, createPullRequest: all three are done"

NULLS = {
    "GET contents: a file is there": "path type sha",
    "GET contents: a directory is there": "0.path",
    "GET contents of a directory: it is there": "0.name",
    "GET compare: one file was added": (
        "files files.0.status files.0.filename merge_base_commit.sha"
    ),
    "GET collaborators/permission: somebody may write": "permission",
    "GET pulls/N: it is there": "state user.login head.ref head.sha base.ref",
    "GET pulls: one is open": "0.head.ref",
    "PUT contents: the file is made": "commit.sha",
    "GET git/ref: the branch is there": "object.sha",
    "GET repo: it is there": "default_branch",
    "GET git/trees: the whole tree": "truncated",
    "GET orgs/ORG/repos: a list": "0",
}
"""Places in answers, separated by blanks, that must not be null."""


GONES = {
    OPEN: (
        "pulls pulls.h0 pulls.h0.nodes.0.headRepository pulls.h0.nodes.0.mergeCommit"
        " pulls.h0.nodes.0.author repository.b0 repository.defaultBranchRef"
        " repository.defaultBranchRef.target.p1"
    ),
    COMMITS: "repository.c0 repository.c1",
    NODES: "nodes.0.b0 nodes.0.defaultBranchRef",
    OF_OWNER: "repository.defaultBranchRef",
    MADE: "createRef createRef.ref createCommitOnBranch createPullRequest",
}
"""Fields in answers of GraphQL, separated by blanks, that may be null, but must not be missing: a
missing one does not say that there is none."""


def errors(kind: str, *path: object) -> list[object]:
    """Return the errors of a GraphQL answer that has one."""
    return [{"type": kind, "path": path, "message": "x"}]


BRANCH = {"name": "chore/add-files", "target": {"oid": IDS["<head>"]}}
CLOSED = {"branches": {BRANCH["name"]: {"pull_requests": [{"closed_at": "2026-01-02T03:04:05Z"}]}}}
OF_NO_ACCOUNT = {"branches": {BRANCH["name"]: {"pull_requests": [{"author": "", "number": 1}]}}}
OF_FORK: dict[str, Any] = {"branches": {BRANCH["name"]: {"pull_requests": []}}}
UNREAD = {"branches": {}, "pull_requests_error": {"kind": "PERMISSION"}}
OF_CONTENTS = errors("NOT_FOUND", "nodes", 0, "defaultBranchRef")
PRIVATE = {"repository.c0": None, "errors": errors("FORBIDDEN", "repository", "c0")}
UNKNOWN = {"repository.c0": None, "errors": errors("NOT_FOUND", "repository", "c0")}


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        *((name, {place: None}, UNUSABLE) for name in NULLS for place in NULLS[name].split()),
        *((name, {place: GONE}, UNUSABLE) for name in GONES for place in GONES[name].split()),
        ("GET contents: a file is there", {"": []}, UNUSABLE),
        ("GET properties/values: some are set", {"0.value": 7}, UNUSABLE),
        ("GET orgs/ORG/properties/values: a list", {"": {}}, UNUSABLE),
        # A directory that is not listed, and that is not missing either
        *(
            (f"query {what}: a directory is missing", {"errors.0.type": ""}, UNUSABLE)
            for what in ("repository", "commits", "nodes", ".github")
        ),
        # GitHub describes these values as optional
        (COMPARISON, {"files.0.sha": None}, {"added": {"docs/new.md": ""}}),
        ("GET properties/values: some are set", {"0.value": None}, {"tier": []}),
        (PULL, {"head.repo": None}, {"head_repository": "", "author": "octocat"}),
        (PULL, {"base.repo": None}, {"of": None}),
        (PULL, {"merged_at": "2026-01-02T03:04:05Z"}, {"merged": True, "merge_commit": ""}),
        ("GET rate_limit: the token is accepted", {"resources.graphql": None}, None),
        (OPEN, {"pulls.h0.nodes.0.closedAt": "2026-01-02T03:04:05Z"}, CLOSED),
        (OPEN, {"pulls.h0.nodes.0.author": None}, OF_NO_ACCOUNT),
        (OPEN, {"pulls.h0.nodes.0.headRepository": None}, OF_FORK),
        (OPEN, {"pulls.h0.nodes": None, "errors": errors("FORBIDDEN", "pulls", "h0")}, UNREAD),
        # All names of branches, or none of them
        (HEADS, {"repository.heads.nodes": None}, {"heads": "NOT_SHOWN"}),
        (HEADS, {"repository.heads.pageInfo.hasNextPage": True}, {"heads": "NOT_SHOWN"}),
        (
            HEADS,
            {"repository.heads.nodes": [None, BRANCH]},
            {"heads": {BRANCH["name"]: IDS["<head>"]}},
        ),
        # A part that is null, with another error than usual, or without one
        (NODES, {"nodes.0": None}, [{"message": "preflight.not_found"}]),
        (NODES, {"errors": OF_CONTENTS}, [{"message": "many.unreadable"}]),
        (NODES, {"errors": errors("FORBIDDEN", "rateLimit")}, Kind.PERMISSION),
        (COMMITS, {"repository.c0": {}}, Kind.NOT_BEGUN),
        (COMMITS, UNKNOWN, Kind.NOT_BEGUN),
        (COMMITS, PRIVATE, Kind.PERMISSION),
        (OF_OWNER, {"repository.defaultBranchRef": None}, None),
    ],
)
def test_what_our_code_makes_of_an_answer_with_another_value(
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


def test_both_rate_limits_of_the_token_are_known_before_the_first_request(
    host: StandInHost,
) -> None:
    """The answer names them without a header."""
    resets = {f"resources.{name}.reset": 4_000_000_000 for name in ("core", "graphql")}
    serve(host, with_changes("GET rate_limit: the token is accepted", resets))
    github = Caller(host.url, host.create_token("classic")).github
    github.check_token()
    assert [github.limits.remaining(each) for each in Resource] == [4994, 5000]


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
