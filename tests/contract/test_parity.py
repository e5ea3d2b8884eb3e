"""One repository and many, both strategies, plan and register: they decide and do the same.

Each state of the table in docs/concepts.md is made once for each way of running. A run with
`register` does what the plan before it has announced. All ways leave the same branches and pull
requests behind, these are the right ones, and nothing else is written to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

from tests.example import PRESENT
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import PER_FILE, SINGLE, Action, Run

SECOND, THIRD = f"{BRANCH}-2", f"{BRANCH}-3"
MANY = "many"
WAYS = (PER_FILE, SINGLE, MANY)
FILES = ("a.md", "b.md")
AUTHOR = ("A", "a@example.com")


class Scene(NamedTuple):
    """A repository of its own for one way of running."""

    action: Action
    repository: Repository
    way: str

    def run(self, *paths: str, name: str = "list.json", **more: str) -> Run:
        """Run with a list of these paths."""
        listed = self.action.listing(*(paths or FILES), name=name)
        given = {"language": "en", "definitions": listed, **more}
        if self.way == MANY:
            return self.action(given, target_repos=self.repository.full_name)
        given["commit_strategy"] = self.way
        return self.action(given, target_repo=self.repository.full_name)

    def take(self, branch: str = BRANCH) -> None:
        """Let somebody work on a branch."""
        self.repository.create_branch(branch)
        self.repository.commit({"mine.txt": b"mine\n"}, branch=branch, author=AUTHOR)

    def leave(self, *paths: str) -> None:
        """Leave a branch as an interrupted run does."""
        self.repository.create_branch(BRANCH)
        for path in paths:
            self.repository.commit({path: b"\n"}, branch=BRANCH)


State = Callable[[Scene], object]


def _closed(scene: Scene, *, delete: bool) -> None:
    scene.run()
    scene.repository.close(1)
    if delete:
        scene.repository.delete_branch(BRANCH)


def _closed_under_a_later_name(scene: Scene) -> None:
    scene.take()
    scene.run()
    scene.repository.close(1)
    scene.repository.delete_branch(BRANCH)


def _open_under_a_later_name(scene: Scene) -> None:
    scene.take()
    scene.run()
    scene.repository.delete_branch(BRANCH)


def _closed_before_a_rename(scene: Scene) -> None:
    _closed(scene, delete=True)
    scene.repository.create_branch("trunk")
    scene.repository.default_branch = "trunk"


def _grown(scene: Scene, *, close: bool) -> None:
    scene.run("a.md")
    if close:
        scene.repository.close(1)


def _without_a_file(scene: Scene) -> None:
    scene.run()
    scene.repository.commit({"b.md": None}, branch=BRANCH, author=AUTHOR)


def _merged_without_a_file(scene: Scene) -> None:
    _without_a_file(scene)
    scene.repository.merge(1)


def _merged_and_deleted(scene: Scene) -> None:
    scene.run()
    scene.repository.merge(1)
    scene.repository.commit({"b.md": None})


def _rewritten(scene: Scene) -> None:
    base = scene.repository.head()
    scene.run()
    scene.repository.create_branch(BRANCH, base)
    scene.repository.commit({"a.md": b"\n"}, branch=BRANCH, author=AUTHOR)


def _withdrawn(scene: Scene, then: str = "") -> None:
    base = scene.repository.head()
    (_without_a_file if then == "without a file" else Scene.run)(scene)
    scene.run(mode="withdraw")
    if then == "delete":
        scene.repository.delete_branch(BRANCH)
    if then == "rewrite":
        scene.repository.create_branch(BRANCH, base)
    if then == "close again":
        scene.repository.reopen(1)
        scene.run()
        scene.repository.close(1)


def _held_from_its_beginning(scene: Scene, *, is_ours: bool) -> None:
    """The branch was made while the default branch had a file that was deleted there since."""
    scene.repository.commit({"a.md": b"\n"})
    if is_ours:
        scene.run()
    else:
        scene.leave("b.md")
    scene.repository.commit({"a.md": None})


def _opened_by_hand(scene: Scene, *, then: str = "") -> None:
    scene.leave("a.md")
    scene.repository.open_pull_request(head=BRANCH, base="main", body="By hand.")
    if then == "close":
        scene.repository.close(1)


def _taken_with_pull_request(scene: Scene) -> None:
    scene.take()
    scene.repository.open_pull_request(head=BRANCH, base="main", body="Mine.")


def _default(scene: Scene, name: str) -> None:
    scene.repository.create_branch(name)
    scene.repository.default_branch = name
    if name == SECOND:
        scene.take()


class Expected(NamedTuple):
    """A state, and what a run then comes to."""

    state: State
    written: str
    """The branch that gets files."""
    proposed: tuple[str, ...] = ()
    """The branches of the pull requests that are open afterwards."""
    declined: tuple[str, ...] = ()


STATES: dict[str, Expected] = {
    "nothing": Expected(lambda _: None, BRANCH, (BRANCH,)),
    "bare": Expected(Scene.leave, BRANCH, (BRANCH,)),
    "leftover": Expected(lambda scene: scene.leave("a.md"), BRANCH, (BRANCH,)),
    "somebody's": Expected(Scene.take, SECOND, (SECOND,)),
    "somebody's, with a pull request": Expected(_taken_with_pull_request, SECOND, (BRANCH, SECOND)),
    "open": Expected(Scene.run, "", (BRANCH,)),
    "open under a later name": Expected(_open_under_a_later_name, "", (SECOND,)),
    "open, and the list has grown": Expected(partial(_grown, close=False), BRANCH, (BRANCH,)),
    "open, without a file": Expected(_without_a_file, "", (BRANCH,), ("b.md",)),
    "open, rewritten": Expected(_rewritten, "", (BRANCH,), ("b.md",)),
    "opened by hand": Expected(_opened_by_hand, BRANCH, (BRANCH,)),
    "opened by hand, closed": Expected(
        partial(_opened_by_hand, then="close"), SECOND, (SECOND,), ("a.md",)
    ),
    "closed": Expected(partial(_closed, delete=False), "", (), FILES),
    "closed and deleted": Expected(partial(_closed, delete=True), "", (), FILES),
    "closed under a later name": Expected(_closed_under_a_later_name, "", (), FILES),
    "closed before a rename": Expected(_closed_before_a_rename, "", (), FILES),
    "closed, and the list has grown": Expected(
        partial(_grown, close=True), SECOND, (SECOND,), ("a.md",)
    ),
    "withdrawn": Expected(_withdrawn, "", (BRANCH,)),
    "withdrawn without a file": Expected(
        partial(_withdrawn, then="without a file"), "", (BRANCH,), ("b.md",)
    ),
    "withdrawn, and the branch deleted": Expected(
        partial(_withdrawn, then="delete"), BRANCH, (BRANCH,)
    ),
    "withdrawn, and the branch reset": Expected(
        partial(_withdrawn, then="rewrite"), BRANCH, (BRANCH,)
    ),
    "withdrawn, opened again and closed": Expected(
        partial(_withdrawn, then="close again"), "", (), FILES
    ),
    "open, holding a file from its beginning": Expected(
        partial(_held_from_its_beginning, is_ours=True), "", (BRANCH,)
    ),
    "leftover, holding a file from its beginning": Expected(
        partial(_held_from_its_beginning, is_ours=False), "", (BRANCH,)
    ),
    "merged without a file": Expected(_merged_without_a_file, "", (), ("b.md",)),
    "merged, and a file deleted": Expected(_merged_and_deleted, SECOND, (SECOND,)),
    "another list's": Expected(
        lambda scene: scene.run("c.md", name="other.json"), SECOND, (BRANCH, SECOND)
    ),
    "the default branch has our name": Expected(partial(_default, name=BRANCH), ""),
    "the default branch has a later name": Expected(
        partial(_default, name=SECOND), THIRD, (THIRD,)
    ),
}


def said(run: Run) -> dict[str, Any]:
    """Return the outcome of each path, and of the pull request, as a run reports them."""
    rows = run.report["registrations"]
    if not rows:
        return {"files": {}, "pull_request": None, "failed": run.exit_code != 0}
    [row] = rows
    files = {file["path"]: (file["done"], file["reason"] or "") for file in row["files"]}
    pull = row["pull_request"] and row["pull_request"]["number"]
    failed = bool(row["error"])
    return {"files": files, "pull_request": pull, "failed": failed, "notes": row["notes"]}


def declined(result: dict[str, Any]) -> dict[str, str]:
    return {path: why for path, (_, why) in result["files"].items() if why.startswith("declined")}


def left(repository: Repository) -> dict[str, Any]:
    """The branches with their files, and the pull requests."""
    return {
        "branches": {name: sorted(repository.files(name)) for name in repository.branches},
        "pulls": [(p.number, p.head, p.base, p.state) for p in repository.pull_requests],
    }


@pytest.mark.parametrize("state", STATES)
def test_every_way_decides_the_same(host: StandInHost, action: Action, state: str) -> None:
    plans: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for number, way in enumerate(WAYS):
        repository = host.create_repository(f"octo/r{number}", dict(PRESENT))
        scene = Scene(action, repository, way)
        expected = STATES[state]
        expected.state(scene)
        before = left(repository)
        heads = {name: repository.head(name) for name in repository.branches}
        planned = scene.run(mode="plan")
        plan = said(planned)
        assert left(repository) == before
        done = scene.run()
        result = said(done)
        what = f"{way}: {planned.console}\n{done.console}"
        assert plan["failed"] == result["failed"], what
        if way != MANY:
            assert declined(plan) == declined(result), what
        if plan["pull_request"] and result["files"]:
            assert plan["pull_request"] == result["pull_request"], what
        open_ones = [pull.head for pull in repository.pull_requests if pull.state == "open"]
        assert open_ones == [*expected.proposed], what
        assert tuple(sorted(declined(plan))) == expected.declined, what
        after_it = {name: repository.head(name) for name in repository.branches}
        written = [name for name, head in after_it.items() if heads.get(name) != head]
        assert written == [expected.written] * bool(expected.written), what
        plans[way] = plan
        after[way] = {**left(repository), "declined": declined(result), "exit": done.exit_code}
    assert plans[PER_FILE] == plans[SINGLE] == plans[MANY]
    assert after[PER_FILE] == after[SINGLE]
    # Over many, a run skips repositories that declined everything, and a failure declines nothing
    after[MANY] |= {key: after[SINGLE][key] for key in ("declined", "exit")}
    assert after[MANY] == after[SINGLE]
