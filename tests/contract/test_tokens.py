"""Tokens that are long, new or ended, and versions of the API that are gone.

Which tokens suffice, and how others are refused: tests/contract/test_preflight.py.
"""

from __future__ import annotations

import json

import pytest

from registrar.github.case import API_VERSION
from tests.example import Way
from tests.fakehub import Repository, StandInHost
from tests.fakehub.tokens import Kind
from tests.harness import (
    HEALTH_BRANCH,
    PER_FILE,
    SINGLE,
    TARGET,
    Action,
    Start,
    refuse,
)

# --- Tokens of 520 characters ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["installation", "user"])
def test_a_long_token_with_dots_works(
    host: StandInHost, repository: Repository, start: Start, kind: Kind
) -> None:
    token = host.create_token(kind, long=True)
    assert (len(token), token.count(".")) == (520, 2)
    start(profile="health", host_token=token).or_fail()
    assert set(repository.files(HEALTH_BRANCH)) > set(repository.files())
    assert len(repository.pull_requests) == 1
    assert {request.token for request in host.requests} == {token}


@pytest.mark.parametrize("runner", [False, True])
def test_a_long_token_that_is_echoed_whole_and_in_half_is_in_no_output(
    action: Action, host: StandInHost, repository: Repository, single: Start, runner: bool
) -> None:
    token = host.create_token("installation", long=True)
    half = token[: len(token) // 2]
    action.secrets += [half, token.partition(".")[0]]
    words = f"No: {token}, cut: {half}"
    fault = refuse(host, lambda request: request.method == "POST", message=words)
    env = {"GITHUB_REPOSITORY": TARGET}
    run = single(profile="health", host_token=token, env=env, runner=runner)
    assert fault.hits
    assert run.exit_code != 0
    assert "No: ***, cut: ***" in run.text


# --- What started the workflow ----------------------------------------------------------------


def started_by(action: Action, name: str, head: int | None) -> dict[str, str]:
    """The environment of a workflow that a pull request has started, from a repository or none."""
    pull = {"head": {"repo": {"id": head} if head else None}, "base": {"repo": {"id": 1}}}
    file = action.workspace / action.write("event.json", json.dumps({"pull_request": pull}))
    return {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file), "GITHUB_REPOSITORY": TARGET}


@pytest.mark.parametrize(
    ("more", "event", "head", "texts"),
    [
        (
            {"GITHUB_ACTOR": "dependabot[bot]"},
            *("pull_request", 1, ("secret of Dependabot", "Dependabot が始めた")),
        ),
        ({}, "pull_request", 2, ("fork started this run", "フォークからの")),
        ({}, "pull_request_review", None, ("fork started this run", "フォークからの")),
        ({}, "pull_request_target", 2, ("passes an empty text", "空になります")),
        ({}, "pull_request", 1, ("passes an empty text", "空になります")),
        # act sets this variable, and gives no token (nektos/act#233)
        ({"ACT": "true"}, "push", None, ("Start act with `act -s", "`act -s GITHUB_TOKEN=")),
    ],
)
def test_a_blank_token_is_explained_by_what_started_the_workflow(
    action: Action, more: dict[str, str], event: str, head: int | None, texts: tuple[str, str]
) -> None:
    env = {**started_by(action, event, head), **more}
    for language, text in zip(("en", "ja"), texts, strict=True):
        run = action(host_token="", language=language, env=env, runner=True)
        assert run.exit_code == 2
        assert text in run.stdout
        assert "#the-token-is-missing" in run.stdout


@pytest.mark.parametrize(
    ("strategy", "event", "head", "helps"),
    [
        (SINGLE, "pull_request", 2, False),
        (PER_FILE, "pull_request", 2, False),
        (SINGLE, "pull_request", 1, True),
        (PER_FILE, "pull_request_target", 2, True),
    ],
)
def test_permissions_are_no_advice_for_a_pull_request_from_a_fork(
    host: StandInHost,
    repository: Repository,
    action: Action,
    strategy: str,
    event: str,
    head: int,
    helps: bool,
) -> None:
    token = host.create_token("installation", permissions={"contents": "read"})
    env = started_by(action, event, head)
    run = action(
        profile="health",
        language="en",
        host_token=token,
        commit_strategy=strategy,
        env=env,
        runner=True,
    )
    assert run.exit_code == 2
    assert ("permissions: {contents: write" in run.stdout) is helps
    assert ("A pull request from a fork started this run" in run.stdout) is not helps
    assert repository.branches == ["main"]


# --- A version of the API that is gone ------------------------------------------------------


def test_a_version_that_is_gone_stops_only_what_needs_it(
    single: Start, host: StandInHost, repository: Repository
) -> None:
    """GraphQL has no versions: the files are registered, and the labels are a warning."""
    host.quirks.gone_api_versions = frozenset({API_VERSION})
    run = single(profile="health", labels="setup").or_fail()
    assert len(repository.pull_requests) == 1
    [warning] = [line for line in run.stderr.splitlines() if "setup was left out" in line]
    assert f"no longer answers version {API_VERSION} of its API" in warning


# --- A token that was made a moment ago -----------------------------------------------------


def test_a_new_token_of_an_app_is_waited_for(host: StandInHost, each_way: Way) -> None:
    each_way.run(host_token=host.create_token("installation", unknown_for=5.0)).or_fail()
    assert len(each_way.repository.pull_requests) == 1
