"""A run follows redirects to another name of the repository, but never to another host."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakehub import FaultKind, Repository, StandInHost
from tests.harness import (
    LIST_BRANCH,
    TARGET,
    Action,
    Run,
    inject_fault,
    meanwhile,
    shortened,
    writes,
)

PATHS = ("a.md", "b.md", "c.md")
NEW = "octo/renamed"
REDIRECTS = (FaultKind.REDIRECT_301, FaultKind.REDIRECT_302, FaultKind.REDIRECT_307)
CALLS = (
    "GET /rate_limit",
    "GET",
    "GET git/ref/heads/main",
    "GET contents/b.md",
    "POST git/refs",
    "PUT contents/b.md",
    "POST pulls",
)


def run(action: Action, **inputs: Any) -> Run:
    """Run the action with a list of three files."""
    listed = action.listing(*PATHS)
    return action(language="en", definitions=listed, **inputs)


def finished(repository: Repository) -> None:
    """Assert that one pull request adds every file once."""
    new = [path for commit in repository.log(LIST_BRANCH)[:-1] for path in commit.paths]
    assert sorted(new) == sorted(PATHS)
    assert [(p.head, p.state) for p in repository.pull_requests] == [(LIST_BRANCH, "open")]


def test_a_renamed_repository(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    repository.person.rename(NEW)
    ended = run(action, commit_strategy=strategy).or_fail()
    assert f"The repository {TARGET} is called {NEW} now." in ended.lines
    assert f"Repository: {NEW}" in ended.lines
    heading = next(line for line in ended.summary.splitlines() if line.startswith("## "))
    assert (NEW in heading, TARGET in heading) == (True, False)
    assert f"The repository `{TARGET}` is called `{NEW}` now." in ended.summary
    assert f"/{NEW}/pull/1" in ended.outputs["pull_request_url"]
    finished(repository)

    before = repository.head(LIST_BRANCH)
    run(action, commit_strategy=strategy).or_fail()
    assert repository.head(LIST_BRANCH) == before
    finished(repository)


def test_a_name_in_other_letters_is_no_other_name(
    action: Action, host: StandInHost, strategy: str
) -> None:
    host.create_repository(TARGET.title())
    ended = run(action, commit_strategy=strategy, target_repo=TARGET.upper()).or_fail()
    assert f"Repository: {TARGET.title()}" in ended.lines
    assert "is called" not in ended.text


@pytest.mark.parametrize("call", CALLS[2:])
def test_a_repository_that_is_renamed_during_the_run(
    action: Action, host: StandInHost, repository: Repository, call: str
) -> None:
    meanwhile(host, lambda each: shortened(each) == call, lambda: repository.person.rename(NEW))
    ended = run(action)
    if ended.exit_code != 0:
        assert "If the repository was renamed or moved just now, run again" in ended.stderr
        assert ended.outputs["pull_request_url"] == ""
    again = run(action).or_fail()
    assert f"Repository: {NEW}" in again.lines
    finished(repository)
    assert repository.branches == [LIST_BRANCH, "main"]


@pytest.mark.parametrize("kind", REDIRECTS)
@pytest.mark.parametrize("call", CALLS)
def test_no_redirect_leads_to_another_host(
    action: Action, host: StandInHost, repository: Repository, call: str, kind: FaultKind
) -> None:
    fault = inject_fault(host, call, kind, times=None)
    ended = run(action)
    assert fault.hits
    assert ended.exit_code in {1, 2}, ended.text
    assert not [r for r in host.requests if r.headers["host"].startswith("localhost")]
    assert {r.token for r in host.requests} == {action.default_token}
    assert "redirects to another address" in ended.stderr
    assert "to which the token is not sent" in ended.stderr
    assert "another address" in ended.summary
    if call.startswith("GET"):
        assert (writes(host), repository.branches) == ([], ["main"])
    failed = {"PUT contents/b.md": "1", "POST git/refs": "3"}.get(call, "0")
    assert ended.outputs["failed"] == failed

    host.faults.clear()
    assert run(action).exit_code == 0
    finished(repository)


@pytest.mark.parametrize(
    "location",
    [
        "https://evil.example/",
        "//evil.example/",
        "https://127.0.0.1/",
        "http://127.0.0.1.evil.example/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "",
        "https://evil.example/::error::owned",
        # Every run checks that no output contains the token
        "https://{token}.example.com/",
    ],
)
@pytest.mark.parametrize(("call", "status"), [("GET", 301), ("PUT contents/b.md", 307)])
def test_a_hostile_place_is_an_error_of_ours(
    action: Action,
    host: StandInHost,
    repository: Repository,
    call: str,
    status: int,
    location: str,
) -> None:
    location = location.replace("{token}", action.default_token)
    inject_fault(host, call, status=status, times=None, headers={"Location": location})
    ended = run(action, runner=True, max_wait_minutes="0")
    assert ended.exit_code in {1, 2}, ended.text
    assert len(ended.annotations()) == 1
    assert "owned" not in [command.data for command in ended.commands]
    assert not [r for r in host.requests if r.headers["host"] != host.url.removeprefix("http://")]
