"""Many repositories: readers of a public workflow learn only numbers about private repositories."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.example import LISTED, PRESENT
from tests.fakehub import Refusal, Repository, Request, StandInHost
from tests.harness import Action, Run, Start, is_read, meanwhile, refuse, report_schema
from tests.organisation import Make, asked, opened, refuse_writes, rows, states

PUBLIC = "octo-org/workflows"
pytestmark = pytest.mark.usefixtures("secret")


@pytest.fixture
def secret(host: StandInHost) -> Repository:
    """A private repository that lacks files."""
    return host.create_repository(
        "octo-org/top-secret",
        {**PRESENT, "secret-notes.md": b"secret\n"},
        private=True,
        default_branch="secret-main",
        properties={"team": "secret-team"},
    )


def workflow(action: Action, *, is_private: bool = False) -> dict[str, str]:
    """The environment of a workflow whose repository is public, or private."""
    action.host.create_repository(PUBLIC, LISTED, private=is_private)
    return {"GITHUB_REPOSITORY": PUBLIC, **action.keeping}


@pytest.fixture
def in_public(many: Start, action: Action) -> Start:
    """The action in a workflow of a public repository: everybody reads what it publishes."""
    return partial(many, env=workflow(action), runner=True)


@pytest.fixture
def in_private(many: Start, action: Action) -> Start:
    """The action in a workflow of a private repository."""
    return partial(many, env=workflow(action, is_private=True), runner=True)


@pytest.fixture
def published(action: Action) -> Callable[[Run], str]:
    """Everything that a run has published."""

    def text(run: Run) -> str:
        kinds = [kind for kind in ("report", "table", "page") if run.outputs.get(f"{kind}_path")]
        files = (action.kept(run, kind) for kind in kinds)
        return "\n".join([run.text, run.output_file, *files]).lower()

    return text


Published = Callable[[Run], str]


def not_named(run: Run) -> dict[tuple[str, str | None], int]:
    """How many repositories without a name stand how, and why those failed that did."""
    counted = run.report["many"]["not_named"]
    return {(each["state"], each["kind"]): each["count"] for each in counted}


@pytest.mark.parametrize("event", [{"repository": {"private": False}}, {"schedule": "0 0"}, None])
@pytest.mark.parametrize("mode", ["plan", "register", "check"])
def test_what_is_not_public_has_no_line_in_a_public_workflow(
    in_public: Start,
    make: Make,
    secret: Repository,
    action: Action,
    published: Published,
    event: object,
    mode: str,
) -> None:
    internal = action.host.create_repository(
        "octo-org/in-house", PRESENT, private=True, internal=True
    )
    [public] = make(0, 1)
    env = {"GITHUB_REPOSITORY": PUBLIC, **action.keeping}
    if event:
        name = action.write("event.json", json.dumps(event))
        env["GITHUB_EVENT_PATH"] = str(action.workspace / name)
    run = in_public(mode=mode, env=env)
    assert not any(
        word in published(run)
        for word in ("secret", "in-house", f'"{secret.id}"', f"id {secret.id}")
    )
    state = "opened" if mode == "register" else "to open"
    assert rows(run) == {public.full_name: state}
    assert states(run) == {state: 3, "complete": 1}
    assert not_named(run) == {(state, None): 2}
    assert len(run.report["registrations"]) == 1
    counted = "Counted but not named, because they may be private"
    assert counted in run.summary
    assert counted in run.stdout
    assert "with something to report" not in run.summary
    assert opened([secret, internal]) == [int(mode == "register")] * 2
    # As many as there are, however they are called
    assert run.outputs["incomplete"] == "3"
    missing = len(LISTED) - len(PRESENT)
    assert run.outputs["created"] == str(3 * missing if mode == "register" else 0)


def test_table_and_page_count_what_they_do_not_name(
    in_public: Start, make: Make, host: StandInHost, action: Action
) -> None:
    make(1, 1)
    host.create_repository("octo-org/old-secret", archived=True, private=True)
    run = in_public(mode="plan")
    found = [row for row in action.rows(run) if row["repository"].startswith("not public")]
    named = {row["repository"] for row in found}
    assert named == {"not public: 1"}
    assert {row["standing"] for row in found} == {"to create", "filled", "excluded: archived"}
    assert not any(row[key] for row in found for key in ("id", "visibility", "commit", "blob"))
    page = action.kept(run, "page")
    assert "because they may be private: 1 (0 complete, 0 done)." in page
    assert "<strong>2 / 4</strong>" in page
    assert "<p>archived 1</p>" in page


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (403, "Resource not accessible by integration", "permission"),
        (422, "No: octo-org/top-secret", "refused"),
        (500, "octo-org%2Ftop-secret", "transient"),
    ],
)
def test_of_a_failure_the_kind_is_told_and_never_githubs_words(
    in_public: Start,
    host: StandInHost,
    make: Make,
    published: Published,
    status: int,
    words: str,
    kind: str,
) -> None:
    make(1, 1)
    refuse(host, lambda request: not is_read(request), status, message=words)
    run = in_public(max_wait_minutes="0" if status == 500 else "1")
    assert run.exit_code == 1
    assert not any(word in published(run) for word in ("secret", words.lower()))
    assert sum(not_named(run).values()) == 1


@pytest.mark.parametrize("mode", ["plan", "check"])
def test_a_check_says_how_many_fail_it(in_public: Start, mode: str, published: Published) -> None:
    run = in_public(mode=mode, target_repos="octo-org/top-secret")
    assert run.exit_code == (mode == "check")
    assert len(run.annotations()) == (mode == "check")
    assert "1 that need a pull request" in run.summary
    assert "secret" not in published(run)


@pytest.mark.parametrize(
    "texts",
    [
        {"branch": "add/{repo}", "title": "Files for {repo}"},
        {"branch": "{repo}", "title": "{repo} von {owner}: {count} für Ämter"},
        {"labels": "{property:team}", "title": "{property:team}"},
    ],
)
def test_what_is_made_of_a_private_name_is_not_published(
    in_public: Start, secret: Repository, published: Published, texts: dict[str, str]
) -> None:
    for mode in ("plan", "register"):
        assert "secret" not in published(in_public(texts, mode=mode))
    secret.close(1)
    assert "secret" not in published(in_public(texts))
    secret.protect("*", "ruleset")
    secret.protect("*/*", "ruleset")
    assert "secret" not in published(in_public({**texts, "branch": "other/{repo}"}))


@pytest.mark.parametrize("has_public", [True, False])
def test_what_a_plan_shows_is_no_private_repositorys(
    in_public: Start,
    make: Make,
    secret: Repository,
    action: Action,
    published: Published,
    has_public: bool,
) -> None:
    """The example is a public one, or the template itself."""
    secret.commit({"a.md": b"theirs"})
    [public] = make(0, 1) if has_public else [None]
    entry: dict[str, Any] = {"path": "x.md", "template": True, "content": "{{{repo}}}\n"}
    listing, targets = action.listing(entry, "a.md"), f"octo-org/*, !{PUBLIC}"
    run = in_public(mode="plan", definitions=listing, target_repos=targets)
    shown = f"+{{{public.name}}}" if public else "+{{{repo}}}"
    assert shown in run.lines
    assert shown in run.summary.splitlines()
    assert "secret" not in published(run)


def test_a_workflow_of_an_unknown_repository_counts_as_public(many: Start) -> None:
    run = many(mode="plan", runner=True)
    assert rows(run) == {}
    assert not_named(run) == {("to open", None): 1}
    assert "secret" not in run.text.lower()


def test_a_name_that_is_not_found_is_counted(in_public: Start) -> None:
    run = in_public(target_repos="octo-org/gone-secret")
    assert (run.exit_code, rows(run)) == (1, {})
    assert not_named(run) == {("failed", "not_begun"): 1}
    assert "gone-secret" not in run.stdout.partition("octo-org/gone-secret")[2]


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_names_are_shown_where_only_those_read_who_may(
    in_private: Start, secret: Repository, published: Published, mode: str
) -> None:
    """Also in the outputs: they stay in the workflow, which is as private."""
    run = in_private(mode=mode)
    assert rows(run) == {secret.full_name: "opened" if mode == "register" else "to open"}
    for text in (run.stdout, run.summary, run.output_file):
        assert secret.full_name in text
    assert not_named(run) == {}
    assert "because they may be private" not in published(run)


def test_off_the_runner_nobody_else_reads_what_is_printed(
    many: Start, secret: Repository, action: Action
) -> None:
    run = many(mode="plan", env=action.keeping)
    assert secret.full_name in run.stdout


def test_githubs_words_are_shown_where_only_those_read_who_may(
    in_private: Start, host: StandInHost
) -> None:
    refuse_writes(host, lambda repository: f"No: {repository.name}")
    assert "No: top-secret" in in_private().stdout


@pytest.mark.parametrize("event", ["public", "internal", None, "private"])
def test_what_github_says_while_repositories_are_listed_may_hold_a_private_name(
    many: Start, make: Make, host: StandInHost, action: Action, event: str | None
) -> None:
    make(1, 0)
    env = {"GITHUB_REPOSITORY": "octo-org/workflows"}
    if event:
        payload = {"repository": {"private": event != "public", "visibility": event}}
        path = action.workspace / action.write("event.json", json.dumps(payload))
        env["GITHUB_EVENT_PATH"] = str(path)
    refuse(host, "GET /orgs/octo-org/repos", 403, message="octo-org/top-secret is locked")
    run = many(env=env, runner=True)
    assert run.exit_code != 0
    assert ("top-secret" in run.stdout) is (event == "private")


@pytest.mark.parametrize("before", ["nodes", "query", "mutation", "pulls"])
def test_a_repository_that_becomes_private_or_is_renamed_is_not_named_from_then_on(
    in_public: Start, host: StandInHost, before: str, published: Published
) -> None:
    other = host.create_repository("octo-org/other", PRESENT)
    moved = host.create_repository("octo-org/alpha", PRESENT)
    if before == "pulls":
        host.refused_mutations = {"createPullRequest": Refusal(422, "Not at once")}
        before = f"POST /repositories/{moved.id}/pulls"

    def hide() -> None:
        moved.rename("octo-org/even-more-secret")
        moved.private = True

    meanwhile(host, lambda _: asked(host)[-1] == before, hide)
    run = in_public()
    assert (run.exit_code, opened([other, moved])) == (0, [1, 1])
    assert "secret" not in published(run)
    assert rows(run) == {other.full_name: "opened"}
    assert "alpha" not in run.summary
    assert "alpha" not in run.output_file


@pytest.mark.parametrize("last", ["description", "closing", "withdrawal", "reviewers"])
def test_one_that_turns_private_with_the_last_answer_is_not_named(
    in_public: Start, host: StandInHost, action: Action, published: Published, last: str
) -> None:
    """The last writes of a run: a description, the end of a needless one, reviewers."""
    moved = host.create_repository("octo-org/alpha", PRESENT)
    old = action.listing_of({"a.md": "old\n"})
    given, path = {"definitions": old}, f"/repositories/{moved.id}/pulls/1"
    if last == "reviewers":
        given, path = {**given, "reviewers": "monalisa"}, f"{path}/requested_reviewers"
    else:
        in_public(given)
        if last == "closing":
            moved.commit({"a.md": b"old\n"})
        else:
            action.listing_of({"a.md": "new\n"})

    hidden: list[Request] = []

    def hide(request: Request) -> None:
        if not is_read(request) and request.path == path:
            hidden.append(request)
            moved.rename("octo-org/even-more-secret")
            moved.private = True

    host.on_request = hide
    run = in_public(given, mode="withdraw" if last == "withdrawal" else "register")
    assert (run.exit_code, len(hidden)) == (0, 1), run.console
    assert "secret" not in published(run)
    assert "alpha" not in published(run)


@pytest.mark.parametrize("mode", ["register", "plan"])
@pytest.mark.parametrize("alone", ["refused", "has another name"])
def test_one_that_the_shared_query_calls_private_is_not_named_if_it_cannot_be_read_alone(
    in_public: Start,
    host: StandInHost,
    action: Action,
    published: Published,
    alone: str,
    mode: str,
) -> None:
    moved = host.create_repository("octo-org/alpha", PRESENT)
    given = {"definitions": action.listing_of({"a.md": "old\n", "b.md": "b\n"})}
    in_public(given, target_repos=moved.full_name)
    # A path that is no longer listed: a plan reads the whole branch
    action.listing_of({"a.md": "new\n"})

    def hide(_: Request) -> None:
        if asked(host)[-1] == "nodes":
            moved.private = True
            if alone == "has another name":
                moved.rename("octo-org/even-more-secret")

    if alone == "refused":
        refuse(host, lambda _: asked(host)[-1] == "query", 404)
    host.on_request = hide
    run = in_public(given, target_repos=moved.full_name, mode=mode)
    assert asked(host)[-1] == "query"
    [((state, _), count)] = not_named(run).items()
    assert (state in {"failed", "deferred"}, count) == (True, 1)
    assert "secret" not in published(run)
    assert "alpha" not in published(run)


@pytest.mark.parametrize("said_by", ["event", "older event", "listing"])
def test_a_workflow_of_an_internal_repository_counts_as_public(
    many: Start, host: StandInHost, secret: Repository, action: Action, said_by: str
) -> None:
    """The whole enterprise reads its log."""
    host.create_repository(PUBLIC, LISTED, private=True, internal=True)
    env = {"GITHUB_REPOSITORY": PUBLIC}
    if said_by != "listing":
        described = {"private": True, "visibility": "internal"}
        if said_by == "older event":
            # An internal repository is called private, too
            del described["visibility"]
        name = action.write("event.json", json.dumps({"repository": described}))
        env["GITHUB_EVENT_PATH"] = str(action.workspace / name)
    run = many(env=env, runner=True)
    assert len(secret.pull_requests) == 1
    assert "secret" not in run.text.lower()


@pytest.mark.parametrize("kind", ["pipe", "endless", "too large", "directory"])
def test_an_event_that_is_no_file_is_no_event(in_private: Start, action: Action, kind: str) -> None:
    path = action.workspace / "event"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "endless":
        path = Path("/dev/zero")
    else:
        payload = json.dumps({"repository": {"visibility": "public"}})
        path.write_text(payload + " " * 25_000_000, "utf-8")
    env = {"GITHUB_REPOSITORY": PUBLIC, "GITHUB_EVENT_PATH": str(path)}
    run = in_private(mode="plan", env=env).or_fail()
    assert "octo-org/top-secret" in run.stdout


# --- One repository that the workflow names ---------------------------------------------------


@pytest.fixture
def of_one(action: Action, secret: Repository) -> Start:
    """A run about the private repository alone, in a workflow of a public one."""
    given = {"target_repo": secret.full_name, "profile": None, "language": "en"}
    return partial(action, **given, env=workflow(action), runner=True)


@pytest.mark.parametrize("strategy", ["per-file", "single"])
def test_the_one_that_the_workflow_names_has_its_lines_without_githubs_words(
    of_one: Start, host: StandInHost, secret: Repository, action: Action, strategy: str
) -> None:
    listing = action.listing("a.txt", "b.txt")
    refuse(host, lambda request: not is_read(request), 422, message="No: merger with acme")
    run = of_one(definitions=listing, commit_strategy=strategy)
    assert run.exit_code != 0
    assert secret.full_name in run.stdout
    assert "merger" not in run.text
    assert "GitHub's words are not shown" in run.stdout
    host.faults.clear()
    run = of_one(definitions=listing, commit_strategy=strategy)
    assert (run.exit_code, run.outputs["created"]) == (0, "2")
    assert run.outputs["pull_request_url"].endswith("octo-org/top-secret/pull/1")
    assert run.registration["repository"] == secret.full_name


@pytest.mark.parametrize("strategy", ["per-file", "single"])
def test_a_workflow_on_another_host_is_not_that_of_a_repository_of_its_name(
    of_one: Start, host: StandInHost, secret: Repository, action: Action, strategy: str
) -> None:
    name, listing = secret.full_name, action.listing("a.txt")
    env = {"GITHUB_REPOSITORY": name, "GITHUB_API_URL": "https://api.github.com/"}
    env |= {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "1"}
    given = {"definitions": listing, "commit_strategy": strategy, "title": "By {run_url}."}
    refuse(host, lambda request: not is_read(request), 422, message="No: merger with acme")
    run = of_one(given, env=env)
    assert "merger" not in run.text
    host.faults.clear()
    assert of_one(given, env=env).exit_code == 0
    [pull] = secret.pull_requests
    assert (pull.title, name in (pull.body or "")) == ("By .", False)


@pytest.mark.parametrize("strategy", ["per-file", "single"])
def test_what_github_says_to_the_first_request_is_not_shown_either(
    of_one: Start, host: StandInHost, strategy: str
) -> None:
    refuse(host, lambda request: True, 403, message="No: merger with acme")
    run = of_one(commit_strategy=strategy, profile="health")
    assert run.exit_code != 0
    assert "merger" not in run.text
    assert "GitHub's words are not shown" in run.stdout


@pytest.mark.parametrize("strategy", ["per-file", "single"])
def test_and_without_paths_that_are_not_listed(
    of_one: Start, secret: Repository, action: Action, published: Published, strategy: str
) -> None:
    there = {"docs/SECURITY.md": b"x\n", "merger/LICENSE": b"x\n", "license.md": b"x\n"}
    secret.commit({**there, "CONTRIBUTING.md": b"x\n"})
    entries = [
        {"path": "SECURITY.md"},
        {"path": "LICENSE", "alternatives": ["merger/LICENSE"]},
        {"path": "LICENSE.md"},
        {"path": ".github/CONTRIBUTING.md", "alternatives": []},
    ]
    given = {"definitions": action.document(entries), "commit_strategy": strategy}
    run = of_one(given, mode="plan", respect_alternatives="true")
    report_schema().validate(run.report)
    text = published(run)
    assert not any(path in text for path in ("docs/security.md", "license.md (license.md)"))
    assert "satisfied by …" in run.stdout
    assert "satisfied by merger/license" in text
    assert not any("found_path" in each for each in run.registration["files"])
    assert secret.full_name in text


def test_of_a_public_one_everything_is_said(
    of_one: Start, secret: Repository, action: Action, host: StandInHost
) -> None:
    secret.private = False
    secret.commit({"docs/SECURITY.md": b"x\n"})
    refuse(host, lambda request: not is_read(request), 422, message="No: merger with acme")
    listing = action.listing("SECURITY.md", "x")
    run = of_one(definitions=listing, respect_alternatives="true")
    assert "satisfied by docs/SECURITY.md" in run.stdout
    assert "No: merger with acme" in run.stdout


# --- What the organisation refuses in words that are always the same ---------------------------

LIFETIME = (
    "The 'octo-org' organization forbids access via a fine-grained personal access tokens if the "
    "token's lifetime is greater than 90 days. Please adjust your token's lifetime."
)
LIVES_TOO_LONG = (
    "the organisation, or its enterprise, does not accept a token with such a long lifetime"
)


@pytest.mark.parametrize("strategy", ["per-file", "single"])
def test_a_policy_of_the_organisation_is_a_reason_without_githubs_words(
    of_one: Start, secret: Repository, action: Action, strategy: str
) -> None:
    secret.policy = Refusal(403, LIFETIME)
    run = of_one(definitions=action.listing("a.txt"), commit_strategy=strategy)
    assert run.exit_code == 2
    assert "90 days" not in run.text
    assert f"{LIVES_TOO_LONG} (GitHub's words are not shown" in run.stdout
    assert "#the-organisation-does-not-accept-the-token" in run.stdout


@pytest.mark.parametrize("kind", ["FORBIDDEN", "UNPROCESSABLE", "", None])
def test_and_of_repositories_that_are_only_counted(
    in_public: Start, host: StandInHost, secret: Repository, published: Published, kind: str | None
) -> None:
    """By name with REST, else with GraphQL, where the type of the error is not confirmed."""
    those = secret, host.create_repository("octo-org/private", PRESENT, private=True)
    if kind is None:
        for each in those:
            each.policy = Refusal(403, LIFETIME)
        run = in_public(target_repos=",".join(each.full_name for each in those))
    else:
        error = {"message": LIFETIME, **({"type": kind} if kind else {})}
        refused = [{**error, "path": [what, n]} for what in ("nodes", "pulls") for n in range(2)]
        body = {"data": {"nodes": [None] * 2, "pulls": [None] * 2}, "errors": refused}
        refuse(host, lambda request: "query" in request.fields, 200, body=body)
        run = in_public(target_repos=f"octo-org/*,!{PUBLIC}")
    assert LIVES_TOO_LONG in run.stdout
    assert sum(not_named(run).values()) == 2
    assert "secret" not in published(run)
    assert "90 days" not in published(run)
    assert LIVES_TOO_LONG in run.summary


def test_and_of_the_listing(in_public: Start, host: StandInHost, published: Published) -> None:
    lists = "/orgs/octo-org/repos"
    refuse(host, lambda request: request.path.endswith(lists), 403, message=LIFETIME)
    run = in_public()
    assert run.exit_code == 2
    assert f"{LIVES_TOO_LONG} (GitHub's words are not shown" in run.stdout
    assert "#the-organisation-does-not-accept-the-token" in run.stdout
    assert "90 days" not in published(run)
