"""Batches, and in what order and with how many writes repositories are written to."""

from __future__ import annotations

import pytest

from registrar.many import writing
from registrar.many.reading import LARGEST_SIZE, BatchSize
from registrar.models.files import FileDefinition
from registrar.models.paths import Done, ListedPath, by_path
from registrar.models.record import Record
from registrar.models.repository import Repository
from registrar.models.standing import Standing
from tests.values import spec


@pytest.mark.parametrize(
    ("planned", "done", "made", "left"),
    [(400, 0, 0, 400), (396, 4, 4, 396), (80, 1, 4, 102), (80, 90, 180, 152), (10, 9, 5, 10)],
)
def test_what_is_left_takes_as_many_writes_as_what_is_done_once_that_is_much(
    planned: int, done: int, made: int, left: int
) -> None:
    assert writing.writes_left(planned, done=done, made=made) == left


def test_the_order_is_by_name_from_a_start_that_moves() -> None:
    listed = [Repository(f"octo/r{number:02}", id=100 - number) for number in range(50)]
    lacking = (ListedPath(FileDefinition("a"), Standing.TO_CREATE, Done.NOTHING),)
    read = [
        Record(spec()._replace(repository=each), each, paths=by_path(lacking), commit="c0ffee")
        for each in listed
    ]
    starts = set[int]()
    for day in range(100):
        order = writing.in_order(reversed(read), day * 86_400)
        start = read.index(order[0])
        assert order == read[start:] + read[:start]
        assert writing.in_order(read, day * 86_400 + 86_399) == order
        left = [each for each in read if each is not order[1]]
        assert writing.in_order(left, day * 86_400)[0] is order[0]
        starts.add(start)
    assert len(starts) > 25


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
