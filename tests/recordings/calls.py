"""Each kind of request that the action sends, as our code sends it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from registrar.cancellation import Cancellation
from registrar.github.client import GitHub
from registrar.github.retry import RetryPolicy
from registrar.github.transport import Transport
from registrar.models.plan import NewPullRequest
from registrar.models.repository import PullRequest, Repository
from tests.clocks import FakeClock
from tests.fakehub import Request
from tests.fakehub.representations import node_id
from tests.recordings import IDS

FULL_NAME = "octo/example"
BRANCH = "chore/add-files"
MAX_SECONDS = 600.0


@dataclass(frozen=True)
class Given:
    """What a request is about."""

    path: str = "docs/guide.md"
    branch: str = BRANCH
    base: str = IDS["<base>"]
    head: str = IDS["<head>"]
    number: int = 1
    labels: tuple[str, ...] = ("docs",)
    people: tuple[str, ...] = ("hubot",)
    teams: tuple[str, ...] = ()
    draft: bool = False
    body: str = "new"
    is_fork: bool = False
    owner: str = "octo"

    @property
    def repository(self) -> Repository:
        """The repository, as our code knows it by then."""
        url = f"https://github.com/{FULL_NAME}"
        return Repository(FULL_NAME, "main", url, is_fork=self.is_fork, node_id=node_id("R", 1000))

    @property
    def pull_request(self) -> PullRequest:
        """Its pull request."""
        url = f"https://github.com/{FULL_NAME}/pull/{self.number}"
        return PullRequest(self.number, url, head_branch=self.branch)


class Run:
    """GitHub as one run of the action reaches it, on a clock that skips all waiting."""

    def __init__(self, url: str, token: str) -> None:
        self.github = GitHub(
            Transport(token=token, api_url=url),
            token=token,
            workflow_repository="",
            policy=RetryPolicy(
                max_seconds=MAX_SECONDS,
                announce=lambda _: None,
                cancellation=Cancellation(FakeClock()),
            ),
        )
        self.client = self.github.client(FULL_NAME)
        self.many = self.github.many()


class Call(NamedTuple):
    """A kind of request: which one it is among all that are sent, and how it is sent."""

    address: str
    """Method and path, as a regular expression."""
    send: Callable[[Run, Given], object]
    text: str = ""
    """What the text of its query or mutation contains, and that of no other."""

    def is_it(self, request: Request) -> bool:
        """Whether a request is of this kind."""
        query = str((request.json or {}).get("query", "")) if self.text else ""
        found = re.fullmatch(self.address, f"{request.method} {request.path}")
        return found is not None and self.text in query


OF_IT = rf"(?:/repos/{FULL_NAME}|/repositories/\d+)"
CALLS: Mapping[str, Call] = {
    "GET rate_limit": Call("GET /rate_limit", lambda run, _: run.github.check_token()),
    "GET repo": Call(f"GET {OF_IT}", lambda run, _: run.client.repository(FULL_NAME)),
    "GET git/ref": Call(
        f"GET {OF_IT}/git/ref/.+",
        lambda run, given: run.client.branch_head(given.repository, given.branch),
    ),
    "GET contents": Call(
        f"GET {OF_IT}/contents/.*",
        lambda run, given: run.client.entry(given.repository, given.path, given.base),
    ),
    "GET contents of a directory": Call(
        f"GET {OF_IT}/contents/.*",
        lambda run, given: run.client.directory(given.repository, given.path, given.base),
    ),
    "GET git/trees": Call(
        f"GET {OF_IT}/git/trees/.+",
        lambda run, given: run.client.tree(given.repository, given.base),
    ),
    "GET compare": Call(
        f"GET {OF_IT}/compare/.+",
        lambda run, given: run.client.compare(given.repository, given.base, given.head),
    ),
    "GET pulls": Call(
        f"GET {OF_IT}/pulls",
        lambda run, given: run.client.pull_requests(given.repository, given.branch),
    ),
    "GET pulls/N": Call(
        f"GET {OF_IT}/pulls/\\d+",
        lambda run, given: run.client.pull_request(given.repository, given.number),
    ),
    "POST git/refs": Call(
        f"POST {OF_IT}/git/refs",
        lambda run, given: run.client.create_branch(given.repository, given.branch, given.base),
    ),
    "PUT contents": Call(
        f"PUT {OF_IT}/contents/.+",
        lambda run, given: run.client.create_file(
            given.repository,
            given.path,
            branch=given.branch,
            content=b"\n",
            message="chore: add a file",
        ),
    ),
    "POST pulls": Call(
        f"POST {OF_IT}/pulls",
        lambda run, given: run.client.create_pull_request(
            given.repository, NewPullRequest(given.branch, "Add files", "", draft=given.draft)
        ),
    ),
    "PATCH pulls/N": Call(
        f"PATCH {OF_IT}/pulls/\\d+",
        lambda run, given: run.client.update_pull_request(
            given.repository, given.pull_request, body=given.body
        ),
    ),
    "POST labels": Call(
        f"POST {OF_IT}/issues/\\d+/labels",
        lambda run, given: run.client.add_labels(given.repository, given.number, given.labels),
    ),
    "POST assignees": Call(
        f"POST {OF_IT}/issues/\\d+/assignees",
        lambda run, given: run.client.add_assignees(given.repository, given.number, given.people),
    ),
    "POST requested_reviewers": Call(
        f"POST {OF_IT}/pulls/\\d+/requested_reviewers",
        lambda run, given: run.client.request_reviewers(
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
}
