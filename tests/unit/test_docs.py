"""What the documents say is held to action.yml, the catalogue and the code."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from registrar import errors, inputs, models, profiles
from registrar.definitions import entries, loading, parsing, rules
from registrar.texts.messages import LANGUAGES, Catalogue, msg
from registrar.workspace import Folder
from tests.documents import DOCUMENTS, README, README_JA, ROOT, name

CONCEPTS = ROOT / "docs/concepts.md"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

TROUBLESHOOTING = ROOT / "docs/troubleshooting.md"
USER_SEES = (
    "input.",
    "definitions.",
    "file.",
    "path.",
    "preflight.",
    "refusal.",
    "limit.",
    "host.",
    "branch.",
    "pull_request.",
    "run.",
)
TOO_SHORT_TO_BE_UNIQUE = {"refusal.other", "definitions.at_line"}
"""Their only fixed words are "HTTP" and "line"."""


# --- Tables -------------------------------------------------------------------------------


def table(document: Path, first_header: str) -> list[list[str]]:
    """The rows of all tables whose first column has this header."""
    _, *found = document.read_text("utf-8").split(f"\n| {first_header} |")
    assert found, f"{name(document)} has no table that begins with {first_header}"
    lines = [line for rest in found for line in rest.partition("\n\n")[0].splitlines()[2:]]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names_and_defaults(kind: str) -> list[list[str]]:
    return [
        [f"`{key}`", f"`{each['default']}`" if "default" in each else ""]
        for key, each in ACTION[kind].items()
    ]


def test_readme_lists_every_input() -> None:
    descriptions = [each["description"] for each in ACTION["inputs"].values()]
    rows = table(README, "Input")
    assert [row[:2] for row in rows] == names_and_defaults("inputs")
    assert [row[2] for row in rows] == descriptions


def test_readme_lists_every_output() -> None:
    assert table(README, "Output") == [
        [f"`{key}`", each["description"]] for key, each in ACTION["outputs"].items()
    ]


def test_japanese_readme_lists_every_input_and_output() -> None:
    rows = table(README_JA, "入力")
    assert [row[:2] for row in rows] == names_and_defaults("inputs")
    assert [row[0] for row in table(README_JA, "出力")] == [f"`{key}`" for key in ACTION["outputs"]]
    japanese = Catalogue("ja")
    assert [row[2] for row in rows] == [
        japanese.text(msg(f"option.{name}")) for name in inputs.INPUTS
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", inputs.INPUTS)
def test_the_description_of_an_input_names_its_placeholders(name: str, language: str) -> None:
    description = Catalogue(language).text(msg(f"option.{name}"))
    assert re.findall(r"{(\w+)}", description) == list(inputs.INPUTS[name].placeholders)


def test_comparison_lists_every_input_and_output() -> None:
    rows = table(ROOT / "docs/comparison.md", "Ours")
    assert [row[0] for row in rows] == [f"`{k}`" for k in (*ACTION["inputs"], *ACTION["outputs"])]


def test_concepts_list_every_placeholder_with_the_inputs_that_know_it() -> None:
    listed = {
        (placeholder, name)
        for placeholders, _, names in table(CONCEPTS, "Placeholder")
        for placeholder in re.findall(r"{(\w+)}", placeholders)
        for name in (inputs.PLACEHOLDERS if names == "all four" else re.findall(r"\w+", names))
    }
    assert listed == {(p, name) for name, known in inputs.PLACEHOLDERS.items() for p in known}


def test_concepts_list_every_mode() -> None:
    assert [row[0] for row in table(CONCEPTS, "`mode`")] == [f"`{mode}`" for mode in models.Mode]


@pytest.mark.parametrize(
    ("readme", "header"), [(README, "Exit code"), (README_JA, "終了コード")], ids=["en", "ja"]
)
def test_readme_lists_every_exit_code(readme: Path, header: str) -> None:
    cancelled = [errors.exit_code(errors.Cancelled(n), wrote=True) for n in (2, 15)]
    assert [row[0] for row in table(readme, header)] == [
        str(errors.EXIT_DONE),
        str(errors.EXIT_FAILED),
        str(errors.EXIT_REFUSED),
        ", ".join(map(str, cancelled)),
    ]


@pytest.mark.parametrize("readme", [README, README_JA], ids=name)
def test_readme_counts_the_files_of_each_profile(readme: Path) -> None:
    text = readme.read_text("utf-8")
    counts = {
        each.definitions.name: int(count)
        for each in profiles.PROFILES.values()
        for count in re.findall(rf"\[[^]\d]*(\d+) [^]]+\]\([^)]*{each.definitions.name}\)", text)
    }
    assert counts == {
        each.definitions.name: len(json.loads(each.definitions.read_text("utf-8")))
        for each in profiles.PROFILES.values()
    }


def test_concepts_name_what_each_profile_writes() -> None:
    assert table(CONCEPTS, "Profile") == [
        [
            f"`{text}`"
            for text in (each.name, each.branch, each.commit_message.format(path="<path>"))
        ]
        + [f"`{each.title}`"]
        for each in profiles.PROFILES.values()
    ]


def test_definitions_lists_every_field() -> None:
    rows = table(ROOT / "docs/definitions.md", "Field")
    assert [row[0] for row in rows] == [f"`{field}`" for field in entries.FIELDS]
    rows = table(ROOT / "docs/definitions.md", "Key")
    assert [row[0] for row in rows] == [f"`{key}`" for key in loading.KEYS]


def test_definitions_lists_every_limit() -> None:
    numbers = " ".join(row[1] for row in table(ROOT / "docs/definitions.md", "What"))
    limits = (
        *(rules.FILE_BYTES, parsing.MOST_NODES, rules.MOST_PATHS, rules.MOST_DIRECTORIES),
        *(rules.CONTENT_BYTES, rules.ALL_BYTES, rules.DESCRIPTION_CHARACTERS),
        *(rules.MOST_ALTERNATIVES, rules.MOST_GLOBS),
    )
    assert re.findall(r"[\d,]*\d", numbers) == [f"{limit:,}" for limit in limits]


def test_the_project_has_its_own_health_files() -> None:
    listed, _ = loading.load(
        Folder(profiles.HEALTH.definitions.parent), profiles.HEALTH.definitions.name
    )
    assert all((ROOT / each.path).stat().st_size > len("\n") for each in listed)


# --- Links --------------------------------------------------------------------------------


def anchors(document: Path) -> set[str]:
    """The anchors that the host makes of headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8")):
        # The second: a page of the repository on GitHub, seen from the page that shows the README
        if target.startswith(("https://", "../../actions/")):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.is_relative_to(ROOT), target
        assert file.is_file(), target
        assert not anchor or anchor in anchors(file), target


def test_every_document_is_reached_from_the_readme() -> None:
    reached, pending = set[Path](), [README]
    while pending:
        document = pending.pop()
        if document in reached or not document.exists():
            continue
        reached.add(document)
        links = re.findall(r"\]\(([^)#\s]+\.md)", document.read_text("utf-8"))
        pending += [(document.parent / link).resolve() for link in links if "://" not in link]
    assert set(DOCUMENTS) <= reached


# --- Troubleshooting ----------------------------------------------------------------------


def catalogue(language: str) -> dict[str, list[str]]:
    """The fixed parts of every text that a user may see as an error or a warning."""
    file = ROOT / f"src/registrar/texts/{language}.yml"
    texts: dict[str, str] = yaml.safe_load(file.read_text("utf-8"))
    return {
        key: [fixed for fixed, *_ in _parts(text)]
        for key, text in texts.items()
        if key.startswith(USER_SEES)
    }


def _parts(text: str) -> Iterator[tuple[str, str | None]]:
    fixed = ""
    for literal, field, _, _ in string.Formatter().parse(text):
        fixed += literal
        if field is not None:
            yield fixed, field
            fixed = ""
    yield fixed, None


ENTRY = re.compile(r"<!-- (?P<key>[a-z_.0-9]+) -->\s*(?:### )?“(?P<en>[^”]+)” · 「(?P<ja>[^」]+)」")
ENTRIES = list(ENTRY.finditer(TROUBLESHOOTING.read_text("utf-8")))


def test_troubleshooting_has_every_text_once() -> None:
    assert sorted(entry["key"] for entry in ENTRIES) == sorted(catalogue("en"))
    assert TROUBLESHOOTING.read_text("utf-8").count("<!--") == len(ENTRIES)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["key"] for entry in ENTRIES])
def test_troubleshooting_quotes_words_that_users_see(entry: re.Match[str], language: str) -> None:
    texts = catalogue(language)
    words = entry[language]
    found = {key for key, parts in texts.items() if any(words in part for part in parts)}
    assert entry["key"] in found
    if entry["key"] not in TOO_SHORT_TO_BE_UNIQUE:
        assert found == {entry["key"]}, "these words do not tell it from others"
