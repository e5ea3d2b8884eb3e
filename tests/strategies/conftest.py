"""Runs with `commit_strategy: single`, and definition files made of paths and contents."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial

import pytest

from tests.conftest import Action, Run
from tests.fakehub import Request, StandInHost

STRATEGIES = ("per-file", "single")

Start = Callable[..., Run]
List = Callable[[Mapping[str, str | None]], str]


@pytest.fixture
def single(action: Action) -> Start:
    """The action with one commit for all files, in English."""
    return partial(action, commit_strategy="single", language="en")


@pytest.fixture
def listing(action: Action) -> List:
    """Writes a definition file for paths with contents (``None``: left out); gives its name."""

    def write(files: Mapping[str, str | None]) -> str:
        entries = [
            {"path": path} if content is None else {"path": path, "content": content}
            for path, content in files.items()
        ]
        return action.write("list.json", json.dumps(entries))

    return write


def queries(host: StandInHost) -> list[Request]:
    """The requests that read through GraphQL."""
    return [r for r in host.requests if r.json and r.json.get("query", "").lstrip()[:5] == "query"]


def mutations(host: StandInHost) -> list[Request]:
    """The requests that write through GraphQL."""
    return [r for r in host.requests if r.json and "mutation" in r.json.get("query", "")]
