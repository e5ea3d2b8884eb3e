"""Many repositories: a run names only repositories that everybody who can read its log may see."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.example import LISTED, PRESENT
from tests.fakehub import Refusal, Repository, Request
from tests.fakehub.answer import Response
from tests.fakehub.representations import node_id
from tests.harness import SINGLE, Action, Run, Start, meanwhile
from tests.organisation import Org, is_write, refuse_writes, rows

WORKFLOW = "octo-org/workflows"
pytestmark = pytest.mark.usefixtures("secret")


@pytest.fixture
def secret(org: Org) -> Repository:
    """A private repository that lacks files."""
    return org.host.create_repository(
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
def in_public(org: Org) -> Start:
    """The action in a workflow of a public repository: everybody reads what it publishes."""
    return partial(org, env=workflow(org.action), runner=True)


@pytest.fixture
def in_private(org: Org) -> Start:
    """The action in a workflow of a private repository."""
    return partial(org, env=workflow(org.action, "private"), runner=True)


def published(org: Org, run: Run) -> str:
    """Everything that a run has published."""
    kinds = [kind for kind in ("report", "table", "page") if run.outputs.get(f"{kind}_path")]
    files = (org.action.kept(run, kind) for kind in kinds)
    return "\n".join([run.text, run.output_file, *files]).lower()


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


@pytest.mark.parametrize(
    ("source", "visibility"),
    [
        *((each, "internal") for each in ("input", "event", "older event", "listing", "request")),
        ("older event", "public"),
        ("event", "private"),
        ("listing", "public"),
    ],
)
def test_a_workflow_selects_what_its_readers_may_see(
    org: Org, source: str, visibility: str
) -> None:
    """An older event calls an internal repository private; so it counts as internal."""
    org.add("open")
    org.host.create_repository("octo-org/in-house", PRESENT, private=True, internal=True)
    env, inputs = known_by(org.action, source, visibility)
    run = org(inputs, env=env, runner=True, target_repos=f"octo-org/*, !{WORKFLOW}").or_fail()
    visible = VISIBLE[visibility]
    assert rows(run) == dict.fromkeys(visible, "opened")
    text, hidden = published(org, run), VISIBLE["private"] - visible
    assert not any(name.lower() in text for name in hidden)
    assert org.opened == [each.full_name in visible for each in org.host.repositories]
    excluded = run.report["many"]["budget"]["excluded"]
    assert excluded.get("more_private", 0) == len(hidden)
    remedy = f"more private than the repository with this workflow: {len(hidden)}."
    assert (remedy in run.stdout) is (remedy in run.summary) is bool(hidden)


def test_a_shell_selects_all(org: Org, secret: Repository) -> None:
    env = workflow(org.action)
    assert rows(org(mode="plan", env=env)) == {secret.full_name: "to open"}
    # On another CI, whose logs are public
    assert rows(org(mode="plan", env=env, workflow_visibility="public")) == {}


STATES: Mapping[str, Mapping[str, object]] = {
    "archived": {"archived": True},
    "forked": {"parent": "octo-org/other"},
    "empty": {"empty": True},
    "disabled": {"disabled": True},
    "locked": {"locked": True},
    "without pull requests": {"has_pull_requests": False},
    "without the topic": {},
}


def test_private_repositories_that_would_be_left_out_anyway_are_not_named_either(
    org: Org, in_public: Start
) -> None:
    org.host.create_repository("octo-org/other", PRESENT, topics=["open"])
    for state, more in STATES.items():
        topics = ["closed" if state == "without the topic" else "open"]
        name = f"octo-org/secret-{state.replace(' ', '-')}"
        org.host.create_repository(name, private=True, topics=topics, **more)  # type: ignore[arg-type]
    run = in_public(target_repos="octo-org/*, -topic:closed")
    assert rows(run).keys() == {"octo-org/other"}
    assert "secret" not in published(org, run)
    assert run.report["many"]["budget"]["excluded"] == {"more_private": 1 + len(STATES)}
    assert "<p>more private than this workflow 8</p>" in org.action.kept(run, "page")


def test_one_that_is_given_by_name_is_left_out_and_not_shown(org: Org, in_public: Start) -> None:
    run = in_public(target_repos="octo-org/top-secret")
    assert (run.exit_code, "secret" in published(org, run)) == (2, False)
    assert "more private than this workflow 1" in run.console


def test_a_name_that_is_not_found_is_shown_as_it_was_typed(in_public: Start) -> None:
    run = in_public(target_repos="octo-org/Gone")
    assert (run.exit_code, rows(run)) == (1, {"octo-org/Gone": "failed"})
    assert "octo-org/Gone" in run.summary


def test_a_property_of_a_private_repository_is_not_proposed(org: Org, in_public: Start) -> None:
    org.host.create_repository("octo-org/open", PRESENT, properties={"tier": "gold"})
    text = published(org, in_public(target_repos="octo-org/*, property:teams=x"))
    assert not any(words in text for words in ("did you mean", "team "))


# --- A visibility that cannot be learnt -----------------------------------------------------------

UNKNOWN: Mapping[str, Mapping[str, str]] = {
    "no repository": {},
    "a repository that the token may not read": {"GITHUB_REPOSITORY": "elsewhere/workflows"},
    "another host": {
        "GITHUB_REPOSITORY": WORKFLOW,
        "GITHUB_API_URL": "https://github.example.com/api/v3",
    },
}


@pytest.mark.parametrize("where", UNKNOWN)
def test_without_the_visibility_a_run_that_would_lose_repositories_ends_before_the_reading(
    org: Org, where: str
) -> None:
    """A green run over fewer repositories than yesterday would go unnoticed."""
    org.add("open")
    org.host.create_repository("octo-org/old-secret", private=True, archived=True)
    org.host.create_repository("elsewhere/workflows", private=True)
    visible = ["octo-org/open", "octo-org/top-secret", "octo-org/old-secret"]
    only = org.host.create_token("installation", repositories=visible)
    start = partial(org, host_token=only, env=UNKNOWN[where], runner=True)
    run = start()
    assert (run.exit_code, "workflow_visibility" in run.console) == (2, True)
    assert "nodes" not in org.asked
    assert "secret" not in published(org, run)
    # Without a repository that would be lost, and with the input, it runs
    assert start(target_repos="octo-org/open").exit_code == 0
    assert start(target_repos="octo-org/open, octo-org/old-secret").exit_code == 0
    assert len(rows(start(workflow_visibility="private"))) == 2
    assert len(rows(start(workflow_visibility="public", target_repos="octo-org/*"))) == 1


@pytest.mark.parametrize("whose", ["elsewhere/workflows", "octo-org/partners-secret"])
def test_a_visibility_of_a_new_kind_counts_as_not_known_or_as_private(org: Org, whose: str) -> None:
    """That of the workflow, or of another repository."""
    for name in ("octo-org/open", "octo-org/partners-secret", "elsewhere/workflows"):
        org.host.create_repository(name, PRESENT)

    def of_a_new_kind(_request: Request, answer: Response) -> Response:
        for each in answer.body if isinstance(answer.body, list) else [answer.body]:
            if each["full_name"] == whose:
                each["visibility"] = "partners"
        return answer

    org.host.faults.change(of_a_new_kind, lambda request: "repos" in request.path)
    run = org(env={"GITHUB_REPOSITORY": "elsewhere/workflows"}, runner=True)
    if whose == "elsewhere/workflows":
        assert (run.exit_code, "workflow_visibility" in run.stdout) == (2, True)
    else:
        assert rows(run.or_fail()) == {"octo-org/open": "opened"}
        assert "secret" not in published(org, run)


@pytest.mark.parametrize("kind", ["pipe", "endless", "too large", "directory"])
def test_an_event_that_is_no_file_is_no_event(org: Org, in_private: Start, kind: str) -> None:
    path = org.action.workspace / "event"
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
    assert "octo-org/top-secret" in in_private(mode="plan", env=env).or_fail().stdout


# --- Repositories that turn private during a run --------------------------------------------------


def hide(repository: Repository) -> None:
    repository.person.rename("octo-org/even-more-secret")
    repository.person.change(private=True)


@pytest.mark.parametrize("before", ["nodes", "query", "mutation", "pulls"])
def test_one_that_turns_private_is_left_out_or_left_alone_and_its_new_name_is_not_told(
    org: Org, in_public: Start, before: str
) -> None:
    other, moved = org.add("other"), org.add("alpha")
    if before == "pulls":
        org.host.refused_mutations = {"createPullRequest": Refusal(422, "Not at once")}
        before = f"POST /repositories/{moved.id}/pulls"

    def is_moment(request: Request) -> bool:
        is_about_it = before != "mutation" or node_id("R", moved.id) in str(request.json)
        return org.asked[-1] == before and is_about_it

    meanwhile(org.host, is_moment, lambda: hide(moved))
    run = in_public()
    written = before not in {"nodes", "query"}
    assert (run.exit_code, len(moved.pull_requests)) == (0, int(written))
    assert "secret" not in published(org, run)
    state = {"nodes": {}, "query": {"octo-org/alpha": "deferred"}}
    expected = state.get(before, {"octo-org/alpha": "opened"})
    assert rows(run) == {other.full_name: "opened", **expected}
    # The next run does not name it at all
    assert "alpha" not in published(org, in_public())


@pytest.mark.parametrize("last", ["description", "closing", "withdrawal", "reviewers"])
def test_the_last_answer_may_describe_a_private_repository_with_another_name(
    org: Org, in_public: Start, last: str
) -> None:
    """The last writes of a run: a description, the end of a needless one, reviewers."""
    moved, action = org.add("alpha"), org.action
    given = {"definitions": action.listing_of({"a.md": "old\n"})}
    path = f"/repositories/{moved.id}/pulls/1"
    if last == "reviewers":
        given, path = {**given, "reviewers": "monalisa"}, f"{path}/requested_reviewers"
    else:
        in_public(given)
        if last == "closing":
            moved.person.commit({"a.md": b"old\n"})
        else:
            action.listing_of({"a.md": "new\n"})
    meanwhile(org.host, lambda r: is_write(r) and r.path == path, lambda: hide(moved))
    run = in_public(given, mode="withdraw" if last == "withdrawal" else "register")
    assert (run.exit_code, moved.name) == (0, "even-more-secret"), run.console
    assert "secret" not in published(org, run)


# --- GitHub's own words ---------------------------------------------------------------------------


LIFETIME = (
    "The 'octo-org' organization forbids access via a fine-grained personal access tokens if the "
    "token's lifetime is greater than 90 days. Please adjust your token's lifetime."
)
LIVES_TOO_LONG = (
    "the organisation, or its enterprise, does not accept a token with such a long lifetime "
    "(GitHub's words are not shown"
)
OF_THE_POLICY = "#the-organisation-does-not-accept-the-token"


@pytest.mark.parametrize(
    ("status", "words", "remedy"),
    [
        # They may name any repository
        (403, "Resource not accessible by integration", ""),
        (422, "No: octo-org/top-secret", ""),
        (500, "octo-org%2Ftop-secret", ""),
        (422, "must be a collaborator", "only collaborators may open pull requests"),
        (409, "Secret detected in content", "push protection takes a part of the content"),
        (422, "refusing to allow a GitHub App to create workflow `secret`", "`workflow`, and a"),
        (409, "Rule violations: File path is restricted (secret)", "a push ruleset forbids"),
    ],
)
def test_a_remedy_is_shown_in_a_public_workflow_without_githubs_words(
    org: Org, in_public: Start, status: int, words: str, remedy: str
) -> None:
    org.add("open")
    org.refuse(is_write, status, message=words)
    run = in_public()
    assert (run.exit_code, remedy in run.stdout) == (1, True), run.stdout
    assert not any(each in published(org, run) for each in ("top-secret", words.lower()))
    assert rows(run)["octo-org/open"] in {"failed", "deferred"}


def test_a_policy_about_the_listing_is_told_without_githubs_words(
    org: Org, in_public: Start
) -> None:
    org.refuse(lambda r: r.path.endswith("/orgs/octo-org/repos"), 403, message=LIFETIME)
    run = in_public()
    assert (run.exit_code, "90 days" in published(org, run)) == (2, False)
    assert all(words in run.stdout for words in (LIVES_TOO_LONG, OF_THE_POLICY))


def test_githubs_words_are_shown_where_only_those_read_who_may(org: Org, in_private: Start) -> None:
    env = {"GITHUB_REPOSITORY": WORKFLOW}
    refuse_writes(org.host, lambda repository: f"No: {repository.name}")
    assert "No: top-secret" in in_private(workflow_visibility="private", env=env).stdout
    # Before the first line nothing else tells who reads the log
    assert "No: top-secret" not in in_private(env=env).stdout


@pytest.mark.parametrize("event", ["internal", None, "private"])
def test_githubs_words_during_the_listing_may_hold_a_private_name(
    org: Org, event: str | None
) -> None:
    env = {"GITHUB_REPOSITORY": WORKFLOW}
    if event:
        payload = {"repository": {"private": True, "visibility": event}}
        name = org.action.write("event.json", json.dumps(payload))
        env["GITHUB_EVENT_PATH"] = str(org.action.workspace / name)
    org.refuse("GET /orgs/octo-org/repos", 403, message="octo-org/top-secret is locked")
    run = org(env=env, runner=True)
    assert run.exit_code != 0
    assert ("top-secret" in run.stdout) is (event == "private")


# --- One repository that the workflow names ---------------------------------------------------


@pytest.fixture
def of_one(action: Action, secret: Repository, strategy: str) -> Start:
    """A run about the private repository alone, in a workflow of a public one."""
    given = {"target_repo": secret.full_name, "commit_strategy": strategy, "language": "en"}
    return partial(action, **given, env=workflow(action), runner=True)


with_single = pytest.mark.parametrize("strategy", [SINGLE])
"""Both strategies take what is published from the same function."""


def test_the_one_that_the_workflow_names_has_its_lines_without_githubs_words(
    org: Org, of_one: Start, secret: Repository
) -> None:
    listing = org.action.listing("a.txt", "b.txt")
    org.refuse(is_write, 422, message="No: merger with acme")
    run = of_one(definitions=listing)
    assert run.exit_code != 0
    assert secret.full_name in run.stdout
    assert "merger" not in run.text
    assert "GitHub's words are not shown" in run.stdout
    org.host.faults.clear()
    run = of_one(definitions=listing)
    assert (run.exit_code, run.outputs["created"]) == (0, "2")
    assert run.outputs["pull_request_url"].endswith("octo-org/top-secret/pull/1")


@with_single
def test_a_workflow_on_another_host_is_not_that_of_a_repository_of_its_name(
    org: Org, of_one: Start, secret: Repository
) -> None:
    name = secret.full_name
    env = {"GITHUB_REPOSITORY": name, "GITHUB_API_URL": "https://api.github.com/"}
    env |= {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "1"}
    given = {"definitions": org.action.listing("a.txt"), "title": "By {run_url}."}
    org.refuse(is_write, 422, message="No: merger with acme")
    assert "merger" not in of_one(given, env=env).text
    org.host.faults.clear()
    assert of_one(given, env=env).exit_code == 0
    [pull] = secret.pull_requests
    assert (pull.title, name in (pull.body or "")) == ("By .", False)


def test_what_github_says_to_the_first_request_is_not_shown_either(org: Org, of_one: Start) -> None:
    org.refuse(lambda request: True, 403, message="No: merger with acme")
    run = of_one(profile="health")
    assert (run.exit_code != 0, "merger" in run.text) == (True, False)
    assert "GitHub's words are not shown" in run.stdout


@with_single
def test_and_without_paths_that_are_not_listed(org: Org, of_one: Start, secret: Repository) -> None:
    there = {"docs/SECURITY.md": b"x\n", "merger/LICENSE": b"x\n", "license.md": b"x\n"}
    secret.person.commit({**there, "CONTRIBUTING.md": b"x\n"})
    entries = [
        {"path": "SECURITY.md"},
        {"path": "LICENSE", "alternatives": ["merger/LICENSE"]},
        {"path": "LICENSE.md"},
        {"path": ".github/CONTRIBUTING.md", "alternatives": []},
    ]
    listed = org.action.document(entries)
    run = of_one(definitions=listed, mode="plan", respect_alternatives="true")
    text = published(org, run)
    assert not any(path in text for path in ("docs/security.md", "license.md (license.md)"))
    assert "satisfied by …" in run.stdout
    assert "satisfied by merger/license" in text
    assert not any("found_path" in each for each in run.registration["files"])
    assert secret.full_name in text


@with_single
def test_a_path_that_is_no_longer_listed_is_not_told_where_it_conflicts(
    org: Org, of_one: Start, secret: Repository
) -> None:
    of_one(definitions=org.action.listing("merger.md", "b.md")).or_fail()
    secret.person.commit({"merger.md": b"x\n"})
    run = of_one(definitions=org.action.listing("b.md"), mode="check")
    assert "conflicts with the base branch in: …" in run.stdout
    assert "conflict in …" in org.action.kept(run, "page")
    assert "merger" not in published(org, run)


@with_single
def test_of_a_public_one_everything_is_said(org: Org, of_one: Start, secret: Repository) -> None:
    secret.person.change(private=False)
    secret.person.commit({"docs/SECURITY.md": b"x\n"})
    org.refuse(is_write, 422, message="No: merger with acme")
    run = of_one(definitions=org.action.listing("SECURITY.md", "x"), respect_alternatives="true")
    assert "satisfied by docs/SECURITY.md" in run.stdout
    assert "No: merger with acme" in run.stdout


def test_a_policy_is_told_without_githubs_words(
    org: Org, of_one: Start, secret: Repository
) -> None:
    secret.person.change(policy=Refusal(403, LIFETIME))
    run = of_one(definitions=org.action.listing("a.txt"))
    assert (run.exit_code, "90 days" in run.text) == (2, False)
    assert all(words in run.stdout for words in (LIVES_TOO_LONG, OF_THE_POLICY))
