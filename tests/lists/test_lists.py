"""A list tells its mistakes at their places: the documents beside this file are the cases.

A heading is a case, and each block of YAML or JSON below it is a list. A line ``#---`` begins
another list in the same block, and in a block ``each`` every line is one. A block with a name
(```` ```text docs/a ````) is a file that the lists of the case may name; before the first heading,
those of all cases. What is said about a line stands behind it: ``#! 17 colon_in_text`` is an error
at column 17 whose text has this key, ``#? quotes`` a warning, and what follows a colon is a part of
its words. These comments are taken out before the list is read. If a message has no line, as in
JSON, a block ``said`` below the list has its beginning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from jsonschema import Draft202012Validator

from registrar.lists import constraints, contents
from registrar.lists.profiles import CONFIG
from tests.harness import Action, Run
from tests.texts import key_of

DOCUMENTS = sorted(Path(__file__).parent.glob("*.md"))
SCHEMA = Draft202012Validator(json.loads((CONFIG / "definitions.schema.json").read_text("utf-8")))
AREAS = ("definitions", "path", "file", "input")
"""The parts of the catalogue with the keys of the comments, which leave them out."""
UNSEEN = {
    # A schema sees neither a key that is there twice, nor other files, nor the token
    *("duplicate_key", "not_in_checkout", "outside", "template_binary", "holds_token"),
    # Nor half a character, the end of a text, or two paths: one may come from a built-in list
    *("surrogate", "part_runs_on", "path_below_file", "path_below_extended"),
    # An empty list may be one that somebody has just begun
    "no_entries",
}
"""The keys of errors that the JSON Schema of lists cannot always mark in an editor."""


class Said(NamedTuple):
    """A message about a list, or what a comment says of it."""

    kind: str
    """``!`` for an error, ``?`` for a warning."""
    line: str
    column: str
    key: str
    words: str
    place: str = ""
    """The rule and the entry."""


class Listed(NamedTuple):
    """A list of a document, with what is said about it, and the files that it names."""

    name: str
    text: str
    expected: list[Said]
    beginnings: list[str]
    files: Mapping[str, str]


def cases_of(document: Path) -> Iterator[tuple[str, list[Listed]]]:
    """Yield the cases of a document: the heading, and its lists."""
    preamble, *cases = re.split(r"(?m)^## ", document.read_text("utf-8"))
    for case in cases:
        blocks = re.findall(r"(?ms)^```(\w+) ?(\S*)\n(.*?)^```$", preamble + case)
        files = {name: text for _, name, text in blocks if name not in {"", "each"}}
        lists = list[Listed]()
        for kind, name, block in blocks:
            if kind == "said":
                lists[-1].beginnings.extend(block.splitlines())
            elif name in {"", "each"}:
                for text in block.splitlines() if name == "each" else block.split("#---\n"):
                    plain, expected = without_comments(text)
                    suffix = "yml" if kind == "yaml" else kind
                    lists.append(Listed(f"list.{suffix}", plain, expected, [], files))
        yield f"{document.stem}: {case.partition(chr(10))[0]}", lists


def without_comments(text: str) -> tuple[str, list[Said]]:
    """Return a list without the comments about what is said, and these."""
    plain, expected = list[str](), list[Said]()
    for number, line in enumerate(text.splitlines(), start=1):
        kept, *comments = re.split(r" *#(?=[!?] )", line)
        for comment in comments:
            found = re.fullmatch(r"([!?]) (?:(\d+) )?([\w.]+)(?:: (.*))?", comment.strip())
            assert found, f"not a comment about what is said: {comment}"
            expected.append(Said(found[1], str(number), found[2] or "", found[3], found[4] or ""))
        if kept or not comments:
            plain.append(f"{kept}\n")
    return "".join(plain), expected


def said_by(run: Run, name: str) -> list[Said]:
    """Return what a run says about its list."""
    found = list[Said]()
    for line in run.stderr.splitlines():
        one = re.fullmatch(
            rf"(Error|Warning): {re.escape(name)}(?:, ((?:rule|entry) \d+(?:, entry \d+)?))?"
            r"(?:, line (\d+))?(?:, column (\d+))?: (.*)",
            line,
        )
        assert one, line
        kind = "!" if one[1] == "Error" else "?"
        said = Said(kind, one[3] or "", one[4] or "", key_of(one[5], *AREAS), one[5], one[2] or "")
        found.append(said)
    return found


def fits(expected: Said, said: Said) -> bool:
    """Return whether a message is the one that a comment expects.

    A message about the whole file has no line.
    """
    return (
        (expected.kind, expected.column) == (said.kind, said.column)
        and expected.line == (said.line or expected.line)
        and expected.key in {said.key, said.key.partition(".")[2]}
        and expected.words in said.words
    )


def _items(node: yaml.Node | None) -> Sequence[yaml.Node]:
    return node.value if isinstance(node, yaml.SequenceNode) else ()


def places(text: str) -> Mapping[int, set[str]]:
    """Return the rules and entries that each line of a list in YAML has: ``rule 1, entry 2``."""
    found: dict[int, set[str]] = {}

    def note(nodes: yaml.Node | None, word: str, before: str) -> None:
        for number, node in enumerate(_items(nodes), start=1):
            place = f"{before}{word} {number}"
            if word == "rule" and isinstance(node, yaml.MappingNode):
                keys = {key.value: value for key, value in node.value}
                note(keys.get("files"), "entry", f"{place}, ")
            for line in range(node.start_mark.line, node.end_mark.line + 1):
                found.setdefault(line + 1, set()).add(place)

    try:
        root = yaml.compose(text)
    except (OverflowError, yaml.YAMLError):
        return {}
    if isinstance(root, yaml.MappingNode):
        for key, _ in root.value:
            found.setdefault(key.start_mark.line + 1, set()).add("")
        keys = {key.value: value for key, value in root.value}
        note(keys.get("files"), "entry", "")
        note(keys.get("rules"), "rule", "")
    else:
        note(root, "entry", "")
    return found


def is_seen(name: str, text: str, said: Said | None = None) -> bool:
    """Return whether an editor marks a mistake: the text cannot be read, or the schema refuses it.

    Of a list with many mistakes, only the entry or the rule of this mistake is checked.
    """
    try:
        value: Any = (json.loads if name.endswith(".json") else yaml.safe_load)(text)
    except (ValueError, OverflowError, RecursionError, yaml.YAMLError):
        return True
    word, _, number = said.place.partition(",")[0].partition(" ") if said else ("", "", "")
    if word == "rule":
        value = {"rules": [value["rules"][int(number) - 1]]}
    elif word == "entry" and said and said.key != "definitions.path_twice":
        entries = value if isinstance(value, list) else value["files"]
        value = [entries[int(number) - 1]]
    return not SCHEMA.is_valid(value)


CASES = dict(case for document in DOCUMENTS for case in cases_of(document))


def test_every_doubt_has_a_case() -> None:
    """A row of a table of doubts would otherwise warn of lists that nobody has looked at."""
    rows = {each.key.partition(".")[2] for each in (*constraints.PATH_DOUBTS, *contents.DOUBTS)}
    said = {each.key for lists in CASES.values() for listed in lists for each in listed.expected}
    assert not rows - said, "tests/lists/warnings.md"


@pytest.mark.parametrize("lists", CASES.values(), ids=CASES)
def test_what_is_said_stands_at_its_place(action: Action, lists: list[Listed]) -> None:
    token = action.default_token
    (action.directory / "outside").write_text("outside")
    for name in (".git/config", ".Git/config"):
        action.write(name, "x")
    for listed in lists:
        for name, text in {**listed.files, listed.name: listed.text}.items():
            written = action.workspace / action.write(name, text.replace("{token}", token))
            written.chmod(0o755 if text.startswith("#!") else 0o644)
        run = action(definitions=listed.name, mode="validate", language="en")
        said = said_by(run, listed.name)
        assert said == sorted(said, key=lambda each: each.kind == "!"), "warnings come first"
        left = list(said)
        for beginning in listed.beginnings:
            [found] = [s for s in left if f"{s.place}: {s.words}".startswith(beginning)]
            left.remove(found)
        for expected in listed.expected:
            found_here = [each for each in left if fits(expected, each)]
            assert found_here, f"nobody says {expected}, but:\n" + "\n".join(map(str, left))
            left.remove(found_here[0])
        assert not left, "\n".join(map(str, left))
        errors = [each for each in said if each.kind == "!"]
        if errors and listed is lists[-1]:
            # A run that would write ends in the same way
            assert action(definitions=listed.name, language="en").stderr == run.stderr
        assert errors or not is_seen(listed.name, listed.text)
        assert (run.exit_code, action.host.requests) == (2 if errors else 0, [])
        assert [int(each.line or 1) for each in errors] == sorted(int(e.line or 1) for e in errors)
        at = places(listed.text)
        for each in said:
            if each.line and not each.column and at:
                assert each.place in at.get(int(each.line), {""}), each
        for each in errors:
            assert each.key.partition(".")[2] in UNSEEN or is_seen(
                listed.name, listed.text, each
            ), each
