"""The promises hold with every answer that GitHub may give if nobody knows the real answer.

With every combination of such answers, nothing that exists is overwritten or called missing, and
nothing is written twice. When GitHub gives the recorded answers again, a further run finishes the
work. With a single odd answer about directories, a run creates the missing files, or says why it
does not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import pygit2
import pytest
from _pytest.mark import ParameterSet
from pygit2.enums import ObjectType

from tests.fakehub import (
    Fault,
    FaultKind,
    Quirks,
    Refusal,
    Repository,
    Request,
    StandInHost,
    Submodule,
    Symlink,
    raw,
)
from tests.fakehub.quirks import AfterRefusal, Unresolved
from tests.harness import (
    HEALTH_BRANCH,
    LIST_BRANCH,
    PER_FILE,
    SINGLE,
    TARGET,
    Action,
    Run,
    calls,
    mutations,
    refuse,
)

MANY = "many"
NAMES = ("octo/example", "octo/second")
"""The repositories of a run over many; other runs have only the first one."""
MOST_FOUND = 10_000
"""The size in bytes of the largest file that GraphQL finds. It is small, so that a test with a
larger file takes no time."""
OTHERWISE_USUAL = partial(Quirks, most_found=MOST_FOUND)
THERE: Mapping[str, Any] = {
    "README.md": b"x" * (MOST_FOUND + 1),
    "z-link.md": Symlink("README.md"),
    "z-module": Submodule("1" * 40),
    "docs/guide.md": b"theirs\n",
    "docs/日本語.md": b"theirs\n",
    "docs/deep/er.md": b"theirs\n",
    "file": b"a file\n",
    "large": b"y" * (MOST_FOUND + 1),
    "link": Symlink("docs"),
    "module": Submodule("2" * 40),
}
PRESENT = (
    *("README.md", "z-link.md", "z-module"),
    *("docs/guide.md", "docs/日本語.md", "docs/deep/er.md"),
)
BLOCKED = (
    *("file/below.md", "large/below.md", "module/below/it.md"),
    *("link/below.md", "link/guide.md", "link/deep/er.md"),
)
MISSING = ("NEW.md", "docs/new.md", "docs/deep/new.md", "none/at/all.md")
OURS = b"ours\n"
ALL_THREE = ("createRef", "createCommitOnBranch", "createPullRequest")
TYPES = ("UNPROCESSABLE", "FORBIDDEN", "NOT_FOUND", "STALE_DATA", "")


@dataclass
class Scene:
    """Repositories with an entry of each kind, and runs on them."""

    host: StandInHost
    action: Action
    way: str
    repositories: list[Repository] = field(init=False)

    def __post_init__(self) -> None:
        self.host.quirks = OTHERWISE_USUAL()
        names = NAMES if self.way == MANY else NAMES[:1]
        self.repositories = [self.host.create_repository(name, THERE) for name in names]

    @property
    def readings(self) -> int:
        """How often a run reads repositories; a run over many reads each one twice."""
        return len(self.repositories) * (2 if self.way == MANY else 1)

    def run(self) -> Run:
        """Run the action with the list, and return the result."""
        listed = dict.fromkeys((*PRESENT, *BLOCKED, *MISSING), OURS.decode())
        given = {"definitions": self.action.listing_of(listed), "language": "en"}
        if self.way == MANY:
            return self.action(given, target_repo=None, target_repos="\n".join(NAMES))
        return self.action(given, commit_strategy=self.way)

    def unfinished(self) -> list[str]:
        """Return the names of repositories that lack a file that could be created."""
        return [
            each.full_name
            for each in self.repositories
            if len(each.pull_requests) != 1
            or not set(MISSING) <= entries(each, each.head(each.pull_requests[0].head)).keys()
        ]


def entries(repository: Repository, commit: str) -> dict[str, tuple[str, int]]:
    """Return the id and the mode of the entry at every path of a commit."""
    tree = repository.commit_at(commit).tree
    return {
        path: (str(entry.id), int(entry.filemode))
        for path, entry in repository.walk(tree)
        if entry.type_str != "tree"
    }


def some(cases: Iterator[tuple[Any, ...]], chosen: int) -> list[ParameterSet]:
    """Return all cases; ``chosen`` random ones are marked as chosen."""
    every = list(cases)
    kept = set(random.Random(0).sample(range(len(every)), chosen))
    return [
        pytest.param(*case, marks=[pytest.mark.chosen] if number in kept else [])
        for number, case in enumerate(every)
    ]


# --- Reading ------------------------------------------------------------------------------


def readings() -> Iterator[tuple[Any, ...]]:
    """Yield the answers that GraphQL may give about paths and directories.

    Some of them are cut without a sign.
    """
    nothing = tuple(Unresolved)
    yield from product(nothing, nothing, (None, *nothing), (None, 3), (False, True))


@pytest.mark.matrix
@pytest.mark.parametrize("way", [SINGLE, MANY])
@pytest.mark.parametrize(("missing", "below", "hidden", "most", "odd_modes"), some(readings(), 3))
def test_whatever_is_answered_about_directories(
    host: StandInHost,
    action: Action,
    way: str,
    missing: Unresolved,
    below: Unresolved,
    hidden: Unresolved | None,
    most: int | None,
    odd_modes: bool,
) -> None:
    scene = Scene(host, action, way)
    host.quirks = OTHERWISE_USUAL(
        missing=missing,
        below_a_file=below,
        hidden_directories=hidden,
        most_entries=most,
        odd_modes=odd_modes,
    )
    run = scene.run()
    assert run.exit_code in ({0, 1, 2} if scene.way == MANY else {1, 2}), run.console
    finish(scene)


def finish(scene: Scene) -> None:
    """Let GitHub give the recorded answers again, and assert that a further run finishes."""
    scene.host.quirks = OTHERWISE_USUAL()
    scene.host.refused_mutations = {}
    scene.host.faults.clear()
    again = scene.run()
    assert scene.unfinished() == [], again.console


def is_below(method: str) -> Callable[[Request], bool]:
    """Return a function that recognises a read or a write below a file, a link or a submodule."""
    ends = tuple(f"/contents/{path}" for path in BLOCKED)
    return lambda request: request.method == method and request.path.endswith(ends)


def rest_answers() -> Iterator[tuple[Any, ...]]:
    """Yield the answers of REST to a read and to a write below a file, a link or a submodule."""
    file = {"type": "file", "path": "docs/guide.md", "sha": "1" * 40, "name": "guide.md"}
    reads = ((404, None), (422, None), (403, None), (200, file), (200, [file]), (302, None))
    yield from product(reads, (409, 422, 404, 403, 500))


@pytest.mark.matrix
@pytest.mark.parametrize(("read", "write"), some(rest_answers(), 2))
def test_whatever_rest_answers_below_what_is_no_directory(
    host: StandInHost, action: Action, read: tuple[int, Any], write: int
) -> None:
    scene = Scene(host, action, PER_FILE)
    status, body = read
    for method, answered, given in (("GET", status, body), ("PUT", write, None)):
        message = "Not Found" if answered == 404 else "Nobody knows"
        refuse(host, is_below(method), answered, message=message, body=given)
    scene.run()
    finish(scene)


# --- A single odd answer about directories ----------------------------------------------------

WORKS: Mapping[str, tuple[Mapping[str, Any], int]] = {
    "as recorded": ({}, 0),
    "cut at 2": ({"most_entries": 2}, 2),
    "cut at 0": ({"most_entries": 0}, 3),
    "odd modes": ({"odd_modes": True}, 3),
    **{f"below a file: {how.name}": ({"below_a_file": how}, 0) for how in Unresolved},
}
"""Quirks with which a run still does everything, each with the number of further listings that a
reading then needs."""


def done(scene: Scene) -> list[dict[str, str]]:
    """Return the outcome that each file must have, for each repository.

    Over many repositories, a blocked path fails nobody's run.
    """
    of_blocked = "nothing" if scene.way == MANY else "failed"
    outcomes = dict.fromkeys(PRESENT, "skipped") | dict.fromkeys(BLOCKED, of_blocked)
    return [outcomes | dict.fromkeys(MISSING, "created")] * len(scene.repositories)


def done_in_each(run: Run) -> list[dict[str, str]]:
    """Return the outcome of each file, for each repository."""
    rows = run.report["registrations"]
    return [{each["path"]: each["done"] for each in row["files"]} for row in rows]


def listings(host: StandInHost) -> int:
    """Return how many directories were listed through REST."""
    return sum("git/trees" in call for call in calls(host))


@pytest.fixture(params=[SINGLE, MANY])
def scene(request: pytest.FixtureRequest, host: StandInHost, action: Action) -> Scene:
    return Scene(host, action, request.param)


@pytest.mark.parametrize("name", WORKS)
def test_what_exists_is_left_alone_and_the_rest_is_created(
    host: StandInHost, scene: Scene, name: str
) -> None:
    switches, more = WORKS[name]
    host.quirks = OTHERWISE_USUAL(**switches)
    before = scene.repositories[0].files()
    run = scene.run()
    assert run.exit_code == (0 if scene.way == MANY else 1), run.console
    assert done_in_each(run) == done(scene)
    for repository in scene.repositories:
        assert repository.files(LIST_BRANCH) == before | dict.fromkeys(MISSING, OURS)
    assert listings(host) == more * scene.readings
    assert len(mutations(host)) == len(scene.repositories)


@pytest.mark.parametrize("how", Unresolved)
def test_an_answer_that_contradicts_itself_is_no_answer(
    host: StandInHost, scene: Scene, how: Unresolved
) -> None:
    host.quirks.hidden_directories = how
    run = scene.run()
    assert run.exit_code in {1, 2}, run.console
    assert "GitHub's answer about what the directories hold contradicts itself" in run.console
    assert not mutations(host)
    assert [each.branches for each in scene.repositories] == [["main"]] * len(scene.repositories)
    assert (run.outputs["created"], run.outputs["missing"]) == ("0", "0")


ODD_NAME = b"A\xe9.md"
"""A name that is not UTF-8, and that comes before all other names."""


@pytest.mark.parametrize("utf8", [False, True], ids=["raw", "replaced"])
def test_names_that_are_not_utf8_hide_nothing(host: StandInHost, scene: Scene, utf8: bool) -> None:
    host.quirks.raw_names_are_utf8 = utf8
    for repository in scene.repositories:
        add_odd_name(repository)
    assert done_in_each(scene.run()) == done(scene)
    for repository in scene.repositories:
        tree = repository.commit_at(repository.head(LIST_BRANCH)).tree
        assert ODD_NAME in [entry.raw_name for entry in tree]
    assert listings(host) == utf8 * scene.readings


def add_odd_name(repository: Repository) -> None:
    """Commit a file called `ODD_NAME` to the default branch.

    The tree is written as bytes, because other calls of pygit2 accept only UTF-8.
    """
    git = repository.own()
    head = repository.commit_at(repository.head())
    blob = git.create_blob(b"x\n")
    old = bytes(git[head.tree.id].read_raw())
    tree = git.odb.write(ObjectType.TREE, b"100644 %b\0%b" % (ODD_NAME, blob.raw) + old)
    who = pygit2.Signature("Somebody", "somebody@example.com")
    odd = git.create_commit(None, who, who, "Odd name", tree, [head.id])
    repository.person.create_branch("main", str(odd))


def test_a_listing_that_rest_cuts_too_ends_the_run(host: StandInHost, scene: Scene) -> None:
    host.quirks.most_entries = host.quirks.most_in_tree = 2
    run = scene.run()
    assert run.exit_code in {1, 2}, run.console
    assert "GitHub does not list all files of " in run.console
    assert [each.branches for each in scene.repositories] == [["main"]] * len(scene.repositories)
    assert run.outputs["missing"] == "0"


@pytest.mark.parametrize("most", [2, None])
def test_what_the_owner_has_is_proved_too(
    host: StandInHost, action: Action, most: int | None
) -> None:
    host.quirks.most_entries = most
    first = {f"A{number}": b"x\n" for number in range(3)}
    host.create_repository("octo/.github", {**first, "SUPPORT.md": b"x\n"})
    repository = host.create_repository(TARGET, {"README.md": b"x\n"})
    run = action(
        commit_strategy="single", profile="health", respect_alternatives="true", language="en"
    ).or_fail()
    assert run.outputs["created"] == "6"
    assert ".github/SUPPORT.md" not in repository.files(HEALTH_BRANCH)


def large_answer() -> Iterator[bytes | float]:
    """Send an answer with more values than allowed."""
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


# --- Writing ------------------------------------------------------------------------------


def refusals() -> Iterator[tuple[Any, ...]]:
    """Yield which of the three mutations are refused, the type of the error, and two quirks."""
    sets = [
        tuple(name for name, is_in in zip(ALL_THREE, each, strict=True) if is_in)
        for each in product((False, True), repeat=3)
        if any(each)
    ]
    yield from product(sets, TYPES, AfterRefusal, (False, True))


@pytest.mark.matrix
@pytest.mark.parametrize("way", [SINGLE, MANY])
@pytest.mark.parametrize(("refused", "kind", "after", "empty"), some(refusals(), 3))
def test_however_mutations_are_refused(
    host: StandInHost,
    action: Action,
    way: str,
    refused: tuple[str, ...],
    kind: str,
    after: AfterRefusal,
    empty: bool,
) -> None:
    scene = Scene(host, action, way)
    host.quirks = OTHERWISE_USUAL(after_refusal=after, empty_payloads=empty)
    refusal = Refusal(422, "Nobody knows", kind=kind)
    host.refused_mutations = dict.fromkeys(refused, refusal)
    run = scene.run()
    assert run.exit_code in ({0, 1, 2} if scene.way == MANY else {1, 2}), run.console
    finish(scene)
