"""If the token or the repository does not allow a run, the run says why before any write."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack
from urllib.parse import parse_qs, urlsplit

import pytest

from registrar.github.case import API_VERSION
from tests.clocks import BEGINNING
from tests.fakehub import Changes, Fault, FaultKind, Repository, Request, StandInHost
from tests.harness import (
    LIST_BRANCH,
    PER_FILE,
    SINGLE,
    STRATEGIES,
    TARGET,
    Action,
    Run,
    calls,
    inject_fault,
    is_read,
    only_reads,
    refuse,
    writes,
)

PATHS = ("a.md", "docs/b.md", "c.md")
WORKFLOW = ".github/workflows/ci.yml"
OTHER = "octo/caller"
MODEST = {"contents": "write", "pull_requests": "write"}

Inputs = dict[str, str]
Scene = Callable[[StandInHost, Repository], Inputs]


def run(action: Action, paths: tuple[str, ...] = PATHS, **inputs: str) -> Run:
    """Run with a list of a few files; the workflow of the repository `caller` runs it, if any."""
    listed = action.write("list.json", json.dumps([{"path": path} for path in paths]))
    caller = inputs.pop("caller", "")
    environ = {"GITHUB_REPOSITORY": caller} if caller else {}
    return action({"language": "en", "definitions": listed, **inputs}, env=environ)


def check_ended(ended: Run, text: str) -> None:
    """The error stands on the console and in the step summary."""
    assert text in ended.stderr
    plain = html.unescape(ended.summary).replace("<code>", "").replace("</code>", "")
    assert text.replace("`", "") in plain.replace("`", "")


def finished(repository: Repository, paths: tuple[str, ...] = PATHS) -> None:
    """Every file is there once, and one pull request brings them."""
    new = [path for commit in repository.log(LIST_BRANCH)[:-1] for path in commit.paths]
    assert sorted(new) == sorted(paths)
    assert repository.files(LIST_BRANCH) == repository.files() | dict.fromkeys(paths, b"\n")
    assert [(p.head, p.state) for p in repository.pull_requests] == [(LIST_BRANCH, "open")]


# --- Nothing is written, exit code 2 ------------------------------------------------------------


def token(kind: Any = "classic", **more: Any) -> Scene:
    """A token of its own."""
    return lambda host, _: {"host_token": host.create_token(kind, **more)}


def good(host: StandInHost, repository: Repository) -> Inputs:
    """Nothing in the way."""
    host.faults.clear()
    return {}


def foreign(private: bool = False, **more: Any) -> Scene:
    """The token of another repository's workflow, or of an App, which look alike."""

    def cause(host: StandInHost, repository: Repository) -> Inputs:
        repository.person.change(private=private)
        value = host.create_token("installation", **(more or {"repositories": [OTHER]}))
        return {"host_token": value, "caller": OTHER}

    return cause


def quirk(**quirks: object) -> Scene:
    """A way in which GitHub answers."""

    def change(host: StandInHost, repository: Repository) -> Inputs:
        for name, value in quirks.items():
            setattr(host.quirks, name, value)
        return {}

    return change


def together(*scenes: Scene) -> Scene:
    """One scene after the other."""

    def all_of(host: StandInHost, repository: Repository) -> Inputs:
        return {name: value for scene in scenes for name, value in scene(host, repository).items()}

    return all_of


def does(act: Callable[[Repository], object]) -> Scene:
    """A change that somebody makes to the repository."""

    def change(host: StandInHost, repository: Repository) -> Inputs:
        act(repository)
        return {}

    return change


def sets(**attributes: Unpack[Changes]) -> Scene:
    """Attributes of the repository."""
    return does(lambda repository: repository.person.change(**attributes))


lift_protections = does(lambda repository: repository.person.unprotect())


def answers(what: str, status: int, message: str) -> Scene:
    """GitHub's answer to the requests that begin in this way."""

    def change(host: StandInHost, repository: Repository) -> Inputs:
        refuse(host, what, status, message=message)
        return {}

    return change


@dataclass(frozen=True)
class Case:
    """An obstacle, how it is reported, and how it is removed."""

    cause: Scene
    texts: tuple[str, ...]
    remedy: Scene = good
    paths: tuple[str, ...] = PATHS
    strategies: tuple[str, ...] = STRATEGIES
    exit_code: int = 2
    never: str = "Traceback"
    """A text that does not stand beside them."""
    requests: int | None = None
    """The number of requests, if it matters."""


without_pull_requests = together(
    sets(private=True),
    quirk(pull_requests_need_permission=True),
    token("fine-grained", permissions={"contents": "write"}),
)
begin_branch = does(lambda repository: repository.person.create_branch(LIST_BRANCH))
UNREAD = ("Reading the pull requests of", " failed: ")
UNKNOWN = ("GitHub does not accept the token (Bad credentials)",)
REFERENCE = ("GitHub refuses the branch", "a ruleset forbids its name", "`chore` and `chore/…`")
CASES = {
    "classic without repo": Case(
        token(scopes=("gist", "workflow")), ("lacks the scope `repo` (it has: gist, workflow)",)
    ),
    "classic without any scope": Case(
        token(scopes=()), ("lacks the scope `repo` (it has: none)",), strategies=(SINGLE,)
    ),
    "pull requests switched off": Case(
        sets(has_pull_requests=False),
        (f"Pull requests are switched off in {TARGET}", "Switch them on"),
        remedy=sets(has_pull_requests=True),
        # `single` learns it from the refusal: tests/contract/test_answers.py
        strategies=(PER_FILE,),
    ),
    "user without push": Case(token(push=False), (f"may not push to {TARGET}", "write access")),
    "App user without push": Case(
        token("user", push=False), (f"may not push to {TARGET}",), strategies=(SINGLE,)
    ),
    "not visible": Case(
        together(sets(private=True), token("fine-grained", repositories=[OTHER])),
        (f"no repository {TARGET}, or the token may not see it",),
    ),
    "own token elsewhere": Case(
        foreign(), (f"its own repository {OTHER} only", "personal access token")
    ),
    "own token elsewhere, private": Case(
        foreign(private=True), (f"its own repository {OTHER} only", "personal access token")
    ),
    "App elsewhere, no contents": Case(
        foreign(permissions={"contents": "read"}),
        (
            *("If this is a workflow's own token", "If it is an App's token: it lacks a perm"),
            *(OTHER, "contents=write"),
        ),
    ),
    "fine-grained, no contents": Case(
        token("fine-grained", permissions={"contents": "read"}),
        ("The fine-grained token lacks a permission; GitHub asks for: contents=write", TARGET),
    ),
    "App, no contents": Case(
        token("installation", permissions={"contents": "read"}),
        ("lacks a permission; GitHub asks for: contents=write", "contents: write, pull-requests"),
    ),
    "archived": Case(
        sets(archived=True),
        ("is archived, and so read-only. Unarchive it",),
        remedy=sets(archived=False),
    ),
    "no default branch": Case(
        sets(default_branch="gone"),
        (f"The default branch gone of {TARGET} does not exist.",),
        remedy=sets(default_branch="main"),
    ),
    "workflow file, classic": Case(
        token(scopes=("user", "repo", "gist", "project", "notifications")),
        (
            "lacks the scope `workflow` (it has: gist, notifications, project, repo, user), which",
            WORKFLOW,
        ),
        remedy=token(scopes=("repo", "workflow")),
        paths=(*PATHS, WORKFLOW),
    ),
    "ruleset on creation": Case(
        does(lambda repository: repository.person.protect("chore/*", "ruleset")),
        REFERENCE,
        remedy=lift_protections,
    ),
    "hidden contents": Case(
        quirk(hidden_contents=frozenset({TARGET})),
        ("Resource not accessible",),
        remedy=quirk(hidden_contents=frozenset()),
        strategies=(SINGLE,),
    ),
    "hidden pull requests": Case(without_pull_requests, UNREAD),
    "hidden pull requests of a branch": Case(together(begin_branch, without_pull_requests), UNREAD),
    "a branch that may not be compared": Case(
        together(
            begin_branch,
            does(lambda repository: repository.person.commit({"a.md": b"\n"}, branch=LIST_BRANCH)),
            answers("GET compare", 403, "Resource not accessible by integration"),
        ),
        ("Resource not accessible by integration",),
    ),
    "App user, no contents": Case(
        token("user", permissions={"contents": "read"}),
        ("for an App, widen its permissions",),
        strategies=(PER_FILE,),
        never="fine-grained",
    ),
    "public_repo makes no branch": Case(
        together(quirk(public_repo_makes_no_branch=True), token(scopes=("public_repo",))),
        ("Give a classic token the scope `repo`",),
        strategies=(PER_FILE,),
    ),
    "unknown App": Case(token("installation", unknown_for=60.0), UNKNOWN, requests=5),
    "unknown classic": Case(token(unknown_for=60.0), UNKNOWN, requests=1),
    "unknown fine-grained": Case(token("fine-grained", unknown_for=60.0), UNKNOWN, requests=1),
    # It was accepted once, so it has expired, or was revoked
    "App that ends": Case(
        token("installation", requests=1), UNKNOWN, strategies=(PER_FILE,), requests=4
    ),
    # GitHub's GraphQL has no versions so far. The exit code of a request to GitHub that fails is 1.
    "old version of GraphQL": Case(
        answers("", 410, "No version"),
        (f"no longer answers version {API_VERSION} of its API",),
        strategies=(SINGLE,),
        exit_code=1,
        requests=1,
    ),
    "a branch named chore": Case(
        does(lambda repository: repository.person.create_branch("chore")),
        REFERENCE,
        remedy=does(lambda repository: repository.person.delete_branch("chore")),
    ),
}


@pytest.mark.parametrize(
    ("strategy", "case"),
    [
        pytest.param(strategy, case, id=f"{name}-{strategy}")
        for name, case in CASES.items()
        for strategy in case.strategies
    ],
)
def test_refused_before_anything_is_written_and_done_once_the_cause_is_gone(
    action: Action, host: StandInHost, repository: Repository, case: Case, strategy: str
) -> None:
    action.default_token = host.create_token(scopes=("repo", "workflow"))
    inputs = case.cause(host, repository) | {"commit_strategy": strategy}
    before = {name: repository.head(name) for name in repository.branches}
    ended = run(action, case.paths, **inputs)
    assert ended.exit_code == case.exit_code, ended.text
    for text in case.texts:
        check_ended(ended, text)
    assert case.never not in ended.text
    assert case.requests in {None, len(host.requests)}
    assert action.clock.now - BEGINNING < 10
    assert ended.stderr.count("Error: ") == 1
    assert {name: repository.head(name) for name in repository.branches} == before
    assert repository.pull_requests == []
    assert ended.outputs["created"] == "0"
    if strategy == PER_FILE:
        assert set(writes(host)) <= {"POST git/refs"}

    again = run(action, case.paths, commit_strategy=strategy, **case.remedy(host, repository))
    assert again.exit_code == 0, again.text
    finished(repository, case.paths)


@pytest.mark.parametrize(
    ("kind", "private", "more"),
    [
        ("classic", True, {"scopes": ("repo",)}),
        ("classic", False, {"scopes": ("repo", "workflow", "read:org")}),
        ("classic", False, {"scopes": ("public_repo",)}),
        ("fine-grained", True, {"repositories": (TARGET,)}),
        ("installation", True, {"repositories": (TARGET,)}),
        # A workflow's own token works although its permissions lack push
        ("installation", False, {"push": False}),
        ("user", False, {}),
    ],
)
def test_tokens_that_suffice(
    action: Action, host: StandInHost, strategy: str, kind: Any, private: bool, more: dict[str, Any]
) -> None:
    repository = host.create_repository(TARGET, private=private)
    value = host.create_token(kind, **more)
    run(action, host_token=value, caller=TARGET, commit_strategy=strategy).or_fail()
    finished(repository)


def test_a_branch_that_is_continued_is_looked_at_before_it_is_written_to(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    assert run(action, PATHS[:1], commit_strategy=strategy).exit_code == 0
    head, count = repository.head(LIST_BRANCH), len(host.requests)
    modest = host.create_token(scopes=("repo",))
    ended = run(action, (*PATHS, WORKFLOW), commit_strategy=strategy, host_token=modest)
    assert ended.exit_code == 2, ended.text
    check_ended(ended, "lacks the scope `workflow`")
    assert all(map(is_read, host.requests[count:]))
    assert repository.head(LIST_BRANCH) == head


@pytest.mark.parametrize(
    ("strategy", "work", "scopes", "is_reader", "why"),
    [
        (strategy, *row)
        for strategy in STRATEGIES
        for row in (
            ("to create", ("repo",), False, "lacks the scope `workflow`"),
            ("to create", ("gist",), False, "lacks the scope `repo`"),
            ("to create", ("repo", "workflow"), True, "may not push to"),
            ("to create", ("repo", "workflow"), False, ""),
            ("to update", ("repo",), False, "lacks the scope `workflow`"),
            ("nothing", ("repo", "workflow"), True, "may not push to"),
        )
    ],
)
def test_a_plan_says_that_registering_is_going_to_be_refused(
    action: Action,
    host: StandInHost,
    repository: Repository,
    strategy: str,
    scopes: tuple[str, ...],
    is_reader: bool,
    why: str,
    work: str,
) -> None:
    listed = (*PATHS, WORKFLOW)
    if work != "to create":
        able = host.create_token(scopes=("repo", "workflow"))
        content = "earlier\n" if work == "to update" else "\n"
        earlier = action.listing_of(dict.fromkeys(listed, content))
        action(definitions=earlier, commit_strategy=strategy, host_token=able).or_fail()
    repository.person.change(read_only=is_reader)
    given = {"host_token": host.create_token(scopes=scopes), "commit_strategy": strategy}
    plan = run(action, listed, mode="plan", **given).or_fail()
    assert plan.outcomes == dict.fromkeys(listed, work)
    is_told = bool(why) and work != "nothing"
    assert ("A run with `mode: register` would be refused" in plan.text) == is_told
    assert (why in plan.text) == (is_told or not why)
    check = run(action, listed, mode="check", **given)
    assert "would be refused" not in check.text


def test_values_of_properties_may_not_make_the_files_larger_than_one_commit_takes(
    action: Action, host: StandInHost
) -> None:
    """The list counts each placeholder as 255 bytes."""
    repository = host.create_repository(TARGET, properties={"team": "x" * 300})
    grows = {"template": True, "content": "{property:team}" * 3_300}
    files = [{"path": f"{number}.md", **grows} for number in range(11)]
    listed = action.document([*files, {"path": "a.md", "content": "x" * 199_000}])
    given = {"definitions": listed, "commit_strategy": SINGLE, "language": "en"}
    words = f"The missing files would have more than 10000000 bytes together in {TARGET}"
    plan = action(given, mode="plan").or_fail()
    assert f"A run with `mode: register` would be refused: {words}" in plan.text
    ended = action(given)
    assert (ended.exit_code, only_reads(host)) == (2, True)
    check_ended(ended, words)
    repository.person.change(properties={"team": "x" * 270})
    assert action(given).or_fail().outputs["created"] == "12"
    # As many bytes as may be, in one commit
    assert [len(commit.paths) for commit in repository.log(LIST_BRANCH)[:-1]] == [12]


def test_a_plan_of_a_repository_whose_pull_requests_are_switched_off(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """They cannot be asked for: GitHub answers 404."""
    repository.person.create_branch(LIST_BRANCH)
    repository.person.change(has_pull_requests=False)
    ended = run(action, mode="plan").or_fail()
    assert ended.lines[-1].startswith("Pull requests are switched off in the repository.")
    assert "would be refused" not in ended.text, "once is enough"
    assert not [call for call in calls(host) if call.startswith("GET pulls")]


def test_an_empty_repository_after_its_first_commit(
    action: Action, host: StandInHost, strategy: str
) -> None:
    repository = host.create_repository(TARGET, empty=True)
    ended = run(action, commit_strategy=strategy)
    assert (ended.exit_code, only_reads(host)) == (2, True)
    check_ended(ended, "is empty: it has no commit to make a branch from. Make a first commit")
    repository.person.commit({"README.md": b"# Example\n"})
    run(action, commit_strategy=strategy).or_fail()
    finished(repository)


@pytest.mark.parametrize(
    ("call", "status", "body"),
    [
        ("GET", 404, b""),
        ("GET git/ref/heads/main", 404, b"[]"),
        *(
            ("GET contents/c.md", *each)
            for each in (
                *((404, b"<html>404</html>"), (404, b'{"error": "no"}'), (404, b'"x"')),
                *((404, "No commit found for the ref main"), (404, "This repository is empty.")),
                *((404, "not found"), (403, "Not Found"), (410, "Not Found")),
                (422, "path contains a malformed path component"),
            )
        ),
    ],
)
def test_another_answer_than_not_found_is_not_missing(
    action: Action,
    host: StandInHost,
    repository: Repository,
    call: str,
    status: int,
    body: bytes | str,
) -> None:
    is_said = isinstance(body, str)
    given: dict[str, Any] = {"message" if is_said else "body": body}
    inject_fault(host, call, times=None, status=status, **given)
    ended = run(action, max_wait_minutes="0")
    assert ended.exit_code != 0
    assert (str(body) if is_said else "a proxy may have given it") in ended.stderr
    assert not is_said or "c.md" in ended.stderr
    assert (writes(host), repository.branches) == ([], ["main"])
    host.faults.clear()
    assert run(action).exit_code == 0
    finished(repository)


# --- Some of it is written, exit code 1 ---------------------------------------------------------


def only_one_fails(ended: Run, path: str, text: str, repository: Repository) -> None:
    """One file failed with this reason; the others are there, and a pull request brings them."""
    assert ended.exit_code == 1, ended.text
    assert f"{path} was not created" in ended.stderr
    check_ended(ended, text)
    assert (ended.outputs["created"], ended.outputs["failed"]) == (str(len(PATHS)), "1")
    assert ended.outputs["pull_request_operation"] == "created"
    finished(repository)


def test_a_workflow_file_by_an_app_without_the_permission(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    modest = host.create_token("installation", permissions=MODEST)
    ended = run(action, (WORKFLOW, *PATHS), host_token=modest, commit_strategy=strategy)
    only_one_fails(ended, WORKFLOW, "an App the permission Workflows: write", repository)
    assert ("PUT" in {request.method for request in host.requests}) == (strategy == PER_FILE)

    able = host.create_token("installation", permissions={**MODEST, "workflows": "write"})
    again = run(action, (WORKFLOW, *PATHS), host_token=able, commit_strategy=strategy).or_fail()
    assert again.outputs["pull_request_operation"] == "updated"
    finished(repository, (WORKFLOW, *PATHS))


def test_pull_requests_by_workflows_that_are_switched_off(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    host.actions_may_create_pull_requests = False
    own = host.create_token("installation")
    ended = run(action, host_token=own, caller=TARGET, commit_strategy=strategy)
    assert ended.exit_code == 1
    check_ended(ended, "GitHub Actions is not permitted to create or approve pull requests.")
    check_ended(ended, "Settings, Actions, General, Workflow permissions")
    link = f"{repository.html_url}/compare/main...{LIST_BRANCH}?"
    check_ended(ended, link)
    [shown] = [word for word in ended.stderr.split() if word.startswith(link)]
    query = parse_qs(urlsplit(shown).query)
    assert query == {"quick_pull": ["1"], "title": ["chore: add missing files"]}
    assert f"<{shown}>" in html.unescape(ended.summary)
    assert ended.outputs["created"] == str(len(PATHS))
    # Nobody can merge the files yet
    planned = run(action, host_token=own, commit_strategy=strategy, mode="plan").standings
    assert ended.standings == planned == dict.fromkeys(PATHS, "to create")

    host.actions_may_create_pull_requests = True
    again = run(action, host_token=own, caller=TARGET, commit_strategy=strategy).or_fail()
    assert (again.outputs["created"], again.outputs["failed"]) == ("0", "0")
    finished(repository)


def test_a_token_that_may_not_open_pull_requests(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    modest = host.create_token("fine-grained", permissions={"contents": "write"})
    repository.person.create_branch("release#1")
    repository.person.change(default_branch="release#1")
    # The second run writes nothing itself
    for created in (str(len(PATHS)), "0"):
        ended = run(action, host_token=modest)
        assert (ended.exit_code, ended.outputs["created"]) == (1, created)
        check_ended(ended, "pull_requests=write")
        check_ended(ended, f"{repository.html_url}/compare/release%231...{LIST_BRANCH}?")
    assert run(action).exit_code == 0
    finished(repository)


def test_a_limit_while_the_open_pull_request_is_looked_for_leaves_the_link(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """GitHub says that there is one, and then answers no more."""
    exists = "A pull request already exists for octo:x."
    at_pulls = {"GET": False, "POST": False}

    def opens(request: Request) -> bool:
        at_pulls["POST"] |= request.method == "POST" and request.path.endswith("/pulls")
        return request.method == "POST" and request.path.endswith("/pulls")

    def looks(request: Request) -> bool:
        return at_pulls["POST"] and is_read(request) and request.path.endswith("/pulls")

    message = {"message": "Validation Failed", "errors": [{"message": exists}]}
    host.faults.add(Fault(FaultKind.CUSTOM, match=opens, status=422, body=message))
    host.faults.add(Fault(FaultKind.PRIMARY_403, match=looks, times=None, reset_in=7200))
    ended = run(action)
    assert ended.exit_code == 1
    check_ended(ended, f"{repository.html_url}/compare/main...{LIST_BRANCH}?")
    assert ended.outputs["created"] == str(len(PATHS))


def test_what_has_begun_is_not_refused_for_the_rate_limit(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """The answer about the branch is lost, and looking for it takes requests that are left."""

    def makes_branch(request: Request) -> bool:
        return request.method == "POST" and request.path.endswith("/git/refs")

    def few_left(request: Request) -> None:
        if makes_branch(request) and host.rate_limit:
            host.rate_limit.remaining = len(PATHS) + 5

    host.on_request = few_left
    host.faults.add(Fault(FaultKind.ERROR_502_HTML, match=makes_branch, when="after"))
    ended = run(action, max_wait_minutes="1")
    assert ended.exit_code == 1
    assert int(ended.outputs["created"]) > 0
    host.on_request = None
    host.rate_limit = None
    assert run(action).exit_code == 0
    finished(repository)
