"""How fast the writes of one token follow each other."""

from __future__ import annotations

import pytest

from registrar.github.pace import LONGEST_INTERVAL, WINDOWS, Pace, interval_for
from tests.clocks import FakeClock


@pytest.mark.parametrize(("writes", "seconds"), [(0, 3), (1, 3), (400, 3), (401, 7.2), (5000, 7.2)])
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
    # The next three wait for the third of the first eighty, which went out at one moment
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


def test_the_next_write_goes_when_the_interval_and_the_window_allow_it() -> None:
    clock = FakeClock()
    pace = Pace(clock)
    assert pace.seconds_until(1) == 0
    pace.expect(1, end=0)
    pace.note_sent(creates_content=False)
    clock.sleep(1)
    assert pace.seconds_until(1) == pytest.approx(2)
    assert pace.rest_of_window() == 0
    clock.sleep(5)
    assert pace.seconds_until(1) == 0
    for _ in range(80):
        pace.note_sent()
    assert pace.seconds_until(1) == pytest.approx(61)
