"""`mode: plan` reads only and shows what would be done, `check` fails when it must."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.contract.test_users_words import HEALTH
from tests.example import Example
from tests.fakehub import Repository, StandInHost
from tests.gfm import only_ours
from tests.harness import (
    LIST_BRANCH,
    PER_FILE,
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
def test_a_token_that_may_only_read_suffices(
    start: Start, action: Action, host: StandInHost, token: str
) -> None:
    private = READERS[token]["kind"] != "classic"
    repository = host.create_repository(TARGET, {"README.md": b"x"}, private=private)
    # Some of these tokens may not see the pull requests of that branch
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


WIDE = "x" * 300


@pytest.mark.parametrize(
    ("listed", "lines", "cut", "last"),
    [
        (
            {"long": "".join(f"line {n}\n" for n in range(1, 10_001)), "other": None},
            *(50, ["+… (+9950)"], ["+line 50", "+… (+9950)"]),
        ),
        # Only lines and files that are too long are cut
        ({"a": "x\n" * 50, "b": "x\n" * 51}, 100, ["+… (+1)"], ["+x", "+… (+1)"]),
        ({"a": WIDE, "b": f"{WIDE}x"}, 2, [f"+{WIDE}… (+1)"], None),
        # Of very much content, the last files are only named
        (
            {f"{number:02}": f"{WIDE}\n" * 50 for number in range(16)},
            *(14 * 50, [], ["+++ b/14", "+++ b/15"]),
        ),
    ],
    ids=["a long file", "lines of a file", "characters of a line", "many files"],
)
def test_of_very_much_content_a_part_is_shown(
    single: Start,
    action: Action,
    repository: Repository,
    listed: Mapping[str, str | None],
    lines: int,
    cut: list[str],
    last: list[str] | None,
) -> None:
    run = single(mode="plan", definitions=action.listing_of(listed))
    diff, _ = fenced(run.summary)
    assert sum(line.startswith(("+line ", "+x")) for line in diff) == lines
    assert [line for line in diff if "…" in line] == cut
    assert last in (None, diff[-2:])
    assert len(run.lines) < len(diff) + 100


# --- Check --------------------------------------------------------------------------------


def test_a_long_annotation_is_cut_and_in_full_in_the_log(
    action: Action, repository: Repository
) -> None:
    paths = [f"{'d' * 200}/{number}" for number in range(50)]
    run = action(
        mode="check", definitions=action.listing(*paths), runner=True, commit_strategy=SINGLE
    )
    [annotation] = run.annotations()
    assert len(annotation.data) == 4096
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


# --- All ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "present", "exit_code", "shown"),
    [("plan", (), 0, 2), ("check", (), 1, 2), ("check", HEALTH, 1, 1)],
)
def test_plan_and_check_of_both_profiles(
    single: Start,
    host: StandInHost,
    repository: Repository,
    mode: str,
    present: tuple[str, ...],
    exit_code: int,
    shown: int,
) -> None:
    repository.person.commit(dict.fromkeys(present, b"x"))
    run = single(profile="all", mode=mode, runner=True)
    assert (run.exit_code, len(run.annotations())) == (exit_code, exit_code * shown)
    found = [each["standings"]["to create"] for each in run.report["registrations"]]
    assert found == [len(HEALTH) - len(present), 27]
    assert run.summary.count("What would be created") == shown
    assert only_reads(host)


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


def test_a_plan_goes_on_where_pull_requests_cannot_be_listed(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    refuse(host, "GET pulls", 404, message="Not Found")
    run = action(mode="plan", definitions=action.listing("a"), commit_strategy=PER_FILE).or_fail()
    assert (run.outputs["missing"], run.registration["pull_request"]) == ("1", None)


def test_a_plan_that_ended_early_counts_nothing(single: Start, host: StandInHost) -> None:
    host.create_repository(TARGET, empty=True)
    run = single(mode="plan", language="en")
    assert run.exit_code == 2
    assert not re.search("To create|Present|Item", run.text)
