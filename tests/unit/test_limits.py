"""The limits of a token according to GitHub's headers, the pauses of a run, and its pace."""

from __future__ import annotations

from concurrent.futures import Future, wait
from functools import partial

import pytest

from registrar.errors import Kind, OutOfTime, Refused
from registrar.github.case import Meaning, RefusalRow
from registrar.github.limits import (
    CALM_WRITES,
    LONGEST_INTERVAL,
    WINDOWS,
    Pace,
    Resource,
    RetryPolicy,
    TokenLimits,
    asked_pause,
    clock_time,
    interval_for,
    number,
    pause_before,
)
from registrar.runtime.cancellation import Cancellation
from registrar.runtime.concurrency import in_background
from registrar.texts.messages import Message, msg
from tests.clocks import FakeClock

REASON = msg("fault.conflict")
NOW = 1_577_836_800.0
A_DATE = "Wed, 01 Jan 2020 00:00:{} GMT"
BROKEN = ("", "inf", "-inf", "nan", "NaN", "-1", "soon", "1e999", "9" * 5000, "٣x", "0x10", "\n")


def rate_limit(remaining: int, resource: str = "core", reset: float = NOW + 60) -> dict[str, str]:
    """Return the headers of one rate limit."""
    return {
        "x-ratelimit-remaining": str(remaining),
        "x-ratelimit-reset": str(reset),
        "x-ratelimit-resource": resource,
    }


@pytest.mark.parametrize("resource", list(Resource))
def test_each_rate_limit_is_its_own(resource: Resource) -> None:
    limits = TokenLimits("ghp_x", FakeClock(NOW))
    limits.note(rate_limit(3, resource))
    limits.require(resource, 3)
    for other in set(Resource) - {resource}:
        limits.require(other, 5000)
    with pytest.raises(Refused) as refused:
        limits.require(resource, 4)
    values = refused.value.message.values
    assert (values["needed"], values["left"], values["until"]) == (4, 3, clock_time(NOW + 60))


def test_a_rate_limit_counts_down_until_its_reset() -> None:
    clock = FakeClock(NOW)
    limits = TokenLimits("ghp_x", clock)
    limits.note(rate_limit(3))
    limits.note(rate_limit(5))  # this answer was counted earlier, but came later
    with pytest.raises(Refused):
        limits.require(Resource.REST, 4)
    limits.note(rate_limit(2, "search"))
    limits.require(Resource.REST, 3)
    clock.sleep(60)
    limits.require(Resource.REST, 4000)
    limits.note(rate_limit(4999, reset=NOW + 3600))
    limits.require(Resource.REST, 4999)


@pytest.mark.parametrize(
    ("token", "header", "expected"),
    [
        ("ghp_x", "repo, workflow", {"repo", "workflow"}),
        ("ghp_x", "", set()),
        ("ghp_x", None, None),
        ("ghs_x", "", None),
        ("github_pat_x", "", None),
        ("ghs_x", "repo", {"repo"}),
    ],
)
def test_scopes(token: str, header: str | None, expected: set[str] | None) -> None:
    limits = TokenLimits(token, FakeClock())
    limits.note({} if header is None else {"x-oauth-scopes": header})
    assert limits.scopes == expected


# --- Waits that a header asks for -----------------------------------------------------------------


@pytest.mark.parametrize("text", [None, *BROKEN])
def test_what_is_not_a_number(text: str | None) -> None:
    assert number(text) is None


@pytest.mark.parametrize(("text", "expected"), [("0", 0.0), ("12", 12.0), ("1.5", 1.5)])
def test_what_is_a_number(text: str, expected: float) -> None:
    assert number(text) == expected


@pytest.mark.parametrize(
    "name",
    ["x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-resource", "retry-after", "date"],
)
def test_a_broken_header_is_none(name: str) -> None:
    for value in (*BROKEN, "Wed, 99 Foo 2020 00:00:00 GMT", "Mon, 01 Jan 0001"):
        headers = {
            "x-ratelimit-remaining": "0",
            "x-ratelimit-reset": str(NOW + 10),
            "x-ratelimit-resource": "core",
            "x-oauth-scopes": value,
            name: value,
        }
        pause = asked_pause(headers, NOW, is_limit=True)
        assert pause is None or 0 <= pause <= 11, value
        limits = TokenLimits("ghp_x", FakeClock())
        limits.note(headers)
        limits.require(Resource.GRAPHQL, 1)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": A_DATE.format("02"), "date": A_DATE.format("00")}, 2.0),
        ({"retry-after": A_DATE.format("02")}, 2.0),
        ({"retry-after": A_DATE.format("02"), "date": A_DATE.format("30")}, 0.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW + 5)}, 6.0),
        ({"x-ratelimit-remaining": "1", "x-ratelimit-reset": str(NOW + 5)}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW - 5)}, 1.0),
        (
            {
                "x-ratelimit-remaining": "0",
                "x-ratelimit-reset": str(NOW + 5),
                "date": A_DATE.format("03"),
            },
            3.0,
        ),
    ],
)
def test_what_is_asked_for(headers: dict[str, str], expected: float | None) -> None:
    assert asked_pause(headers, NOW, is_limit=True) == expected


def test_the_reset_of_a_rate_limit_says_nothing_about_other_failures() -> None:
    assert asked_pause(rate_limit(0), NOW, is_limit=False) is None


def test_what_is_beyond_every_calendar_has_a_date() -> None:
    for headers in (
        {"retry-after": "9" * 300},
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 300},
    ):
        pause = asked_pause(headers, NOW, is_limit=True)
        assert pause
        assert clock_time(NOW + pause).startswith("20")
    assert clock_time(1e300).startswith("9999-")
    assert asked_pause({"retry-after": "9" * 300}, NOW, is_limit=False) is not None


# --- Pace ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("writes", "seconds"), [(0, 1), (1, 1), (400, 1), (401, 7.2), (5000, 7.2)])
def test_an_hour_never_sees_more_writes_than_github_takes(writes: int, seconds: float) -> None:
    assert interval_for(writes) == seconds
    assert 3600 / interval_for(writes) <= 500 or writes <= 400


def test_githubs_windows() -> None:
    clock = FakeClock()
    pace = Pace(clock)
    (per_minute, minute), (per_hour, hour) = WINDOWS
    for count in range(per_hour):
        if count and count % per_minute == 0:
            assert pace.rest_of_window() == pytest.approx(minute)
            clock.sleep(minute)
        assert pace.rest_of_window() == 0
        pace.note_sent()
    waited = (per_hour // per_minute) * minute
    assert pace.rest_of_window() == pytest.approx(hour - waited)
    # Three more writes have room when the third one leaves the window, and the first eighty writes
    # were sent at the same time
    assert pace.rest_of_window(3) == pytest.approx(hour - waited)
    assert pace.rest_of_window(per_minute) == pytest.approx(hour - waited)
    clock.sleep(hour - waited)
    assert (pace.rest_of_window(per_minute), pace.rest_of_window()) == (0, 0)


def test_the_interval_doubles_up_to_a_minute() -> None:
    pace = Pace(FakeClock())
    pace.note_limit()
    assert pace.interval == 0
    pace.expect(500, end=0)
    pace.note_limit()
    assert pace.interval == 14.4
    for _ in range(5):
        pace.note_limit()
    assert pace.interval == LONGEST_INTERVAL
    # It recovers in steps
    pace = Pace(FakeClock())
    pace.expect(100, end=0)
    for _ in range(3):
        pace.note_limit()
    seen = [pace.interval]
    for _ in range(4 * CALM_WRITES):
        pace.note_accepted()
        seen.append(pace.interval)
    assert seen == sorted(seen, reverse=True)
    assert [seen[CALM_WRITES * each] for each in range(5)] == [8, 4, 2, 1, 1]


def test_the_next_write_goes_when_the_interval_and_the_window_allow_it() -> None:
    clock = FakeClock()
    pace = Pace(clock)
    assert pace.seconds_until(1) == 0
    pace.expect(1, end=0)
    pace.note_sent(creates_content=False)
    clock.sleep(0.25)
    assert pace.seconds_until(1) == pytest.approx(0.75)
    assert pace.rest_of_window() == 0
    clock.sleep(5)
    assert pace.seconds_until(1) == 0
    for _ in range(80):
        pace.note_sent()
    assert pace.seconds_until(1) == pytest.approx(61)


# --- Waiting ------------------------------------------------------------------------------------


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
    ("row", "asked", "attempt", "least"),
    [
        (RefusalRow(Kind.TRANSIENT, ""), None, 1, 0.5),
        (RefusalRow(Kind.TRANSIENT, ""), None, 5, 8.0),
        (RefusalRow(Kind.TRANSIENT, ""), None, 100, 60.0),
        (RefusalRow(Kind.TRANSIENT, ""), 30.0, 1, 30.0),
        (RefusalRow(Kind.LIMIT, ""), None, 1, 60.0),
        (RefusalRow(Kind.LIMIT, ""), None, 3, 240.0),
        (RefusalRow(Kind.LIMIT, ""), 2.0, 1, 2.0),
        # New content waits for a minute, even if the header asks for less
        (RefusalRow(Kind.LIMIT, "", at_least_a_minute=True), 1.0, 1, 60.0),
        (RefusalRow(Kind.LAG, ""), None, 1, 0.25),
        (RefusalRow(Kind.LAG, ""), None, 5, 4.0),
    ],
)
def test_a_pause_doubles_and_lasts_as_long_as_github_asks(
    row: RefusalRow, asked: float | None, attempt: int, least: float
) -> None:
    assert least <= pause_before(Meaning(row, REASON, pause=asked), attempt) <= least * 1.25


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
    for each in range(15):
        retry.begin_pause(40 + each / 14, REASON)
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
        (0.5, 40, "limit.out_of_time"),
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
    assert not retry.wait_for_turn(full(clock), creates_content=False)
