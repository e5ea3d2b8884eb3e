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

from registrar import definitions, errors, profiles
from registrar.messages import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
DOCUMENTS = sorted([README, ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("**/*.md")])
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
OURS = re.compile(r"(OWNER/registrar@.+|\./)")

TROUBLESHOOTING = ROOT / "docs/troubleshooting.md"
USER_SEES = (
    "input.",
    "definitions.",
    "path.",
    "preflight.",
    "refusal.",
    "limit.",
    "host.",
    "branch.",
    "pull_request.",
    "run.",
)
TOO_SHORT_TO_BE_UNIQUE = {"refusal.other"}
"""Its only fixed word is "HTTP"."""


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


# --- Tables -------------------------------------------------------------------------------


def table(document: Path, first_header: str) -> list[list[str]]:
    """The rows of the table whose first column has this header."""
    _, found, rest = document.read_text("utf-8").partition(f"\n| {first_header} |")
    assert found, f"{name(document)} has no table that begins with {first_header}"
    lines = rest.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_readme_lists_every_input() -> None:
    assert table(README, "Input") == [
        [f"`{key}`", f"`{each['default']}`" if "default" in each else "", each["description"]]
        for key, each in ACTION["inputs"].items()
    ]


def test_readme_lists_every_output() -> None:
    assert table(README, "Output") == [
        [f"`{key}`", each["description"]] for key, each in ACTION["outputs"].items()
    ]


def test_readme_lists_every_exit_code() -> None:
    cancelled = [errors.Cancelled(number).exit_code for number in (2, 15)]
    assert [row[0] for row in table(README, "Exit code")] == [
        str(errors.EXIT_DONE),
        str(errors.EXIT_FAILED),
        str(errors.EXIT_REFUSED),
        ", ".join(map(str, cancelled)),
    ]


def test_readme_counts_the_files_of_each_profile() -> None:
    text = README.read_text("utf-8")
    counts = {
        each.definitions.name: int(count)
        for each in profiles.PROFILES.values()
        for count in re.findall(rf"\[(\d+) [^]]+\]\([^)]*{each.definitions.name}\)", text)
    }
    assert counts == {
        each.definitions.name: len(json.loads(each.definitions.read_text("utf-8")))
        for each in profiles.PROFILES.values()
    }


def test_how_it_works_names_what_each_profile_writes() -> None:
    assert table(ROOT / "docs/how-it-works.md", "Profile") == [
        [
            f"`{text}`"
            for text in (each.name, each.branch, each.commit_message.format(path="<path>"))
        ]
        + [f"`{each.title}`"]
        for each in profiles.PROFILES.values()
    ]


def test_definitions_lists_every_field() -> None:
    rows = table(ROOT / "docs/definitions.md", "Field")
    assert [row[0] for row in rows] == [f"`{field}`" for field in definitions.FIELDS]


# --- Examples -----------------------------------------------------------------------------


def blocks(language: str) -> list[tuple[str, str]]:
    """Every fenced block of a language, with its place."""
    found = []
    for document in DOCUMENTS:
        text = document.read_text("utf-8")
        for match in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, match.start()) + 1
            found.append((f"{name(document)}:{line}", match[1]))
    return found


def jobs_of(text: str) -> list[dict[str, Any]]:
    """The jobs of an example; none when it is no workflow."""
    document = yaml.safe_load(text)
    return list(document.get("jobs", {}).values()) if isinstance(document, dict) else []


def ours_of(job: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of a job that use the action."""
    return [step for step in job["steps"] if OURS.fullmatch(step.get("uses", ""))]


def test_there_are_examples() -> None:
    assert len([place for place, text in blocks("ya?ml") if "OWNER/registrar@" in text]) > 3


@pytest.mark.parametrize(("place", "text"), blocks("ya?ml"))
def test_yaml_example_fits_action_yml(place: str, text: str) -> None:
    for job in jobs_of(text):
        ours = ours_of(job)
        assert ours, place
        for step in ours:
            assert step.get("with", {}).keys() <= ACTION["inputs"].keys(), place
        other_ids = {step.get("id") for step in job["steps"] if step not in ours}
        our_ids = {step.get("id") for step in ours}
        for step_id, output in re.findall(r"steps\.([\w-]+)\.outputs\.([\w-]+)", str(job)):
            assert step_id in our_ids | other_ids, f"{place}: {step_id}"
            assert step_id in other_ids or output in ACTION["outputs"], f"{place}: {output}"


@pytest.mark.parametrize(("place", "text"), blocks("ya?ml"))
def test_job_that_uses_its_own_token_gives_it_the_permissions(place: str, text: str) -> None:
    needed = {"contents": "write", "pull-requests": "write"}
    for job in jobs_of(text):
        own = any("host_token" not in step.get("with", {}) for step in ours_of(job))
        assert job["permissions"] == (needed if own else {}), place


def test_both_examples_of_a_definition_file_are_read_and_say_the_same(tmp_path: Path) -> None:
    read = []
    for language, suffix in (("ya?ml", ".yml"), ("json", ".json")):
        (text,) = (
            text
            for place, text in blocks(language)
            if place.startswith("docs/definitions.md") and "jobs:" not in text
        )
        file = tmp_path / f"list{suffix}"
        file.write_text(text, "utf-8")
        read.append(definitions.load(file, shown_as=file.name))
    assert read[0] == read[1]
    assert read[0][0]
    assert not read[0][1]


# --- Links --------------------------------------------------------------------------------


def anchors(document: Path) -> set[str]:
    """The anchors that the host makes of headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8")):
        if target.startswith("https://"):
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
        if document in reached:
            continue
        reached.add(document)
        links = re.findall(r"\]\(([^)#\s]+\.md)", document.read_text("utf-8"))
        pending += [(document.parent / link).resolve() for link in links if "://" not in link]
    assert set(DOCUMENTS) <= reached


# --- Troubleshooting ----------------------------------------------------------------------


def catalogue(language: str) -> dict[str, list[str]]:
    """The fixed parts of every text that a user may see as an error or a warning."""
    file = ROOT / f"src/registrar/messages/{language}.yml"
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
