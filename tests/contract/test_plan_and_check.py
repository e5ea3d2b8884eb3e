"""`mode: plan` reads only and shows what would be done, `check` fails when it must."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from registrar.models.standing import blob_id
from registrar.reporting.reporter import HELP_PAGES
from tests.contract.test_run import plan_lines
from tests.contract.test_users_words import HEALTH
from tests.example import Example
from tests.fakehub import Repository, StandInHost
from tests.gfm import only_ours
from tests.harness import (
    HEALTH_BRANCH,
    JAPANESE,
    LIST_BRANCH,
    PER_FILE,
    SCAFFOLD_BRANCH,
    SINGLE,
    TARGET,
    Action,
    Start,
    calls,
    only_reads,
    refuse,
)

LIST: tuple[Mapping[str, str], ...] = (
    {"path": "README.md", "description": "Read me"},
    {"path": "docs/guide.md", "description": "A guide", "content": "# Guide\n\nText\n"},
    {"path": "empty", "content": ""},
    {"path": "line feed"},
    {"path": ".mcp.json", "content": "{}"},
)
MISSING = [entry["path"] for entry in LIST[1:]]
EMPTY = ["empty", "line feed"]
DIFF = [
    "--- /dev/null",
    "+++ b/docs/guide.md",
    "@@ -0,0 +1,3 @@",
    "+# Guide",
    "+",
    "+Text",
    "--- /dev/null",
    "+++ b/.mcp.json",
    "@@ -0,0 +1 @@",
    "+{}",
    "\\ No newline at end of file",
]
SHOWN = [*(f"{path}: empty" for path in EMPTY), *DIFF]
EXIT_CODES = {"plan": 0, "check": 1}


def fenced(markdown: str) -> tuple[list[str], list[str]]:
    """The lines of the first block between fences, and those after it (CommonMark 0.31, 4.5)."""
    lines = re.split(r"\r\n|\r|\n", markdown)
    start = next(n for n, line in enumerate(lines) if re.match(r" {0,3}(`{3,}|~{3,})", line))
    assert lines[start] == "```diff"
    end = next(n for n in range(start + 1, len(lines)) if re.match(r" {0,3}`{3,}\s*$", lines[n]))
    return lines[start + 1 : end], lines[end + 1 :]


# --- Reads only ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", EXIT_CODES)
def test_nothing_is_written(start: Start, action: Action, example: Example, mode: str) -> None:
    host, repository = example.host, example.repository
    before = (repository.head(), repository.branches)
    people = {"assignees": "octocat", "reviewers": "octocat"}
    run = start(people, mode=mode, definitions=action.listing(*LIST), labels="a", draft="true")
    assert run.exit_code == EXIT_CODES[mode], run.text
    assert only_reads(host)
    assert (repository.head(), repository.branches) == before
    assert repository.pull_requests == []
    if example.strategy == SINGLE:
        assert calls(host) == ["POST /graphql"]
    else:
        checks = [f"GET contents/{entry['path']}" for entry in LIST]
        made = calls(host)
        assert made[:3] == ["GET /rate_limit", "GET", "GET git/ref/heads/main"]
        about_branch = [f"GET git/matching-refs/heads/{LIST_BRANCH}", "GET pulls"]
        # What may stand in the place of a directory is asked for at once
        tree = f"GET git/trees/{example.repository.head()}"
        assert sorted(made[3:]) == sorted([*checks, *about_branch, tree])


READERS: dict[str, dict[str, Any]] = {
    "classic without a scope": {"kind": "classic", "scopes": ()},
    "classic without push": {"kind": "classic", "push": False},
    "fine-grained": {
        "kind": "fine-grained",
        "permissions": {"contents": "read"},
        "repositories": (TARGET,),
    },
    "workflow of a fork": {
        "kind": "installation",
        "permissions": {"contents": "read", "pull_requests": "read"},
        "repositories": (TARGET,),
    },
    "App": {"kind": "installation", "permissions": {"contents": "read"}},
}


@pytest.mark.parametrize("token", READERS)
@pytest.mark.parametrize("stands", [False, True])
def test_a_token_that_may_only_read_suffices(
    start: Start, action: Action, host: StandInHost, token: str, stands: bool
) -> None:
    private = READERS[token]["kind"] != "classic"
    repository = host.create_repository(TARGET, {"README.md": b"x"}, private=private)
    if stands:
        # Some of these tokens may not see the pull requests of that branch.
        repository.person.create_branch(LIST_BRANCH)
    given = {
        "definitions": action.listing(*LIST),
        "host_token": host.create_token(**READERS[token]),
    }
    run = start(given, mode="check")
    assert run.exit_code == 1, run.text
    assert [*run.outcomes.values()] == ["skipped"] + ["to create"] * 4
    assert only_reads(host)


# --- What is shown ------------------------------------------------------------------------


@pytest.mark.parametrize("runner", [False, True])
def test_what_is_shown_of_a_plan(
    single: Start, action: Action, repository: Repository, runner: bool
) -> None:
    run = single(mode="plan", definitions=action.listing(*LIST), runner=runner)
    # On the console, where the diff is a group on the runner
    assert [c.name for c in run.commands] == ["group", "endgroup"] * (2 * runner)
    title = "What would be created (4)"
    at = run.lines.index(f"::group::{title}" if runner else title) + 1
    assert run.lines[at : -11 if runner else -10] == SHOWN
    assert run.lines[-10] == "Files: 4 to create, 1 present (5 in all). Nothing was written."
    assert run.lines[-9:-1] == plan_lines("en", 4, 1)
    assert run.lines[-1] == "Run this without `mode: plan` to open the pull request."
    assert run.stderr == ""
    # In the step summary
    counts = "| To create | 4 |\n| Present | 1 |\n| Declined | 0 |\n"
    table = f"| Item | Count |\n| --- | --- |\n{counts}\nRun this without `mode: plan` "
    assert table in run.summary
    diff, rest = fenced(run.summary)
    assert diff == DIFF
    assert [line for line in rest if line] == ["</details>"]
    assert "Empty (2): `empty`, `line feed`\n" in run.summary
    rows = only_ours(run.summary).paths
    assert [path for path, cells in rows.items() if cells[0] == "to create"] == MISSING
    # In the outputs and the report
    filled = {name for name, value in run.outputs.items() if value}
    expected = {"created": "0", "skipped": "1", "failed": "0", "missing": "4"}
    expected |= dict.fromkeys(
        ("declined", "unset", "blank", "differing", "invalid", "removed"), "0"
    )
    expected["pull_request_operation"] = "none"
    assert {name: run.outputs[name] for name in filled - {"report"}} == expected
    assert run.registration["mode"] == "plan"
    there, *missing = run.registration["files"]
    assert there == {
        "path": "README.md",
        "done": "skipped",
        "reason": "exists on main",
        "commit": None,
        "standing": "filled",
        "blob": blob_id(b"# Example\n"),
    }
    nothing = {"reason": None, "commit": None}
    assert missing == [
        {**dict.fromkeys(("done", "standing"), "to create"), "path": path} | nothing
        for path in MISSING
    ]


HOSTILE = [
    "```",
    "````",
    "~~~",
    "   ```  ",
    "\t```",
    "</details>",
    "a\r\n```\r\n~~~\rb",
    "\u2028```\u2029```\u0085```\x0b```\x0c```\x1c```",
    "\x1b[31m\x00\x7f\u202e",
    "::error::owned\n##[error]owned\n ::set-output name=branch::x",
    "-->\n<!-- registrar:end -->",
    "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-x\n+y",
    "@octo Fixes #1",
]


@pytest.mark.parametrize("runner", [False, True])
def test_no_content_and_no_path_can_leave_the_diff(
    action: Action, repository: Repository, runner: bool
) -> None:
    entries = [{"path": f"{n}", "content": content} for n, content in enumerate(HOSTILE)]
    odd = ["`" * 3, "~~~", "a ``` b", "x\u2028x", "</details>", "|", "\u202e", "##[error]x"]
    entries += [{"path": path, "content": "x\n"} for path in odd]
    run = action(mode="plan", definitions=action.listing(*entries), runner=runner, language="en")
    assert run.exit_code == 0, run.text
    assert run.annotations() == []
    diff, rest = fenced(run.summary)
    assert [line for line in rest if line] == ["</details>"]
    signs = ("--- /dev/null", "+", "@@ -0,0 +1", "\\ No newline")
    assert all(line.startswith(signs) for line in diff)
    assert diff.count("--- /dev/null") == len(entries) - 1
    for text in (run.summary, run.stdout):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", text)
    only_ours(run.summary)
    # Line by line it is what would be written, with what cannot be seen made visible.
    assert diff[:4] == ["--- /dev/null", "+++ b/0", "@@ -0,0 +1 @@", "+```"]
    assert "+a\\r" in diff
    assert "+\\u2028```\\u2029```\\u0085```\\u000b```\\u000c```\\u001c```" in diff


def test_a_long_file_is_shown_in_part(action: Action, repository: Repository) -> None:
    content = "".join(f"line {n}\n" for n in range(1, 10_001))
    definitions = action.listing({"path": "long", "content": content}, "other")
    run = action(mode="plan", definitions=definitions, language="en")
    diff, _ = fenced(run.summary)
    assert diff[2] == "@@ -0,0 +1,10000 @@"
    assert diff[3:53] == [f"+line {n}" for n in range(1, 51)]
    assert diff[53] == "+… (+9950)"
    assert len(diff) == 54
    assert len(run.lines) < 100


def test_only_lines_and_files_that_are_too_long_are_cut(
    single: Start, action: Action, repository: Repository
) -> None:
    lines, characters = ("x\n" * 50, "x\n" * 51), ("x" * 300 + "\n", "x" * 301 + "\n")
    listed = dict(zip("abcd", lines + characters, strict=True))
    diff, _ = fenced(single(mode="plan", definitions=action.listing_of(listed)).summary)
    assert [line for line in diff if "…" in line] == ["+… (+1)", f"+{'x' * 300}… (+1)"]


def test_of_very_much_content_the_last_files_are_only_named(
    single: Start, action: Action, repository: Repository
) -> None:
    """The others have fifteen thousand characters each."""
    content = ("x" * 300 + "\n") * 50
    listed = {f"{number:02}": content for number in range(16)}
    diff, _ = fenced(single(mode="plan", definitions=action.listing_of(listed)).summary)
    assert len([line for line in diff if line.startswith("+x")]) == 14 * 50
    assert diff[-2:] == ["+++ b/14", "+++ b/15"]


def test_english_has_no_japanese_and_japanese_has(
    single: Start, action: Action, repository: Repository
) -> None:
    given = {"mode": "plan", "definitions": action.listing(*LIST)}
    english, run = (single(given, language=language, runner=True) for language in ("en", "ja"))
    assert not JAPANESE.search(english.text)
    for text in (run.stdout, run.summary):
        assert "作成するファイル（4 件）" in text
    assert run.lines[-9:-1] == plan_lines("ja", 4, 1)
    assert run.outcomes == english.outcomes


# --- Check --------------------------------------------------------------------------------


MISSING_FILES = {
    "en": (
        "Files: 4 to create, 1 present (5 in all). Nothing was written. To add them, run "
        "this with `mode: register` and merge the pull request that it opens.\n"
        "Files: docs/guide.md, empty, line feed, .mcp.json"
    ),
    "ja": (
        "全 5 件: 作成予定 4 件、既存 1 件。何も書き込んでいません。追加するには、"
        "`mode: register` で実行し、提案された内容をマージしてください。\n"
        "ファイル: docs/guide.md、empty、line feed、.mcp.json"
    ),
}


@pytest.mark.parametrize("language", MISSING_FILES)
def test_one_annotation_names_what_is_missing(
    single: Start, action: Action, repository: Repository, language: str
) -> None:
    given = {"mode": "check", "definitions": action.listing(*LIST)}
    run = single(given, language=language, runner=True)
    assert run.exit_code == 1
    [annotation] = run.annotations()
    text, link = MISSING_FILES[language], f"{HELP_PAGES[language]}#files-are-missing"
    assert (annotation.data, dict(annotation.properties)) == (f"{text} → {link}", {})
    assert run.annotations("warning") == []
    plain = single(given, language=language)
    shown = text.replace("\n", "\n  ")
    assert plain.stderr.rstrip("\n").endswith(f"{shown} → {link}")
    assert plain.stderr.count("\n") == 2
    advice = {"en": "To add them, run this", "ja": "追加するには、`mode: register` で実行し"}
    assert advice[language] in run.summary


def test_a_long_annotation_is_cut_and_in_full_in_the_log(
    action: Action, repository: Repository
) -> None:
    paths = [f"{'d' * 200}/{number}" for number in range(50)]
    run = action(
        mode="check", definitions=action.listing(*paths), runner=True, commit_strategy=SINGLE
    )
    [annotation] = run.annotations()
    assert len(annotation.data) <= 4096
    assert annotation.data.endswith("…")
    assert any(all(path in line for path in paths) for line in run.lines)


def test_a_check_that_could_not_be_made_says_nothing_about_files(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    refuse(host, "GET contents/empty", status=451, message="Unavailable")
    run = action(mode="check", definitions=action.listing(*LIST), runner=True, language="en")
    assert run.exit_code == 2
    [annotation] = run.annotations()
    assert "Unavailable" in annotation.data
    assert "missing," not in run.console + run.summary
    assert "ended before every file was checked" in run.summary
    assert {*run.outcomes.values()} <= {"pending"}


def test_what_cannot_be_created_is_known_beforehand(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    run = action(
        mode="plan",
        definitions=action.listing("README.md/below", "other"),
        commit_strategy=SINGLE,
        language="en",
        runner=True,
    ).or_fail()
    assert "missing (README.md is not a directory in the repository" in run.console
    assert "| blocked (`README.md` is not a directory" in run.summary
    assert "was not created" not in run.text
    assert "To create: 1" in run.lines
    assert only_reads(host)


# --- What stands already ------------------------------------------------------------------


def test_an_open_pull_request_is_reported(
    single: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    definitions = action.listing(*LIST)
    single(definitions=definitions)
    host.requests.clear()
    run = single(definitions=definitions, mode="check")
    assert run.exit_code == 1
    url = f"{repository.html_url}/pull/1"
    assert f"The pull request is open: {url}" in run.lines
    assert f"The pull request [#1]({url}) is open." in run.summary
    assert "To add them, merge the open pull request." in run.summary
    assert run.registration["pull_request"] == {"number": 1, "url": url, "operation": "none"}
    assert [*run.outcomes.values()] == ["skipped"] + ["nothing"] * 4
    assert only_reads(host)


def test_a_merged_pull_request_is_not_mentioned(
    single: Start, action: Action, repository: Repository
) -> None:
    single(definitions=action.listing("one"))
    repository.person.merge(1)
    run = single(definitions=action.listing("one", "two"), mode="plan")
    assert "#1" not in run.text
    assert run.outcomes == {"one": "skipped", "two": "to create"}


# --- All ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "present", "exit_code", "annotations"),
    [("plan", (), 0, 0), ("check", (), 1, 2), ("check", HEALTH, 1, 1)],
)
def test_plan_and_check_of_both_profiles(
    single: Start,
    host: StandInHost,
    repository: Repository,
    mode: str,
    present: tuple[str, ...],
    exit_code: int,
    annotations: int,
) -> None:
    if present:
        repository.person.commit(dict.fromkeys(present, b"x"))
    run = single(profile="all", mode=mode, runner=True)
    assert run.exit_code == exit_code, run.text
    assert len(run.annotations()) == annotations
    assert run.outputs["created"] == "0"
    health, scaffold = run.report["registrations"]
    assert (health["profile"], scaffold["profile"]) == ("health", "scaffold")
    assert {f["done"] for f in health["files"]} == {"skipped" if present else "to create"}
    assert sum(f["done"] == "to create" for f in scaffold["files"]) == 27
    assert run.summary.count("What would be created") == (1 if present else 2)
    assert only_reads(host)
    assert not {HEALTH_BRANCH, SCAFFOLD_BRANCH} & set(repository.branches)


# --- The next step --------------------------------------------------------------------------


@pytest.mark.parametrize("mode", EXIT_CODES)
def test_a_plan_of_an_archived_repository_says_that_nothing_can_be_opened(
    single: Start, action: Action, repository: Repository, mode: str
) -> None:
    repository.person.archive()
    run = single(mode=mode, definitions=action.listing("a"))
    words = "The repository is archived, so nothing can be opened there."
    assert words in run.console
    assert words in run.summary
    assert "mode: plan" not in run.console
    assert "would be refused" not in run.console
    assert run.exit_code == EXIT_CODES[mode]
    assert run.registration["error"] is None


@pytest.mark.parametrize("status", [403, 404])
def test_a_plan_goes_on_where_pull_requests_cannot_be_listed(
    action: Action, host: StandInHost, repository: Repository, status: int
) -> None:
    words = {403: "Resource not accessible by integration", 404: "Not Found"}
    refuse(host, "GET pulls", status, message=words[status])
    run = action(mode="plan", definitions=action.listing("a"), commit_strategy=PER_FILE).or_fail()
    assert run.outputs["missing"] == "1"
    assert run.registration["pull_request"] is None


def test_a_plan_that_ended_early_counts_nothing(single: Start, host: StandInHost) -> None:
    host.create_repository(TARGET, empty=True)
    run = single(mode="plan", language="en")
    assert run.exit_code == 2
    assert not re.search("To create|Present|Item", run.text)


def test_what_was_declined_is_counted_by_itself(action: Action, repository: Repository) -> None:
    given = {"commit_strategy": SINGLE, "language": "en"}
    action(given, definitions=action.listing("a"))
    repository.person.close(1)
    run = action(given, definitions=action.listing("README.md", "a", "b"), mode="plan")
    assert run.lines[-9:-1] == plan_lines("en", 1, 1, 1)
    assert "| To create | 1 |\n| Present | 1 |\n| Declined | 1 |\n" in run.summary
    run = action(given, definitions=action.listing("README.md", "a"), mode="plan")
    assert run.lines[-1] == "They were declined, so they are not proposed again."


@pytest.mark.parametrize(
    ("text", "shown"), [("[a]", "list.yml"), ("name: our-list\nfiles: [a]", "our-list")]
)
def test_the_heading_names_the_list(
    text: str, shown: str, single: Start, action: Action, repository: Repository
) -> None:
    run = single(definitions=action.write("list.yml", text), mode="plan")
    assert run.summary.startswith(f"## registrar: `{TARGET}` (`{shown}`)\n")


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_the_log_says_one_thing_of_each_path(single: Start, host: StandInHost, mode: str) -> None:
    host.create_repository(TARGET, {"SECURITY.md": b"x", ".github/SUPPORT.md": b"x"})
    run = single(profile="health", respect_alternatives="true", mode=mode)
    lines = [line for line in run.lines if line.startswith("[")]
    of_security = [line for line in lines if ".github/SECURITY.md" in line]
    assert of_security == ["[4/7] .github/SECURITY.md: skipped (satisfied by SECURITY.md)"]
    assert "[5/7] .github/SUPPORT.md: exists" in lines
    assert not [line for line in run.lines if line.startswith(".github/SECURITY.md: ")]


def test_a_plan_over_many_names_the_missing_files(host: StandInHost, action: Action) -> None:
    host.create_repository("octo/one", {"a": b"x", "x|y": b"x"})
    host.create_repository("octo/two", {"b": b"x"})
    host.create_repository("octo/three", {"a": b"x", "b": b"x", "x|y": b"x"})
    given = {"target_repos": "octo/*", "definitions": action.listing("a", "b", "x|y")}
    run = action(given, mode="plan", language="en")
    title = "Repositories with something to report (2); all others have every listed file"
    assert f"<details open>\n<summary>{title}</summary>" in run.summary
    shown = [line for line in run.summary.splitlines() if line.startswith("|") and "octo/" in line]
    assert [line.partition(" | ")[2] for line in shown] == [
        "missing files: 1 | to create: `b` |",
        "missing files: 2 | to create: `a`, <code>x&#124;y</code> |",
    ]
    # No number beside a line: only reading tells how many there are
    assert "octo/one: missing files: 1" in run.lines
