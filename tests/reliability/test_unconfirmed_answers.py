"""The promises under every answer that GitHub may give where nobody knows which one it gives.

Whatever the combination: nothing that exists is overwritten or called missing, nothing is written
twice, and once GitHub answers as recorded again, a further run finishes the work.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from tests.fakehub import (
    Quirks,
    Refusal,
    Repository,
    Request,
    StandInHost,
    Submodule,
    Symlink,
)
from tests.fakehub.quirks import AfterRefusal, Unresolved
from tests.harness import LIST_BRANCH, PER_FILE, SINGLE, Action, Run, refuse

MANY = "many"
NAMES = ("octo/example", "octo/second")
"""In a run over many; the first one alone otherwise."""
MOST_FOUND = 10_000
"""Bytes of a file that GraphQL finds: so few that reading a larger one takes no time."""
OTHERWISE_USUAL = partial(Quirks, most_found=MOST_FOUND)
THERE: Mapping[str, Any] = {
    "README.md": b"x" * (MOST_FOUND + 1),
    "z-link.md": Symlink("README.md"),
    "z-module": Submodule("1" * 40),
    "docs/guide.md": b"theirs\n",
    "file": b"a file\n",
    "large": b"y" * (MOST_FOUND + 1),
    "link": Symlink("docs"),
    "module": Submodule("2" * 40),
}
PRESENT = ("README.md", "z-link.md", "z-module", "docs/guide.md")
BLOCKED = ("file/below.md", "large/below.md", "link/below.md", "module/below/it.md")
MISSING = ("NEW.md", "docs/new.md", "none/at/all.md")
OURS = b"ours\n"
ALL_THREE = ("createRef", "createCommitOnBranch", "createPullRequest")
TYPES = ("UNPROCESSABLE", "FORBIDDEN", "NOT_FOUND", "STALE_DATA", "")


@dataclass
class Scene:
    """Repositories that have something of each kind, and runs on them."""

    host: StandInHost
    action: Action
    way: str
    repositories: list[Repository] = field(init=False)

    def __post_init__(self) -> None:
        self.host.quirks = OTHERWISE_USUAL()
        names = NAMES if self.way == MANY else NAMES[:1]
        self.repositories = [self.host.create_repository(name, THERE) for name in names]

    def run(self) -> Run:
        """Register the list."""
        listed = dict.fromkeys((*PRESENT, *BLOCKED, *MISSING), OURS.decode())
        given = {"definitions": self.action.listing_of(listed), "language": "en"}
        if self.way == MANY:
            return self.action(given, target_repo=None, target_repos="\n".join(NAMES))
        return self.action(given, commit_strategy=self.way)

    def broken(self, run: Run) -> list[str]:
        """Say which promise a run has broken: none, when it is right."""
        found = []
        for each in self.repositories:
            found += [f"{each.full_name}: {what}" for what in self._broken_in(each)]
        for registration in run.report["registrations"]:
            for file in registration["files"]:
                if file["path"] in PRESENT and file["done"] not in {"skipped", "unknown"}:
                    found.append(f"{file['path']} is {file['state']}")
        return found

    def _broken_in(self, repository: Repository) -> Iterator[str]:
        first = repository.log("main")[-1].sha
        before = entries(repository, first)
        for branch in repository.branches:
            after = entries(repository, repository.head(branch))
            for path in before:
                if after.get(path) != before[path]:
                    yield f"{branch} has another {path}"
            if extra := after.keys() - before.keys() - set(MISSING):
                yield f"{branch} has {sorted(extra)}"
            made = [path for commit in repository.log(branch)[:-1] for path in commit.paths]
            if len(made) != len(set(made)):
                yield f"{branch} was written twice: {made}"
        if repository.head("main") != first:
            yield "the default branch moved"
        if len([pull for pull in repository.pull_requests if pull.state == "open"]) > 1:
            yield "two pull requests are open"

    def unfinished(self) -> list[str]:
        """Name the repositories that lack something that can be done."""
        return [
            each.full_name
            for each in self.repositories
            if len(each.pull_requests) != 1
            or not set(MISSING) <= entries(each, each.head(each.pull_requests[0].head)).keys()
        ]


def entries(repository: Repository, commit: str) -> dict[str, tuple[str, int]]:
    """Every path of a commit with the id and the mode of what is there."""
    tree = repository.commit_at(commit).tree
    return {
        path: (str(entry.id), int(entry.filemode))
        for path, entry in repository.walk(tree)
        if entry.type_str != "tree"
    }


def some(cases: Iterator[tuple[Any, ...]], chosen: int) -> list[ParameterSet]:
    """All of them; so many, spread over all, are among those of each change."""
    every = list(cases)
    kept = set(random.Random(0).sample(range(len(every)), chosen))
    return [
        pytest.param(*case, marks=[pytest.mark.chosen] if number in kept else [])
        for number, case in enumerate(every)
    ]


# --- Reading ------------------------------------------------------------------------------


def readings() -> Iterator[tuple[Any, ...]]:
    """What GraphQL may answer about paths and directories; some are cut without a sign."""
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
    assert run.exit_code in {1, 2}, run.console
    assert scene.broken(run) == []
    finish(scene)


def finish(scene: Scene) -> None:
    """GitHub answers as recorded again: a further run does what is left."""
    scene.host.quirks = OTHERWISE_USUAL()
    scene.host.refused_mutations = {}
    scene.host.faults.clear()
    again = scene.run()
    assert scene.broken(again) == []
    assert scene.unfinished() == [], again.console


def is_below(method: str) -> Callable[[Request], bool]:
    """Whether a path below something that is no directory is read, or written."""
    ends = tuple(f"/contents/{path}" for path in BLOCKED)
    return lambda request: request.method == method and request.path.endswith(ends)


def rest_answers() -> Iterator[tuple[Any, ...]]:
    """What REST may answer below a file, a link or a submodule: to a read, and to a write."""
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
    run = scene.run()
    assert scene.broken(run) == []
    finish(scene)


# --- Writing ------------------------------------------------------------------------------


def refusals() -> Iterator[tuple[Any, ...]]:
    """Which of the three mutations are refused, with what type, and what that means."""
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
    assert run.exit_code in {1, 2}, run.console
    assert scene.broken(run) == []
    finish(scene)


# --- The test itself ----------------------------------------------------------------------

Damage = Callable[[Repository], object]
DAMAGE: Mapping[str, Damage] = {
    "overwritten": lambda r: r.commit({"docs/guide.md": OURS}, branch=LIST_BRANCH),
    "link replaced": lambda r: r.commit({"z-link.md": OURS}, branch=LIST_BRANCH),
    "another file": lambda r: r.commit({"what.md": OURS}, branch=LIST_BRANCH),
    "written twice": lambda r: (
        r.commit({"NEW.md": b"1"}, branch=LIST_BRANCH),
        r.commit({"NEW.md": OURS}, branch=LIST_BRANCH),
    ),
    "default branch": lambda r: r.commit({"NEW.md": OURS}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_broken_promise_is_seen(host: StandInHost, action: Action, name: str) -> None:
    scene = Scene(host, action, SINGLE)
    run = scene.run()
    assert (scene.broken(run), scene.unfinished()) == ([], [])
    DAMAGE[name](scene.repositories[0])
    assert scene.broken(run)
