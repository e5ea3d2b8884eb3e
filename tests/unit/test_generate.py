"""The files that `scripts/generate` writes from the inputs and profiles of the code."""

from __future__ import annotations

import ast
import re
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import pytest
import yaml

from registrar.inputs import reader
from registrar.inputs.interface import INPUTS
from registrar.lists.profiles import CHOICES
from registrar.texts.messages import LANGUAGES, Catalogue, read
from scripts.lib import generate
from tests.documents import ACTION, REFERENCE, ROOT, name, table

COMPOSITE = yaml.safe_load((ROOT / "composite/action.yml").read_text("utf-8"))


def test_every_file_is_as_it_is_written() -> None:
    for file, text in generate.generated().items():
        there, written = file.read_text("utf-8").splitlines(), text.splitlines()
        wrong = "\n".join(
            islice(unified_diff(there, written, "there", "written", "", "", 2, ""), 9)
        )
        assert not wrong, f"run scripts/generate, which writes {name(file)}:\n{wrong}"


def test_the_inputs_of_the_action_are_those_of_the_code() -> None:
    catalogue = Catalogue("en")
    assert list(ACTION["inputs"]) == list(INPUTS)
    for key, each in INPUTS.items():
        default = each.workflow_default or each.default
        assert ACTION["inputs"][key] == {
            "description": catalogue.text(each.description),
            **({"default": default} if default else {}),
        }, f"action.yml has {key} otherwise than inputs/interface.py: run scripts/generate"


def test_the_action_without_docker_has_the_same_inputs_and_outputs() -> None:
    assert COMPOSITE["inputs"] == ACTION["inputs"]
    [step] = COMPOSITE["runs"]["steps"]
    assert COMPOSITE["outputs"] == {
        key: {**each, "value": f"${{{{ steps.{step['id']}.outputs.{key} }}}}"}
        for key, each in ACTION["outputs"].items()
    }


def test_the_reference_lists_inputs_in_their_order() -> None:
    assert [row[0] for row in table(REFERENCE, "Input")] == [f"`{key}`" for key in INPUTS]


def test_a_new_input_gets_its_row_below_the_input_before_it() -> None:
    text, texts = REFERENCE.read_text("utf-8"), read("en.yml")
    without = re.sub(r"\n\| `labels` \|.*", "", text)
    assert without != text
    assert generate.with_inputs(without, texts) == text


def test_requests_know_no_other_host_than_the_documented_one() -> None:
    """docs/permissions.md names the host of the API, and only `github/` sends requests."""
    strings = [
        node.value
        for file in (*(ROOT / "src/registrar/github").glob("*.py"), Path(reader.__file__))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    # Only texts that are just an address count, because docstrings contain sources
    address = re.compile(r"https?://([\w.-]+\w)/?\S*$")
    hosts = {found[1] for text in strings if (found := address.match(text))}
    [(documented, _), *_] = table(ROOT / "docs/permissions.md", "Host")
    assert [f"`{host}`" for host in hosts if "." in host] == [documented.partition(",")[0]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_description_of_the_input_names_every_profile(language: str) -> None:
    text = Catalogue(language).text(INPUTS["profile"].description)
    assert re.findall(r"`(\w+)`", text) == list(CHOICES)
