"""An example repository at the stand-in, runs on it, and checks that a result is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import pytest

from tests.fakehub import (
    Content,
    Executable,
    Fault,
    FaultKind,
    Repository,
    Request,
    StandInHost,
    Symlink,
)
from tests.harness import (
    LIST_BRANCH,
    PER_FILE,
    ROOT,
    SINGLE,
    STRATEGIES,
    TARGET,
    Action,
    Process,
    Run,
    is_read,
    meanwhile,
    shortened,
)

BRANCH = LIST_BRANCH
PRESENT = {"README.md": b"# Example\n", ".gitignore": b"*.pyc\n"}
LISTED = {
    ".claude/.gitkeep": b"\n",
    ".claude/settings.json": b"{}\n",
    ".gitattributes": b"\n",
    ".gitignore": b"\n",
    "AGENTS.md": b"\n",
    "README.md": b"\n",
}
"""A list of one's own: more files show nothing more."""
LIST = "the-six.json"
"""Its name, once `write_list` has written it."""
SCAFFOLD = {
    entry["path"]: entry.get("content", "\n").encode()
    for entry in json.loads(
        (ROOT / "scripts/config/repo-scaffold-definitions.json").read_text("utf-8")
    )
}
MISSING = {path: content for path, content in LISTED.items() if path not in PRESENT}
EXPECTED = PRESENT | MISSING

READS = 3 + len(LISTED) + 2
CREATE_BRANCH = READS + 1
FIRST_FILE = CREATE_BRANCH + 1
LAST_FILE = CREATE_BRANCH + len(MISSING)
PULL_REQUEST = LAST_FILE + 1
Day = Literal["quiet", "real"]
"""What the host does beyond its description: nothing, or all of `StandInHost.real_day`."""
POSITIONS: dict[tuple[str, Day], range] = {
    # token, two reads, a check for each file, two reads beside them, branch, files, pull request
    (PER_FILE, "quiet"): range(1, PULL_REQUEST + 1),
    # one query; branch, commit and pull request in one request
    (SINGLE, "quiet"): range(1, 3),
    # the branch two times more; the first file and the pull request twice more at least
    (PER_FILE, "real"): range(1, PULL_REQUEST + 7),
    # then the commit three times and the pull request three times, at least
    (SINGLE, "real"): range(1, 9),
}
"""Every request of a run, counted from 1."""
SORTS: dict[tuple[str, Day], tuple[int, ...]] = {
    (PER_FILE, "quiet"): (1, 2, 6, CREATE_BRANCH, FIRST_FILE, PULL_REQUEST),
    (SINGLE, "quiet"): (1, 2),
    (PER_FILE, "real"): (CREATE_BRANCH + 1, FIRST_FILE + 2, PULL_REQUEST + 5),
    (SINGLE, "real"): (2, 3, 7),
}
"""One request of each sort; on the real day, of those that other answers lie behind."""


def write_list(action: Action) -> None:
    """Put the list into the workspace of an action."""
    action.listing_of({path: content.decode() for path, content in LISTED.items()}, name=LIST)


@dataclass(slots=True)
class Example:
    """A repository that has 2 of the 6 files, and runs on it with one strategy, in English."""

    action: Action
    strategy: str
    repository: Repository = field(init=False)

    def __post_init__(self) -> None:
        self.repository = self.host.create_repository(TARGET, files=dict(PRESENT))
        write_list(self.action)

    @property
    def host(self) -> StandInHost:
        """The host that has the repository."""
        return self.action.host

    def live(self, day: Day) -> None:
        """Let the host be as on such a day from now on."""
        if day == "real":
            self.host.real_day()

    def run(self, **inputs: str) -> Run:
        """Run to the end."""
        return self.action(self.inputs | inputs)

    def run_with(self, listed: dict[str, str], **inputs: str) -> Run:
        """Run to the end with a list of these files, which has to succeed."""
        return self.run(definitions=self.action.listing_of(listed), **inputs).or_fail()

    @property
    def body(self) -> str:
        """The description of the first pull request."""
        return self.repository.pull_requests[0].body or ""

    @property
    def written(self) -> list[str]:
        """The writes that were sent since the requests were cleared."""
        return [self.call(each) for each in self.host.requests if not is_read(each)]

    def meanwhile(self, call: str, act: Callable[[], object]) -> None:
        """Let somebody act once, when the next such request has arrived and is not answered yet."""
        meanwhile(self.host, lambda request: self.call(request) == call, act)

    def make_wait(
        self, kind: FaultKind = FaultKind.SECONDARY_429_RETRY_AFTER, call: str = "PATCH pulls/1"
    ) -> None:
        """Let the host fail the next such request, so that it waits before it is sent again."""
        self.host.faults.add(Fault(kind, match=lambda request: self.call(request) == call))

    def call(self, request: Request) -> str:
        """Method and path of a request, the same where the repository goes by its number."""
        return shortened(request).replace(f"/repositories/{self.repository.id}/", "")

    def begin_without_waiting(self) -> Process:
        """Start a run as a process of its own, which waits for nothing."""
        return self.action.begin_without_waiting(self.action.environment(self.inputs))

    @property
    def inputs(self) -> dict[str, str]:
        """The inputs that every run gets."""
        return {"commit_strategy": self.strategy, "language": "en", "definitions": LIST}

    def wrong(self) -> list[str]:
        """Return the problems that are left once the work is done."""
        repository = self.repository
        found: list[str] = []
        if repository.files("main") != PRESENT:
            found.append("the default branch changed")
        if sorted(repository.branches) != sorted(["main", BRANCH]):
            return [*found, f"branches: {repository.branches}"]
        if repository.files(BRANCH) != EXPECTED:
            found.append(f"files: {sorted(repository.files(BRANCH).items() ^ EXPECTED.items())}")
        if set(repository.modes(BRANCH).values()) != {0o100644}:
            found.append(f"modes: {repository.modes(BRANCH)}")
        created = [path for commit in repository.log(BRANCH)[:-1] for path in commit.paths]
        if sorted(created) != sorted(MISSING):
            found.append(f"commits: {created}")
        pulls = repository.pull_requests
        if [(pull.head, pull.base, pull.state) for pull in pulls] != [(BRANCH, "main", "open")]:
            found.append(f"pull requests: {pulls}")
        for pull in pulls:
            rows = [line for line in (pull.body or "").splitlines() if line.startswith("| `")]
            added = [row for row in rows if "| added |" in row]
            if (len(rows), len(added)) != (len(LISTED), len(MISSING)):
                found.append(f"table: {pull.body}")
        return found

    def overwritten(self) -> list[str]:
        """Name the files that existed and are not as they were, on any branch."""
        return [
            f"{branch}:{path}"
            for branch in self.repository.branches
            for path, content in PRESENT.items()
            if self.repository.files(branch).get(path) != content
        ]


CHANGES: dict[str, dict[str, Content | None]] = {
    "edited": {"a.md": b"mine\n"},
    "removed": {"a.md": None},
    "added": {"c.md": b"mine\n"},
    "a link": {"a.md": Symlink("A\n")},
    "executable": {"a.md": Executable(b"A\n")},
    "another file": {"README.md": b"mine\n"},
}
"""What somebody commits to the branch of a pull request for `A_AND_B`."""
MANY = "many"
WAYS = (*STRATEGIES, MANY)
"""Each strategy for one repository, and the run over many."""
in_one_way = pytest.mark.parametrize("example", [SINGLE], indirect=True)
"""Where a fixture `example` has each way: `test_parity` compares what the others decide."""
A_AND_B = {"a.md": "A\n", "b.md": "B\n"}
"""A list of one's own: contents by path."""


class Way(Example):
    """The same in each of `WAYS`; over many, it is the only repository."""

    def run(self, **inputs: str) -> Run:
        if self.strategy != MANY:
            return super().run(**inputs)
        # It may be a fork, which has to be asked for
        targets = {"target_repos": f"{TARGET}, fork:true"}
        return self.action({**self.inputs, "commit_strategy": "", **targets, **inputs})
