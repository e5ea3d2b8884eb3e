"""Shards, batches, and in what order and with how many writes repositories are written to."""

from __future__ import annotations

from datetime import date

import pytest

from registrar.many import writing
from registrar.many.reading import LARGEST_SIZE, BatchSize
from registrar.models.repository import Repository
from registrar.models.result import RegistrationResult
from registrar.models.selection import Shard
from tests.values import spec


@pytest.mark.parametrize(
    ("text", "shard"),
    [("1/1", Shard(1, 1)), ("2/8", Shard(2, 8)), ("256/256", Shard(256, 256))]
    + [(text, None) for text in ("", "0/3", "4/3", "1/257", "1/0", "a/b", "1", "1/2/3", "-1/2")],
)
def test_the_form_of_a_shard(text: str, shard: Shard | None) -> None:
    assert Shard.parse(text) == shard
    assert shard is None or str(shard) == text


@pytest.mark.parametrize("total", [1, 2, 3, 8])
def test_shards_share_nothing_and_leave_nothing_out(total: int) -> None:
    shards = [Shard(number, total) for number in range(1, total + 1)]
    assert all(sum(shard.has(number) for shard in shards) == 1 for number in range(100))
    assert [sum(shard.share(count) for shard in shards) for count in (0, 1, 7, 100)] == [
        0,
        1,
        7,
        100,
    ]


@pytest.mark.parametrize(
    ("planned", "done", "made", "left"),
    [(400, 0, 0, 400), (396, 4, 4, 396), (396, 4, 10, 990), (10, 3, 4, 14), (10, 9, 5, 10)],
)
def test_what_is_left_takes_as_many_writes_as_what_is_done(
    planned: int, done: int, made: int, left: int
) -> None:
    assert writing.writes_left(planned, done=done, made=made) == left


def test_the_order_is_the_same_all_day_and_another_on_the_next() -> None:
    listed = [Repository(f"octo/r{number}", id=number) for number in range(50)]
    read = [RegistrationResult(spec()._replace(repository=each), each) for each in listed]
    today = writing.in_order(read, date(2026, 1, 1))
    assert today == writing.in_order(reversed(read), date(2026, 1, 1))
    assert sorted(today, key=read.index) == read
    assert today != writing.in_order(read, date(2026, 1, 2))


def test_a_batch_grows_while_answers_are_fast_and_halves_when_they_are_not() -> None:
    batch = BatchSize()
    sizes = [batch.size]
    for seconds in (0.1, 0.1, 3.0, 6.0, 0.1):
        batch.answered(seconds)
        sizes.append(batch.size)
    assert sizes == [10, 16, 25, 25, 12, 19]
    for _ in range(10):
        batch.failed(batch.size)
    assert batch.size == 1
    for _ in range(60):
        batch.answered(0.1)
    assert batch.size == LARGEST_SIZE


def test_a_batch_does_not_come_near_a_size_that_was_refused_for_a_while() -> None:
    batch = BatchSize(40)
    batch.failed(40)
    sizes = [batch.size]
    for _ in range(22):
        batch.answered(0.1)
        sizes.append(batch.size)
    assert sizes[:4] == [20, 30, 30, 30]
    assert sizes[19] == 30
    assert sizes[-1] > 40
