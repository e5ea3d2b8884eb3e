"""Answers without a part of what was asked for, or with other branches' pull requests."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.example import BRANCH, EXPECTED, LISTED, MISSING, PRESENT, Example
from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost
from tests.fakehub.answer import Drop, Response
from tests.harness import SINGLE, Action, Start, only_reads, queries


@pytest.mark.parametrize("is_cut", [False, True], ids=["whole tree", "cut tree"])
@pytest.mark.parametrize("size", [45, 20, 3])
@pytest.mark.parametrize("quirk", ["partial_above", "timeout_above"])
def test_what_a_query_is_too_large_for_is_read_from_the_tree(
    host: StandInHost, action: Action, quirk: str, size: int, is_cut: bool
) -> None:
    """Where GitHub cuts that, too, one directory after the other."""
    setattr(host.quirks, quirk, size)
    if is_cut:
        host.quirks.most_in_tree = 2
    example = Example(action, SINGLE)
    run = example.run()
    assert (run.exit_code, example.wrong()) == (0, []), run.console
    assert f"Created: {len(MISSING)}\n" in run.console
    # That a directory is missing is no reason
    assert "Could not resolve file" not in run.console


@pytest.mark.parametrize("size", [20, 3])
@pytest.mark.parametrize("quirk", ["partial_above", "timeout_above"])
def test_what_could_not_be_read_is_not_missing(
    host: StandInHost, action: Action, quirk: str, size: int
) -> None:
    setattr(host.quirks, quirk, size)
    example = Example(action, SINGLE)
    example.repository.commit(dict(MISSING))
    run = example.run(mode="check")
    assert run.exit_code == 0, run.console
    assert f"Present: {len(LISTED)}\n" in run.console


@pytest.mark.parametrize("quirk", ["partial_above", "timeout_above"])
def test_a_query_for_one_path_that_asks_too_much_is_an_error(
    host: StandInHost, action: Action, quirk: str
) -> None:
    setattr(host.quirks, quirk, 0)
    example = Example(action, SINGLE)
    run = example.run()
    assert run.exit_code == 1, run.console
    # With all directories twice, and with none as often as any other request
    assert len(queries(host)) <= 8
    assert example.repository.branches == ["main"]
    assert run.outputs["created"] == "0"


@pytest.mark.parametrize(
    "words",
    [
        "Something went wrong while executing your query.",
        "Timeout on validation of query",
        "timedout",
    ],
)
def test_a_query_that_runs_out_of_time_once_is_asked_again_as_it_was(
    host: StandInHost, example: Example, words: str
) -> None:
    body = {"errors": [{"message": words}]}
    host.faults.add(Fault(FaultKind.CUSTOM, at=1, status=200, body=body))
    run = example.run(commit_strategy=SINGLE)
    assert (run.exit_code, example.wrong()) == (0, []), run.console
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
    example.repository.private = True
    example.repository.create_branch(BRANCH)
    run = example.run(mode=mode, host_token=without_pull_requests)
    assert run.exit_code == (1 if mode == "check" else 0), run.console
    assert "The token may not read the pull requests of the working branch" in run.console
    assert "The token may not read the pull requests of the working branch" in run.summary
    assert run.outputs["missing"] == str(len(MISSING))


@pytest.mark.parametrize("branch", [True, False], ids=["branch", "no branch"])
def test_a_registration_without_pull_requests_is_an_error(
    example: Example, without_pull_requests: str, branch: bool
) -> None:
    example.repository.private = True
    if branch:
        example.repository.create_branch(BRANCH)
    run = example.run(host_token=without_pull_requests)
    assert run.exit_code == 2, run.console
    assert re.search(r"Reading the pull requests of .* failed", run.console)
    assert only_reads(example.host)
    assert example.repository.branches == [*([BRANCH] if branch else []), "main"]


def test_a_pull_request_of_another_branch_at_the_same_commit_is_not_ours(
    host: StandInHost, example: Example
) -> None:
    host.quirks.heads_by_commit = True
    example.repository.create_branch("other")
    example.repository.commit({next(iter(MISSING)): b"\n"}, branch="other")
    example.repository.open_pull_request(head="other", title="Other")
    example.repository.close(1)
    example.repository.create_branch(BRANCH, example.repository.head("other"))
    run = example.run()
    assert run.exit_code == 0, run.console
    assert example.repository.files(BRANCH) == EXPECTED
    assert [(p.head, p.state) for p in example.repository.pull_requests] == [
        ("other", "closed"),
        (BRANCH, "open"),
    ]


@pytest.fixture
def fork(host: StandInHost) -> Repository:
    """A fork whose parent has the same owner."""
    host.create_repository("octo/parent", files=dict(PRESENT))
    return host.create_repository("octo/fork", files=dict(PRESENT), parent="octo/parent")


def test_a_fork_whose_parent_has_the_same_owner_is_registered_in(
    example: Example, fork: Repository
) -> None:
    for _ in range(2):
        run = example.run(target_repo="octo/fork")
        assert run.exit_code == 0, run.console
        assert fork.files(BRANCH) == EXPECTED
        assert [(p.head, p.state) for p in fork.pull_requests] == [(BRANCH, "open")]


def test_a_declined_pull_request_counts_in_a_fork_whose_parent_has_the_same_owner(
    example: Example, fork: Repository
) -> None:
    example.run(target_repo="octo/fork")
    fork.close(1)
    head = fork.head(BRANCH)
    run = example.run(target_repo="octo/fork")
    assert run.exit_code == 0, run.console
    assert "closed their pull request without merging it" in run.console
    assert (fork.head(BRANCH), len(fork.pull_requests)) == (head, 1)


@dataclass(slots=True)
class Changed(Fault):
    """All answers are right, but for what is replaced in them."""

    pattern: bytes = b""
    by: bytes = b""

    def answer(
        self, request: Request, real: Response | None, elsewhere: str, now: float
    ) -> Response | Drop:
        assert real
        payload = re.sub(self.pattern, self.by, real.payload())
        return Response(real.status, payload, json=True)


def changed(pattern: bytes, by: bytes) -> Changed:
    return Changed(FaultKind.CUSTOM, times=None, when="after", pattern=pattern, by=by)


def test_half_a_character_is_an_unusable_answer(
    start: Start, host: StandInHost, repository: Repository
) -> None:
    host.faults.add(changed(b'"main"', rb'"m\\ud800n"'))
    run = start()
    assert run.exit_code == 1
    assert "bug in registrar" not in run.text
    assert "the answer is not one of GitHub's API (HTTP 200)" in run.stderr
    assert repository.branches == ["main"]


def test_a_pull_request_without_a_number_is_an_unusable_answer(
    start: Start, host: StandInHost, repository: Repository
) -> None:
    host.faults.add(changed(rb'"number": ?1\b', b'"number": 0'))
    run = start()
    assert run.exit_code == 1
    assert "bug in registrar" not in run.text
    assert "the answer is not one of GitHub's API" in run.stderr
    assert run.registration["pull_request"] is None
    host.faults.clear()
    assert start().exit_code == 0
    assert [pull.state for pull in repository.pull_requests] == ["open"]


@pytest.mark.parametrize("body", [b"{}", b'{"items": []}', b"null", b'"none"'])
def test_what_is_no_list_of_pull_requests_is_no_empty_list(
    action: Action, host: StandInHost, repository: Repository, body: bytes
) -> None:
    """Else a "no" would be lost: PyGithub reads an object as a list without items."""
    assert action().exit_code == 0
    repository.close(1)
    fault = Fault(
        FaultKind.CUSTOM,
        match=lambda r: r.method == "GET" and r.path.endswith("/pulls"),
        times=None,
        status=200,
        body=body,
    )
    host.faults.add(fault)
    run = action(language="en")
    assert run.exit_code == 1
    assert "the answer is not one of GitHub's API (HTTP 200)" in run.stderr
    assert [pull.state for pull in repository.pull_requests] == ["closed"]
