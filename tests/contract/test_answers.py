"""Answers of GitHub that refuse, are incomplete, have another shape, or mislead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from registrar.errors import EXIT_DONE, EXIT_FAILED, EXIT_REFUSED
from registrar.github.queries import NAMES_AT_ONCE
from tests.example import BRANCH, LIST, LISTED, MANY, MISSING, Example, Way
from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost
from tests.fakehub.answer import Response
from tests.fakehub.refusals import Refusal
from tests.harness import (
    PER_FILE,
    SINGLE,
    TARGET,
    Action,
    Start,
    calls,
    mutations,
    only_reads,
    queries,
    refuse,
)

# --- Pull requests that are not shown -----------------------------------------------------


def test_one_pull_request_that_is_not_shown_is_about_its_repository_alone(
    host: StandInHost, action: Action, in_single: Example
) -> None:
    in_single.run()
    in_single.repository.person.close(1)
    in_single.repository.person.delete_branch(BRANCH)
    host.quirks.hidden_pull_requests = frozenset({1})
    other = host.create_repository("octo/other", {"a": b"x\n"})
    repositories = f"{TARGET}\nocto/other"
    run = action(target_repos=repositories, definitions=LIST, language="en")
    assert run.exit_code == 1, run.console
    assert in_single.repository.branches == ["main"]
    assert len(other.pull_requests) == 1


# --- Contents that are not shown ----------------------------------------------------------


def test_a_repository_whose_contents_are_hidden_does_not_make_its_batch_small(
    host: StandInHost, action: Action
) -> None:
    for number in range(10):
        host.create_repository(f"octo/r{number}", {"a": b"x\n"})
    host.quirks.hidden_contents = frozenset({"octo/r4"})
    run = action(target_repos="octo/*", mode="plan", language="en")
    rows = {row["repository"]: row["state"] for row in run.report["many"]["rows"]}
    assert rows.pop("octo/r4") == "failed"
    assert set(rows.values()) == {"to open"}
    assert "GitHub does not let the token read it" in run.console
    sizes = [len(r.json["variables"]["ids"]) for r in host.requests if r.path == "/graphql"]
    assert sizes == [10]


# --- Writing ------------------------------------------------------------------------------

ALL_THREE = ("createRef", "createCommitOnBranch", "createPullRequest")


@pytest.mark.parametrize("empty", [False, True], ids=["null", "an object of null"])
def test_nothing_was_written_where_every_mutation_is_refused(
    host: StandInHost, in_single: Example, empty: bool
) -> None:
    host.quirks.empty_payloads = empty
    host.refused_mutations = dict.fromkeys(ALL_THREE, Refusal(403, "Not for you"))
    refuse(host, lambda r: r.method != "GET" and r.path != "/graphql", 403, message="Not for you")
    run = in_single.run()
    assert run.exit_code == 2, run.console
    assert "Not for you" in run.console
    assert in_single.repository.branches == ["main"]


# --- Pull requests that are switched off --------------------------------------------------


@pytest.mark.parametrize("kind", ["UNPROCESSABLE", "FORBIDDEN", "NOT_FOUND"])
def test_pull_requests_that_are_switched_off_are_learned_from_the_refusal(
    host: StandInHost, in_single: Example, kind: str
) -> None:
    in_single.repository.person.change(has_pull_requests=False)
    host.refused_mutations = {"createPullRequest": Refusal(422, "They are disabled", kind=kind)}
    run = in_single.run()
    assert run.exit_code == 1, run.console
    assert f"switched off in {TARGET}, so the files on the branch {BRANCH} cannot" in run.console
    assert "Delete that branch" in run.console
    assert "this again" not in run.console
    assert run.outputs["branch"] == BRANCH
    assert in_single.repository.pull_requests == []
    assert calls(host).count("POST pulls") == 1

    in_single.repository.person.change(has_pull_requests=True)
    host.refused_mutations = {}
    again = in_single.run()
    assert (again.exit_code, in_single.state) == (0, in_single.done), again.console


def test_pull_requests_are_switched_off_only_if_github_says_so(
    host: StandInHost, in_single: Example
) -> None:
    """After the refusal, the repository cannot be read."""
    host.refused_mutations = {"createPullRequest": Refusal(422, "Not now", kind="UNPROCESSABLE")}
    refuse(host, "POST pulls", 403, message="Not now")
    unread = refuse(host, lambda request: request.path == f"/repos/{TARGET}", 502)
    run = in_single.run(branch="add/#1")
    assert unread.hits
    assert "switched off" not in run.console
    assert "Not now" in run.console
    assert "/compare/main...add/%231" in run.console


@pytest.mark.parametrize("named", [False, True], ids=["pattern", "name"])
def test_repositories_without_pull_requests_are_left_out_of_many(
    host: StandInHost, action: Action, named: bool
) -> None:
    off = host.create_repository("octo/off", {"a": b"x\n"}, has_pull_requests=False)
    host.create_repository("octo/on", {"a": b"x\n"})
    targets = "octo/off\nocto/on" if named else "octo/*"
    run = action(target_repos=targets, language="en").or_fail()
    assert "Left out: with pull requests switched off 1." in run.console
    assert run.report["many"]["states"]["opened"] == 1
    assert off.branches == ["main"]


def answer(errors: list[dict[str, Any]], **repository: Any) -> dict[str, Any]:
    """An answer to the first query: a commit without any file."""
    nothing = {"oid": "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "entries": []}
    absent = {f"p{number}": None for number in range(1, 100)}
    commit = {"oid": "1" * 40, "p0": nothing, **absent}
    found = {
        "id": "R_1",
        "nameWithOwner": TARGET,
        "url": f"https://example.com/{TARGET}",
        "isArchived": False,
        "isEmpty": False,
        "isFork": False,
        "isPrivate": False,
        "viewerPermission": "WRITE",
        "defaultBranchRef": {"name": "main", "target": commit},
        **{f"b{number}": None for number in range(NAMES_AT_ONCE)},
        **repository,
    }
    none = {"pageInfo": {"hasNextPage": False}, "nodes": []}
    pulls: dict[str, Any] = {f"h{number}": none for number in range(NAMES_AT_ONCE)}
    return {"data": {"repository": found, "pulls": pulls}, "errors": errors}


UNREAD = "one path could not be read"


def unread(kind: str, *path: str) -> dict[str, Any]:
    """An answer with an error at this path."""
    return answer([{"type": kind, "path": [*path], "message": UNREAD}])


@pytest.mark.parametrize(
    "body",
    [
        unread("SERVICE_UNAVAILABLE", "repository", "defaultBranchRef", "target", "p3"),
        unread("NOT_FOUND", "repository", "ref", "associatedPullRequests"),
        answer([{"message": UNREAD}], ref=None),
        {"data": {"repository": None}, "errors": [{"message": UNREAD}]},
        {"data": None, "errors": [{"message": UNREAD}]},
        {"errors": [{"message": UNREAD}]},
    ],
    ids=["one path", "a part", "no type", "null", "no data", "errors alone"],
)
def test_what_could_not_be_read_is_not_missing(
    single: Start, host: StandInHost, repository: Repository, body: dict[str, Any]
) -> None:
    host.faults.add(Fault(FaultKind.CUSTOM, status=200, body=body, times=None))
    run = single()
    assert run.exit_code in {1, 2}
    assert UNREAD in run.stderr
    assert not mutations(host)
    assert run.outputs["created"] == run.outputs["skipped"] == "0"


@pytest.mark.parametrize(
    "body",
    [
        {"data": {"repository": {}}},
        {"data": []},
        {"data": None},
        {"errors": []},
        {"errors": [None]},
        {"errors": {"message": "x"}},
        {**answer([]), "errors": None},
        answer([], defaultBranchRef={"name": "main", "target": None}),
        answer([], defaultBranchRef={"name": "main", "target": {"oid": "1" * 40}}),
        answer([], ref={"target": None, "associatedPullRequests": None}),
        answer([], defaultBranchRef="main"),
    ],
)
def test_an_answer_of_another_shape_is_no_fault_of_ours(
    single: Start, host: StandInHost, repository: Repository, body: dict[str, Any]
) -> None:
    """Whatever has the shape of GraphQL and is none of ours is asked for again, then reported."""
    host.faults.add(Fault(FaultKind.CUSTOM, status=200, body=body))
    run = single(max_wait_minutes="0")
    assert "Unexpected error" not in run.text
    assert not [p for p in repository.pull_requests if p.head_sha != repository.head(p.head)]


def lacking_pull_requests(*errors: dict[str, Any]) -> Fault:
    """The first answer has everything but the pull requests."""
    body = answer([{"path": ["pulls"], **error} for error in errors])
    body["data"]["pulls"] = None
    if not errors:
        del body["errors"]
    return Fault(FaultKind.CUSTOM, at=1, status=200, body=body)


@pytest.mark.parametrize(
    "error",
    [
        {"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."},
        {"type": "RESOURCE_LIMITS_EXCEEDED", "message": "Resource limits exceeded"},
        {"message": "Something went wrong while executing your query."},
    ],
    ids=["limit", "too much", "too slow"],
)
def test_pull_requests_that_could_not_be_read_this_time_are_asked_for_again(
    single: Start, host: StandInHost, repository: Repository, error: dict[str, Any]
) -> None:
    host.faults.add(lacking_pull_requests(error))
    run = single(profile="health").or_fail()
    assert (len(repository.pull_requests), run.outputs["created"]) == (1, "7")


@pytest.mark.parametrize(
    "errors",
    [
        [{"type": kind, "message": "no"}]
        for kind in ("FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES")
    ]
    + [[]],
    ids=["forbidden", "not found", "scope", "no error"],
)
def test_pull_requests_that_the_token_may_not_read_are_not_taken_for_none(
    single: Start, host: StandInHost, repository: Repository, errors: list[dict[str, Any]]
) -> None:
    host.faults.add(lacking_pull_requests(*errors))
    run = single(profile="health")
    assert run.exit_code == 2, run.text
    assert "Reading the pull requests of the working branch failed" in run.console
    assert "limit" not in run.console
    assert not mutations(host)
    host.faults.clear()
    host.faults.add(lacking_pull_requests(*errors))
    run = single(profile="health", mode="plan").or_fail()
    assert "The token may not read the pull requests of the working branch" in run.console


@pytest.mark.parametrize(
    ("quirk", "size", "is_cut"),
    [
        *(("partial_above", 6, False), ("partial_above", 3, True)),
        *(("timeout_above", 6, True), ("timeout_above", 3, False)),
    ],
)
def test_what_a_query_is_too_large_for_is_read_from_the_tree(
    host: StandInHost, in_single: Example, quirk: str, size: int, is_cut: bool
) -> None:
    """If GitHub cuts that list, too, one directory after the other. Of the smaller size, the names
    of the branch are too many as well.
    """
    setattr(host.quirks, quirk, size)
    if is_cut:
        host.quirks.most_in_tree = 2
    run = in_single.run()
    assert (run.exit_code, in_single.state) == (0, in_single.done), run.console
    assert f"Created: {len(MISSING)}\n" in run.console
    assert any("git/trees" in call for call in calls(host))
    # A missing directory does not stop the run
    assert "Could not resolve file" not in run.console
    in_single.repository.person.merge(1)
    check = in_single.run(mode="check").or_fail()
    assert f"Present: {len(LISTED)}\n" in check.console


@pytest.mark.parametrize("quirk", ["partial_above", "timeout_above"])
def test_a_query_for_one_path_that_asks_too_much_is_an_error(
    host: StandInHost, in_single: Example, quirk: str
) -> None:
    setattr(host.quirks, quirk, 0)
    run = in_single.run()
    assert run.exit_code == 1, run.console
    # With all directories twice, and with none as often as any other request
    assert len(queries(host)) <= 8
    assert in_single.repository.branches == ["main"]
    assert run.outputs["created"] == "0"


def test_a_query_that_runs_out_of_time_once_is_asked_again_as_it_was(
    host: StandInHost, in_single: Example
) -> None:
    body = {"errors": [{"message": "Timeout on validation of query"}]}
    host.faults.add(Fault(FaultKind.CUSTOM, at=1, status=200, body=body))
    run = in_single.run()
    assert (run.exit_code, in_single.state) == (0, in_single.done), run.console
    first, second = queries(host)
    assert first.json == second.json


@pytest.fixture
def without_pull_requests(host: StandInHost) -> str:
    """A token that may not see pull requests."""
    host.quirks.pull_requests_need_permission = True
    return host.create_token("fine-grained", permissions={"contents": "write"})


@pytest.mark.parametrize("mode", ["plan", "check"])
def test_a_preview_without_pull_requests_says_what_it_could_not_see(
    example: Example, without_pull_requests: str, mode: str
) -> None:
    example.repository.person.change(private=True)
    example.repository.person.create_branch(BRANCH)
    run = example.run(mode=mode, host_token=without_pull_requests)
    assert run.exit_code == (1 if mode == "check" else 0), run.console
    assert "The token may not read the pull requests of the working branch" in run.console
    assert "The token may not read the pull requests of the working branch" in run.summary
    # The error of a directory that is not there stands beside theirs in the same answer
    assert "Could not resolve file" not in run.text
    assert run.outputs["missing"] == str(len(MISSING))


@pytest.mark.parametrize(
    ("pattern", "by"),
    [
        (rb'"main"', rb'"m\\ud800n"'),
        (rb'"number": ?1\b', b'"number": 0'),
        (rb'"(html_)?url": ?"[^"]*/pull/1"', rb'"\1url": "javascript:alert(1)"'),
    ],
    ids=["half a character", "number", "address"],
)
def test_a_part_of_another_shape_makes_an_answer_unusable(
    start: Start, host: StandInHost, repository: Repository, pattern: bytes, by: bytes
) -> None:
    def changed(_: Request, right: Response) -> Response:
        return Response(right.status, re.sub(pattern, by, right.payload()), json=True)

    host.faults.change(changed)
    run = start()
    assert (run.exit_code, run.outputs["pull_request_url"]) == (1, "")
    assert "the answer is not one of GitHub's API" in run.stderr
    assert not [each for each in run.report["registrations"] if each["pull_request"]]


@pytest.mark.parametrize("body", [b"{}", b'{"items": []}', b"null", b'"none"'])
def test_what_is_no_list_of_pull_requests_is_no_empty_list(
    action: Action, host: StandInHost, repository: Repository, body: bytes
) -> None:
    """Else a "no" would be lost: PyGithub reads an object as a list without items."""
    assert action().exit_code == 0
    repository.person.close(1)
    refuse(host, "GET pulls", 200, body=body)
    run = action(language="en")
    assert run.exit_code == 1
    assert "the answer is not one of GitHub's API (HTTP 200)" in run.stderr
    assert [pull.state for pull in repository.pull_requests] == ["closed"]


REJECTED = Fault(
    FaultKind.CUSTOM, status=401, message="Bad credentials", headers={"x-ratelimit-limit": "60"}
)


# --- An error that nobody knows, beside data ------------------------------------------------


@pytest.mark.parametrize("way", [SINGLE, MANY])
@pytest.mark.parametrize(("errors", "exit_code"), [(1, EXIT_DONE), (99, EXIT_FAILED)])
def test_an_error_of_an_unknown_type_is_about_one_answer(
    host: StandInHost, action: Action, way: str, errors: int, exit_code: int
) -> None:
    host.quirks.odd_errors = errors
    run = Way(action, way).run()
    assert run.exit_code == exit_code, run.console
    assert len(mutations(host)) == (exit_code == EXIT_DONE)
    assert ("Something else went wrong" in run.stderr) == (exit_code == EXIT_FAILED)


# --- A good token that is rejected ----------------------------------------------------------


@pytest.mark.parametrize("strategy", [PER_FILE])
@pytest.mark.parametrize("at", [(2,), (3, 4), (2, 5), (12, 14, 16, 18)])
def test_a_token_that_was_accepted_is_doubted_twice_in_a_row(
    host: StandInHost, example: Example, at: Sequence[int]
) -> None:
    for number in at:
        host.faults.add(replace(REJECTED, at=number, hits=[]))
    run = example.run()
    assert (run.exit_code, example.state) == (EXIT_DONE, example.done), run.console


def test_a_token_that_ends_meets_no_more_than_three_refusals(
    host: StandInHost, action: Action
) -> None:
    for number in range(20):
        host.create_repository(f"octo/r{number}")
    token = host.create_token(requests=2)
    run = action(target_repos="octo/*", host_token=token, language="en")
    assert run.exit_code == EXIT_REFUSED, run.console
    assert "GitHub does not accept the token (Bad credentials)" in run.stderr
    assert only_reads(host)
    assert len(host.requests) == 2 + 3


# --- Words ----------------------------------------------------------------------------------


def test_a_repository_that_was_taken_down_is_one_cause_with_either_status(
    host: StandInHost, action: Action
) -> None:
    words = "Repository access blocked"
    refuse(host, lambda request: request.path == "/repos/octo/tos", 403, message=words)
    refuse(host, lambda request: request.path == "/repos/octo/dmca", 451, message=words)
    run = action(target_repos="octo/tos\nocto/dmca", language="en", runner=True)
    assert run.exit_code == EXIT_FAILED, run.console
    [error] = run.annotations()
    assert error.data.startswith("2 failed")
