"""The switches: off they change nothing, on they show what GitHub was seen to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.clocks import FakeClock
from tests.fakehub import Lag, Pace, Quirks, Refusal, Repository, StandInHost, Symptom

from .conftest import Client

REPO = "/repos/octo/example"
COMMIT = """
mutation ($oid: GitObjectID!) {
  createCommitOnBranch(input: {
    branch: {repositoryNameWithOwner: "octo/example", branchName: "work"}, expectedHeadOid: $oid,
    message: {headline: "chore: add"}, fileChanges: {additions: [{path: "new", contents: "eA=="}]}
  }) { commit { oid } }
}
"""
REF = '{ repository(owner: "octo", name: "example") { ref(qualifiedName: "work") { name } } }'
FILES = """
{ repository(owner: "octo", name: "example") { object(expression: "HEAD") { ... on Commit {
    a: file(path: "README.md") { type }
    b: file(path: "docs") { type }
    c: file(path: "link") { type }
} } } }
"""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def host(clock: FakeClock) -> Iterator[StandInHost]:
    with StandInHost() as host:
        host.clock = clock
        yield host


def steps(client: Client, repository: Repository) -> dict[str, Any]:
    """Every request that a lag can meet, in their order: how each of them ended."""
    head = repository.head()

    def post(path: str, body: object) -> tuple[int, Any]:
        answer = client("POST", REPO + path, body)
        errors = answer.json().get("errors", []) if answer.status_code == 422 else []
        return answer.status_code, [each.get("message") or each["field"] for each in errors]

    def commit() -> str | None:
        errors = client.graphql(COMMIT, oid=repository.head("work")).get("errors")
        return errors[0]["message"] if errors else None

    made = post("/git/refs", {"ref": "refs/heads/work", "sha": head})
    assert made == (201, [])
    seen = {
        "git/ref": client("GET", f"{REPO}/git/ref/heads/work").status_code,
        "matching-refs": client("GET", f"{REPO}/git/matching-refs/heads/work").json(),
        "ref": client.graphql(REF)["data"]["repository"]["ref"],
        "contents": client.put("one", branch="work").status_code,
        "commit": commit(),
    }
    repository.commit({"two": b""}, branch="work")
    pull = {"title": "t", "head": "work", "base": "main"}
    seen["pulls"] = post("/pulls", pull)
    if seen["pulls"][0] != 201:
        client.host.quirks.lag = None
        assert post("/pulls", pull) == (201, [])
        client.host.quirks.lag = Lag(answers=1, symptoms=[Symptom.LABELS])
    seen["labels"] = client("POST", f"{REPO}/issues/1/labels", ["x"]).status_code
    people = {"assignees": ["octocat"]}
    seen["assignees"] = client("POST", f"{REPO}/issues/1/assignees", people).status_code
    return seen


def test_without_lag(client: Client, repository: Repository) -> None:
    seen = steps(client, repository)
    assert seen["matching-refs"][0]["ref"] == "refs/heads/work"
    assert seen | {"matching-refs": 1} == {
        "git/ref": 200,
        "matching-refs": 1,
        "ref": {"name": "work"},
        "contents": 201,
        "commit": None,
        "pulls": (201, []),
        "labels": 200,
        "assignees": 201,
    }


@pytest.mark.parametrize(
    ("symptom", "request_", "expected"),
    [
        (Symptom.REFERENCE, "git/ref", 404),
        (Symptom.GRAPHQL_REFERENCE, "ref", None),
        (Symptom.CONTENTS, "contents", 404),
        (Symptom.COMMIT_NO_BRANCH, "commit", "Branch not found"),
        (Symptom.COMMIT_STALE, "commit", "Expected branch to point to"),
        (Symptom.PULL_NO_COMMITS, "pulls", (422, ["No commits between main and work"])),
        (
            Symptom.PULL_BLANK_SHA,
            "pulls",
            (422, ["head_sha", "base_sha", "No commits between main and work"]),
        ),
        (Symptom.PULL_BAD_HEAD, "pulls", (422, ["head"])),
        (Symptom.PULL_NOT_FOUND, "pulls", (404, [])),
        (Symptom.LABELS, "labels", 422),
        (Symptom.LABELS_NO_ISSUE, "labels", 422),
        (Symptom.ASSIGNEES, "assignees", 404),
    ],
)
def test_each_symptom(
    client: Client, repository: Repository, symptom: Symptom, request_: str, expected: object
) -> None:
    client.host.quirks.lag = Lag(answers=1, symptoms=[symptom])
    found = steps(client, repository)[request_]
    assert found == expected or (isinstance(expected, str) and found.startswith(expected))


def test_a_branch_of_both_kinds(client: Client, repository: Repository) -> None:
    """For the write it exists, for the read it does not."""
    client.host.quirks.lag = Lag(answers=1)
    body = {"ref": "refs/heads/work", "sha": repository.head()}
    assert client("POST", f"{REPO}/git/refs", body).status_code == 201
    assert client("POST", f"{REPO}/git/refs", body).json()["message"] == "Reference already exists"
    read = [client("GET", f"{REPO}/git/ref/heads/work").status_code for _ in range(2)]
    assert read == [404, 200]


def test_lag_ends_with_time(client: Client, repository: Repository, clock: FakeClock) -> None:
    client.host.quirks.lag = Lag(seconds=0.8, symptoms=[Symptom.CONTENTS])
    repository.create_branch("theirs")
    assert client.put("one", branch="theirs").status_code == 201
    repository.create_reference("refs/heads/work", repository.head())
    got = []
    for _ in range(4):
        got.append(client.put("one", branch="work").status_code)
        clock.sleep(0.3)
    assert got == [404, 404, 404, 201]


def test_a_new_commit_is_unknown_anew(client: Client, repository: Repository) -> None:
    client.host.quirks.lag = Lag(answers=1, symptoms=[Symptom.PULL_NO_COMMITS])
    repository.create_reference("refs/heads/work", repository.head())
    pull = {"title": "t", "head": "work", "base": "main"}
    for path in ("one", "two"):
        assert client.put(path, branch="work").status_code == 201
        assert client("POST", f"{REPO}/pulls", pull).status_code == 422
    assert client("POST", f"{REPO}/pulls", pull).status_code == 201


def test_flaky_references(client: Client, repository: Repository) -> None:
    client.host.quirks.flaky_references = [422, 500, 502]
    body = {"ref": "refs/heads/work", "sha": repository.head()}
    answers = [client("POST", f"{REPO}/git/refs", body) for _ in range(4)]
    assert [each.status_code for each in answers] == [422, 500, 502, 201]
    assert answers[0].json()["message"] == "Reference update failed"


@pytest.mark.parametrize(
    ("quirks", "expected"),
    [
        (Quirks(), (200, 3, [])),
        (Quirks(partial_above=3), (200, 3, [])),
        (Quirks(partial_above=2), (200, 2, ["Resource limits for this query exceeded."])),
        (Quirks(timeout_above=2), (200, None, ["Something went wrong while executing"])),
        (Quirks(bad_gateway_above=2), (502, None, [])),
    ],
)
def test_large_queries(client: Client, quirks: Quirks, expected: tuple[Any, ...]) -> None:
    client.host.quirks = quirks
    answer = client("POST", "/graphql", {"query": FILES})
    body, count = answer.json(), None
    if body.get("data"):
        count = sum(each is not None for each in body["data"]["repository"]["object"].values())
    messages = [each["message"] for each in body.get("errors", ())]
    assert (answer.status_code, count) == expected[:2]
    assert all(map(str.startswith, messages, expected[2]))
    assert len(messages) == len(expected[2])


def test_a_partial_answer_says_where(client: Client) -> None:
    client.host.quirks.partial_above = 2
    [error] = client.graphql(FILES)["errors"]
    path = ["repository", "object", "c"]
    assert (error["type"], error["path"]) == ("RESOURCE_LIMITS_EXCEEDED", path)


def test_a_field_takes_time(client: Client, clock: FakeClock) -> None:
    client.host.quirks.seconds_per_field = 2.0
    before = clock.now
    client.graphql(FILES)
    assert clock.now - before == 6.0


@pytest.mark.parametrize("kind", ["installation", "fine-grained", "classic"])
def test_pull_requests_need_a_permission(
    client: Client, host: StandInHost, repository: Repository, kind: Any
) -> None:
    query = """
    { repository(owner: "octo", name: "example") { name
        ref(qualifiedName: "main") { associatedPullRequests(first: 1) { totalCount } } } }
    """
    bare = Client(host, host.create_token(kind, permissions={"contents": "write"}))
    assert "errors" not in bare.graphql(query)
    host.quirks.pull_requests_need_permission = True
    body = bare.graphql(query)
    if kind == "classic":
        assert "errors" not in body
    else:
        assert [each["type"] for each in body["errors"]] == ["FORBIDDEN"]
        assert body["data"]["repository"] == {"name": "example", "ref": None}
    assert "errors" not in Client(host, host.create_token(kind)).graphql(query)


def test_heads(client: Client, host: StandInHost, repository: Repository) -> None:
    """`pulls?head=`: another branch's at the same commit; nothing in a fork of the same owner."""
    repository.create_branch("theirs")
    repository.create_branch("work")
    repository.open_pull_request(head="theirs")
    path = f"{REPO}/pulls?head=octo:work"
    assert client("GET", path).json() == []
    host.quirks.heads_by_commit = True
    assert [each["head"]["ref"] for each in client("GET", path).json()] == ["theirs"]
    for parent, count in (("octo/parent", 0), ("other/parent", 1)):
        fork = host.create_repository(f"octo/{count}", parent=parent)
        fork.create_branch("work")
        fork.open_pull_request(head="work")
        found = client("GET", f"/repos/{fork.full_name}/pulls?head=octo:work").json()
        assert len(found) == count


def test_an_api_version_that_is_gone(client: Client, host: StandInHost) -> None:
    host.quirks.gone_api_versions = frozenset({"2022-11-28"})
    client.session.headers["X-GitHub-Api-Version"] = "2022-11-28"
    answer = client("GET", REPO)
    assert answer.status_code == 410
    assert "2022-11-28" in answer.json()["message"]
    client.session.headers["X-GitHub-Api-Version"] = "2026-03-10"
    assert client("GET", REPO).status_code == 200


def test_long_tokens(host: StandInHost, repository: Repository) -> None:
    token = host.create_token("installation", long=True)
    assert (len(token), token.count("."), token[:4]) == (520, 2, "ghs_")
    assert Client(host, token)("GET", REPO).status_code == 200


def test_a_token_dies(host: StandInHost, repository: Repository) -> None:
    client = Client(host, host.create_token(requests=2))
    answers = [client("GET", REPO) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 401]
    assert answers[2].json()["message"] == "Bad credentials"


@pytest.mark.parametrize("team", ["octo/maintainers", "@octo/maintainers"])
def test_teams_have_bare_names(client: Client, repository: Repository, team: str) -> None:
    repository.create_branch("work")
    repository.open_pull_request(head="work")
    path = f"{REPO}/pulls/1/requested_reviewers"
    assert client("POST", path, {"team_reviewers": [team]}).status_code == 422
    assert client("POST", path, {"team_reviewers": ["maintainers"]}).status_code == 201


def test_the_pace() -> None:
    """80 a minute and 500 an hour; a refused one does not count."""
    pace, now, waits = Pace(), 0.0, []
    while now < 3600:
        try:
            pace.spend(now)
        except Refusal as refusal:
            waits.append(int(refusal.headers["Retry-After"]))
            now += waits[-1]
    assert (len(waits), waits[:7], now, pace.refused) == (7, [60] * 6 + [3240], 3600, 7)


@pytest.mark.parametrize(
    ("status", "at_200", "rest", "graphql"),
    [
        (403, False, 403, 403),
        (403, True, 403, 200),
        (422, False, 422, 200),
    ],
)
def test_the_words_of_the_pace(
    client: Client,
    host: StandInHost,
    repository: Repository,
    status: int,
    at_200: bool,
    rest: int,
    graphql: int,
) -> None:
    host.pace = Pace(per_minute=1, status=status)
    host.pace.spend(host.clock.monotonic())
    host.quirks.limits_at_200 = at_200
    answer = client.put("x")
    assert answer.status_code == rest
    over = client("POST", "/graphql", {"query": COMMIT, "variables": {"oid": repository.head()}})
    assert over.status_code == graphql
    assert over.headers["x-ratelimit-resource"] == "graphql"
    texts = answer.text, over.text
    expected = "was submitted too quickly" if status == 422 else "secondary rate limit"
    assert all(expected in text for text in texts)
    if status == 422:
        [error] = over.json()["errors"]
        assert (error["type"], error["path"]) == ("UNPROCESSABLE", ["createCommitOnBranch"])


def test_a_real_day(
    client: Client, host: StandInHost, repository: Repository, clock: FakeClock
) -> None:
    """Everything is there after all, for who asks again."""
    host.real_day()
    body = {"ref": "refs/heads/work", "sha": repository.head()}
    refs = [client("POST", f"{REPO}/git/refs", body).status_code for _ in range(3)]
    assert refs == [422, 502, 201]
    assert client.put("one", branch="work").status_code == 404
    clock.sleep(1)
    assert client.put("one", branch="work").status_code == 201
    pull = {"title": "t", "head": "work", "base": "main"}
    assert client("POST", f"{REPO}/pulls", pull).status_code == 422
    clock.sleep(1)
    assert client("POST", f"{REPO}/pulls", pull).status_code == 201
    labels = f"{REPO}/issues/1/labels"
    assert client("POST", labels, ["x"]).status_code == 422
    clock.sleep(1)
    assert client("POST", labels, ["x"]).status_code == 200
