"""With any content and form of an answer, a run succeeds, or fails with an error, in time.

Nothing is lost, and there is a report.
"""

from __future__ import annotations

import copy
import random
import time
from typing import Any

import pytest

from tests.example import BRANCH, POSITIONS, SORTS, Example
from tests.fakehub import Fault, FaultKind, Request
from tests.fakehub.answer import Response
from tests.fakehub.raw import SCRIPTS
from tests.gfm import only_ours
from tests.harness import STRATEGIES

RUNS = 200
ELSEWHERE = "https://evil.example/"
"""A well-formed address. A summary may link to it, because only GitHub knows the addresses of its
pages."""
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**30, "", "0", "main", BRANCH, "heads/main", " "),
    *([], {}, [[]], ["x"], [None], {"message": "Not Found"}, {"it": {}}, {"errors": [{}]}),
    *("1](http://evil.example) <img src=x onerror=alert(1)>", "@everyone #1 GH-1", "a | b `c`"),
    *("a\n::error::owned\r::warning::owned", "##[error]owned", "\x1b[31mred\u202e", "\ud800"),
    *(ELSEWHERE, "javascript:alert(1)", "x" * 100_000, "../../other/other"),
)


def changed(body: Any, rng: random.Random) -> Any:
    """Return a body with one field changed, renamed or deleted, at any depth."""
    if not isinstance(body, dict | list) or not body or rng.random() < 0.1:
        return copy.deepcopy(rng.choice(VALUES))
    key: Any = rng.choice(list(body)) if isinstance(body, dict) else rng.randrange(len(body))
    if rng.random() < 0.1:
        del body[key]
    elif isinstance(body, dict) and rng.random() < 0.05:
        body[str(rng.choice(VALUES))] = body.pop(key)
    else:
        body[key] = changed(body[key], rng)
    return body


@pytest.mark.matrix
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.chosen] if n < 3 else []) for n in range(RUNS)]
)
def test_whatever_stands_in_an_answer(example: Example, number: int, seed: int) -> None:
    rng = random.Random(f"{seed} {number}")
    host = example.host
    host.faults.are_random = True

    def fuzzed(_request: Request, right: Response) -> Response:
        body = copy.deepcopy(right.body)
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            body = changed(body, rng)
        return Response(right.status, body, dict(right.headers))

    fault = host.faults.change(fuzzed)
    fault.at = rng.choice(POSITIONS[example.strategy, "quiet"])
    fault.times = rng.choice((1, 1, 2, None))
    run = example.run(
        **rng.choice(({}, {"definitions": "", "profile": "health"})),
        mode=rng.choice(("register", "register", "register", "plan")),
        labels=rng.choice(("", "docs")),
        max_wait_minutes="1",
    )
    assert run.exit_code in {0, 1, 2}, run.console
    only_ours(run.summary, answered=ELSEWHERE)

    host.faults.clear()
    example.run().or_fail()


# --- Slow, endless or broken ----------------------------------------------------------------------

LONGEST = 30
"""Seconds for a run that may not wait, with its start and a busy machine."""
MACHINE = 15
MOST_MEMORY = 250_000_000
"""The limit in bytes. Two lists, of branches and of pull requests, may be read at the same time."""


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("strategy", "position", "name"),
    [
        pytest.param(
            *(strategy, position, name),
            marks=[pytest.mark.chosen] if name == "endless-body" and position == 2 else [],
        )
        for strategy in STRATEGIES
        for position in SORTS[strategy, "quiet"]
        for name in SCRIPTS
    ],
)
def test_a_run_ends_in_time_and_within_memory(example: Example, position: int, name: str) -> None:
    example.host.faults.add(Fault(FaultKind.RAW, at=position, times=None, script=SCRIPTS[name]))
    environ = example.action.environment(example.inputs | {"max_wait_minutes": "0"})
    began = time.monotonic()
    run, memory = example.action.measure(environ)
    assert time.monotonic() - began < LONGEST + MACHINE
    assert memory < MOST_MEMORY
    assert run.exit_code in {1, 2}, run.console
    assert run.summary
    assert run.report

    example.host.faults.clear()
    again = example.run()
    assert (again.exit_code, example.state) == (0, example.done), again.console
