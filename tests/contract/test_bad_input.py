"""Bad input ends a run before any request, with its own text.

Every case runs twice: in English off the runner, where errors go to standard error, and in
Japanese on the runner, where they are annotations.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping
from typing import Any

import pytest

from registrar.inputs.table import NAMES
from tests.fakehub import Repository, StandInHost
from tests.harness import Action, Run

TRUNCATED = '[\n  {"path": "a"},\n  {"path": \n'
TOO_LONG = "/".join(["d" * 250] * 17)

# id: (inputs, in English, in Japanese)
INPUTS: dict[str, tuple[dict[str, str], str, str]] = {
    "token missing": (
        {"host_token": ""},
        "host_token (HOST_TOKEN) is missing or blank",
        "host_token（HOST_TOKEN）がないか、空です",
    ),
    "token blank": (
        {"host_token": " \t "},
        "host_token (HOST_TOKEN) is missing or blank",
        "host_token（HOST_TOKEN）がないか、空です",
    ),
    "token with blanks inside": (
        {"host_token": "ghp_abc def"},
        "host_token holds blanks or characters that no token has",
        "host_token に空白か、トークンにはない文字が含まれています",
    ),
    "token in quotes": (
        {"host_token": '"ghp_abcdef"'},
        "host_token holds blanks or characters that no token has",
        "host_token に空白か、トークンにはない文字が含まれています",
    ),
    "token with a line break": (
        {"host_token": "ghp_abc\nX-Evil: 1"},
        "host_token holds blanks or characters that no token has",
        "host_token に空白か、トークンにはない文字が含まれています",
    ),
    "target missing": (
        {"target_repo": ""},
        "target_repo (TARGET_REPO) is missing or blank",
        "target_repo（TARGET_REPO）がないか、空です",
    ),
    "target blank": (
        {"target_repo": "  "},
        "target_repo (TARGET_REPO) is missing or blank",
        "target_repo（TARGET_REPO）がないか、空です",
    ),
    **{
        f"target {value!r}": (
            {"target_repo": value},
            f"target_repo is not of the form `owner/repo`: {shown}.",
            f"target_repo が `owner/repo` の形ではありません: {shown}。",
        )
        for value, shown in {
            "https://github.com/octo/example": "https://github.com/octo/example",
            "octo/example/tree": "octo/example/tree",
            "octo": "octo",
            "octo/": "octo/",
            "/example": "/example",
            "octo/..": "octo/..",
            "octo/.": "octo/.",
            "../example": "../example",
            "octo/exa mple": "octo/exa mple",
            "octo /example": "octo /example",
            "octo/example\n::error::x": "octo/example\\n::error::x",
            "octo/ex\u202eample": "octo/ex\\u202eample",
            "octo/example?a=b": "octo/example?a=b",
            "octo/exämple": "octo/exämple",
        }.items()
    },
    "unknown profile": (
        {"profile": "everything"},
        "Invalid value everything for profile. Valid values: scaffold, health, starter, all.",
        "profile に everything という値はありません。使える値: scaffold、health、starter、all。",
    ),
    "profile mistyped": (
        {"profile": "helth"},
        "Invalid value helth for profile. Did you mean `health`? Valid values: scaffold, ",
        "profile に helth という値はありません。`health` のことですか。使える値: scaffold、",
    ),
    "mode mistyped": (
        {"mode": "Paln"},
        "Invalid value Paln for mode. Did you mean `plan`? Valid values: register, plan, check.",
        "mode に Paln という値はありません。`plan` のことですか。使える値: register、plan、check。",
    ),
    **{
        f"API path {value!r}": (
            {"api_url": value},
            f"api_url does not lead to the root of a REST API: {value}. Did you mean {meant}?",
            f"api_url が REST API のルートを指していません: {value}。{meant} のことですか。",
        )
        for value, meant in {
            "https://github.com": "https://api.github.com",
            "https://github.com/octo/example": "https://api.github.com",
            "https://api.github.com/repos": "https://api.github.com",
            "https://api.github.com/api/v3": "https://api.github.com",
            "https://octo.ghe.com": "https://api.octo.ghe.com",
            "https://api.octo.ghe.com/api/v3": "https://api.octo.ghe.com",
            "https://ghe.example.com": "https://ghe.example.com/api/v3",
            "https://ghe.example.com:8443/": "https://ghe.example.com:8443/api/v3",
            "https://ghe.example.com/api/v3/repos": "https://ghe.example.com/api/v3",
            "https://ghe.example.com/api/graphql": "https://ghe.example.com/api/v3",
            "http://localhost:3000/x": "http://localhost:3000/api/v3",
        }.items()
    },
    **{
        f"API address {value!r}": (
            {"api_url": value},
            f"api_url is not the address of a REST API: {value}.",
            f"api_url が REST API のアドレスではありません: {value}。",
        )
        for value in (
            "api.github.com",
            "ftp://api.github.com",
            "https://",
            "https://api.github.com?a=b",
            "https://api.github.com/#a",
            "https://api.github.com:port",
            "https://api github.com",
            "https://[::1",
        )
    },
    "API address with a password": (
        {"api_url": "https://user:secret@api.github.com"},
        "api_url holds an `@`, as an address with a user and a password does. The token is the",
        "api_url に、ユーザー名とパスワードを含むアドレスのような `@` があります。",
    ),
    **{
        f"API over plain HTTP {value!r}": (
            {"api_url": value},
            f"api_url would send the token without encryption: {value}.",
            f"api_url ではトークンが暗号化されずに送られます: {value}。",
        )
        for value in ("http://api.github.com", "http://127.0.0.1.example.com", "http://10.0.0.1")
    },
    "definitions from the web": (
        {"definitions": "https://example.com/list.json"},
        "definitions is a web address: https://example.com/list.json. Only files of the workspace",
        "definitions がウェブのアドレスです: https://example.com/list.json。読めるのは",
    ),
    "team of another organisation": (
        {"team_reviewers": "docs, @other/docs"},
        "team_reviewers names a team of another organisation: other/docs. Only teams of octo",
        "team_reviewers に別の組織のチームがあります: other/docs。",
    ),
    "definitions with all profiles": (
        {"profile": "all", "definitions": "list.json"},
        "definitions needs one profile, but profile is `all`. Choose one of scaffold, ",
        "definitions があるのに profile が `all` です。profile を外すか、scaffold、",
    ),
}

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
        for value in (
            "../list.json",
            "/etc/passwd",
            "sub/../../list.json",
            "link.json",
            "folder/list.json",
        )
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
        for value in ("folder.json", "pipe.json", ".", "socket.json")
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


def check_error(run: Run, english: str, japanese: str, host: StandInHost) -> None:
    """One of the two runs of a case: the error has this text and ended the run at once."""
    assert run.exit_code == 2, run.text
    if run.annotations():
        # The runner cuts an annotation at 4,096 characters; then all of it is printed as well.
        shown = [annotation.data for annotation in run.annotations()] + run.lines
        assert any(line.removeprefix("エラー: ").startswith(japanese) for line in shown), run.stdout
        assert run.stderr == ""
        assert "何も登録していません" in run.summary
    else:
        assert any(line.startswith(f"Error: {english}") for line in run.stderr.splitlines()), (
            run.stderr
        )
        assert run.stdout == ""
        assert "Nothing was registered" in run.summary
    assert host.requests == []
    assert run.outputs["created"] == "0"


@pytest.mark.parametrize(("inputs", "english", "japanese"), INPUTS.values(), ids=INPUTS)
def test_input(
    action: Action, host: StandInHost, inputs: Mapping[str, str], english: str, japanese: str
) -> None:
    check_error(action(inputs, language="en"), english, japanese, host)
    check_error(action(inputs, runner=True), english, japanese, host)


def test_an_unknown_language_is_answered_in_both(action: Action, host: StandInHost) -> None:
    run = action(language="fr")
    assert run.exit_code == 2
    text, _, link = run.stderr.partition(" → ")
    english = "There is no language fr. Valid values: ja、en."
    assert text == f"エラー: language に fr という値はありません。使える値: ja、en。({english})"
    assert link == "docs/troubleshooting.md#inputs\n"
    assert host.requests == []


def test_all_errors_of_the_inputs_are_reported_at_once(action: Action, host: StandInHost) -> None:
    run = action(
        host_token="",
        target_repo="octo",
        profile="none",
        language="en",
        api_url="http://example.com",
    )
    assert len(run.stderr.splitlines()) == 4
    assert all(line.startswith("Error: ") for line in run.stderr.splitlines())
    assert host.requests == []


@pytest.mark.parametrize(("name", "data", "line", "english", "japanese"), FILES.values(), ids=FILES)
def test_definition_file(
    action: Action,
    host: StandInHost,
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
    check_error(action(language="en", definitions=name), english, japanese, host)
    run = action(runner=True, definitions=name)
    check_error(run, english, japanese, host)
    place = {"file": name} | ({"line": str(line)} if line else {})
    assert [dict(annotation.properties) for annotation in run.annotations()] == [place]


def as_yaml(entry: Any) -> str:
    """An entry in YAML's flow style, which JSON is, one per line."""
    return f"- {json.dumps(entry)}\n"


@pytest.mark.parametrize("suffix", ["json", "yml"])
@pytest.mark.parametrize(("entry", "english", "japanese"), ENTRIES.values(), ids=ENTRIES)
def test_entry(
    action: Action, host: StandInHost, suffix: str, entry: Any, english: str, japanese: str
) -> None:
    name = f"config/list.{suffix}"
    if suffix == "json":
        text = f'[\n  {{"path": "first"}},\n\n  {json.dumps(entry)}\n]\n'
    else:
        text = f"- path: first\n# a comment\n\n{as_yaml(entry)}"
    action.write(name, text)
    english_place, japanese_place = f"{name}, entry 2, line 4: ", f"{name}、2 番目の項目、4 行目: "
    if suffix == "json":
        run = action(language="en", definitions=name)
    else:
        run = action(runner=True, definitions=name)
        assert run.annotations()[0].properties == {"file": name, "line": "4"}
    check_error(run, english_place + english, japanese_place + japanese, host)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("json", '[\n{"path": "a", "path": "b"}]'),
        ("yml", "- path: a\n  path: b\n"),
    ],
)
def test_duplicate_key(action: Action, host: StandInHost, suffix: str, text: str) -> None:
    name = action.write(f"list.{suffix}", text)
    english = f"{name}, entry 1, line 2: the key path is there more than once."
    japanese = f"{name}、1 番目の項目、2 行目: キー path が 2 回以上あります。"
    check_error(action(language="en", definitions=name), english, japanese, host)
    check_error(action(runner=True, definitions=name), english, japanese, host)


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
    action: Action, host: StandInHost, paths: tuple[str, ...], english: str, japanese: str
) -> None:
    entries = ",\n".join(json.dumps({"path": path}) for path in paths)
    name = action.write("list.json", f"[\n{entries}\n]")
    check_error(
        action(language="en", definitions=name), f"{name}, {english}", f"{name}、{japanese}", host
    )
    check_error(
        action(runner=True, definitions=name), f"{name}, {english}", f"{name}、{japanese}", host
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.json", '[{"path": "a\\ud800"}]'),
        ("list.yml", '- path: "a\\ud800"\n'),
    ],
)
def test_lone_surrogate(action: Action, host: StandInHost, name: str, text: str) -> None:
    action.write(name, text)
    english = f"{name}, entry 1, line 1: path holds half a character (a lone surrogate)"
    japanese = f"{name}、1 番目の項目、1 行目: path に文字の半分（単独のサロゲート）があり"
    check_error(action(language="en", definitions=name), english, japanese, host)
    check_error(action(runner=True, definitions=name), english, japanese, host)


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


def test_annotations_stop_at_the_runners_limit_and_the_rest_is_printed(
    action: Action, host: StandInHost
) -> None:
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


def test_yaml_is_read_as_data_only(action: Action, host: StandInHost) -> None:
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


# --- Names and values --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("INPUT_MODES", "There is no input modes. Did you mean the input mode?"),
        ("INPUT_DRY_RUN", "There is no input dry_run. Did you mean the input `mode: plan`?"),
        ("INPUT_DRY-RUN", "There is no input dry-run. Did you mean the input `mode: plan`?"),
        ("INPUT_LANGAGE", "There is no input langage. Did you mean the input language?"),
        ("INPUT_TOKEN", "There is no input token. Did you mean the input host_token?"),
        ("INPUT_COMMIT-STRATEGY", "no input commit-strategy. Did you mean the input commit_strat"),
        ("INPUT_mode", "There is no input INPUT_mode. Did you mean the input INPUT_MODE?"),
        ("input_mode", "There is no input input_mode. Did you mean the input INPUT_MODE?"),
        ("INPUT_COLOUR", "There is no input colour. Known inputs: host_token, target_repo, "),
        ("INPUT_METHOD", "There is no input method. Known inputs: "),
        ("INPUT_", "There is no input . Known inputs: "),
    ],
)
@pytest.mark.parametrize("value", ["plan", ""])
def test_an_input_that_does_not_exist_is_an_error(
    action: Action,
    host: StandInHost,
    repository: Repository,
    variable: str,
    value: str,
    expected: str,
) -> None:
    run = action(language="en", runner=True, env={variable: value})
    assert run.exit_code == 2
    [annotation] = run.annotations()
    assert expected in annotation.data
    assert host.requests == []
    run = action(language="en", env={variable: value})
    if "Did you mean" in expected:
        assert run.exit_code == 2
        assert expected in run.stderr
        assert host.requests == []
    else:
        assert run.exit_code == 0, "an ordinary variable of somebody else"


def test_what_the_runner_itself_reads_is_no_error(action: Action, repository: Repository) -> None:
    env = {"INPUT_ARGS": "x", "INPUT_ENTRYPOINT": "y"}
    assert action(runner=True, env=env).exit_code == 0


def test_values_are_taken_in_any_letter_case(action: Action, repository: Repository) -> None:
    run = action(profile="Health", mode="PLAN", commit_strategy="Single", draft="False")
    assert run.exit_code == 0, run.text
    assert run.registration["profile"] == "health"
    assert repository.branches == ["main"]
    assert action(profile="health", language="EN", mode="plan").stdout.isascii()


def test_errors_after_an_error_are_reported_too(action: Action, host: StandInHost) -> None:
    run = action(
        {"mode": "dry", "profile": "everything", "branch": "a b", "draft": "yes", "title": "{x}"},
        language="en",
        env={"INPUT_MODES": "plan"},
    )
    assert run.exit_code == 2
    errors = [
        "There is no input modes",
        "Invalid value everything for profile",
        "Invalid value dry for mode",
        "branch ",
        "title ",
        "Invalid value yes for draft",
    ]
    for line, error in zip(run.stderr.splitlines(), errors, strict=True):
        assert line.startswith(f"Error: {error}")
    assert host.requests == []


@pytest.mark.parametrize("runner", [False, True])
@pytest.mark.parametrize(
    "variable",
    [
        *(f"INPUT_{name.upper()}" for name in NAMES),
        *("HOST_TOKEN", "TARGET_REPO", "HOST_API_URL", "GITHUB_API_URL"),
        *("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"),
    ],
)
def test_bytes_that_are_not_utf8_are_an_error_of_their_own(
    action: Action, host: StandInHost, variable: str, runner: bool
) -> None:
    """Python gives such a byte as half of a surrogate pair (PEP 383)."""
    environ = action.environment({}, runner=runner)
    name = {"HOST_TOKEN": "host_token", "TARGET_REPO": "target_repo"}.get(variable, variable)
    if variable.endswith("API_URL"):
        name = "api_url"
    name = name.removeprefix("INPUT_").lower() if name.startswith("INPUT_") else name
    environ.pop(f"INPUT_{name.upper()}", None)
    run = action.start({**environ, "INPUT_LANGUAGE": "en", variable: "b\udce9\udcff"})
    assert run.exit_code == 2
    shown = run.stdout.splitlines() if runner else run.stderr.splitlines()
    errors = [line for line in shown if line.startswith(("Error: ", "エラー: ", "::error"))]
    if variable == "INPUT_LANGUAGE":
        assert "UTF-8 ではない" in errors[0]
    else:
        assert f"{name} holds bytes that are not UTF-8" in errors[0]
    assert len(errors) == 1
    assert host.requests == []


def test_a_workspace_and_files_with_such_names_do_no_harm(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    odd = action.directory / "b\udce9"
    odd.mkdir()
    (odd / "list.json").write_text('[{"path": "a"}]')
    env = {
        "GITHUB_WORKSPACE": str(odd),
        "GITHUB_STEP_SUMMARY": str(odd / "summary\udce9"),
        "GITHUB_OUTPUT": str(odd / "no\udce9" / "output"),
        "RUNNER_TEMP": str(odd / "no\udce9"),
    }
    run = action(definitions="list.json", env=env)
    assert run.exit_code == 0, run.text
    assert (odd / "summary\udce9").exists()


# --- Names of people and teams ------------------------------------------------------------


@pytest.mark.parametrize("between", [",", "\n", " ,\r\n, "])
def test_people_and_teams_may_be_written_as_in_a_mention(
    action: Action, repository: Repository, between: str
) -> None:
    run = action(
        profile="health",
        labels=between.join(["@label", "two words"]),
        assignees=between.join(["octocat", "@octocat"]),
        reviewers=between.join(["@hubot", "hubot"]),
        team_reviewers=between.join(["docs", "@docs", "octo/docs", "@Octo/docs"]),
    )
    assert run.exit_code == 0, run.text

    def sent(call: str, key: str) -> list[str]:
        bodies = [r.json or {} for r in action.host.requests if r.path.endswith(f"/{call}")]
        return [name for body in bodies for name in body[key]]

    assert sent("requested_reviewers", "reviewers") == ["hubot"]
    assert sent("requested_reviewers", "team_reviewers") == ["docs"]
    assert sent("assignees", "assignees") == ["octocat"]
    assert sent("labels", "labels") == ["@label", "two words"]


def test_an_error_ends_with_a_link_to_the_page_of_the_version_in_use(action: Action) -> None:
    version = {
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_ACTION_REPOSITORY": "octo/registrar",
        "GITHUB_ACTION_REF": "v1",
    }
    run = action(target_repo="octo", language="en", runner=True, env=version)
    page = "https://github.example/octo/registrar/blob/v1/docs/troubleshooting.md"
    [annotation] = run.annotations()
    assert annotation.data.endswith(f" → {page}#the-target-repository")


@pytest.mark.parametrize("variable", ["INPUT_API_URL", "HOST_API_URL", "GITHUB_API_URL"])
@pytest.mark.parametrize(
    "value",
    [
        "https://user:hunter2@ghes.example/api/v3",
        "https://hunter2@api.github.com",
        "https://user:hunter2%40ghes.example/api/v3",
        "https%3A%2F%2Fuser%3Ahunter2%2540ghes.example",
        "https://user:hunter2@[ghes.example",
        "http://user:hunter2@ghes.example",
    ],
)
def test_an_address_with_a_password_is_refused_and_not_shown(
    action: Action, host: StandInHost, variable: str, value: str
) -> None:
    run = action(language="en", runner=True, api_url=None, env={variable: value})
    assert (run.exit_code, host.requests) == (2, [])
    assert "api_url holds an `@`" in run.stdout
    assert "hunter2" not in run.text
