"""Lists full of markup, commands and odd characters: what is shown of them stays text."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from registrar.errors import InvalidInput
from registrar.lists import loading
from registrar.runtime.workspace import Folder
from tests.fakehub import StandInHost
from tests.gfm import only_ours
from tests.harness import TARGET, Action, Start

RUNS = 150
FRAGMENTS = (
    *("a", "b.md", "docs", " ", ".", "-", "_", "*", "`", "```", "~~", "|", "||", "\\", "&", "&lt;"),
    *("<b>", "</code>", "</details>", "<!-- ", "-->", "<img src=x onerror=alert(1)>", "<script>"),
    *("[x](http://evil.example)", "![x](//evil.example)", "[x][y]", "[^1]", "http://evil.example"),
    *("www.evil.example", "a@b.cd", "mailto:a@b.cd", "xmpp:a@b.cd", "@octo", "@everyone", "#1"),
    *("GH-1", "octo/x#1", "::error::owned", "##[error]owned", "%0A", "{count}", "${{ github.x }}"),
    *(
        "$(id)",
        "\u202e",
        "\u200b",
        "\ufeff",
        "日本語",
        "é",
        "😀",
        "$x$",
        "$$",
        ":+1:",
        "- [ ] ",
        "> ",
    ),
    *(
        "> ",
        "- [ ] ",
        "# ",
        "1. ",
        "---",
        "===",
        "    ",
        "\t",
        "skip-checks: true",
        "[skip ci]",
        "Fixes #1",
    ),
)
NEW_LINES = ("\n", "\r\n", "\r", "\n\n", "\u2028")


def text(rng: random.Random, *, lines: bool = False) -> str:
    """Anything that means something somewhere."""
    known = (*FRAGMENTS, *NEW_LINES) if lines else FRAGMENTS
    return "".join(rng.choice(known) for _ in range(rng.randrange(1, 8)))


def entry(rng: random.Random) -> Mapping[str, str]:
    path = "/".join(text(rng).replace("/", "∕") for _ in range(rng.choice((1, 1, 2))))
    return {
        "path": path,
        "description": text(rng),
        "content": text(rng, lines=True),
    }


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
    assert "Unexpected error" not in run.console, run.console
    only_ours(run.summary)
    for pull in repository.pull_requests:
        only_ours(pull.body or "")
    assert repository.branches in ([branch], sorted([branch, run.outputs["branch"]]))


def is_good(action: Action, entry: Mapping[str, str]) -> bool:
    """Whether a list of this entry alone is accepted: most are to get as far as GitHub."""
    action.listing(entry, name="one.json")
    try:
        loading.load(Folder(action.workspace), "one.json")
    except InvalidInput:
        return False
    return True
