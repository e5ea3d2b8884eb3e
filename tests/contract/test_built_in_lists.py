"""The built-in lists: their paths, their content, their form, and `starter` in a repository."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml

from tests.contract.test_users_words import HEALTH, SCAFFOLD, SCRIPTS, Script
from tests.fakehub import StandInHost
from tests.harness import JAPANESE, ROOT, TARGET, Start, only_reads

CONFIG = ROOT / "scripts" / "config"
VALIDATOR = jsonschema.Draft202012Validator(
    json.loads((CONFIG / "definitions.schema.json").read_text("utf-8"))
)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_list_of_the_contract_follows_the_schema_and_describes_each_file(script: Script) -> None:
    entries = json.loads(script.of_checkout(ROOT).read_text("utf-8"))
    for entry in entries:
        assert entry.keys() <= {"path", "description", "content"}
        assert entry["description"].strip()
    VALIDATOR.validate(entries)


# --- Starter --------------------------------------------------------------------------------------

LISTED: list[dict[str, Any]] = yaml.safe_load(
    (CONFIG / "repo-starter-definitions.yml").read_text("utf-8")
)
BRANCH = "chore/add-starter-files"
ELSEWHERE = {
    "CODE_OF_CONDUCT.md": b"ours",
    "docs/CONTRIBUTING.md": b"ours",
    "SECURITY.md": b"ours",
    "SUPPORT": b"ours",
    "docs/pull_request_template.md": b"ours",
    ".github/ISSUE_TEMPLATE/bug.md": b"ours",
    ".github/ISSUE_TEMPLATE/idea.yml": b"ours",
    ".github/ISSUE_TEMPLATE/config.yml": b"ours",
    ".editorconfig": b"ours",
    ".gitattributes": b"ours",
}
"""Every file of the list, where GitHub finds it as well."""


def test_the_starter_list_follows_the_schema_and_its_files_have_texts() -> None:
    VALIDATOR.validate(LISTED)
    for entry in LISTED:
        assert entry["content"].strip()
        assert entry["content"].endswith("\n")
        assert not JAPANESE.search(entry["content"])


def test_its_paths_are_those_of_the_other_lists() -> None:
    """So who had one of them first is not asked to have a file twice."""
    new = {entry["path"] for entry in LISTED} - HEALTH.keys() - SCAFFOLD.keys()
    assert new == {".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/idea.yml"}


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_starter_list_in_an_empty_repository(
    language: str, single: Start, host: StandInHost
) -> None:
    files = {"README.md": b"# Example\n"}
    repository = host.create_repository("octo-org/new", files, default_branch="trunk")
    run = single(
        target_repo="octo-org/new",
        profile="starter",
        respect_alternatives="true",
        language=language,
    )
    assert (run.exit_code, run.stderr, run.outputs["branch"]) == (0, "", BRANCH)
    values = {"{owner}": "octo-org", "{repo}": "new", "{default_branch}": "trunk"}
    expected = dict[str, bytes]()
    for entry in LISTED:
        text = entry["content"]
        for placeholder, value in values.items() if entry.get("template") else ():
            text = text.replace(placeholder, value)
        expected[entry["path"]] = text.encode()
    assert repository.files(BRANCH) == files | expected
    [pull] = repository.pull_requests
    assert pull.title == "chore: add starter files"
    assert "- [ ]" not in (pull.body or "")
    assert bool(JAPANESE.search(pull.body or "")) is (language == "ja")
    assert b"octo-org, the owner of this repository" in expected[".github/SECURITY.md"]
    assert b"Contributor Covenant" in expected[".github/CODE_OF_CONDUCT.md"]
    again = single(target_repo="octo-org/new", profile="starter", respect_alternatives="true")
    assert (again.exit_code, again.outputs["created"]) == (0, "0")
    assert len(repository.pull_requests) == 1


def test_the_starter_list_in_a_repository_that_has_everything_elsewhere(
    single: Start, host: StandInHost
) -> None:
    repository = host.create_repository(TARGET, ELSEWHERE)
    run = single(profile="starter", respect_alternatives="true")
    assert (run.exit_code, run.outputs["missing"]) == (0, "0")
    assert only_reads(host)
    assert repository.branches == ["main"]


@pytest.mark.parametrize("name", ["bug", "idea"])
def test_the_forms_are_forms(name: str) -> None:
    """https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema"""
    [text] = [e["content"] for e in LISTED if e["path"] == f".github/ISSUE_TEMPLATE/{name}.yml"]
    form = yaml.safe_load(text)
    assert form.keys() == {"name", "description", "labels", "body"}
    assert len({field["id"] for field in form["body"]}) == len(form["body"])
    for field in form["body"]:
        assert field["type"] in {"textarea", "input"}
        assert field["attributes"]["label"]
        assert field.keys() <= {"type", "id", "attributes", "validations"}
