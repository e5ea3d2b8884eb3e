"""Two and three runs at once with the whole built-in list: one branch, one pull request, each file
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest
from _pytest.mark import ParameterSet

from tests.example import MANY, SCAFFOLD
from tests.fakehub import Repository, Request, StandInHost
from tests.harness import PER_FILE, SCAFFOLD_BRANCH, SINGLE, TARGET, Action, Run
from tests.turns import Turns, alternating, another, at_once, shuffled

REQUESTS = 65
"""The requests of a run with `per-file` that is alone."""
WAYS = [
    (PER_FILE, PER_FILE),
    (PER_FILE, SINGLE),
    (PER_FILE, MANY),
    (PER_FILE, PER_FILE, PER_FILE),
]


@pytest.fixture
def repository(host: StandInHost) -> Repository:
    """The target, which has no listed file."""
    return host.create_repository(TARGET, {"src/main.c": b"int x;\n"})


def start(action: Action, way: str) -> Run:
    if way != MANY:
        return action(commit_strategy=way, language="en")
    given = {"target_repos": TARGET, "profile": "scaffold", "language": "en"}
    return action(given, language="en")


def check(repository: Repository, *runs: Run) -> None:
    """Compare the repository with what one run would leave (see also `tests.promises`)."""
    consoles = "\n".join(run.console for run in runs)
    assert [run.exit_code for run in runs] == [0] * len(runs), consoles
    assert sum(int(run.outputs["created"]) for run in runs) == len(SCAFFOLD), consoles
    assert repository.branches == [SCAFFOLD_BRANCH, "main"]
    assert repository.files(SCAFFOLD_BRANCH) == repository.files("main") | SCAFFOLD
    assert [(each.head, each.state) for each in repository.pull_requests] == [
        (SCAFFOLD_BRANCH, "open")
    ]


def test_a_run_alone_sends_so_many_requests(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    check(repository, start(action, PER_FILE))
    assert len(host.requests) == REQUESTS


def positions() -> Iterator[ParameterSet]:
    for way in (PER_FILE, SINGLE, MANY):
        for position in range(1, REQUESTS + 1):
            is_chosen = position in {1, 35, 37, 50, 65} and way == PER_FILE
            marks = [pytest.mark.chosen] if is_chosen or (position, way) == (40, SINGLE) else []
            yield pytest.param(way, position, marks=marks)


@pytest.mark.matrix
@pytest.mark.parametrize(("way", "position"), [*positions()])
def test_a_second_run_takes_place_whole_at_any_request_of_the_first(
    action: Action, host: StandInHost, repository: Repository, way: str, position: int
) -> None:
    other = another(action)
    ended: list[Run] = []

    def on_request(request: Request) -> None:
        if request.token == action.default_token and request.number == position:
            ended.append(start(other, way))

    host.on_request = on_request
    first = start(action, PER_FILE)
    check(repository, first, *ended)
    assert len(ended) == 1


def orders() -> Iterator[ParameterSet]:
    for ways in WAYS:
        for seed in (None, *range(20)):
            is_chosen = seed is None or (seed == 3 and len(ways) == 2)
            marks = [pytest.mark.chosen] if is_chosen else []
            yield pytest.param(ways, seed, marks=marks, id=f"{'+'.join(ways)}-{seed}")


@pytest.mark.matrix
@pytest.mark.parametrize(("ways", "seed"), [*orders()])
def test_runs_that_take_turns_do_the_work_of_one(
    action: Action,
    host: StandInHost,
    repository: Repository,
    ways: Sequence[str],
    seed: int | None,
) -> None:
    """Request by request, and in a random order."""
    actions = [action, *(another(action, f"other-{each}") for each in range(1, len(ways)))]
    order = alternating(len(ways))
    if seed is not None:
        # The others begin while the first run reads, or while it creates files
        order = shuffled(len(ways), seed, most_before=40)
    turns = Turns(actions, order)
    host.on_request = turns.wait
    started: list[Callable[[], Run]] = [*map(partial, [start] * len(ways), actions, ways)]
    runs = at_once(started, turns)
    host.on_request = None
    check(repository, *runs)
