"""Profiles, languages, content, and definition files of the caller's own."""

from __future__ import annotations

import json

import pytest

from tests.contract.test_users_words import HEALTH, SCAFFOLD, summary
from tests.fakehub import Repository, StandInHost
from tests.harness import (
    HEALTH_BRANCH,
    JAPANESE,
    LIST_BRANCH,
    SCAFFOLD_BRANCH,
    SINGLE,
    TARGET,
    Action,
    calls,
    refuse,
    writes,
)

# --- All ----------------------------------------------------------------------------------


def test_all_registers_health_then_scaffold(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    run = action(profile="all").or_fail()
    assert [pull.head for pull in repository.pull_requests] == [HEALTH_BRANCH, SCAFFOLD_BRANCH]
    assert set(repository.files(HEALTH_BRANCH)) == {*repository.files(), *HEALTH}
    assert set(repository.files(SCAFFOLD_BRANCH)) == {*repository.files(), *SCAFFOLD}
    # The token is checked once for both.
    assert len(host.requests) == 1 + (21 - 1) + (63 - 1)
    # A summary for each
    assert run.lines[-8:] == summary(27, 2, 0)
    first = run.lines.index("完了サマリー") - 1
    assert run.lines[first : first + 8] == summary(7, 0, 0)
    assert run.summary.count("| 項目 | 件数 |") == 2
    assert run.summary.index("| 作成 | 7 |") < run.summary.index("| 作成 | 27 |")
    # The counts are summed; there is no one branch and no one pull request
    counts = [run.outputs[name] for name in ("created", "skipped", "failed")]
    of_pull_request = [
        run.outputs[f"pull_request_{name}"] for name in ("number", "url", "operation")
    ]
    assert [*counts, run.outputs["branch"], *of_pull_request] == ["34", "2", "0", "", "", "", ""]


@pytest.mark.parametrize(
    ("refused", "protected", "pulls", "exit_code"),
    [
        # One ends with 1, the other with 0.
        ("PUT contents/.github/SUPPORT.md", None, [HEALTH_BRANCH, SCAFFOLD_BRANCH], 1),
        ("PUT contents/.github/", None, [SCAFFOLD_BRANCH], 1),
        ("PUT contents/", None, [], 1),  # 1 and 1
        (None, "chore/add-community*", [SCAFFOLD_BRANCH], 1),  # 2 and 0
        (None, "chore/*", [], 2),  # 2 and 2
    ],
)
def test_all_goes_on_after_a_failed_registration(
    action: Action,
    host: StandInHost,
    repository: Repository,
    refused: str | None,
    protected: str | None,
    pulls: list[str],
    exit_code: int,
) -> None:
    if refused:
        refuse(host, refused)
    if protected:
        repository.person.protect(protected, "ruleset")
    run = action(profile="all")
    assert run.exit_code == exit_code
    assert [pull.head for pull in repository.pull_requests] == pulls


def test_all_stops_at_a_bad_token(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.revoke_token(action.default_token)
    assert action(profile="all").exit_code == 2
    assert calls(host) == ["GET /rate_limit"]


# --- Language -----------------------------------------------------------------------------


def test_english_has_no_japanese_character_anywhere(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    refuse(host, "PUT contents/DESIGN.md", message="No")
    run = action(profile="all", language="en", runner=True)
    assert run.exit_code == 1
    bodies = [pull.title + (pull.body or "") for pull in repository.pull_requests]
    messages = [commit.message for commit in repository.log(SCAFFOLD_BRANCH)]
    for text in (run.text, *bodies, *messages):
        assert not JAPANESE.search(text)


# --- Own definition files -----------------------------------------------------------------

LIST = [
    {"path": "docs/ガイド.md", "description": "A guide | with a pipe", "content": "# 案内\r\n\r\n"},
    {"path": "empty", "content": ""},
    {"path": "no line feed", "content": "x"},
    {"path": "a b/ü%41#?&.txt", "content": "é\u0000\u2028"},
    {"path": "feed"},
    {"path": "Makefile", "content": "all:\n\ttrue\n"},
]
YAML = r"""
- {path: docs/ガイド.md, description: "A guide | with a pipe", content: "# 案内\r\n\r\n"}
- path: empty
  content: ""
- path: no line feed
  content: x
- path: a b/ü%41#?&.txt
  content: "é\0\u2028"
- path: feed
- path: Makefile
  content: "all:\n\ttrue\n"
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.json", json.dumps(LIST)),
        ("config/list.json", "\ufeff" + json.dumps(LIST, ensure_ascii=False, indent=2)),
        ("list.yml", YAML),
        ("list.yaml", "\ufeff" + YAML),
    ],
)
def test_own_definitions_are_written_to_the_letter(
    action: Action, host: StandInHost, repository: Repository, name: str, text: str
) -> None:
    run = action(definitions=action.write(name, text)).or_fail()
    expected = {str(e["path"]): str(e.get("content", "\n")).encode() for e in LIST}
    assert repository.files(LIST_BRANCH) == repository.files() | expected
    assert [w for w in writes(host) if w.startswith("PUT")] == [
        f"PUT contents/{path}" for path in expected
    ]
    assert run.outputs["created"] == str(len(LIST))


@pytest.mark.parametrize("name", ["service", "a", "0-a--b-", "x" * 40])
def test_a_list_of_ones_own_has_its_name_in_branch_texts_and_reports(
    name: str, strategy: str, action: Action, repository: Repository
) -> None:
    listed = action.write("list.yml", f"name: {name}\nfiles: [a, b]\n")
    more = {"body": "List {profile}", "commit_strategy": strategy, "language": "en"}
    run = action(more, definitions=listed)
    branch = f"chore/add-{name}-files"
    assert (run.exit_code, run.outputs["branch"]) == (0, branch), run.text
    [pull] = repository.pull_requests
    assert pull.title == f"chore: add {name} files"
    assert (pull.body or "").startswith(f"List {name}\n")
    messages = [commit.message.splitlines()[0] for commit in repository.log(branch)[:-1]]
    assert messages == ([pull.title] if strategy == SINGLE else ["chore: add b", "chore: add a"])
    assert run.registration["profile"] == name
    assert f"## registrar: `{TARGET}` (`{name}`)" in run.summary


@pytest.mark.parametrize(
    ("name", "branch"), [("lock", "setup.{profile}"), ("-a", "{profile}"), ("0" * 40, "{profile}")]
)
def test_a_branch_that_the_name_of_the_list_makes_impossible_is_refused(
    name: str, branch: str, action: Action, host: StandInHost
) -> None:
    listed = action.write("list.yml", f"name: '{name}'\nfiles: [a]\n")
    run = action(definitions=listed, branch=branch, language="en")
    assert (run.exit_code, host.requests) == (2, [])
    assert branch.replace("{profile}", name) in run.stderr
    assert "branch" in run.stderr


def test_a_mistyped_input_comes_before_the_list_that_is_missing_because_of_it(
    action: Action, host: StandInHost
) -> None:
    run = action(profile=None, env={"INPUT_PROFILES": "health"}, language="en")
    first, second = run.stderr.splitlines()
    assert "There is no input profiles. Did you mean the input profile?" in first
    assert "There is no list" in second
    assert host.requests == []
