"""Lists that no document can hold: other encodings, files, sizes, and what must not harm.

The other mistakes are documents: tests/lists.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from functools import partial
from typing import Any, NamedTuple

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import Action
from tests.lists.test_lists import SCHEMA, is_seen
from tests.steps import steps


class Mistake(NamedTuple):
    """A list, and what is said about it."""

    text: str | bytes | None
    """The list; ``None``: the test has made the file, or there is none."""
    where: str
    """The place behind the name of the file: rule, entry, line, column."""
    words: str
    """Beginning of what follows."""
    name: str = "list.yml"


def flow(value: Any) -> str:
    """A value in YAML's flow style, which JSON is."""
    return json.dumps(value)


NOT_THERE = "the checkout has no such file or folder."
OUTSIDE = "the file is outside the workspace."
OF_GIT = "registrar reads nothing in a `.git` directory"
NO_FILE = "this is a directory, a pipe or a device"
TOO_LONG = "/".join(["d" * 250] * 17)
DEEP = "the definition file is nested more than 32 levels deep"
NOT_UTF8 = "the definition file is not UTF-8 (at byte"
TOO_MANY_VALUES = "the definition file holds more than 50000 values."
MANY_VALUES = "[" + "[]," * 50_000 + "[]]"
AT_1 = "entry 1, line 1"
LONG_RULE = "rules:\n  - {when: {topic: %s}, files: [a]}\n"

TEXTS = {
    "a reason of any length": Mistake(
        "- !" + "x" * 300 + "!a b",
        "line 1, column 3",
        "this is not YAML: while parsing a node (line 1): found undefined tag handle '!xxx",
    ),
    "a control character": Mistake("- path: a\n- path: \x07\n", "line 2, column 9", "this is not"),
    **{
        f"{end!r} ends the lines": Mistake(
            end.join(("- path: a", "", "", "  mode: b: c")).encode(), "line 4, column 10", ""
        )
        for end in ("\r", "\x85", "\u2028", "\u2029")
    },
    "another format": Mistake("x = 1\n", "", "the definition file must be a .json, ", "list.toml"),
    **{
        f"empty {name} {data!r}": Mistake(data, "", "the definition file is empty.", name)
        for name in ("list.json", "list.yml")
        for data in (b"", b" \n\n", b"\xef\xbb\xbf")
    },
    "not UTF-8": Mistake(b'[\n"caf\xe9"]', "line 2", f"{NOT_UTF8} 6)."),
    "UTF-16": Mistake("- path: a\n".encode("utf-16"), "line 1", f"{NOT_UTF8} 0)."),
    "deep JSON": Mistake("[" * 100_000, "", DEEP, "list.json"),
    "deep JSON that is whole": Mistake("[" * 33 + "]" * 33, "", DEEP, "list.json"),
    "deep YAML": Mistake("[" * 33, "", DEEP),
    "values in JSON": Mistake(MANY_VALUES, "", TOO_MANY_VALUES, "list.json"),
    "a path": Mistake(
        f"- {TOO_LONG}\n", AT_1, f"the path {TOO_LONG[:199]}… is longer than 4,096 bytes."
    ),
    "a link": Mistake("- {path: a, content_file: link}\n", AT_1, f"link: {OUTSIDE}"),
    "a large file": Mistake(
        "- {path: a, content_file: large}\n", AT_1, "large: the file is larger than 1000000 bytes."
    ),
    "a template of bytes": Mistake(
        "- {path: a, template: true, content_file: bytes}\n", AT_1, "the template is not UTF-8."
    ),
    "a property in a part of a workflow": Mistake(
        "- {path: .github/workflows/a, parts: [{template: true, content: '{property:x}'}]}\n",
        AT_1,
        ".github/workflows/a is a workflow file",
    ),
    "a pattern": Mistake(
        f"extends: health\nexclude:\n  - '{'[' * 100_000}'\n",
        "line 3",
        "a pattern of `exclude` is longer than 1000 characters.",
    ),
    "a topic": Mistake(
        LONG_RULE % ("x" * 1_001), "rule 1, line 2", "topic has a value of more than 1000 char"
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
    "parts": (
        [{"path": "a", "parts": [{"content": "x\n"}] * 101}],
        "entry 1, line 1",
        "the entry has 101 parts; 100 are allowed.",
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
    "too large": Mistake(
        "[" + " " * 2_000_000 + "]", "", "the file is larger than 2000000 bytes.", "large.json"
    ),
}

TOO_LONG_VALUES = (
    "the values of the definition file, with what its aliases repeat, are longer than 20000000"
)
TOO_MUCH = "entry 834, line 1", "with this entry, the contents of the list are larger than 10000000"
FILLED = "template: true, content"
HARM = {
    "an object of Python": Mistake(
        "- !!python/object/apply:os.system ['touch betrayed']\n",
        AT_1,
        "the entry is neither a path nor an object",
    ),
    "an anchor bomb": Mistake(
        "\n".join(
            ["- &a0 [x, x, x, x, x, x, x, x, x, x]"]
            + [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
        ),
        "",
        TOO_MANY_VALUES,
    ),
    # A regular expression that does not take linear time would not come to the second line
    "a mistake below a long line": Mistake(
        f"- {'-' * 900_000}\n  a: b\n", "line 1, column 1", "this line has no key"
    ),
    **{
        f"an alias of {len(text)}: {entry}": Mistake(
            "\n".join([f"$schema: &a {text}", "files:", *(f"  - {entry % n}" for n in range(900))]),
            where,
            words,
        )
        for text, entry, where, words in (
            ("x" * 900_000, f"{{path: p%s, {FILLED}: *a}}", "", TOO_LONG_VALUES),
            ("x" * 900_000, "{path: *a, description: p%s}", "", TOO_LONG_VALUES),
            ("x" * 12_000, f"{{path: p%s, {FILLED}: *a}}", *TOO_MUCH),
            (str(["x"] * 60), "{path: p%s, alternatives: *a}", "", TOO_MANY_VALUES),
            (str({f"k{n}": 1 for n in range(60)}), "*a  # %s", "", TOO_MANY_VALUES),
            (str({f"k{n}": 1 for n in range(60)}), "{<<: *a}  # %s", "", TOO_MANY_VALUES),
        )
    },
}
"""Lists that only the reader of lists may read, and not a validator of schemas."""
TABLES: dict[str, dict[str, Mistake]] = {
    "text": TEXTS,
    "limit": {
        name: Mistake(flow(value), where, words) for name, (value, where, words) in LIMITS.items()
    },
    "file": FILES,
    "harm": HARM,
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
    action.write("large", "x" * 1_000_001)
    action.write("bytes", b"\xff{owner}")
    return action


UNSEEN = {
    *("a link", "a large file", "a template of bytes", "a property in a part of a workflow"),
    # Sizes in bytes, and sums
    *("a template that grows", "directories", "content of parts"),
    *("paths with those of rules", "paths in conditions"),
}
"""The mistakes that the JSON Schema of lists cannot mark in an editor."""
assert set(TEXTS) | set(LIMITS) > UNSEEN


@pytest.mark.parametrize("kind", TABLES)
def test_a_mistake_ends_the_run_at_its_place_and_an_editor_sees_it(
    workspace: Action, kind: str
) -> None:
    for name, (text, where, words, file) in TABLES[kind].items():
        if text is not None:
            workspace.write(file, text)
        run = workspace(definitions=file, language="en", runner=True)
        first = run.annotations()[0]
        at = ", ".join(filter(None, [file, where]))
        assert first.data.startswith(f"{at}: {words}"), name
        line = re.search(r"line (\d+)", where)
        # A list that is none is told at its first line
        lines = {line[1]} if line else {None, "1"}
        assert first.properties["file"] == file
        assert first.properties.get("line") in lines, name
        assert (run.exit_code, workspace.host.requests) == (2, [])
        assert "Nothing was registered" in run.summary
        if text is not None and kind != "harm":
            shown = text.decode(errors="surrogateescape") if isinstance(text, bytes) else text
            assert is_seen(file, shown) is (name not in UNSEEN), name
    assert not (workspace.workspace / "betrayed").exists()


BIG = "x" * 500_000
RIGHT: dict[str, Any] = {
    "content": [{"path": "a", "content": BIG * 2}],
    "parts": [{"path": "a", "content": f"{BIG[1:]}\n", "parts": [{"content": BIG}]}],
    # An empty content has room, also where there is none left
    "all contents": [
        *({"path": f"{number}", "content_file": "big"} for number in range(10)),
        {"path": "a", "content": ""},
    ],
    "repeated paths": {
        "files": [
            {"path": path, "alternatives": [f"{path}-{n}" for n in range(9)]} for path in THOUSAND
        ],
        "rules": [{"when": {"exists": [f"asked-{path}" for path in THOUSAND]}, "files": THOUSAND}],
    },
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


OTHER = "*.txt filter=other\n"
BEHIND = "entry 1, line 1: #.md behind the path docs/C is a comment of YAML"


def lfs(attributes: str) -> str:
    return flow([{"path": ".gitattributes", "content": attributes}, "a.png"])


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("- path: docs/C #.md\r\n", BEHIND),
        ("- path: docs/C # .md\r\n", ""),
        (lfs(f"{OTHER * 299}*.png filter=lfs"), "entry 2, line 1: a.png matches an LFS pattern"),
        (lfs(f"{OTHER * 300}*.png filter=lfs"), ""),
        (lfs(f"{'*' * 995}*.png filter=lfs"), "entry 2, line 1: a.png matches an LFS pattern"),
        (lfs(f"{'*' * 996}*.png filter=lfs"), ""),
    ],
    ids=["CRLF", "a comment", "patterns", "too many", "a pattern", "too long"],
)
def test_a_probable_mistake_is_told(action: Action, listed: str, words: str) -> None:
    """More patterns of Git LFS, or longer ones, would take too long."""
    name = action.write("list.yml", listed)
    run = action(definitions=name, mode="validate", language="en", runner=True).or_fail()
    [*told] = (each.data for each in run.annotations("warning"))
    assert len(told) == bool(words)
    assert all(each.startswith(f"list.yml, {words}") for each in told)


def test_a_token_of_eight_characters_may_not_be_in_a_list(action: Action) -> None:
    run = action(definitions=action.listing("12345678"), host_token="12345678", language="en")
    assert "path holds the token itself" in run.stderr


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
    "too many files": (
        {f"{number}": b"" for number in range(1_001)},
        {},
        "config/t: the folder holds more than 1000 files.",
    ),
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


def test_mistakes_about_a_folder(action: Action) -> None:
    folder = action.workspace / "config/t"
    for case, (files, more, words) in FOLDERS.items():
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
        assert f"entry 2, line {line}: {words}" in run.stderr, f"{case}: {run.stderr}"
        assert (run.exit_code, action.host.requests) == (2, [])
        shutil.rmtree(folder, ignore_errors=True)
        (action.workspace / "config/t").unlink(missing_ok=True)


LEFT_BEHIND = (".DS_Store", "b~", ".a.swp", "#a#", "._a", "Thumbs.db", ".~lock.a.ods#", "d/.#a")


INDEXES = {
    "version 4": "git update-index --index-version 4",
    "a file .git": "mv .git ../git && echo gitdir: ../git > .git",
    "split": "git update-index --split-index",
    "damaged": "echo x > .git/index",
    "elsewhere": "mv .git ../git && echo gitdir: /gone > .git",
}
"""How git's index is kept; nobody can read the last three."""


@pytest.mark.parametrize(
    ("mode", "tracks"),
    [
        *(("register", each) for each in ("some", "others", "nothing", "no checkout", *INDEXES)),
        *(("validate", each) for each in ("some", "others", "damaged")),
    ],
)
def test_files_of_a_folder_that_nobody_means_are_left_out(
    mode: str, tracks: str, action: Action, repository: Repository
) -> None:
    """cookiecutter/cookiecutter#810"""
    for each in ("a", "d/b", ".gitignore", ".env", "d/new"):
        action.write(f"config/t/{each}", "x\n")
    listed = action.document([{"path": "x/", "content_file": "t/"}], "yml")
    git = ["git", "-C", str(action.workspace)]
    if tracks == "no checkout":
        (action.workspace / ".git").rmdir()
    else:
        subprocess.run([*git, "init", "-q"], check=True)
        some = ["config/t/a", "config/t/d/b", "config/t/.gitignore"]
        if add := {"others": [listed], "nothing": []}.get(tracks, some):
            subprocess.run([*git, "add", "--force", *add], check=True)
        change = INDEXES.get(tracks, "true")
        subprocess.run(change, shell=True, cwd=action.workspace, check=True)
    for each in LEFT_BEHIND:
        action.write(f"config/t/{each}", "x\n")
    run = action(definitions=listed, mode=mode, language="en", commit_strategy="single")
    assert run.exit_code == 0, run.text
    words = "all files of the folder t/. registrar leaves these out (2): .env, d/new."
    is_left = tracks in {"some", "version 4", "a file .git"}
    assert (words in run.stderr) is is_left, run.stderr
    is_unread = tracks in {"split", "damaged", "elsewhere"}
    assert ("which files of the folder t/ git tracks" in run.stderr) is is_unread
    if mode == "register":
        named = {"a", "d/b", ".gitignore"} | (set() if is_left else {".env", "d/new"})
        added = repository.files("chore/add-missing-files").keys() - repository.files().keys()
        assert added == {f"x/{each}" for each in named}
    else:
        assert ("has warnings (1)" in run.stdout) is (is_left or is_unread)


def test_an_editor_sees_the_mistakes_about_a_folder_that_are_in_its_entry() -> None:
    entries = {
        name: {"path": "x/", "content_file": "t/", **more} for name, (_, more, _) in FOLDERS.items()
    }
    seen = {name for name, entry in entries.items() if not SCHEMA.is_valid([entry])}
    assert seen == {"slash in one place", "slash in the other", "alternatives"}


# --- What must not harm ---------------------------------------------------------------------------


@pytest.mark.parametrize("placeholder", ["{repo}", "{none}"])
def test_a_large_file_that_stands_in_a_list_very_often_is_not_read_each_time(
    action: Action, host: StandInHost, placeholder: str
) -> None:
    entries = [{"path": f"p{n}", "content_file": "../text", "template": True} for n in range(50)]
    listed = action.document({"files": entries})
    action.write("text", f"{'x' * 90}{placeholder}" * 10_000)
    few = action.document({"files": entries[:5]}, "yml")
    taken = [steps(partial(action, definitions=name)) for name in (few, listed)]
    # Ten times as many entries would take ten times as many steps if each one read it
    assert taken[1] < 4 * taken[0]
    assert host.requests == []


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
