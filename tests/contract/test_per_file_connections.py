"""`per-file`: reads on several connections, writes one after another at the host's own pace."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from registrar.github.limits import CONNECTIONS
from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost, raw
from tests.harness import Action


def test_checks_share_few_connections_and_writes_share_one(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    threads: dict[int, list[Request]] = {}
    checks: list[Request] = []
    overlapping: list[Request] = []
    first_checks = threading.Barrier(CONNECTIONS)

    def note(request: Request) -> None:
        # The host serves each connection with a thread of its own
        threads.setdefault(threading.get_ident(), []).append(request)
        if request.method != "GET":
            earlier = host.requests[: request.number - 1]
            overlapping.extend(each for each in earlier if each.ended is None)
        elif "/contents/" in request.path:
            checks.append(request)
            if len(checks) <= CONNECTIONS:
                first_checks.wait(timeout=60)

    host.on_request = note
    assert action().exit_code == 0
    # Beside the checks, two reads about the branch
    assert len(threads) <= CONNECTIONS + 1 + 2
    assert overlapping == []
    writes = {r.number for r in host.requests if r.method != "GET"}
    # Kept alive: what is sent one by one takes one connection
    served_by = [{r.number for r in served} for served in threads.values()]
    assert any(writes <= numbers for numbers in served_by)
    assert any({1, 2, 3} <= numbers for numbers in served_by)
    for served in threads.values():
        assert all("close" not in r.headers.get("connection", "") for r in served)


def test_a_list_of_one_takes_one_connection_more(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    threads = set[int]()
    host.on_request = lambda _: threads.add(threading.get_ident())
    assert action(definitions=action.listing_of({"a.txt": None})).exit_code == 0
    assert len(threads) <= 2


def test_answers_that_are_too_large_together_are_asked_for_again(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """None of them alone is larger than an answer may be."""
    given_up = threading.Event()

    def script() -> Iterator[bytes | float]:
        """A large answer that does not end before the client has given up one of its kind."""
        size, left = 24_000_000, 1_000_000
        try:
            yield raw.head(f"Content-Length: {size + left}")
            yield b" " * size
            while not given_up.is_set():
                yield 0.01
                yield b" "
                left -= 1
            yield b" " * left
        finally:
            given_up.set()

    host.faults.add(
        Fault(FaultKind.RAW, match=lambda r: "/contents/" in r.path, times=5, script=script)
    )
    run = action(definitions=action.listing(*"abcde"), language="en").or_fail()
    assert "being read at the same time are too large together" in run.console
    assert "larger than any that GitHub sends" not in run.console
