from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.clocks import FakeClock
from tests.fakehub import Repository, StandInHost, Symlink

REPO = "/repos/octo/example"


class Client:
    """A plain HTTP client with one token."""

    def __init__(self, host: StandInHost, token: str) -> None:
        self.host = host
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {token}"

    def __call__(self, method: str, path: str, json: Any = None) -> requests.Response:
        return self.session.request(
            method, self.host.url + path, json=json, timeout=60, allow_redirects=False
        )

    def put(self, path: str, **body: Any) -> requests.Response:
        """Write a file of one byte into octo/example, and return the answer."""
        body = {"message": "chore: add", "content": "eA=="} | body
        return self("PUT", f"{REPO}/contents/{path}", body)

    def graphql(self, query: str, **variables: Any) -> dict[str, Any]:
        answer = self("POST", "/graphql", {"query": query, "variables": variables})
        body: dict[str, Any] = answer.json()
        return body


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def host(clock: FakeClock) -> Iterator[StandInHost]:
    with StandInHost() as host:
        host.clock = clock
        yield host


@pytest.fixture
def repository(host: StandInHost) -> Repository:
    return host.create_repository("octo/example", {"README.md": b"# x\n", "docs/up": Symlink("..")})


@pytest.fixture
def client(host: StandInHost, repository: Repository) -> Iterator[Client]:
    client = Client(host, host.create_token())
    yield client
    client.session.close()
