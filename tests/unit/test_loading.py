"""Definition files: any bytes give definitions or diagnostics, in both formats alike."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from registrar.errors import Diagnostic, InvalidInput
from registrar.lists import constraints, contents, entries, loading, syntax, when
from registrar.models.files import FileDefinition, Text
from registrar.runtime.workspace import Folder
from tests.harness import ROOT

SCHEMA = json.loads((ROOT / "scripts/config/definitions.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SUFFIXES = (".json", ".yml", ".yaml")


def load(data: bytes, suffix: str, *, content_allowed: bool = True) -> tuple[FileDefinition, ...]:
    """Load a definition file with the content ``data``."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, f"list{suffix}")
        path.write_bytes(data)
        return loading.load(
            Folder(path.parent), path.name, content_allowed=content_allowed
        ).possible


def diagnostics_of(data: bytes, suffix: str) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a definition file with the content ``data``; empty if valid."""
    try:
        load(data, suffix)
    except InvalidInput as invalid:
        return invalid.diagnostics
    return ()


text = st.text(max_size=20)
part = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\"), min_size=1)
path = st.lists(part.filter(lambda p: not list(constraints.path_diagnostics(p))), min_size=1)


def fits(candidate: str) -> bool:
    """Return whether a path can be listed. Valid parts may be too long together."""
    return not list(constraints.path_diagnostics(candidate))


entry = st.fixed_dictionaries(
    {"path": path.map("/".join).filter(fits)},
    optional={
        "description": st.text(st.characters(exclude_categories=["Cs"])),
        "content": st.text(st.characters(exclude_categories=["Cs"])),
        "template": st.just(value=False),
        "alternatives": st.lists(path.map("/".join).filter(fits), max_size=3, unique=True),
    },
)


def independent(entries: list[dict[str, Any]]) -> bool:
    """Return whether no path of the list is the same as another one or below it."""
    paths = [e["path"] for e in entries]
    return not any(
        one == other or one.startswith(f"{other}/")
        for i, one in enumerate(paths)
        for j, other in enumerate(paths)
        if i != j
    )


valid_list = st.lists(entry, min_size=1, max_size=6).filter(independent)
json_value = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner) | st.dictionaries(text, inner),
    max_leaves=8,
)
loose_entry = st.dictionaries(
    st.sampled_from(["path", "description", "content", "Path", ""]), json_value | path.map("/".join)
)


SNIPPETS = (
    *("[", "]", "{", "}", ",", ":", '"', "'", "- ", "\n", "\t", "  ", "#", "|", ">", "&a ", "*a"),
    *("!!binary ", "!!timestamp ", "!!python/object/apply:os.system ", "!<tag> ", "? ", "---\n"),
    *("...\n", "%YAML 9.9\n", "<<: *a", '"\\u', '"\\ud800"', '"\\UFFFFFFFF"', '"\\U00110000"'),
    *("2024-13-45", "0x_", "NaN", "Infinity", "-", "1" * 5000, "[" * 900, "path: a\n", "/a", ".."),
    *("\ufeff", "\x00", "\x85", "\u2028", "\r", "\x1b", "// a", "/* a */", "a: b", "template: 1"),
)
snippet = st.sampled_from([each.encode() for each in SNIPPETS]) | st.binary(min_size=1, max_size=3)
"""Parts with a meaning in YAML or JSON, and random bytes."""


@given(
    valid_list | st.lists(loose_entry, max_size=3),
    st.sampled_from(SUFFIXES),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 20), snippet), max_size=3),
)
def test_a_damaged_list_gives_definitions_or_diagnostics(
    entries: list[Any], suffix: str, damage: list[tuple[float, int, bytes]]
) -> None:
    as_json = suffix == ".json" or len(entries) % 2
    written = json.dumps(entries, indent=1) if as_json else yaml.safe_dump(entries)
    data = written.encode()
    for place, cut, put in damage:
        at = int(place * len(data))
        data = data[:at] + put + data[at + cut :]
    if diagnostics_of(data, suffix):
        return
    paths = [definition.path for definition in load(data, suffix)]
    assert paths
    assert len(set(paths)) == len(paths)
    assert not [path for path in paths if list(constraints.path_diagnostics(path))]


@given(st.text(max_size=200) | st.binary(max_size=200), st.sampled_from(SUFFIXES))
@example("- !!timestamp foo", ".yml")
@example("- path: !!bool foo", ".yml")
@example("- path: 2024-13-45", ".yml")
@example("- path: 0x_", ".yml")
@example("- {? [a] : b}", ".yml")
@example("- &a [*a]", ".yml")
@example("- &a {path: *a}", ".yml")
@example("- <<: {path: a}", ".yml")
@example('- path: "\\UFFFFFFFF"', ".yml")
@example('- path: "\\ud800"', ".yml")
@example("%YAML 9.9\n---\n- path: a", ".yml")
@example("%TAG ! tag:example.com:\n---\n- path: a", ".yml")
@example("- *unknown", ".yml")
@example("- path: |4\n a", ".yml")
@example("\ufeff\ufeff[]", ".json")
@example('{"path": "a"}', ".json")
@example("{}", ".json")
@example("[1e999, NaN, Infinity]", ".json")
@example("[" + "9" * 5000 + "]", ".json")
@example("[" * 3000 + "]" * 3000, ".json")
@example("[" * 3000 + "]" * 3000, ".yml")
@example('[{"path": "a"}]]', ".json")
def test_any_text_and_any_bytes_give_definitions_or_diagnostics(
    held: str | bytes, suffix: str
) -> None:
    data = held if isinstance(held, bytes) else held.encode("utf-8", "surrogatepass")
    for diagnostic in diagnostics_of(data, suffix):
        assert diagnostic.file


@given(json_value | st.lists(loose_entry | json_value, max_size=5))
def test_any_json_means_the_same_in_both_formats(value: Any) -> None:
    """JSON is also YAML, except numbers, tabs and some characters; both formats refuse these."""
    data = json.dumps(value).encode()
    try:
        from_json = load(data, ".json")
    except InvalidInput:
        assert diagnostics_of(data, ".yml")
    else:
        assert load(data, ".yml") == from_json


@given(valid_list, st.booleans(), st.sampled_from([None, 1]))
def test_a_valid_list_is_read_to_the_letter_in_both_formats(
    entries: list[dict[str, Any]], ascii_only: bool, indent: int | None
) -> None:
    expected = tuple(
        FileDefinition(
            e["path"],
            (Text(e.get("content", "\n").encode()),),
            e.get("description", ""),
            tuple(e.get("alternatives", ())),
        )
        for e in entries
    )
    as_json = json.dumps(entries, ensure_ascii=ascii_only, indent=indent)
    assert load(as_json.encode(), ".json") == expected
    assert load(b"\xef\xbb\xbf" + as_json.encode(), ".json") == expected
    # The line breaks that YAML alone knows survive nowhere but in quotes, as escapes.
    style = '"' if re.search("[\x85\u2028\u2029]", as_json) else None
    as_yaml = yaml.safe_dump(
        entries, allow_unicode=not ascii_only, sort_keys=False, default_style=style
    )
    assert load(as_yaml.encode(), ".yml") == expected


@given(valid_list)
def test_where_content_is_not_allowed_every_file_is_empty(entries: list[dict[str, Any]]) -> None:
    loaded = load(json.dumps(entries).encode(), ".json", content_allowed=False)
    assert {definition.content for definition in loaded} == {b"\n"}


def schema_agrees(candidate: str) -> bool:
    """Return whether the schema and the reader agree on a path.

    Some paths are left out. A schema cannot express sizes in bytes and lone surrogates, and only in
    Python `$` also matches before a last line feed.
    """
    size = max(len(p.encode("utf-8", "surrogatepass")) for p in candidate.split("/"))
    has_surrogate = any("\ud800" <= character <= "\udfff" for character in candidate)
    if size > constraints.PART_BYTES or has_surrogate or candidate.endswith("\n"):
        return True
    allowed = not list(constraints.path_diagnostics(candidate))
    return VALIDATOR.is_valid([{"path": candidate}]) is allowed


@given(st.text(max_size=30) | path.map("/".join))
def test_the_schema_and_the_reader_take_the_same_paths(candidate: str) -> None:
    assert schema_agrees(candidate)


PARTS_OF_TEMPLATES = (
    *("{", "}", "{{", "}}", "$", "${{ ", "{owner}", "{repo}", "{default_branch}", "{property:"),
    *("a-B_1", "owner", "secrets.X", "hashFiles('x')", "x", " ", "!", ":", ".", "[", "\n", "日本"),
)


@given(st.lists(st.sampled_from(PARTS_OF_TEMPLATES), max_size=8).map("".join))
@example("${{{{ secrets.X }}}}")
@example("{{{owner}}}")
@example("{owner:x}")
@example("{owner!r}")
@example("${{ ls; }}")
@example("${{HOME}}")
def test_the_schema_and_the_reader_take_the_same_templates(text: str) -> None:
    listed = [{"path": "a", "template": True, "content": text}]
    found = diagnostics_of(json.dumps(listed).encode(), ".json")
    assert VALIDATOR.is_valid(listed) is not bool(found)


def test_the_schema_knows_the_expressions_of_github_that_the_reader_knows() -> None:
    assert SCHEMA["$defs"]["template"]["not"]["pattern"] == contents._EXPRESSION.pattern


@pytest.mark.parametrize(
    ("candidate", "keys"),
    [
        ("/", ["path.absolute", "path.trailing_slash", "path.empty_part"]),
        (".g\u200bit", []),
        ("a\u2028b", []),
        ("x" * 255, []),
        ("x" * 256, ["path.part_too_long"]),
        (f"a/{'x' * 256}", ["path.part_too_long"]),
        ("é" * 127 + "x", []),
        ("é" * 128, ["path.part_too_long"]),
        ("/".join("a" * 32), []),
        ("/".join("a" * 33), ["path.too_deep"]),
        ("/".join(["x" * 127] * 32), []),
        ("/".join(["x" * 127] * 32) + "x", []),
        ("/".join(["x" * 127] * 32) + "xx", ["path.too_long"]),
    ],
)
def test_paths_have_limits(candidate: str, keys: list[str]) -> None:
    """Other paths: tests/lists/entries.md."""
    assert [message.key for message in constraints.path_diagnostics(candidate)] == keys
    assert schema_agrees(candidate)


def test_a_list_that_is_an_object_means_the_same_as_its_entries() -> None:
    entries = [{"path": "a", "content": "b"}, {"path": "c", "alternatives": ["d"]}]
    for suffix in SUFFIXES:
        as_object = json.dumps({"files": entries}).encode()
        assert load(as_object, suffix) == load(json.dumps(entries).encode(), suffix)


SIZES: list[tuple[Any, bool]] = [
    # An editor marks nothing while somebody writes a list
    ({"files": []}, True),
    ([{"path": "a", "description": "x" * 1000}], True),
    ([{"path": "a", "description": "x" * 1001}], False),
    ([{"path": "a", "alternatives": [f"b{number}" for number in range(20)]}], True),
    ([{"path": "a", "parts": [{"content": "b\n"}] * 100}], True),
    ([{"path": "a", "content": "x" * 1_000_000}], True),
    ([{"path": "a", "content": "x" * 1_000_001}], False),
    ({"name": "a\n", "files": ["a"]}, False),
    ({"rules": [{"when": {"fork": True}, "files": ["a"]}] * 100}, True),
    ({"rules": [{"when": {"fork": True}, "files": ["a"]}] * 101}, False),
]


MERGED = {
    "an entry": (
        "- &text\n  path: a\n  content: x\n- {path: b, <<: *text}\n",
        [{"path": "a", "content": "x"}, {"path": "b", "content": "x"}],
    ),
    "its own keys win, wherever they stand": (
        "- &text {path: a, content: x}\n- {content: y, <<: *text, path: b}\n",
        [{"path": "a", "content": "x"}, {"path": "b", "content": "y"}],
    ),
    "the first of several wins": (
        (
            "- &one {path: a, content: x}\n- &two {path: b, content: y, description: z}\n"
            "- {path: c, <<: [*one, *two]}\n"
        ),
        [
            {"path": "a", "content": "x"},
            {"path": "b", "content": "y", "description": "z"},
            {"path": "c", "content": "x", "description": "z"},
        ],
    ),
    "one that merges another": (
        (
            "- &one {path: a, content: x}\n- &two {<<: *one, path: b, template: true}\n"
            "- {<<: *two, path: c}\n"
        ),
        [
            {"path": "a", "content": "x"},
            {"path": "b", "content": "x", "template": True},
            {"path": "c", "content": "x", "template": True},
        ],
    ),
    "rules, conditions and properties": (
        (
            "rules:\n  - &r\n    files: [a]\n"
            "    when: &w {fork: false, property: &p {tier: gold}}\n"
            "  - <<: *r\n    when: {<<: *w, property: {<<: *p, team: x}}\n"
        ),
        {
            "rules": [
                {"when": {"fork": False, "property": {"tier": "gold"}}, "files": ["a"]},
                {
                    "when": {"fork": False, "property": {"team": "x", "tier": "gold"}},
                    "files": ["a"],
                },
            ]
        },
    ),
    "the list itself": (
        "<<: {extends: scaffold}\nfiles: [a]\n",
        {"extends": "scaffold", "files": ["a"]},
    ),
    "nothing": ("- {path: a, <<: []}\n- {path: b, <<: {}}\n", ["a", "b"]),
}


@pytest.mark.parametrize(("text", "value"), MERGED.values(), ids=MERGED)
def test_a_merge_key_gives_what_a_parser_gives_that_knows_it(text: str, value: Any) -> None:
    """So the schema accepts it, too: editors check the parsed values."""
    data = json.dumps(value).encode()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "list.yml").write_text(text, "utf-8")
        (folder / "list.json").write_bytes(data)
        merged, plain = (loading.load(Folder(folder), f"list.{x}") for x in ("yml", "json"))
    merged, plain = (
        each._replace(blob_id="", sources=frozenset[str]()) for each in (merged, plain)
    )
    assert merged == plain
    jsonschema.Draft202012Validator(SCHEMA).validate(yaml.safe_load(text))


def test_a_value_counts_at_each_of_its_aliases() -> None:
    listed = f"- &a {'x' * 20_000}\n" + "- *a\n" * 999
    assert syntax.parse_yaml(listed)
    with pytest.raises(syntax.Malformed, match="too_many_characters"):
        syntax.parse_yaml(f"{listed}- y\n")


def test_the_schema_has_every_key() -> None:
    """An editor marks a key as a mistake if the schema does not have it."""
    VALIDATOR.check_schema(SCHEMA)
    of = SCHEMA["$defs"]
    negated = of["condition"]["properties"]["not"]
    for described, keys in (
        (of["list"], loading.KEYS),
        (of["rule"], loading.RULE_KEYS),
        (of["object"], entries.FIELDS),
        (of["part"], entries.PART_FIELDS),
        (of["condition"], when.CONDITION_KEYS),
        (negated, when.CONDITION_KEYS[:-1]),
    ):
        assert set(described["properties"]) == set(keys)


@pytest.mark.parametrize(("value", "valid"), SIZES)
def test_the_schema_and_the_reader_have_the_same_limits(value: Any, valid: bool) -> None:
    """Other values: tests/lists."""
    assert VALIDATOR.is_valid(value) is valid
    if value != {"files": []}:  # in an editor, a list may be empty while somebody writes it
        assert bool(diagnostics_of(json.dumps(value).encode(), ".json")) is not valid
