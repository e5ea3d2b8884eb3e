"""The kinds of requests that registrar sends (`CALLS`), each with the code of ours that sends it.

The table of the recordings has rows for each of them. If a run of a test sends another kind of
request, the test fails (`tests.harness.Action`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from registrar.github.client import GitHub
from registrar.github.limits import RetryPolicy
from registrar.github.transport import Transport
from registrar.models.files import FileDefinition
from registrar.models.repository import PullRequest, Repository
from registrar.models.settings import PullRequestOptions
from registrar.models.task import NewCommit, NewPullRequest
from registrar.runtime.cancellation import Cancellation, Clock
from tests.clocks import FakeClock
from tests.fakehub.representations import node_id
from tests.recordings import BY_NUMBER, IDS

FULL_NAME = "octo/example"
BRANCH = "chore/add-files"
MAX_SECONDS = 600.0


@dataclass(frozen=True)
class Given:
    """The values of a request, such as the repository and the branch."""

    full_name: str = FULL_NAME
    node_id: str = node_id("R", 1000)
    default_branch: str = "main"
    path: str = "docs/guide.md"
    branch: str = BRANCH
    base: str = IDS["<base>"]
    head: str = IDS["<head>"]
    blob: str = IDS["<blob>"]
    number: int = 1
    labels: tuple[str, ...] = ("docs",)
    people: tuple[str, ...] = ("hubot",)
    teams: tuple[str, ...] = ()
    draft: bool = False
    body: str = "new"
    state: str = "open"
    is_fork: bool = False
    directories: tuple[str, ...] = ("docs",)
    owner: str = "octo"
    id: int = 1000
    by_number: bool = False
    """Whether requests give the number of the repository instead of its name."""

    @property
    def repository(self) -> Repository:
        """The repository, with everything that our code knows before this request."""
        url = f"https://github.com/{self.full_name}"
        return Repository(
            self.full_name,
            self.default_branch,
            url,
            is_fork=self.is_fork,
            node_id=self.node_id,
            id=self.id if self.by_number else 0,
            goes_by_id=self.by_number,
        )

    @property
    def listed(self) -> Repository:
        """The repository, with everything that our code knows from a list of repositories."""
        return Repository(id=self.id, node_id=self.node_id, full_name=self.full_name)

    @property
    def commit(self) -> NewCommit:
        """A commit that adds a file."""
        return NewCommit(
            self.branch, self.base, "chore: add a file", "", [FileDefinition(self.path)]
        )

    @property
    def new_pull_request(self) -> NewPullRequest:
        """A pull request that is to be opened."""
        options = PullRequestOptions(draft=self.draft)
        return NewPullRequest(self.branch, self.default_branch, "Add files", "", options)

    @property
    def pull_request(self) -> PullRequest:
        """The open pull request of the branch."""
        url = f"https://github.com/{self.full_name}/pull/{self.number}"
        return PullRequest(self.number, url, head_branch=self.branch)


class Caller:
    """The clients with which one run sends its requests. By default, waiting takes no time."""

    def __init__(
        self, url: str, token: str, *, full_name: str = FULL_NAME, clock: Clock | None = None
    ) -> None:
        self.github = GitHub(
            Transport(token=token, api_url=url),
            token=token,
            workflow_repository="",
            policy=RetryPolicy(
                max_seconds=MAX_SECONDS,
                announce=lambda _: None,
                cancellation=Cancellation(clock or FakeClock()),
            ),
        )
        client = self.github.client(full_name)
        self.rest, self.graphql = client.rest, client.graphql
        self.many = self.github.many(lambda: None)


class Sent(Protocol):
    """A request that was sent."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def fields(self) -> Mapping[str, Any]: ...


class Call(NamedTuple):
    """A kind of request: how to recognise it among all requests, and how to send it."""

    address: str
    """A regular expression for method and path."""
    send: Callable[[Caller, Given], object]
    text: str = ""
    """A part of the text of its query or mutation that no other one contains."""

    def is_it(self, request: Sent) -> bool:
        """Return whether a request is of this kind."""
        query = str(request.fields.get("query", "")) if self.text else ""
        found = re.fullmatch(self.address, f"{request.method} {request.path}", re.DOTALL)
        return found is not None and self.text in query


GRAPHQL = "POST (?:/api)?/graphql"
NUMBERED = r"/repositories/\d+"
OF_IT = rf"(?:/repos/[^/]+/[^/]+|{NUMBERED})"
_CALLS: dict[str, Call] = {
    "GET rate_limit": Call("GET /rate_limit", lambda run, _: run.github.check_token()),
    "GET repo": Call(f"GET {OF_IT}", lambda run, given: run.rest.repository(given.full_name)),
    "GET git/ref": Call(
        f"GET {OF_IT}/git/ref/.+",
        lambda run, given: run.rest.branch_head(given.repository, given.branch),
    ),
    "GET contents": Call(
        f"GET {OF_IT}/contents/.*",
        lambda run, given: run.rest.entry(given.repository, given.path, given.base),
    ),
    "GET contents of a directory": Call(
        f"GET {OF_IT}/contents(?:/.*)?",
        lambda run, given: run.rest.directory(given.repository, given.path, given.base),
    ),
    "GET git/trees": Call(
        f"GET {OF_IT}/git/trees/.+",
        lambda run, given: run.rest.tree(given.repository, given.base),
    ),
    "GET git/matching-refs": Call(
        f"GET {OF_IT}/git/matching-refs/heads/.*",
        lambda run, given: run.rest.branches_from(given.repository, given.branch),
    ),
    "GET commits of a reference": Call(
        f"GET {OF_IT}/commits", lambda run, given: run.rest.commit(given.repository, given.base)
    ),
    "GET compare": Call(
        f"GET {OF_IT}/compare/.+",
        lambda run, given: run.rest.compare(given.repository, given.base, given.head),
    ),
    "GET pulls": Call(
        f"GET {OF_IT}/pulls",
        lambda run, given: run.rest.pull_requests(given.repository, given.branch),
    ),
    "GET pulls/N": Call(
        f"GET {OF_IT}/pulls/\\d+",
        lambda run, given: run.rest.pull_request(given.repository, given.number),
    ),
    "GET properties/values": Call(
        f"GET {OF_IT}/properties/values",
        lambda run, given: run.rest.properties(given.repository),
    ),
    "GET collaborators/permission": Call(
        f"GET {OF_IT}/collaborators/[^/]+/permission",
        lambda run, given: run.rest.may_write(given.repository, "octocat"),
    ),
    "GET git/blobs": Call(
        f"GET {OF_IT}/git/blobs/[0-9a-f]+",
        lambda run, given: run.rest.blob(given.repository, given.blob),
    ),
    "POST git/refs": Call(
        f"POST {OF_IT}/git/refs",
        lambda run, given: run.rest.create_branch(given.repository, given.branch, given.base),
    ),
    "PUT contents": Call(
        f"PUT {OF_IT}/contents/.+",
        lambda run, given: run.rest.create_file(
            given.repository,
            FileDefinition(given.path),
            branch=given.branch,
            message="chore: add a file",
        ),
    ),
    "POST pulls": Call(
        f"POST {OF_IT}/pulls",
        lambda run, given: run.rest.create_pull_request(given.repository, given.new_pull_request),
    ),
    "PATCH pulls/N": Call(
        f"PATCH {OF_IT}/pulls/\\d+",
        lambda run, given: run.rest.edit_pull_request(
            given.repository, given.pull_request, {"body": given.body, "state": given.state}
        ),
    ),
    "POST labels": Call(
        f"POST {OF_IT}/issues/\\d+/labels",
        lambda run, given: run.rest.add_labels(given.repository, given.number, given.labels),
    ),
    "POST assignees": Call(
        f"POST {OF_IT}/issues/\\d+/assignees",
        lambda run, given: run.rest.add_assignees(given.repository, given.number, given.people),
    ),
    "POST requested_reviewers": Call(
        f"POST {OF_IT}/pulls/\\d+/requested_reviewers",
        lambda run, given: run.rest.request_reviewers(
            given.repository, given.number, given.people, given.teams
        ),
    ),
    "GET installation/repositories": Call(
        "GET /installation/repositories", lambda run, _: tuple(run.many.of_installation())
    ),
    "GET orgs/ORG/repos": Call(
        "GET /orgs/[^/]+/repos", lambda run, given: tuple(run.many.of_owner(given.owner))
    ),
    "GET users/USER/repos": Call(
        "GET /users/[^/]+/repos", lambda run, given: tuple(run.many.of_owner(given.owner))
    ),
    "GET user/repos": Call(
        "GET /user/repos", lambda run, given: tuple(run.many.of_owner(given.owner))
    ),
    "GET orgs/ORG/properties/values": Call(
        "GET /orgs/[^/]+/properties/values",
        lambda run, given: run.many.properties_of(given.owner),
    ),
    "query repository": Call(
        GRAPHQL,
        lambda run, given: run.graphql.inspect(given.full_name, [given.branch], given.directories),
        "pulls: repository",
    ),
    "query repository with facts": Call(
        GRAPHQL,
        lambda run, given: run.graphql.inspect(
            given.full_name, [given.branch], given.directories, with_facts=True
        ),
        "repositoryTopics",
    ),
    "query commits": Call(
        GRAPHQL,
        lambda run, given: run.graphql.inspect_at(
            given.full_name, [given.head, given.base], given.directories
        ),
        "object(oid: $c0)",
    ),
    "query nodes": Call(
        GRAPHQL,
        lambda run, given: run.many.inspect_many(
            [given.listed], [given.branch], given.directories, base="", looks_into_branch=False
        ),
        "pulls: nodes",
    ),
    "query .github": Call(
        GRAPHQL,
        lambda run, given: run.graphql.read_owner(given.owner, given.directories),
        'name: ".github"',
    ),
    "mutation createRef, createCommitOnBranch, createPullRequest": Call(
        GRAPHQL,
        lambda run, given: run.graphql.create_everything(
            given.repository, given.commit, given.new_pull_request
        ),
        "createRef(",
    ),
    "mutation createCommitOnBranch": Call(
        GRAPHQL,
        lambda run, given: run.graphql.create_commit(given.repository, given.commit),
        "mutation($commit:",
    ),
}


def by_number(call: Call) -> Call:
    """Return the same call with the number of the repository, which stays if its name changes."""

    def send(run: Caller, given: Given) -> object:
        return call.send(run, replace(given, by_number=True))

    return Call(call.address.replace(OF_IT, NUMBERED), send)


CALLS: Mapping[str, Call] = _CALLS | {
    f"{name} by number": by_number(_CALLS[name]) for name in BY_NUMBER
}


def is_known(request: Sent) -> bool:
    """Return whether a request is of a kind in `CALLS`."""
    return any(call.is_it(request) for call in _CALLS.values())
