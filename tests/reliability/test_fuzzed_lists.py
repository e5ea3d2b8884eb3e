"""Lists full of markup, commands and odd characters, and lists at their limits and beyond.

Outputs show their parts as text. A list at a limit gives a clear error or an ordinary run, in a
process with a limit for processor time and memory.
"""

from __future__ import annotations

import json
import random
import resource
from collections.abc import Iterator, Mapping

import pytest

from registrar.errors import InvalidInput
from registrar.lists import loading
from registrar.runtime.workspace import Folder
from tests.example import PRESENT
from tests.fakehub import StandInHost
from tests.gfm import only_ours
from tests.harness import TARGET, Action, Start, only_reads

RUNS = 150
FRAGMENTS = (
    *("a", "b.md", "docs", " ", ".", "-", "_", "*", "`", "```", "~~", "|", "||", "\\", "&", "&lt;"),
    *("<b>", "</code>", "</details>", "<!-- ", "-->", "<img src=x onerror=alert(1)>", "<script>"),
    *("[x](http://evil.example)", "![x](//evil.example)", "[x][y]", "[^1]", "http://evil.example"),
    *("www.evil.example", "a@b.cd", "mailto:a@b.cd", "xmpp:a@b.cd", "@octo", "@everyone", "#1"),
    *("GH-1", "octo/x#1", "::error::owned", "##[error]owned", "%0A", "{count}", "${{ github.x }}"),
    *("$(id)", "\u202e", "\u200b", "\ufeff", "日本語", "é", "😀", "$x$", "$$", ":+1:"),
    *("- [ ] ", "> "),
    *("# ", "1. ", "---", "===", "    ", "\t", "skip-checks: true", "[skip ci]", "Fixes #1"),
)
NEW_LINES = ("\n", "\r\n", "\r", "\n\n", "\u2028")


def text(rng: random.Random, *, lines: bool = False) -> str:
    """Return text with parts that have a meaning in some format."""
    known = (*FRAGMENTS, *NEW_LINES) if lines else FRAGMENTS
    return "".join(rng.choice(known) for _ in range(rng.randrange(1, 8)))


def entry(rng: random.Random) -> Mapping[str, str]:
    path = "/".join(text(rng).replace("/", "∕") for _ in range(rng.choice((1, 1, 2))))
    return {"path": path, "description": text(rng), "content": text(rng, lines=True)}


@pytest.mark.matrix
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.chosen] if n < 3 else []) for n in range(RUNS)]
)
def test_whatever_stands_in_a_list(
    action: Action, host: StandInHost, start: Start, number: int, seed: int
) -> None:
    rng = random.Random(f"{seed} {number}")
    branch = rng.choice(("main", "a&b", "x`y", "it's-#1"))
    repository = host.create_repository(TARGET, default_branch=branch)
    good = [each for each in (entry(rng) for _ in range(30)) if is_good(action, each)]
    listed = good if rng.random() < 0.8 else [*good, entry(rng)]
    name = action.listing(*listed[:8])
    run = start(
        definitions=name,
        mode=rng.choice(("register", "register", "plan", "check")),
        language=rng.choice(("ja", "en")),
        runner=rng.random() < 0.5,
    )
    assert run.exit_code in {0, 1, 2}, run.console
    only_ours(run.summary)
    for pull in repository.pull_requests:
        only_ours(pull.body or "")
    assert repository.branches in ([branch], sorted([branch, run.outputs["branch"]]))


def is_good(action: Action, entry: Mapping[str, str]) -> bool:
    """Return whether a list with only this entry is valid; most lists shall reach GitHub."""
    action.listing(entry, name="one.json")
    try:
        loading.load(Folder(action.workspace), "one.json")
    except InvalidInput:
        return False
    return True


# --- At their limits ----------------------------------------------------------------------

CPU_SECONDS = 20
MEMORY = 1_500_000_000
"""The limit of address space in bytes. Threads reserve most of it for stacks, and use far less."""
MOST = 1_000
"""The most characters that a pattern may have."""
PIECES = (
    *("*", "**", "?", "[", "]", "[a-", "[!", "a", "-", "/", "**/", "*/", "*a", "?*", "-*", "\\"),
    *(".", ".*", "{", "}", "(", "(a+)+", "|", "+", "é", " ", "%", "_", "**/*a/", "/**/", "a/"),
)
OF_NAMES = ("*", "**", "-*", "*-", "a*", "*a", ".*", "-", "a", "_", ".", "*-*", "**a")
FILL = (
    *("x", "é", "{", "{{", "}}", "{repo}", "{none}", "-", " ", "\n", "\t", '"', "'", "#", ": "),
    *("a: b\n", "- ", "|", "\u2028", "\\", "https://a.example/", "`", "<!--", "*", "&", "...", "%"),
)


def repeated(rng: random.Random, pieces: tuple[str, ...], length: int) -> str:
    """Return one piece, or a few pieces, repeated up to a length."""
    some = "".join(rng.choice(pieces) for _ in range(rng.choice((1, 1, 2, 3, 7))))
    return (some * (length // len(some) + 1))[:length]


def pattern(rng: random.Random, pieces: tuple[str, ...] = PIECES) -> str:
    sizes = (1, 5, 40, MOST - 1, MOST, MOST) if rng.random() < 0.97 else (MOST + 1, 100_000)
    return repeated(rng, pieces, rng.choice(sizes))


def patterns(rng: random.Random, most: int) -> list[str]:
    return [pattern(rng) for _ in range(rng.choice((0, 1, 3, most, most)))]


class Anchors:
    """Values that a YAML file has once, with an anchor, and otherwise as aliases."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._lines: list[str] = []

    def of(self, value: object) -> str:
        """Return the value itself, or an alias of it."""
        text = json.dumps(value, ensure_ascii=False)
        if len(text) < 500 and self._rng.random() < 0.5:
            return text
        name = f"a{len(self._lines)}"
        self._lines.append(f"  - &{name} {text}")
        return f"*{name}"

    def bomb(self, levels: int, width: int) -> str:
        """Return an alias of a list of aliases, which expands to a very large value."""
        alias = self.of(["x"] * width)
        for _ in range(levels):
            name = f"a{len(self._lines)}"
            self._lines.append(f"  - &{name} [{', '.join([alias] * width)}]")
            alias = f"*{name}"
        return alias

    def __iter__(self) -> Iterator[str]:
        yield from (["$schema:", *self._lines] if self._lines else [])


def condition(rng: random.Random, anchors: Anchors) -> str:
    keys = rng.sample(("name", "topic", "language", "exists", "missing", "property", "not"), 2)
    found = []
    for key in keys:
        value = anchors.of(patterns(rng, rng.choice((30, 400))) or "a")
        found.append(f"{key}: {{name: {value}}}" if key == "not" else f"{key}: {value}")
    return ", ".join(rng.sample(found, rng.choice((1, 2))))


def extended(rng: random.Random, anchors: Anchors) -> str:
    """Return a list with rules; most of its values are near a limit."""
    globs = anchors.of(patterns(rng, rng.choice((100, 100, 101))))
    size = rng.choice((10, 10, 6_000, 900_000, 999_999, 1_000_000, 1_000_001))
    content = anchors.of(repeated(rng, FILL, size))
    alternatives = anchors.of([f"alt/{n}" for n in range(rng.choice((0, 20, 21)))])
    lines = ["extends: scaffold", f"exclude: {globs}", "files:", "  - path: first"]
    for number in range(rng.choice((1, 10, 11, 500, 3_000))):
        more = [f"path: f{number}"]
        if rng.random() < 0.7:
            more.append(f"content: {content}")
        if rng.random() < 0.3:
            more.append("template: true")
        if rng.random() < 0.1:
            more.append(f"alternatives: {alternatives}")
        lines.append(f"  - {{{', '.join(more)}}}")
    if rng.random() < 0.8:
        lines.append("rules:")
        when = condition(rng, anchors)
        for number in range(rng.choice((1, 3, 100, 101))):
            if rng.random() < 0.1:
                when = condition(rng, anchors)
            files = f"files: [{{path: r{number}, content: {content}}}]"
            lines.append(f"  - {{when: {{{when}}}, extends: health, exclude: {globs}, {files}}}")
    if rng.random() < 0.1:
        bomb = anchors.bomb(rng.choice((1, 2, 6)), rng.choice((3, 10, 100)))
        lines.append(f"name: {bomb}")
    return "\n".join([*anchors, *lines])


def broken(rng: random.Random, _anchors: Anchors) -> str:
    """Return text that is not a list: a long repetition between two odd parts."""
    before = rng.choice(
        ("- ", "- path: ", "a: ", "[", '- "', "- '", "- x:", "- |\n  ", "? ", "", "&")
    )
    after = rng.choice(("\n  a: b\n", "\n- b", "]", '"', "\n\tx: y", ": |\nz\n", "x", "\n}", "*a"))
    return before + repeated(rng, FILL + PIECES, rng.choice((100, 50_000, 900_000))) + after


@pytest.mark.matrix
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.chosen] if n < 2 else []) for n in range(RUNS)]
)
def test_whatever_is_at_its_limit(
    action: Action, host: StandInHost, number: int, seed: int
) -> None:
    rng = random.Random(f"{seed} {number}")
    for _ in range(3):
        name = repeated(rng, ("-", "a", "-a", ".", "_", "a-a"), rng.choice((1, 50, 100)))
        host.create_repository(f"octo-org/{name}{len(host.repositories)}", PRESENT)
    chosen = rng.choice(host.repositories)
    make = rng.choice((extended, extended, broken))
    listed = action.write("list.yml", make(rng, Anchors(rng)))
    given: dict[str, str | None] = {
        "definitions": listed,
        "commit_strategy": "single",
        "mode": "plan",
        "target_repo": chosen.full_name,
        "branch": rng.choice(("", "add/{repo}")),
        "language": rng.choice(("en", "ja")),
    }
    if rng.random() < 0.5:
        entries = [f"octo-org/{pattern(rng, OF_NAMES)}" for _ in range(rng.choice((1, 5, 100)))]
        # Linux does not allow longer environment variables
        selected = "\n".join(["octo-org/*", *entries])[:120_000]
        given |= {"target_repo": None, "target_repos": selected, "commit_strategy": None}
    environ = action.environment(given, runner=rng.random() < 0.5)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    run = action.end(action.begin(environ, first=limited), environ)
    assert run.exit_code in {0, 1, 2}, run.text
    assert only_reads(host)
    assert run.summary
    if run.exit_code == 2:
        assert run.annotations() or run.stderr
    if "definitions" in run.stderr and run.exit_code == 2:
        assert host.requests == []
