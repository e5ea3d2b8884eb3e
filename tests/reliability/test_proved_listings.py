"""`single` calls only missing paths missing, for every answer of GitHub about directories.

Each switch of the stand-in is an answer that is recorded only in part, or not at all. Under each of
them what exists is neither overwritten nor called missing, and what is missing is created, or the
run says why not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pygit2
import pytest
from pygit2.enums import ObjectType

from tests.fakehub import (
    Fault,
    FaultKind,
    Quirks,
    Repository,
    Request,
    StandInHost,
    Submodule,
    Symlink,
    raw,
)
from tests.fakehub.quirks import Unresolved
from tests.harness import (
    HEALTH_BRANCH,
    LIST_BRANCH,
    TARGET,
    Action,
    Run,
    calls,
    mutations,
    queries,
)

FILLING = {f"z{number:04}": b"x\n" for number in range(110)}
THERE: Mapping[str, Any] = {
    "README.md": b"x" * 11_000,
    "LICENSE": b"theirs\n",
    "z-link.md": Symlink("README.md"),
    "z-module": Submodule("1" * 40),
    "docs/guide.md": b"theirs\n",
    "docs/日本語.md": b"theirs\n",
    "docs/deep/er.md": b"theirs\n",
    "file": b"a file\n",
    "link": Symlink("docs"),
    "module": Submodule("2" * 40),
    **FILLING,
    **{f"docs/{name}": content for name, content in FILLING.items()},
}
PRESENT = (
    "README.md",
    "LICENSE",
    "z-link.md",
    "z-module",
    "docs/guide.md",
    "docs/日本語.md",
    "docs/deep/er.md",
    "docs/z0109",
)
BLOCKED = ("file/below.md", "link/guide.md", "link/deep/er.md", "module/below/it.md")
MISSING = ("NEW.md", "docs/new.md", "docs/deep/new.md", "none/at/all.md")


def cut_at(most: int) -> Callable[[Quirks], None]:
    return lambda quirks: setattr(quirks, "most_entries", most)


def below(how: Unresolved) -> Callable[[Quirks], None]:
    return lambda quirks: setattr(quirks, "below_a_file", how)


def hidden(how: Unresolved) -> Callable[[Quirks], None]:
    return lambda quirks: setattr(quirks, "hidden_directories", how)


def odd_modes(quirks: Quirks) -> None:
    quirks.odd_modes = True


def as_recorded(_: Quirks) -> None:
    """What is recorded, and nothing else."""


WORKS: dict[str, tuple[Callable[[Quirks], None], int]] = {
    "as recorded": (as_recorded, 0),
    "cut at 30": (cut_at(30), 2),
    "cut at 100": (cut_at(100), 2),
    "cut at 0": (cut_at(0), 3),
    "odd modes": (odd_modes, 3),
    **{f"below a file: {how.name}": (below(how), 0) for how in Unresolved},
}
"""Answers under which everything is done, and the requests that they take more."""
REFUSED = {f"hidden directory: {how.name}": hidden(how) for how in Unresolved}


@pytest.fixture
def repository(host: StandInHost) -> Repository:
    host.quirks.most_found = 10_000
    return host.create_repository(TARGET, THERE)


@pytest.fixture(params=["single", "many"])
def start(request: pytest.FixtureRequest, action: Action) -> Callable[[], Run]:
    """Register everything, in one repository or as one of many."""
    listed = action.listing_of(dict.fromkeys((*PRESENT, *BLOCKED, *MISSING), "ours\n"))
    if request.param == "single":
        return lambda: action(commit_strategy="single", definitions=listed, language="en")
    return lambda: action(target_repo=None, target_repos=TARGET, definitions=listed, language="en")


@pytest.mark.parametrize("name", WORKS)
def test_what_exists_is_left_alone_and_the_rest_is_created(
    host: StandInHost, repository: Repository, start: Callable[[], Run], name: str
) -> None:
    setting, more = WORKS[name]
    setting(host.quirks)
    before, modes = repository.files(), repository.modes()
    run = start()
    assert run.exit_code == 1, run.console
    states = {each["path"]: each["done"] for each in run.registration["files"]}
    assert {path for path, state in states.items() if state == "skipped"} == set(PRESENT)
    assert {path for path, state in states.items() if state == "failed"} == set(BLOCKED)
    assert repository.files(LIST_BRANCH) == before | dict.fromkeys(MISSING, b"ours\n")
    assert modes.items() <= repository.modes(LIST_BRANCH).items()
    trees = [call for call in calls(host) if "git/trees" in call]
    readings = len(queries(host))
    assert readings == (2 if "many" in run.report else 1)
    assert (len(trees), len(mutations(host))) == (more * readings, 1)


@pytest.mark.parametrize("name", REFUSED)
def test_an_answer_that_contradicts_itself_is_no_answer(
    host: StandInHost, repository: Repository, start: Callable[[], Run], name: str
) -> None:
    REFUSED[name](host.quirks)
    run = start()
    assert run.exit_code in {1, 2}, run.console
    assert "GitHub's answer about what the directories hold contradicts itself" in run.console
    assert not mutations(host)
    assert repository.branches == ["main"]
    assert (run.outputs["created"], run.outputs["missing"]) == ("0", "0")


@pytest.mark.parametrize("utf8", [False, True], ids=["raw", "replaced"])
def test_names_that_are_not_utf8_hide_nothing(
    host: StandInHost, action: Action, start: Callable[[], Run], utf8: bool
) -> None:
    host.quirks.raw_names_are_utf8 = utf8
    repository = host.create_repository(TARGET, {"docs/guide.md": b"theirs\n"})
    add_name(repository, b"caf\xe9.md")
    run = start()
    assert run.exit_code == 0, run.console
    states = {each["path"]: each["done"] for each in run.registration["files"]}
    assert states["docs/guide.md"] == "skipped"
    assert states["NEW.md"] == "created"
    names = [entry.raw_name for entry in tree_of(repository, LIST_BRANCH)]
    assert b"caf\xe9.md" in names
    trees = [call for call in calls(host) if "git/trees" in call]
    assert len(trees) == (len(queries(host)) if utf8 else 0)


def test_a_listing_that_rest_cuts_too_ends_the_run(
    host: StandInHost, repository: Repository, start: Callable[[], Run]
) -> None:
    host.quirks.most_entries = 30
    host.quirks.most_in_tree = 100
    run = start()
    assert run.exit_code in {1, 2}, run.console
    assert "GitHub does not list all files of " in run.console
    assert repository.branches == ["main"]
    assert run.outputs["missing"] == "0"


@pytest.mark.parametrize("most", [30, None])
def test_what_the_owner_has_is_proved_too(
    host: StandInHost, action: Action, most: int | None
) -> None:
    host.quirks.most_entries = most
    first = {f"A{number:04}": b"x\n" for number in range(110)}
    host.create_repository("octo/.github", {**first, "SUPPORT.md": b"x\n"})
    repository = host.create_repository(TARGET, {"README.md": b"x\n"})
    run = action(
        commit_strategy="single", profile="health", respect_alternatives="true", language="en"
    )
    assert run.exit_code == 0, run.console
    assert run.outputs["created"] == "6"
    assert ".github/SUPPORT.md" not in repository.files(HEALTH_BRANCH)


def large_answer() -> Iterator[bytes | float]:
    """More values than an answer may have."""
    body = b"[" + b"[]," * 700_000 + b"[]]"
    yield raw.head(f"Content-Length: {len(body)}")
    yield body


@pytest.mark.parametrize("many", [False, True], ids=["single", "many"])
def test_a_query_whose_answer_is_too_large_is_asked_in_parts(
    host: StandInHost, action: Action, many: bool
) -> None:
    paths = [f"{number}/x" for number in range(8)]
    names = [f"octo/{name}" for name in "abcd"]
    repositories = [host.create_repository(name, {paths[0]: b"x\n"}) for name in names]

    def is_large(request: Request) -> bool:
        given = request.fields.get("variables", {})
        directories = sum(1 for name in given if name.startswith("p"))
        return directories * len(given.get("ids", "1")) > 5

    host.faults.add(Fault(FaultKind.RAW, match=is_large, times=None, script=large_answer))
    listed = action.listing_of(dict.fromkeys(paths, "ours\n"))
    if many:
        run = action(target_repo=None, target_repos="\n".join(names), definitions=listed)
    else:
        run = action(target_repo=names[0], commit_strategy="single", definitions=listed)
    assert run.exit_code == 0, run.console
    done = repositories if many else repositories[:1]
    for repository in done:
        assert set(repository.files(LIST_BRANCH)) == set(paths)
        assert repository.files(LIST_BRANCH)[paths[0]] == b"x\n"


def tree_of(repository: Repository, branch: str) -> Iterator[pygit2.Object]:
    return iter(repository.commit_at(repository.head(branch)).tree)


def add_name(repository: Repository, name: bytes) -> None:
    """Commit a file with this name to the default branch: pygit2's own calls take UTF-8 alone."""
    git = repository.own()
    head = repository.commit_at(repository.head())
    blob = git.create_blob(b"x\n")
    old = bytes(git[head.tree.id].read_raw())
    tree = git.odb.write(ObjectType.TREE, b"100644 %b\0%b" % (name, blob.raw) + old)
    who = pygit2.Signature("Somebody", "somebody@example.com")
    git.create_commit("refs/heads/main", who, who, "Odd name", tree, [head.id])
