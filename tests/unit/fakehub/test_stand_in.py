"""The stand-in refuses and hides the same things as GitHub, because other tests rely on that.

Every request, and the recordings, show that its answers have the form of GitHub's.
"""

from __future__ import annotations

import threading

import pytest

from tests.clocks import FakeClock
from tests.fakehub import Act, Lag, Pace, Refusal, Repository, StandInHost, Symptom, Write
from tests.fakehub.representations import Representations

from .conftest import REPO, Client

COMMIT = """
mutation ($oid: GitObjectID!, $branch: String!, $paths: [FileAddition!]!) {
  createCommitOnBranch(input: {
    branch: {repositoryNameWithOwner: "octo/example", branchName: $branch}, expectedHeadOid: $oid,
    message: {headline: "chore: add"}, fileChanges: {additions: $paths}
  }) { commit { oid } }
}
"""
REF = '{ repository(owner: "octo", name: "example") { ref(qualifiedName: "work") { name } } }'
IDS = "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }"


def commit(client: Client, oid: str, *paths: str, branch: str = "work") -> str | None:
    """Commit these files with GraphQL; return the message of the error, or None."""
    additions = [{"path": path, "contents": "eA=="} for path in paths]
    body = client.graphql(COMMIT, oid=oid, branch=branch, paths=additions)
    return body["errors"][0]["message"] if "errors" in body else None


# --- Its own descriptions --------------------------------------------------------------------


def ask(method: str, path: str, body: object = None) -> None:
    """Send one request to a new host, which is closed afterwards."""
    with StandInHost() as host:
        host.create_repository("octo/example")
        Client(host, host.create_token())(method, path, body)


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/user", None, "no such operation"),
        ("GET", f"{REPO}/contents/README.md?branch=main", None, "undocumented query"),
        ("GET", f"{REPO}/pulls?state=merged", None, "is not one of"),
        ("POST", f"{REPO}/git/refs", {"ref": "refs/heads/x"}, "required property"),
        ("POST", f"{REPO}/git/refs", None, "body is missing"),
        ("PATCH", f"{REPO}/pulls/1", {"description": "x"}, "undocumented property"),
        ("POST", "/graphql", {"query": "{ viewer { nope } }"}, "Cannot query field"),
        ("POST", "/graphql", {"query": IDS}, "was not provided"),
        ("POST", "/graphql", {"query": "{ viewer {"}, "Syntax Error"),
    ],
)
def test_what_is_not_described_fails(method: str, path: str, body: object, expected: str) -> None:
    with pytest.raises(AssertionError, match=expected):
        ask(method, path, body)


def test_a_wrong_answer_of_its_own_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Representations, "file", lambda *_: {"type": "file"})
    with pytest.raises(AssertionError, match="answer 200"):
        ask("GET", f"{REPO}/contents/README.md")


# --- Never overwritten -----------------------------------------------------------------------


@pytest.mark.parametrize("path", ["README.md", "docs", "README.md/x", "docs/up/x"])
def test_a_file_is_written_where_nothing_is(
    client: Client, repository: Repository, path: str
) -> None:
    before = repository.head()
    assert client.put(path).status_code in {409, 422}
    assert repository.head() == before
    assert client.put("new").status_code == 201


def test_of_two_writes_at_once_one_is_refused(client: Client, host: StandInHost) -> None:
    begun, answers = threading.Barrier(2), []

    def spend_latency() -> None:
        """Wait for the other request; this is called between reading and moving the branch."""
        begun.wait(timeout=60)

    host.spend_latency = spend_latency  # type: ignore[method-assign]
    threads = [
        threading.Thread(target=lambda name=name: answers.append(client.put(name).status_code))
        for name in ("a", "b")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [201, 409]


def test_a_commit_is_made_at_the_expected_head_alone(
    client: Client, repository: Repository
) -> None:
    old = repository.head()
    repository.person.commit({"theirs": b""})
    stale = f'Expected branch to point to "{old}" but it did not.  Pull and try again.'
    assert commit(client, old, "new", branch="main") == stale
    assert commit(client, repository.head(), "good", "README.md/x", branch="main")
    assert not {"new", "good"} & set(repository.files())
    assert commit(client, repository.head(), "good", branch="main") is None


def test_one_of_many_is_written_alone(host: StandInHost) -> None:
    """Repositories with the same first files share their objects only until the first write."""
    one, other = (host.create_repository(f"octo-org/{name}", {"a": b"a"}) for name in "xy")
    client = Client(host, host.create_token())
    body = {"message": "m", "content": "eA=="}
    assert client("PUT", "/repos/octo-org/x/contents/new", body).status_code == 201
    assert (set(one.files()), set(other.files())) == ({"a", "new"}, {"a"})


# --- Lag and the other switches --------------------------------------------------------------


def test_a_lag_ends_with_time(client: Client, repository: Repository, clock: FakeClock) -> None:
    client.host.quirks.lag = Lag(seconds=0.8, symptoms=[Symptom.CONTENTS])
    repository.person.create_branch("theirs")
    assert client.put("one", branch="theirs").status_code == 201
    repository.person.create_reference("refs/heads/work", repository.head())
    got = []
    for _ in range(4):
        got.append(client.put("one", branch="work").status_code)
        clock.sleep(0.3)
    assert got == [404, 404, 404, 201]


def test_a_lag_shows_once_for_each_commit_what_no_recording_has(
    client: Client, repository: Repository
) -> None:
    shown = (Symptom.GRAPHQL_REFERENCE, Symptom.PULL_NOT_FOUND)
    client.host.quirks.lag = Lag(answers=1, symptoms=shown)
    client("POST", f"{REPO}/git/refs", {"ref": "refs/heads/work", "sha": repository.head()})
    refs = [client.graphql(REF)["data"]["repository"]["ref"] for _ in range(2)]
    assert refs == [None, {"name": "work"}]
    pull = {"title": "t", "head": "work", "base": "main"}
    for path in ("one", "two"):
        assert client.put(path, branch="work").status_code == 201
        assert client("POST", f"{REPO}/pulls", pull).status_code == 404
    assert client("POST", f"{REPO}/pulls", pull).status_code == 201


def test_a_real_day_begins_with_refusals(client: Client, repository: Repository) -> None:
    client.host.real_day()
    body = {"ref": "refs/heads/work", "sha": repository.head()}
    refs = [client("POST", f"{REPO}/git/refs", body).status_code for _ in range(3)]
    assert refs == [422, 502, 201]
    assert client.put("one", branch="work").status_code == 404


# --- Limits ----------------------------------------------------------------------------------


def test_the_pace() -> None:
    """80 requests in a minute and 500 in an hour are allowed; refused ones do not count."""
    pace, now, waits = Pace(), 0.0, []
    while now < 3600:
        try:
            pace.spend(now)
        except Refusal as refusal:
            waits.append(int(refusal.headers["Retry-After"]))
            now += waits[-1]
    assert (len(waits), waits[:7], now, pace.refused) == (7, [60] * 6 + [3240], 3600, 7)


def test_the_pace_counts_what_is_written_by_both_interfaces(
    client: Client, host: StandInHost, repository: Repository
) -> None:
    host.pace = Pace(per_minute=2)
    assert client.put("a").status_code == 201
    assert commit(client, repository.head(), "b", branch="main") is None
    assert client.put("c").status_code == 403
    assert client("GET", REPO).status_code == 200
    host.quirks.limits_at_200 = True
    assert "secondary rate limit" in str(commit(client, repository.head(), "c", branch="main"))


def test_what_is_too_large_is_refused(client: Client) -> None:
    [error] = client.graphql(IDS, ids=["R_x"] * 101)["errors"]
    assert error["type"] == "ARGUMENT_LIMIT"
    query = REF.replace(
        'ref(qualifiedName: "work") { name }', "pullRequests(first: 101) { nodes { id } }"
    )
    [error] = client.graphql(query)["errors"]
    assert error["type"] == "EXCESSIVE_PAGINATION"
    client.host.quirks.bad_gateway_above = -1
    assert client("POST", "/graphql", {"query": REF}).status_code == 502


@pytest.mark.parametrize(
    ("permissions", "statuses"),
    [
        ({"contents": "read"}, [403, 403]),
        ({"contents": "write"}, [201, 403]),
        ({"contents": "write", "pull_requests": "write"}, [201, 201]),
    ],
)
def test_a_token_may_do_what_its_permissions_say_and_no_more(
    host: StandInHost, repository: Repository, permissions: dict[str, str], statuses: list[int]
) -> None:
    repository.person.commit({"a": b"a"}, branch="work")
    client = Client(host, host.create_token("installation", permissions=permissions))
    pull = {"title": "t", "head": "work", "base": "main"}
    found = [client.put("x").status_code, client("POST", f"{REPO}/pulls", pull).status_code]
    assert found == statuses
    assert client.put(".github/workflows/x.yml").status_code == 403


def test_a_private_repository_is_hidden_from_who_may_not_see_it(
    host: StandInHost, repository: Repository
) -> None:
    repository.person.change(private=True)
    for token in (
        host.create_token(scopes=("public_repo",)),
        host.create_token("installation", repositories=["octo/other"]),
    ):
        client = Client(host, token)
        assert client("GET", REPO).status_code == 404
        assert client("GET", "/orgs/octo/repos").json() == []


# --- The journal -----------------------------------------------------------------------------


def test_the_journal_says_who_did_what(
    client: Client, host: StandInHost, repository: Repository
) -> None:
    """The oracle of all tests reads it, so its entries are compared as a whole here."""
    repository.person.create_branch("work")
    assert commit(client, repository.head("work"), "a.md") is None
    repository.as_registrar.commit({"a.md": b"A\n", "b.md": b"B\n"}, branch="work")
    client("POST", f"{REPO}/pulls", {"head": "work", "base": "main", "title": "T", "body": "B"})
    repository.person.edit(1, body="Mine")
    repository.person.close(1)
    repository.person.archive()
    blob = repository.git.revparse_single("work:b.md").id
    told: list[tuple[str, str, object]] = []
    for each in host.journal:
        match each:
            case Write():
                told.append(
                    (each.actor.kind, each.branch, [change.path for change in each.changes])
                )
            case Act():
                told.append((each.actor.kind, each.verb, each.pull_request))
    assert told == [
        ("person", "work", []),
        ("registrar", "work", ["a.md"]),
        ("registrar", "work", ["a.md", "b.md"]),
        ("registrar", "open", 1),
        ("person", "edit", 1),
        ("person", "close", 1),
        ("person", "change", None),
    ]
    [_, _, last, _, edit, *_] = host.journal
    assert isinstance(last, Write)
    assert last.changes[1] == ("b.md", None, str(blob))
    assert isinstance(edit, Act)
    assert (edit.before["body"], edit.after["body"]) == ("B", "Mine")


def test_a_repository_can_be_read_only(repository: Repository) -> None:
    with pytest.raises(AttributeError, match=r"use repository\.person\.change\(private=…\)"):
        setattr(repository, "private", True)  # noqa: B010 (mypy refuses the statement)
    with pytest.raises(AttributeError, match=r"use repository\.person\.commit\(…\)"):
        getattr(repository, "commit")  # noqa: B009
