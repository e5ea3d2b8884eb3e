"""A mistake in a definition file ends a run before any request; the error names its place."""

from __future__ import annotations

import json
import os
import re
import socket
from functools import partial
from typing import Any, NamedTuple

import pytest
import yaml
from jsonschema import Draft202012Validator

from registrar.lists.profiles import CONFIG, PROFILES
from tests.fakehub import Repository, StandInHost
from tests.harness import JAPANESE, TARGET, Action
from tests.steps import steps

SCHEMA = Draft202012Validator(json.loads((CONFIG / "definitions.schema.json").read_text("utf-8")))


class Mistake(NamedTuple):
    """A list, and what is said about it."""

    text: str | bytes | None
    """The list; ``None``: the test has made the file, or there is none."""
    where: str
    """The place behind the name of the file: rule, entry, line, column."""
    words: str
    """Beginning of what follows."""
    name: str = "list.yml"


def json_list(text: str, where: str, words: str) -> Mistake:
    return Mistake(text, where, words, "list.json")


def entry(text: str, words: str) -> Mistake:
    """A mistake in the second entry, which is in YAML's flow style."""
    return Mistake(f"- path: first\n- {text}\n", "entry 2, line 2", words)


def rule(text: str, words: str) -> Mistake:
    """A mistake in the second rule."""
    good = "  - {when: {fork: true}, files: [a]}\n"
    return Mistake(f"rules:\n{good}  - {text}\n", "rule 2, line 3", words)


def flow(value: Any) -> str:
    """A value in YAML's flow style, which JSON is."""
    return json.dumps(value)


QUOTES = "must be a string; put the value in quotes."
BAD_INDENT = "the line does not begin where YAML expects it."
NO_KEY = "this line has no key"
OPEN_QUOTE = "the text in quotes that begins here is not closed. Add the closing quote."
COMMA = "there is a comma after the last value. JSON allows none there: remove it."
DOCUMENTS = "a second document begins here, and a list is one document. Remove the line `---`, or"
COMMENT = (
    "there is a comment, and JSON allows none. Remove it, or rename the file to .yml and begin"
)
NO_LIST = "the definition file must hold an array of entries"
NOT_THERE = "the checkout has no such file or folder."
OUTSIDE = "the file is outside the workspace."
OF_GIT = "registrar reads nothing in a `.git` directory"
NO_FILE = "this is a directory, a pipe or a device"
TOO_LONG = "/".join(["d" * 250] * 17)
DEEP = "the definition file is nested more than 32 levels deep"

# What newcomers do: each has the line, the cause and what to do
COMMON = {
    "tab": Mistake(
        "- path: a\n\tcontent: b\n", "line 2, column 1", "there is a tab. YAML takes only spaces"
    ),
    "missing colon": Mistake("- path a\n  content: b\n", "line 1, column 1", NO_KEY),
    "missing colon of a later key": Mistake(
        "- path: a\n  content b\n  template: true\n", "line 2, column 3", NO_KEY
    ),
    "an object as content": Mistake(
        "- path: a\n  content: {b: c}\n", "entry 1, line 2", "content must be a text, but its value"
    ),
    "a path without a value": Mistake(
        "- description: x\n  path:\n", "entry 1, line 2", "path has no value."
    ),
    "the line of the key": Mistake(
        "- path: a\n  content: b\n  content_file: c\n", "entry 1, line 3", "`content` and"
    ),
    "nothing to exclude from": Mistake(
        "exclude:\n  - a\nfiles: [b]\n", "line 2", "`exclude` leaves paths out of the list that"
    ),
    "no blank behind a colon": entry(
        "path:README.md", "there is no space after `path:`, so this is a text and not a key."
    ),
    **{
        what: Mistake(text, f"line {line}, column {at}", BAD_INDENT)
        for what, text, line, at in (
            ("a key too far right", "- path: a\n   content: b\n", 2, 4),
            ("a key too far left", "- path: a\n content: b\n", 2, 2),
            ("a key in the first column", "- path: a\ncontent: b\n", 2, 1),
            ("an entry too far right", "files:\n- path: a\n - path: b\n", 3, 2),
            ("an entry too far left", "  - path: a\n- path: b\n", 2, 1),
            ("an entry below a key", "- path: a\n  content: b\n  - c\n", 3, 3),
            ("a key of the list in an entry", "files:\n  - path: a\n  exclude: [b]\n", 3, 3),
            ("a key of the list too far right", "extends: health\n  files: [a]\n", 2, 3),
            ("a text with a colon", "- path: a\n  content: |\nHello: x\n", 3, 1),
        )
    },
    "text not indented": Mistake("- path: a\n  content: |\nHello\n", "line 3, column 1", NO_KEY),
    "text partly indented": Mistake(
        "- path: a\n  content: |\n    one\n  two\n", "line 4, column 3", NO_KEY
    ),
    "a line of a block further left than the first one": Mistake(
        "- path: a\n  content: |\n    one\n   two\n- path: b\n", "line 4, column 4", NO_KEY
    ),
    **{
        f"text that begins with {text[0]}": Mistake(
            f"- path: a\n  description: {text}\n",
            "line 2, column 16",
            f"a text that begins with {text[0]} must be in quotes.",
        )
        for text in ("{owner} looks after it", "{owner} {name}", "[draft] of it", "? who")
    },
    "a dash behind a key": Mistake(
        "- path: a\n  content: - x\n", "line 2, column 12", "there is a `-` behind a key."
    ),
    "colon in a text": Mistake(
        "- path: a\n  content: Hello: world\n",
        "line 2, column 17",
        "there is a colon and a space in a text. Put the text in quotes.",
    ),
    **{
        f"open quote {text!r}": Mistake(f"- path: a\n{text}\n", f"line 2, column {at}", OPEN_QUOTE)
        for text, at in (
            ('- path: "b\n- path: c\n- path: d', 9),
            ('- path: "b\n- path: "c"\n- path: "d"', 9),
            ("- path: 'b\n- path: 'c'\n- path: 'd'", 9),
            ('- {path: "b}\n- {path: c}', 10),
            # The text that begins where the first one ends is the rest behind a forgotten quote
            ('- {path: "b,\n  content: ", c": "d,\n  e: " f}', 10),
            ('- {path: "b,\n  content: ", c": "d}', 10),
        )
    },
    **{
        f"{name} begins a text": Mistake(
            text, f"line 1, column {at}", f"a text that begins with {name[0]} must be in quotes."
        )
        for name, text, at in (
            ("@", "- path: @a\n", 9),
            ("*", "- path: *.md\n", 9),
            ("* as an alias", "- path: *md\n", 9),
            ("* in a list", "exclude: [**/x]\n", 11),
            ("&", "- path: &.a b\n", 9),
            ("%", "- path: %a\n", 9),
        )
    },
    **{
        f"{text!r} begins with a bracket or a quote": Mistake(
            f"- path: first\n{text}\n",
            f"line {line}, column {at}",
            f"a text that begins with {text.strip('- path:excluds')[0]} must be in quotes.",
        )
        for text, line, at in (
            ("- {repo}.md", 2, 3),
            ("- path: {repo}/a.md\n  content: b", 2, 9),
            ("- [slug]/page.tsx", 2, 3),
            ("- path: [...slug]/page.tsx", 2, 9),
            ("- {{ repo }}.md", 2, 3),
            ('- "a".md', 2, 3),
            ("- {path: {repo}.md}", 2, 10),
        )
    },
    "key twice": Mistake(
        "- path: a\n  path: b\n", "entry 1, line 2", "the key path is there more than once."
    ),
    "key twice in JSON": json_list(
        '[{"path": "a"},\n{"path": "b", "path": "c"}]',
        "entry 2",
        "the key path is there more than once.",
    ),
    "last comma": json_list('[{"path": "a"},]', "line 1, column 15", COMMA),
    "last comma of an object": json_list('{"files":\n [],\n}', "line 2, column 4", COMMA),
    "path forgotten": entry("description: x", "`path` is missing."),
    "path forgotten in JSON": json_list('["a", {"description": "x"}]', "entry 2", "`path` is"),
    "path misspelled": entry("paths: x", "unknown key paths. Did you mean `path`? Known: path, "),
    "content misspelled": entry(
        "{path: x, contents: y}", "unknown key contents. Did you mean `content`? Known: path, "
    ),
    **{
        f"a place for anchors in {what}": Mistake(text, where, "unknown key x-a. Known: ")
        for what, text, where in (
            ("an entry", "- path: a\n  x-a: b\n", "entry 1, line 2"),
            # The condition would hold for every repository
            (
                "a condition",
                "rules:\n- when: {x-a: go, fork: true}\n  files: [a]\n",
                "rule 1, line 2",
            ),
        )
    },
    "files misspelled": Mistake(
        "file:\n  - a\n", "line 1", "unknown key file. Did you mean `files`? Known: name, "
    ),
}

FORMATS = {
    "a reason of any length": Mistake(
        "- !" + "x" * 300 + "!a b",
        "line 1, column 3",
        "this is not YAML: while parsing a node (line 1): found undefined tag handle '!xxx",
    ),
    "open bracket": Mistake(
        "- path: a\n- path: [b\n",
        "line 3, column 1",
        "this is not YAML: while parsing a flow sequence (line 2): expected ',' or ']'",
    ),
    "a bracket behind a text of several lines": Mistake(
        '- path: a\n  content: "b\n    c"\n- path: [d\n', "line 5, column 1", "this is not YAML: "
    ),
    **{
        f"two documents: {text!r}": Mistake(text, f"line {line}, column 1", DOCUMENTS, name)
        for text, line, name in (
            ("- path: a\n---\n- path: b\n", 2, "list.yml"),
            ("# none yet\n---\n---\n- path: b\n", 3, "list.yml"),
            ('["a"]\n["b"]\n', 2, "list.json"),
        )
    },
    **{
        f"JSON with a comment: {text!r}": json_list(text, f"line {line}, column {at}", COMMENT)
        for text, line, at in (
            ('// the list\n["a"]', 1, 1),
            ('[\n  "a" // first\n, "b"]', 2, 7),
            ('{"files": # all\n []}', 1, 11),
            ('["a"]\n// the end\n', 2, 1),
        )
    },
    "a control character": Mistake("- path: a\n- path: \x07\n", "line 2, column 9", "this is not"),
    "JSON cut off": json_list(
        '[\n  {"path": "a"},\n  {"path": \n',
        "line 4, column 1",
        "this is not JSON: Expecting value.",
    ),
    "single quotes in JSON": json_list("['a']", "line 1, column 2", "this is not JSON: Expecting"),
    "behind the end of JSON": json_list('["a"]]', "line 1, column 6", "this is not JSON: Extra"),
    "another format": Mistake("x = 1\n", "", "the definition file must be a .json, ", "list.toml"),
    **{
        f"empty {name} {data!r}": Mistake(data, "", "the definition file is empty.", name)
        for name in ("list.json", "list.yml")
        for data in (b"", b" \n\n", b"\xef\xbb\xbf")
    },
    "only a comment": Mistake("# - path: a\n", "", "the definition file is empty."),
    "no entry": Mistake("[]\n", "", "the list holds no entry."),
    "no entry in an object": Mistake("files: []\n", "", "the list holds no entry."),
    "nothing is left": Mistake(
        "{extends: health, exclude: ['**']}", "", "the list holds no entry."
    ),
    "not UTF-8": Mistake(
        b'[\n"caf\xe9"]', "line 2", "the definition file is not UTF-8 (at byte 6)."
    ),
    "UTF-16": Mistake(
        "- path: a\n".encode("utf-16"), "line 1", "the definition file is not UTF-8 (at byte 0)."
    ),
    "deep JSON": json_list("[" * 100_000, "", DEEP),
    "deep JSON that is whole": json_list("[" * 33 + "]" * 33, "", DEEP),
    "deep YAML": Mistake("[" * 2_000, "", DEEP),
    "an escape beyond Unicode": Mistake('- "\\UFFFFFFFF"\n', "", DEEP),
    **{
        f"too many values in {name}": Mistake(
            "[" + "[]," * 50_000 + "[]]",
            "",
            "the definition file holds more than 50000 values.",
            name,
        )
        for name in ("list.json", "list.yml")
    },
    **{
        f"no list: {text!r}": Mistake(text, "", NO_LIST, name)
        for name, text in (
            ("list.json", "null"),
            ("list.json", "{}"),
            ("list.yml", "just text\n"),
            ("list.yml", "path: a\ncontent: b\n"),
            ("list.yml", "!custom [a]\n"),
        )
    },
}

ENTRIES = {
    **{
        f"no entry: {text}": entry(text, "the entry is neither a path nor an object.")
        for text in ("null", "1", "[path, a]", "!x {path: a}", "!!str [a]", "!!map a")
    },
    "unknown key": entry("{path: a, mode: x}", "unknown key mode. Known: path, description, "),
    "empty": entry("{}", "`path` is missing."),
    **{
        f"no string: {key}, {value}": entry(
            f"{{path: a, {key}: {value}}}" if key != "path" else f"{{path: {value}}}",
            f"{key} {words}",
        )
        for key, value, words in (
            ("path", "1", QUOTES),
            ("path", "null", "has no value."),
            ("path", "~", "has no value."),
            ("path", "[a]", "must be a text, but its value is an object or an array."),
            ("description", "true", QUOTES),
            ("content", "{}", "must be a text, but its value is an object or an array."),
            ("content", "1.5", QUOTES),
            ("content_file", "true", QUOTES),
        )
    },
    "half a character": entry('"a\\ud800"', "path holds half a character (a lone surrogate)"),
    "empty path": entry('""', "`path` is empty."),
    "absolute path": entry("/a", "the path /a is absolute."),
    "path above": entry("a/../b", "the path a/../b has a part `.` or `..`."),
    "path in .git": entry("a/.GIT", "the path a/.GIT has a part `.git`"),
    "path with a slash": entry("a/", "the path a/ ends with a slash."),
    "path with a blank": entry("'a '", 'the path "a " begins or ends with a space.'),
    "path with a line break": entry('"a\\nb"', "the path a\\nb holds a control character."),
    "a very long path": entry(TOO_LONG, f"the path {TOO_LONG[:199]}… is longer than 4,096 bytes."),
    "two contents": entry(
        "{path: a, content: b, content_file: good}", "`content` and `content_file` cannot be given"
    ),
    **{
        f"content_file {file}": entry(f"{{path: a, content_file: {file}}}", f"{shown}: {words}")
        for file, shown, words in (
            ("gone", "gone", NOT_THERE),
            *((outside, outside, OUTSIDE) for outside in ("../outside", "/etc/passwd", "link")),
            *((of_git, of_git, OF_GIT) for of_git in (".git/config", ".Git/config")),
            *((no_file, ".", NO_FILE) for no_file in (".", '""')),
            ("large", "large", "the file is larger than 1000000 bytes."),
        )
    },
    "the token in a file": entry(
        "{path: a, content_file: token}", "content_file holds the token itself"
    ),
    # The token itself is in no output of any run
    "the token in a path": entry('"docs/{token}.md"', "path holds the token itself"),
    "the token in a description": entry(
        '{path: a, description: "{token}"}', "description holds the token itself"
    ),
    "the token in an absolute path": entry('"/{token}"', "path holds the token itself"),
    "the token as a key": entry('{path: a, "{token}": x}', "unknown key ***. Known: "),
    "the token in an alternative": entry(
        '{path: a, alternatives: [b, "{token}"]}', "alternatives holds the token itself"
    ),
    "template is no boolean": entry(
        '{path: a, content: b, template: "true"}', "template must be true or false, without quotes."
    ),
    "unknown placeholders": entry(
        flow({"path": "a", "template": True, "content": "{year} {year} {owner.x} {}"}),
        "template has unknown placeholders: {year}, {owner.x}, {}. Did you mean `{owner}`? Known: ",
    ),
    "a brace alone": entry(
        flow({"path": "a", "template": True, "content": "function () {"}),
        "template has an unmatched brace: function () {.",
    ),
    "a template of bytes": entry(
        "{path: a, template: true, content_file: bytes}", "the template is not UTF-8."
    ),
    **{
        f"the expression {found}": entry(
            flow({"path": "a", "template": True, "content": f"a: {found}\n"}),
            f"the template holds {found}, and filling it in would leave only half of its braces. "
            "Write an expression of GitHub with twice as many (`${{{{ … }}}}`), or leave out",
        )
        for found in (
            *("${{ secrets.TOKEN }}", "${{github.ref}}", "${{ matrix['os'] }}", "${{ name.else }}"),
            *("${{ hashFiles('**/go.sum') }}", "${{ !cancelled() }}", "${{ x }}"),
            "${{ true && 'a' }}",
        )
    },
    "a property in a workflow file": entry(
        flow({"path": ".github/workflows/a.yml", "template": True, "content": "{property:team}"}),
        ".github/workflows/a.yml is a workflow file, so its template may not use a custom",
    ),
    **{
        f"the placeholder {found}": entry(
            flow({"path": "a", "template": True, "content": found}),
            f"template has unknown placeholders: {found}.",
        )
        for found in ("{property}", "{property:a b}", "{property:a!r}", "{owner:team}")
    },
    "alternatives are no array": entry(
        "{path: a, alternatives: b}", "alternatives must be an array."
    ),
    "an alternative is no string": entry(
        "{path: a, alternatives: [1]}", "alternatives holds a value that is not a string; put the"
    ),
    "an alternative is no path": entry(
        "{path: a, alternatives: [../b]}", "the path ../b has a part `.` or `..`."
    ),
    "a path twice": Mistake(
        "- a/b\n- c\n- a/b\n",
        "entry 3, line 3",
        "the path a/b is listed already, in entry 1.",
    ),
    "a path below a file": Mistake(
        "- c\n- a/b/d\n- a\n",
        "entry 2, line 2",
        "the path a/b/d lies below a, which entry 3 lists as a file.",
    ),
    "a path below a file of the extended list": Mistake(
        "extends: health\nfiles:\n  - .github/SUPPORT.md/deep\n",
        "entry 1, line 3",
        "the path .github/SUPPORT.md/deep lies below .github/SUPPORT.md, and one of them comes",
    ),
    "a file where the extended list has a folder": Mistake(
        "extends: scaffold\nfiles:\n  - .idea\n", "entry 1, line 3", "the path .idea/.gitkeep lies"
    ),
}

MERGE = "`<<` takes an object, or an array of objects, as in `<<: *name`."
MERGED = {
    **{
        f"no object: {value}": Mistake(
            f"- &a x\n- path: b\n  <<: {value}\n", "entry 2, line 3", MERGE
        )
        for value in ("*a", "x", "null", "[{path: c}, *a]", "[[{path: c}]]")
    },
    "itself": Mistake("- &a\n  path: a\n  <<: *a\n", "entry 1, line 3", MERGE),
    "what it is a part of": Mistake(
        "- &a\n  path: a\n  parts:\n    - content: b\n      <<: *a\n", "entry 1, line 5", MERGE
    ),
    "in the list itself": Mistake("files: [a]\n<<: x\n", "line 2", MERGE),
    "in a rule": Mistake(
        "rules:\n  - when: {fork: true}\n    <<: x\n    files: [a]\n", "rule 1, line 3", MERGE
    ),
    "in a property": Mistake(
        "rules:\n  - when: {property: {a: b, <<: x}}\n    files: [a]\n", "rule 1, line 2", MERGE
    ),
    "twice": Mistake(
        "- &a {path: a}\n- path: b\n  <<: *a\n  <<: *a\n",
        "entry 2, line 4",
        "the key << is there more than once.",
    ),
    "a text": entry('{path: b, "<<": {content: c}}', "unknown key <<. Known: path, "),
    "in JSON": json_list('["a", {"path": "b", "<<": {}}]', "entry 2", "unknown key <<. Known: "),
    "a key": Mistake(
        "- path: a\n  <<: &x\n    contents: b\n", "entry 1, line 3", "unknown key contents. Did"
    ),
    "a value": Mistake(
        "- path: a\n  <<:\n    - content: b\n    - template: maybe\n",
        "entry 1, line 4",
        "template must be true or false",
    ),
    "a key twice": Mistake(
        "- path: a\n  <<:\n    content: b\n    content: c\n",
        "entry 1, line 4",
        "the key content is there more than once.",
    ),
}

OBJECTS = {
    **{
        f"the name {name}": Mistake(
            f'name: "{name}"\nfiles: [a]\n', "line 1", f"`name` is {name}. It"
        )
        for name in ("Service", "a_b", "x" * 41, "", "a/b", "é", "a\\n")
    },
    "a name that is no string": Mistake("name: 1\n", "line 1", "name must be a string"),
    "unknown key": Mistake(
        "extends: health\nonly: []\n",
        "line 2",
        "unknown key only. Known: name, extends, exclude, files, rules, $schema.",
    ),
    "unknown list": Mistake(
        "extends: all\n",
        "line 1",
        f"there is no built-in list all to extend. Known: {', '.join(PROFILES)}.",
    ),
    "extends is no string": Mistake("extends: [health]\n", "line 1", "extends must be a text"),
    "exclude is no array": Mistake(
        "extends: health\nexclude: a\n", "line 2", "exclude must be an array."
    ),
    "a pattern is no string": Mistake(
        "extends: health\nexclude:\n  - a\n  - 1\n", "line 4", "exclude holds a value that is not a"
    ),
    "a pattern is long": Mistake(
        f"extends: health\nexclude:\n  - '{'[' * 100_000}'\n",
        "line 3",
        "a pattern of `exclude` is longer than 1000 characters.",
    ),
    "files is no array": Mistake("files: {path: a}\n", "line 1", "files must be an array."),
    "files is called an array": Mistake("files: !!seq a\n", "line 1", "files must be an array."),
    "a rule of nothing": rule("a", "a rule must be an object with `when` and"),
    "a rule without a condition": rule("{files: [a]}", "the rule needs `when`, an object"),
    "a rule without files": rule("{when: {fork: false}}", "the rule has no files: give it `files`"),
    "an unknown condition": rule(
        "{when: {languages: go}, files: [a]}", "unknown key languages. Did you mean `language`?"
    ),
    "a language that is no string": rule(
        "{when: {language: [go, 1]}, files: [a]}", "language holds a value that is not a string"
    ),
    "a topic that is long": rule(
        f"{{when: {{topic: {'x' * 1_001}}}, files: [a]}}",
        "topic has a value of more than 1000 characters.",
    ),
    "an unknown visibility": rule(
        "{when: {visibility: secret}, files: [a]}", "visibility cannot be secret. Valid values:"
    ),
    **{
        f"a name that no repository has: {name}": rule(
            f"{{when: {{name: '{name}'}}, files: [a]}}",
            f"name is the name of a repository without its owner, or a pattern for it, so {name} "
            "matches none: names have letters, digits, `.`, `_` and `-`, and in a pattern only",
        )
        for name in ("svc-[0-9]*", "{api,web}-*", "{repo}", "octo/a", "!a", "a, b", "a b")
    },
    **{
        f"a topic that no repository has: {topic}": rule(
            f"{{when: {{topic: [a, '{topic}']}}, files: [a]}}",
            f"no repository can have the topic {topic}: topics have small letters, digits and",
        )
        for topic in ("{repo}", "machine learning", "c++", "a_b")
    },
    "an empty condition": rule("{when: {}, files: [a]}", "the condition is empty"),
    "a fork that is no boolean": rule("{when: {fork: 1}, files: [a]}", "fork must be"),
    "a condition that is no path": rule("{when: {exists: /a}, files: [a]}", "the path /a"),
    "a condition that is no property": rule(
        "{when: {property: {a b: x}}, files: [a]}", "a b cannot be the name of a custom property"
    ),
    "a rule in JSON": json_list(
        flow({"rules": [{"when": {"name": "o/a"}, "files": ["a"]}]}),
        "rule 1",
        "name is the name of a repository without its owner",
    ),
    "an entry of a rule in JSON": json_list(
        flow({"rules": [{"when": {"fork": True}, "files": ["a", {"path": "b", "content": 1}]}]}),
        "rule 1, entry 2",
        "content must be a string",
    ),
}

# What is too much of something; the text is JSON, which YAML is
THOUSAND = [f"{n}" for n in range(1_000)]
LIMITS = {
    "paths": (
        [f"{n}" for n in range(1_001)],
        "",
        "the list and its rules have 1001 different paths, without alternatives; at most 1000 are",
    ),
    "paths with those of rules": (
        {"files": THOUSAND[1:], "rules": [{"when": {"fork": True}, "files": ["a", THOUSAND[0]]}]},
        "",
        "the list and its rules have 1001 different paths, without alternatives; at most 1000 are",
    ),
    "paths in conditions": (
        {"rules": [{"when": {"exists": THOUSAND, "missing": "a"}, "files": ["a"]}]},
        "",
        "the conditions of the list name 1001 different paths in `exists` and `missing`; at most",
    ),
    "alternatives of one entry": (
        [{"path": "a", "alternatives": [f"{n}" for n in range(21)]}],
        "entry 1, line 1",
        "`alternatives` has more than 20 paths.",
    ),
    "directories": (
        [{"path": "/".join(f"{n}-{m}" for m in range(32))} for n in range(400)],
        "",
        "the paths lie in 12400 directories; at most 10000 are accepted.",
    ),
    "content": (
        [{"path": "a", "content": "x" * 1_000_001}],
        "entry 1, line 1",
        "the content is larger than 1000000 bytes",
    ),
    "a template that grows": (
        [{"path": "a", "template": True, "content": "{owner}" * 4_000}],
        "entry 1, line 1",
        "the content is larger than 1000000 bytes (a placeholder counts as 255).",
    ),
    "content of parts": (
        [{"path": "a", "content": f"{'x' * 500_000}\n", "parts": [{"content": "x" * 500_000}]}],
        "entry 1, line 1",
        "the content is larger than 1000000 bytes",
    ),
    "description": (
        [{"path": "a", "description": "x" * 1001}],
        "entry 1, line 1",
        "`description` has 1001 characters, more than 1000.",
    ),
    "patterns": (
        {"extends": "health", "exclude": [f"{n}" for n in range(101)]},
        "line 1",
        "`exclude` has more than 100 patterns.",
    ),
    "rules": (
        {"rules": [{"when": {"fork": True}, "files": ["a"]}] * 101},
        "line 1",
        "`rules` has 101 rules, more than 100.",
    ),
}

FILES = {
    **{
        name: Mistake(None, "", words, name)
        for words, names in (
            (
                OUTSIDE,
                ("link.json", "folder/list.json", "../list.json", "/etc/passwd", "x/../../a"),
            ),
            (NOT_THERE, ("gone.json", "gone/list.json", "large/list.json", "dangling.json")),
            (NO_FILE, ("folder.json", "pipe.json", "socket.json", ".")),
            (OF_GIT, (".git/list.json",)),
        )
        for name in names
    },
    "a loop of links": Mistake(
        None, "", "the file cannot be read (Too many levels of symbolic links).", "loop.json"
    ),
    "a comma in its name": Mistake(
        "- path: a\n- path: a\n", "entry 2, line 2", "the path a is", "lists/one,two.yml"
    ),
    "too large": Mistake("[" + " " * 2_000_000 + "]", "", "the file is larger than 2000000 bytes."),
}

TABLE = {
    f"{kind}: {name}": mistake
    for kind, mistakes in {
        "common": COMMON,
        "format": FORMATS,
        "entry": ENTRIES,
        "merged": MERGED,
        "object": OBJECTS,
        "limit": {
            name: Mistake(flow(value), where, words)
            for name, (value, where, words) in LIMITS.items()
        },
        "file": FILES,
    }.items()
    for name, mistake in mistakes.items()
}


@pytest.fixture
def workspace(action: Action) -> Action:
    """The workspace has the files that the lists of the table name."""
    outside = action.directory / "outside"
    outside.mkdir()
    (outside / "list.json").write_text('["a"]')
    here = action.workspace
    for name, target in (
        ("link.json", outside / "list.json"),
        ("link", outside / "list.json"),
        ("folder", outside),
        ("dangling.json", "gone"),
        ("loop.json", "loop.json"),
    ):
        (here / name).symlink_to(target)
    (here / "folder.json").mkdir()
    os.mkfifo(here / "pipe.json")
    with socket.socket(socket.AF_UNIX) as listener:
        # In the working directory: the address of a socket has 107 bytes at most
        listener.bind("socket.json")
    action.write("good", "good")
    action.write("large", "x" * 1_000_001)
    action.write("token", f"x{action.default_token}x")
    action.write("bytes", b"\xff{owner}")
    action.write(".git/config", "x")
    action.write(".Git/config", "x")
    return action


@pytest.mark.parametrize("mistake", TABLE.values(), ids=TABLE)
def test_a_mistake_ends_the_run_at_its_place(workspace: Action, mistake: Mistake) -> None:
    text, where, words, name = mistake
    if isinstance(text, str):
        text = text.replace("{token}", workspace.default_token)
    if text is not None:
        workspace.write(name, text)
    run = workspace(definitions=name, language="en", runner=True)
    first = run.annotations()[0]
    at = ", ".join(filter(None, [name, where]))
    assert first.data.startswith(f"{at}: {words}")
    line = re.search(r"line (\d+)", where)
    # A list that is none is told at its first line
    lines = {line[1]} if line else {None, "1"}
    assert first.properties["file"] == name
    assert first.properties.get("line") in lines
    assert (run.exit_code, workspace.host.requests) == (2, [])
    assert "Nothing was registered" in run.summary


UNSEEN = {
    # Many editors mark a key that is there twice, but a schema cannot
    *("common: key twice", "common: key twice in JSON", "merged: twice", "merged: a key twice"),
    "merged: itself",
    # An empty list may be one that somebody has just begun
    *("format: no entry in an object", "format: nothing is left"),
    # Other files, and the token
    *(f"entry: content_file {file}" for file in ("gone", "link", "large")),
    *(f"entry: content_file {file}" for file in ("../outside", "/etc/passwd")),
    *("entry: a template of bytes", "entry: the token in a file", "entry: the token in a path"),
    *("entry: the token in a description", "entry: the token in an alternative"),
    # Halves of a character, sizes in bytes, and sums
    *("entry: half a character", "limit: a template that grows", "limit: directories"),
    *("limit: paths with those of rules", "limit: paths in conditions", "limit: content of parts"),
    # Two paths; one of them may come from a built-in list
    *("entry: a path below a file", "entry: a path below a file of the extended list"),
    "entry: a file where the extended list has a folder",
    # The file itself, not its text
    *(name for name, mistake in TABLE.items() if mistake.text is None),
}
"""The mistakes that the JSON Schema of lists cannot mark in an editor."""
assert set(TABLE) > UNSEEN


def is_seen(mistake: Mistake) -> bool:
    """Whether a text is neither JSON nor YAML, or has a value that the schema refuses."""
    text, name = mistake.text, mistake.name
    if text is None:
        return False
    try:
        text = text.decode() if isinstance(text, bytes) else text
        value = json.loads(text) if name.endswith(".json") else yaml.safe_load(text)
    except (ValueError, OverflowError, RecursionError, yaml.YAMLError):
        return True
    return not SCHEMA.is_valid(value)


BIG = "x" * 500_000
RIGHT: dict[str, Any] = {
    "content": [{"path": "a", "content": BIG * 2}],
    "parts": [{"path": "a", "content": f"{BIG[1:]}\n", "parts": [{"content": BIG}]}],
    # An empty content has room, also where there is none left
    "all contents": [
        *({"path": f"{number}", "content_file": "big"} for number in range(10)),
        {"path": "a", "content": ""},
    ],
    "name": {"rules": [{"when": {"name": BIG[:1_000]}, "files": ["a"]}]},
    "visibility": {"rules": [{"when": {"visibility": ["internal", "Private"]}, "files": ["a"]}]},
    "a short token": ["1234567"],
}


@pytest.mark.parametrize("listed", RIGHT.values(), ids=RIGHT)
def test_what_is_right_at_its_limit_is_no_mistake(action: Action, listed: Any) -> None:
    name = action.write("LIST.Yml", flow(listed))
    action.write("big", BIG * 2)
    given = {"definitions": name, "mode": "validate", "language": "en", "host_token": "1234567"}
    assert action(given).or_fail().stderr == ""


def test_a_token_of_eight_characters_may_not_be_in_a_list(action: Action) -> None:
    run = action(definitions=action.listing("12345678"), host_token="12345678", language="en")
    assert "path holds the token itself" in run.stderr


@pytest.mark.parametrize("name", TABLE)
def test_an_editor_sees_a_mistake(name: str) -> None:
    assert is_seen(TABLE[name]) is (name not in UNSEEN)


def test_in_a_shell_and_in_japanese_the_same_mistake_is_told(action: Action) -> None:
    name = action.write("list.yml", "- a\n- path: b\n  contents: c\n")
    run = action(definitions=name, language="ja")
    place = f"エラー: {name}、2 番目の項目、3 行目: contents というキーはありません。`content` の"
    assert run.stderr.startswith(place)
    assert run.stdout == ""
    assert JAPANESE.search(run.summary)
    assert run.exit_code == 2


@pytest.mark.parametrize("suffix", ["json", "yml"])
def test_all_mistakes_of_a_file_are_told_at_once_in_their_order(
    action: Action, host: StandInHost, suffix: str
) -> None:
    entries = [{"path": "/a"}, ["b"], {"path": "c", "mode": "x"}, {"path": "../d", "content": 1}]
    # Two without a path are not the same one twice
    entries += [{"content": "e"}, {"content": "e"}]
    rules = [{"when": {"fork": 1}, "files": ["/e"]}]
    text = ",\n".join(json.dumps(each) for each in entries)
    text = f'{{"files": [\n{text}],\n"rules": [\n{json.dumps(rules[0])}]}}'
    run = action(language="en", definitions=action.write(f"list.{suffix}", text))
    places = [line.removeprefix("Error: ").split(": ")[0] for line in run.stderr.splitlines()]
    numbered = [("entry 1", 2), ("entry 2", 3), ("entry 3", 4), ("entry 4", 5), ("entry 4", 5)]
    numbered += [("entry 5", 6), ("entry 6", 7), ("rule 1", 9), ("rule 1, entry 1", 9)]
    assert places == [
        f"list.{suffix}, {place}{f', line {line}' if suffix == 'yml' else ''}"
        for place, line in numbered
    ]
    assert host.requests == []


def test_a_key_is_told_at_its_own_line(action: Action) -> None:
    entry = "- path: a\n  content: 1\n  template: maybe\n  alternatives: b\n  other: x\n"
    run = action(language="en", definitions=action.write("list.yml", entry))
    found = re.findall(r"entry 1, line (\d): (?:unknown key )?(\w+)", run.stderr)
    assert found == [("2", "content"), ("3", "template"), ("4", "alternatives"), ("5", "other")]


@pytest.mark.parametrize("line_break", ["\r", "\x85", "\u2028", "\u2029"])
def test_a_mistake_is_found_whatever_ends_its_line(action: Action, line_break: str) -> None:
    text = line_break.join(("- path: a", "", "", "  mode: b: c"))
    run = action(definitions=action.write("list.yml", text.encode()), profile=None)
    assert (run.exit_code, "line 4, column 10: " in run.console) == (2, True), run.console


def test_annotations_stop_at_the_runners_limit_and_the_rest_is_printed(action: Action) -> None:
    paths = [f"/{number}" for number in range(1, 8)] + [f"{letter}/" for letter in "ABCDE"]
    name = action.write("list.json", json.dumps(paths))
    run = action(runner=True, language="en", definitions=name)
    assert len(run.annotations()) == 10
    for path in paths:
        assert f"the path {path} " in run.stdout
        assert f"{path}` " in run.summary


@pytest.mark.parametrize("suffix", ["json", "yml"])
def test_one_mistake_a_thousand_times_is_ten_lines_with_a_count(
    action: Action, suffix: str
) -> None:
    entries = [{"path": f"/{'x' * 200}/{'x' * 100}{number}"} for number in range(1000)]
    name = action.write(f"list.{suffix}", json.dumps(entries, indent=1))
    run = action(language="en", definitions=name)
    errors = run.stderr.splitlines()
    assert len(errors) == 10
    shown = ", ".join(str(number) for number in range(11, 31))
    last = errors[-1].partition(" → ")[0]
    assert last.endswith(f"The same error in other entries (990): {shown}, ….")
    assert len(run.text) < 60_000


def test_paths_below_each_other_are_told_once_for_each(action: Action) -> None:
    """And not for each pair: that grew with the square of the levels."""
    paths = ["/".join([f"{n}"] * depth) for n in range(31) for depth in range(1, 33)]
    run = action(language="en", definitions=action.write("list.json", json.dumps(paths)))
    errors = run.stderr.splitlines()
    assert len(errors) == 10
    assert f"other entries ({31 * 31 - 10}):" in errors[-1]


# --- Folders --------------------------------------------------------------------------------------

# Files of the folder `t` ("name -> target" is a link), more keys of the entry, what is said
FOLDERS: dict[str, tuple[dict[str, bytes | None], dict[str, Any], str]] = {
    "no folder": ({}, {}, "config/t: the checkout has no such file or folder."),
    "a file": ({"../t": b""}, {}, "config/t: the checkout has no such file or folder."),
    "no file": ({"a/": None}, {}, "t/: there is no file in this"),
    "outside": (
        {},
        {"content_file": "../../"},
        "config/../..: the file is outside the workspace.",
    ),
    "slash in one place": (
        {"a": b""},
        {"path": "x"},
        "only one of `path` and `content_file` ends with a slash.",
    ),
    "slash in the other": (
        {"a": b""},
        {"content_file": "t"},
        "only one of `path` and `content_file` ends with a slash.",
    ),
    "alternatives": ({"a": b""}, {"alternatives": ["b"]}, "a folder cannot have `alternatives`."),
    "a large file": ({"a": b"x" * 1_000_001}, {}, "a: config/t/a: the file is larger"),
    "much in all": (
        {f"{number:02}": b"x" * 1_000_000 for number in range(11)},
        {},
        "10: with this entry, the contents of the list are larger than",
    ),
    "a file for git": ({"a/.git/b": b""}, {}, "config/t/a/.git: registrar reads nothing in a"),
    "a file for git in another letter case": (
        {"a/.GIT/b": b""},
        {},
        "config/t/a/.GIT: registrar reads nothing in a",
    ),
    "a link": (
        {"a": b"", "b -> a": None},
        {},
        "config/t/b: this is a symbolic link, a pipe or a device.",
    ),
    "a link to a folder": (
        {"a/b": b"", "c -> a": None},
        {},
        "config/t/c: this is a symbolic link, a pipe or a device.",
    ),
    "deep": ({"a/" * 32 + "b": b""}, {}, "the path x/a/a/"),
    "backslash": ({"a\\b": b""}, {}, "the path x/a\\b holds a backslash."),
    "no template": ({"a/b": b"\xff"}, {"template": True}, "a/b: the template is not UTF-8."),
    "unknown placeholder": (
        {"a/b": b"{x}"},
        {"template": True},
        "a/b: template has unknown placeholders: {x}.",
    ),
    "not UTF-8": ({"a/\udcff": b""}, {}, "config/t/a/\\udcff: the name of the file is not UTF-8."),
    "token": ({"a": b"{token}"}, {}, "a: content_file holds the token"),
    "token in a name": ({"{token}": b""}, {}, "path holds the token itself"),
    "listed twice": (
        {"a": b""},
        {"path": "first/"},
        "the path first/a is listed already, in entry 1.",
    ),
}


@pytest.mark.parametrize(("files", "more", "words"), FOLDERS.values(), ids=FOLDERS)
def test_mistakes_about_a_folder(
    files: dict[str, bytes | None], more: dict[str, Any], words: str, action: Action
) -> None:
    folder = action.workspace / "config/t"
    for each, data in files.items():
        name, arrow, target = each.replace("{token}", action.default_token).partition(" -> ")
        if data is not None:
            content = data.replace(b"{token}", action.default_token.encode())
            action.write("config/t" if name == "../t" else f"config/t/{name}", content)
        elif arrow:
            (folder / name).symlink_to(target)
        else:
            (folder / name).mkdir(parents=True)
    entries = [{"path": "first/a"}, {"path": "x/", "content_file": "t/", **more}]
    run = action(definitions=action.document(entries, "yml"), language="en")
    # The line of `content_file`, unless it is about the whole entry
    line = 5 if "listed already" in words else 7
    assert f"entry 2, line {line}: {words}" in run.stderr, run.stderr
    assert (run.exit_code, action.host.requests) == (2, [])


def test_an_editor_sees_the_mistakes_about_a_folder_that_are_in_its_entry() -> None:
    entries = {
        name: {"path": "x/", "content_file": "t/", **more} for name, (_, more, _) in FOLDERS.items()
    }
    seen = {name for name, entry in entries.items() if not SCHEMA.is_valid([entry])}
    assert seen == {"slash in one place", "slash in the other", "alternatives"}


def test_repeated_paths_and_alternatives_are_not_too_many(action: Action) -> None:
    entries = [
        {"path": path, "alternatives": [f"{path}-{n}" for n in range(9)]} for path in THOUSAND
    ]
    asked = {"exists": [f"asked-{path}" for path in THOUSAND]}
    rules = [{"when": asked, "files": THOUSAND}]
    listed = action.document({"files": entries, "rules": rules})
    action(definitions=listed, mode="validate", language="en").or_fail()


def test_a_folder_with_too_many_files(action: Action, host: StandInHost) -> None:
    first = action.workspace / action.write("config/t/0", b"")
    for number in range(1, 1_001):
        first.with_name(str(number)).hardlink_to(first)
    listed = action.document([{"path": "x/", "content_file": "t/"}])
    run = action(definitions=listed, language="en")
    assert "config/t: the folder holds more than 1000 files." in run.stderr
    assert (run.exit_code, host.requests) == (2, [])


# --- What must not harm ---------------------------------------------------------------------------


def test_yaml_is_read_as_data_only(action: Action) -> None:
    betrayed = action.workspace / "betrayed"
    command = f"touch {betrayed}"
    name = action.write("list.yml", f"- !!python/object/apply:os.system ['{command}']\n")
    run = action(language="en", definitions=name)
    assert run.exit_code == 2
    assert "entry 1, line 1: the entry is neither a path nor an object" in run.stderr
    assert not betrayed.exists()


def test_an_anchor_bomb_ends_at_once(action: Action, host: StandInHost) -> None:
    lines = ["- &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    name = action.write("list.yml", "\n".join(lines) + "\n")
    run = action(language="en", definitions=name)
    [error] = run.stderr.splitlines()
    assert error.startswith(f"Error: {name}: the definition file holds more than 50000 values.")
    assert (run.exit_code, host.requests) == (2, [])


@pytest.mark.parametrize(
    ("anchored", "entry", "said"),
    [
        ("x" * 900_000, "{{path: p{}, template: true, content: *a}}", "longer than 20000000"),
        ("x" * 900_000, "{{path: *a, description: p{}}}", "longer than 20000000"),
        ("x" * 6_000, "{{path: p{}, template: true, content: *a}}", "larger than 10000000 bytes"),
        (str(["x"] * 40), "{{path: p{}, alternatives: *a}}", "more than 50000 values"),
        (str({f"k{n}": 1 for n in range(40)}), "*a", "more than 50000 values"),
        (str({f"k{n}": 1 for n in range(40)}), "{{<<: *a}}", "more than 50000 values"),
    ],
    ids=["content", "path", "less content", "alternatives", "keys", "merged"],
)
def test_what_an_alias_repeats_is_measured_where_it_stands(
    anchored: str, entry: str, said: str, action: Action, host: StandInHost
) -> None:
    lines = [f"$schema: &a {anchored}", "files:"]
    lines += [f"  - {entry.format(number)}" for number in range(3_000)]
    listed = action.write("list.yml", "\n".join(lines))
    run = action(definitions=listed, language="en")
    assert (run.exit_code, host.requests) == (2, [])
    assert said in run.stderr


@pytest.mark.parametrize("pattern", ["*a" * 500, "[" * 1000], ids=["stars", "brackets"])
def test_patterns_at_their_limits_do_no_harm(
    pattern: str, action: Action, repository: Repository
) -> None:
    listed = action.document({"extends": "health", "exclude": [pattern] * 100})
    run = action(definitions=listed, language="en", mode="plan").or_fail()
    assert "matches nothing" in run.stderr


@pytest.mark.parametrize("placeholder", ["{repo}", "{none}"])
def test_a_large_file_that_stands_in_a_list_very_often_is_not_read_each_time(
    action: Action, host: StandInHost, placeholder: str
) -> None:
    entries = [{"path": f"p{n}", "content_file": "../text", "template": True} for n in range(50)]
    listed = action.document({"files": entries})
    action.write("text", placeholder * 160_000)
    few = action.document({"files": entries[:5]}, "yml")
    taken = [steps(partial(action, definitions=name)) for name in (few, listed)]
    # Ten times as many entries would take ten times as many steps if each one read it
    assert taken[1] < 4 * taken[0]
    assert host.requests == []


def test_globs_of_rules_take_linear_time(action: Action, host: StandInHost) -> None:
    """Thirty rules share thirty globs: ten times as many stars take ten times as long."""
    host.create_repository(TARGET)

    def with_stars(count: int) -> str:
        globs = "".join(f"  - '{'**/' * count}x{number}'\n" for number in range(30))
        rule = "  - {when: {fork: true}, extends: scaffold, exclude: *a}\n"
        text = f"extends: scaffold\nexclude: &a\n{globs}rules:\n{rule * 30}"
        return action.write("list.yml", text)

    def taken(count: int) -> int:
        listed = with_stars(count)
        return steps(lambda: action(definitions=listed, mode="plan"))

    assert taken(330) < 20 * taken(33)


def test_a_mistake_below_a_long_line_is_found(action: Action, host: StandInHost) -> None:
    """It is, where a regular expression takes linear time; else the test would not end."""
    listed = action.write("list.yml", f"- {'-' * 900_000}\n  a: b\n")
    run = action(definitions=listed, language="en")
    assert (run.exit_code, host.requests) == (2, [])
    assert "has no key" in run.stderr


def test_brackets_behind_a_mistake_are_not_scanned(action: Action, host: StandInHost) -> None:
    """PyYAML's scanner takes the square of their number: a minute for a file of the largest size.

    The search for an open quote used the scanner without the limit of levels.
    """

    def taken(count: int) -> int:
        listed = action.write("list.yml", f"[{'[a/' * count}")
        return steps(lambda: action(definitions=listed))

    # The scanner looks 1,024 characters ahead, because a bracket can begin a key
    few, more = taken(1_000), taken(10_000)
    assert more < 2 * few
    assert host.requests == []
