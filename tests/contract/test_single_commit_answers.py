"""`single`: answers to its query that hold errors, or that are none."""

from __future__ import annotations

from typing import Any

import pytest

from registrar.registration.single import NAMES_AT_ONCE
from tests.fakehub import Fault, FaultKind, Repository, StandInHost
from tests.harness import TARGET, Start, mutations


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


@pytest.mark.parametrize(
    "body",
    [
        answer(
            [
                {
                    "type": "SERVICE_UNAVAILABLE",
                    "path": ["repository", "defaultBranchRef", "target", "p3"],
                    "message": "one path could not be read",
                }
            ]
        ),
        answer(
            [
                {
                    "type": "NOT_FOUND",
                    "path": ["repository", "ref", "associatedPullRequests"],
                    "message": "one path could not be read",
                }
            ]
        ),
        answer([{"message": "one path could not be read"}], ref=None),
        {"data": {"repository": None}, "errors": [{"message": "one path could not be read"}]},
        {"data": None, "errors": [{"message": "one path could not be read"}]},
        {"errors": [{"message": "one path could not be read"}]},
    ],
    ids=["one path", "a part", "no type", "null", "no data", "errors alone"],
)
def test_what_could_not_be_read_is_not_missing(
    single: Start, host: StandInHost, repository: Repository, body: dict[str, Any]
) -> None:
    host.faults.add(Fault(FaultKind.CUSTOM, status=200, body=body, times=None))
    run = single()
    assert run.exit_code in {1, 2}
    assert "one path could not be read" in run.stderr
    assert not mutations(host)
    assert run.outputs["created"] == run.outputs["skipped"] == "0"


@pytest.mark.parametrize(
    "body",
    [
        {"data": {"repository": {}}},
        {"data": {"repository": []}},
        {"data": {"repository": "x"}},
        {"data": []},
        {"data": "x"},
        {"data": {}},
        {"data": None},
        {"errors": "x"},
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


def without_pull_requests(*errors: dict[str, Any]) -> Fault:
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
    host.faults.add(without_pull_requests(error))
    run = single(profile="health")
    assert run.exit_code == 0, run.text
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
    host.faults.add(without_pull_requests(*errors))
    run = single(profile="health")
    assert run.exit_code == 2, run.text
    assert "Reading the pull requests of the working branch failed" in run.console
    assert "limit" not in run.console
    assert not mutations(host)
    host.faults.clear()
    host.faults.add(without_pull_requests(*errors))
    run = single(profile="health", mode="plan")
    assert run.exit_code == 0, run.text
    assert "The token may not read the pull requests of the working branch" in run.console
