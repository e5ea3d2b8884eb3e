"""Tokens that are long, new or ended, and versions of the API that are gone.

Which tokens suffice, and how others are refused: tests/contract/test_preflight.py.
"""

from __future__ import annotations

import json

import pytest

from registrar import __version__
from registrar.github.case import API_VERSION
from tests.clocks import BEGINNING
from tests.example import Way
from tests.fakehub import Fault, FaultKind, Repository, StandInHost
from tests.fakehub.tokens import Kind
from tests.harness import (
    HEALTH_BRANCH,
    SINGLE,
    TARGET,
    Action,
    Start,
    refuse,
    writes,
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
    ("event", "head", "helps"),
    [("pull_request", 2, False), ("pull_request", 1, True), ("pull_request_target", 2, True)],
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


def test_a_version_of_the_api_that_is_gone(
    start: Start, host: StandInHost, repository: Repository, strategy: str
) -> None:
    """A request to GitHub that fails: exit code 1, though nothing was written."""
    host.quirks.gone_api_versions = frozenset({API_VERSION})
    if strategy == SINGLE:
        # The stand-in's GraphQL has no versions, as GitHub's has none so far
        host.faults.add(Fault(FaultKind.CUSTOM, times=None, status=410, message="No version"))
    run = start(profile="health")
    assert run.exit_code == 1, run.text
    for text in (
        f"no longer answers version {API_VERSION} of its API",
        f"which registrar {__version__} asks for. Use the newest release of registrar.",
        "HTTP 410",
    ):
        assert text in run.stderr
    assert "#the-release-is-too-old" in run.stderr
    assert len(host.requests) == 1
    assert repository.branches == ["main"]


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


def test_a_token_that_stays_unknown_is_refused(
    action: Action, host: StandInHost, repository: Repository, single: Start
) -> None:
    for kind, requests in (("installation", 5), ("classic", 1), ("fine-grained", 1)):
        host.requests.clear()
        token = host.create_token(kind, unknown_for=60.0)  # type: ignore[arg-type]
        begun = action.clock.now
        run = single(host_token=token)
        assert run.exit_code == 2, run.text
        assert "GitHub does not accept the token (Bad credentials)" in run.stderr
        assert repository.branches == ["main"]
        assert len(host.requests) == requests
        assert action.clock.now - begun < 10


def test_a_token_that_was_accepted_once_is_hardly_waited_for(
    action: Action, host: StandInHost, repository: Repository, single: Start
) -> None:
    """It has expired, or was revoked."""
    token = host.create_token("installation", requests=1)
    run = single(profile="health", host_token=token)
    assert "GitHub does not accept the token" in run.stderr
    assert action.clock.now - BEGINNING < 3


# --- The scope `public_repo` ----------------------------------------------------------------


def test_where_public_repo_makes_no_branch_the_error_names_the_scope(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.quirks.public_repo_makes_no_branch = True
    token = host.create_token(scopes=("public_repo",))
    run = action(profile="health", host_token=token, language="en")
    assert run.exit_code == 2, run.text
    assert "Give a classic token the scope `repo`" in run.stderr
    assert repository.branches == ["main"]
    assert writes(host) == ["POST git/refs"]
