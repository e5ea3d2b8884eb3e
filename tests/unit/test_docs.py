"""What the documents say is held to action.yml, the catalogue and the code."""

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
from registrar.models.conditions import MOST_CHARACTERS
from registrar.reporting.reporter import section as section_of
from registrar.reporting.runner import HELP_PAGE, help_page
from registrar.texts.messages import LANGUAGES, Catalogue, Message, msg, read
from tests.documents import DOCUMENTS, README, REFERENCE, REFERENCE_JA, ROOT, name, table

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


# --- Tables -------------------------------------------------------------------------------


def test_the_design_lists_inputs_in_their_order() -> None:
    """Those that have another name in a similar action."""
    rows = table(ROOT / "docs/design.md", "Ours")
    listed = [row[0].strip("`") for row in rows]
    assert listed == [key for key in INPUTS if key in listed]
    assert "definitions" in listed


def test_the_japanese_reference_lists_every_output() -> None:
    rows = [row[0] for row in table(REFERENCE_JA, "出力")]
    assert rows == [f"`{key}`" for key in ACTION["outputs"]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_description_of_an_input_names_its_placeholders(language: str) -> None:
    for key, each in INPUTS.items():
        description = Catalogue(language).text(each.description)
        assert re.findall(r"{([\w:]+)}", description) == list(each.placeholders), key


def test_definitions_lists_every_field() -> None:
    rows = table(ROOT / "docs/definitions.md", "Field")
    assert [row[0] for row in rows] == [f"`{field}`" for field in entries.FIELDS]
    rows = table(ROOT / "docs/definitions.md", "Key")
    assert [row[0] for row in rows] == [f"`{key}`" for key in loading.KEYS]


def test_the_reference_lists_every_key_of_a_condition() -> None:
    rows = table(REFERENCE, "In `when`")
    keys = [key for row in rows for key in re.findall(r"`(\w+)`", row[0])]
    assert keys == list(when.CONDITION_KEYS)


def test_the_reference_lists_every_limit_of_a_list() -> None:
    page = (ROOT / "docs/reference.md").read_text("utf-8")
    numbers, _, _ = page.partition("\n## Limits of a list\n\n")[2].partition("\n\n")
    limits = (
        *(constraints.FILE_BYTES, syntax.MOST_NODES, syntax.MOST_CHARACTERS),
        *(constraints.MOST_PATHS, constraints.MOST_DIRECTORIES, constraints.MOST_IN_FOLDERS),
        *(constraints.CONTENT_BYTES, constraints.ALL_BYTES, constraints.DESCRIPTION_CHARACTERS),
        *(constraints.MOST_ALTERNATIVES, constraints.MOST_RULES, constraints.MOST_PARTS),
        *(constraints.MOST_GLOBS, MOST_CHARACTERS),
    )
    assert re.findall(r"[\d,]*\d", numbers) == [f"{limit:,}" for limit in limits]


# --- Numbers ------------------------------------------------------------------------------


def constant(name: str) -> Any:
    """The value of a constant, wherever the code keeps it."""
    files = (ROOT / "src").rglob("*.py")
    (found,) = (
        value
        for file in files
        for value in re.findall(rf"^{name} = (.+)$", file.read_text("utf-8"), re.MULTILINE)
    )
    return ast.literal_eval(found)


def numbers_in(page: str) -> set[str]:
    """The numbers of a page, as they are written there."""
    return set(re.findall(r"\d(?:[\d,.]*\d)?", (ROOT / page).read_text("utf-8")))


def test_documents_have_the_numbers_of_the_code() -> None:
    directories, files = constant("DIRECTORIES_PER_QUERY"), constant("FILES_PER_COMMIT")
    megabytes, last = constant("BYTES_PER_COMMIT") // 1_000_000, constant("LAST_SUFFIX")
    (per_minute, _), (per_hour, _) = constant("WINDOWS")
    first, alone, _ = constant("GRACE_SECONDS").values()
    told = [per_minute, per_hour, first, alone]
    assert {f"{number:g}" for number in told} <= numbers_in("docs/how-it-works.md")
    told = [constant("CONNECTIONS"), directories]
    assert {str(number) for number in told} <= numbers_in("docs/reference.md")
    told = [directories, files, megabytes, last]
    assert {f"{number:,}" for number in told} <= numbers_in("docs/concepts.md")


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
    assert str(all_missing) in numbers_in("docs/concepts.md")
    told = {scaffold, all_missing, health, 3 + health + 2 + 1 + health + 1, 3 + scaffold}
    assert set(map(str, told)) <= numbers_in("docs/design.md")


def test_what_users_read_is_short() -> None:
    """All pages for users, but for the tables of the reference: at most 10,000 words."""
    others = {"design", "github-behaviour", "performance", "reference.ja"}
    pages = [README, *(ROOT / "docs").glob("*.md")]
    texts = {each.stem: each.read_text("utf-8") for each in pages if each.stem not in others}
    texts["reference"] = re.sub(r"^\|.*", "", texts["reference"], flags=re.MULTILINE)
    words = {page: len(text.split()) for page, text in texts.items()}
    assert sum(words.values()) <= 10_000, words


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


def test_contributing_names_what_is_there() -> None:
    text = (ROOT / ".github/CONTRIBUTING.md").read_text("utf-8")
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


# --- Troubleshooting ----------------------------------------------------------------------


NO_ERRORS = re.compile(
    r"(label|option|help|operation|wait|group|progress|commit|state|cause|preview"
    r"|summary|table|body|effect|page|presence|evidence)\."
    r"|advice\.(?!blocked$)"
    r"|check\.(present|missing)$"
    r"|outcome\.(?!check$)"
    r"|reason\.(exists|no_property|property_lines|satisfied|inherited|other_case|hides|deleted|on_branch|same|left_alone"
    r"|edited|not_corrected|no_update|with_presence)$"
    r"|fleet\.(group|excluded|missing|state|count|table)_"
    r"|fleet\.(selected|selected_of|queries|queries_and_points|nothing_read|nothing_missing|missing"
    r"|now|to_withdraw|withdrawable|alone|points|shards|unfit_rules|rules|rule|unset|counted"
    r"|row|row_state|row_with_time|repository_and_list|with_pull_request|outcome|outcome_preview|outcome_empty|heading"
    r"|capped|more_rows|missing_files|paths|not_complete)$"
)
"""Texts that name no cause of a failure: parts of other texts, headings, progress."""


def test_every_error_has_a_section_and_every_section_an_error_or_a_symptom() -> None:
    page = ROOT / HELP_PAGE
    keys = yaml.safe_load((ROOT / "src/registrar/texts/en.yml").read_text("utf-8"))
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
def test_the_page_is_that_of_the_version_in_use(repository: str, reference: str, page: str) -> None:
    environ = {
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_ACTION_REPOSITORY": repository,
        "GITHUB_ACTION_REF": reference,
    }
    assert help_page(environ) == f"{page}docs/troubleshooting.md"


# --- Workflows ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "workflow", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.stem
)
def test_a_secret_is_read_in_jobs_with_an_environment_only(workflow: Path) -> None:
    """Elsewhere every workflow on every branch could read it (docs/permissions.md)."""
    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]
    with_secrets = {name: job for name, job in jobs.items() if "secrets." in yaml.safe_dump(job)}
    assert all("environment" in job for job in with_secrets.values()), with_secrets.keys()


def test_the_reusable_workflow_passes_the_inputs_of_the_action_on() -> None:
    """With their defaults; docs/reference.md names those that it lacks, and its own."""
    own = {"client_id", "owner", "environment", "create_labels", "properties", "runs_on"}
    named = [set(re.findall(r"`(\w+)`", row[0])) for row in table(REFERENCE, "Input or secret")]
    lacking = named[0]
    assert own <= set.union(*named)
    workflow = yaml.safe_load((ROOT / ".github/workflows/register-many.yml").read_text("utf-8"))
    # YAML 1.1 reads the key "on" as true
    inputs = workflow[True]["workflow_call"]["inputs"]
    assert set(inputs) == set(INPUTS) - lacking | own
    for key in set(INPUTS) - lacking - {"target_repos"}:
        default = inputs[key]["default"]
        shown = str(default).lower() if isinstance(default, bool) else str(default)
        assert shown == INPUTS[key].default, key
    passed_on = {key: f"${{{{ inputs.{key} }}}}" for key in set(INPUTS) - lacking - {"mode"}}
    for job in workflow["jobs"].values():
        [step] = [step for step in job["steps"] if step.get("id") == "registrar"]
        others = {k: v for k, v in step["with"].items() if k not in {"host_token", "mode", "shard"}}
        assert others == passed_on
