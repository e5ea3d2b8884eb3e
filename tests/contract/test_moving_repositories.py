"""Repositories that change their names while a run over many goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
from _pytest.mark import ParameterSet

from tests.example import PRESENT
from tests.example import SCAFFOLD as LISTED
from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost
from tests.harness import SCAFFOLD_BRANCH, Action, Run, is_read, meanwhile, mutations
from tests.organisation import states

THEIRS = "Somebody's own description"
FROZEN = "octo-org/frozen"


@dataclass
class Scene:
    """Two repositories that lack files, an excluded one, and what happens to their names."""

    action: Action
    alpha: Repository
    beta: Repository
    frozen: Repository

    @property
    def host(self) -> StandInHost:
        return self.action.host

    def run(self, **inputs: str) -> Run:
        given = {"target_repos": "octo-org/*\n-topic:frozen", "language": "en", "labels": "chore"}
        return self.action(given | inputs)

    def refuse_queries_by_id(self) -> None:
        """Let every query about several repositories fail, so that each is read by its name."""

        def by_ids(request: Request) -> bool:
            return "nodes(ids:" in str(request.fields.get("query"))

        self.host.faults.add(Fault(FaultKind.ERROR_502_HTML, match=by_ids, times=None))

    def at(self, number: int, change: Callable[[], object]) -> None:
        """Let something happen right before a request, counted from 1."""
        begun = len(self.host.requests)
        meanwhile(self.host, lambda _: len(self.host.requests) - begun == number, change)

    @property
    def has_happened(self) -> bool:
        """Whether there was such a request."""
        return self.host.on_request is None


@pytest.fixture
def scene(action: Action) -> Scene:
    host = action.host
    alpha = host.create_repository("octo-org/alpha", PRESENT)
    beta = host.create_repository("octo-org/beta", PRESENT)
    return Scene(action, alpha, beta, host.create_repository(FROZEN, PRESENT, topics=["frozen"]))


def renamed(scene: Scene) -> None:
    scene.alpha.person.rename("octo-org/omega")


def transferred(scene: Scene) -> None:
    scene.alpha.person.rename("customer/alpha")


def replaced(scene: Scene) -> None:
    """An excluded repository takes the name."""
    scene.alpha.person.rename("octo-org/omega")
    scene.frozen.person.rename("octo-org/alpha")


def swapped(scene: Scene) -> None:
    scene.alpha.person.swap_names(scene.beta)


def swapped_with_excluded(scene: Scene) -> None:
    scene.alpha.person.swap_names(scene.frozen)


Change = Callable[[Scene], None]
CHANGES = (renamed, transferred, replaced, swapped, swapped_with_excluded)


def whenever(most: int, *more: bool, changes: Sequence[Change] = CHANGES) -> list[ParameterSet]:
    """Each change at each of so many requests. Chosen: at each request one of the changes."""
    return [
        pytest.param(
            *(change, number, *more),
            marks=[pytest.mark.chosen] if number % len(changes) == place else [],
        )
        for number in range(1, most + 1)
        for place, change in enumerate(changes)
    ]


@pytest.mark.parametrize(
    ("change", "state"),
    [
        (transferred, "not writable"),
        (replaced, "deferred"),
        (swapped_with_excluded, "deferred"),
    ],
)
def test_a_repository_that_is_no_longer_the_selected_one_is_left_with_the_reason(
    scene: Scene, change: Change, state: str
) -> None:
    plan = scene.run(mode="plan")
    assert states(plan) == {"to open": 2}
    number = len(scene.host.requests) + 1
    scene.host.requests.clear()
    scene.at(number, lambda: change(scene))
    run = scene.run()
    assert states(run) == {"opened": 1, state: 1}
    assert run.exit_code == 0
    [row] = [row for row in run.report["many"]["rows"] if row["state"] == state]
    assert "Since the list was read" in row["reason"]
    assert len(scene.alpha.pull_requests) == len(scene.frozen.pull_requests) == 0
    assert len(scene.beta.pull_requests) == 1


@pytest.mark.parametrize("change", [None, replaced])
def test_without_numbers_the_ids_say_which_repository_it_is(
    scene: Scene, change: Change | None
) -> None:
    """The schema allows null for a number."""
    plan = scene.run(mode="plan")
    number = len(scene.host.requests) + 1
    scene.host.requests.clear()
    hide = re.compile(r'"(databaseId)": ?\d+')
    scene.host.faults.change(
        lambda _, right: replace(
            right, body=json.loads(hide.sub(r'"\1": null', json.dumps(right.body)))
        ),
        lambda request: request.path == "/graphql",
    )
    scene.refuse_queries_by_id()
    if change:
        scene.at(number, lambda: change(scene))
    assert states(plan) == {"to open": 2}
    assert states(scene.run()) == ({"opened": 1, "deferred": 1} if change else {"opened": 2})
    assert scene.frozen.pull_requests == []


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("change", "number", "by_name"), [*whenever(9, False), *whenever(16, True)]
)
def test_nothing_is_written_where_nobody_asked_whenever_names_change(
    scene: Scene, change: Change, number: int, by_name: bool
) -> None:
    """Each is read by its name where GitHub answers no query about several by their ids."""
    if by_name:
        scene.refuse_queries_by_id()
    scene.at(number, lambda: change(scene))
    assert "many" in scene.run().report
    assert scene.has_happened
    assert scene.frozen.pull_requests == []
    assert set(scene.frozen.git.references) == {"refs/heads/main"}
    for repository in (scene.alpha, scene.beta):
        assert len(repository.pull_requests) <= 1
        for pull in repository.pull_requests:
            assert repository.files(pull.head).keys() == LISTED.keys()
            assert list(pull.labels) in ([], ["chore"])


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("change", "number"), whenever(10, changes=(replaced, swapped_with_excluded))
)
def test_a_preview_shows_no_other_repository_under_a_listed_name(
    scene: Scene, change: Change, number: int
) -> None:
    """The excluded one, which takes the name, is the only one that is complete."""
    scene.frozen.person.commit(dict(LISTED))
    scene.refuse_queries_by_id()
    scene.at(number, lambda: change(scene))
    run = scene.run(mode="plan" if number % 3 else "check")
    assert scene.has_happened
    assert states(run) in ({"to open": 2}, {"to open": 1, "failed": 1})
    if "failed" in states(run):
        assert run.exit_code == 1
        assert "another repository has taken this name" in run.text


@pytest.mark.matrix
@pytest.mark.parametrize(("change", "number"), whenever(11))
def test_no_description_is_put_into_another_pull_request(
    scene: Scene, change: Change, number: int, action: Action
) -> None:
    """Every repository has a pull request with the number 1; only ours are brought up to date."""
    listing = action.listing("a.txt")
    scene.run(definitions=listing)
    scene.frozen.person.create_branch("theirs")
    scene.frozen.person.commit({"x": b"x"}, branch="theirs")
    theirs = scene.frozen.person.open_pull_request(head="theirs", body=THEIRS)
    longer = action.listing("a.txt", "b.txt")
    scene.at(number, lambda: change(scene))
    assert "many" in scene.run(definitions=longer).report
    assert scene.has_happened
    assert (theirs.body, list(theirs.labels)) == (THEIRS, [])
    for repository in (scene.alpha, scene.beta):
        [pull] = repository.pull_requests
        held = repository.files(pull.head)
        for path in ("a.txt", "b.txt"):
            assert (f"`{path}`" in (pull.body or "")) <= (path in held), (repository, path)


@pytest.mark.parametrize("listed", [1, 2, 3])
def test_pull_requests_of_a_repository_that_took_the_name_are_not_taken_for_ours(
    scene: Scene, listed: int
) -> None:
    """GitHub lists them by the name where there are more of them than one answer holds."""
    alpha, frozen = scene.alpha, scene.frozen
    for number in range(101):
        alpha.person.open_pull_request(
            head=SCAFFOLD_BRANCH, head_repository=f"stranger{number}/alpha", body=THEIRS
        )
    frozen.person.change(topics=[])
    scene.run(definitions=scene.action.listing("a.txt"))
    frozen.person.change(topics=["frozen"])
    [ours] = frozen.pull_requests
    before = frozen.files(ours.head), frozen.branches, ours.body
    left = listed

    def swap(request: Request) -> None:
        nonlocal left
        left -= request.path.endswith("/pulls") and is_read(request)
        if left == 0:
            left = -1
            alpha.person.swap_names(frozen)

    scene.host.on_request = swap
    assert "many" in scene.run(definitions=scene.action.listing("a.txt", "b.txt")).report
    assert (frozen.files(ours.head), frozen.branches, ours.body) == before
    assert {(pull.body, *pull.labels) for pull in alpha.pull_requests[:101]} == {(THEIRS,)}


def test_what_follows_the_reading_goes_by_number(scene: Scene, host: StandInHost) -> None:
    scene.alpha.person.protect("chore/*", "classic")
    scene.run()
    scene.run()
    scene.run(definitions=scene.action.listing("a.txt", "b.txt"))
    named = [request.path for request in host.requests if request.path.startswith("/repos/")]
    assert named == []
    assert any(
        request.path.startswith("/repositories/") and not is_read(request)
        for request in host.requests
    )
    # A commit goes by the id of its branch, unless the same request makes that
    written = [each.json["variables"] for each in mutations(host)]
    assert {("ref" in each, "id" in each["commit"]["branch"]) for each in written} == {
        (True, False),
        (False, True),
    }
