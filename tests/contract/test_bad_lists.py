"""Mistakes in a definition file end a run before any request, each with its own text."""

from __future__ import annotations

import json
import os
import re
import socket
from typing import Any

import pytest

from tests.fakehub import StandInHost
from tests.harness import Action
from tests.mistakes import check_error

TRUNCATED = '[\n  {"path": "a"},\n  {"path": \n'
TOO_LONG = "/".join(["d" * 250] * 17)
# id: (name of the file, its bytes or none, line or none, in English, in Japanese)
FILES: dict[str, tuple[str, bytes | None, int | None, str, str]] = {
    **{
        f"outside: {value!r}": (
            value,
            None,
            None,
            f"{value}: the file is outside the workspace.",
            f"{value}: ファイルがワークスペースの外にあります。",
        )
        for value in ("link.json", "folder/list.json")
    },
    **{
        f"not there: {value}": (
            value,
            None,
            None,
            f"{value}: there is no such file.",
            f"{value}: ファイルがありません。",
        )
        for value in ("gone.json", "gone/list.json", "file.txt/list.json", "dangling.json")
    },
    **{
        f"no regular file: {value}": (
            value,
            None,
            None,
            f"{value}: not a regular file, but a directory, a pipe or a device.",
            f"{value}: 通常のファイルではなく",
        )
        for value in ("folder.json", "pipe.json", "socket.json")
    },
    "in a .git directory": (
        ".git/list.json",
        b"[]",
        None,
        ".git/list.json: nothing in a `.git` directory is read",
        ".git/list.json: トークンが含まれることがあるため",
    ),
    "a loop of links": (
        "loop.json",
        None,
        None,
        "loop.json: the file cannot be read (Too many levels of symbolic links).",
        "loop.json: ファイルを読めません（Too many levels of symbolic links）。",
    ),
    "too large": (
        "list.json",
        b"[" + b" " * 2_000_000 + b"]",
        None,
        "list.json: the file is larger than 2000000 bytes.",
        "list.json: ファイルが 2000000 バイトを超えています。",
    ),
    **{
        f"too many values: {name}": (
            name,
            b"[" + b"[]," * 50_000 + b"[]]",
            None,
            f"{name}: the definition file holds more than 50000 values.",
            f"{name}: 定義ファイルの値が 50000 個を超えています。",
        )
        for name in ("list.json", "list.yml")
    },
    **{
        f"an open quote: {data!r}": (
            "list.yml",
            data,
            2,
            f"list.yml, line 2, column {column}: the text in quotes that begins here is not closed",
            f"list.yml、2 行目、{column} 文字目: ここから始まる引用符の中の文字列が",
        )
        for data, column in (
            (b'- path: a\n- path: "b\n- path: c\n- path: d\n', 9),
            (b"- path: a\n- path: 'b\n- path: c\n- path: d\n", 9),
            (b'- path: a\n- path: "b\n- path: "c"\n- path: d\n', 9),
            (b'- path: a\n- path: "b\n- path: "c"\n- path: "d"\n', 9),
            (b'- path: a\n- path: "b\n- path: c\n- path: "d"\n- path: e\n', 9),
            (b'- path: a\n- {path: "b}\n- {path: c}\n', 10),
        )
    },
    "broken behind a text of several lines": (
        "list.yml",
        b'- path: a\n  content: "b\n    c"\n- path: [d\n',
        4,
        "list.yml, line 4, column 9: the bracket that opens here is not closed",
        "list.yml、4 行目、9 文字目: ここで開いた括弧が閉じていないか",
    ),
    "a YAML reason of any length": (
        "list.yml",
        b"- !" + b"x" * 300 + b"!a b",
        1,
        "list.yml, line 1, column 3: this is not YAML: found undefined tag handle '!xxx",
        "list.yml、1 行目、3 文字目: YAML として読めません: found undefined tag handle '!xxx",
    ),
    "another format": (
        "list.toml",
        b"x = 1\n",
        None,
        "list.toml: the definition file must be a .json, .yml or .yaml file.",
        "list.toml: 定義ファイルの拡張子は .json、.yml、.yaml のどれかでなければなりません。",
    ),
    **{
        f"empty {name} {data!r}": (
            name,
            data,
            None,
            f"{name}: the definition file is empty.",
            f"{name}: 定義ファイルが空です。",
        )
        for name in ("list.json", "list.yml")
        for data in (b"", b" \n\n", b"\xef\xbb\xbf")
    },
    "only a comment": (
        "list.yml",
        b"# - path: a\n",
        None,
        "list.yml: the definition file is empty.",
        "list.yml: 定義ファイルが空です。",
    ),
    "tab": (
        "list.yml",
        b"- path: a\n\tcontent: b\n",
        2,
        "list.yml, line 2, column 1: there is a tab. YAML takes only blanks here.",
        "list.yml、2 行目、1 文字目: タブがあります。",
    ),
    **{
        f"no entry {name}": (
            name,
            b"[]\n",
            None,
            f"{name}: the list holds no entry.",
            f"{name}: 一覧に項目がありません。",
        )
        for name in ("list.json", "list.yaml")
    },
    **{
        f"not UTF-8 {name}": (
            name,
            b'[\n{"path": "caf\xe9"}]',
            2,
            f"{name}, line 2: the definition file is not UTF-8 (at byte 15).",
            f"{name}、2 行目: 定義ファイルが UTF-8 ではありません（先頭から 15 バイトの位置）。",
        )
        for name in ("list.json", "list.yml")
    },
    "UTF-16": (
        "list.yml",
        "- path: a\n".encode("utf-16"),
        1,
        "list.yml, line 1: the definition file is not UTF-8 (at byte 0).",
        "list.yml、1 行目: 定義ファイルが UTF-8 ではありません（先頭から 0 バイトの位置）。",
    ),
    "broken JSON": (
        "list.json",
        TRUNCATED.encode(),
        4,
        "list.json, line 4, column 1: this is not JSON: Expecting value.",
        "list.json、4 行目、1 文字目: JSON として読めません: Expecting value。",
    ),
    "two JSON documents": (
        "list.json",
        b'[{"path": "a"}]\n[{"path": "b"}]\n',
        2,
        "list.json, line 2, column 1: this is not JSON",
        "list.json、2 行目、1 文字目: JSON として読めません",
    ),
    "broken YAML": (
        "list.yml",
        b"- path: a\n- path: [b\n",
        2,
        "list.yml, line 2, column 9: the bracket that opens here is not closed",
        "list.yml、2 行目、9 文字目: ここで開いた括弧が閉じていないか",
    ),
    "YAML with a control character": (
        "list.yml",
        b"- path: a\n- path: \x07\n",
        2,
        "list.yml, line 2, column 9: this is not YAML",
        "list.yml、2 行目、9 文字目: YAML として読めません",
    ),
    "two YAML documents": (
        "list.yml",
        b"- path: a\n---\n- path: b\n",
        2,
        "list.yml, line 2, column 1: a second document begins here.",
        "list.yml、2 行目、1 文字目: ここから 2 つ目のドキュメントが",
    ),
    "deep JSON": (
        "list.json",
        b"[" * 100_000,
        None,
        "list.json: the definition file is nested more than 32 levels deep",
        "list.json: 定義ファイルの入れ子が 32 段より深いか",
    ),
    "deep YAML": (
        "list.yml",
        b"[" * 2_000,
        None,
        "list.yml: the definition file is nested more than 32 levels deep",
        "list.yml: 定義ファイルの入れ子が 32 段より深いか",
    ),
    **{
        f"not an array: {name} {data!r}": (
            name,
            data,
            1,
            f"{name}: the definition file must hold an array of entries (in YAML each begins",
            f"{name}: 定義ファイルは項目の配列（YAML では各項目を `- ` で始めます）か、",
        )
        for name, data in (
            ("list.json", b"null"),
            ("list.json", b'"path"'),
            ("list.json", b"{}"),
            ("list.yml", b"just text\n"),
            ("list.yml", b"path: a\ncontent: b\n"),
            ("list.yml", b"!!set {a, b}\n"),
            ("list.yml", b"!custom [a]\n"),
        )
    },
}
ENTRIES: dict[str, tuple[Any, str, str]] = {
    **{
        f"{entry}": (
            entry,
            "the entry is neither a path nor an object.",
            "項目がパスでもオブジェクトでもありません。",
        )
        for entry in (None, 1, ["path", "a"])
    },
    "no blank after a key": (
        "path:README.md",
        "there is no blank after `path:`, so this is a text and not a key.",
        "`path:` の後に空白がないため、キーではなく文字列になっています。",
    ),
    "a path alone": ("/a", "the path /a is absolute.", "パス /a が絶対パスです。"),
    "unknown key": (
        {"path": "a", "contents": "x"},
        "unknown key contents. Known: path, description, content, content_file, template,",
        "contents というキーはありません。使えるキー: path、description、content、content_file、",
    ),
    "path missing": ({"description": "x"}, "`path` is missing.", "`path` がありません。"),
    "empty": ({}, "`path` is missing.", "`path` がありません。"),
    **{
        f"{key} is {value!r}": (
            {"path": "a", key: value},
            f"{key} must be a string; put the value in quotes.",
            f"{key} は文字列でなければなりません。値を引用符で囲んでください。",
        )
        for key, value in (
            ("path", 1),
            ("path", None),
            ("path", ["a"]),
            ("description", True),
            ("description", {}),
            ("content", {}),
            ("content", None),
            ("content", 1.5),
        )
    },
    "path with a blank at its end": (
        {"path": "a "},
        'the path "a " begins or ends with a blank.',
        "パス「a 」の先頭か末尾に空白があります。",
    ),
    "path is empty": ({"path": ""}, "`path` is empty.", "`path` が空です。"),
    **{
        f"path {path[:20]!r}": (
            {"path": path},
            f"the path {shown} {english}",
            f"パス {shown} {japanese}",
        )
        for path, shown, english, japanese in (
            ("/a", "/a", "is absolute.", "が絶対パスです。"),
            ("a/./b", "a/./b", "has a part `.` or `..`.", "に `.` か `..` の部分があります。"),
            ("a/../b", "a/../b", "has a part `.` or `..`.", "に `.` か `..` の部分があります。"),
            (".", ".", "has a part `.` or `..`.", "に `.` か `..` の部分があります。"),
            (".git/config", ".git/config", "has a part `.git`", "に `.git` の部分があります。"),
            (".git./a", ".git./a", "has a part `.git`", "に `.git` の部分があります。"),
            ("a/" * 32 + "a", "a/" * 32 + "a", "has more than 32 parts.", "の階層が 32 段"),
            ("a/.GIT", "a/.GIT", "has a part `.git`", "に `.git` の部分があります。"),
            ("a//b", "a//b", "has an empty part (`//`).", "に空の部分（`//`）があります。"),
            ("a\\b", "a\\b", "holds a backslash.", "にバックスラッシュがあります。"),
            ("a\nb", "a\\nb", "holds a control character.", "に制御文字があります。"),
            ("a\x7fb", "a\\u007fb", "holds a control character.", "に制御文字があります。"),
            ("a/", "a/", "ends with a slash.", "がスラッシュで終わっています。"),
            (
                TOO_LONG,
                f"{TOO_LONG[:199]}…",
                "is longer than 4,096 bytes.",
                "が 4,096 バイトを超えています。",
            ),
            (
                "é" * 128,
                "é" * 128,
                "has a part longer than 255 bytes.",
                "に 255 バイトを超える部分があります。",
            ),
        )
    },
}


@pytest.mark.parametrize(("name", "data", "line", "english", "japanese"), FILES.values(), ids=FILES)
def test_definition_file(
    action: Action,
    name: str,
    data: bytes | None,
    line: int | None,
    english: str,
    japanese: str,
) -> None:
    outside = action.directory / "outside"
    outside.mkdir()
    (outside / "list.json").write_text('[{"path": "a"}]')
    here = action.workspace
    (here / "link.json").symlink_to(outside / "list.json")
    (here / "folder").symlink_to(outside)
    (here / "folder.json").mkdir()
    (here / "file.txt").touch()
    (here / "dangling.json").symlink_to("gone")
    (here / "loop.json").symlink_to("loop.json")
    os.mkfifo(here / "pipe.json")
    with socket.socket(socket.AF_UNIX) as listener:
        # In the working directory: the address of a socket has 107 bytes at most
        listener.bind("socket.json")
    if data is not None:
        action.write(name, data)
    run = check_error(action, english, japanese, definitions=name)
    place = {"file": name} | ({"line": str(line)} if line else {})
    assert [dict(annotation.properties) for annotation in run.annotations()] == [place]


@pytest.mark.parametrize("name", ["../list.json", "/etc/passwd", "sub/../../list.json", "."])
def test_a_workflow_reads_no_list_outside_of_its_workspace(
    action: Action, host: StandInHost, name: str
) -> None:
    run = action(definitions=name, runner=True, language="en")
    [error] = run.annotations()
    words = "not a regular file" if name == "." else "the file is outside the workspace."
    assert error.data.startswith(f"{name}: {words}")
    assert (run.exit_code, host.requests) == (2, [])


def as_yaml(entry: Any) -> str:
    """An entry in YAML's flow style, which JSON is, one per line."""
    return f"- {json.dumps(entry)}\n"


@pytest.mark.parametrize("suffix", ["json", "yml"])
@pytest.mark.parametrize(("entry", "english", "japanese"), ENTRIES.values(), ids=ENTRIES)
def test_entry(action: Action, suffix: str, entry: Any, english: str, japanese: str) -> None:
    name = f"config/list.{suffix}"
    if suffix == "json":
        text = f'[\n  {{"path": "first"}},\n\n  {json.dumps(entry)}\n]\n'
    else:
        text = f"- path: first\n# a comment\n\n{as_yaml(entry)}"
    action.write(name, text)
    places = f"{name}, entry 2, line 4: ", f"{name}、2 番目の項目、4 行目: "
    run = check_error(action, places[0] + english, places[1] + japanese, definitions=name)
    assert run.annotations()[0].properties == {"file": name, "line": "4"}


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("json", '[\n{"path": "a", "path": "b"}]'),
        ("yml", "- path: a\n  path: b\n"),
    ],
)
def test_duplicate_key(action: Action, suffix: str, text: str) -> None:
    name = action.write(f"list.{suffix}", text)
    english = f"{name}, entry 1, line 2: the key path is there more than once."
    japanese = f"{name}、1 番目の項目、2 行目: キー path が 2 回以上あります。"
    check_error(action, english, japanese, definitions=name)


@pytest.mark.parametrize(
    ("paths", "english", "japanese"),
    [
        (
            ("a/b", "c", "a/b"),
            "entry 3, line 4: the path a/b is listed already, in entry 1.",
            "3 番目の項目、4 行目: パス a/b は 1 番目の項目にもあります。",
        ),
        (
            ("c", "a/b/d", "a"),
            "entry 2, line 3: the path a/b/d lies below a, which entry 3 lists as a file.",
            "2 番目の項目、3 行目: パス a/b/d は a の下にありますが、3 番目の項目",
        ),
    ],
)
def test_paths_that_exclude_each_other(
    action: Action, paths: tuple[str, ...], english: str, japanese: str
) -> None:
    entries = ",\n".join(json.dumps({"path": path}) for path in paths)
    name = action.write("list.json", f"[\n{entries}\n]")
    check_error(action, f"{name}, {english}", f"{name}、{japanese}", definitions=name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.json", '[{"path": "a\\ud800"}]'),
        ("list.yml", '- path: "a\\ud800"\n'),
    ],
)
def test_lone_surrogate(action: Action, name: str, text: str) -> None:
    action.write(name, text)
    english = f"{name}, entry 1, line 1: path holds half a character (a lone surrogate)"
    japanese = f"{name}、1 番目の項目、1 行目: path に文字の半分（単独のサロゲート）があり"
    check_error(action, english, japanese, definitions=name)


MANY = [
    (2, {"path": "/a"}, "the path /a is absolute."),
    (3, ["b"], "the entry is neither a path nor an object."),
    (4, {"path": "c", "mode": "x"}, "unknown key mode."),
    (5, {"path": "../d", "content": 1}, "the path ../d has a part"),
    (5, None, "content must be a string"),
    (6, {"path": "e"}, "the path e is listed already, in entry 5."),
]


@pytest.mark.parametrize("suffix", ["json", "yml"])
def test_all_errors_of_a_file_are_reported_at_once_in_the_order_of_its_lines(
    action: Action, host: StandInHost, suffix: str
) -> None:
    entries = [json.dumps(entry) for _, entry, _ in MANY if entry is not None]
    good = '{"path": "e"}'
    # JSON is YAML too.
    text = "[\n" + ",\n".join([*entries[:4], f"{good}, {entries[4]}"]) + "\n]"
    name = action.write(f"list.{suffix}", text)
    run = action(language="en", definitions=name)
    shown = run.stderr.splitlines()
    assert len(shown) == len(MANY), run.stderr
    numbers = [1, 2, 3, 4, 4, 6]
    expected = [(number, line, text) for number, (line, _, text) in zip(numbers, MANY, strict=True)]
    places = {f"Error: {name}, entry {number}, line {line}: " for number, line, _ in expected}
    assert {line[: line.index(": ", 8) + 2] for line in shown} == places
    for number, line, text in expected:
        start = f"Error: {name}, entry {number}, line {line}: {text}"
        assert any(each.startswith(start) for each in shown), (start, shown)
    lines = [int(each.split(", line ")[1].split(":")[0]) for each in shown]
    assert lines == sorted(lines)
    assert host.requests == []


def test_a_key_is_reported_at_its_own_line(action: Action, host: StandInHost) -> None:
    entry = "- path: a\n  content: 1\n  template: maybe\n  alternatives: b\n  other: x\n"
    name = action.write("list.yml", entry)
    run = action(language="en", definitions=name)
    found = re.findall(r"entry 1, line (\d): (?:unknown key )?(\w+)", run.stderr)
    assert found == [("2", "content"), ("3", "template"), ("4", "alternatives"), ("5", "other")]
    assert host.requests == []


MISTAKES = [{"path": f"/{number}"} for number in range(1, 8)] + [{"path": f"{n}/"} for n in "ABCDE"]


def test_annotations_stop_at_the_runners_limit_and_the_rest_is_printed(action: Action) -> None:
    name = action.write("list.json", json.dumps(MISTAKES, indent=1))
    run = action(runner=True, language="en", definitions=name)
    assert len(run.annotations()) == 10
    for entry in MISTAKES:
        assert f"the path {entry['path']} " in run.stdout
        assert f"{entry['path']}` " in run.summary


@pytest.mark.parametrize("suffix", ["json", "yml"])
def test_one_error_a_thousand_times_is_ten_lines_with_a_count(
    action: Action, host: StandInHost, suffix: str
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
    assert host.requests == []


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
    assert run.exit_code == 2
    [error] = run.stderr.splitlines()
    assert error.startswith(f"Error: {name}: the definition file holds more than 50000 values.")
    assert host.requests == []
