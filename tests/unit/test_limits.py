"""The limits of a token according to GitHub's headers, and the pauses between its writes."""

from __future__ import annotations

import pytest

from registrar.errors import Refused
from registrar.github.limits import (
    CALM_WRITES,
    LONGEST_INTERVAL,
    WINDOWS,
    Pace,
    Resource,
    TokenLimits,
    asked_pause,
    clock_time,
    interval_for,
    number,
)
from tests.clocks import FakeClock

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
