"""What the documents say is held to action.yml, the catalogue and the code."""

from __future__ import annotations

import json
import os
import re
import shutil
import string
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from registrar import __version__, definitions, errors, inputs, models, profiles
from registrar.texts.messages import LANGUAGES
from scripts.lib.example import Example, Run, example

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
README_JA = ROOT / "README.ja.md"
CONCEPTS = ROOT / "docs/concepts.md"
DOCUMENTS = sorted([README, README_JA, ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("**/*.md")])
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
    for row in rows:
        known = inputs.PLACEHOLDERS.get(row[0].strip("`"), ())
        assert re.findall(r"{(\w+)}", row[2]) == list(known), row[0]


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
    cancelled = [errors.Cancelled(number).exit_code for number in (2, 15)]
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
    assert [row[0] for row in rows] == [f"`{field}`" for field in definitions.FIELDS]


def test_the_project_has_its_own_health_files() -> None:
    listed, _ = definitions.load(profiles.HEALTH.definitions, shown_as="health")
    assert all((ROOT / each.path).stat().st_size > len("\n") for each in listed)


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
def test_yaml_example_gives_values_that_are_accepted(place: str, text: str) -> None:
    for step in (step for job in jobs_of(text) for step in ours_of(job)):
        given = {"host_token": "ghp_x", "target_repo": "octo/example", **step.get("with", {})}
        assert all(isinstance(value, str) for value in given.values()), place
        values = {key: re.sub(r"\${{.+?}}", "x", value) for key, value in given.items()}
        # A choice that is left to whoever starts the workflow
        environ = {f"INPUT_{key.upper()}": "" if v == "x" else v for key, v in values.items()}
        environ |= {"INPUT_HOST_TOKEN": "ghp_x"}
        assert not inputs.read(environ).warnings, place


@pytest.mark.parametrize(("place", "text"), blocks("ya?ml"))
def test_job_that_uses_its_own_token_gives_it_the_permissions(place: str, text: str) -> None:
    for job in jobs_of(text):
        steps = [step.get("with", {}) for step in ours_of(job)]
        access = "read" if all(w.get("mode") in {"plan", "check"} for w in steps) else "write"
        needed = {"contents": access, "pull-requests": access}
        own = any("host_token" not in w for w in steps)
        assert job["permissions"] == (needed if own else {}), place


SCRIPTS = [
    pytest.param(job, step["run"], step.get("env", {}), id=place)
    for place, text in blocks("ya?ml")
    for job in jobs_of(text)
    for step in job["steps"]
    if "run" in step
]


@pytest.fixture
def scene() -> Iterator[Example]:
    with example() as found:
        yield found


@pytest.mark.parametrize(("job", "script", "env"), SCRIPTS)
def test_step_after_ours_runs(
    job: Mapping[str, Any], script: str, env: Mapping[str, str], scene: Example
) -> None:
    if "jq" in script and not shutil.which("jq"):
        pytest.skip("jq is not installed")
    ((ours,), said) = (ours_of(dict(job)), list[str]())
    run = scene.run(ours["with"]["profile"], "en", said.append, mode=ours["with"].get("mode", ""))
    values = {key: _evaluated(value, ours["id"], run) for key, value in env.items()}
    summary = scene.workspace / "summary.md"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],  # as the runner does
        env={
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(scene.temporary),
            "GITHUB_STEP_SUMMARY": str(summary),
            **values,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), "\n".join(said)
    text = done.stdout + (summary.read_text("utf-8") if summary.exists() else "")
    if ours["with"].get("mode") == "plan":
        missing = [
            f"{r['profile']}: {f['path']}" for r, f in _files(run) if f["state"] == "missing"
        ]
        assert text.splitlines() == missing
        assert missing
    else:
        pulls = [pull.html_url for pull in scene.repository.pull_requests]
        assert text.splitlines() == [
            f"{run.outputs['created']} files registered:",
            *(f"- {url} (created)" for url in pulls),
        ]
        assert pulls


def _evaluated(value: str, step: str, run: Run) -> str:
    """An expression as the runner would fill it in."""
    found = re.fullmatch(rf"\${{{{ steps\.{step}\.outputs\.(\w+) }}}}", value)
    assert found, value
    return run.outputs[found[1]]


def _files(run: Run) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for registration in json.loads(run.outputs["report"])["registrations"]:
        for file in registration["files"]:
            yield registration, file


def shell(readme: Path, word: str) -> str:
    (found,) = (t for place, t in blocks("sh") if place.startswith(f"{readme.name}:") and word in t)
    return found


def in_shell(script: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-eu", "-c", script],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("readme", [README, README_JA], ids=name)
def test_commands_of_the_readme_register_both_profiles(readme: Path, scene: Example) -> None:
    script = shell(readme, "export HOST_TOKEN")
    script = script.replace("…", scene.token).replace("owner/repo", scene.repository.full_name)
    done = in_shell(script, {"HOST_API_URL": scene.host.url})
    assert done.returncode == 0, done.stderr
    heads = [pull.head for pull in scene.repository.pull_requests]
    assert heads == [profiles.SCAFFOLD.branch, profiles.HEALTH.branch]


@pytest.mark.parametrize("readme", [README, README_JA], ids=name)
def test_commands_of_the_readme_refuse_to_run_without_a_token(readme: Path) -> None:
    script = re.sub(r"export HOST_TOKEN.*\n", "", shell(readme, "export HOST_TOKEN"))
    done = in_shell(script, {})
    assert done.returncode == errors.EXIT_REFUSED
    assert "host_token" in done.stderr


@pytest.mark.parametrize("readme", [README, README_JA], ids=name)
def test_entrypoint_of_the_readme_makes_a_plan(readme: Path, scene: Example) -> None:
    script = shell(readme, "entrypoint.py").replace(".venv/bin/python", sys.executable)
    target = {"HOST_TOKEN": scene.token, "TARGET_REPO": scene.repository.full_name}
    done = in_shell(script, {**target, "HOST_API_URL": scene.host.url})
    assert done.returncode == 0, done.stderr
    assert "+++ b/.github/SECURITY.md" in done.stdout
    assert not scene.repository.pull_requests


def test_entrypoint_answers_version() -> None:
    done = in_shell(f"{sys.executable} entrypoint.py --version", {})
    assert done.stdout == f"registrar {__version__}\n"


def test_both_examples_of_a_definition_file_are_read_and_say_the_same(tmp_path: Path) -> None:
    read = list[tuple[Any, ...]]()
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
