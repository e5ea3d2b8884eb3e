"""The promises about running again, kept with all 29 files of `scaffold`, and, with a short list,
while a person acts at any request.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet

from tests.example import BRANCH, FIRST_FILE, POSITIONS, PRESENT, SCAFFOLD, Example
from tests.fakehub import Fault, FaultKind, Request
from tests.harness import (
    PER_FILE,
    SINGLE,
    STRATEGIES,
    Action,
    Run,
    is_read,
    only_reads,
    shortened,
)

LAST = {PER_FILE: 3 + len(SCAFFOLD) + 2 + 1 + len(SCAFFOLD.keys() - PRESENT.keys()) + 1, SINGLE: 2}
"""The number of the last request of a run."""


@pytest.fixture
def whole(action: Action, strategy: str) -> Example:
    """The example repository with the whole list."""
    return Example(action, strategy, SCAFFOLD)


def check(example: Example, run: Run) -> None:
    """Check that everything is there once, and that another run changes nothing."""
    assert (run.exit_code, example.state) == (0, example.done), run.console
    example.host.requests.clear()
    again = example.run()
    assert (again.exit_code, example.state) == (0, example.done), again.console
    assert only_reads(example.host)


def test_a_run_and_the_next_one_and_one_after_the_merge(whole: Example) -> None:
    run = whole.run()
    assert len(whole.host.requests) == LAST[whole.strategy]
    check(whole, run)
    whole.repository.person.merge(1)
    whole.host.requests.clear()
    after = whole.run().or_fail()
    assert (after.outputs["missing"], only_reads(whole.host)) == ("0", True)


def test_the_answer_to_every_write_gets_lost(whole: Example) -> None:
    """More answers than a run would bear if each of them counted."""

    seen = set[str]()

    def match(request: Request) -> bool:
        is_new = not is_read(request) and shortened(request) not in seen
        if is_new:
            seen.add(shortened(request))
        return is_new

    fault = whole.host.faults.add(Fault(FaultKind.CLOSED, match=match, times=None, when="after"))
    run = whole.run()
    assert len(fault.hits) >= {PER_FILE: len(whole.missing) + 2, SINGLE: 1}[whole.strategy]
    assert f"Created: {len(whole.missing)}\n" in run.stdout
    whole.host.faults.clear()
    check(whole, run)


ACTS = ("edits", "adds", "deletes", "adds to main")


def act(example: Example, what: str) -> tuple[str, dict[str, bytes | None]]:
    """Let a person act if there is something to act upon, and return the branch and the change."""
    repository = example.repository
    here = repository.files(BRANCH) if BRANCH in repository.branches else {}
    ours = [path for path in example.missing if path in here][:1]
    others = [path for path in example.missing if path not in here][-1:]
    changes: dict[str, dict[str, bytes | None]] = {
        "edits": dict.fromkeys(ours, b"mine\n"),
        "adds": dict.fromkeys(others if here else (), b"mine\n"),
        "deletes": dict.fromkeys(ours),
        "adds to main": {"AGENTS.md": b"mine\n"},
    }
    branch, change = "main" if what == "adds to main" else BRANCH, changes[what]
    if change:
        repository.person.commit(change, branch=branch)
    return branch, change


def moments() -> Iterator[ParameterSet]:
    """Yield every request of a run with the short list, each with each act."""
    for strategy in STRATEGIES:
        for position, what in itertools.product(POSITIONS[strategy, "quiet"], ACTS):
            is_chosen = (strategy, position) in {(PER_FILE, FIRST_FILE + 1), (SINGLE, 2)}
            marks = [pytest.mark.chosen] if is_chosen else []
            yield pytest.param(strategy, position, what, marks=marks)


@pytest.mark.matrix
@pytest.mark.parametrize(("strategy", "position", "what"), [*moments()])
def test_a_person_may_act_at_any_request(example: Example, position: int, what: str) -> None:
    """Later runs, too, leave alone what the person has done, and open no second pull request."""
    repository, host = example.repository, example.host
    done: list[tuple[str, dict[str, bytes | None]]] = []

    def on_request(request: Request) -> None:
        if request.number == position:
            done.append(act(example, what))

    host.on_request = on_request
    runs = [example.run()]
    host.on_request = None
    runs += [example.run(), example.run()]
    consoles = "\n".join(run.console for run in runs)
    assert [run.exit_code for run in runs[1:]] == [0, 0], consoles
    [(_, change)] = done
    assert len(repository.pull_requests) == 1, consoles
    # What the person has done is still there (`tests.promises`), and so is everything else
    gone = {path for path, text in change.items() if text is None}
    left = example.missing.keys() - gone - {"AGENTS.md"}
    assert repository.files(BRANCH).keys() >= left, consoles
