"""Faults hit the requests they are meant for, and look as they are named."""

from __future__ import annotations

import pytest
import requests

from tests.clocks import FakeClock
from tests.fakehub import Fault, FaultKind, Repository, StandInHost

from .conftest import Client

LIMITS = [kind for kind in FaultKind if kind.startswith(("primary", "secondary"))]
DROPS = [FaultKind.RESET, FaultKind.CLOSED, FaultKind.SHORT_BODY]
AFTER = [kind for kind in FaultKind if kind.can_happen_after]


def outcome(client: Client, path: str = "new") -> requests.Response | Exception:
    try:
        return client.put(path)
    except requests.RequestException as error:
        return error


@pytest.mark.parametrize("kind", FaultKind)
def test_before_nothing_is_applied(client: Client, repository: Repository, kind: FaultKind) -> None:
    head = repository.head()
    fault = client.host.faults.add(Fault(kind, seconds=0.05))
    answer = outcome(client)
    assert not (isinstance(answer, requests.Response) and answer.status_code == 201)
    assert repository.head() == head
    assert fault.hits == [1]
    assert client.put("new").status_code == 201


@pytest.mark.parametrize("kind", AFTER)
def test_after_it_is_applied(client: Client, repository: Repository, kind: FaultKind) -> None:
    client.host.faults.add(Fault(kind, when="after", seconds=0.05))
    outcome(client)
    assert repository.files()["new"] == b"x"


@pytest.mark.parametrize("kind", sorted(set(FaultKind) - set(AFTER)))
def test_a_refusal_cannot_come_after(kind: FaultKind) -> None:
    with pytest.raises(ValueError, match="refusal"):
        Fault(kind, when="after")


@pytest.mark.parametrize("kind", LIMITS)
def test_limits(client: Client, kind: FaultKind) -> None:
    client.host.clock = clock = FakeClock()
    client.host.faults.add(Fault(kind, retry_after=7, reset_in=9))
    answer = outcome(client)
    assert isinstance(answer, requests.Response)
    assert answer.status_code == (429 if "429" in kind else 403)
    assert answer.headers.get("Retry-After") == ("7" if "retry-after" in kind else None)
    if kind.startswith("primary"):
        assert answer.headers["x-ratelimit-remaining"] == "0"
        assert int(answer.headers["x-ratelimit-reset"]) == clock.now + 9
    else:
        shown = answer.text + str(answer.headers)
        assert "secondary" in shown or "gh-limited-by" in shown


@pytest.mark.parametrize("kind", DROPS)
def test_drops(client: Client, kind: FaultKind) -> None:
    client.host.faults.add(Fault(kind))
    assert isinstance(outcome(client), requests.RequestException)
    assert client.host.requests[0].ended is not None


@pytest.mark.parametrize(
    ("kind", "status", "text"),
    [
        (FaultKind.ERROR_502_HTML, 502, "<html>"),
        (FaultKind.HTML_200, 200, "<html>"),
        (FaultKind.EMPTY_200, 200, ""),
        (FaultKind.CUT_JSON, 201, '{"content":'),
        (FaultKind.WRONG_LIST, 201, "["),
        (FaultKind.ERROR_LIST, 500, "["),
    ],
)
def test_bodies(client: Client, kind: FaultKind, status: int, text: str) -> None:
    client.host.faults.add(Fault(kind, when="after"))
    answer = outcome(client)
    assert isinstance(answer, requests.Response)
    assert answer.status_code == status
    assert answer.text.startswith(text)


def test_timeout(client: Client) -> None:
    client.host.faults.add(Fault(FaultKind.TIMEOUT, seconds=5.0))
    with pytest.raises(requests.ReadTimeout):
        client("GET", "/repos/octo/example", timeout=0.05)
    client.host.faults.add(Fault(FaultKind.TIMEOUT, seconds=0.05, when="after"))
    answer = outcome(client)
    assert isinstance(answer, requests.Response)
    assert answer.status_code == 201


def test_redirects_lead_elsewhere(client: Client, host: StandInHost) -> None:
    host.faults.add(Fault(FaultKind.REDIRECT_302))
    client("GET", "/repos/octo/example?x=1", allow_redirects=True)
    assert host.requests[-1].headers["host"].startswith("localhost:")
    # `requests` keeps the token to itself there; the stand-in shows whether a client does.
    assert host.requests[-1].token is None
    assert host.requests[-1].query == {"x": "1"}
    host.mismatches.clear()


def test_custom(client: Client) -> None:
    client.host.faults.add(
        Fault(FaultKind.CUSTOM, status=409, message="::error::@all", headers={"X-Note": "y"})
    )
    answer = outcome(client)
    assert isinstance(answer, requests.Response)
    assert (answer.status_code, answer.json()["message"]) == (409, "::error::@all")
    assert answer.headers["X-Note"] == "y"
    client.host.faults.add(Fault(FaultKind.CUSTOM, status=200, body=[]))
    assert client("GET", "/rate_limit").json() == []


def test_which_requests_are_hit(client: Client) -> None:
    faults = client.host.faults
    late = faults.add(Fault(FaultKind.ERROR_500, at=3, times=2))
    writes = faults.add(
        Fault(FaultKind.ERROR_503, match=lambda request: request.method == "PUT", times=None)
    )
    path = "/repos/octo/example"
    got = [client("GET", path).status_code for _ in range(5)]
    assert got == [200, 200, 500, 500, 200]
    assert [client.put("x").status_code for _ in range(2)] == [503, 503]
    assert (late.hits, writes.hits) == ([3, 4], [6, 7])
    faults.clear()
    assert client.put("x").status_code == 201
