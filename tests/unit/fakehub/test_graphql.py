"""What the stand-in answers over GraphQL, through HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakehub import Fault, FaultKind, RateLimit, Refusal, Repository, StandInHost

from .conftest import Client

READ = """
query ($owner: String!, $name: String!, $path: String!, $branch: String!) {
  rateLimit { cost remaining }
  repository(owner: $owner, name: $name) {
    id nameWithOwner isArchived isEmpty viewerPermission
    defaultBranchRef {
      name
      target {
        oid
        ... on Commit { file(path: $path) { type mode object { ... on Blob { text } } } }
      }
    }
    ref(qualifiedName: $branch) {
      target { oid }
      compare(headRef: "main") { status aheadBy behindBy commits(first: 5) { totalCount } }
      associatedPullRequests(first: 5) {
        nodes { number state isCrossRepository headRepository { nameWithOwner } }
      }
    }
  }
}
"""
WRITE = """
mutation (
  $repository: ID!, $name: String!, $oid: GitObjectID!,
  $ref: String!, $branch: String!, $additions: [FileAddition!]!
) {
  createRef(input: {repositoryId: $repository, name: $ref, oid: $oid}) { ref { name } }
  createCommitOnBranch(input: {
    branch: {repositoryNameWithOwner: $name, branchName: $branch}, expectedHeadOid: $oid,
    message: {headline: "chore: add", body: "- new"}, fileChanges: {additions: $additions}
  }) { commit { oid messageBody signature { isValid } } }
  createPullRequest(input: {
    repositoryId: $repository, baseRefName: "main", headRefName: $branch, title: "t", body: "b"
  }) { pullRequest { id number url headRefOid } }
}
"""


def read(client: Client, path: str = "README.md", branch: str = "refs/heads/work") -> Any:
    body = client.graphql(READ, owner="octo", name="example", path=path, branch=branch)
    assert "errors" not in body, body
    return body["data"]["repository"]


def write(client: Client, repository: Repository, **more: Any) -> dict[str, Any]:
    variables = {
        "repository": read(client)["id"],
        "name": "octo/example",
        "oid": repository.head(),
        "ref": "refs/heads/work",
        "branch": "work",
        "additions": [{"path": "new", "contents": "eA=="}],
    }
    return client.graphql(WRITE, **variables | more)


def errors(body: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Type and message of each failed field."""
    return {each["path"][0]: (each["type"], each["message"]) for each in body.get("errors", ())}


def test_reading(client: Client, repository: Repository) -> None:
    repository.commit({"a": b"a"}, branch="work")
    repository.open_pull_request(head="work")
    repository.open_pull_request(head="work", head_repository="fork/example")
    repository.merge(1)
    found = read(client)
    assert found["viewerPermission"] == "WRITE"
    target = found["defaultBranchRef"]["target"]
    assert target["oid"] == repository.head()
    expected = {"type": "blob", "mode": 0o100644, "object": {"text": "# x\n"}}
    assert target["file"] == expected
    assert found["ref"]["compare"] == {
        "status": "AHEAD",
        "aheadBy": 1,
        "behindBy": 0,
        "commits": {"totalCount": 1},
    }
    assert found["ref"]["associatedPullRequests"]["nodes"] == [
        {
            "number": 1,
            "state": "MERGED",
            "isCrossRepository": False,
            "headRepository": {"nameWithOwner": "octo/example"},
        }
    ]
    assert read(client, branch="refs/heads/none")["ref"] is None


def test_a_path_that_is_not_there(client: Client, repository: Repository) -> None:
    """As recorded in the integration tests of changesets/ghcommit."""
    body = client.graphql(READ, owner="octo", name="example", path="none", branch="refs/heads/x")
    [error] = body["errors"]
    del error["locations"]
    assert error == {
        "type": "NOT_FOUND",
        "path": ["repository", "defaultBranchRef", "target", "file"],
        "message": "Could not resolve file for path 'none'.",
    }
    assert body["data"]["repository"]["defaultBranchRef"]["target"]["file"] is None


def test_pull_requests_of_any_fork_share_a_name(client: Client, repository: Repository) -> None:
    repository.create_branch("work")
    repository.open_pull_request(head="work", head_repository="fork/example")
    query = """
    { repository(owner: "octo", name: "example") {
        pullRequests(first: 1, headRefName: "work", states: [OPEN]) {
          totalCount pageInfo { hasNextPage } nodes { headRepository { nameWithOwner isFork } }
    } } }
    """
    found = client.graphql(query)["data"]["repository"]["pullRequests"]
    assert found["totalCount"] == 1
    assert found["nodes"] == [{"headRepository": {"nameWithOwner": "fork/example", "isFork": True}}]


def test_entries_and_objects(client: Client) -> None:
    query = """
    { repository(owner: "octo", name: "example") {
        docs: object(expression: "HEAD:docs") { ... on Tree { entries { path type mode } } }
        none: object(expression: "HEAD:none") { oid }
        refs(refPrefix: "refs/heads/", first: 10) { nodes { name prefix } }
    } }
    """
    found = client.graphql(query)["data"]["repository"]
    assert found["docs"]["entries"] == [
        {"path": "docs/guide.md", "type": "blob", "mode": 0o100644},
        {"path": "docs/up", "type": "blob", "mode": 0o120000},
    ]
    assert found["none"] is None
    assert found["refs"]["nodes"] == [{"name": "main", "prefix": "refs/heads/"}]


def test_three_mutations_in_one_request(client: Client, repository: Repository) -> None:
    body = write(client, repository)
    assert "errors" not in body
    assert body["data"]["createCommitOnBranch"]["commit"]["signature"] == {"isValid": True}
    assert repository.files("work")["new"] == b"x"
    newest = repository.log("work")[0]
    assert (newest.message, newest.paths) == ("chore: add\n\n- new", ("new",))
    assert body["data"]["createPullRequest"]["pullRequest"]["headRefOid"] == newest.sha
    assert [each.number for each in repository.pull_requests] == [1]


def test_each_mutation_fails_on_its_own(client: Client, repository: Repository) -> None:
    write(client, repository)
    body = write(client, repository)
    expected = f'Expected branch to point to "{repository.head()}"'
    stale = f"{expected} but it did not.  Pull and try again."
    assert body["data"] == dict.fromkeys(body["data"])
    assert errors(body) == {
        "createRef": (
            "UNPROCESSABLE",
            'A ref named "refs/heads/work" already exists in the repository.',
        ),
        "createCommitOnBranch": ("STALE_DATA", stale),
        "createPullRequest": (
            "UNPROCESSABLE",
            "A pull request already exists for octo:work.",
        ),
    }


def test_the_next_mutations_still_run(client: Client, repository: Repository) -> None:
    client.host.refused_mutations["createCommitOnBranch"] = Refusal(403, "Not now")
    body = write(client, repository)
    assert errors(body) == {
        "createCommitOnBranch": ("FORBIDDEN", "Not now"),
        "createPullRequest": ("UNPROCESSABLE", "No commits between main and work"),
    }
    assert repository.branches == ["main", "work"]


@pytest.mark.parametrize("path", ["README.md/x", "docs/up/x", "a//b"])
def test_a_commit_is_refused_as_a_whole(client: Client, repository: Repository, path: str) -> None:
    additions = [{"path": "good", "contents": ""}, {"path": path, "contents": ""}]
    body = write(client, repository, additions=additions)
    assert body["data"]["createCommitOnBranch"] is None
    assert "good" not in repository.files("work")


def test_update_and_close(client: Client, repository: Repository) -> None:
    pull_request = write(client, repository)["data"]["createPullRequest"]["pullRequest"]
    mutation = """
    mutation ($id: ID!) {
      updatePullRequest(input: {pullRequestId: $id, body: "new"}) { pullRequest { body } }
      closePullRequest(input: {pullRequestId: $id}) { pullRequest { state closed merged } }
    }
    """
    data = client.graphql(mutation, id=pull_request["id"])["data"]
    assert data["updatePullRequest"]["pullRequest"] == {"body": "new"}
    closed = {"state": "CLOSED", "closed": True, "merged": False}
    assert data["closePullRequest"]["pullRequest"] == closed
    assert repository.pull_requests[0].state == "closed"


def test_references_by_id(client: Client, repository: Repository) -> None:
    new = repository.commit({"a": b"a"}, branch="work")
    query = '{ repository(owner: "octo", name: "example") { ref(qualifiedName: "main") { id } } }'
    main = client.graphql(query)["data"]["repository"]["ref"]["id"]
    mutation = """
    mutation ($id: ID!, $oid: GitObjectID!) {
      updateRef(input: {refId: $id, oid: $oid}) { ref { target { oid } } }
    }
    """
    client.graphql(mutation, id=main, oid=new)
    assert repository.head("main") == new
    drop = "mutation ($id: ID!) { deleteRef(input: {refId: $id}) { clientMutationId } }"
    assert errors(client.graphql(drop, id=main))["deleteRef"][0] == "UNPROCESSABLE"
    work = client.graphql(query.replace("main", "work"))["data"]["repository"]["ref"]["id"]
    assert "errors" not in client.graphql(drop, id=work)
    assert repository.branches == ["main"]


def test_permissions(host: StandInHost, repository: Repository) -> None:
    token = host.create_token("fine-grained", permissions={"contents": "read"})
    body = write(Client(host, token), repository)
    whom = ("FORBIDDEN", "Resource not accessible by personal access token")
    assert errors(body) == dict.fromkeys(body["data"], whom)
    installation = Client(host, host.create_token("installation"))
    assert read(installation)["viewerPermission"] is None
    repository.private = True
    other = Client(host, host.create_token("installation", repositories=["octo/other"]))
    query = '{ repository(owner: "octo", name: "example") { id } }'
    assert errors(other.graphql(query))["repository"][0] == "NOT_FOUND"
    bad = Client(host, "ghp_none")("POST", "/graphql", {"query": query})
    assert (bad.status_code, bad.json()["message"]) == (401, "Bad credentials")


def test_enterprise_address(client: Client) -> None:
    body = {"query": "{ viewer { login } }"}
    answer = client("POST", "/api/graphql", body).json()
    assert answer == {"data": {"viewer": {"login": "octocat"}}}


def test_limits(client: Client, host: StandInHost) -> None:
    query = "{ viewer { login } }"
    assert "errors" not in client.graphql(query)
    host.graphql_rate_limit = RateLimit(remaining=0)
    assert client.graphql(query)["errors"][0]["type"] == "RATE_LIMITED"
    host.faults.add(Fault(FaultKind.GRAPHQL_RATE_LIMIT))
    assert client.graphql(query)["errors"][0]["type"] == "RATE_LIMIT"


@pytest.mark.parametrize(
    ("query", "variables", "expected"),
    [
        ("{ viewer { nope } }", {}, "Cannot query field"),
        ("query ($id: ID!) { node(id: $id) { id } }", {}, "was not provided"),
        (
            'mutation { createRef(input: {repositoryId: "x", name: "y", oid: "z"}) {ref {id}} }',
            {},
            "not a GitObjectID",
        ),
        ("{ viewer {", {}, "Syntax Error"),
        ("", {}, "Syntax Error"),
    ],
)
def test_what_the_schema_does_not_allow_fails(
    query: str, variables: dict[str, Any], expected: str
) -> None:
    def run() -> None:
        with StandInHost() as host:
            assert Client(host, host.create_token()).graphql(query, **variables)["errors"]

    with pytest.raises(AssertionError, match=expected):
        run()
