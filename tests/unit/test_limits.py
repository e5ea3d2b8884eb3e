"""What GitHub tells of a token in its headers."""

from __future__ import annotations

import pytest

from registrar.errors import Refused
from registrar.github.limits import Resource, TokenLimits, clock_time
from tests.clocks import FakeClock

NOW = 1_577_836_800.0


def rate_limit(remaining: int, resource: str = "core", reset: float = NOW + 60) -> dict[str, str]:
    """The headers of one rate limit."""
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
    limits.note(rate_limit(5))  # an answer that was counted before, and came later
    with pytest.raises(Refused):
        limits.require(Resource.REST, 4)
    limits.note(rate_limit(2, "search"))
    limits.require(Resource.REST, 3)
    clock.sleep(61)
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
