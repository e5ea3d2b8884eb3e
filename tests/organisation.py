"""An organisation at the stand-in, with a repository of each odd kind, and runs over it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto
from functools import partial
from typing import Any

from registrar.registration.mark import WITHDRAWN
from tests.example import BRANCH, LIST, LISTED, MISSING, PRESENT, SCAFFOLD, write_list
from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost
from tests.fakehub.representations import node_id
from tests.harness import Action, Process, Run, Start, is_read, refuse

WORKFLOW = "octo-org/r0"
"""The public repository whose workflow runs the action; so everybody can read its outputs."""
THEIRS = b"theirs\n"
ALL = "octo-org/*"
FIVE_WRITES = {
    "labels": "chore",
    "assignees": "hubot",
    "reviewers": "monalisa",
    "team_reviewers": "maintainers",
}
"""Options for a pull request that take four more writes, one for each kind of option."""


class Odd(StrEnum):
    """Odd kinds of repositories, from the beginning or after the run has read them."""

    RENAMED = auto()
    ARCHIVED = auto()
    DELETED = auto()
    SINGLE_SIGN_ON = auto()
    RULESET = auto()
    PUSH_REFUSED = auto()
    BASE_MOVED = auto()
    FILES_ARRIVED = auto()
    SOMEBODYS_BRANCH = auto()
    SLOW = auto()
    LOST_ANSWER = auto()
    LABEL_REFUSED = auto()


HOPELESS = {Odd.ARCHIVED, Odd.DELETED, Odd.SINGLE_SIGN_ON, Odd.RULESET, Odd.PUSH_REFUSED}
"""Repositories that never get a pull request."""
NOT_WRITABLE = {Odd.ARCHIVED, Odd.PUSH_REFUSED}
"""The ones in `HOPELESS` for which a run does not fail."""
STILL_FAILING = {Odd.RULESET}
"""The ones in `HOPELESS` that the next run finds again, and for which it fails again."""


@dataclass
class Organisation:
    """Complete repositories, and then incomplete ones, with one of each odd kind among them.

    Repositories that become odd during a run do so right before the run begins to write. With odd
    ones, there is also a private repository, which the public workflow must leave out.
    """

    action: Action
    complete: int
    incomplete: int
    odd: bool = True
    then: Callable[[Request], object] | None = None
    """A further function that is called with every request, if there are odd repositories."""
    repositories: list[Repository] = field(init=False)
    secret: Repository | None = None
    is_quiet: bool = True
    """Whether the run has not begun to write."""

    def __post_init__(self) -> None:
        host = self.action.host
        # The list is written once, because two runs at the same time read the same directory
        write_list(self.action)
        self.repositories = []
        for number in range(self.complete + self.incomplete):
            lacks = number >= self.complete
            made = host.create_repository(f"octo-org/r{number}", PRESENT if lacks else LISTED)
            self.repositories.append(made)
        if not self.odd:
            return
        self.secret = host.create_repository("octo-org/secret", PRESENT, private=True)
        host.create_repository("octo-org/empty", empty=True)
        host.create_repository("octo-org/old", PRESENT, archived=True)
        host.create_repository("octo-org/fork", PRESENT, parent="other/fork")
        self[Odd.RULESET].person.protect("chore/*", "ruleset")
        self[Odd.PUSH_REFUSED].person.change(read_only=True)
        host.faults.add(Fault(FaultKind.RESET, when="after", match=self._writes(Odd.LOST_ANSWER)))
        refuse(host, self._labels(Odd.LABEL_REFUSED))
        host.on_request = self._on_request

    def __getitem__(self, odd: Odd) -> Repository:
        return self.repositories[self.complete + list(Odd).index(odd)]

    def run(self, action: Action | None = None, **inputs: str) -> Run:
        """Run the action over all repositories."""
        given = {"target_repos": ALL, "max_pull_requests": "100", "language": "en"}
        given |= {"labels": "chore", "definitions": LIST, **inputs}
        given |= {"title": "Files for {repo}"} if self.odd else {}
        env = {"GITHUB_WORKSPACE": str(self.action.workspace)}
        env |= {"GITHUB_REPOSITORY": WORKFLOW} if self.odd else {}
        return (action or self.action)(given, env=env, runner=self.odd)

    def begin(self) -> Process:
        """Start a run as a process of its own, whose waiting takes no time."""
        given = {"target_repos": ALL, "max_pull_requests": "100"}
        given |= {"language": "en", "labels": "chore", "definitions": LIST}
        environ = self.action.environment(given, runner=True)
        return self.action.begin_without_waiting(environ | {"GITHUB_REPOSITORY": WORKFLOW})

    def wrong(self) -> list[str]:
        """Return the problems that are left after all runs."""
        found: list[str] = []
        for number, repository in enumerate(self.repositories):
            name, all_pulls = repository.full_name, repository.pull_requests
            pulls = [pull for pull in all_pulls if WITHDRAWN not in (pull.body or "")]
            if not self._may_have(number, len(pulls)):
                found.append(f"{name} has {len(pulls)} pull requests")
            for pull in pulls:
                held = repository.files(pull.head)
                if {path: held.get(path) for path in LISTED} != PRESENT | MISSING:
                    found.append(f"{name} has other files")
        if self.secret and self.secret.branches != ["main"]:
            found.append("a private repository was written to")
        if self.odd and not self.is_quiet:
            branch = self[Odd.SOMEBODYS_BRANCH]
            if branch.files(BRANCH) != {**PRESENT, "theirs.txt": THEIRS}:
                found.append("somebody's branch changed")
        return found

    def _may_have(self, number: int, pulls: int) -> bool:
        """Return whether this repository may have so many pull requests."""
        place = number - self.complete
        odd = list(Odd)[place] if self.odd and 0 <= place < len(Odd) else None
        if odd is Odd.FILES_ARRIVED:
            return pulls <= 1
        return pulls == (place >= 0 and odd not in HOPELESS)

    def _on_request(self, request: Request) -> None:
        if self.is_quiet and _begins_writing(request):
            self.is_quiet = False
            self._meanwhile()
        if _names(request, self[Odd.SLOW]):
            time.sleep(0.02)
        if self.then:
            self.then(request)

    def _meanwhile(self) -> None:
        self[Odd.ARCHIVED].person.archive()
        self[Odd.RENAMED].person.rename(f"{self[Odd.RENAMED].full_name}-renamed")
        self[Odd.DELETED].person.delete()
        self[Odd.SINGLE_SIGN_ON].person.change(sso=True)
        self._push(Odd.BASE_MOVED, {"LATER.md": THEIRS})
        self._push(Odd.FILES_ARRIVED, dict.fromkeys(MISSING, THEIRS))
        branch = self[Odd.SOMEBODYS_BRANCH]
        if BRANCH not in branch.branches:
            branch.person.commit({"theirs.txt": THEIRS}, branch=BRANCH)

    def _push(self, odd: Odd, files: dict[str, bytes]) -> None:
        self[odd].person.commit(files)

    def _writes(self, odd: Odd) -> Callable[[Request], bool]:
        return lambda request: not is_read(request) and _names(request, self[odd])

    def _labels(self, odd: Odd) -> Callable[[Request], bool]:
        return lambda request: request.path == f"/repos/{self[odd].full_name}/issues/1/labels"


def _begins_writing(request: Request) -> bool:
    """Return whether a run has reached the first repository to which it may write.

    The run then reads that repository again. Which repository is the first depends on the day.
    """
    is_alone = request.path == "/graphql" and "nodes(ids:" not in request.json["query"]
    return is_alone or not is_read(request)


def _names(request: Request, repository: Repository) -> bool:
    """Return whether a request names a repository."""
    variables = request.fields.get("variables", {}) if request.method == "POST" else {}
    given = json.dumps({key: variables[key] for key in ("name", "commit") if key in variables})
    return f"/{repository.full_name}/" in f"{request.path}/" or f'{repository.name}"' in given


def states(run: Run) -> dict[str, int]:
    """Return how many repositories are in each state, without states with no repository."""
    found = run.report.get("many", {"states": {}})["states"]
    return {state: count for state, count in found.items() if count}


def rows(run: Run) -> dict[str, str]:
    """Return the state of each repository that is not complete."""
    return {row["repository"]: row["state"] for row in run.report["many"]["rows"]}


def words(requests: Sequence[Request]) -> list[str]:
    """Return requests in short: method and path for REST, one word for GraphQL."""

    def word(request: Request) -> str:
        if request.path != "/graphql":
            return f"{request.method} {request.path}"
        if not is_read(request):
            return "mutation"
        shared = {"nodes(ids:": "nodes", "history(": "history", "r0: node(": "commits"}
        query = request.json["query"]
        return next((word for text, word in shared.items() if text in query), "query")

    return [word(request) for request in requests]


def opened(repositories: Sequence[Repository]) -> list[int]:
    """Return how many pull requests each repository has."""
    return [len(repository.pull_requests) for repository in repositories]


def writes_in(repository: Repository, request: Request) -> bool:
    """Return whether a request writes to a repository."""
    names = (repository.name, node_id("R", repository.id), f"repositories/{repository.id}")
    named = any(re.search(rf"\b{re.escape(each)}(?!\w)", str(request)) for each in names)
    return named and not is_read(request)


def refuse_writes(host: StandInHost, message: Callable[[Repository], str]) -> None:
    """Let GitHub refuse every write, in other words for each repository."""
    for each in host.repositories:
        refuse(host, partial(writes_in, each), 403, message=message(each))


@dataclass
class Org:
    """An organisation, and runs over all of its repositories, in English.

    A story has one repository, so what needs several is a function with this. Each run leaves table
    and page, so that the oracle compares all that it says.
    """

    action: Action
    many: Start
    begun: int = 0
    """The number of requests before the last run."""

    @property
    def host(self) -> StandInHost:
        return self.action.host

    def __call__(
        self,
        inputs: Mapping[str, str | None] | None = None,
        /,
        *listed: str | Mapping[str, str],
        env: Mapping[str, str] | None = None,
        **more: Any,
    ) -> Run:
        """Run with a list of these entries; without any, with the list of `write_list`."""
        given = {"definitions": self.action.listing(*listed)} if listed else {}
        self.begun = len(self.host.requests)
        return self.many(
            {**given, **(inputs or {})}, env={**self.action.keeping, **(env or {})}, **more
        )

    def expect(self, state: str, *args: Any, **more: Any) -> Run:
        """Run; ``state`` counts the repositories in each state, with the exit code unless it is 0:
        ``1 failed, 2 opened; exit 1``.
        """
        run = self(*args, **more)
        # A run that has not begun to read has no report
        counts = states(run) if "report" in run.outputs else {}
        code = f"exit {run.exit_code}" if run.exit_code else ""
        parts = (", ".join(f"{count} {name}" for name, count in counts.items()), code)
        found = "; ".join(filter(None, parts))
        assert found == state, f"expected: {state}\nis:       {found}\n{run.console}"
        return run

    def make(self, complete: int, lacking: int, **attributes: Any) -> list[Repository]:
        """Add complete repositories, and then so many that lack files."""
        first = len(self.host.repositories)
        return [
            self.host.create_repository(
                f"octo-org/r{first + number}",
                SCAFFOLD if number < complete else PRESENT,
                **attributes,
            )
            for number in range(complete + lacking)
        ]

    def add(self, name: str, **files: bytes) -> Repository:
        """Add a repository that lacks files, and has these ones besides."""
        return self.host.create_repository(f"octo-org/{name}", {**PRESENT, **files})

    @property
    def sent(self) -> list[Request]:
        """The requests of the last run."""
        return self.host.requests[self.begun :]

    @property
    def only_reads(self) -> bool:
        """Whether the last run has written nothing."""
        return all(map(is_read, self.sent))

    @property
    def asked(self) -> list[str]:
        """The requests of the last run in short; see `words`."""
        return words(self.sent)

    @property
    def opened(self) -> list[int]:
        """How many pull requests each repository has."""
        return opened(self.host.repositories)

    def set_points(self, left: int) -> None:
        """Leave so many points of GraphQL to the token."""
        assert self.host.graphql_rate_limit
        self.host.graphql_rate_limit.remaining = left

    def fault(self, kind: FaultKind, match: Callable[[Request], bool], **more: Any) -> Fault:
        """Let each request that matches meet a fault, or so many ``times``."""
        return self.host.faults.add(Fault(kind, match=match, **{"times": None, **more}))

    def refuse(
        self, match: str | Callable[[Request], bool], status: int = 422, **more: Any
    ) -> None:
        """Refuse each request that matches; see `refuse`."""
        refuse(self.host, match, status, **more)

    def slow_down(self, match: Callable[[Request], bool], seconds: float) -> list[Request]:
        """Let requests that match take so long; gives those that have come."""
        came = list[Request]()

        def slow(request: Request) -> None:
            if match(request):
                came.append(request)
                self.action.clock.sleep(seconds)

        self.host.on_request = slow
        return came


def is_write(request: Request) -> bool:
    """Return whether a request writes."""
    return not is_read(request)


def is_graphql(request: Request) -> bool:
    """Return whether a request asks GraphQL."""
    return request.path == "/graphql"
