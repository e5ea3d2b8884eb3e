"""The two built-in lists: their paths, their content, their form."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from tests.harness import ROOT

CONFIG = ROOT / "scripts" / "config"
EMPTY = None
SCAFFOLD = {
    ".agents/skills/.gitignore": EMPTY,
    ".agents/skills/.gitkeep": EMPTY,
    ".claude/.gitignore": EMPTY,
    ".claude/.gitkeep": EMPTY,
    ".claude/settings.json": "{}",
    ".cline/.gitignore": EMPTY,
    ".cline/.gitkeep": EMPTY,
    ".codex/.gitignore": EMPTY,
    ".codex/.gitkeep": EMPTY,
    ".cursor/.gitignore": EMPTY,
    ".cursor/.gitkeep": EMPTY,
    ".gemini/.gitignore": EMPTY,
    ".gemini/.gitkeep": EMPTY,
    ".github/copilot-instructions.md": EMPTY,
    ".github/release.yml": EMPTY,
    ".idea/.gitkeep": EMPTY,
    ".vscode/.gitkeep": EMPTY,
    ".vscode/extensions.json": "{}",
    ".vscode/launch.json": "{}",
    ".vscode/settings.json": "{}",
    ".windsurf/.gitignore": EMPTY,
    ".windsurf/.gitkeep": EMPTY,
    ".editorconfig": EMPTY,
    ".gitattributes": EMPTY,
    ".gitignore": EMPTY,
    ".mcp.json": "{}",
    "AGENTS.md": EMPTY,
    "DESIGN.md": EMPTY,
    "README.md": EMPTY,
}
HEALTH = {
    ".github/CODE_OF_CONDUCT.md": EMPTY,
    ".github/CONTRIBUTING.md": EMPTY,
    ".github/GOVERNANCE.md": EMPTY,
    ".github/SECURITY.md": EMPTY,
    ".github/SUPPORT.md": EMPTY,
    ".github/PULL_REQUEST_TEMPLATE.md": EMPTY,
    ".github/ISSUE_TEMPLATE/config.yml": EMPTY,
}
FILES = [
    ("repo-scaffold-definitions.json", SCAFFOLD, 29),
    ("repo-health-file-definitions.json", HEALTH, 7),
]


def read(name: str) -> list[dict[str, Any]]:
    entries = json.loads((CONFIG / name).read_text("utf-8"))
    assert isinstance(entries, list)
    return entries


@pytest.mark.parametrize(("name", "expected", "count"), FILES)
def test_lists_the_paths_in_the_order_of_the_contract(
    name: str, expected: dict[str, str | None], count: int
) -> None:
    assert [entry["path"] for entry in read(name)] == list(expected)
    assert len(read(name)) == count


@pytest.mark.parametrize(("name", "expected", "count"), FILES)
def test_has_content_exactly_where_the_contract_says_so(
    name: str, expected: dict[str, str | None], count: int
) -> None:
    contents = {entry["path"]: entry["content"] for entry in read(name) if "content" in entry}
    assert contents == {path: content for path, content in expected.items() if content is not EMPTY}


@pytest.mark.parametrize(("name", "expected", "count"), FILES)
def test_describes_every_file_and_has_no_other_field(
    name: str, expected: dict[str, str | None], count: int
) -> None:
    for entry in read(name):
        assert entry.keys() <= {"path", "description", "content"}
        assert entry["description"].strip()


@pytest.mark.parametrize(("name", "expected", "count"), FILES)
def test_follows_the_schema_beside_it(
    name: str, expected: dict[str, str | None], count: int
) -> None:
    schema = json.loads((CONFIG / "definitions.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(read(name))


def test_the_health_set_leaves_funding_out() -> None:
    assert not any("FUNDING" in entry["path"] for entry in read(FILES[1][0]))
