"""The oracle sees a broken promise, and only then. All other tests rely on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from tests import promises
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import ROOT, SINGLE, TARGET, Action
from tests.promises import Told

BODY = "<!-- registrar:begin -->\n<!-- registrar:list abc -->\n<!-- registrar:end -->"
Damage = Callable[[Repository], object]


def propose(repository: Repository, branch: str = BRANCH, **files: bytes) -> None:
    """Let an earlier run open a pull request."""
    ours = repository.as_registrar
    ours.create_branch(branch, "main")
    ours.commit({f"{name}.md": text for name, text in files.items()}, branch=branch)
    ours.open_pull_request(head=branch, body=BODY)


def proposed(*acts: Damage) -> Damage:
    """Return acts that follow the opening of a pull request."""

    def act(repository: Repository) -> None:
        propose(repository, a=b"A\n")
        for each in acts:
            each(repository)

    return act


def again(repository: Repository) -> None:
    propose(repository, f"{BRANCH}-2", a=b"A\n")


WORLDS: Mapping[str, tuple[str, Damage]] = {
    "it only proposes": ("", proposed()),
    "its own file is updated": (
        "",
        proposed(lambda it: it.as_registrar.commit({"a.md": b"B\n"}, branch=BRANCH)),
    ),
    "a file of somebody is replaced": (
        f"a run replaced a.md on {BRANCH}",
        proposed(
            lambda it: it.person.commit({"a.md": b"mine\n"}, branch=BRANCH),
            lambda it: it.as_registrar.commit({"a.md": b"A\n"}, branch=BRANCH),
        ),
    ),
    "a file of somebody is deleted": (
        f"a run deleted README.md on {BRANCH}",
        proposed(lambda it: it.as_registrar.commit({"README.md": None}, branch=BRANCH)),
    ),
    "the default branch is written to": (
        "a run wrote to main",
        lambda it: it.as_registrar.commit({"a.md": b"A\n"}),
    ),
    "the base branch is written to": (
        "a run wrote to docs",
        proposed(
            lambda it: it.person.create_branch("docs"),
            lambda it: it.person.edit(1, base="docs"),
            lambda it: it.as_registrar.commit({"a.md": b"A\n"}, branch="docs"),
        ),
    ),
    "a branch is deleted": (
        f"a run deleted the branch {BRANCH}",
        proposed(lambda it: it.as_registrar.delete_branch(BRANCH)),
    ),
    "a commit changes nothing": (
        "which changes nothing",
        proposed(lambda it: it.as_registrar.commit({"a.md": b"A\n"}, branch=BRANCH)),
    ),
    "a branch of somebody is written to": (
        "a run wrote to mine, which has the work of somebody: ['mine.txt']",
        lambda it: (
            it.person.create_branch("mine"),
            it.person.commit({"mine.txt": b"mine\n"}, branch="mine"),
            it.as_registrar.commit({"a.md": b"A\n"}, branch="mine"),
        ),
    ),
    "the work of somebody is closed": (
        "a run closed #1, which has the work of somebody: ['mine.txt']",
        proposed(
            lambda it: it.person.commit({"mine.txt": b"mine\n"}, branch=BRANCH),
            lambda it: it.as_registrar.close(1),
        ),
    ),
    "a closed pull request is reopened": (
        "a run reopened #1, which somebody had closed",
        proposed(lambda it: it.person.close(1), lambda it: it.as_registrar.reopen(1)),
    ),
    "a second pull request is opened": (
        "#2 was opened while #1 was open",
        proposed(again),
    ),
    "another one is opened after a merge": (
        "",
        proposed(lambda it: it.person.merge(1), lambda it: propose(it, f"{BRANCH}-2", b=b"B\n")),
    ),
    "a declined file is proposed again": (
        "#2 proposes a.md, which somebody declined in #1",
        proposed(lambda it: it.person.close(1), again),
    ),
    "a withdrawn file is proposed again": (
        "",
        proposed(lambda it: it.as_registrar.close(1), again),
    ),
    "a deleted file comes back": (
        "#1 proposes a.md, which somebody declined in #1",
        proposed(
            lambda it: it.person.commit({"a.md": None}, branch=BRANCH),
            lambda it: it.as_registrar.commit({"a.md": b"A\n"}, branch=BRANCH),
        ),
    ),
    "a person adds a deleted file again": (
        "",
        proposed(
            lambda it: it.person.commit({"a.md": None}, branch=BRANCH),
            lambda it: it.person.commit({"a.md": b"A\n"}, branch=BRANCH),
            lambda it: it.as_registrar.commit({"b.md": b"B\n"}, branch=BRANCH),
        ),
    ),
}


@pytest.mark.parametrize(("words", "damage"), WORLDS.values(), ids=WORLDS)
def test_a_broken_promise_about_a_world_is_seen(words: str, damage: Damage) -> None:
    with StandInHost() as host:
        damage(host.create_repository(TARGET))
        found = [*promises.of_world(host)]
    assert len(found) == bool(words), found
    assert words in "".join(found)


def of(name: str, old: str, new: str) -> Callable[[Told], Told]:
    """Return a change of one text of a run."""

    def change(told: Told) -> Told:
        text = told.kept.get(name) or getattr(told, name)
        assert old in text, text
        text = text.replace(old, new)
        if name in told.kept:
            return replace(told, kept={**told.kept, name: text})
        return replace(told, **{name: text})  # type: ignore[arg-type]

    return change


TEXTS: Mapping[str, tuple[str, Callable[[Told], Told]]] = {
    "nothing": ("", lambda told: told),
    "a count of the summary": (
        "the summary counts {'created': 3}",
        of("summary", "| Created | 2 |", "| Created | 3 |"),
    ),
    "a count of the log": (
        "the log counts {'skipped': 0}",
        of("stdout", "Skipped: 1", "Skipped: 0"),
    ),
    "the exit code": ("the exit code is 1", lambda told: replace(told, exit_code=1)),
    "a number": ("/pull/1 #7", of("summary", "[#1](", "[#7](")),
    "a state of the table": (
        "the table has no row of a.md, proposed",
        of("table", '"a.md","proposed"', '"a.md","to create"'),
    ),
    "a link of the page": ("the page links", of("page", "/pull/1", "/pull/2")),
    "a tile of the page": (
        "the tiles of the page count",
        of("page", "<strong>2</strong>", "<strong>3</strong>"),
    ),
    "a token in the table": (
        "table shows a secret",
        lambda told: of("table", "a.md", told.token)(told),
    ),
    "no annotation": (
        "the annotation of an error is False",
        lambda told: replace(
            told, report=None, exit_code=1, environ={**told.environ, "GITHUB_ACTIONS": "true"}
        ),
    ),
    "the distance of two writes": (
        "two writes have a distance of 0.5 seconds",
        lambda told: replace(
            told, moments=(1, 2, 2.5), environ={**told.environ, "INPUT_TARGET_REPOS": "x"}
        ),
    ),
    "a number of the log": ("is followed by", of("stdout", "[2/3] b.md", "[3/3] b.md")),
    "a raw character": ("log has the raw character", of("stdout", "a.md", "a\x1b.md")),
    "a document": (
        "log links to docs/none.md#at-all",
        of("stdout", "Created", "→ docs/none.md#at-all\nCreated"),
    ),
}


@pytest.mark.parametrize(("words", "change"), TEXTS.values(), ids=TEXTS)
def test_a_broken_promise_about_a_run_is_seen(
    action: Action, host: StandInHost, words: str, change: Callable[[Told], Told]
) -> None:
    host.create_repository(TARGET)
    given = {"definitions": action.listing("a.md", "b.md", "README.md"), "language": "en"}
    action(given, commit_strategy=SINGLE, env=action.keeping).or_fail()
    [told] = promises.RUNS[host]
    promises.RUNS[host] = [changed := change(told)]
    found = [*promises.of_run(host, changed, [])]
    assert bool(found) == bool(words), found
    assert words in "".join(found)


def edit(told: Told, repository: Repository) -> list[Told]:
    body = (repository.pull_request(1).body or "").replace("| added |", "| kept |")
    repository.as_registrar.edit(1, body=body)
    return [replace(told, ended=told.ended + 1)]


def close(told: Told, repository: Repository) -> list[Told]:
    repository.as_registrar.close(1)
    return [replace(told, began=told.ended, ended=told.ended + 1)]


def decline(told: Told, _repository: Repository) -> list[Told]:
    report = {
        **told.registrations[0],
        "files": [{"path": "a.md", "standing": "declined", "done": ""}],
    }
    return [told, replace(told, report={**told.report, "registrations": [report]})]


SAID: Mapping[str, tuple[str, Callable[[Told, Repository], list[Told]]]] = {
    "what is true": ("", lambda told, _: [told]),
    "that nobody needs what it adds": ("a run closed #1 as needless, which adds ['a.md']", close),
    "in a description, that a file is not added": ("#1 says of a.md 'kept', and adds", edit),
    "twice that it created a file": (
        "2 runs call a.md created, 1 did that",
        lambda told, _: [told, told],
    ),
    "that somebody has declined a file": (
        "a.md is called declined, and nobody has declined it",
        decline,
    ),
}


@pytest.mark.parametrize(("words", "damage"), SAID.values(), ids=SAID)
def test_a_run_that_says_something_wrong_is_seen(
    action: Action,
    host: StandInHost,
    words: str,
    damage: Callable[[Told, Repository], list[Told]],
) -> None:
    repository = host.create_repository(TARGET)
    action({"definitions": action.listing("a.md"), "language": "en"}).or_fail()
    [told] = promises.RUNS[host]
    promises.RUNS[host] = damage(told, repository)
    found = [*promises.of_world(host)]
    promises.RUNS[host].clear()
    assert len(found) == bool(words), found
    assert words in "".join(found)


@pytest.mark.parametrize(
    ("but", "words"), [("limit-none", "has no limit"), ("limit-room", "does not matter")]
)
def test_a_limit_that_is_unknown_or_not_needed_fails(but: str, words: str) -> None:
    with (
        StandInHost() as host,
        pytest.raises(AssertionError, match=words),
        promises.kept(host, but),
    ):
        propose(host.create_repository(TARGET), a=b"A\n")


UNTOLD = {
    "limit-room": "it has no room for files, and breaks no promise about a world",
    "limit-ten": "a story of declined files has it; without its record, nobody knows whose it is",
    "limit-versions": "each run has to look between two requests of the other one",
    "limit-opening": "the moment between two requests of one run; the model of the planning has it",
    "limit-killed": "two killed runs; whole runs reach it",
    "limit-early": "a count that only lasts until the next run",
    "limit-meanwhile": "a count that only lasts until the pull request is reopened",
}
"""The known limits that no row names, each with the reason."""


def test_each_known_limit_has_a_row_that_needs_it() -> None:
    texts = (file.read_text("utf-8") for file in (ROOT / "tests").rglob("*.py"))
    named = {each for text in texts for each in re.findall(r'but[=(]"(limit-[\w-]+)"', text)}
    limits = {*promises.LIMIT.findall((ROOT / "docs/concepts.md").read_text("utf-8"))}
    without = limits - named
    assert without == UNTOLD.keys(), f"write a row with but= for {without ^ UNTOLD.keys()}"
