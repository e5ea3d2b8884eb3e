"""Many repositories: what a public workflow publishes of private ones."""

from __future__ import annotations

import html
import json
import os
import re
import time
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.example import LISTED, PRESENT
from tests.fakehub import Refusal, Repository, Request, StandInHost
from tests.harness import SCAFFOLD_BRANCH, Action, Start, is_read, refuse, report_schema
from tests.organisation import Make, asked, opened, refuse_writes, rows, states

PUBLIC = "octo-org/workflows"
MISTAKE = {
    "path": "CODEOWNERS",
    "line": 1,
    "column": 3,
    "kind": "Unknown owner",
    "source": "* @o/merger-team",
    "suggestion": "@o/merger-team",
    "message": "* @o/merger-team",
}


@pytest.fixture
def secret(host: StandInHost) -> Repository:
    """A private repository that lacks files."""
    return host.create_repository("octo-org/top-secret", PRESENT, private=True)


@pytest.fixture
def in_public(many: Start, host: StandInHost, secret: Repository) -> Start:
    """The action in a workflow of a public repository: everybody reads what it publishes."""
    assert secret.private
    host.create_repository(PUBLIC, LISTED)
    return partial(many, env={"GITHUB_REPOSITORY": PUBLIC}, runner=True)


@pytest.fixture
def in_private(many: Start, host: StandInHost, secret: Repository, tmp_path: Path) -> Start:
    """The action in a workflow of a private repository, where a report is left."""
    assert secret.private
    host.create_repository(PUBLIC, LISTED, private=True)
    return partial(many, env={"GITHUB_REPOSITORY": PUBLIC, "RUNNER_TEMP": str(tmp_path)})


def report_in(folder: Path) -> str:
    """The only report that a run has left there."""
    [report] = folder.glob("registrar-report-*.json")
    return report.read_text("utf-8")


@pytest.mark.parametrize("event", [{"repository": {"private": False}}, {"schedule": "0 0"}, None])
@pytest.mark.parametrize("mode", ["plan", "register"])
def test_a_public_workflow_publishes_no_private_name(
    in_public: Start, make: Make, secret: Repository, action: Action, event: object, mode: str
) -> None:
    internal = action.host.create_repository(
        "octo-org/in-house", PRESENT, private=True, internal=True
    )
    [public] = make(0, 1)
    secret.protect("chore/*", "ruleset")
    env = {"GITHUB_REPOSITORY": PUBLIC}
    if event:
        name = action.write("event.json", json.dumps(event))
        env["GITHUB_EVENT_PATH"] = str(action.workspace / name)
    run = in_public(mode=mode, env=env)
    for name in ("top-secret", "in-house"):
        assert name not in run.text.lower()
    numbers = [f"octo-org/(id {each.id})" for each in (secret, internal)]
    assert numbers[0] in run.summary
    assert set(rows(run)) == {*numbers, public.full_name}
    if mode == "register":
        [pull] = internal.pull_requests
        assert "(id " not in f"{pull.title} {pull.body}"


def test_what_is_published_of_a_private_repository_can_be_read(
    in_public: Start, secret: Repository, action: Action
) -> None:
    """The number of its pull request, and what of a listed path is in the way."""
    secret.commit({"docs": b"theirs"})
    run = in_public(definitions=action.listing("a.txt", "docs/b.txt"))
    [row] = [line for line in run.summary.splitlines() if f"(id {secret.id})` | failed" in line]
    assert "failed: `#1` (`docs/b.txt` was not created: `docs` is not a directory" in row
    assert "top-secret" not in run.text
    secret.close(1)
    again = in_public(definitions=action.listing("a.txt"), mode="plan")
    assert f"octo-org/(id {secret.id}): nothing to propose (declined: 1): #1" in again.lines


def test_a_path_of_a_public_repository_is_not_told_of_a_private_one(
    in_public: Start, make: Make, secret: Repository
) -> None:
    [public] = make(0, 1)
    in_public()
    for each in (public, secret):
        each.commit({"unlisted.md": b"theirs\n"}, branch=SCAFFOLD_BRANCH)
    run = in_public(mode="withdraw")
    told = re.findall(r"on its branch: (.*)\n  Repositories: (.*)", run.stdout)
    private = ("…", f"octo-org/(id {secret.id})#1")
    assert sorted(told) == sorted([("unlisted.md", f"{public.full_name}#1"), private])


@pytest.mark.parametrize(
    "texts",
    [
        {"branch": "add/{repo}", "title": "Files for {repo}"},
        {"branch": "{repo}", "title": "{repo} von {owner}: {count} für Ämter"},
        {"branch": "{owner}-{repo}-{profile}", "title": "{count} {repo} ({repo})"},
    ],
)
def test_what_is_made_of_a_private_name_is_not_published(
    in_public: Start, host: StandInHost, texts: dict[str, str]
) -> None:
    names = ("secret", "secret-2", "secret-service", "in-house", ".private")
    made = [host.create_repository(f"octo-org/{name}", PRESENT, private=True) for name in names]
    public = host.create_repository("octo-org/in-house-2", PRESENT)
    made[0].protect("*", "ruleset")
    made[0].protect("*/*", "ruleset")
    shown = [in_public(texts, mode="plan")]
    for each in made[1:3]:
        branch = texts["branch"].format(owner="octo-org", repo=each.name, profile="scaffold")
        each.create_branch(branch)
        each.commit({"x": b"theirs"}, branch=branch)
    # Not at once, so that the title becomes a part of an address in the error
    refused = refuse(host, lambda r: r.method == "POST" and r.path.endswith("/pulls"), 403)
    refused.times = 2
    host.refused_mutations = {"createPullRequest": Refusal(422, "Not at once")}
    shown += [in_public(texts), in_public(texts)]
    for run in shown:
        text = run.text.replace(public.name, "")
        for name in ("secret", "in-house", ".private"):
            assert name not in text.lower()
        assert public.full_name in run.text
    branches = {each["branch"] for each in shown[2].report["registrations"]}
    assert f"{texts['branch']}-2" in branches


@pytest.mark.parametrize("has_public", [True, False])
def test_what_a_plan_shows_is_no_private_repositorys(
    in_public: Start, make: Make, secret: Repository, action: Action, has_public: bool
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
    assert "secret" not in run.text
    assert "octo-org/(id " in run.summary
    assert "%28id" not in run.summary, "a link that leads nowhere"


def test_a_workflow_of_an_unknown_repository_publishes_no_private_name(
    many: Start, secret: Repository
) -> None:
    run = many(mode="plan", runner=True)
    assert set(rows(run)) == {f"octo-org/(id {secret.id})"}
    assert "top-secret" not in run.text.lower()


@pytest.mark.parametrize("before", ["nodes", "mutation"])
def test_a_name_that_is_new_since_the_list_is_not_published_either(
    in_public: Start, host: StandInHost, secret: Repository, before: str
) -> None:
    def rename(_: Request) -> None:
        if asked(host)[-1] == before:
            host.on_request = None
            secret.rename("octo-org/even-more-secret")

    host.on_request = rename
    run = in_public()
    assert len(secret.pull_requests) == 1
    assert "secret" not in run.text.lower()


@pytest.mark.parametrize("private", [True, False])
def test_names_are_shown_where_only_those_read_who_may(
    in_private: Start, tmp_path: Path, private: bool
) -> None:
    # Off the runner, nobody else reads what is printed
    run = (
        in_private(mode="plan")
        if private
        else in_private(mode="plan", env={"RUNNER_TEMP": str(tmp_path)})
    )
    for text in (run.stdout, run.summary, report_in(tmp_path)):
        assert "octo-org/top-secret" in text


def test_no_private_name_is_in_an_output_whoever_reads_the_log(
    in_private: Start, secret: Repository
) -> None:
    run = in_private(branch="add/{repo}")
    assert "octo-org/top-secret" in run.stdout
    assert "top-secret" not in run.output_file
    assert rows(run) == {f"octo-org/(id {secret.id})": "opened"}


def test_of_a_private_repository_outputs_have_listed_paths_and_their_states_only(
    in_private: Start, host: StandInHost, action: Action, tmp_path: Path
) -> None:
    """A branch, a file beside the listed one, GitHub's words: each may tell what it is about."""
    files = {"CODEOWNERS": b"* @o/merger-team", "merger/LICENSE": b"merger\n"}
    made = host.create_repository("octo-org/x", files, private=True, default_branch="merger-main")
    made.codeowners_errors = [MISTAKE]
    entry = {"path": "LICENSE", "alternatives": ["merger/LICENSE"]}
    listing = action.document([entry, ".github/CODEOWNERS", "x"])
    run = in_private(
        mode="check",
        fail_on="invalid",
        respect_alternatives="true",
        target_repos=made.full_name,
        definitions=listing,
    )
    assert "merger-team" in report_in(tmp_path)
    assert "merger-" not in run.output_file
    [registration] = run.report["registrations"]
    assert (registration["base_branch"], registration["invalid"]) == (None, 1)
    assert registration["codeowners"] == []
    for file in registration["files"]:
        assert {"found_path", "blob"}.isdisjoint(file)
    run = in_private(target_repos=made.full_name, definitions=listing)
    [registration] = run.report["registrations"]
    assert registration["created"]
    assert not any(file["commit"] for file in registration["files"])


@pytest.mark.parametrize(
    "words",
    [
        "No: {0.full_name}",
        "No: {0.name}",
        "No: '{0.name}'.",
        "No: {0.full_name}.git/x",
        "No: x@{0.name}:2",
    ],
)
def test_a_private_name_in_githubs_words_is_not_published(
    in_public: Start, host: StandInHost, words: str
) -> None:
    refuse_writes(host, words.format)
    run = in_public()
    assert (run.exit_code, states(run)) == (1, {"failed": 1, "complete": 1})
    assert "GitHub's words are not shown" in run.stdout
    assert "secret" not in run.text.lower()


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    "words",
    [
        "No: '{0.name}' refused",
        "No: {0.name}",
        "{0.full_name}: Repository rule violations found",
        "No:\n{0.full_name}",
        "No:\n{0.name}",
    ],
)
def test_a_private_name_in_githubs_words_is_in_no_output_whoever_reads_the_log(
    in_private: Start, host: StandInHost, tmp_path: Path, words: str, language: str
) -> None:
    refuse_writes(host, words.format)
    run = in_private(language=language)
    assert (run.exit_code, states(run)) == (1, {"failed": 1, "complete": 1})
    assert "secret" not in run.output_file.lower()
    for text in (run.stdout, report_in(tmp_path)):
        assert "top-secret" in text


ADDRESSES = [
    "see https://github.com/o/p/rules?ref=refs%2Fheads%2Fadd%2F{name}",
    "see https://github.com/login?return_to=https%3A%2F%2Fgithub.com%2Frepos%2F{owner}%2F{name}%2Fx",
    "see return_to%3Dhttps%253A%252F%252Fgithub.com%252F{owner}%252F{name}",
    "see https://github.com/{full}.git.",
    "see https://github.com/{full}.wiki.git",
    "{name}/main was refused",
    "{name}/main: refused",
    "refused: _{full}_",
    "refused: _{name}_",
    "refused: {upper}.GIT",
    "refused: {owner}%2F{first}{rest}",
    "refused: {first}{rest}/rules",
    "refused: %252F{first}{rest}",
    "refused: {owner}&#x2F;{name}/x",
    "refused: {owner}\\u002F{name}.wiki",
    "refused: https://{name}.example.com",
    "refused: {full}-renamed-meanwhile",
    "refused: " + "%2525252525" * 9 + "{name}/x",
]
"""GitHub's or a gateway's words, with a name escaped or with an ending."""


def words_with(address: str, repository: Repository) -> str:
    """The words about a repository; ``first`` is the first letter of its name, escaped."""
    return address.format(
        full=repository.full_name,
        upper=repository.full_name.upper(),
        owner=repository.owner,
        name=repository.name,
        first=f"%{ord(repository.name[0]):02X}",
        rest=repository.name[1:],
    )


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_words_that_may_hold_a_private_name_are_not_published(
    in_public: Start, host: StandInHost, address: str, language: str
) -> None:
    refuse_writes(host, lambda repository: words_with(address, repository))
    run = in_public(language=language)
    assert (run.exit_code, states(run)) == (1, {"failed": 1, "complete": 1})
    text = unquote(unquote(unquote(html.unescape(run.text)))).lower()
    assert "secret" not in text
    instead = {
        "en": "GitHub's words are not shown, because they may hold a private name",
        "ja": "GitHub の言葉は、非公開の名前を含むかもしれないため表示しません",
    }
    assert instead[language] in run.stdout
    assert instead[language] in run.summary


@pytest.mark.parametrize("address", ADDRESSES[:4])
def test_words_that_may_hold_a_private_name_are_in_no_output_whoever_reads_the_log(
    in_private: Start, host: StandInHost, address: str
) -> None:
    refuse_writes(host, lambda repository: words_with(address, repository))
    run = in_private(runner=True)
    assert "secret" in run.stdout
    assert "secret" not in unquote(run.output_file)


def test_where_a_redirect_leads_is_not_published_either(
    in_public: Start, host: StandInHost
) -> None:
    place = "https://sso.example/?return_to=%2Fosoft%2Frepos%2Fo%2Ftop-secret"
    refuse(host, lambda request: not is_read(request), 302, headers={"Location": place})
    run = in_public()
    assert run.exit_code == 1
    assert "top-secret" not in unquote(run.text)


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
    assert "top-secret" not in run.output_file


@pytest.mark.parametrize("before", ["nodes", "query", "mutation", "pulls"])
def test_a_repository_that_becomes_private_is_hidden_from_then_on(
    in_public: Start, host: StandInHost, before: str, tmp_path: Path
) -> None:
    other = host.create_repository("octo-org/other", PRESENT)
    moved = host.create_repository("octo-org/alpha", PRESENT)
    if before == "pulls":
        host.refused_mutations = {"createPullRequest": Refusal(422, "Not at once")}
        before = "POST /repositories/1003/pulls"

    def hide(_: Request) -> None:
        if asked(host)[-1] == before:
            host.on_request = None
            moved.rename("octo-org/even-more-secret")
            moved.private = True

    host.on_request = hide
    run = in_public(env={"GITHUB_REPOSITORY": PUBLIC, "RUNNER_TEMP": str(tmp_path)})
    assert (run.exit_code, opened([other, moved])) == (0, [1, 1])
    for name in ("table_path", "page_path"):
        assert "alpha" not in (tmp_path / run.outputs[name]).read_text("utf-8")
    assert "secret" not in run.text.lower()
    assert f"octo-org/(id {moved.id})" in run.text
    assert "alpha" not in run.summary
    assert "alpha" not in run.output_file


@pytest.mark.parametrize("words", ["." * 4_000 + "x", "a: " * 20_000, "octo-org/" * 20_000])
def test_long_words_of_github_are_looked_at_in_linear_time(
    in_public: Start, host: StandInHost, words: str
) -> None:
    refuse_writes(host, lambda _: words)
    before = time.process_time()
    run = in_public(title="{count}: {repo}")
    assert run.exit_code == 1
    assert "not shown" in run.text
    assert time.process_time() - before < 15


@pytest.mark.parametrize("private", [True, False])
def test_names_are_replaced_in_texts_only_not_in_keys_numbers_and_states(
    many: Start, host: StandInHost, action: Action, tmp_path: Path, private: bool
) -> None:
    """The branch is the name alone: then every word and number may be one."""
    listing = action.listing("a", "b", "c", "d", "e", "f", "g")
    host.create_repository(PUBLIC, dict.fromkeys("abcdefg", b""), private=private)
    names = ["state", "opened", "missing", "register", "7"]
    made = [host.create_repository(f"octo-org/{name}", PRESENT, private=True) for name in names]
    env = {"GITHUB_REPOSITORY": PUBLIC, "RUNNER_TEMP": str(tmp_path)}
    run = many(env=env, branch="{repo}", definitions=listing)
    numbers = [f"(id {each.id})" for each in made]
    assert rows(run) == {f"octo-org/{number}": "opened" for number in numbers}
    registrations = run.report["registrations"]
    assert {each["branch"] for each in registrations} == {"{repo}"}
    assert {(each["profile"], each["mode"], each["created"]) for each in registrations} == {
        ("missing", "register", 7)
    }
    report = json.loads((tmp_path / run.outputs["report_path"]).read_text("utf-8"))
    report_schema().validate(report)
    shown = set(names) if private else {"{repo}"}
    assert {each["branch"] for each in report["registrations"]} == shown


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
    run = in_private(mode="plan", env=env)
    assert run.exit_code == 0
    assert "octo-org/top-secret" in run.stdout
