"""Answers that say less, or something else, than they seem to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from registrar.errors import EXIT_DONE, EXIT_FAILED, EXIT_REFUSED
from tests.example import BRANCH, EXPECTED, MISSING, Example
from tests.fakehub import Fault, FaultKind, Person, Repository, StandInHost
from tests.harness import TARGET, Action, mutations, only_reads, refuse

REJECTED = Fault(
    FaultKind.CUSTOM, status=401, message="Bad credentials", headers={"x-ratelimit-limit": "60"}
)


def unrelated(repository: Repository, branch: str) -> None:
    """Let a branch have a commit without a parent, and nothing else."""
    git, person = repository.own(), Person("Somebody", "somebody@example.com").signature()
    commit = git.create_commit(None, person, person, "Begin", git.TreeBuilder().write(), [])
    repository.create_branch(branch, str(commit))


# --- No commit in common --------------------------------------------------------------------


def test_a_branch_without_a_common_commit_is_left_alone(example: Example) -> None:
    unrelated(example.repository, BRANCH)
    run = example.run()
    assert run.exit_code == EXIT_DONE, run.console
    assert example.repository.files(BRANCH) == {}
    assert example.repository.files(f"{BRANCH}-2") == EXPECTED


def test_a_pull_request_whose_history_was_replaced_is_left_alone(example: Example) -> None:
    example.run()
    unrelated(example.repository, BRANCH)
    run = example.run()
    assert run.exit_code == EXIT_DONE, run.console
    assert run.outputs["declined"] == str(len(MISSING))
    assert (example.repository.files(BRANCH), len(example.repository.pull_requests)) == ({}, 1)


# --- An error that nobody knows, beside data ------------------------------------------------


@pytest.mark.parametrize("many", [False, True], ids=["single", "many"])
@pytest.mark.parametrize(("errors", "exit_code"), [(1, EXIT_DONE), (99, EXIT_FAILED)])
def test_an_error_of_an_unknown_type_is_about_one_answer(
    host: StandInHost, action: Action, many: bool, errors: int, exit_code: int
) -> None:
    host.create_repository(TARGET)
    host.quirks.odd_errors = errors
    target = {"target_repos": TARGET} if many else {"commit_strategy": "single"}
    run = action({"language": "en", **target}, target_repo=None if many else TARGET)
    assert run.exit_code == exit_code, run.console
    assert len(mutations(host)) == (exit_code == EXIT_DONE)
    assert ("Something else went wrong" in run.stderr) == (exit_code == EXIT_FAILED)


# --- A good token that is rejected ----------------------------------------------------------


@pytest.mark.parametrize("at", [(2,), (3, 4), (2, 5)])
def test_a_token_that_was_accepted_is_doubted_twice_in_a_run(
    host: StandInHost, example: Example, at: tuple[int, ...]
) -> None:
    for number in at:
        host.faults.add(replace(REJECTED, at=number, hits=[]))
    run = example.run(commit_strategy="per-file")
    assert (run.exit_code, example.wrong()) == (EXIT_DONE, []), run.console


def test_a_token_that_ends_meets_no_more_than_three_refusals(
    host: StandInHost, action: Action
) -> None:
    for number in range(20):
        host.create_repository(f"octo/r{number}")
    token = host.create_token(requests=2)
    run = action(target_repo=None, target_repos="octo/*", host_token=token, language="en")
    assert run.exit_code == EXIT_REFUSED, run.console
    assert "GitHub does not accept the token (Bad credentials)" in run.stderr
    assert only_reads(host)
    assert len(host.requests) == 2 + 3


# --- Words ----------------------------------------------------------------------------------


def test_a_users_token_of_an_app_is_not_told_about_fine_grained_ones(
    host: StandInHost, example: Example
) -> None:
    token = host.create_token("user", permissions={"contents": "read"})
    run = example.run(host_token=token, commit_strategy="per-file")
    assert run.exit_code == EXIT_REFUSED, run.console
    assert "for an App, widen its permissions" in run.stderr
    assert "fine-grained" not in run.stderr


def test_a_repository_that_was_taken_down_is_one_cause_with_either_status(
    host: StandInHost, action: Action
) -> None:
    words = "Repository access blocked"
    refuse(host, lambda request: request.path == "/repos/octo/tos", 403, message=words)
    refuse(host, lambda request: request.path == "/repos/octo/dmca", 451, message=words)
    run = action(target_repo=None, target_repos="octo/tos\nocto/dmca", language="en", runner=True)
    assert run.exit_code == EXIT_FAILED, run.console
    [error] = run.annotations()
    assert error.data.startswith("2 failed")
