"""What GitHub's GraphQL interface refuses, in all of its recorded words."""

from __future__ import annotations

import pytest

from tests.example import BRANCH, LIST, Example
from tests.fakehub import Repository, StandInHost
from tests.fakehub.refusals import Refusal
from tests.harness import SINGLE, TARGET, Action, Start, calls, mutations, refuse

NOT_SHOWN = "The token may not read the pull requests of the working branch"


@pytest.fixture
def example(action: Action) -> Example:
    return Example(action, SINGLE)


# --- Pull requests that are not shown -----------------------------------------------------


@pytest.fixture
def declined(host: StandInHost, example: Example) -> Repository:
    """A repository whose declined pull request the token may not see."""
    example.run()
    example.repository.close(1)
    example.repository.delete_branch(BRANCH)
    host.quirks.hidden_pull_requests = frozenset({1})
    return example.repository


def test_a_declined_pull_request_that_is_not_shown_is_not_proposed_again(
    host: StandInHost, example: Example, declined: Repository
) -> None:
    count = len(mutations(host))
    run = example.run()
    assert run.exit_code == 2, run.console
    assert "Reading the pull requests of the working branch failed" in run.console
    assert "single sign-on" in run.console
    assert (len(mutations(host)), declined.branches) == (count, ["main"])


def test_a_preview_says_that_a_pull_request_is_not_shown(
    example: Example, declined: Repository
) -> None:
    run = example.run(mode="plan")
    assert run.exit_code == 0, run.console
    assert NOT_SHOWN in run.console


def test_one_pull_request_that_is_not_shown_is_about_its_repository_alone(
    host: StandInHost, action: Action, declined: Repository
) -> None:
    other = host.create_repository("octo/other", {"a": b"x\n"})
    repositories = f"{TARGET}\nocto/other"
    run = action(target_repo=None, target_repos=repositories, definitions=LIST, language="en")
    assert run.exit_code == 1, run.console
    assert declined.branches == ["main"]
    assert len(other.pull_requests) == 1


def test_a_missing_directory_is_no_reason_why_pull_requests_are_not_shown(
    host: StandInHost, action: Action
) -> None:
    """Its error stands beside theirs in the same answer."""
    host.quirks.pull_requests_need_permission = True
    token = host.create_token("fine-grained", permissions={"contents": "write"})
    host.create_repository(TARGET, {"a": b"x\n"})
    run = action(commit_strategy="single", mode="plan", host_token=token, language="en")
    assert NOT_SHOWN in run.console
    assert "Could not resolve file" not in run.text


# --- Contents that are not shown ----------------------------------------------------------


def test_a_repository_whose_contents_are_hidden_does_not_make_its_batch_small(
    host: StandInHost, action: Action
) -> None:
    for number in range(10):
        host.create_repository(f"octo/r{number}", {"a": b"x\n"})
    host.quirks.hidden_contents = frozenset({"octo/r4"})
    run = action(target_repo=None, target_repos="octo/*", mode="plan", language="en")
    rows = {row["repository"]: row["state"] for row in run.report["many"]["rows"]}
    assert rows.pop("octo/r4") == "failed"
    assert set(rows.values()) == {"to open"}
    assert "GitHub does not let the token read it" in run.console
    sizes = [len(r.json["variables"]["ids"]) for r in host.requests if r.path == "/graphql"]
    assert sizes == [10]


def test_hidden_contents_of_a_single_repository_are_a_clear_error(
    host: StandInHost, single: Start, repository: Repository
) -> None:
    host.quirks.hidden_contents = frozenset({repository.full_name})
    run = single()
    assert run.exit_code == 2, run.console
    assert "Resource not accessible" in run.console
    assert not mutations(host)


# --- Who may not ask at all ---------------------------------------------------------------


def test_an_older_server_takes_no_fine_grained_token(
    host: StandInHost, single: Start, repository: Repository
) -> None:
    words = "Personal access tokens with fine grained access do not support the GraphQL API"
    refuse(host, "POST /graphql", 401, body={"message": words})
    run = single()
    assert run.exit_code == 2, run.console
    assert "does not take fine-grained tokens for GraphQL" in run.console
    assert "commit_strategy: per-file" in run.console


@pytest.mark.parametrize("many", [False, True], ids=["single", "many"])
def test_single_sign_on_at_status_200(host: StandInHost, action: Action, many: bool) -> None:
    repository = host.create_repository(TARGET, {"a": b"x\n"})
    error = {
        "type": "FORBIDDEN",
        "path": ["nodes", 0] if many else ["repository"],
        "extensions": {"saml_failure": True},
        "message": "You must authorise it first.",
    }
    data = {"nodes": [None], "pulls": [None]} if many else {"repository": None, "pulls": None}
    refuse(host, "POST /graphql", 200, body={"data": data, "errors": [error]})
    if many:
        run = action(target_repo=None, target_repos=TARGET, language="en")
    else:
        run = action(commit_strategy="single", language="en")
    assert run.exit_code in {1, 2}, run.console
    assert "single sign-on" in run.console
    assert repository.branches == ["main"]


# --- Writing ------------------------------------------------------------------------------

ALL_THREE = ("createRef", "createCommitOnBranch", "createPullRequest")


@pytest.mark.parametrize("empty", [False, True], ids=["null", "an object of null"])
def test_nothing_was_written_where_every_mutation_is_refused(
    host: StandInHost, example: Example, empty: bool
) -> None:
    host.quirks.empty_payloads = empty
    host.refused_mutations = dict.fromkeys(ALL_THREE, Refusal(403, "Not for you"))
    refuse(host, lambda r: r.method != "GET" and r.path != "/graphql", 403, message="Not for you")
    run = example.run()
    assert run.exit_code == 2, run.console
    assert "Not for you" in run.console
    assert example.repository.branches == ["main"]


REFUSALS = [
    ("BRANCH_PROTECTION_RULE_VIOLATION", "Changes must be made", "branch protection rule forbids"),
    ("FORBIDDEN", "Repository rule violations found\n\nNo direct commits", "a ruleset"),
    (
        "FORBIDDEN",
        "Repository was archived so is read-only",
        "is archived (Repository was archived so is read-only). Unarchive it",
    ),
]


@pytest.mark.parametrize(("kind", "words", "explained"), REFUSALS)
def test_a_rule_is_explained_in_one_of_many(
    host: StandInHost, action: Action, kind: str, words: str, explained: str
) -> None:
    host.create_repository(TARGET, {"a": b"x\n"})
    host.refused_mutations = {"createCommitOnBranch": Refusal(403, words, kind=kind)}
    run = action(target_repo=None, target_repos=TARGET, language="en")
    assert run.exit_code == 1, run.console
    assert explained in run.console


# --- Pull requests that are switched off --------------------------------------------------


@pytest.mark.parametrize("kind", ["UNPROCESSABLE", "FORBIDDEN", "NOT_FOUND"])
def test_pull_requests_that_are_switched_off_are_learned_from_the_refusal(
    host: StandInHost, example: Example, kind: str
) -> None:
    example.repository.has_pull_requests = False
    host.refused_mutations = {"createPullRequest": Refusal(422, "They are disabled", kind=kind)}
    run = example.run()
    assert run.exit_code == 1, run.console
    assert f"switched off in {TARGET}, so the files on the branch {BRANCH} cannot" in run.console
    assert "Delete that branch" in run.console
    assert "this again" not in run.console
    assert run.outputs["branch"] == BRANCH
    assert example.repository.pull_requests == []
    assert calls(host).count("POST pulls") == 1

    example.repository.has_pull_requests = True
    host.refused_mutations = {}
    again = example.run()
    assert (again.exit_code, example.wrong()) == (0, []), again.console


@pytest.mark.parametrize("named", [False, True], ids=["pattern", "name"])
def test_repositories_without_pull_requests_are_left_out_of_many(
    host: StandInHost, action: Action, named: bool
) -> None:
    off = host.create_repository("octo/off", {"a": b"x\n"}, has_pull_requests=False)
    host.create_repository("octo/on", {"a": b"x\n"})
    targets = "octo/off\nocto/on" if named else "octo/*"
    run = action(target_repo=None, target_repos=targets, language="en")
    assert run.exit_code == 0, run.console
    assert "Left out: with pull requests switched off 1." in run.console
    assert run.report["many"]["states"]["opened"] == 1
    assert off.branches == ["main"]
