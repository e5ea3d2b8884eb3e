"""What headers say about waiting, broken ones included."""

from __future__ import annotations

import pytest

from registrar.github.limits import (
    Resource,
    TokenLimits,
    asked_pause,
    clock_time,
    number,
    retry_after,
)
from tests.clocks import FakeClock

NOW = 1_577_836_800.0
A_DATE = "Wed, 01 Jan 2020 00:00:{} GMT"
BROKEN = ("", "inf", "-inf", "nan", "NaN", "-1", "soon", "1e999", "9" * 5000, "٣x", "0x10", "\n")


@pytest.mark.parametrize("text", [None, *BROKEN])
def test_what_is_not_a_number(text: str | None) -> None:
    assert number(text) is None


@pytest.mark.parametrize(("text", "expected"), [("0", 0.0), ("12", 12.0), ("1.5", 1.5)])
def test_what_is_a_number(text: str, expected: float) -> None:
    assert number(text) == expected


@pytest.mark.parametrize("value", [*BROKEN, "Wed, 99 Foo 2020 00:00:00 GMT", "Mon, 01 Jan 0001"])
@pytest.mark.parametrize(
    "name",
    ["x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-resource", "retry-after", "date"],
)
def test_a_broken_header_is_none(name: str, value: str) -> None:
    headers = {
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": str(NOW + 10),
        "x-ratelimit-resource": "core",
        "x-oauth-scopes": value,
        name: value,
    }
    pause = asked_pause(headers, NOW)
    assert pause is None or 0 <= pause <= 11
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
    assert asked_pause(headers, NOW) == expected


def test_what_is_beyond_every_calendar_has_a_date() -> None:
    for headers in (
        {"retry-after": "9" * 300},
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 300},
    ):
        pause = asked_pause(headers, NOW)
        assert pause
        assert clock_time(NOW + pause).startswith("20")
    assert clock_time(1e300).startswith("9999-")
    assert retry_after({"retry-after": "9" * 300}, NOW) is not None
