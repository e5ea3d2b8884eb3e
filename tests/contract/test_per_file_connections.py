"""`per-file`: reads on several connections, writes one after another at the host's own pace."""

from __future__ import annotations

import itertools
import threading
from collections import Counter

from registrar.github.limits import CONNECTIONS
from tests.fakehub import Fault, FaultKind, Pace, Repository, Request, StandInHost, raw
from tests.harness import TARGET, Action, calls, shortened


def most_at_once(requests: list[Request]) -> int:
    """How many of the requests were under way at the same moment."""
    ends = [(r.ended, -1) for r in requests if r.ended is not None]
    moments = sorted([(r.started, 1) for r in requests] + ends)
    most = under_way = 0
    for _, change in moments:
        under_way += change
        most = max(most, under_way)
    return most


def test_checks_share_few_connections_and_writes_share_one(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    threads: dict[int, list[Request]] = {}
    # The host serves each connection with a thread of its own
    host.on_request = lambda r: threads.setdefault(threading.get_ident(), []).append(r)
    host.latency = 0.05
    assert action().exit_code == 0
    reads = [r for r in host.requests if r.path.partition("/contents/")[1] and r.method == "GET"]
    assert 2 <= most_at_once(reads) <= CONNECTIONS
    writes = [r for r in host.requests if r.method != "GET"]
    assert most_at_once(writes) == 1
    assert len(threads) <= CONNECTIONS + 1
    # Kept alive: what is sent one by one takes one connection
    served_by = [{r.number for r in served} for served in threads.values()]
    assert any({r.number for r in writes} <= numbers for numbers in served_by)
    assert any({1, 2, 3} <= numbers for numbers in served_by)
    for served in threads.values():
        assert all("close" not in r.headers.get("connection", "") for r in served)


def test_nothing_is_read_twice(action: Action, host: StandInHost, repository: Repository) -> None:
    assert action().exit_code == 0
    assert max(Counter(calls(host)).values()) == 1


def test_a_list_of_one_takes_one_connection_more(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    threads = set[int]()
    host.on_request = lambda _: threads.add(threading.get_ident())
    assert action(definitions=action.listing_of({"a.txt": None})).exit_code == 0
    assert len(threads) <= 2


def test_no_pause_between_writes_while_the_pace_is_far(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    run = action(language="en")
    assert run.exit_code == 0
    assert "Waiting" not in run.stdout
    writes = [r for r in host.requests if r.method != "GET"]
    pauses = [
        after.started - before.ended for before, after in itertools.pairwise(writes) if before.ended
    ]
    assert sorted(pauses)[len(pauses) // 2] < 0.1


def test_a_host_with_a_slower_pace_is_obeyed(action: Action, host: StandInHost) -> None:
    repository = host.create_repository(TARGET)
    host.pace = Pace(per_minute=4, minute=1.0)
    run = action(definitions=action.listing(*"abcdef"), language="en")
    assert run.exit_code == 0, run.text
    assert "Waiting" in run.stdout
    assert "secondary rate limit" in run.stdout
    refused = [shortened(r) for r in host.requests if r.status == 403]
    assert 1 <= len(refused) <= 3
    assert len(repository.pull_requests) == 1
    assert run.outputs["created"] == "6"


def test_answers_that_are_too_large_together_are_asked_for_again(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """None of them alone is larger than an answer may be."""
    script = raw.of(raw.head("Content-Length: 12000009"), b" " * 12_000_000, 1.0, b" " * 9)
    host.faults.add(
        Fault(FaultKind.RAW, match=lambda r: "/contents/" in r.path, times=5, script=script)
    )
    run = action(definitions=action.listing(*"abcde"), language="en")
    assert run.exit_code == 0, run.text
    assert "being read at the same time are too large together" in run.console
    assert "larger than any that GitHub sends" not in run.console
