"""Many repositories: a run names only repositories that everybody who can read its log may see."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.example import LISTED, PRESENT
from tests.fakehub import Refusal, Repository, Request, StandInHost
from tests.fakehub.answer import Response
from tests.fakehub.representations import node_id
from tests.harness import Action, Run, Start, is_read, meanwhile, refuse, report_schema
from tests.organisation import asked, opened, refuse_writes, rows

WORKFLOW = "octo-org/workflows"
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


def workflow(action: Action, visibility: str = "public") -> dict[str, str]:
    """The environment of a workflow whose repository has this visibility."""
    private, internal = visibility != "public", visibility == "internal"
    action.host.create_repository(WORKFLOW, LISTED, private=private, internal=internal)
    return {"GITHUB_REPOSITORY": WORKFLOW, **action.keeping}


@pytest.fixture
def in_public(many: Start, action: Action) -> Start:
    """The action in a workflow of a public repository: everybody reads what it publishes."""
    return partial(many, env=workflow(action), runner=True)


@pytest.fixture
def in_private(many: Start, action: Action) -> Start:
    """The action in a workflow of a private repository."""
    return partial(many, env=workflow(action, "private"), runner=True)


@pytest.fixture
def published(action: Action) -> Callable[[Run], str]:
    """Everything that a run has published."""

    def text(run: Run) -> str:
        kinds = [kind for kind in ("report", "table", "page") if run.outputs.get(f"{kind}_path")]
        files = (action.kept(run, kind) for kind in kinds)
        return "\n".join([run.text, run.output_file, *files]).lower()

    return text


Published = Callable[[Run], str]


# --- Which repositories are selected --------------------------------------------------------------


def known_by(action: Action, source: str, visibility: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables and the inputs with which a run learns its workflow's visibility."""
    env, event = workflow(action, visibility), dict[str, object]()
    if source == "input":
        env["GITHUB_REPOSITORY"] = "other/gone"
        return env, {"workflow_visibility": visibility}
    if source == "event":
        event = {"visibility": visibility, "private": visibility != "public"}
    if source == "older event":
        event = {"private": visibility != "public"}
    if event:
        env["GITHUB_REPOSITORY"] = "other/gone"
    if source == "request":
        env["GITHUB_REPOSITORY"] = "elsewhere/workflows"
        private, internal = visibility != "public", visibility == "internal"
        action.host.create_repository("elsewhere/workflows", private=private, internal=internal)
    name = action.write("event.json", json.dumps({"repository": event} if event else {}))
    env["GITHUB_EVENT_PATH"] = str(action.workspace / name)
    return env, {}


VISIBLE = {
    "public": {"octo-org/open"},
    "internal": {"octo-org/open", "octo-org/in-house"},
    "private": {"octo-org/open", "octo-org/in-house", "octo-org/top-secret"},
}


@pytest.mark.parametrize("source", ["input", "event", "older event", "listing", "request"])
@pytest.mark.parametrize("visibility", VISIBLE)
def test_a_workflow_selects_what_everybody_may_see_who_can_read_its_log(
    many: Start, action: Action, published: Published, visibility: str, source: str
) -> None:
    host = action.host
    host.create_repository("octo-org/open", PRESENT)
    host.create_repository("octo-org/in-house", PRESENT, private=True, internal=True)
    env, inputs = known_by(action, source, visibility)
    run = many(inputs, env=env, runner=True, target_repos=f"octo-org/*, !{WORKFLOW}").or_fail()
    # An older event calls an internal repository private, too
    visible = VISIBLE[
        "internal" if (source, visibility) == ("older event", "private") else visibility
    ]
    assert rows(run) == dict.fromkeys(visible, "opened")
    text, hidden = published(run), VISIBLE["private"] - visible
    assert not any(name.lower() in text for name in hidden)
    assert opened(host.repositories) == [each.full_name in visible for each in host.repositories]
    excluded = run.report["many"]["budget"]["excluded"]
    assert excluded.get("more_private", 0) == len(hidden)
    remedy = f"more private than the repository with this workflow: {len(hidden)}."
    assert (remedy in run.stdout) is (remedy in run.summary) is bool(hidden)


def test_a_shell_selects_all(many: Start, action: Action, secret: Repository) -> None:
    env = workflow(action)
    run = many(mode="plan", env=env)
    assert rows(run) == {secret.full_name: "to open"}
    # On another CI, whose logs are public
    run = many(mode="plan", env=env, workflow_visibility="public")
    assert rows(run) == {}


STATES: Mapping[str, Mapping[str, object]] = {
    "archived": {"archived": True},
    "forked": {"parent": "octo-org/other"},
    "empty": {"empty": True},
    "disabled": {"disabled": True},
    "locked": {"locked": True},
    "without pull requests": {"has_pull_requests": False},
    "without the topic": {},
}


@pytest.mark.parametrize("mode", ["plan", "register", "check"])
@pytest.mark.parametrize("state", STATES)
def test_a_private_repository_that_would_be_left_out_anyway_is_not_named_either(
    in_public: Start, action: Action, published: Published, mode: str, state: str
) -> None:
    action.host.create_repository("octo-org/other", PRESENT)
    more = {"private": True, **STATES[state]}
    action.host.create_repository("octo-org/old-secret", **more)  # type: ignore[arg-type]
    topics = ", -topic:secret" if state == "without the topic" else ""
    run = in_public(mode=mode, target_repos=f"octo-org/*{topics}")
    assert "secret" not in published(run).replace("-topic:secret", "")
    assert run.report["many"]["budget"]["excluded"] == {"more_private": 2}
    assert "<p>more private than this workflow 2</p>" in action.kept(run, "page")


def test_one_that_is_given_by_name_is_left_out_and_not_shown(
    in_public: Start, published: Published, secret: Repository
) -> None:
    run = in_public(target_repos=secret.full_name)
    assert run.exit_code == 2
    assert "more private than this workflow 1" in run.stderr + run.stdout
    assert "secret" not in published(run)


def test_a_name_that_is_not_found_is_shown_as_it_was_typed(in_public: Start) -> None:
    run = in_public(target_repos="octo-org/Gone")
    assert (run.exit_code, rows(run)) == (1, {"octo-org/Gone": "failed"})
    assert "octo-org/Gone" in run.summary


def test_a_property_of_a_private_repository_is_not_proposed(
    in_public: Start, host: StandInHost, published: Published
) -> None:
    host.create_repository("octo-org/open", PRESENT, properties={"tier": "gold"})
    run = in_public(target_repos="octo-org/*, property:teams=x")
    assert "did you mean" not in published(run)
    assert "team " not in published(run)


# --- A visibility that cannot be learnt -----------------------------------------------------------

UNKNOWN: Mapping[str, Mapping[str, str]] = {
    "no repository": {},
    "a repository that the token may not read": {"GITHUB_REPOSITORY": "elsewhere/workflows"},
    "another host": {
        "GITHUB_REPOSITORY": WORKFLOW,
        "GITHUB_API_URL": "https://github.example.com/api/v3",
    },
}


@pytest.mark.parametrize("mode", ["plan", "register"])
@pytest.mark.parametrize("where", UNKNOWN)
def test_without_the_visibility_a_run_that_would_lose_repositories_ends_before_the_reading(
    many: Start, action: Action, published: Published, where: str, mode: str
) -> None:
    """A green run over fewer repositories than yesterday would go unnoticed."""
    host = action.host
    host.create_repository("octo-org/open", PRESENT)
    host.create_repository("octo-org/old-secret", private=True, archived=True)
    host.create_repository("elsewhere/workflows", private=True)
    visible = ["octo-org/open", "octo-org/top-secret", "octo-org/old-secret"]
    only = host.create_token("installation", repositories=visible)
    start = partial(many, mode=mode, host_token=only, env=UNKNOWN[where], runner=True)
    run = start()
    assert run.exit_code == 2
    assert "workflow_visibility" in run.stderr + run.stdout
    assert "nodes" not in asked(host)
    assert "secret" not in published(run)
    # Without a repository that would be lost, and with the input, it runs
    assert start(target_repos="octo-org/open").exit_code == 0
    assert start(target_repos="octo-org/open, octo-org/old-secret").exit_code == 0
    assert len(rows(start(workflow_visibility="private"))) == 2
    assert len(rows(start(workflow_visibility="public", target_repos="octo-org/*"))) == 1


@pytest.mark.parametrize("whose", ["the workflow's", "a repository's"])
def test_a_visibility_of_a_new_kind_counts_as_not_known_or_as_private(
    many: Start, host: StandInHost, published: Published, whose: str
) -> None:
    host.create_repository("octo-org/open", PRESENT)
    host.create_repository("octo-org/partners-secret", PRESENT)
    host.create_repository("elsewhere/workflows")
    changed = {
        "the workflow's": "elsewhere/workflows",
        "a repository's": "octo-org/partners-secret",
    }

    def of_a_new_kind(_request: Request, answer: Response) -> Response:
        for each in answer.body if isinstance(answer.body, list) else [answer.body]:
            if each["full_name"] == changed[whose]:
                each["visibility"] = "partners"
        return answer

    host.faults.change(of_a_new_kind, lambda request: "repos" in request.path)
    run = many(env={"GITHUB_REPOSITORY": "elsewhere/workflows"}, runner=True)
    if whose == "a repository's":
        assert rows(run.or_fail()) == {"octo-org/open": "opened"}
        assert "secret" not in published(run)
    else:
        assert (run.exit_code, "workflow_visibility" in run.stdout) == (2, True)


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
    env = {"GITHUB_REPOSITORY": WORKFLOW, "GITHUB_EVENT_PATH": str(path)}
    run = in_private(mode="plan", env=env).or_fail()
    assert "octo-org/top-secret" in run.stdout


# --- Repositories that turn private during a run --------------------------------------------------


@pytest.mark.parametrize("before", ["nodes", "query", "mutation", "pulls"])
def test_one_that_turns_private_is_left_out_or_left_alone_and_its_new_name_is_not_told(
    in_public: Start, host: StandInHost, before: str, published: Published
) -> None:
    other = host.create_repository("octo-org/other", PRESENT)
    moved = host.create_repository("octo-org/alpha", PRESENT)
    if before == "pulls":
        host.refused_mutations = {"createPullRequest": Refusal(422, "Not at once")}
        before = f"POST /repositories/{moved.id}/pulls"

    def hide() -> None:
        moved.person.rename("octo-org/even-more-secret")
        moved.person.change(private=True)

    def is_moment(request: Request) -> bool:
        is_about_it = before != "mutation" or node_id("R", moved.id) in str(request.json)
        return asked(host)[-1] == before and is_about_it

    meanwhile(host, is_moment, hide)
    run = in_public()
    written = before not in {"nodes", "query"}
    assert (run.exit_code, opened([other, moved])) == (0, [1, int(written)])
    assert "secret" not in published(run)
    state = {"nodes": {}, "query": {"octo-org/alpha": "deferred"}}
    expected = state.get(before, {"octo-org/alpha": "opened"})
    assert rows(run) == {other.full_name: "opened", **expected}
    # The next run does not name it at all
    again = in_public()
    assert "alpha" not in published(again)


@pytest.mark.parametrize("last", ["description", "closing", "withdrawal", "reviewers"])
def test_the_last_answer_may_describe_a_private_repository_with_another_name(
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
            moved.person.commit({"a.md": b"old\n"})
        else:
            action.listing_of({"a.md": "new\n"})

    hidden: list[Request] = []

    def hide(request: Request) -> None:
        if not is_read(request) and request.path == path:
            hidden.append(request)
            moved.person.rename("octo-org/even-more-secret")
            moved.person.change(private=True)

    host.on_request = hide
    run = in_public(given, mode="withdraw" if last == "withdrawal" else "register")
    assert (run.exit_code, len(hidden)) == (0, 1), run.console
    assert "secret" not in published(run)


# --- GitHub's own words ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (403, "Resource not accessible by integration"),
        (422, "No: octo-org/top-secret"),
        (500, "octo-org%2Ftop-secret"),
    ],
)
def test_githubs_words_are_not_shown_in_a_public_workflow(
    in_public: Start, host: StandInHost, published: Published, status: int, words: str
) -> None:
    """They may name any repository."""
    host.create_repository("octo-org/open", PRESENT)
    refuse(host, lambda request: not is_read(request), status, message=words)
    run = in_public(max_wait_minutes="0" if status == 500 else "1")
    assert run.exit_code == 1
    assert not any(word in published(run) for word in ("secret", words.lower()))
    assert rows(run)["octo-org/open"] in {"failed", "deferred"}


@pytest.mark.parametrize(
    ("status", "words", "remedy"),
    [
        (422, "must be a collaborator", "only collaborators may open pull requests"),
        (409, "Secret detected in content", "push protection takes a part of the content"),
        (422, "refusing to allow a GitHub App to create workflow `secret`", "`workflow`, and a"),
        (409, "Rule violations: File path is restricted (secret)", "a push ruleset forbids"),
    ],
)
def test_the_remedy_is_shown_without_githubs_words(
    in_public: Start, host: StandInHost, published: Published, status: int, words: str, remedy: str
) -> None:
    host.create_repository("octo-org/open", PRESENT)
    refuse(host, lambda request: not is_read(request), status, message=words)
    run = in_public()
    assert run.exit_code == 1
    assert remedy in run.stdout
    assert words.lower() not in published(run)


def test_githubs_words_are_shown_where_only_those_read_who_may(
    in_private: Start, host: StandInHost
) -> None:
    env = {"GITHUB_REPOSITORY": WORKFLOW}
    refuse_writes(host, lambda repository: f"No: {repository.name}")
    run = in_private(workflow_visibility="private", env=env)
    assert "No: top-secret" in run.stdout
    # Before the first line nothing else tells who reads the log
    assert "No: top-secret" not in in_private(env=env).stdout


@pytest.mark.parametrize("event", ["public", "internal", None, "private"])
def test_what_github_says_while_repositories_are_listed_may_hold_a_private_name(
    many: Start, host: StandInHost, action: Action, event: str | None
) -> None:
    env = {"GITHUB_REPOSITORY": "octo-org/workflows"}
    if event:
        payload = {"repository": {"private": event != "public", "visibility": event}}
        path = action.workspace / action.write("event.json", json.dumps(payload))
        env["GITHUB_EVENT_PATH"] = str(path)
    refuse(host, "GET /orgs/octo-org/repos", 403, message="octo-org/top-secret is locked")
    run = many(env=env, runner=True)
    assert run.exit_code != 0
    assert ("top-secret" in run.stdout) is (event == "private")


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
    secret.person.commit({**there, "CONTRIBUTING.md": b"x\n"})
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


def test_a_path_that_is_no_longer_listed_is_not_told_where_it_conflicts(
    of_one: Start, secret: Repository, action: Action, published: Published
) -> None:
    of_one(definitions=action.listing("merger.md", "b.md")).or_fail()
    secret.person.commit({"merger.md": b"x\n"})
    run = of_one(definitions=action.listing("b.md"), mode="check")
    assert "conflicts with the base branch in: …" in run.stdout
    assert "merger" not in published(run)


def test_of_a_public_one_everything_is_said(
    of_one: Start, secret: Repository, action: Action, host: StandInHost
) -> None:
    secret.person.change(private=False)
    secret.person.commit({"docs/SECURITY.md": b"x\n"})
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
    secret.person.change(policy=Refusal(403, LIFETIME))
    run = of_one(definitions=action.listing("a.txt"), commit_strategy=strategy)
    assert run.exit_code == 2
    assert "90 days" not in run.text
    assert f"{LIVES_TOO_LONG} (GitHub's words are not shown" in run.stdout
    assert "#the-organisation-does-not-accept-the-token" in run.stdout


def test_and_of_the_listing(in_public: Start, host: StandInHost, published: Published) -> None:
    lists = "/orgs/octo-org/repos"
    refuse(host, lambda request: request.path.endswith(lists), 403, message=LIFETIME)
    run = in_public()
    assert run.exit_code == 2
    assert f"{LIVES_TOO_LONG} (GitHub's words are not shown" in run.stdout
    assert "#the-organisation-does-not-accept-the-token" in run.stdout
    assert "90 days" not in published(run)
