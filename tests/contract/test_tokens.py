"""Tokens: how they are checked, and what a run knows before its first write."""

from __future__ import annotations

from typing import Any

import pytest

from registrar import __version__
from registrar.github.case import API_VERSION
from tests.clocks import BEGINNING
from tests.fakehub import Fault, FaultKind, Repository, StandInHost
from tests.fakehub.tokens import Kind
from tests.harness import (
    HEALTH_BRANCH,
    SINGLE,
    STRATEGIES,
    TARGET,
    Action,
    Run,
    Start,
    shortened,
    writes,
)

OTHER = "octo/caller"


def refused(run: Run, english: str, repository: Repository | None) -> None:
    """The run ended with this error, and nothing is there that was not before."""
    assert run.exit_code == 2, run.text
    assert english in run.stderr
    if repository:
        assert set(repository.branches) <= {"main"}
        assert repository.pull_requests == []


@pytest.mark.parametrize(
    ("token", "private"),
    [
        ({"kind": "classic", "scopes": ("repo",)}, True),
        ({"kind": "classic", "scopes": ("repo", "workflow", "read:org")}, False),
        ({"kind": "fine-grained", "repositories": (TARGET,)}, True),
        ({"kind": "installation", "repositories": (TARGET,)}, True),
        ({"kind": "installation"}, False),
        ({"kind": "user"}, False),
    ],
)
def test_tokens_that_work(
    action: Action, host: StandInHost, token: dict[str, Any], private: bool
) -> None:
    repository = host.create_repository(TARGET, private=private)
    run = action(
        profile="health", host_token=host.create_token(**token), env={"GITHUB_REPOSITORY": TARGET}
    )
    assert run.exit_code == 0, run.text
    assert len(repository.pull_requests) == 1


def test_a_workflows_own_token_works_although_its_permissions_lack_push(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    token = host.create_token("installation", push=False, repositories=[TARGET])
    run = action(profile="health", host_token=token, env={"GITHUB_REPOSITORY": TARGET})
    assert run.exit_code == 0, run.text
    assert set(repository.files(HEALTH_BRANCH)) > set(repository.files())


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "classic without repo": (
        {"kind": "classic", "scopes": ("gist", "workflow")},
        "The token lacks the scope `repo` (it has: gist, workflow)",
        "トークンにスコープ `repo` がありません（現在: gist、workflow）",
    ),
    "classic without any scope": (
        {"kind": "classic", "scopes": ()},
        "The token lacks the scope `repo`",
        "トークンにスコープ `repo` がありません",
    ),
    "fine-grained without permission": (
        {"kind": "fine-grained", "permissions": {"contents": "read"}},
        "The fine-grained token lacks a permission; GitHub asks for: contents=write",
        "fine-grained トークンの権限が足りません。GitHub が求める権限: contents=write",
    ),
    "App without permission": (
        {"kind": "installation", "permissions": {"contents": "read"}},
        "The token lacks a permission; GitHub asks for: contents=write",
        "トークンの権限が足りません。GitHub が求める権限: contents=write",
    ),
    "user without push": (
        {"kind": "user", "push": False},
        f"The owner of the token may not push to {TARGET}",
        f"トークンの所有者は {TARGET} に書き込めません",
    ),
    "owner of a classic token without push": (
        {"kind": "classic", "push": False},
        f"The owner of the token may not push to {TARGET}",
        f"トークンの所有者は {TARGET} に書き込めません",
    ),
    "single sign-on": (
        {"kind": "classic", "sso": True},
        "the organisation asks for single sign-on",
        "組織がシングルサインオンを求めています",
    ),
}


@pytest.mark.parametrize(("token", "english", "japanese"), REFUSED.values(), ids=REFUSED)
def test_tokens_that_are_refused(
    action: Action,
    host: StandInHost,
    repository: Repository,
    token: dict[str, Any],
    english: str,
    japanese: str,
) -> None:
    value = host.create_token(**token)
    refused(action(host_token=value, profile="health", language="en"), english, repository)
    run = action(host_token=value, profile="health", runner=True)
    assert run.exit_code == 2
    [annotation] = run.annotations()
    assert japanese in annotation.data
    assert not [w for w in writes(host) if w != "POST git/refs"]


@pytest.mark.parametrize("private", [False, True])
def test_a_workflows_own_token_on_another_repository(
    action: Action, host: StandInHost, private: bool
) -> None:
    repository = host.create_repository(TARGET, private=private)
    host.create_repository(OTHER)
    run = action(
        host_token=host.create_token("installation", repositories=[OTHER]),
        language="en",
        env={"GITHUB_REPOSITORY": OTHER},
    )
    refused(run, f"its own repository {OTHER} only", repository)


@pytest.mark.parametrize(
    ("language", "causes"),
    [
        ("en", ["If this is a workflow's own token", "If it is an App's token: it lacks a perm"]),
        ("ja", ["ワークフロー自身のトークン（`github.token`）の場合", "App のトークンの場合"]),
    ],
)
def test_an_apps_token_without_permission_on_another_repository(
    action: Action, host: StandInHost, repository: Repository, language: str, causes: list[str]
) -> None:
    """It has the prefix of a workflow's own token."""
    run = action(
        profile="health",
        host_token=host.create_token("installation", permissions={"contents": "read"}),
        language=language,
        env={"GITHUB_REPOSITORY": OTHER},
    )
    for cause in [*causes, OTHER, "contents=write"]:
        refused(run, cause, repository)


def test_a_repository_that_does_not_exist(action: Action, host: StandInHost) -> None:
    run = action(language="en")
    refused(run, f"There is no repository {TARGET}, or the token may not see it", None)
    assert len(host.requests) == 2
    assert run.lines[-8:][3] == f"Repository: {TARGET}"


def test_a_repository_that_the_token_may_not_see(action: Action, host: StandInHost) -> None:
    repository = host.create_repository(TARGET, private=True)
    token = host.create_token("fine-grained", repositories=["octo/other"])
    text = f"There is no repository {TARGET}, or the token may not see it"
    refused(action(host_token=token, language="en"), text, repository)


def test_an_archived_repository(action: Action, host: StandInHost) -> None:
    repository = host.create_repository(TARGET, archived=True)
    text = f"The repository {TARGET} is archived, and so read-only."
    refused(action(language="en"), text, repository)
    assert writes(host) == []


def test_an_empty_repository(action: Action, host: StandInHost) -> None:
    repository = host.create_repository(TARGET, empty=True)
    text = f"The repository {TARGET} is empty: it has no commit to make a branch from."
    refused(action(language="en"), text, repository)
    assert writes(host) == []


def test_a_default_branch_that_does_not_exist(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    repository.default_branch = "gone"
    text = f"The default branch gone of {TARGET} does not exist."
    refused(action(language="en"), text, repository)
    assert writes(host) == []


def test_a_working_branch_that_is_the_default_branch(action: Action, host: StandInHost) -> None:
    repository = host.create_repository(TARGET, default_branch=HEALTH_BRANCH)
    run = action(profile="health", language="en")
    assert run.exit_code == 2
    assert f"The working branch {HEALTH_BRANCH} is the default branch." in run.stderr
    assert writes(host) == []
    assert repository.branches == [HEALTH_BRANCH]


@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_refusal_has_a_text_of_its_own(
    action: Action, host: StandInHost, language: str
) -> None:
    host.create_repository("octo/archived", archived=True)
    host.create_repository("octo/empty", empty=True)
    host.create_repository("octo/open")
    cases = [
        ("octo/gone", host.create_token()),
        ("octo/archived", host.create_token()),
        ("octo/empty", host.create_token()),
        ("octo/open", host.create_token(push=False)),
        ("octo/open", host.create_token(scopes=["gist"])),
        ("octo/open", host.create_token("fine-grained", permissions={})),
        ("octo/open", host.create_token("installation", permissions={})),
        ("octo/open", "ghp_notatoken"),
    ]
    texts = set()
    for target, token in cases:
        run = action(target_repo=target, host_token=token, language=language, profile="health")
        assert run.exit_code == 2, run.text
        texts.add(run.stderr.replace(target, ""))
        assert run.stderr.strip().count("\n") == 0
    assert len(texts) == len(cases)


def test_pull_requests_that_workflows_may_not_open(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.actions_may_create_pull_requests = False
    run = action(
        host_token=host.create_token("installation"),
        profile="health",
        language="en",
        env={"GITHUB_REPOSITORY": TARGET},
    )
    assert run.exit_code == 1
    assert "Settings, Actions, General, Workflow permissions" in run.stderr
    assert f"{repository.html_url}/compare/main...{HEALTH_BRANCH}?" in run.stderr
    assert run.outputs["branch"] == HEALTH_BRANCH
    assert run.outputs["created"] == "7"


def test_a_token_without_the_permission_for_pull_requests(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    token = host.create_token("fine-grained", permissions={"contents": "write"})
    run = action(host_token=token, profile="health", language="en")
    assert run.exit_code == 1
    assert "pull_requests=write" in run.stderr
    assert len(repository.files(HEALTH_BRANCH)) == 3 + 7


def test_a_renamed_repository_is_worked_on_under_its_new_name(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    repository.rename("octo/renamed")
    run = action(profile="health", language="en")
    assert run.exit_code == 0, run.text
    assert f"The repository {TARGET} is called octo/renamed now." in run.lines
    assert "Repository: octo/renamed" in run.lines
    assert all(
        r.path.startswith("/repos/octo/renamed/") for r in host.requests if r.method != "GET"
    )
    assert [shortened(r) for r in host.requests][-1] == "POST pulls"


# --- Tokens of 520 characters ---------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", ["installation", "user"])
def test_a_long_token_with_dots_works(
    action: Action, host: StandInHost, repository: Repository, strategy: str, kind: Kind
) -> None:
    token = host.create_token(kind, long=True)
    assert (len(token), token.count(".")) == (520, 2)
    run = action(profile="health", host_token=token, commit_strategy=strategy)
    assert run.exit_code == 0, run.text
    assert set(repository.files(HEALTH_BRANCH)) > set(repository.files())
    assert len(repository.pull_requests) == 1
    assert {request.token for request in host.requests} == {token}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("runner", [False, True])
def test_a_long_token_that_is_echoed_whole_and_in_half_is_in_no_output(
    action: Action, host: StandInHost, repository: Repository, strategy: str, runner: bool
) -> None:
    token = host.create_token("installation", long=True)
    half = token[: len(token) // 2]
    action.secrets += [half, token.partition(".")[0]]
    fault = host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=lambda request: request.method == "POST",
            times=None,
            status=422,
            message=f"No: {token}, cut: {half}",
        )
    )
    run = action(
        profile="health",
        host_token=token,
        commit_strategy=strategy,
        language="en",
        runner=runner,
    )
    assert fault.hits
    assert run.exit_code != 0
    assert "No: ***, cut: ***" in run.text


# --- A version of the API that is gone ------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        (
            "en",
            (
                "no longer answers version {} of its API",
                f"which registrar {__version__} asks for. Use the newest release of registrar.",
            ),
        ),
        (
            "ja",
            (
                f"registrar {__version__} が使う API のバージョン {{}} に GitHub は応答しなく",
                "registrar の最新のリリースを使って",
            ),
        ),
    ],
)
def test_a_version_of_the_api_that_is_gone(
    action: Action,
    host: StandInHost,
    repository: Repository,
    strategy: str,
    language: str,
    texts: tuple[str, str],
) -> None:
    """A request to GitHub that fails: exit code 1, though nothing was written."""
    host.quirks.gone_api_versions = frozenset({API_VERSION})
    if strategy == SINGLE:
        # The stand-in's GraphQL has no versions, as GitHub's has none so far
        host.faults.add(Fault(FaultKind.CUSTOM, times=None, status=410, message="No version"))
    run = action(profile="health", language=language, commit_strategy=strategy)
    assert run.exit_code == 1, run.text
    for text in texts:
        assert text.format(API_VERSION) in run.stderr
    assert "HTTP 410" in run.stderr
    assert "#the-release-is-too-old" in run.stderr
    assert len(host.requests) == 1
    assert repository.branches == ["main"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_gone_for_another_reason_is_told_in_the_words_of_github(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    words = "Issues are disabled for this repo"
    host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=lambda request: request.path.endswith("/labels"),
            status=410,
            message=words,
        )
    )
    run = action(profile="health", language="en", labels="setup", commit_strategy=strategy)
    assert run.exit_code == 0, run.text
    assert len(repository.pull_requests) == 1
    [warning] = [line for line in run.stderr.splitlines() if "setup was left out" in line]
    assert f"{words} (HTTP 410)" in warning
    assert "release" not in run.stderr


def test_a_version_that_is_gone_stops_only_what_needs_it(
    single: Start, host: StandInHost, repository: Repository
) -> None:
    """GraphQL has no versions: the files are registered, and the labels are a warning."""
    host.quirks.gone_api_versions = frozenset({API_VERSION})
    run = single(profile="health", labels="setup")
    assert run.exit_code == 0, run.text
    assert len(repository.pull_requests) == 1
    [warning] = [line for line in run.stderr.splitlines() if "setup was left out" in line]
    assert f"no longer answers version {API_VERSION} of its API" in warning


# --- A token that was made a moment ago -----------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("many", [False, True])
def test_a_new_token_of_an_app_is_waited_for(
    action: Action, host: StandInHost, repository: Repository, strategy: str, many: bool
) -> None:
    token = host.create_token("installation", unknown_for=5.0)
    target = {"target_repo": "", "target_repos": "octo/*"} if many else {}
    given = {"profile": "health", "host_token": token, "commit_strategy": strategy, **target}
    run = action({k: v for k, v in given.items() if not many or k != "commit_strategy"})
    assert run.exit_code == 0, run.text
    assert len(repository.pull_requests) == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_token_that_stays_unknown_is_refused(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    for kind, requests in (("installation", 5), ("classic", 1), ("fine-grained", 1)):
        host.requests.clear()
        token = host.create_token(kind, unknown_for=60.0)  # type: ignore[arg-type]
        begun = action.clock.now
        run = action(host_token=token, commit_strategy=strategy, language="en")
        refused(run, "GitHub does not accept the token (Bad credentials)", repository)
        assert len(host.requests) == requests
        assert action.clock.now - begun < 10


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_token_that_was_accepted_once_is_not_waited_for(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    """It has expired, or was revoked."""
    token = host.create_token("installation", requests=1)
    run = action(profile="health", host_token=token, commit_strategy=strategy, language="en")
    assert "GitHub does not accept the token" in run.stderr
    assert action.clock.now == BEGINNING


# --- The scope `public_repo` ----------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_public_repo_suffices_for_a_public_repository(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    token = host.create_token(scopes=("public_repo",))
    run = action(profile="health", host_token=token, commit_strategy=strategy)
    assert run.exit_code == 0, run.text
    assert len(repository.pull_requests) == 1


def test_where_public_repo_makes_no_branch_the_error_names_the_scope(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.quirks.public_repo_makes_no_branch = True
    token = host.create_token(scopes=("public_repo",))
    run = action(profile="health", host_token=token, language="en")
    refused(run, "Give a classic token the scope `repo`", repository)
    assert writes(host) == ["POST git/refs"]


# --- The header of single sign-on beside another refusal ------------------------------------


def test_a_list_that_lacks_organisations_is_no_reason_to_authorise(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=lambda request: shortened(request) == "POST git/refs",
            status=403,
            message="Not today",
            headers={"X-GitHub-SSO": "partial-results; organizations=1,2"},
        )
    )
    run = action(profile="health", language="en")
    refused(run, "Not today (HTTP 403)", repository)
    assert "single sign-on" not in run.console
