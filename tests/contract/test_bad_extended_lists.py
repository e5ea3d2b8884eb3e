"""Mistakes in lists that are objects, and lists too large to be read."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from registrar.lists.profiles import PROFILES
from tests.fakehub import Repository, StandInHost
from tests.harness import TARGET, Action
from tests.mistakes import check_error

FOLDER_MISTAKES: dict[str, tuple[dict[str, bytes | None], dict[str, Any], str, str]] = {
    "no folder": (
        {},
        {},
        "config/t: there is no such folder.",
        "config/t: このフォルダーはありません。",
    ),
    "a file": ({"../t": b""}, {}, "config/t: there is no such folder.", "config/t: この"),
    "no file": ({"a/": None}, {}, "t/: there is no file in this", "t/: このフォルダーには"),
    "outside": (
        {},
        {"content_file": "../../"},
        "config/../..: the file is outside the workspace.",
        "config/../..: ",
    ),
    "slash in one place": (
        {"a": b""},
        {"path": "x"},
        "only one of `path` and `content_file` ends with a slash.",
        "`path` と `content_file` の片方だけがスラッシュで終わって",
    ),
    "slash in the other": (
        {"a": b""},
        {"content_file": "t"},
        "only one of `path` and `content_file` ends with a slash.",
        "`path` と `content_file` の片方だけがスラッシュで終わって",
    ),
    "alternatives": (
        {"a": b""},
        {"alternatives": ["b"]},
        "a folder has no `alternatives`.",
        "フォルダーに `alternatives` は指定できません。",
    ),
    "a large file": ({"a": b"x" * 1_000_001}, {}, "a: config/t/a: the file is larger", "a: config"),
    "much in all": (
        {f"{number:02}": b"x" * 1_000_000 for number in range(11)},
        {},
        "10: with this entry, the contents of the list are larger than",
        "10: この項目で",
    ),
    "a file for git": ({"a/.git/b": b""}, {}, "config/t/a/.git: nothing in a", "config/t/a/.git: "),
    "a link": (
        {"a": b"", "b -> a": None},
        {},
        "config/t/b: neither a file nor a folder, but a symbolic link",
        "config/t/b: ファイルでもフォルダーでも",
    ),
    "a link to a folder": (
        {"a/b": b"", "c -> a": None},
        {},
        "config/t/c: neither a file nor a folder, but a symbolic link",
        "config/t/c: ファイルでもフォルダーでも",
    ),
    "deep": ({"a/" * 32 + "b": b""}, {}, "the path x/a/a/", "パス x/a/a/"),
    "backslash": ({"a\\b": b""}, {}, "the path x/a\\b holds a backslash.", "パス x/a\\b に"),
    "no template": (
        {"a/b": b"\xff"},
        {"template": True},
        "a/b: the template is not UTF-8.",
        "a/b: テンプレートが UTF-8",
    ),
    "unknown placeholder": (
        {"a/b": b"{x}"},
        {"template": True},
        "a/b: template has unknown placeholders: {x}.",
        "a/b: template に",
    ),
    "not UTF-8": (
        {"a/\udcff": b""},
        {},
        "config/t/a/\\udcff: the name of the file is not UTF-8.",
        "config/t/a/\\udcff: ファイル名が UTF-8",
    ),
    "token": ({"a": b"{token}"}, {}, "a: content_file holds the token", "a: content_file に"),
    "listed twice": (
        {"a": b""},
        {"path": "first/"},
        "the path first/a is listed already, in entry 1.",
        "パス first/a は",
    ),
}


@pytest.mark.parametrize(
    ("files", "more", "english", "japanese"),
    FOLDER_MISTAKES.values(),
    ids=FOLDER_MISTAKES.keys(),
)
def test_mistakes_about_a_folder(
    files: dict[str, bytes | None],
    more: dict[str, Any],
    english: str,
    japanese: str,
    action: Action,
    host: StandInHost,
) -> None:
    folder = action.workspace / "config/t"
    for each, data in files.items():
        name, arrow, target = each.partition(" -> ")
        if data is not None:
            content = data.replace(b"{token}", action.default_token.encode())
            action.write("config/t" if name == "../t" else f"config/t/{name}", content)
        elif arrow:
            (folder / name).symlink_to(target)
        else:
            (folder / name).mkdir(parents=True)
    entries = [{"path": "first/a"}, {"path": "x/", "content_file": "t/", **more}]
    listed = action.document(entries, "yml")
    run = action(definitions=listed, language="en")
    assert run.exit_code == 2
    assert f"entry 2, line 5: {english}" in run.stderr, run.stderr
    run = action(definitions=listed, runner=True)
    assert any(japanese in each.data for each in run.annotations()), run.stdout
    assert host.requests == []


def test_a_folder_with_too_many_files(action: Action, host: StandInHost) -> None:
    first = action.workspace / action.write("config/t/0", b"")
    for number in range(1, 5_001):
        first.with_name(str(number)).hardlink_to(first)
    listed = action.document([{"path": "x/", "content_file": "t/"}])
    run = action(definitions=listed, language="en")
    assert run.exit_code == 2
    assert "config/t: the folder holds more than 5000 files." in run.stderr
    assert host.requests == []


OBJECTS: dict[str, tuple[Any, int, str, str]] = {
    "unknown key": (
        {"extends": "health", "file": []},
        3,
        "unknown key file. Known: name, extends, exclude, files, rules, $schema.",
        "file というキーはありません。使えるキー: name、extends、exclude、files、rules、$schema。",
    ),
    "unknown list": (
        {"extends": "all"},
        2,
        f"there is no built-in list all to extend. Known: {', '.join(PROFILES)}.",
        f"all という付属の一覧はありません。使えるもの: {'、'.join(PROFILES)}。",
    ),
    "extends is no string": (
        {"extends": ["health"]},
        2,
        "extends must be a string",
        "extends は文字列でなければなりません",
    ),
    "exclude is no array": (
        {"extends": "health", "exclude": "a"},
        3,
        "exclude must be an array.",
        "exclude は配列でなければなりません。",
    ),
    "a pattern is no string": (
        {"extends": "health", "exclude": ["a", 1]},
        5,
        "exclude holds a value that is not a string; put the value in quotes.",
        "exclude に文字列でない値があります。",
    ),
    "files is no array": (
        {"files": {"path": "a"}},
        2,
        "files must be an array.",
        "files は配列でなければなりません。",
    ),
}
ENTRIES: dict[str, tuple[dict[str, Any], str, str]] = {
    "two contents": (
        {"content": "a", "content_file": "good"},
        "`content` and `content_file` cannot be given together.",
        "`content` と `content_file` は同時に書けません。",
    ),
    "no such file": (
        {"content_file": "gone"},
        "config/gone: there is no such file.",
        "config/gone: ファイルがありません。",
    ),
    "outside": (
        {"content_file": "../../outside"},
        "config/../../outside: the file is outside the workspace.",
        "config/../../outside: ファイルがワークスペースの外にあります。",
    ),
    "outside, absolute": (
        {"content_file": "/etc/passwd"},
        "/etc/passwd: the file is outside the workspace.",
        "/etc/passwd: ファイルがワークスペースの外にあります。",
    ),
    "outside, by a link": (
        {"content_file": "link"},
        "config/link: the file is outside the workspace.",
        "config/link: ファイルがワークスペースの外にあります。",
    ),
    "in .git": (
        {"content_file": "../.git/config"},
        "config/../.git/config: nothing in a `.git` directory is read",
        "config/../.git/config: トークンが含まれることがあるため",
    ),
    "a directory": (
        {"content_file": "."},
        "config: not a regular file",
        "config: 通常のファイルではなく",
    ),
    "no name": (
        {"content_file": ""},
        "config: not a regular file",
        "config: 通常のファイルではなく",
    ),
    "too large": (
        {"content_file": "large"},
        "config/large: the file is larger than 1000000 bytes.",
        "config/large: ファイルが 1000000 バイトを超えています。",
    ),
    "the token in a file": (
        {"content_file": "token"},
        "content_file holds the token itself",
        "content_file にトークンそのものが含まれていて",
    ),
    "the token in an alternative": (
        {"alternatives": ["a", "{token}"]},
        "alternatives holds the token itself",
        "alternatives にトークンそのものが含まれていて",
    ),
    "content_file is no string": (
        {"content_file": True},
        "content_file must be a string",
        "content_file は文字列でなければなりません",
    ),
    "template is no boolean": (
        {"template": "true", "content": "a"},
        "template must be true or false, without quotes.",
        "template は引用符なしの true か false でなければなりません。",
    ),
    "unknown placeholder": (
        {"template": True, "content": "{year} {year} {owner.x} {}"},
        "template has unknown placeholders: {year}, {owner.x}, {}. Known: {owner}, {repo}, ",
        "template に使えないプレースホルダーがあります: {year}、{owner.x}、{}。",
    ),
    "a brace alone": (
        {"template": True, "content": "function () {"},
        "template has an unmatched brace: function () {.",
        "template に対になっていない波括弧があります: function () {。",
    ),
    "a template of bytes": (
        {"template": True, "content_file": "bytes"},
        "the template is not UTF-8.",
        "テンプレートが UTF-8 ではありません。",
    ),
    "alternatives is no array": (
        {"alternatives": "a"},
        "alternatives must be an array.",
        "alternatives は配列でなければなりません。",
    ),
    "an alternative is no string": (
        {"alternatives": [1]},
        "alternatives holds a value that is not a string; put the value in quotes.",
        "alternatives に文字列でない値があります。",
    ),
    "an alternative is no path": (
        {"alternatives": ["../a"]},
        "the path ../a has a part `.` or `..`.",
        "パス ../a に `.` か `..` の部分があります。",
    ),
}


@pytest.mark.parametrize(("listed", "line", "english", "japanese"), OBJECTS.values(), ids=OBJECTS)
@pytest.mark.parametrize("suffix", ["json", "yml"])
def test_errors_around_the_entries(
    action: Action,
    suffix: str,
    listed: Any,
    line: int,
    english: str,
    japanese: str,
) -> None:
    name = action.document(listed, suffix)
    check_error(
        action,
        f"{name}, line {line}: {english}",
        f"{name}、{line} 行目: {japanese}",
        definitions=name,
    )


@pytest.mark.parametrize(("entry", "english", "japanese"), ENTRIES.values(), ids=ENTRIES)
@pytest.mark.parametrize("suffix", ["json", "yml"])
def test_errors_in_an_entry(
    action: Action,
    suffix: str,
    entry: dict[str, Any],
    english: str,
    japanese: str,
) -> None:
    (action.directory / "outside").touch()
    action.write("config/good", b"good")
    action.write("config/large", b"x" * 1_000_001)
    action.write("config/token", f"x{action.default_token}x")
    action.write("config/bytes", b"\xff{owner}")
    action.write(".git/config", b"x")
    (action.workspace / "config/link").symlink_to("../../outside")
    text = f'{{"files": [\n{{"path": "first"}},\n{json.dumps({"path": "a", **entry})}]}}'
    name = action.write(f"config/list.{suffix}", text.replace("{token}", action.default_token))
    place, ort = f"{name}, entry 2, line 3: ", f"{name}、2 番目の項目、3 行目: "
    check_error(action, place + english, ort + japanese, definitions=name)


@pytest.mark.parametrize(
    ("listed", "own"),
    [
        ({"extends": "health", "files": [{"path": ".github"}]}, ".github"),
        (
            {"extends": "health", "files": [{"path": ".github/SUPPORT.md/deep"}]},
            ".github/SUPPORT.md/deep",
        ),
    ],
)
def test_an_entry_cannot_be_a_directory_of_the_extended_list_or_lie_below_its_files(
    listed: Any, own: str, action: Action, repository: Repository
) -> None:
    name = action.document(listed)
    run = action(definitions=name, language="en")
    assert run.exit_code == 2
    errors = run.stderr.splitlines()
    assert all(line.startswith(f"Error: {name}, entry 1, line 4: the path ") for line in errors)
    assert all(own in line and "Leave that one out with `exclude`" in line for line in errors)
    listed["exclude"] = ["**"]
    name = action.document(listed)
    assert action(definitions=name, mode="plan").exit_code == 0


def test_nothing_listed_is_an_error(action: Action) -> None:
    lists: list[Any] = [{"files": []}, {"extends": "health", "exclude": ["**"]}]
    for listed in lists:
        name = action.document(listed)
        check_error(
            action,
            f"{name}: the list holds no entry.",
            f"{name}: 一覧に項目がありません。",
            definitions=name,
        )


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ({"extends": "health", "exclude": ["[" * 100_000]}, "is longer than 1000 characters"),
        ({"extends": "health", "exclude": ["*a" * 500] * 100}, "matches nothing"),
        ({"extends": "health", "exclude": ["[" * 1000] * 100}, "matches nothing"),
    ],
    ids=["too long", "stars", "brackets"],
)
def test_patterns_at_their_limits_take_no_time(
    listed: Any, said: str, action: Action, repository: Repository
) -> None:
    run = action(definitions=action.document(listed), language="en", mode="plan")
    assert run.exit_code == (2 if "longer" in said else 0)
    assert said in run.stderr


@pytest.mark.parametrize(
    ("anchored", "entry", "said"),
    [
        ("x" * 900_000, "{{path: p{}, template: true, content: *a}}", "longer than 20000000"),
        ("x" * 900_000, "{{path: *a, description: p{}}}", "longer than 20000000"),
        ("x" * 6_000, "{{path: p{}, template: true, content: *a}}", "larger than 10000000 bytes"),
        (str(["x"] * 40), "{{path: p{}, alternatives: *a}}", "more than 50000 values"),
        (str({f"k{n}": 1 for n in range(40)}), "*a", "more than 50000 values"),
    ],
    ids=["content", "path", "less content", "alternatives", "keys"],
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


def seconds(action: Action, listed: str, exit_code: int) -> float:
    """Of the processor, for a plan with a list."""
    before = time.process_time()
    run = action(definitions=listed, language="en", mode="plan")
    assert run.exit_code == exit_code, run.text
    return time.process_time() - before


@pytest.mark.parametrize("placeholder", ["{repo}", "{none}"])
def test_a_large_file_that_stands_in_a_list_very_often_is_not_read_each_time(
    action: Action, host: StandInHost, placeholder: str
) -> None:
    entries = [{"path": f"p{n}", "content_file": "../text", "template": True} for n in range(500)]
    listed = action.document({"files": entries})
    took = []
    # Both are too much for one list
    for count in (4_000, 160_000):
        action.write("text", placeholder * count)
        took.append(seconds(action, listed, exit_code=2))
    assert took[1] < 4 * took[0]
    assert host.requests == []


def test_globs_of_rules_take_linear_time(action: Action, host: StandInHost) -> None:
    """A hundred rules share a hundred globs: ten times as many stars take ten times as long."""
    host.create_repository(TARGET)

    def with_stars(count: int) -> str:
        globs = "".join(f"  - '{'**/' * count}x{number}'\n" for number in range(100))
        rule = "  - {when: {fork: true}, extends: scaffold, exclude: *a}\n"
        text = f"extends: scaffold\nexclude: &a\n{globs}rules:\n{rule * 100}"
        return action.write("list.yml", text)

    few, most = (seconds(action, with_stars(count), exit_code=0) for count in (33, 330))
    assert most < 20 * few


def test_a_mistake_below_a_long_line_is_found_in_linear_time(
    action: Action, host: StandInHost
) -> None:
    listed = action.write("list.yml", f"- {'-' * 900_000}\n  a: b\n")
    run = action(definitions=listed, language="en")
    assert (run.exit_code, host.requests) == (2, [])
    assert "has no key" in run.stderr
