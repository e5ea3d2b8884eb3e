"""What a run over many repositories is going to do, from what was read."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from registrar.errors import Refused
from registrar.github import bulk, queries
from registrar.many.writing import with_writing
from registrar.models.result import Status
from registrar.models.run_result import Budget
from registrar.models.selection import Shard
from registrar.models.settings import PullRequestOptions, Settings
from tests.fakehub import graphql


def budget(
    *pull_requests: Status, cap: int = 100, minutes: float = 50, shard: Shard | None = None
) -> Budget:
    nothing: Any = dict.fromkeys(Settings._fields)
    settings = Settings(**nothing)._replace(
        max_pull_requests=cap,
        max_seconds=minutes * 60,
        shard=shard,
        pull_request=PullRequestOptions(),
    )
    return with_writing(Budget(1000, {}, 25, 4975, Counter(pull_requests)), settings)


@pytest.mark.parametrize(
    ("repositories", "names", "points"),
    [(1, 3, 1), (10, 3, 1), (50, 3, 2), (100, 3, 3), (100, 1, 1)],
)
def test_the_points_of_a_query(repositories: int, names: int, points: int) -> None:
    query = queries.repositories(["R_1"] * repositories, ["a"] * names, ["", "docs"])
    sent = {"query": query.text, "variables": query.variables}
    assert (bulk.points(repositories, names), graphql.points(sent)) == (points, points)


OPEN, UPDATE = Status.TO_OPEN, Status.TO_UPDATE
WAITING, DECLINED = Status.WAITING, Status.DECLINED


@pytest.mark.parametrize(
    ("pull_requests", "now", "deferred", "writes", "shards"),
    [
        ([], 0, 0, 0, 0),
        ([WAITING, DECLINED], 0, 0, 0, 0),
        ([UPDATE], 0, 0, 2, 1),
        ([OPEN], 1, 0, 1, 1),
        ([OPEN] * 147 + [UPDATE] * 3 + [DECLINED], 97, 50, 103, 1),
        ([OPEN] + [UPDATE] * 147, 0, 48, 200, 1),
    ],
)
def test_what_is_to_be_done(
    pull_requests: list[Status], now: int, deferred: int, writes: int, shards: int
) -> None:
    found = budget(*pull_requests)
    assert (found.now, found.deferred, found.writes) == (now, deferred, writes)
    missing = len(pull_requests) - pull_requests.count(DECLINED)
    assert (len(found.matrix), found.missing) == (shards, missing)


@pytest.mark.parametrize(
    ("pull_requests", "minutes", "count"),
    [(0, 50, 0), (1, 50, 1), (401, 50, 1), (417, 50, 2), (1000, 50, 3), (3, 0.1, 2)],
)
def test_as_many_shards_as_the_time_asks_for(
    pull_requests: int, minutes: float, count: int
) -> None:
    found = budget(*[OPEN] * pull_requests, cap=1000, minutes=minutes)
    assert [str(shard) for shard in found.matrix] == [f"{n}/{count}" for n in range(1, count + 1)]


def test_a_shard_has_its_share_of_the_cap_and_the_interval_of_all() -> None:
    whole = budget(*[OPEN] * 1000, cap=1000)
    assert (whole.interval, [str(each) for each in whole.matrix]) == (7.2, ["1/3", "2/3", "3/3"])
    part = budget(*[OPEN] * 333, cap=1000, shard=Shard(2, 3))
    assert (part.now, part.interval) == (333, 7.2)
    assert part.seconds == pytest.approx(333 * 7.2)


def test_more_shards_than_a_matrix_has_jobs_are_refused() -> None:
    assert len(budget(*[OPEN] * 256, minutes=0.12, cap=256).matrix) == 107
    with pytest.raises(Refused) as refused:
        budget(*[OPEN] * 1000, minutes=0.12, cap=1000)
    assert refused.value.message.key == "fleet.too_many_shards"
