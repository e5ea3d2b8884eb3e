"""Every request of a run × every fault, before and after it is applied; then the run again.

`scripts/test-faults` runs all of it. Without ``REGISTRAR_FAULTS=all`` a sample runs: every kind of
fault at one request of each sort.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Literal

import pytest

from tests.example import (
    BRANCH,
    CREATE_BRANCH,
    FIRST_FILE,
    LAST_FILE,
    MISSING,
    POSITIONS,
    PULL_REQUEST,
    Example,
)
from tests.fakehub import Fault, FaultKind

When = Literal["before", "after"]

ALL = os.environ.get("REGISTRAR_FAULTS") == "all"
SAMPLE = (1, 2, 17, CREATE_BRANCH, FIRST_FILE, PULL_REQUEST)

GRAPHQL = (FaultKind.GRAPHQL_RATE_LIMITED, FaultKind.GRAPHQL_RATE_LIMIT)
MINUTE_LONG = (
    # A secondary limit that does not say for how long: the rule is 60 s at least
    FaultKind.SECONDARY_403,
    FaultKind.SECONDARY_429,
    FaultKind.SECONDARY_HEADER,
    FaultKind.SECONDARY_URL,
)
QUICK = (
    FaultKind.PRIMARY_403,
    FaultKind.PRIMARY_429,
    FaultKind.SECONDARY_403_RETRY_AFTER,
    FaultKind.SECONDARY_429_RETRY_AFTER,
    FaultKind.ERROR_500,
    FaultKind.ERROR_502_HTML,
    FaultKind.ERROR_503,
    FaultKind.RESET,
    FaultKind.CLOSED,
    FaultKind.HTML_200,
    FaultKind.CUT_JSON,
    FaultKind.SHORT_BODY,
    FaultKind.EMPTY_200,
    FaultKind.WRONG_LIST,
    FaultKind.WRONG_OBJECT,
    FaultKind.ERROR_LIST,
    FaultKind.CONFLICT_409,
)
BEYOND_OUR_TIMEOUT = 17.0


def _cases() -> Iterator[tuple[str, FaultKind, When, int]]:
    for strategy, every in POSITIONS.items():
        few = [position for position in SAMPLE if position in every]
        positions = every if ALL else few
        kinds = QUICK if strategy == "per-file" else (*QUICK, *GRAPHQL)
        for kind in kinds:
            for when in whens(kind):
                yield from ((strategy, kind, when, position) for position in positions)
        timeouts = positions if ALL else [p for p in (2, FIRST_FILE) if p in every]
        for when in whens(FaultKind.TIMEOUT):
            yield from ((strategy, FaultKind.TIMEOUT, when, position) for position in timeouts)
        if ALL:
            three = [p for p in (2, CREATE_BRANCH, LAST_FILE) if p in every]
            for kind in MINUTE_LONG:
                yield from ((strategy, kind, "before", position) for position in three)


def whens(kind: FaultKind) -> tuple[When, ...]:
    return ("before", "after") if kind.can_happen_after else ("before",)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("strategy", "kind", "when", "position"), list(_cases()))
def test_one_fault_is_survived_and_running_again_changes_nothing(
    example: Example, kind: FaultKind, when: When, position: int
) -> None:
    host = example.host
    fault = host.faults.add(Fault(kind, at=position, when=when, seconds=BEYOND_OUR_TIMEOUT))

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
