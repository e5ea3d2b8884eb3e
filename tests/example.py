"""An example repository at the stand-in, runs on it, and checks of the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
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
"""The user's own list of most examples. It is short, so that thousands of runs are quick;
`tests/reliability/test_whole_list.py` keeps the promises with all files of `SCAFFOLD`."""
LIST = "the-list.json"
"""The name of the file that `write_list` writes."""
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
"""Whether the host has no quirks, or all quirks of `StandInHost.real_day`."""
POSITIONS: dict[tuple[str, Day], range] = {
    # The token, two reads, a check of each file, two more reads, the branch, a commit for each
    # missing file, the pull request
    (PER_FILE, "quiet"): range(1, PULL_REQUEST + 1),
    # One query, then branch, commit and pull request in one request
    (SINGLE, "quiet"): range(1, 3),
    # Two more requests for the branch, and at least two more for the first file and for the pull
    # request
    (PER_FILE, "real"): range(1, PULL_REQUEST + 7),
    # At least three more requests for the commit, and three for the pull request
    (SINGLE, "real"): range(1, 9),
}
"""The numbers of all requests of a run, counted from 1."""
SORTS: dict[tuple[str, Day], tuple[int, ...]] = {
    (PER_FILE, "quiet"): (1, 2, 6, CREATE_BRANCH, FIRST_FILE, PULL_REQUEST),
    (SINGLE, "quiet"): (1, 2),
    (PER_FILE, "real"): (CREATE_BRANCH + 1, FIRST_FILE + 2, PULL_REQUEST + 5),
    (SINGLE, "real"): (2, 3, 7),
}
"""The number of one request of each sort. On the real day these are requests before which the
answers have been other ones than on a quiet day."""


def write_list(action: Action, listed: Mapping[str, bytes] = LISTED) -> None:
    """Put a list into the workspace of an action."""
    action.listing_of({path: content.decode() for path, content in listed.items()}, name=LIST)


@dataclass(slots=True)
class Example:
    """A repository that has two of the listed files, and runs on it with one strategy."""

    action: Action
    strategy: str
    listed: Mapping[str, bytes] = field(default_factory=lambda: LISTED)
    repository: Repository = field(init=False)

    def __post_init__(self) -> None:
        self.repository = self.host.create_repository(TARGET, files=dict(PRESENT))
        write_list(self.action, self.listed)

    @property
    def missing(self) -> dict[str, bytes]:
        """The listed files that the repository lacks at first."""
        return {path: text for path, text in self.listed.items() if path not in PRESENT}

    @property
    def host(self) -> StandInHost:
        """The host that has the repository."""
        return self.action.host

    def live(self, day: Day) -> None:
        """Switch on the quirks of such a day."""
        if day == "real":
            self.host.real_day()

    def run(self, **inputs: str) -> Run:
        """Run the action, and return the result."""
        return self.action(self.inputs | inputs)

    def run_with(self, listed: dict[str, str], **inputs: str) -> Run:
        """Run the action with a list of these files; the test fails unless the exit code is 0."""
        return self.run(definitions=self.action.listing_of(listed), **inputs).or_fail()

    @property
    def body(self) -> str:
        """The description of the first pull request."""
        return self.repository.pull_requests[0].body or ""

    @property
    def written(self) -> list[str]:
        """The writes in the host's log of requests, in the form of `call`."""
        return [self.call(each) for each in self.host.requests if not is_read(each)]

    def meanwhile(self, call: str, act: Callable[[], object]) -> None:
        """Let somebody act once, when the next request ``call`` has arrived, before its answer."""
        meanwhile(self.host, lambda request: self.call(request) == call, act)

    def make_wait(
        self, kind: FaultKind = FaultKind.SECONDARY_429_RETRY_AFTER, call: str = "PATCH pulls/1"
    ) -> None:
        """Let the host refuse the next request ``call``, so that the run waits before a retry."""
        self.host.faults.add(Fault(kind, match=lambda request: self.call(request) == call))

    def call(self, request: Request) -> str:
        """Return method and path of a request, without the name or number of the repository."""
        return shortened(request).replace(f"/repositories/{self.repository.id}/", "")

    def begin_without_waiting(self) -> Process:
        """Start a run as a process of its own, whose waiting takes no time."""
        return self.action.begin_without_waiting(self.action.environment(self.inputs))

    @property
    def inputs(self) -> dict[str, str]:
        """The inputs that every run gets."""
        return {"commit_strategy": self.strategy, "language": "en", "definitions": LIST}

    @property
    def state(self) -> object:
        """The files of each branch, and each pull request."""
        files = {name: self.repository.files(name) for name in self.repository.branches}
        return files, [(each.head, each.base, each.state) for each in self.repository.pull_requests]

    @property
    def done(self) -> object:
        """The `state` after a complete run."""
        files = {"main": PRESENT, BRANCH: PRESENT | self.missing}
        return files, [(BRANCH, "main", "open")]


CHANGES: dict[str, dict[str, Content | None]] = {
    "edited": {"a.md": b"mine\n"},
    "removed": {"a.md": None},
    "added": {"c.md": b"mine\n"},
    "a link": {"a.md": Symlink("A\n")},
    "executable": {"a.md": Executable(b"A\n")},
    "another file": {"README.md": b"mine\n"},
    "several files": dict.fromkeys(("d.md", "README.md", "c.md", "b.md", "a.md"), b"mine\n"),
}
"""Changes that somebody commits to the branch of a pull request for `A_AND_B`."""
MANY = "many"
WAYS = (*STRATEGIES, MANY)
"""Each strategy for one repository, and the run over many."""
in_one_way = pytest.mark.parametrize("example", [SINGLE], indirect=True)
"""Run a test in one way although its fixture `example` has several. All ways decide with the same
function, `make_plan`."""
A_AND_B = {"a.md": "A\n", "b.md": "B\n"}
"""The files of a small list: contents by path."""


class Way(Example):
    """An example with one of `WAYS`; a run over many has only this repository."""

    def run(self, **inputs: str) -> Run:
        if self.strategy != MANY:
            return super().run(**inputs)
        # The repository may be a fork, and forks are selected only on request
        targets = {"target_repos": f"{TARGET}, fork:true"}
        return self.action({**self.inputs, "commit_strategy": "", **targets, **inputs})
