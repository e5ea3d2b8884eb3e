from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.fakehub import Repository, StandInHost, Submodule, Symlink


class Client:
    """A plain HTTP client with one token."""

    def __init__(self, host: StandInHost, token: str | None) -> None:
        self.host = host
        self.session = requests.Session()
        if token is not None:
            self.session.headers["Authorization"] = f"Bearer {token}"

    def __call__(self, method: str, path: str, json: Any = None, **more: Any) -> requests.Response:
        more = {"timeout": 60, "allow_redirects": False} | more
        return self.session.request(method, self.host.url + path, json=json, **more)

    def put(self, path: str, **body: Any) -> requests.Response:
        """PUT a one-byte file into octo/example."""
        body = {"message": "chore: add", "content": "eA=="} | body
        return self("PUT", f"/repos/octo/example/contents/{path}", body)

    def graphql(self, query: str, **variables: Any) -> dict[str, Any]:
        answer = self("POST", "/graphql", {"query": query, "variables": variables})
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body


@pytest.fixture
def host() -> Iterator[StandInHost]:
    with StandInHost() as host:
        yield host


@pytest.fixture
def repository(host: StandInHost) -> Repository:
    return host.create_repository(
        "octo/example",
        {
            "README.md": b"# x\n",
            "docs/guide.md": b"guide\n",
            "docs/up": Symlink(".."),
            "link": Symlink("docs/guide.md"),
            "module": Submodule("a" * 40),
        },
    )


@pytest.fixture
def client(host: StandInHost, repository: Repository) -> Iterator[Client]:
    client = Client(host, host.create_token())
    yield client
    client.session.close()
