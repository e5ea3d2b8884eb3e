"""What a run over many repositories is going to do, from what was read."""

from __future__ import annotations

from collections import Counter

import pytest

from registrar.errors import Refused
from registrar.fleet.budget import Bounds, Read, make_budget
from registrar.fleet.tasks import PullState
from registrar.models.fleet import Budget
from registrar.models.selection import Shard


def budget(
    *pull_requests: PullState,
    cap: int = 100,
    minutes: float = 50,
    each: int = 1,
    shard: Shard | None = None,
) -> Budget:
    read = Read(1000, {}, 25, 4975, Counter(pull_requests))
    return make_budget(read, Bounds(cap, minutes * 60, {OPEN: each, UPDATE: 2}, shard or Shard()))


OPEN, UPDATE = PullState.TO_OPEN, PullState.TO_UPDATE
WAITING, DECLINED = PullState.WAITING, PullState.DECLINED


@pytest.mark.parametrize(
    ("pull_requests", "now", "deferred", "writes", "shards"),
    [
        ([], 0, 0, 0, 0),
        ([WAITING, DECLINED], 0, 0, 0, 0),
        ([UPDATE], 0, 0, 2, 1),
        ([OPEN], 1, 0, 1, 1),
        ([OPEN] * 147 + [UPDATE] * 3 + [DECLINED], 100, 47, 106, 1),
    ],
)
def test_what_is_to_be_done(
    pull_requests: list[PullState], now: int, deferred: int, writes: int, shards: int
) -> None:
    found = budget(*pull_requests)
    assert (found.now, found.deferred, found.writes) == (now, deferred, writes)
    assert (len(found.matrix), found.missing) == (shards, len(pull_requests))


def test_a_shard_has_its_share_of_the_cap_and_the_interval_of_all() -> None:
    whole = budget(*[OPEN] * 1000, cap=1000)
    assert (whole.interval, [str(each) for each in whole.matrix]) == (7.2, ["1/3", "2/3", "3/3"])
    part = budget(*[OPEN] * 333, cap=1000, shard=Shard(2, 3))
    assert (part.now, part.interval) == (333, 7.2)
    assert part.seconds == pytest.approx(333 * 7.2)


def test_more_shards_than_a_matrix_has_jobs_are_refused() -> None:
    assert len(budget(*[OPEN] * 256, minutes=0.12, cap=256, each=1).matrix) == 107
    with pytest.raises(Refused) as refused:
        budget(*[OPEN] * 1000, minutes=0.12, cap=1000)
    assert refused.value.message.key == "fleet.too_many_shards"
