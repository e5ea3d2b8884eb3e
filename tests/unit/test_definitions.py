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
from hypothesis import example, given, settings
from hypothesis import strategies as st

from registrar.errors import Diagnostic, InvalidInput
from registrar.lists import constraints, loading
from registrar.models.files import FileDefinition
from registrar.runtime.workspace import Folder
from registrar.texts.messages import Message
from tests.harness import ROOT

SCHEMA = json.loads((ROOT / "scripts/config/definitions.schema.json").read_text("utf-8"))
SUFFIXES = (".json", ".yml", ".yaml")


def load(data: bytes, suffix: str, *, content_allowed: bool = True) -> tuple[FileDefinition, ...]:
    """Load a definition file that holds ``data``."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, f"list{suffix}")
        path.write_bytes(data)
        return loading.load(
            Folder(path.parent), path.name, content_allowed=content_allowed
        ).definitions


def diagnostics_of(data: bytes, suffix: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of a definition file that holds ``data``; nothing when there is none."""
    try:
        load(data, suffix)
    except InvalidInput as invalid:
        return invalid.diagnostics
    return ()


text = st.text(max_size=20)
part = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\"), min_size=1)
path = st.lists(part.filter(lambda p: not list(constraints.path_diagnostics(p))), min_size=1)


def fits(candidate: str) -> bool:
    """Whether a path can be listed: its parts can, but all of them together may be too many."""
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
    """Whether no path of the list is another one, or lies below it."""
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


@given(st.binary(max_size=200), st.sampled_from(SUFFIXES))
def test_any_bytes_give_definitions_or_diagnostics(data: bytes, suffix: str) -> None:
    for diagnostic in diagnostics_of(data, suffix):
        assert diagnostic.file


@given(st.text(max_size=200), st.sampled_from(SUFFIXES))
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
def test_any_text_gives_definitions_or_diagnostics(text: str, suffix: str) -> None:
    for diagnostic in diagnostics_of(text.encode("utf-8", "surrogatepass"), suffix):
        assert diagnostic.file


@given(st.text("-: \n[]{}\"'&*!|>%#,?path\\u\t0", max_size=60), st.sampled_from([".yml", ".json"]))
@settings(max_examples=200)
def test_text_like_a_list_gives_definitions_or_diagnostics(text: str, suffix: str) -> None:
    diagnostics_of(text.encode(), suffix)


@given(json_value | st.lists(loose_entry | json_value, max_size=5))
def test_any_json_means_the_same_in_both_formats(value: Any) -> None:
    """JSON is YAML but for numbers, tabs and what YAML cannot hold, so both refuse alike."""
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
            e.get("content", "\n").encode(),
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


@given(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["json", "yml"]))
def test_a_diagnostic_names_entry_and_line(before: int, blank: int, suffix: str) -> None:
    good = [f'{{"path": "good{number}"}}' for number in range(before)]
    lines = ["[", *(f"{entry}," for entry in good), *[""] * blank, '{"path": 1}', "]"]
    [diagnostic] = diagnostics_of("\n".join(lines).encode(), f".{suffix}")
    assert diagnostic.message.values["entry"] == before + 1
    assert diagnostic.message.values["line"] == diagnostic.line == before + blank + 2


@given(st.text(max_size=30) | path.map("/".join))
@example("a/.git")
@example("a/.g\u200cit\ufeff/b")
@example(".GIT . :a")
@example("GIT~1")
@example("git~2")
@example("\u3000a")
@example("a/ b")
@example("/".join("a" * 33))
@example("a\u0085b")
@example("a\u2028b")
@example("...")
@example(".gitignore")
def test_the_schema_and_the_reader_take_the_same_paths(candidate: str) -> None:
    """All but sizes in bytes and lone surrogates, which a schema cannot see."""
    size = max(len(p.encode("utf-8", "surrogatepass")) for p in candidate.split("/"))
    if size > constraints.PART_BYTES or any("\ud800" <= c <= "\udfff" for c in candidate):
        return
    if candidate.endswith("\n"):
        return  # to Python, and to it alone, `$` is also the place before a last line feed
    allowed = not list(constraints.path_diagnostics(candidate))
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid([{"path": candidate}]) is allowed


@pytest.mark.parametrize(
    ("candidate", "keys"),
    [
        ("", ["path.empty"]),
        ("/", ["path.absolute", "path.trailing_slash", "path.empty_part"]),
        ("/etc/passwd", ["path.absolute"]),
        ("a/", ["path.trailing_slash"]),
        ("a//b", ["path.empty_part"]),
        ("a/./b", ["path.dots"]),
        ("..", ["path.dots"]),
        ("a/.Git/b", ["path.git"]),
        # What git refuses with core.protectNTFS and core.protectHFS, and what it does not
        ("a/.git /b", ["path.git"]),
        ("a/.git. . /b", ["path.git"]),
        (".git::$INDEX_ALLOCATION/config", ["path.git"]),
        ("a/.GIT .:x", ["path.git"]),
        ("git~1", ["path.git"]),
        ("GIT~1 ./a", ["path.git"]),
        (".g\u200cit/config", ["path.git"]),
        ("\ufeff.G\u206fi\u202et\u200f", ["path.git"]),
        ("git~2", []),
        (".git~1", []),
        ("a.git", []),
        (".git-x", []),
        (".g\u0131t", []),
        (".g\u200bit", []),
        (".gitmodules", []),
        (".gitattributes", []),
        # Blanks at the ends of a path are a mistake; inside they may be meant
        (" a", ["path.outer_blanks"]),
        ("a\u00a0", ["path.outer_blanks"]),
        ("\u3000a", ["path.outer_blanks"]),
        ("a / b", []),
        ("a\\b", ["path.backslash"]),
        ("a\tb", ["path.control"]),
        ("a\u0085b", ["path.control"]),
        ("x" * 255, []),
        ("x" * 256, ["path.part_too_long"]),
        ("é" * 127 + "x", []),
        ("é" * 128, ["path.part_too_long"]),
        ("/".join("a" * 32), []),
        ("/".join("a" * 33), ["path.too_deep"]),
        ("/".join(["x" * 127] * 32), []),
        ("/".join(["x" * 127] * 32) + "x", []),
        ("/".join(["x" * 127] * 32) + "xx", ["path.too_long"]),
        ("...", []),
        (".gitignore", []),
        ("a/.github/b", []),
        ("日本語/ファイル", []),
        ("a b", []),
    ],
)
def test_path_diagnostics(candidate: str, keys: list[str]) -> None:
    assert [message.key for message in constraints.path_diagnostics(candidate)] == keys


@pytest.mark.parametrize(
    "repeated", [b"- path: a\n", b"- {path: a, path: b}\n", b"- x\n", b"- 1\n"]
)
def test_one_diagnostic_a_thousand_times_is_ten_with_a_count(repeated: bytes) -> None:
    found = diagnostics_of(repeated * 1000, ".yml")
    assert 10 <= len(found) <= 20
    counts = [
        message.values["count"]
        for each in found
        if isinstance(message := each.message.values["diagnostic"], Message)
        and message.key == "definitions.repeated"
    ]
    assert counts
    assert set(counts) <= {989, 990}


def nested(levels: int, prefix: str = "a") -> list[dict[str, str]]:
    return [{"path": "/".join([prefix] * depth)} for depth in range(1, levels + 1)]


def test_paths_below_each_other_are_reported_once_for_each() -> None:
    """And not for each pair: that grew with the square of the levels."""
    listed = [entry for number in range(150) for entry in nested(32, f"part{number}")]
    found = diagnostics_of(json.dumps(listed).encode(), ".json")
    assert len(found) == 10
    [last] = [each.message.values["diagnostic"] for each in found][-1:]
    assert isinstance(last, Message)
    assert last.values["count"] == 150 * 31 - 10


LIMITS = [
    ("entries", [{"path": f"{n}"} for n in range(5_001)], "definitions.too_many_entries"),
    (
        "alternatives",
        [{"path": f"{n}", "alternatives": [f"{n}-{m}" for m in range(9)]} for n in range(501)],
        "definitions.too_many_paths",
    ),
    (
        "alternatives of one entry",
        [{"path": "a", "alternatives": [f"{n}" for n in range(21)]}],
        "definitions.too_many_alternatives",
    ),
    (
        "directories",
        [{"path": "/".join(f"{n}-{m}" for m in range(32))} for n in range(400)],
        "definitions.too_many_directories",
    ),
    ("content", [{"path": "a", "content": "x" * 1_000_001}], "definitions.content_too_large"),
    (
        "a template that grows",
        [{"path": "a", "template": True, "content": "{owner}" * 4_000}],
        "definitions.content_too_large",
    ),
    ("description", [{"path": "a", "description": "x" * 1001}], "definitions.description_too_long"),
    (
        "patterns",
        {"extends": "health", "exclude": [f"{n}" for n in range(101)]},
        "definitions.too_many_globs",
    ),
]


@pytest.mark.parametrize("suffix", [".json", ".yml"])
@pytest.mark.parametrize(
    ("value", "key"), [each[1:] for each in LIMITS], ids=[e[0] for e in LIMITS]
)
def test_limits(value: Any, key: str, suffix: str) -> None:
    assert keys(diagnostics_of(json.dumps(value).encode(), suffix)) == {key}


def test_contents_are_limited_in_all_also_where_an_alias_repeats_one() -> None:
    lines = [b"- path: a0\n  content: &text " + b"x" * 100_000]
    lines += [b"- path: a%d\n  content: *text" % number for number in range(1, 110)]
    found = diagnostics_of(b"\n".join(lines), ".yml")
    assert keys(found) == {"definitions.all_too_large"}
    assert found[0].line == 201


def keys(diagnostics: tuple[Diagnostic, ...]) -> set[str]:
    """The kinds of diagnostics, without their places."""
    found = set[str]()
    for each in diagnostics:
        message = each.message
        while isinstance(inner := message.values.get("diagnostic"), Message):
            message = inner
        found.add(message.key)
    return found


def test_a_list_that_is_an_object_means_the_same_as_its_entries() -> None:
    entries = [{"path": "a", "content": "b"}, {"path": "c", "alternatives": ["d"]}]
    for suffix in SUFFIXES:
        as_object = json.dumps({"files": entries}).encode()
        assert load(as_object, suffix) == load(json.dumps(entries).encode(), suffix)


SCHEMA_CASES: list[tuple[Any, bool]] = [
    ([{"path": "a"}], True),
    ([], False),
    ({}, False),
    ({"files": []}, True),
    ({"extends": "health"}, True),
    ({"extends": "all"}, False),
    ({"$schema": "x", "extends": "health"}, True),
    ({"$schema": "x"}, False),
    ({"exclude": ["a"]}, False),
    ({"extends": "health", "exclude": ["a"], "files": [{"path": "a"}]}, True),
    ({"extends": "health", "exclude": "a"}, False),
    ({"files": [{"path": "a", "mode": "x"}]}, False),
    ([{"path": "a", "content": "b", "content_file": "c"}], False),
    ([{"path": "a", "template": "true"}], False),
    ([{"path": "a", "template": True, "content": "{owner}"}], True),
    ([{"path": "a", "alternatives": ["b", "c"]}], True),
    ([{"path": "a", "alternatives": ["../b"]}], False),
    ([{"path": "a", "alternatives": "b"}], False),
    ([{"path": "a", "description": "x" * 1001}], False),
    (["a", {"path": "b"}, ".github/c.md"], True),
    (["a/"], False),
    (["/a"], False),
    ({"files": ["a"]}, True),
    ([{"path": "a/"}], False),
    ([{"path": "a/", "content": "b"}], False),
    ([{"path": "a/", "content_file": "b"}], False),
    ([{"path": "a", "content_file": "b/"}], False),
    ([{"path": "/a/", "content_file": "b/"}], False),
    ([{"path": "a/", "content_file": "b/", "alternatives": ["c"]}], False),
    ({"rules": [{"when": {"language": "go"}, "files": ["a"]}]}, True),
    ({"rules": [{"when": {"language": ["go", "rust"]}, "extends": "health"}]}, True),
    ({"rules": [{"when": {"fork": False, "not": {"topic": "x"}}, "files": ["a"]}]}, True),
    ({"rules": [{"when": {"property": {"a-B_1": ["x"]}}, "files": ["a"]}]}, True),
    ({"files": ["a"], "rules": [{"when": {"exists": "go.mod"}, "files": ["a"]}]}, True),
    ({"files": ["a"], "rules": []}, True),
    ({"rules": [{"files": ["a"]}]}, False),
    ({"rules": [{"when": {}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"language": "go"}}]}, False),
    ({"rules": [{"when": {"languages": "go"}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"language": []}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"language": " "}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"fork": "no"}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"visibility": "secret"}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"name": "o/a"}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"exists": "/a"}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"property": {}}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"property": {"a b": "x"}}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"property": "a"}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"not": {"not": {"fork": True}}}, "files": ["a"]}]}, False),
    ({"rules": [{"when": {"fork": True}, "files": ["a"]}] * 101}, False),
]


@pytest.mark.parametrize(("value", "valid"), SCHEMA_CASES)
def test_the_schema_covers_both_forms(value: Any, valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(value) is valid
    if value != {"files": []}:  # a list may be empty for an editor, while it is being written
        assert bool(diagnostics_of(json.dumps(value).encode(), ".json")) is not valid


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("a", "a", True),
        ("a", "b/a", False),
        ("a", "a/b", False),
        ("*", "a", True),
        ("*", "a/b", False),
        ("*.md", "README.md", True),
        (".github/*", ".github/a/b", False),
        (".github/**", ".github/a/b", True),
        ("**/b", "b", True),
        ("**/b", "a/b", True),
        ("**", "a/b/c", True),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/x/y/c", True),
        ("?.md", "a.md", True),
        ("?", "/", False),
        ("[id].md", "[id].md", True),
        ("[id].md", "i.md", False),
        ("*[!a]?", "x[!a]]", True),
        ("*a*b*c", "xaybzc", True),
        ("*a*b?c", "xaybzc", True),
        ("*a*b*c", "xaybz", False),
        (f"{'*a' * 400}b", "a" * 255, False),
        ("A", "a", False),
        ("**/**/**/**/**/**/**/**/x", "a/b/c/d/e/f/g/h", False),
        ("/".join(["*/**"] * 30), "/".join("a" * 29), False),
    ],
)
def test_globs(glob: str, path: str, expected: bool) -> None:
    assert (loading.matching([path], glob) == {path}) is expected


@pytest.mark.parametrize(
    ("text", "key", "line", "column"),
    [
        # Wrong indentation: of a key, of an entry, of what belongs to an object
        ("- path: a\n   content: b\n", "indentation", 2, 1),
        ("- path: a\n content: b\n", "indentation", 2, 2),
        ("- path: a\ncontent: b\n", "indentation", 2, 1),
        ("files:\n- path: a\n - path: b\n", "indentation", 3, 2),
        ("  - path: a\n- path: b\n", "indentation", 2, 1),
        ("- path: a\n  content: b\n  - c\n", "indentation", 3, 3),
        ("extends: health\n  files: [a]\n", "indentation", 2, 1),
        ("extends: health\nfiles:\n  - path: a\n  exclude: [b]\n", "indentation", 4, 3),
        # A colon in a text
        ("- path: a\n  content: Hello: world\n", "colon_in_text", 2, 17),
        ('- "path": a\n  content: a: b\n', "colon_in_text", 2, 13),
        # A text of several lines
        ("- path: a\n  content: |\nHello\n", "block_not_indented", 2, 1),
        ("- path: a\n  content: |\nHello: x\n", "block_not_indented", 2, 1),
        ("- path: a\n  content: >-\n  Hello\n", "block_not_indented", 2, 1),
        ("- path: a\n  content: | # text\n\n# Title\ntext\n", "block_not_indented", 2, 1),
        ("- path: a\n  content: |\n    one\n  two\n", "no_key", 4, 3),
        ("- path a\n  content: b\n", "no_key", 1, 1),
        # What a text cannot begin with
        ("- path: @a\n", "begins_with", 1, 9),
        ("- path: a\n  content: %x\n", "begins_with", 2, 12),
        ("- path: *.md\n", "begins_with", 1, 9),
        ("- path: *md\n", "begins_with", 1, 9),
        ("exclude: [**/x]\n", "begins_with", 1, 11),
        ("- path: &.a b\n", "begins_with", 1, 9),
        ("- path: a\n\tcontent: b\n", "tab", 2, 1),
        ('- path: "a" b\n', "after_quote", 1, 13),
        ("- {path: a, content: b\n- path: c\n", "open_bracket", 1, 3),
        ("- path: a\n---\n- path: b\n", "two_documents", 2, 1),
        ("- path: a\n}\n", "broken", 2, 1),
        ('[{"path": "a"},]', "last_comma", 1, 15),
        ('[{"path": "a",}]', "last_comma", 1, 14),
        ('[{"path": "a"},\n]', "last_comma", 1, 15),
        ('{"files":\n [],\n}', "last_comma", 2, 4),
        ('[{path: "a"}]', "double_quotes", 1, 3),
        ("['a']", "double_quotes", 1, 2),
        ('["a" "b"]', "no_comma", 1, 6),
        ('["a"', "no_comma", 1, 5),
        ('["a"] // x', "broken", 1, 7),
    ],
)
def test_usual_mistakes_are_told_by_what_they_are(
    text: str, key: str, line: int, column: int
) -> None:
    suffix = (
        ".json" if key in {"last_comma", "double_quotes", "no_comma"} or "//" in text else ".yml"
    )
    [found] = diagnostics_of(text.encode(), suffix)
    values = found.message.values
    assert (found.message.key, values["line"]) == (f"definitions.{key}", found.line)
    assert (values["line"], values["column"]) == (line, column)
