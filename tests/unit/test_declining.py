"""For each path, the newest pull request that proposed it decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from registrar.models.repository import PullRequest
from registrar.registration.declining import Decision, Fate, decide


class Told(NamedTuple):
    pull: PullRequest
    fate: Fate | None

    def fate_of(self, _path: str) -> Fate | None:
        return self.fate


@pytest.mark.parametrize(
    ("fates", "expected"),
    [
        ([], None),
        ([None, None], None),
        ([None, Fate.DECLINED, Fate.MERGED], (Fate.DECLINED, 1)),
        ([Fate.PROPOSED, Fate.DECLINED], None),
        ([Fate.PROPOSED, None, Fate.MERGED], (Fate.MERGED, 2)),
        ([Fate.MERGED, Fate.DECLINED], (Fate.MERGED, 0)),
        ([Fate.UNKNOWN, Fate.DECLINED], None),
        ([Fate.UNKNOWN, Fate.MERGED], None),
    ],
)
def test_the_newest_that_proposed_it_decides(
    fates: Sequence[Fate | None], expected: tuple[Fate, int] | None
) -> None:
    rows = [Told(PullRequest(number, ""), fate) for number, fate in enumerate(fates)]
    decision = decide("a", rows)
    assert decision == (expected and Decision(expected[0], PullRequest(expected[1], "")))
