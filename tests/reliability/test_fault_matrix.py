"""Every request of a run × every fault, before and after it is applied; then the run again.

This happens on a stand-in without quirks, and on one with all those of the real GitHub.
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
    # Means what 502 means
    FaultKind.ERROR_504,
    # Only a query can be answered in part
    *(FaultKind.PARTIAL_200, FaultKind.TIMEOUT_200),
    # No run survives a redirect to another host: test_redirects
    *(FaultKind.REDIRECT_301, FaultKind.REDIRECT_302, FaultKind.REDIRECT_307),
    # What a test makes of these is its own matter
    *(FaultKind.RAW, FaultKind.CHANGED, FaultKind.CUSTOM),
}
KINDS = [kind for kind in FaultKind if kind not in OTHERS.union(GRAPHQL)]
PATIENCE = 2.0
"""Seconds that a run gives an answer here, in place of 20: this time alone is real."""


def cases() -> Iterator[ParameterSet]:
    """All of it. Chosen: every fault with one strategy, by turns at each sort of request.

    Of those on the real day, one in six of these is.
    """
    for (strategy, day), positions in POSITIONS.items():
        sorts, step, turn = SORTS[strategy, day], {"quiet": 1, "real": 6}[day], 0
        for number, kind in enumerate(KINDS if strategy == PER_FILE else (*KINDS, *GRAPHQL)):
            for when in whens(kind):
                is_ours = (number + (when == "after")) % 2 == (strategy == SINGLE)
                chosen = sorts[turn // step % len(sorts)] if is_ours and not turn % step else 0
                turn += is_ours
                if kind is FaultKind.TIMEOUT:
                    # The only ones that take real time
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
    assert not example.overwritten()
    assert (first.exit_code, example.wrong()) == (0, []), first.console
    assert f"Created: {len(MISSING)}\n" in first.stdout

    host.faults.clear()
    commit = example.repository.head(BRANCH)
    again = example.run()
    assert (again.exit_code, example.wrong()) == (0, []), again.console
    assert example.repository.head(BRANCH) == commit
    assert not example.overwritten()
