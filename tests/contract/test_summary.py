"""The step summary as a person reads it: counts, pull request, paths, in this order."""

from __future__ import annotations

import re

import pytest

from tests.contract.test_definition_files import SCAFFOLD
from tests.fakehub import Repository
from tests.harness import SINGLE, Action, Start

COUNTS = {"en": "| Item | Count |", "ja": "| 項目 | 件数 |"}
PATHS = {"en": "| Path | State | Description |", "ja": "| パス | 状態 | 説明 |"}


def positions(text: str, *parts: str) -> list[int]:
    """Where these parts stand; each of them once."""
    assert [text.count(part) for part in parts] == [1] * len(parts), text
    return [text.index(part) for part in parts]


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("profile", ["scaffold", "health"])
def test_counts_then_pull_request_then_paths(
    start: Start, repository: Repository, profile: str, language: str
) -> None:
    text = start(profile=profile, language=language, assignees="stranger").summary
    link = f"[#1]({repository.html_url}/pull/1)"
    found = positions(text, COUNTS[language], link, PATHS[language])
    assert found == sorted(found)
    assert text.startswith("## ")
    assert text.index("<code>stranger</code>") > text.index(COUNTS[language])


def test_every_path_has_its_row(start: Start, repository: Repository) -> None:
    text = start().summary
    rows = re.findall(r"(?m)^\| <code>(.*?)</code> \| (\w+)", text)
    states = {"created": 27, "skipped": 2}
    assert len(rows) == len(SCAFFOLD)
    assert {state: [s for _, s in rows].count(state) for state in states} == states


@pytest.mark.parametrize(("count", "opened"), [(1, True), (8, True), (9, False), (29, False)])
@pytest.mark.parametrize("mode", ["register", "plan"])
def test_a_long_list_is_folded_and_a_short_one_is_not(
    action: Action, repository: Repository, mode: str, count: int, opened: bool
) -> None:
    definitions = action.listing(*(f"f{number}" for number in range(count)))
    text = action(mode=mode, definitions=definitions, commit_strategy=SINGLE, language="en").summary
    tag = "<details open>" if opened else "<details>"
    assert f"{tag}\n<summary>All {count} files</summary>\n\n| Path |" in text
    assert text.count("<details") == text.count("</details>") == (1 if mode == "register" else 2)


def test_all_has_both_one_after_the_other(action: Action, repository: Repository) -> None:
    text = action(profile="all", mode="plan", commit_strategy=SINGLE, language="en").summary
    assert text.count(COUNTS["en"]) == text.count(PATHS["en"]) == 2
    assert text.index("<code>health</code>") < text.index("<code>scaffold</code>")
