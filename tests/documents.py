"""Read the documents, their tables, and the commands in their examples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
README = ROOT / "README.md"
README_JA = ROOT / "README.ja.md"
REFERENCE = ROOT / "docs/reference.md"
MANY_WORKFLOW = ROOT / "workflow-templates/many-repositories.yml"
DOCUMENTS = sorted([README, README_JA, ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("**/*.md")])
JAPANESE_PAGES = [each for each in DOCUMENTS if each.name.endswith(".ja.md")]

PAGES = [page for page in DOCUMENTS if page not in JAPANESE_PAGES and page.name != "CHANGELOG.md"]
"""The English pages for users and maintainers."""

_BEGINS = r"(?:^(?:- |\d+\. |> )?|(?<=[.!?:|] ))\**"
_RIDDLES = re.compile(
    rf"{_BEGINS}(?:Where|Who|Whoever) (?![^.|]*\?)|{_BEGINS}What (?:[^.?|\n]|\n(?!\n))*\.(?:\W|$)"
    r"|\bbut for\b(?! example)|(?<![Tt]here )\b(?:is|are|was|were) no (?!longer|more)\w+"
    r"|\bof wh(?:ich|om)\b|\bby (?:itself|themselves)\b|\bso (?:does|do|did)\b(?! not)"
    r"|\bwh(?:o|om|at)ever\b|\bnot known to be\b|\bno \w+ but\b|\bnothing (?:\w+ )?but\b",
    re.MULTILINE,
)
"""Patterns of sentences that are hard to read: "where" at the beginning for "if", a clause with
"what" as the subject, a pronoun for something that has no name, two negations."""


def riddles(text: str) -> list[str]:
    """Return the parts of a text that match such a pattern; code blocks are left out."""
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return [found[0] for found in _RIDDLES.finditer(plain)]


SHELLS = {
    "": ["bash", "-e"],
    "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"],
    "sh": ["sh", "-e"],
}
"""The command with which GitHub starts the script of a step, by its `shell`.

Only `shell: bash` sets pipefail; without `shell`, bash is used as well, but without pipefail.
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsshell
"""


def command(step: Mapping[str, Any], directory: Path) -> list[str]:
    """Write the script of a step into a directory, and return the command that runs it."""
    script = directory / "step.sh"
    script.write_text(step["run"], "utf-8")
    return [*SHELLS[step.get("shell", "")], str(script)]


def name(path: Path) -> str:
    """Return the path from the root of the project."""
    return str(path.relative_to(ROOT))


def table(document: Path, first_header: str) -> list[list[str]]:
    """Return the rows of all tables of a document whose first column has this header."""
    _, *found = document.read_text("utf-8").split(f"\n| {first_header} |")
    assert found, f"{name(document)} has no table that begins with {first_header}"
    lines = [line for rest in found for line in rest.partition("\n\n")[0].splitlines()[2:]]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def blocks(language: str, *documents: Path) -> list[tuple[str, str]]:
    """Return the fenced blocks of a language, each with its place before it.

    ``language`` is a regular expression. Without ``documents`` all documents are read.
    """
    found = []
    for document in documents or DOCUMENTS:
        text = document.read_text("utf-8")
        for match in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, match.start()) + 1
            found.append((f"{name(document)}:{line}", match[1]))
    return found


def for_several_organisations(page: Path) -> str:
    """Return the workflow template, changed with the lines of a page for several organisations.

    The page shows these lines in blocks of their own: the matrix of the job, and one line for each
    step, which replaces the line with the same key.
    """
    (_, matrix), (_, lines) = blocks("ya?ml", page)
    workflow = MANY_WORKFLOW.read_text("utf-8")
    workflow = workflow.replace("    runs-on:", f"{matrix}    runs-on:")
    for line in lines.splitlines(keepends=True):
        begins = re.escape(line.partition(":")[0])
        found = re.findall(rf"^{begins}: .*\n", workflow, re.MULTILINE)
        assert len(found) == 1, line
        workflow = workflow.replace(found[0], line)
    return workflow
