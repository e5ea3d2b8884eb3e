"""Any bytes in a definition file give a run or an error of ours, and no request after a bad one.

10,000 files go through the loader, some dozens of them through the whole program.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from registrar.errors import InvalidInput
from registrar.lists import loading
from registrar.runtime.workspace import Folder
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, TARGET, Action

FILES = 10_000
PARTS = [pytest.param(n, marks=[pytest.mark.chosen] if n == 0 else []) for n in range(8)]
PROCESSES = 48

PATHS = (
    *("a", "docs/guide.md", ".github/x.yml", "日本語.md", "a b", "é", "a/b/c/d/e", "x" * 255),
    *("", "/a", "a/", "a//b", "..", "a/../b", ".git/config", "a\\b", "a\nb", "\x00", "\ud800"),
    *("x" * 256, "a/" * 2100 + "b", " ", "~", "null", "1", "::error::x", "\u202e", "- a", "a: b"),
)
VALUES: tuple[object, ...] = (
    None,
    True,
    0,
    -1.5,
    10**400,
    1e308,
    [],
    {},
    ["a"],
    {"path": "a"},
    "\ud800",
    "",
    "\x07",
)
KEYS = (
    *("path", "description", "content", "content_file", "template", "alternatives"),
    *("Path", "paths", "", "<<", "é"),
)
GLOBS = ("**", "*", ".github/**", "**/[A-Z]*", "[", "a" * 300, "**/**/**/x", "\ud800", "")
SNIPPETS = (
    *("[", "]", "{", "}", ",", ":", '"', "'", "- ", "\n", "\t", "  ", "#", "|", ">", "&a ", "*a"),
    *("!!binary ", "!!timestamp ", "!!python/object/apply:os.system ", "!<tag> ", "? ", "---\n"),
    *("...\n", "%YAML 9.9\n", "<<: *a", '"\\u', '"\\ud800"', '"\\UFFFFFFFF"', '"\\U00110000"'),
    *("2024-13-45", "0x_", "NaN", "Infinity", "-", "1" * 5000, "[" * 900),
    *("\ufeff", "\x00", "\x85", "\u2028", "\r", "\x1b", "// a", "/* a */", "path: a\n"),
)
BYTES = (b"\xff", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x00", b"\x80")


def entry(rng: random.Random) -> object:
    """An entry, mostly nearly right."""
    if rng.random() < 0.05:
        return rng.choice(VALUES)
    paths = PATHS if rng.random() < 0.3 else PATHS[:8]
    found: dict[str, object] = {"path": f"{rng.choice(paths)}{rng.choice(('', rng.random()))}"}
    for _ in range(rng.randrange(3)):
        found[rng.choice(KEYS[:3])] = rng.choice(PATHS)
    if rng.random() < 0.1:
        found[rng.choice(KEYS)] = rng.choice(VALUES)
    if rng.random() < 0.1:
        found["alternatives"] = [rng.choice(PATHS) for _ in range(rng.randrange(3))]
    if rng.random() < 0.1:
        found["template"] = rng.random() < 0.9
    if rng.random() < 0.1:
        found["content_file"] = rng.choice(PATHS)
    return found


def as_json(rng: random.Random) -> str:
    listed = [entry(rng) for _ in range(rng.randrange(5))]
    extending = {
        "name": rng.choice(("service", *VALUES)),
        "extends": rng.choice(("health", "scaffold", *VALUES)),
        "exclude": [rng.choice(GLOBS) for _ in range(rng.randrange(3))],
        "files": listed,
    }
    root = rng.choice([listed, listed, listed, {"files": listed}, extending, rng.choice(VALUES)])
    return json.dumps(root, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 2)))


def as_yaml(rng: random.Random) -> str:
    lines: list[str] = []
    for _ in range(rng.randrange(5)):
        start = "- "
        for key in rng.sample(KEYS[:3], rng.randrange(1, 4)):
            value = rng.choice(PATHS if rng.random() < 0.3 else PATHS[:7])
            shown = json.dumps(value) if rng.random() < 0.6 else value
            lines.append(f"{start}{key}: {rng.choice(('', '', '', '|', '!!str ', '&a '))}{shown}")
            start = "  "
    return "\n".join(lines)


def rubble(rng: random.Random) -> str:
    return "".join(rng.choice((*SNIPPETS, *KEYS)) for _ in range(rng.randrange(12)))


def damaged(rng: random.Random, data: bytes) -> bytes:
    """The same with some bytes cut out, doubled or put in."""
    for _ in range(rng.choice((0, 0, 0, 0, 1, 3))):
        at, end = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
        snippet = rng.choice(SNIPPETS).encode("utf-8", "surrogatepass")
        change = rng.choice((0, 0, 1, 1, 2, 2, 3, 4))
        if change == 0:
            data = data[:at] + data[min(end, at + 20) :]
        elif change == 1:
            data = data[:at] + data[at:end] * 2 + data[end:]
        elif change == 2:
            data = data[:at] + snippet + data[at:]
        elif change == 3:
            data = data[:at] + rng.choice(BYTES) + data[at:]
        else:
            data = data[:at] + rng.randbytes(3) + data[at:]
    return data


def random_file(rng: random.Random) -> tuple[str, bytes]:
    """Name and content of a definition file."""
    makers: tuple[tuple[str, Callable[[random.Random], str]], ...] = (
        ("json", as_json),
        ("yml", as_json),
        ("yaml", as_yaml),
        ("yml", as_yaml),
        ("json", rubble),
        ("yml", rubble),
    )
    suffix, make = rng.choice(makers)
    data = make(rng).encode("utf-8", "surrogatepass")
    if rng.random() < 0.03:
        data = data.decode("utf-8", "replace").encode("utf-16")
    return f"list.{suffix}", damaged(rng, data)


@pytest.mark.matrix
@pytest.mark.parametrize("part", PARTS)
def test_any_bytes_give_definitions_or_diagnostics(tmp_path: Path, part: int) -> None:
    good = 0
    for number in range(part, FILES, len(PARTS)):
        name, data = random_file(random.Random(number))
        file = tmp_path / name
        file.write_bytes(data)
        try:
            listed = loading.load(Folder(file.parent), name).files
        except InvalidInput:
            continue
        except Exception as error:
            raise AssertionError(f"file {number}: {data!r}") from error
        good += 1
        assert listed
        paths = [definition.path for definition in listed]
        assert len(set(paths)) == len(paths)
        for path in paths:
            assert path.encode()
            assert not set(path.split("/")) & {"", ".", "..", ".git"}
    assert good > FILES / len(PARTS) / 50, "hardly any file was right: they are too random"


@pytest.mark.parametrize("part", range(4))
def test_no_request_follows_a_bad_file(
    action: Action, host: StandInHost, repository: Repository, part: int
) -> None:
    for number in range(FILES + part, FILES + PROCESSES, 4):
        name, data = random_file(random.Random(number))
        file = action.workspace / action.write(name, data)
        try:
            listed = loading.load(Folder(file.parent), name).files
        except InvalidInput:
            listed = ()
        count = len(host.requests)
        run = action(definitions=name, language="en", runner=number % 2 == 0)
        assert "Unexpected error" not in run.text, (data, run.text)
        assert "Nothing was registered" in run.summary or listed, data
        if not listed:
            assert (run.exit_code, len(host.requests)) == (2, count), (data, run.text)
            assert run.annotations() or run.stderr
            continue
        assert run.exit_code in {0, 1}, (data, run.text)
        assert TARGET in run.summary
        assert set(repository.branches) >= {"main", LIST_BRANCH}
        repository.delete_branch(LIST_BRANCH)
