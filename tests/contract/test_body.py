"""What a reviewer reads in the pull request, and that running again changes none of it."""

from __future__ import annotations

import html
import re

import pytest

from tests.contract.test_definition_files import HEALTH
from tests.fakehub import Repository, StandInHost
from tests.harness import PER_FILE, SCAFFOLD_BRANCH, SINGLE, Action, Start, writes

BEGIN, END = "<!-- registrar:begin -->", "<!-- registrar:end -->"
LIMIT = 65_536
LIST = (
    {"path": "README.md", "description": "Read me"},
    {"path": "a", "description": "First | one"},
    {"path": "b"},
)


def body(repository: Repository) -> str:
    """The body of the only pull request."""
    [pull] = repository.pull_requests
    return pull.body or ""


def rows(text: str) -> dict[str, list[str]]:
    """The cells of every path of the table, after the path."""
    found = re.findall(r"(?m)^\| <code>(.*?)</code> \| (.*) \|$", text)
    return {path: rest.split(" | ") for path, rest in found}


def link(repository: Repository, path: str) -> str:
    """Markdown of a link to the commit that created a path."""
    [commit] = [c for c in repository.log(SCAFFOLD_BRANCH)[:-1] if path in c.paths]
    return f"[`{commit.sha[:7]}`]({repository.html_url}/commit/{commit.sha})"


def test_a_row_for_each_path(start: Start, action: Action, repository: Repository) -> None:
    start(definitions=action.listing(*LIST))
    found = rows(body(repository))
    assert list(found) == ["a", "b", "README.md"]
    assert found["a"][:2] == ["added", "First &#124; one"]
    assert found["README.md"][:2] == ["skipped (exists on <code>main</code>)", "Read me"]


def test_one_commit_per_file_is_linked(action: Action, repository: Repository) -> None:
    action(definitions=action.listing(*LIST), language="en")
    found = rows(body(repository))
    assert "| Path | State | Description | Commit |\n| --- | --- | --- | --- |\n" in body(
        repository
    )
    assert {path: cells[2] for path, cells in found.items()} == {
        "a": link(repository, "a"),
        "b": link(repository, "b"),
        "README.md": "",
    }


def test_a_second_run_sends_no_update(
    start: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    definitions = action.listing(*LIST, ".mcp.json")
    start(definitions=definitions)
    first = body(repository)
    host.requests.clear()
    run = start(definitions=definitions)
    assert body(repository) == first
    assert not [call for call in writes(host) if call.startswith(("PATCH", "PUT", "POST pulls"))]
    assert run.outputs["pull_request_operation"] == "none"
    assert run.outputs["pull_request_number"] == "1"


def test_the_hosts_own_editor_changes_nothing(
    start: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    """It ends lines with CRLF."""
    definitions = action.listing(*LIST)
    start(definitions=definitions)
    [pull] = repository.pull_requests
    pull.body = f"Hello\n\n{pull.body}\n\nBye".replace("\n", "\r\n")
    before = pull.body
    start(definitions=definitions)
    assert pull.body == before


def test_a_longer_list_updates_the_table_and_keeps_what_is_there(
    start: Start, action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    start(definitions=action.listing(*LIST), body="Mine {count}")
    [pull] = repository.pull_requests
    links = {path: link(repository, path) for path in ("a", "b")}
    pull.body = f"{pull.body}\r\n\r\n- [x] seen\r\n"
    host.requests.clear()
    run = start(definitions=action.listing(*LIST, "c"), body="Mine {count}")
    assert run.outputs["pull_request_operation"] == "updated"
    assert [call for call in writes(host) if call.startswith("PATCH")] == ["PATCH pulls/1"]
    assert (pull.body or "").startswith(f"Mine 2\n\n{BEGIN}\n")
    assert (pull.body or "").endswith(f"\n{END}\r\n\r\n- [x] seen\r\n")
    found = rows(pull.body or "")
    assert [cells[0] for cells in found.values()][:3] == ["added"] * 3
    assert list(found) == ["a", "b", "c", "README.md"]
    if strategy == PER_FILE:
        assert {path: found[path][2] for path in links} == links
    assert found["c"][2] == link(repository, "c")


# --- What an empty file means -------------------------------------------------------------


def effects(text: str) -> list[str]:
    """The list items of our part."""
    return [line for line in text.splitlines() if line.startswith("- ")]


def test_empty_health_files_have_effects(start: Start, repository: Repository) -> None:
    repository.commit({".github/SUPPORT.md": b"Ask us.\n"})
    start(profile="health")
    told = effects(body(repository))
    assert len(told) == 3
    named = {
        path for line in told for path in HEALTH if f"<code>{path}</code>" in html.unescape(line)
    }
    assert named == set(HEALTH) - {".github/SUPPORT.md"}
    told = [html.unescape(line) for line in told]
    [templates] = [line for line in told if "issue templates" in line]
    assert ".github/ISSUE_TEMPLATE/config.yml" in templates
    [guide] = [line for line in told if "at the root" in line]
    assert ".github/CONTRIBUTING.md" in guide


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, 1), ("", 1), ("\n", 1), ("\r\n", 1), ("# Help\n", 0), ("{}", 1), ('{"a": 1}', 0)],
)
def test_only_an_empty_file_has_an_effect(
    action: Action, repository: Repository, content: str | None, told: int
) -> None:
    entry = {"path": ".mcp.json"} | ({} if content is None else {"content": content})
    run = action(definitions=action.listing(entry), language="en", commit_strategy=SINGLE)
    assert run.exit_code == 0
    assert len(effects(body(repository))) == told


def test_effects_and_states_are_told_in_japanese_too(
    action: Action, repository: Repository
) -> None:
    action(profile="health")
    assert len(effects(body(repository))) == 3
    assert "空の間は" in body(repository)


def test_it_says_how_to_change_the_set(action: Action, repository: Repository) -> None:
    action(profile="health", language="en", commit_strategy=SINGLE)
    action(definitions=action.listing("a"), language="en", commit_strategy=SINGLE)
    built_in, own = ((pull.body or "") for pull in repository.pull_requests)
    assert "The list comes from the profile; to change it, give the action a" in built_in
    assert "The list comes from a definition file" in own
    assert "to change it, change that file" in own


# --- The host's limit ---------------------------------------------------------------------


def test_a_body_without_room_stays_as_it_is(
    start: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    start(definitions=action.listing("a"))
    [pull] = repository.pull_requests
    pull.body = full = "x" * (LIMIT - 10)
    host.requests.clear()
    run = start(definitions=action.listing("a", "b"))
    assert run.exit_code == 0, run.text
    assert pull.body == full
    assert not [call for call in writes(host) if call.startswith("PATCH")]
    assert run.outputs["created"] == "1"


@pytest.mark.parametrize("letter", ["x", "語", "😀"])
def test_a_reviewers_long_text_leaves_the_table_what_is_left(
    action: Action, repository: Repository, letter: str
) -> None:
    more = {"language": "en", "commit_strategy": SINGLE}
    paths = [f"{'d' * 50}/{number}" for number in range(60)]
    action(more, definitions=action.listing(*paths))
    [pull] = repository.pull_requests
    units = len(letter.encode("utf-16-le")) // 2
    words = letter * ((LIMIT - 3000) // units)
    pull.body = f"{words}\n\n{pull.body}\n\n{words[:10]}"
    run = action(more, definitions=action.listing(*paths, "new"))
    assert run.exit_code == 0, run.text
    assert pull.body.startswith(f"{words}\n\n{BEGIN}\n")
    assert pull.body.endswith(f"\n{END}\n\n{words[:10]}")
    assert LIMIT - 300 < len(pull.body.encode("utf-16-le")) // 2 <= LIMIT
    shown = len(rows(pull.body))
    assert 5 < shown < 61
    assert f"… and {61 - shown} more." in pull.body


@pytest.mark.parametrize("strategy", [SINGLE])
def test_the_longest_text_of_the_callers_own_leaves_room_for_ours(
    start: Start, action: Action, repository: Repository
) -> None:
    text = "😀" * 30_000
    run = start(definitions=action.listing("a"), body=text)
    assert run.exit_code == 0, run.text
    assert body(repository).startswith(f"{text}\n\n{BEGIN}\n")
    assert list(rows(body(repository))) == ["a"]
