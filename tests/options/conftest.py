"""Runs with either strategy, in English."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from tests.conftest import Action, Run
from tests.fakehub import Request, StandInHost

PER_FILE, SINGLE = STRATEGIES = ("per-file", "single")
JAPANESE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")

Start = Callable[..., Run]


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> str:
    """Each way to write, and to read."""
    return str(request.param)


@pytest.fixture
def start(action: Action, strategy: str) -> Start:
    """The action in English, with either strategy."""
    return partial(action, commit_strategy=strategy, language="en")


def is_read(request: Request) -> bool:
    """Whether a request only reads: a query of GraphQL is sent by POST as well."""
    query = str((request.json or {}).get("query", ""))
    return request.method == "GET" or query.lstrip().startswith("query")


def only_reads(host: StandInHost) -> bool:
    """Whether no request could have changed anything."""
    return all(is_read(request) for request in host.requests)
