"""The state of each listed path agrees with the repository, and all outputs count the same."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.fakehub import Repository, StandInHost, Submodule, Symlink
from tests.harness import PER_FILE, SINGLE, TARGET, Action, Start, only_reads, refuse

PATHS: Mapping[str, tuple[Mapping[str, Any], Any, str]] = {
    "same.md": ({"content": "a\n"}, b"a\n", "same"),
    "filled.md": ({}, b"theirs\n", "filled"),
    "differs.md": ({"content": "a\n"}, b"theirs\n", "differs"),
    "blank.md": ({"content": "a\n"}, b"\r\n", "blank"),
    "empty.json": ({"content": "{}"}, b"{}\n", "blank"),
    ".gitkeep": ({}, b"", "same"),
    "short": ({"content": "8\n"}, b"8", "differs"),
    "docs/meant.md": ({"may_be_blank": True}, b"\n", "same"),
    # A file of this name may be blank, and this one is not
    ".gitignore": ({"content": "*.log\n"}, b"*.tmp\n", "differs"),
    ".github/owner.md": ({"content": "{owner}\n", "template": True}, b"octo\n", "same"),
    "folder": ({"content": "a\n"}, None, "not a file"),
    "large.md": ({}, b"x" * 1_100_000, "filled"),
    "link": ({}, Symlink("same.md"), "not a file"),
    "dangling": ({}, Symlink("gone"), "not a file"),
    "module": ({}, Submodule("1" * 40), "not a file"),
}
"""Listed paths: the entry, what the repository has there, and the state."""
LISTED = [{"path": path, **entry} for path, (entry, *_) in PATHS.items()]
THERE = {path: there for path, (_, there, _) in PATHS.items() if there is not None}
THERE["folder/file"] = b"x\n"


@pytest.fixture
def there(host: StandInHost) -> Repository:
    """The target, with something in each listed place."""
    return host.create_repository(TARGET, THERE)


@pytest.fixture
def judge(start: Start, action: Action, there: Repository) -> Start:
    """The action on it."""
    return partial(start, definitions=action.listing(*LISTED), target_repo=there.full_name)


@pytest.mark.parametrize(
    ("mode", "strategy"),
    [("plan", PER_FILE), ("check", SINGLE), ("register", PER_FILE), ("withdraw", SINGLE)],
)
def test_each_present_path_is_told_by_its_blob(
    host: StandInHost, judge: Start, mode: str, strategy: str
) -> None:
    run = judge(mode=mode).or_fail()
    expected = {path: state for path, (*_, state) in PATHS.items()}
    if strategy == PER_FILE:
        # REST shows the file to which a link leads
        expected["link"] = "filled"
    assert [*run.standings.items()] == [*expected.items()]
    names = ("missing", "blank", "differing", "invalid")
    counted = Counter(expected.values())
    counts = [0, counted["blank"], counted["differs"], counted["not a file"]]
    assert [run.outputs[name] for name in names] == [*map(str, counts)]
    assert only_reads(host)


@pytest.mark.parametrize(
    ("fail_on", "exit_code"),
    [
        ("", 0),
        ("missing", 0),
        ("blank", 1),
        ("missing, Blank", 1),
        ("differs", 1),
        ("invalid", 1),
    ],
)
@pytest.mark.parametrize("strategy", [SINGLE])
def test_a_check_fails_on_what_is_named(judge: Start, fail_on: str, exit_code: int) -> None:
    run = judge(mode="check", fail_on=fail_on)
    assert run.exit_code == exit_code, run.text
    assert ("Error: " in run.console) == bool(exit_code)
    if fail_on == "blank":
        # The errors are the last of the log, and the last of them names the paths
        error = run.console.partition("Error: Present, but blank")[2]
        error = error.partition("files-are-missing")[0]
        named = [path in error for path in ("blank.md", "empty.json", "differs.md")]
        assert named == [True, True, False]


@pytest.mark.parametrize("strategy", [SINGLE])
@pytest.mark.parametrize("mode", ["plan", "register"])
def test_where_nothing_is_checked_it_says_that_it_has_no_effect(judge: Start, mode: str) -> None:
    run = judge(mode=mode, fail_on="blank").or_fail()
    assert "Warning: fail_on has no effect" in run.console
    # The runner hands over the default of action.yml
    assert "fail_on" not in judge(mode=mode, fail_on="missing").console


def test_another_path_that_counts_is_judged_too(
    host: StandInHost, action: Action, single: Start
) -> None:
    host.create_repository(TARGET, {"README.md": b"x\n", "docs/SECURITY.md": b"\n"})
    entries = [{"path": "SECURITY.md", "content": "a\n"}]
    given = {"definitions": action.listing(*entries), "respect_alternatives": "true"}
    run = single(given, mode="check", fail_on="blank", env=action.keeping)
    assert [row["found_path"] for row in action.rows(run)] == ["docs/SECURITY.md"]
    [file] = run.registration["files"]
    assert (file["standing"], file["found_path"]) == ("blank", "docs/SECURITY.md")
    assert re.search("blank.*\n *Files: docs/SECURITY.md", run.stderr), run.stderr


# --- The table and the page -----------------------------------------------------------------


@pytest.fixture
def kept(action: Action, single: Start) -> Start:
    """The action, with a directory for files of later steps."""
    return partial(single, env=action.keeping)


def test_of_one_repository_the_outcome_is_failed_only_if_nothing_was_proposed(
    host: StandInHost, action: Action, kept: Start
) -> None:
    host.create_repository(TARGET, {"README.md": b"x\n"})
    for refused, outcome in (("PUT contents/b", ""), ("PUT contents/", "failed")):
        refuse(host, refused, 403, message="No")
        listed = action.listing("a", "b", "c") if outcome else action.listing("a", "b")
        run = kept(definitions=listed, commit_strategy=PER_FILE, branch=f"own-{len(refused)}")
        assert {row["outcome"] for row in action.rows(run)} == {outcome}, run.text


@pytest.mark.parametrize("mode", ["register", "plan", "check"])
def test_table_and_page_cost_no_request(
    host: StandInHost, action: Action, single: Start, kept: Start, mode: str
) -> None:
    counts = []
    for number, run in enumerate((single, kept)):
        host.create_repository(f"octo/r{number}", THERE)
        host.requests.clear()
        entries = [*LISTED, {"path": "more.md"}]
        run(definitions=action.listing(*entries), mode=mode, target_repo=f"octo/r{number}")
        counts.append(len(host.requests))
    assert counts[0] == counts[1]


def test_a_value_of_a_property_is_no_formula_in_the_table(
    host: StandInHost, action: Action, kept: Start
) -> None:
    host.create_repository(TARGET, {"README.md": b"x\n"}, properties={"team": "=1+1"})
    owned: Any = {"path": "a", "template": True, "content": "{property:team}\n"}
    [row] = action.rows(kept(definitions=action.listing(owned), mode="plan"))
    assert row["property:team"] == "'=1+1"


def test_the_page_links_to_no_inherited_file_in_the_target(
    host: StandInHost, action: Action, kept: Start
) -> None:
    host.create_repository("octo/.github", {"SUPPORT.md": b"theirs\n"})
    host.create_repository(TARGET, {"SECURITY.md": b"theirs\n"})
    listed = [{"path": name, "content": "a\n"} for name in ("SUPPORT.md", "SECURITY.md")]
    run = kept(definitions=action.listing(*listed), mode="plan", respect_alternatives="true")
    assert run.standings == {"SUPPORT.md": "differs", "SECURITY.md": "differs"}
    page = action.kept(run, "page")
    assert re.findall(r'/blob/[0-9a-f]+/([^"]+)"', page) == ["SECURITY.md"]


# --- Many repositories ----------------------------------------------------------------------

MANY: list[Mapping[str, Any]] = [
    {"path": "SECURITY.md", "content": "a\n"},
    {"path": "=1+1.md", "content": "a\n"},
]


@pytest.fixture
def many(host: StandInHost, action: Action) -> Start:
    """The action over an organisation of six, with a directory for files of later steps."""
    complete = {"SECURITY.md": b"a\n", "=1+1.md": b"a\n"}
    host.create_repository("octo-org/complete", complete)
    host.create_repository("octo-org/blank", {**complete, "SECURITY.md": b"\n"})
    host.create_repository("octo-org/differs", {**complete, "SECURITY.md": b"theirs\n"})
    host.create_repository("octo-org/lacks", {"SECURITY.md": b"a\n"})
    host.create_repository("octo-org/archived", complete, archived=True)
    host.create_repository("octo-org/secret", {"README.md": b"x\n"}, private=True)
    return partial(
        action,
        target_repos="octo-org/*",
        profile=None,
        definitions=action.listing(*MANY),
        language="en",
        env=action.keeping,
    )


def states_in(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["repository"], []).append(row["standing"])
    return found


def test_of_very_many_the_first_are_named_and_the_rest_is_counted(
    host: StandInHost, many: Start
) -> None:
    for number in range(200):
        host.create_repository(f"octo-org/b{number}", {"SECURITY.md": b"\n", "=1+1.md": b"a\n"})
    run = many(mode="check", fail_on="blank")
    named = run.summary.partition("<summary>201 blank")[2].partition("</details>")[0]
    assert named.count("| [octo-org/") == 200
    assert "… and 1 more, which are in the table (CSV)." in named
    error = run.console.partition("Error: Present, but blank (201).")[2]
    assert "… and 161 more" in error


def test_the_page_says_how_old_the_oldest_open_pull_request_is(
    host: StandInHost, action: Action, many: Start
) -> None:
    """A pull request stays open if somebody has deleted all its files from its branch."""
    run = many(target_repos="octo-org/lacks").or_fail()
    [lacks] = [each for each in host.repositories if each.name == "lacks"]
    lacks.person.commit({"=1+1.md": None}, branch=run.registration["branch"])
    action.clock.sleep(3 * 86400)
    many().or_fail()
    action.clock.sleep(2 * 86400)
    page = action.kept(many(mode="plan"), "page")
    assert "Open pull requests: 2, the oldest since 5 days." in page


def test_the_page_alone_names_what_target_repos_excludes(action: Action, many: Start) -> None:
    """There may be thousands, and the table has a row for each path."""
    run = many(mode="plan", target_repos="octo-org/*, !octo-org/lacks")
    page = action.kept(run, "page")
    assert "Left out (2)" in page
    assert (
        'not selected by target_repos 1</summary><ul class="names"><li>octo-org/lacks</li>' in page
    )
    assert "octo-org/lacks" not in states_in(action.rows(run))


def test_what_has_no_property_is_not_missing_but_not_complete_either(
    action: Action, many: Start
) -> None:
    entries = [*MANY, {"path": "TEAM.md", "template": True, "content": "{property:team}\n"}]
    run = many(mode="plan", definitions=action.listing(*entries))
    assert "2 that need a pull request, 3 unset." in run.console
    assert states_in(action.rows(run))["octo-org/complete"] == ["same", "same", "unset"]
    assert "<strong>0 / 5</strong>" in action.kept(run, "page")
    assert (run.outputs["incomplete"], run.outputs["missing"], run.outputs["unset"]) == (
        *("5", "3", "5"),
    )


@pytest.mark.parametrize(
    ("fail_on", "exit_code"), [("missing", 1), ("differs", 1), ("invalid", 0), ("blank", 1)]
)
def test_a_check_of_many_fails_on_what_is_named(many: Start, fail_on: str, exit_code: int) -> None:
    run = many(mode="check", fail_on=fail_on)
    assert run.exit_code == exit_code
    assert len(re.findall("^(?:::error|Error: )", run.console, re.MULTILINE)) == exit_code


@pytest.mark.parametrize("is_public", [True, False])
def test_who_has_no_owner_is_told_by_team(
    host: StandInHost, action: Action, many: Start, tmp_path: Path, is_public: bool
) -> None:
    """Not of private repositories where others read it."""
    made = {each.name: each for each in host.repositories}
    for name in ("complete", "lacks", "secret"):
        made[name].person.change(
            properties={"team": "secret-team" if name == "secret" else "payments"}
        )
    made["lacks"].person.commit({"OWNERS": b"theirs\n"})
    made["differs"].person.commit({"OWNERS": b"theirs\n"})
    event = tmp_path / "event.json"
    visibility = "public" if is_public else "private"
    event.write_text(json.dumps({"repository": {"visibility": visibility}}))
    workflow = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_PATH": str(event),
        **action.keeping,
    }
    owners = {"path": "OWNERS", "template": True, "content": "* @{property:team}\n"}
    of_none = {"when": {"topic": "none"}, "files": ["x"]}
    rules = [of_none, {"when": {"not": {"topic": "none"}}, "files": [owners]}]
    listed = action.write("files.json", json.dumps({"files": MANY, "rules": rules}))
    run = many(mode="plan", definitions=listed, env=workflow)
    rows = {each["repository"]: each for each in action.rows(run) if each["path"] == "OWNERS"}
    assert ("octo-org/secret" in rows) is not is_public
    if not is_public:
        secret = rows["octo-org/secret"]
        assert (secret["rule"], secret["property:team"]) == ("2", "secret-team")
    lacks, differs = rows["octo-org/lacks"], rows["octo-org/differs"]
    assert (lacks["standing"], lacks["property:team"]) == ("differs", "payments")
    # Without a value there is no content that it could differ from
    assert (differs["standing"], differs["rule"], differs["property:team"]) == ("filled", "2", "")
    page = action.kept(run, "page")
    assert "payments: 0 of 2 complete" in page
    assert ("secret-team" in page) == (not is_public)
    for text in (run.summary, run.console, page):
        assert ("secret-team" not in text) or not is_public
        # The example is a repository that everybody may see
        assert text.count("@payments") == 1
