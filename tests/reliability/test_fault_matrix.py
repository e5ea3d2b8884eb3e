"""A run survives every fault at each of its requests, and the same run again changes nothing.

A fault comes before or after its request is applied. The stand-in has no quirks, or all quirks of
the real GitHub.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest
from _pytest.mark import ParameterSet

from registrar.github import transport
from tests.example import BRANCH, FIRST_FILE, MISSING, POSITIONS, SORTS, Day, Example
from tests.fakehub import Fault, FaultKind
from tests.harness import PER_FILE, SINGLE

When = Literal["before", "after"]

GRAPHQL = [kind for kind in FaultKind if kind.startswith("graphql")]
OTHERS = {
    # It means the same as 502
    FaultKind.ERROR_504,
    # Only a query can be answered in part
    *(FaultKind.PARTIAL_200, FaultKind.TIMEOUT_200),
    # No run survives a redirect to another host (test_redirects)
    *(FaultKind.REDIRECT_301, FaultKind.REDIRECT_302, FaultKind.REDIRECT_307),
    # These have no answer of their own; each test gives one
    *(FaultKind.RAW, FaultKind.CHANGED, FaultKind.CUSTOM),
}
KINDS = [kind for kind in FaultKind if kind not in OTHERS.union(GRAPHQL)]
PATIENCE = 2.0
"""Seconds for which a run waits for an answer, instead of 20. Only this time really passes."""


def cases() -> Iterator[ParameterSet]:
    """Yield all cases of the matrix.

    The chosen ones have every fault once, with one strategy, by turns at each sort of request. On
    the real day one in six of these is chosen.
    """
    for (strategy, day), positions in POSITIONS.items():
        sorts, step, turn = SORTS[strategy, day], {"quiet": 1, "real": 6}[day], 0
        for number, kind in enumerate(KINDS if strategy == PER_FILE else (*KINDS, *GRAPHQL)):
            for when in whens(kind):
                is_ours = (number + (when == "after")) % 2 == (strategy == SINGLE)
                chosen = sorts[turn // step % len(sorts)] if is_ours and not turn % step else 0
                turn += is_ours
                if kind is FaultKind.TIMEOUT:
                    # Time-outs take real time, so few of them are chosen
                    is_one = (when, day) == ("after", "quiet")
                    chosen = {SINGLE: 2, PER_FILE: FIRST_FILE}[strategy] if is_one else 0
                for position in positions:
                    marks = [pytest.mark.chosen] if position == chosen else []
                    yield pytest.param(strategy, day, kind, when, position, marks=marks)


def whens(kind: FaultKind) -> tuple[When, ...]:
    return ("before", "after") if kind.can_happen_after else ("before",)


@pytest.mark.matrix
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("strategy", "day", "kind", "when", "position"), list(cases()))
def test_one_fault_is_survived_and_running_again_changes_nothing(
    example: Example,
    monkeypatch: pytest.MonkeyPatch,
    day: Day,
    kind: FaultKind,
    when: When,
    position: int,
) -> None:
    monkeypatch.setattr(transport, "ANSWER_SECONDS", PATIENCE)
    host = example.host
    example.live(day)
    fault = host.faults.add(Fault(kind, at=position, when=when, seconds=PATIENCE + 2))

    first = example.run()
    assert fault.hits, "the fault was never met"
    assert (first.exit_code, example.state) == (0, example.done), first.console
    assert f"Created: {len(MISSING)}\n" in first.stdout

    host.faults.clear()
    commit = example.repository.head(BRANCH)
    again = example.run()
    assert (again.exit_code, example.state) == (0, example.done), again.console
    assert example.repository.head(BRANCH) == commit
