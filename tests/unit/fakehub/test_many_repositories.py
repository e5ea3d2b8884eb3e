"""Many repositories: what lists them, what reads them, and how they are told apart."""

from __future__ import annotations

import time
from typing import Any

import pytest
import requests

from tests.fakehub import StandInHost

from .conftest import Client

NODES = """
query ($ids: [ID!]!) {
  nodes(ids: $ids) { ... on Repository {
    nameWithOwner isEmpty isLocked isDisabled isArchived isFork visibility
    primaryLanguage { name } repositoryTopics(first: 5) { nodes { topic { name } } }
    parent { nameWithOwner }
  } }
}
"""
NAMES = "query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Repository { nameWithOwner } } }"


@pytest.fixture
def client(host: StandInHost) -> Client:
    return Client(host, host.create_token("installation"))


def names(answer: requests.Response) -> list[str]:
    body = answer.json()
    listed = body["repositories"] if isinstance(body, dict) else body
    return [each["name"] for each in listed]


def pages(client: Client, path: str) -> tuple[list[str], int]:
    """The names of all pages, each found by the link of the one before; and how many."""
    found, count = [], 0
    following: str | None = f"{path}?per_page=100"
    while following:
        answer = client("GET", following)
        assert answer.status_code == 200, answer.text
        found += names(answer)
        count += 1
        link = answer.links.get("next")
        following = link["url"].removeprefix(client.host.url) if link else None
    return found, count


def ids(client: Client, path: str = "/installation/repositories") -> list[str]:
    return [each["node_id"] for each in client("GET", path).json()["repositories"]]


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("installation", "/installation/repositories"),
        ("installation", "/orgs/octo-org/repos"),
        ("classic", "/orgs/Octo-Org/repos"),
        ("classic", "/user/repos"),
        ("classic", "/users/octo-org/repos"),
    ],
)
def test_pages(host: StandInHost, kind: Any, path: str) -> None:
    expected = [f"r{number:03}" for number in range(250)]
    for name in expected:
        host.create_repository(f"octo-org/{name}")
    assert pages(Client(host, host.create_token(kind)), path) == (expected, 3)


def test_links(host: StandInHost, client: Client) -> None:
    for number in range(5):
        host.create_repository(f"octo-org/{number}")
    answer = client("GET", "/installation/repositories?per_page=2&page=2")
    assert answer.json()["total_count"] == 5
    found = {name: link["url"][-6:] for name, link in answer.links.items()}
    assert found == {"prev": "page=1", "next": "page=3", "last": "page=3", "first": "page=1"}
    assert "Link" not in client("GET", "/installation/repositories").headers


def test_who_sees_what(host: StandInHost) -> None:
    host.create_repository("octo-org/public")
    host.create_repository("octo-org/secret", private=True)
    host.create_repository("octo-org/inner", private=True, internal=True)
    host.create_repository("octocat/own", private=True)
    host.create_repository("octo-org/gone").delete()
    app = Client(host, host.create_token("installation", repositories=["octo-org/secret"]))
    classic = Client(host, host.create_token())
    narrow = Client(host, host.create_token(scopes=["public_repo"]))
    both = ["inner", "public", "secret"]
    for client, path, expected in (
        (app, "/installation/repositories", ["secret"]),
        (app, "/orgs/octo-org/repos", ["public", "secret"]),
        (classic, "/orgs/octo-org/repos", both),
        (narrow, "/orgs/octo-org/repos", ["public"]),
        (classic, "/users/octo-org/repos", ["public"]),
        (classic, "/user/repos", [*both, "own"]),
        (classic, "/user/repos?affiliation=owner", ["own"]),
    ):
        assert names(client("GET", path)) == expected, path


@pytest.mark.parametrize(
    ("kind", "path", "status"),
    [
        ("classic", "/installation/repositories", 403),
        ("installation", "/user/repos", 403),
        ("classic", "/orgs/octocat/repos", 404),
        ("classic", "/orgs/nobody/repos", 404),
        ("classic", "/users/nobody/repos", 404),
    ],
)
def test_refusals(host: StandInHost, kind: Any, path: str, status: int) -> None:
    host.create_repository("octocat/own")
    assert Client(host, host.create_token(kind))("GET", path).status_code == status


def test_single_sign_on_hides_a_part(host: StandInHost) -> None:
    host.create_repository("octo-org/a")
    host.create_repository("strict-org/b")
    client = Client(host, host.create_token(hidden_by_sso=["strict-org"]))
    answer = client("GET", "/user/repos")
    assert names(answer) == ["a"]
    assert answer.headers["X-GitHub-SSO"].startswith("partial-results; organizations=")
    assert "X-GitHub-SSO" not in client("GET", "/orgs/octo-org/repos").headers


def test_attributes(host: StandInHost, client: Client) -> None:
    host.create_repository("octo-org/parent")
    host.create_repository(
        "octo-org/all",
        private=True,
        internal=True,
        archived=True,
        disabled=True,
        locked=True,
        parent="octo-org/parent",
        language="Python",
        topics=["cli", "infra"],
    )
    host.create_repository("octo-org/empty", empty=True)
    shown = client("GET", "/repos/octo-org/all").json()
    keys = ("private", "visibility", "archived", "disabled", "fork", "language", "topics")
    expected = (True, "internal", True, True, True, "Python", ["cli", "infra"])
    assert tuple(shown[key] for key in keys) == expected
    full, empty, _ = client.graphql(NODES, ids=ids(client))["data"]["nodes"]
    assert full == {
        "nameWithOwner": "octo-org/all",
        "isEmpty": False,
        "isLocked": True,
        "isDisabled": True,
        "isArchived": True,
        "isFork": True,
        "visibility": "INTERNAL",
        "primaryLanguage": {"name": "Python"},
        "repositoryTopics": {"nodes": [{"topic": {"name": name}} for name in ("cli", "infra")]},
        "parent": {"nameWithOwner": "octo-org/parent"},
    }
    assert (empty["isEmpty"], empty["visibility"], empty["parent"]) == (True, "PUBLIC", None)


def test_nodes_keep_their_places(host: StandInHost, client: Client) -> None:
    first, second, third = (host.create_repository(f"octo-org/{name}") for name in "abc")
    known = ids(client)
    first.rename("octo-org/renamed")
    second.delete()
    third.private = True
    narrow = Client(host, host.create_token(scopes=["public_repo"]))
    body = narrow.graphql(NAMES, ids=[*known, "R_nonsense"])
    shown = [each and each["nameWithOwner"] for each in body["data"]["nodes"]]
    assert shown == ["octo-org/renamed", None, None, None]
    found = [(each["type"], each["path"]) for each in body["errors"]]
    assert found == [("NOT_FOUND", ["nodes", index]) for index in (1, 2, 3)]


def test_at_most_a_hundred_ids(client: Client) -> None:
    body = client.graphql(NAMES, ids=["R_x"] * 101)
    [error] = body["errors"]
    assert (body["data"], error["type"]) == (None, "ARGUMENT_LIMIT")


def test_old_ids(host: StandInHost, client: Client) -> None:
    host.create_repository("octo-org/a")
    host.quirks.old_ids = True
    old = ids(client)
    assert old == ["MDEwOlJlcG9zaXRvcnkxMDAw"]
    [node] = client.graphql(NAMES, ids=old)["data"]["nodes"]
    assert node["nameWithOwner"] == "octo-org/a"
    assert node["id"].startswith("R_")


def test_a_size_counts_nodes(host: StandInHost, client: Client) -> None:
    for name in "abcd":
        host.create_repository(f"octo-org/{name}")
    host.quirks.partial_above = 3
    body = client.graphql(NAMES, ids=ids(client))
    assert [each is None for each in body["data"]["nodes"]] == [False] * 3 + [True]
    assert [each["path"] for each in body["errors"]] == [["nodes", 3]]


def test_several_repositories_in_one_query(host: StandInHost, client: Client) -> None:
    host.create_repository("octo-org/.github", {"profile/README.md": b"x", "SECURITY.md": b"y"})
    query = """
    { a: repository(owner: "octo-org", name: ".github") {
        object(expression: "HEAD:") { ... on Tree { entries { name type } } }
        defaultBranchRef { target { ... on Commit {
          file(path: "profile") { object { ... on Tree { entries { path type } } } } } } } }
      b: repository(owner: "octo-org", name: "none") { id } }
    """
    body = client.graphql(query)
    found = body["data"]["a"]
    entries = [(each["name"], each["type"]) for each in found["object"]["entries"]]
    assert entries == [("SECURITY.md", "blob"), ("profile", "tree")]
    folder = found["defaultBranchRef"]["target"]["file"]["object"]
    assert folder["entries"] == [{"path": "profile/README.md", "type": "blob"}]
    assert body["data"]["b"] is None
    assert [(each["type"], each["path"]) for each in body["errors"]] == [("NOT_FOUND", ["b"])]


def test_one_of_many_is_written_alone(host: StandInHost, client: Client) -> None:
    """Repositories that began alike share their objects only until they are written to."""
    one, other = (host.create_repository(f"octo-org/{name}", {"a": b"a"}) for name in "xy")
    body = {"message": "m", "content": "eA=="}
    assert client("PUT", "/repos/octo-org/x/contents/new", body).status_code == 201
    assert (set(one.files()), set(other.files())) == ({"a", "new"}, {"a"})
    assert one.head() != other.head()
    assert (one.path / "HEAD").read_text() == "ref: refs/heads/main\n"


def test_a_locked_repository_takes_no_writes(host: StandInHost, client: Client) -> None:
    host.create_repository("octo-org/x", locked=True)
    body = {"message": "m", "content": "eA=="}
    assert client("PUT", "/repos/octo-org/x/contents/new", body).status_code == 403


@pytest.mark.large
def test_ten_thousand_are_quick(host: StandInHost) -> None:
    began = time.process_time()
    for number in range(10_000):
        host.create_repository(f"octo-org/{number}")
    assert time.process_time() - began < 5
