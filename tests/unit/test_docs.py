"""The documents agree with action.yml, the catalogue and the code."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from registrar.inputs.interface import INPUTS
from registrar.lists import constraints, entries, loading, syntax, when
from registrar.lists.profiles import CONFIG, PROFILES
from registrar.reporting.reporter import HELP_PAGES
from registrar.reporting.reporter import section as section_of
from registrar.reporting.runner import address_of_pages
from registrar.texts.messages import LANGUAGES, Catalogue, Message, msg, read
from scripts.lib import demo
from tests.documents import (
    DOCUMENTS,
    JAPANESE_PAGES,
    README,
    REFERENCE,
    ROOT,
    blocks,
    name,
    riddles,
    table,
)
from tests.harness import JAPANESE

MAINTAINING = ROOT / ".github/MAINTAINING.md"
DEFINITIONS = ROOT / "docs/definitions.md"
DESCRIPTIONS = "descriptions.ja.yml"


# --- Tables -------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_description_of_an_input_names_its_placeholders(language: str) -> None:
    for key, each in INPUTS.items():
        description = Catalogue(language).text(each.description)
        assert re.findall(r"{([\w:]+)}", description) == list(each.placeholders), key


def test_definitions_lists_every_field() -> None:
    rows = table(DEFINITIONS, "Field")
    assert [row[0] for row in rows] == [f"`{each}`" for each in entries.FIELDS]
    rows = table(DEFINITIONS, "Key")
    assert [row[0] for row in rows] == [f"`{key}`" for key in loading.KEYS]


def test_definitions_lists_every_key_of_a_condition() -> None:
    rows = table(DEFINITIONS, "In `when`")
    keys = [key for row in rows for key in re.findall(r"`(\w+)`", row[0])]
    assert keys == list(when.CONDITION_KEYS)


def test_definitions_lists_the_limits_that_people_meet() -> None:
    """The other limits are only in errors, because only an odd list reaches them."""
    text = DEFINITIONS.read_text("utf-8")
    numbers, _, _ = text.partition("\n## Limits of a list\n\n")[2].partition("\n\n")
    limits = (
        *(
            constraints.FILE_BYTES,
            syntax.MOST_NODES,
            constraints.MOST_PATHS,
            constraints.MOST_PATHS,
        ),
        *(constraints.CONTENT_BYTES, constraints.ALL_BYTES, constraints.MOST_ALTERNATIVES),
        *(constraints.MOST_RULES, constraints.MOST_PARTS),
    )
    assert re.findall(r"[\d,]*\d", numbers) == [f"{limit:,}" for limit in limits]


def test_editors_find_the_schema_and_the_hook_finds_the_same_lists() -> None:
    schema = json.loads((CONFIG / "definitions.schema.json").read_text("utf-8"))
    text = DEFINITIONS.read_text("utf-8")
    [line] = re.findall(r"^# yaml-language-server: \$schema=(\S+)$", text, re.MULTILINE)
    [entry] = (json.loads(block) for _, block in blocks("json", DEFINITIONS))
    assert [line, entry["url"]] == [schema["$id"]] * 2
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    matched = [each.removeprefix("**/") for each in entry["fileMatch"]]
    for each in matched:
        assert all(re.search(hook["files"], each.replace("*", name)) for name in ("", "-a"))
        assert not re.search(hook["files"], f".github/workflows/{Path(each).name}")
    text = " ".join(REFERENCE.read_text("utf-8").split())
    assert "it checks `.github/registrar*.yml`, `.yaml` and `.json`" in text
    assert {Path(each).suffix for each in matched} == {".yml", ".yaml", ".json"}


# --- Numbers ------------------------------------------------------------------------------


def constant(name: str) -> Any:
    """Return the value of a constant of the code, from any module."""
    files = (ROOT / "src").rglob("*.py")
    (found,) = (
        value
        for file in files
        for value in re.findall(rf"^{name} = (.+)$", file.read_text("utf-8"), re.MULTILINE)
    )
    return ast.literal_eval(found)


def numbers_in(page: str) -> set[str]:
    """Return the numbers of a page, in the form in which the page shows them."""
    return set(re.findall(r"\d(?:[\d,.]*\d)?", (ROOT / page).read_text("utf-8")))


def test_documents_have_the_numbers_of_the_code() -> None:
    directories, last = constant("DIRECTORIES_PER_QUERY"), constant("LAST_SUFFIX")
    (per_minute, _), (per_hour, _) = constant("WINDOWS")
    first, alone, _ = constant("GRACE_SECONDS").values()
    told = [per_minute, per_hour, first, alone]
    assert {f"{number:g}" for number in told} <= numbers_in("docs/concepts.md")
    assert str(last) in numbers_in("docs/concepts.md")
    assert {str(constant("CONNECTIONS")), str(directories)} <= numbers_in("docs/design.md")


def test_documents_have_the_lengths_of_the_built_in_lists() -> None:
    scaffold, health = (
        len(json.loads((CONFIG / PROFILES[name].definitions).read_text("utf-8")))
        for name in ("scaffold", "health")
    )
    for page in ("README.md", "README.ja.md", "CHANGELOG.md"):
        assert {str(scaffold), str(health)} <= numbers_in(page), page
    # The token, two reads, a check for each, two about the branch; then branch, a commit for
    # each, pull request
    all_missing = 3 + scaffold + 2 + 1 + scaffold + 1
    assert str(all_missing) in numbers_in("docs/reference.md")
    told = {scaffold, all_missing, health, 3 + health + 2 + 1 + health + 1, 3 + scaffold}
    assert set(map(str, told)) <= numbers_in("docs/design.md")


# --- Links --------------------------------------------------------------------------------


FOR_CONTRIBUTORS = [*(ROOT / ".github").glob("*.md"), ROOT / "benchmarks/README.md"]
OWN_ANCHOR = r'<a name="([\w-]+)"></a>'


def headings(text: str) -> list[tuple[str, str]]:
    """Return the marks and the GitHub anchors of a page's headings, in order."""
    return [
        (marks, re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-"))
        for marks, words in re.findall(r"^(#+) (.+)$", without_blocks(text), re.MULTILINE)
    ]


def without_blocks(text: str) -> str:
    """Return a page without its code blocks, because a comment there looks like a heading."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(document: Path) -> set[str]:
    """Return the anchors that GitHub makes of headings, and the anchors in the page itself.

    https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#custom-anchors
    """
    text = document.read_text("utf-8")
    return {anchor for _, anchor in headings(text)} | set(re.findall(OWN_ANCHOR, text))


@pytest.mark.parametrize("document", [*DOCUMENTS, *FOR_CONTRIBUTORS], ids=name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8")):
        # The second form leads to a page of the repository on GitHub, from the page of the README
        if target.startswith(("https://", "../../actions/")):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.is_relative_to(ROOT), target
        assert file.is_file(), target
        assert not anchor or anchor in anchors(file), target


def test_contributing_names_what_is_there() -> None:
    text = MAINTAINING.read_text("utf-8")
    named = re.findall(r"`([\w.]+)`,? (?:in|of) `([\w/]+\.py)`", text)
    assert len(named) > 10
    for word, file in named:
        [path] = filter(Path.is_file, (ROOT / file, ROOT / "src/registrar" / file))
        assert re.search(rf"\b{word.rpartition('.')[2]}\b", path.read_text("utf-8")), (word, file)


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


ENGLISH_PAGES = [each for each in DOCUMENTS if each not in JAPANESE_PAGES]


@pytest.mark.parametrize("document", ENGLISH_PAGES, ids=name)
def test_no_document_has_a_riddle(document: Path) -> None:
    """The test finds only some patterns of riddles; `.github/MAINTAINING.md` has the rules."""
    blocks = re.split(r"\n\n|\n(?=[-|]|\d\.)", without_blocks(document.read_text("utf-8")))
    lines = [" ".join(block.split()) for block in blocks]
    assert {line: found for line in lines if (found := riddles(line))} == {}


def test_no_docstring_or_comment_has_a_riddle() -> None:
    """The patterns are the same as for documents."""
    words = re.compile(r'"""(?:.|\n)*?"""|(?:^|\s)# .*$', re.MULTILINE)
    found = {
        f"{name(module)}: {part[0]}": riddle
        for folder in ("src", "scripts", "tests")
        for module in (ROOT / folder).rglob("*.py")
        for part in words.finditer(module.read_text("utf-8"))
        if (riddle := riddles(part[0].strip('"# \n')))
    }
    assert found == {}


# --- Japanese pages -----------------------------------------------------------------------


def test_every_heading_of_the_help_has_its_japanese_one() -> None:
    """It has the anchor of the English heading, so that links are the same in both languages."""
    english, japanese = ((ROOT / HELP_PAGES[each]).read_text("utf-8") for each in ("en", "ja"))
    below = re.findall(rf"^{OWN_ANCHOR}\n\n(#+) (.*)$", japanese, re.MULTILINE)
    assert [marks for marks, _ in headings(japanese)] == ["#", *(marks for _, marks, _ in below)]
    assert all(JAPANESE.search(words) for *_, words in below)
    _, *expected = headings(english)
    assert [(marks, anchor) for anchor, marks, _ in below] == expected


@pytest.mark.parametrize("document", JAPANESE_PAGES, ids=name)
def test_a_japanese_page_says_what_is_english(document: Path) -> None:
    text = without_blocks(document.read_text("utf-8"))
    assert "https://docs.github.com/en/" not in text
    heading = ""
    for line in text.splitlines():
        heading = heading if line.startswith("- ") or not line else line
        for target in re.findall(r"\]\(([^)#\s]+\.md)[^)]*\)(?!（英語）)", line):
            is_japanese = target.endswith(".ja.md") or "://" in target
            assert is_japanese or "英語" in heading or "[English]" in line, (target, line)
            sibling = document.parent / f"{target.removesuffix('.md')}.ja.md"
            assert not sibling.exists() or "[English]" in line, target


def japanese_texts() -> dict[str, str]:
    """Return the Japanese texts, by their places."""
    texts = {f"ja.yml, {key}": text for key, text in read("ja.yml").items()}
    texts |= {f"descriptions.ja.yml, {key}": text for key, text in read(DESCRIPTIONS).items()}
    texts |= {f"demo.py, {key}": text for key, text in demo.TEXTS["ja"].items()}
    return texts | {name(page): page.read_text("utf-8") for page in JAPANESE_PAGES}


@pytest.mark.parametrize("row", table(MAINTAINING, "Term"), ids=lambda row: str(row[0]))
def test_one_thing_has_one_word_in_japanese(row: list[str]) -> None:
    texts = japanese_texts()
    _, words, others = (cell.split("、") for cell in row)
    assert all(any(word in text for text in texts.values()) for word in words), words
    assert not [(word, at) for word in others for at, text in texts.items() if word in text]


def test_japanese_has_blanks_beside_latin_letters_only_and_brackets_of_its_own() -> None:
    letter, mark, latin = "[ぁ-んァ-ヶー一-龠]", "[、。「」（）]", "[A-Za-z0-9]"
    blanks = rf"{letter} {letter}|{mark} (?!\|)|[^|-] {mark}|{letter}{latin}|{latin}{letter}"
    odd = re.compile(rf"{blanks}|\({letter}|{letter}\)")
    apart = re.compile(r"ja\.yml, (page\.letter_|help\.|input\.argument$)")
    for place, text in japanese_texts().items():
        # For the checks, code counts as a Latin word, and an address does not count
        plain = re.sub(r"`[^`]*`", "x", re.sub(r"\]\([^)]*\)", "]", without_blocks(text)))
        assert apart.match(place) or not odd.search(plain), (place, odd.findall(plain))


# --- Troubleshooting ----------------------------------------------------------------------


NO_ERRORS = re.compile(
    r"(label|option|help|operation|wait|group|progress|commit|state|cause|preview"
    r"|summary|table|body|effect|page|presence|evidence)\."
    r"|advice\.(?!(blocked|conflict)$)"
    r"|kind\.cancelled$"
    r"|check\.(present|missing)$"
    r"|outcome\.(?!check$)"
    r"|run\.language$"
    r"|reason\.(exists|no_property|property_lines|satisfied|inherited|other_case|unicode_form|hides|hides_inherited|used_instead|deleted|on_branch|same"
    r"|edited|conflicts|not_corrected|from_base|no_room|no_update|list_elsewhere|older_list|not_named|with_presence)$"
    r"|many\.(group|excluded|missing|left|state|count|table)_"
    r"|many\.(selected|selected_of|queries|queries_and_points|nothing_read|nothing_missing|missing"
    r"|now|next|guessed|refused|longer|to_close|may_close|to_withdraw|withdrawable|alone|points|rules_not_applying|rules|rule|unset|counted"
    r"|row|row_state|row_with_time|lines_left_out|repository_and_list|with_pull_request|outcome|outcome_preview|heading|more_private"
    r"|capped|capped_once|in_turn|branches_left|leave_out|descriptions|described|to_describe|at_most_to_close|ended_early|ask|ask_to_withdraw|not_confirmed|not_writable|not_named|more_rows|missing_files|paths"
    r"|not_complete)$"
)
"""The texts that are not the cause of a failure: parts of other texts, headings, progress."""


def test_every_error_has_a_section_and_every_section_an_error_or_a_symptom() -> None:
    page = ROOT / HELP_PAGES["en"]
    keys = read("en.yml")
    explained = {key for key in keys if section_of(msg(key))}
    assert {key for key in keys if NO_ERRORS.match(key)} == set(keys) - explained
    sections = read("sections.yml")
    for beginning in sections:
        assert any(key.startswith(beginning) for key in keys), beginning
    linked = set(sections.values())
    assert linked <= anchors(page)
    symptoms = page.read_text("utf-8").partition("\n## ")[0]
    headings = re.findall(r"^### (.+)$", page.read_text("utf-8"), re.MULTILINE)
    for heading in headings:
        anchor = heading.lower().replace(" ", "-").replace(",", "")
        assert anchor in linked or f"](#{anchor})" in symptoms, heading


@pytest.mark.parametrize(
    ("message", "section"),
    [
        (msg("input.unknown_value"), "inputs"),
        (msg("input.token_missing"), "the-token-is-missing"),
        (
            msg("host.failed", operation=msg("operation.token"), reason=msg("refusal.sso")),
            "single-sign-on",
        ),
        (msg("host.failed", reason=msg("host.failed", reason="x")), "the-connection-fails"),
        (
            msg("progress.failed", path="input.x", reason=msg("reason.blocked")),
            "a-part-of-the-path-is-a-file",
        ),
        (msg("pull_request.changed"), "others-write-to-the-branch"),
        (msg("pull_request.switched_off"), "the-repository-cannot-be-written-to"),
        (msg("refusal.malformed_path"), "paths-in-a-list"),
        (msg("refusal.reference"), "the-branch-is-refused"),
        (msg("fault.reference"), "the-branch-is-refused"),
        (msg("input.team_elsewhere"), "labels-and-people"),
        (msg("preflight.no_ref"), "inputs"),
        # The reasons of the states of repositories and paths
        (msg("preflight.no_push"), "a-permission-is-missing"),
        (msg("preflight.archived"), "the-repository-cannot-be-written-to"),
        (msg("limit.out_of_time"), "rate-limits"),
        (msg("many.stopped"), "many-repositories"),
        (msg("many.unreadable"), "the-repository-is-not-found"),
        (msg("advice.conflict"), "a-pull-request-conflicts"),
        (msg("reason.declined"), "a-closed-pull-request"),
        (msg("reason.unknown"), "the-connection-fails"),
        (msg("reason.workflow_scope"), "workflow-files"),
        (msg("check.fails_declined"), "files-are-missing"),
        (msg("run.language"), ""),
        (msg("progress.failed", path="x", reason="y"), ""),
    ],
)
def test_the_most_exact_explanation_counts(message: Message, section: str) -> None:
    assert section_of(message) == section


@pytest.mark.parametrize(
    ("repository", "reference", "page"),
    [
        ("octo/registrar", "v1", "https://github.example/octo/registrar/blob/v1/"),
        ("octo/registrar", "", ""),
        ("", "v1", ""),
        ("octo/registrar](http://evil.example", "v1", ""),
    ],
)
def test_pages_are_those_of_the_version_in_use(repository: str, reference: str, page: str) -> None:
    environ = {
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_ACTION_REPOSITORY": repository,
        "GITHUB_ACTION_REF": reference,
    }
    assert address_of_pages(environ) == page


# --- Workflows ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "workflow", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.stem
)
def test_a_secret_is_read_in_jobs_with_an_environment_only(workflow: Path) -> None:
    """Otherwise every workflow on every branch could read the secret (docs/permissions.md)."""
    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]
    with_secrets = {name: job for name, job in jobs.items() if "secrets." in yaml.safe_dump(job)}
    assert all("environment" in job for job in with_secrets.values()), with_secrets.keys()
