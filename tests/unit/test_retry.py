"""A run announces how long it waits, and never waits longer in total than allowed."""

from __future__ import annotations

from concurrent.futures import Future, wait
from functools import partial

import pytest

from registrar.errors import Kind, OutOfTime
from registrar.github.case import Meaning, RefusalRow
from registrar.github.limits import Pace, RetryPolicy, pause_before
from registrar.runtime.cancellation import Cancellation
from registrar.runtime.concurrency import in_background
from registrar.texts.messages import Message, msg
from tests.clocks import FakeClock

REASON = msg("fault.conflict")


def policy(minutes: float) -> tuple[RetryPolicy, FakeClock, list[Message]]:
    """Return a policy, its clock, and a list of its announcements."""
    clock, said = FakeClock(), list[Message]()
    cancellation = Cancellation(clock)
    return (
        RetryPolicy(max_seconds=minutes * 60, announce=said.append, cancellation=cancellation),
        clock,
        said,
    )


@pytest.mark.parametrize(
    ("kind", "asked", "attempt", "least"),
    [
        (Kind.TRANSIENT, None, 1, 0.5),
        (Kind.TRANSIENT, None, 5, 8.0),
        (Kind.TRANSIENT, None, 100, 60.0),
        (Kind.TRANSIENT, 30.0, 1, 30.0),
        (Kind.STALE, None, 2, 1.0),
        (Kind.LIMIT, None, 1, 60.0),
        (Kind.LIMIT, None, 3, 240.0),
        (Kind.LIMIT, 2.0, 1, 2.0),
        (Kind.LAG, None, 1, 0.25),
        (Kind.LAG, None, 5, 4.0),
    ],
)
def test_how_long(kind: Kind, asked: float | None, attempt: int, least: float) -> None:
    outcome = Meaning(RefusalRow(kind, ""), REASON, pause=asked)
    assert least <= pause_before(outcome, attempt) <= least * 1.25


def test_new_content_waits_for_a_minute_whatever_the_header_says() -> None:
    row = RefusalRow(Kind.LIMIT, "", at_least_a_minute=True)
    outcome = Meaning(row, REASON, pause=1.0)
    assert pause_before(outcome, 1) >= 60


def test_a_pause_is_announced_and_passes() -> None:
    retry, clock, said = policy(1)
    began = clock.now
    retry.begin_pause(7.2, REASON)
    assert [(m.key, m.values["seconds"]) for m in said] == [("wait.pause", 8)]
    retry.wait()
    assert clock.now - began == pytest.approx(7.2)
    for seconds in (1, 5, 10):
        retry.begin_pause(seconds, REASON, announcement=msg("wait.lag"))
    assert [m.key for m in said] == ["wait.pause", "wait.lag"]


def test_pauses_of_several_threads_at_once_are_counted_once() -> None:
    retry, clock, said = policy(1)
    # Each pause is longer by a small random part, and two of them together are not allowed
    for number in range(15):
        retry.begin_pause(40 + number / 14, REASON)
    assert len(said) == 1
    retry.wait()
    retry.begin_pause(18, REASON)
    retry.wait()
    assert clock.now == pytest.approx(FakeClock().now + 59)
    with pytest.raises(OutOfTime):
        retry.begin_pause(2, REASON)


def test_a_pause_that_is_much_longer_than_the_one_under_way_is_told() -> None:
    retry, clock, said = policy(15)
    began = clock.now
    for seconds in (60, 80, 600, 5):
        retry.begin_pause(seconds, REASON)
    assert [m.values["seconds"] for m in said] == [60, 600]
    retry.wait()
    assert clock.now - began == pytest.approx(600)


def test_pauses_of_other_threads_are_told_at_the_end_of_a_block() -> None:
    retry, _, said = policy(15)

    def elsewhere(seconds: float) -> None:
        in_background(partial(retry.begin_pause, seconds, REASON)).result()

    with retry.announcing_afterwards():
        elsewhere(5)
        elsewhere(10)
        retry.begin_pause(20, REASON)
        assert [m.values["seconds"] for m in said] == [20]
        # This thread waits as well, so the waits of the other threads are announced
        retry.wait()
        assert [m.values["seconds"] for m in said] == [20, 5, 10]
        elsewhere(40)
        assert len(said) == 3
    elsewhere(80)
    assert [m.values["seconds"] for m in said] == [20, 5, 10, 40, 80]


def test_the_time_of_requests_that_failed_counts_once() -> None:
    retry, clock, _ = policy(1)
    began = clock.now
    clock.sleep(20)
    for _ in range(15):
        retry.count_failed(began)
    retry.begin_pause(10, REASON)
    retry.wait()
    began = clock.now
    clock.sleep(20)
    retry.count_failed(began)
    with pytest.raises(OutOfTime):
        retry.begin_pause(10.1, REASON)
    retry.begin_pause(9.9, REASON)


def test_no_pause_begins_while_the_time_of_a_failed_request_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise the end of the pause would count as the end of the time counted so far."""
    retry, clock, _ = policy(1)
    began = clock.now
    clock.sleep(20)
    others = list[Future[None]]()

    def now() -> float:
        monkeypatch.undo()
        others.append(in_background(partial(retry.begin_pause, 30, REASON)))
        wait(others, timeout=0.1)
        return clock.now

    monkeypatch.setattr(clock, "monotonic", now)
    retry.count_failed(began)
    others[0].result()
    retry.wait()
    with pytest.raises(OutOfTime):
        retry.begin_pause(11, REASON)


@pytest.mark.parametrize(
    ("minutes", "seconds", "key"),
    [
        (0, 0.5, "limit.no_waiting"),
        (0, 3600, "limit.no_waiting"),
        (0.5, 40, "limit.out_of_time"),
        (0.5, 3600, "limit.out_of_time"),
    ],
)
def test_no_longer_than_allowed(minutes: float, seconds: float, key: str) -> None:
    retry, _, said = policy(minutes)
    with pytest.raises(OutOfTime) as ended:
        retry.begin_pause(seconds, REASON)
    assert ended.value.message.key == key
    assert ended.value.message.values["minutes"] == minutes
    assert said == []


def test_the_last_answers_end_in_time() -> None:
    """A write that hangs, and the read after it, may take 25 s together if no wait is allowed."""
    retry, clock, _ = policy(0)
    assert retry.answer_seconds() == 25
    began = clock.now
    clock.sleep(20)
    retry.count_failed(began)
    assert retry.answer_seconds() == 5
    began = clock.now
    clock.sleep(5)
    retry.count_failed(began)
    assert retry.answer_seconds() == 5
    assert policy(15)[0].answer_seconds() > 15 * 60


def full(clock: FakeClock) -> Pace:
    """Return a pace after as many writes as GitHub allows in a minute."""
    pace = Pace(clock)
    for _ in range(80):
        pace.note_sent()
    return pace


def test_githubs_pace_is_part_of_the_plan_of_a_run_that_has_an_end() -> None:
    retry, clock, said = policy(0.5)
    pace = full(clock)
    pace.expect(100, end=clock.now + 100)
    retry.wait_for_turn(pace, creates_content=True)
    assert pace.end
    assert pace.end - clock.now == pytest.approx(39)
    # The interval between writes is not announced
    assert [message.values["seconds"] for message in said] == [60]
    for _ in range(80):
        pace.note_sent()
    with pytest.raises(OutOfTime) as ended:
        retry.wait_for_turn(pace, creates_content=True)
    assert ended.value.message.key == "limit.after_end"
    # The pauses for GitHub's pace have not been counted as waiting
    retry.begin_pause(30, REASON)


@pytest.mark.parametrize(("slept", "left"), [(1, 60), (60.75, 0.25)])
def test_a_write_that_would_wait_until_the_end_is_left_and_a_moment_is_not_announced(
    slept: float, left: float
) -> None:
    retry, clock, said = policy(1)
    pace = full(clock)
    clock.sleep(slept)
    pace.expect(100, end=clock.now + left)
    with pytest.raises(OutOfTime):
        retry.wait_for_turn(pace, creates_content=True)
    pace.expect(100, end=clock.now + left + 0.25)
    retry.wait_for_turn(pace, creates_content=True)
    assert [message.values["seconds"] for message in said] == ([60] if left == 60 else [])


def test_githubs_pace_is_waiting_like_any_other_where_nothing_ends_the_run() -> None:
    retry, clock, _ = policy(1)
    with pytest.raises(OutOfTime) as ended:
        retry.wait_for_turn(full(clock), creates_content=True)
    assert ended.value.message.key == "limit.out_of_time"
    retry.wait_for_turn(full(clock), creates_content=False)
