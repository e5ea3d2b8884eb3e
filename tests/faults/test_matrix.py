"""Every request of a run × every fault, before and after it is applied; then the run again.

`scripts/test-faults` runs all of it. Without ``REGISTRAR_FAULTS=all`` a sample runs: every kind of
fault at one request of each sort.
"""

from __future__ import annotations

import os
from typing import Literal

import pytest

from tests.faults.example import (
    CREATE_BRANCH,
    FIRST_FILE,
    LAST_FILE,
    POSITIONS,
    PULL_REQUEST,
    Example,
)
from tests.host import Fault, FaultKind, StandInHost

When = Literal["before", "after"]

ALL = os.environ.get("REGISTRAR_FAULTS") == "all"
SAMPLE = (1, 2, 3, 17, CREATE_BRANCH, FIRST_FILE, LAST_FILE, PULL_REQUEST)

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


def _cases() -> list[tuple[FaultKind, When, int]]:
    positions = POSITIONS if ALL else SAMPLE
    cases: list[tuple[FaultKind, When, int]] = []
    for kind in QUICK:
        whens: tuple[When, ...] = ("before", "after") if kind.can_happen_after else ("before",)
        # A sample of the faults of one sort is told apart by the host's words only
        cases += [(kind, when, position) for when in whens for position in positions]
    timeouts = positions if ALL else (2, FIRST_FILE)
    cases += [(FaultKind.TIMEOUT, when, p) for when in ("before", "after") for p in timeouts]
    if ALL:
        three = (2, CREATE_BRANCH, LAST_FILE)
        cases += [(kind, "before", position) for kind in MINUTE_LONG for position in three]
    return cases


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("kind", "when", "position"), _cases())
def test_one_fault_is_survived_and_running_again_changes_nothing(
    kind: FaultKind, when: When, position: int
) -> None:
    with StandInHost() as host:
        example = Example(host)
        fault = host.faults.add(Fault(kind, at=position, when=when, seconds=BEYOND_OUR_TIMEOUT))

        first = example.run()
        assert fault.hits, "the fault was never met"
        assert not example.overwritten()
        assert (first.exit_code, example.wrong()) == (0, []), first.output

        host.faults.clear()
        commit = example.repository.head("chore/add-scaffold-files")
        again = example.run()
        assert (again.exit_code, example.wrong()) == (0, []), again.output
        assert example.repository.head("chore/add-scaffold-files") == commit
        assert not example.overwritten()
