"""What is tried: runs of the action, and single requests that no run can be brought to send."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from registrar.errors import RegistrarError
from registrar.github.case import OF_INSTALLATION
from registrar.runtime.cancellation import Clock
from scripts.lib.trial.answers import OK, WRONG, Names, Row, Step, asks_for_patience, entry
from scripts.lib.trial.recorder import Exchange, Recorder
from scripts.lib.trial.scratch import BLOCKED, MISSING, PRESENT, FirstCommit, NotFilled, Scratch
from tests.recordings import BY_NUMBER, Recording, recordings
from tests.recordings.calls import BRANCH, CALLS, Caller, Given

ROOT = Path(__file__).resolve().parents[3]
NOBODY = "ghost"
"""GitHub's own account for those that were deleted: it may do nothing anywhere."""
PEOPLE = ("POST assignees", "POST requested_reviewers")
BRANCHES = ("single-requests", "by-number", "per-file", "single", "many")
OPENED = "POST pulls: it is opened"
LATER = ("later.md", "docs/later.md")
PLAN = {"mode": "plan"}
PER_FILE, SINGLE = {"commit_strategy": "per-file"}, {"commit_strategy": "single"}
VISIBLE_TRIES, VISIBLE_SECONDS = 30, 2.0
AGAIN_AFTER_SECONDS = (2.0, 8.0, 0.0)
"""GitHub may know for ten seconds what was before a write."""
ALL_AT_ONCE = "mutation createRef, createCommitOnBranch, createPullRequest"

# What is expected: names of recordings
CHECKED = (
    "GET rate_limit: the token is accepted",
    "GET repo: it is there",
    "GET git/ref: the branch is there",
)
AT_REF = ("GET commits of a reference: it names a commit", "GET compare: one file was added")
FOUND = (
    "GET contents: a file is there",
    "GET contents: a file of more than 1 MB is there",
    "GET contents: a directory is there",
    "GET contents: a link to a directory is there",
    "GET contents: a submodule is there",
    "GET contents: nothing is there",
)
QUERIED = ("query repository: a directory is missing",)
ODD = ("query repository: a file of more than 10 MB is at the path of a directory",)
READ = (
    "GET repo: it is there",
    "GET git/ref: there is no such branch",
    *FOUND,
    "GET contents: a link to a file is there",
    "GET contents: a part of the path is a file",
    "GET contents: a part of the path is a link",
    "GET contents: a part of the path is a submodule",
    "GET contents: the commit is unknown",
    "GET contents: the path has an empty part",
    "GET contents of a directory: it is there",
    "GET contents of a directory: it has more than 1,000 entries",
    "GET contents of a directory: a file is there",
    "GET contents of a directory: nothing is there",
    "GET git/trees: the whole tree",
    "GET git/trees: the commit is unknown",
    "GET git/blobs: it is there",
    "GET commits of a reference: it names a commit",
    "GET commits of a reference: it names none",
    "GET pulls: there is none",
    "GET pulls/N: there is no such pull request",
    "query repository: a directory is missing",
    "query repository: a file is at the path of a directory",
    "query repository: a file of more than 10 MB is at the path of a directory",
    "query repository: a link is at the path of a directory",
    "query repository: a submodule is at the path of a directory",
    "query repository: a directory has more than 1,000 entries",
    "query repository: a part of the path is a file",
    "query repository: a part of the path is a link",
    "query repository: a part of the path is a submodule",
    "query object: the directory is there",
    "query object: a directory is missing",
    "query commits: one is unknown",
    "query nodes: it is there, with the directory",
    "query nodes: one was deleted, or the token may not see it",
    "query repository with facts: it has neither topics nor a language",
)
OF_ANY = (
    *("GET properties/values", "GET properties/values by number"),
    "GET collaborators/permission",
)
"""Kinds of which nobody knows what the owner has."""
UNUSED = ("GET git/matching-refs: there is none", "GET pulls: there is none")
"""What is asked about a name of the branch that was never used."""
WRITTEN = (
    "PUT contents: there is no such branch",
    "POST git/refs: the branch is made",
    "POST git/refs: the name is taken",
    "POST git/refs: there is a branch above or below it",
    "POST pulls: nothing is between the branches",
    "PUT contents: the file is made",
    "PUT contents: the path exists",
    "PUT contents: a directory is at the path",
    "PUT contents: a part of the path is a file",
    "PUT contents: a part of the path is a link",
    "PUT contents: a part of the path is a submodule",
    "PUT contents: the path has an empty part",
)
"""On a branch that is made, and then has a commit."""
WRITTEN_AFTER = (
    "GET git/matching-refs: branches with names that begin like this are there",
    "GET compare: one file was added",
    "query commits: both are there, with the directory",
    "POST pulls: there is no such branch",
    OPENED,
    "POST pulls: one is open already",
    "GET pulls: one is open",
    "GET pulls/N: it is there",
    "PATCH pulls/N: it is changed",
    "PATCH pulls/N: the body is too long",
    "POST labels: the labels are there",
    "POST assignees: a person cannot be assigned",
    "POST requested_reviewers: a person is no collaborator",
    "query repository: the branch and its pull request are there",
    "mutation createCommitOnBranch: another write to the branch came first",
    f"{ALL_AT_ONCE}: the branch exists, at another commit",
    f"{ALL_AT_ONCE}: there is a branch above or below it",
)
NO_SUCH_COMMIT = "0" * 40
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "GET contents: a file of more than 1 MB is there": {"path": "large.bin"},
    "GET contents: a link to a directory is there": {"path": "folder"},
    "GET contents: the commit is unknown": {"base": NO_SUCH_COMMIT},
    "GET git/trees: the commit is unknown": {"base": NO_SUCH_COMMIT},
    "GET git/blobs: it is there": {"blob": "8b137891791fe96927ad78e64b0aad7bded08bdc"},  # "\n"
    "GET pulls/N: there is no such pull request": {"number": 999_999},
    "query repository: a file of more than 10 MB is at the path of a directory": {
        "directories": ("large.bin",)
    },
    "query repository: a directory has more than 1,000 entries": {"directories": ("many",)},
    "query nodes: one was deleted, or the token may not see it": {
        "node_id": "MDEwOlJlcG9zaXRvcnkw"
    },
    "POST git/refs: there is a branch above or below it": {"branch": f"{BRANCH}/below"},
    "PUT contents: the path exists": {"path": "README.md"},
    "POST pulls: there is no such branch": {"branch": "no/such"},
    "PATCH pulls/N: the body is too long": {"body": "x" * 65_537},
    "POST assignees: a person cannot be assigned": {"people": (NOBODY,)},
    "POST requested_reviewers: a person is no collaborator": {"people": (NOBODY,)},
    f"{ALL_AT_ONCE}: there is a branch above or below it": {"branch": f"{BRANCH}/below"},
}
"""Where a single request is about something else than the recording is."""


@dataclass
class Trial:
    """Tries everything once. ``keep_line`` is given each answer as soon as it is there."""

    api_url: str
    token: str
    names: Mapping[str, str]
    """Names of ours by those of the caller."""
    repositories: Sequence[Scratch]
    """Two, or the one of a short trial."""
    commits: Sequence[FirstCommit]
    """What those begin with."""
    directory: Path
    tell: Callable[[str], object]
    keep_line: Callable[[str], object]
    clock: Clock
    rows: list[Row] = field(default_factory=list)
    requests: int = 0
    writes: int = 0
    recorder: Recorder = field(init=False)
    single: Caller = field(init=False)
    """Sends single requests."""
    given: Given = field(init=False)
    """What those are about."""

    def __post_init__(self) -> None:
        # Another one each time: what an earlier try left does not matter
        self._try = f"try-{secrets.token_hex(3)}"
        self._step = Step("", ())
        self.recorder = Recorder(self.api_url, self.keep)
        ours = {f"{self._try}/{end}": BRANCH for end in BRANCHES}
        self._cleaned = Names(
            [self.token],
            {**self.names, **ours, self.recorder.host: "api.github.com"},
        )
        self.single = self.connect()
        self.given = Given(
            full_name=self.first.full_name,
            node_id=self.first.node_id,
            id=self.first.number,
            default_branch=self.first.default_branch,
            owner=self.first.owner,
            branch=self.branch("single-requests"),
        )

    @property
    def first(self) -> Scratch:
        """The repository that most is tried in."""
        return self.repositories[0]

    @property
    def second(self) -> Scratch:
        """The other one; a short trial has none."""
        return self.repositories[1]

    def branch(self, end: str) -> str:
        """A branch of this try."""
        return f"{self._try}/{end}"

    def connect(self) -> Caller:
        """GitHub, as a run of the action reaches it that has made nothing yet."""
        name = self.first.full_name
        return Caller(self.recorder.url, self.token, full_name=name, clock=self.clock)

    def keep(self, exchange: Exchange) -> None:
        """Keep an exchange without the caller's names, and say when GitHub asks to wait."""
        self.requests += 1
        self._cleaned.learn(exchange.body)
        self.writes += exchange.writes
        cleaned = exchange._replace(
            path=self._cleaned.text(exchange.path),
            body=self._cleaned.data(exchange.body),
            headers={name: self._cleaned.text(value) for name, value in exchange.headers.items()},
        )
        self._step.exchanges.append(cleaned)
        self.keep_line(entry(self._step.title, self.requests, cleaned))
        if asks_for_patience(cleaned, with_lag=False):
            seconds = cleaned.headers.get("retry-after")
            pause = f"in {seconds} s" if seconds else "soon, at a limit after some minutes"
            self.tell(f"  GitHub answered {cleaned.status}: asking again {pause}")

    @contextmanager
    def step(self, title: str, *expected: str, of_run: bool = False) -> Iterator[Step]:
        """Hold what is exchanged meanwhile against these recordings."""
        if title != self._step.title:
            self.tell(f"{title} ({self.requests} requests so far)")
        self._step = Step(title, expected, of_run)
        try:
            yield self._step
        finally:
            self.rows += self._step.rows()

    def run(
        self,
        step: str,
        *expected: str,
        inputs: Mapping[str, str],
        paths: Sequence[str] = (),
        contents: Mapping[str, str] = MappingProxyType({}),
        exit_code: int = 0,
    ) -> None:
        """Run the action, with a list of these paths, of which some have contents."""
        given = {"target_repo": self.first.full_name, "language": "en", **inputs}
        if "target_repos" in given:
            del given["target_repo"]
        if paths:
            listed = [{"path": path, "content": contents.get(path, "")} for path in paths]
            (self.directory / "list.json").write_text(json.dumps(listed), "utf-8")
            given["definitions"] = "list.json"
        if "branch" in given:
            given["branch"] = self.branch(given["branch"])
        with self.step(step, *expected, of_run=True) as tried:
            done = subprocess.run(
                [sys.executable, "-I", str(ROOT / "entrypoint.py")],
                check=False,
                cwd=self.directory,
                env={
                    "PATH": os.environ.get("PATH", os.defpath),
                    "INPUT_HOST_TOKEN": self.token,
                    "INPUT_API_URL": self.recorder.url,
                    **{f"INPUT_{name.upper()}": value for name, value in given.items()},
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
            )
            is_right = tried.comes_out = done.returncode == exit_code
        self.rows.append(
            Row(
                step,
                OK if is_right else WRONG,
                f"the action ends with exit code {exit_code}",
                f"{done.returncode}",
                () if is_right else done.stdout.splitlines(),
            )
        )

    def ask(self, name: str, **changes: Any) -> None:
        """Send a single request, which is to be answered as in the recording of this name.

        A kind of request stands for any of its recordings.
        """
        request, recording = name.partition(":")[0], recordings().get(name)
        known = recording.given if recording else {}
        given = replace(self.given, **{**known, **changes})
        given = replace(given, branch=given.branch.replace(BRANCH, self.given.branch))
        with self.step("Single requests", name) as step:
            for pause in AGAIN_AFTER_SECONDS:
                # What is to be refused is not lag: it must not be known as just made
                run = self.connect() if recording and recording.fails else self.single
                try:
                    CALLS[request].send(run, given)
                    step.comes_out = recording is not None and not recording.fails
                except RegistrarError as error:
                    step.comes_out = recording is not None and is_failure_of(recording, error)
                if not step.is_wrong or not pause:
                    break
                self.tell(f"  {name}: not as expected, once more in {pause:.0f} s")
                self.clock.sleep(pause)
                step.begin_anew()

    def play(self) -> None:
        """Try everything, in an order in which each step finds what those before it left."""
        if not self.first.is_filled:
            self.nothing_there()
        self.begin()
        self.reading()
        self.plans()
        self.writing()
        self.per_file()
        self.in_one_commit()
        self.many()

    def play_short(self) -> None:
        """A small list with both strategies: its plan, its pull request, a no, and once more."""
        self.begin()
        read = (*CHECKED, FOUND[0], FOUND[-1])
        closed = ("GET git/matching-refs", "GET pulls: one was closed without a merge")
        opened = ("POST git/refs: the branch is made", "PUT contents: the file is made", OPENED)
        expected = {
            "per-file": ((*read, *UNUSED), opened, (*read, *closed)),
            "single": (QUERIED, (f"{ALL_AT_ONCE}: all three are done",), QUERIED),
        }
        for strategy, (planned, written, declined) in expected.items():
            inputs = {"commit_strategy": strategy, "branch": strategy}
            paths = (PRESENT[0], *LATER)
            self.run(f"Plan, {strategy}", *planned, inputs=inputs | PLAN, paths=paths)
            self.run(f"Registered, {strategy}", *planned, *written, inputs=inputs, paths=paths)
            self.close(strategy)
            self.run(f"Declined, {strategy}", *declined, inputs=inputs, paths=paths)

    def begin(self) -> None:
        """Let each repository have its first commit."""
        for each, commit in zip(self.repositories, self.commits, strict=True):
            self.fill(each, commit)
        self.given = replace(self.given, base=self.commits[0].id)

    def fill(self, scratch: Scratch, commit: FirstCommit) -> None:
        """Push the first commit, and wait until both APIs know it.

        Right after a push GitHub may still say that the repository is empty.

        Raises:
            NotFilled: it was refused, or does not become visible.
        """
        if not scratch.is_filled:
            self.tell(f"Pushing the first commit to {scratch.full_name}")
            commit.push(scratch, self.token, self.clock)
        self._step = Step("Waiting for the first commit", ())
        given = replace(self.given, full_name=scratch.full_name)
        for _ in range(VISIBLE_TRIES):
            run = self.connect()
            with suppress(RegistrarError):
                head = run.rest.branch_head(given.repository, scratch.default_branch)
                state = run.graphql.inspect(scratch.full_name, [given.branch], [])
                if head == state.base_sha == commit.id:
                    return
            self.tell("  not visible yet")
            self.clock.sleep(VISIBLE_SECONDS)
        raise NotFilled(f"The first commit of {scratch.full_name} does not become visible.")

    def nothing_there(self) -> None:
        """Repositories without a commit."""
        self.run(
            "Empty, per-file",
            *CHECKED[:2],
            "GET git/ref: the repository has no commit",
            inputs=PLAN | PER_FILE,
            paths=PRESENT[:1],
            exit_code=2,
        )
        self.run(
            "Empty, single",
            "query repository: it has no commit",
            inputs=PLAN | SINGLE,
            paths=PRESENT[:1],
            exit_code=2,
        )

    def reading(self) -> None:
        """What is read, and no run can be brought to read in all these ways."""
        for name in READ:
            self.ask(name, **CHANGES.get(name, {}))
        self.ask("GET git/ref: the branch is there", branch=self.first.default_branch)
        for name in ("it is there, with the directory", "an App's token asks"):
            if self.token.startswith(OF_INSTALLATION) == name.startswith("an App"):
                self.ask(f"query repository: {name}")
        for name in OF_ANY:
            self.ask(name)
        self.listings()

    def listings(self) -> None:
        """Lists of repositories; what they say about others is not kept."""
        with self.step("Lists of repositories", *self.lists()), suppress(RegistrarError):
            if self.token.startswith(OF_INSTALLATION):
                tuple(self.single.many.of_installation())
            tuple(self.single.many.of_owner(self.first.owner))
        if not self.first.owner_is_person:
            self.ask("GET orgs/ORG/properties/values")

    def lists(self) -> Iterator[str]:
        """Which lists are read."""
        is_app = self.token.startswith(OF_INSTALLATION)
        if is_app:
            yield "GET installation/repositories: a list"
        if not self.first.owner_is_person:
            yield "GET orgs/ORG/repos: a list"
            return
        yield "GET orgs/ORG/repos: the owner is a person"
        yield "GET users/USER/repos"
        if not is_app:
            yield "GET user/repos: a list"

    def writing(self) -> None:
        """What is written and refused, on a branch of its own."""
        for name in WRITTEN:
            self.ask(name, **CHANGES.get(name, {}))
        with suppress(RegistrarError):
            head = self.single.rest.branch_head(self.given.repository, self.given.branch)
            self.given = replace(self.given, head=head or "")
        for name in WRITTEN_AFTER:
            self.ask(name, **CHANGES.get(name, {}))
            if name == OPENED:
                opened = [each.body for each in self._step.exchanges if isinstance(each.body, dict)]
                number = opened[-1].get("number", 1) if opened else 1
                self.given = replace(self.given, number=number)
        self.by_number()

    def by_number(self) -> None:
        """The same to the address with the repository's number."""
        numbered = self.branch("by-number")
        for kind in BY_NUMBER:
            if kind.startswith("GET "):
                continue
            if kind == "POST pulls":
                self.ask("PUT contents: the file is made", branch=numbered)
            name = next(each for each in recordings() if each.startswith(f"{kind} by number: "))
            on_branch = {"branch": numbered} if kind in ("POST git/refs", "POST pulls") else {}
            people = {"people": (self.given.owner,)} if kind in PEOPLE else {}
            self.ask(f"{kind} by number" if people else name, **on_branch, **people)

    def plans(self) -> None:
        """A list with everything, which is only read."""
        paths = (*PRESENT, *MISSING, *BLOCKED)
        self.run(
            "Plan, per-file",
            *CHECKED,
            *FOUND,
            *UNUSED,
            "GET git/trees: the whole tree",
            inputs=PLAN | PER_FILE,
            paths=paths,
        )
        self.run("Plan, single", *QUERIED, *ODD, inputs=PLAN | SINGLE, paths=paths)
        self.run(
            "Files of the owner",
            *QUERIED,
            "query .github",
            inputs=PLAN | SINGLE | {"profile": "health", "respect_alternatives": "true"},
        )

    def per_file(self) -> None:
        """Registered, continued, declined, one request for each file."""
        inputs = PER_FILE | {"branch": "per-file", "labels": "try"}
        first, all_paths = (*PRESENT, *MISSING), (*PRESENT, *MISSING, *LATER)
        self.run(
            "Registered, per-file",
            *CHECKED,
            *FOUND,
            *UNUSED,
            "POST git/refs: the branch is made",
            "PUT contents: the file is made",
            "POST pulls: it is opened",
            "POST labels: the labels are there",
            inputs=inputs,
            paths=first,
        )
        self.run(
            "Continued, per-file",
            *CHECKED,
            *FOUND,
            "GET git/matching-refs",
            "GET pulls: one is open",
            "GET pulls: there is none",
            "GET git/trees: the whole tree",
            "PUT contents: the file is made",
            "PATCH pulls/N: it is changed",
            "GET pulls/N: it is there",
            inputs=inputs,
            paths=all_paths,
        )
        self.followed(inputs, all_paths, *CHECKED, *FOUND)
        at_ref = {"ref": self.branch("per-file"), "fail_on": "missing,removed"}
        self.run(
            "Check at a ref",
            *AT_REF,
            "query commits: a directory is missing",
            inputs=SINGLE | {"mode": "check"} | at_ref,
            paths=all_paths,
        )
        self.close("per-file")
        self.run(
            "Declined, per-file",
            *CHECKED,
            *FOUND,
            "GET git/matching-refs",
            "GET pulls: one was closed without a merge",
            "GET pulls: there is none",
            inputs=inputs,
            paths=all_paths,
        )

    def followed(self, inputs: dict[str, str], paths: Sequence[str], *read: str) -> None:
        """An open pull request follows its list, is withdrawn, and opened again."""
        strategy, contents = inputs["commit_strategy"], dict.fromkeys(LATER, "corrected\n")
        self.run(
            f"Correction planned, {strategy}",
            *read,
            "GET git/blobs: it is there",
            inputs=inputs | PLAN,
            paths=paths,
            contents=contents,
        )
        self.run(
            f"Corrected, {strategy}",
            *read,
            "PATCH pulls/N: it is changed",
            "mutation createCommitOnBranch: the commit is made",
            inputs=inputs,
            paths=paths,
            contents=contents,
        )
        for step, mode in (("Withdrawn", "withdraw"), ("Opened again", "register")):
            self.run(
                f"{step}, {strategy}",
                *read,
                "PATCH pulls/N: it is changed",
                inputs=inputs | {"mode": mode},
                paths=paths,
                contents=contents,
            )

    def in_one_commit(self) -> None:
        """The same in one commit."""
        inputs = SINGLE | {"branch": "single", "labels": "try"}
        first, all_paths = (*PRESENT, *MISSING), (*PRESENT, *MISSING, *LATER)
        self.run(
            "Registered, single",
            *QUERIED,
            f"{ALL_AT_ONCE}: all three are done",
            "POST labels: the labels are there",
            inputs=inputs,
            paths=first,
        )
        self.run(
            "Continued, single",
            *QUERIED,
            "GET git/trees: the whole tree",
            "mutation createCommitOnBranch: the commit is made",
            "PATCH pulls/N: it is changed",
            "GET pulls/N: it is there",
            inputs=inputs,
            paths=all_paths,
        )
        self.followed(inputs, all_paths, *QUERIED)
        self.close("single")
        self.run("Declined, single", *QUERIED, inputs=inputs, paths=all_paths)

    def many(self) -> None:
        """Two repositories in one run."""
        self.run(
            "Two repositories",
            *CHECKED[:2],
            "query nodes: a directory is missing",
            *QUERIED,
            f"{ALL_AT_ONCE}: all three are done",
            inputs={
                "target_repos": f"{self.first.full_name},{self.second.full_name}",
                "branch": "many",
            },
            paths=("README.md", "many.md"),
        )

    def close(self, branch: str) -> None:
        """Close the pull request of a branch, as somebody who declines it."""
        expected = ("GET pulls: one is open", "PATCH pulls/N: it is changed")
        with self.step("Closed by hand", *expected), suppress(RegistrarError):
            rest, repository = self.single.rest, self.given.repository
            for pull in rest.pull_requests(repository, self.branch(branch)):
                rest.update_pull_request(repository, pull, body=pull.body, state="closed")


def is_failure_of(recording: Recording, error: RegistrarError) -> bool:
    """Whether our code made of an answer the error that it makes of a recording."""
    kind = getattr(error, "kind", None)
    return kind is not None and (recording.fails or {}).get("kind") == kind.name
