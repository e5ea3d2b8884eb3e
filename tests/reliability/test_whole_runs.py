"""Whole runs, one after the other and two at once, while people work on the repository.

A state machine chooses the next step. A step is a run in any way and mode, perhaps with a fault or
with lag, or a run that is killed, or two runs at once; or people push, merge, close, reopen,
rename, delete and edit. After every step the promises hold. Previews of all ways agree, and a
registration does what the plan has said. After a run without disturbance each listed path is
present, proposed or declined.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from threading import Event
from typing import Any, Protocol, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
)

from registrar.registration.mark import WITHDRAWN, Mark, hashed
from tests import promises
from tests.fakehub import Fault, FaultKind, Lag, Request, StandInHost
from tests.fakehub.refusals import Refusal
from tests.fakehub.repository import PullRequest
from tests.harness import PER_FILE, SINGLE, Action, Run, SignalAt

T = TypeVar("T")
MANY = "many"
MANY_PATHS = "<!-- registrar:many -->"
"""It stands for any path, as an earlier version wrote it."""
LISTED = ("a.md", "b.md", "docs/c.md")
LONG = (*LISTED, *(f"{number:03}.md" for number in range(117)))
BRANCH = "chore/add-missing-files"
AUTHOR = ("A", "a@example.com")
THEIRS = "mine.txt"
WORDS = "More words."
FAULTS = (
    FaultKind.ERROR_502_HTML,
    FaultKind.CLOSED,
    FaultKind.RESET,
    FaultKind.HTML_200,
    FaultKind.CONFLICT_409,
    FaultKind.SECONDARY_429_RETRY_AFTER,
)
LIMITS = (FaultKind.SECONDARY_429_RETRY_AFTER, FaultKind.SECONDARY_403_RETRY_AFTER)
limits = st.sampled_from([*LIMITS, None])
ways = st.sampled_from([PER_FILE, SINGLE, MANY])
refusals = st.sampled_from(["classic", "ruleset", "push protection", "permission"])
PEOPLE = (
    "push",
    "take",
    "take_out",
    "edit_file",
    "amend",
    "merge_the_default_branch",
    "keep_one_side",
    "reset",
    "squash",
    "change_list",
    "close",
    "merge",
    "reopen",
    "tidy_up",
    "add_listed",
    "delete_file",
    "rename_default_branch",
    "rename_repository",
    "write_around_our_part",
    "remove_our_part",
    "edit_our_part",
    "fill_the_description",
    "stranger_opens",
    "stranger_closes",
    "stranger_reopens",
    "strangers_in_numbers",
)
IN_A_LONG_WRITING = (
    *(
        "close",
        "reopen",
        "close_and_reopen",
        "make_default",
        "reset_branch",
        "take_out",
        "edit_file",
    ),
    *("rename_default_branch", "merge", "push"),
)
GAP = 29
"""The most commits that a run makes after somebody has made its branch the default branch."""
STRANGERS = ("stranger", "reader")
"""Accounts that may only read the repository; one of them is a collaborator with this permission.
They may open pull requests between its branches, and close these."""
VERSIONS = 3
lists = st.sampled_from([LISTED[:1], LISTED[:2], LISTED])
seeds = st.integers(0, 99)
versions = st.integers(1, VERSIONS - 1)


def commits(request: Request) -> bool:
    """Return whether a request writes files to a branch."""
    is_file = request.method == "PUT" and "/contents/" in request.path
    return is_file or "createCommitOnBranch" in str(request.fields.get("query"))


class Choose(Protocol):
    """A function that chooses one of several items."""

    def __call__(self, among: Sequence[T], /) -> T: ...


class WholeRuns(RuleBasedStateMachine):
    """A repository, with the steps of runs and of people, and the checks after each run."""

    @initialize(taken=st.sampled_from(["", "bare", "with work"]))
    def begin(self, taken: str = "") -> None:
        self.host = StandInHost()
        self.host.__enter__()
        self.folder = tempfile.TemporaryDirectory()
        self.earlier = Path.cwd()
        self.action = Action(self.host, Path(self.folder.name), self.host.create_token())
        self.action.workspace.mkdir()
        self.published = Path(self.folder.name) / "published"
        self.published.mkdir()
        os.chdir(self.action.workspace)
        self.host.clock = self.action.clock
        self.repository = self.host.create_repository("octo/example", {"LICENSE": b"MIT\n"})
        self.repository.person.change(readers={STRANGERS[1]})
        self.target = "octo/example"
        self.names = 0
        self.version = 0
        """The version of the list; each version has other contents."""
        if taken:
            self.repository.person.create_branch(BRANCH)
        if taken == "with work":
            self.repository.person.commit({THEIRS: b"mine\n"}, branch=BRANCH, author=AUTHOR)

    def teardown(self) -> None:
        os.chdir(self.earlier)
        try:
            problems = promises.of_world(self.host)
            # In a long writing, somebody may make the working branch the default branch
            promises.require(self.host, (each for each in problems if "/long-" not in each))
        finally:
            self.host.__exit__(None, None, None)
            self.folder.cleanup()

    # --- Runs -----------------------------------------------------------------------------

    @rule(way=ways, paths=lists)
    def register_quietly(self, way: str, paths: tuple[str, ...]) -> None:
        self.quiet_down()
        planned = self.start(way, paths, "plan")
        run = self.run(way, paths).or_fail()
        if way == MANY and not run.report["registrations"]:
            states = run.report["many"]["states"]
            assert states["complete"] + states["declined"] == 1, run.console
            rows = planned.report["registrations"]
            states = {file["done"] for row in rows for file in row["files"]}
            assert states.isdisjoint({"to open", "to update"}), planned.console + run.console
            return
        if planned.report["registrations"]:
            self.did(run, planned)
        states = {file["path"]: file for file in run.registration["files"]}
        main = self.repository.files()
        proposed = [self.brought_by(pull) for pull in self.open_ones]
        for path in paths:
            reason = states[path]["reason"] or ""
            held = path in main or any(path in files for files in proposed)
            left = ("declined", "the description of", "the working branch has it only because")
            assert held or reason.startswith(left), run.console
        before = self.state
        self.run(way, paths)
        assert self.state == before, "run again, it does something else"

    def did(self, run: Run, planned: Run) -> None:
        """Assert that a run did what the plan has said about each path and the pull request."""
        to_create = {f["path"] for f in planned.registration["files"] if f["done"] == "to create"}
        files = run.registration["files"]
        created = {file["path"] for file in files if file["done"] == "created"}
        left = {file["path"] for file in files if "has no room" in (file["reason"] or "")}
        on_branch = {f["path"] for f in files if "on the working branch" in (f["reason"] or "")}
        assert created <= to_create <= created | left | on_branch, planned.console + run.console
        updated = {file["path"] for file in files if file["done"] == "updated"}
        to_update = {f["path"] for f in planned.registration["files"] if f["done"] == "to update"}
        assert updated == to_update, planned.console + run.console
        before, after = (each.registration["pull_request"] for each in (planned, run))
        assert before is None or before["number"] == after["number"], planned.console + run.console

    @rule(way=ways, paths=lists, mode=st.sampled_from(["plan", "check"]))
    def preview(self, way: str, paths: tuple[str, ...], mode: str) -> None:
        before = self.state
        self.run(way, paths, mode=mode)
        assert self.state == before

    @rule(paths=lists)
    def previews_agree(self, paths: tuple[str, ...]) -> None:
        self.quiet_down()
        ways = [SINGLE, MANY] if self.is_hidden else [PER_FILE, SINGLE, MANY]
        runs = [self.start(way, paths, "plan") for way in ways]
        if any("file that they add: 1" in run.stdout for run in runs):
            # `per-file` closes no pull request, and continues a needless one if the list has grown
            runs = runs[-2:]
        said = [
            self.said(run)
            for run in runs
            if "like repositories without a pull request" not in run.text
        ]
        assert said.count(said[0]) == len(said), [run.console for run in runs]

    def said(self, run: Run) -> object:
        """Return the statements of a preview about each path and the pull request.

        Returns ``None`` if no file is missing.
        """
        assert run.exit_code == 0, run.console
        if run.outputs["missing"] == "0":
            return None
        row = run.registration
        files = [(file["path"], file["done"], file["reason"] or "") for file in row["files"]]
        # `per-file` does not say whether an open pull request has become needless
        # Over many repositories, descriptions that change alone are only counted
        left_out = ("is called", "Left open: ", "will update the description of")
        notes = [note for note in row["notes"] if not any(each in note for each in left_out)]
        return files, row["pull_request"] and row["pull_request"]["number"], notes

    @rule(
        way=ways,
        paths=lists,
        kind=st.sampled_from(FAULTS),
        at=st.integers(1, 12),
        times=st.sampled_from([1, 2, None]),
        after=st.booleans(),
    )
    def register_with_fault(
        self,
        way: str,
        paths: tuple[str, ...],
        kind: FaultKind,
        at: int,
        times: int | None,
        after: bool,
    ) -> None:
        when: Any = "after" if after and kind.can_happen_after else "before"
        at += len(self.host.requests)
        self.host.faults.add(Fault(kind, at=at, times=times, when=when))
        self.run(way, paths)
        self.host.faults.clear()

    @rule(way=ways, paths=lists, kind=refusals, twice=st.booleans())
    def register_refused(self, way: str, paths: tuple[str, ...], kind: str, twice: bool) -> None:
        """If GitHub refuses commits to our branches, nothing is declined because of that."""
        repository, token = self.repository, None
        if kind == "permission":
            permissions = {"contents": "read", "pull_requests": "write"}
            token = self.host.create_token("installation", permissions=permissions)
        elif kind == "push protection":
            repository.person.change(secrets={LISTED[1].encode()})
            refusal = Refusal(409, "Repository rule violations found\n\nSecret detected in content")
            self.host.refused_mutations["createCommitOnBranch"] = refusal
        else:
            repository.person.protect(f"{BRANCH}*", "classic" if kind == "classic" else "ruleset")
        for _ in range(1 + twice):
            self.run(way, paths, token=token)
        repository.person.unprotect()
        repository.person.change(secrets=frozenset())
        self.host.refused_mutations.clear()

    @rule(way=ways, paths=lists, at=st.integers(1, 12), applied=st.booleans())
    def register_and_be_killed(
        self, way: str, paths: tuple[str, ...], at: int, applied: bool
    ) -> None:
        at += len(self.host.requests)
        self.host.on_request = kill = SignalAt(signal.SIGKILL, lambda each: each.number == at)
        if not applied:
            self.host.faults.add(Fault(FaultKind.CLOSED, at=at, when="before"))
        self.run(way, paths, kill=kill)
        self.host.on_request = None
        self.host.faults.clear()

    @rule(
        way=ways,
        other=ways,
        paths=lists,
        others=lists,
        version=st.integers(0, VERSIONS - 1),
        at=st.integers(1, 8),
    )
    def two_at_once(
        self,
        way: str,
        other: str,
        paths: tuple[str, ...],
        others: tuple[str, ...],
        version: int,
        at: int,
    ) -> None:
        """A second run takes place, from start to end, while the first one waits for an answer.

        The second run may have another version of the list.
        """
        at += len(self.host.requests)
        has_ended = Event()
        has_ended.set()

        def other_run(_request: Request) -> None:
            if len(self.host.requests) >= at:
                self.host.on_request = None
                has_ended.clear()
                self.start(other, others, version=version)
                has_ended.set()

        self.host.on_request = other_run
        self.run(way, paths)
        self.host.on_request = None
        # The first run may end without the answer for which it has waited
        has_ended.wait(60)

    @rule(way=ways, other=ways, paths=lists, version=versions, at_look=st.booleans())
    def another_version_before_the_description(
        self, way: str, other: str, paths: tuple[str, ...], version: int, at_look: bool
    ) -> None:
        """A run with another version of the list takes place between a commit and its description.

        With ``at_look`` it takes place just before the last look at the pull request. Afterwards
        none of our own files counts as edited by somebody.
        """
        self.quiet_down()
        version = (self.version + version) % VERSIONS
        held, written, first = self.held, self.written, len(self.host.requests)

        def other_run(request: Request) -> None:
            is_look = request.method == "GET" and request.path.split("/")[-2] == "pulls"
            earlier = self.host.requests[first:-1]
            if is_look if at_look else any(map(commits, earlier)):
                self.host.on_request = None
                self.start(other, paths, version=version)

        self.host.on_request = other_run
        run = self.run(way, paths)
        self.host.on_request = None
        proposed = {(p.head, path) for p in self.open_ones for path in self.brought_by(p)}
        marked = {self.repository.pull_request(number).head for number in self.marked}
        ours = {each for each in self.held & proposed if each[0] in marked}
        assert ours - self.written <= held - written, run.console

    @rule(
        paths=lists, mode=st.sampled_from(["register", "plan", "withdraw"]), at=st.integers(1, 12)
    )
    def turns_private(self, paths: tuple[str, ...], mode: str, at: int) -> None:
        """A repository becomes private during a run whose outputs everybody can read.

        The name by which it was selected may be printed until the run ends, but not a new name.
        """
        self.quiet_down()
        self.names += 1
        new = f"octo/hidden-{self.names}"
        at += len(self.host.requests)
        for file in self.published.iterdir():
            file.unlink()

        def turn(_request: Request) -> None:
            if len(self.host.requests) >= at:
                self.host.on_request = None
                self.repository.person.rename(new)
                self.repository.person.change(private=True)

        self.host.on_request = turn
        run = self.run(MANY, paths, mode, is_public=True)
        self.host.on_request = None
        self.repository.person.change(private=False)
        shown = "\n".join([run.text, *(f.read_text("utf-8") for f in self.published.iterdir())])
        assert new not in shown

    @rule(
        way=ways,
        paths=lists,
        mode=st.sampled_from(["register", "withdraw"]),
        at=st.integers(1, 20),
        act=st.sampled_from(PEOPLE),
        seed=seeds,
        waits=limits,
    )
    def somebody_acts_meanwhile(
        self,
        way: str,
        paths: tuple[str, ...],
        mode: str,
        at: int,
        act: str,
        seed: int,
        waits: FaultKind | None,
    ) -> None:
        """Somebody acts during a run; a change while a request waits before a retry is noticed.

        Nothing is promised about changes after the run has read the repository.
        """
        at += len(self.host.requests)
        worded, pushed = set[int](), set[int]()

        def meanwhile(_request: Request) -> None:
            if len(self.host.requests) >= at:
                self.host.on_request = None
                there = [pull for pull in self.own if self.repository.find_head(pull.head)]
                held = {pull.number: self.repository.files(pull.head) for pull in there}
                getattr(self, act)(Random(seed).choice)
                for pull in self.open_ones if waits else ():
                    worded.update([pull.number] if WORDS in (pull.body or "") else [])
                    before, now = held.get(pull.number), self.repository.files(pull.head)
                    # A new message does not change files, and a pull request without files may be
                    # closed.
                    # A reset may take people's work back, so that only our files are left
                    brought = {(pull.head, path) for path in self.brought_by(pull)}
                    is_ours = brought <= self.written and pull.head not in dict(self.removed)
                    if before != now and brought and not is_ours:
                        pushed.add(pull.number)

        if waits:
            self.host.faults.add(Fault(waits, at=at))
        self.host.on_request = meanwhile
        run = self.start(way, paths, mode)
        self.host.on_request = None
        self.host.faults.clear()
        for number in worded:
            assert WORDS in (self.repository.pull_request(number).body or ""), run.console
        for number in pushed:
            pull = self.repository.pull_request(number)
            assert pull.state == "open", run.console

    @rule(
        way=ways,
        next_way=ways,
        size=st.sampled_from([29, 120]),
        is_new=st.booleans(),
        refused=st.booleans(),
        act=st.sampled_from(IN_A_LONG_WRITING),
        at=st.integers(0, 299),
        seed=seeds,
    )
    def somebody_acts_in_a_long_writing(
        self,
        way: str,
        next_way: str,
        size: int,
        is_new: bool,
        refused: bool,
        act: str,
        at: int,
        seed: int,
    ) -> None:
        """Somebody acts at any request of a writing of many files, in a repository of its own.

        Files that somebody has seen and refused are not proposed again. A run that has written to
        the default branch says so, and names its commits.
        """
        lag, self.host.quirks.lag = self.host.quirks.lag, None
        earlier = self.repository, self.target, self.version
        self.names += 1
        self.target = f"octo/long-{self.names}"
        self.repository = self.host.create_repository(self.target, {"LICENSE": b"MIT\n"})
        try:
            self.write_long(way, size, is_new, refused, act, at, seed)
            self.host.refused_mutations.clear()
            self.quiet_down()
            self.run(next_way, LONG[:size])
        finally:
            self.host.on_request = None
            self.host.refused_mutations.clear()
            self.repository, self.target, self.version = earlier
            self.host.quirks.lag = lag

    def write_long(
        self, way: str, size: int, is_new: bool, refused: bool, act: str, at: int, seed: int
    ) -> None:
        if not is_new:
            self.start(way, LONG[:1])
        if refused:
            refusal = Refusal(409, "Repository rule violations found")
            self.host.refused_mutations["createCommitOnBranch"] = refusal
        is_one_by_one = way == PER_FILE or (way == SINGLE and refused)
        first, pulls = len(self.host.requests), len(self.repository.pull_requests)
        at = first + 1 + at % (2 * size + 12 if is_one_by_one else 8)
        seen: dict[int, set[str]] = {}
        heads: dict[str, str] = {}

        def meanwhile(_request: Request) -> None:
            if len(self.host.requests) >= at:
                self.host.on_request = None
                getattr(self, act)(Random(seed).choice)
                names = self.repository.branches
                heads.update({name: self.repository.head(name) for name in names})
                for pull in self.own:
                    if pull.state == "closed" and not pull.merged:
                        seen[pull.number] = self.brought_by_commit(pull.head_sha)

        self.host.on_request = meanwhile
        run = self.start(way, LONG[:size])
        self.host.on_request = None
        default = self.repository.default_branch
        if default in heads:
            log = [commit.sha for commit in self.repository.log(default)]
            since = log[: log.index(heads[default])]
            assert len(since) <= GAP, f"{len(since)} commits: {run.console}"
            assert all(commit in run.console for commit in since), run.console
            assert run.exit_code or not since, run.console
        new = self.repository.pull_requests[pulls:]
        assert not [each for each in new if each.state == "open" and each.head == default]
        refused_by_people = set[str]().union(*seen.values())
        self.host.refused_mutations.clear()
        self.quiet_down()
        self.start(way, LONG[:size])
        proposed = {path for pull in self.open_ones for path in self.brought_by(pull)}
        assert not proposed & refused_by_people, run.console

    def brought_by_commit(self, sha: str) -> set[str]:
        there = {path for path, _ in self.repository.walk(self.repository.commit_at(sha).tree)}
        return there - self.repository.files().keys()

    def close_and_reopen(self, choose: Choose) -> None:
        if pulls := self.open_ones:
            number = choose(pulls).number
            self.repository.person.close(number)
            self.repository.person.reopen(number)

    def make_default(self, _choose: Choose) -> None:
        """Somebody makes a working branch the default branch."""
        if BRANCH in self.repository.branches:
            self.repository.person.change(default_branch=BRANCH)

    def reset_branch(self, choose: Choose) -> None:
        """Somebody resets the working branch to any of its commits."""
        if BRANCH in self.repository.branches:
            log = [commit.sha for commit in self.repository.log(BRANCH)]
            self.repository.person.create_branch(BRANCH, choose(log))

    @rule(way=ways, paths=lists, quietly=st.booleans())
    def withdraw(self, way: str, paths: tuple[str, ...], quietly: bool) -> None:
        """Withdraw pull requests; one that people have changed stays open."""
        if quietly:
            self.quiet_down()
        closed = {pull.number for pull in self.own if pull.state == "closed"}
        marks = {pull.number: Mark.of(pull.body or "") for pull in self.open_ones}
        heads = {name: self.repository.head(name) for name in self.repository.branches}
        self.run(way, paths, mode="withdraw")
        assert heads == {name: self.repository.head(name) for name in self.repository.branches}
        for pull in self.own:
            if pull.state == "closed" and pull.number not in closed:
                assert WITHDRAWN in (pull.body or "")
                mark, added = marks[pull.number], self.brought_by(pull)
                assert mark
                assert {*map(hashed, added)} >= {*(mark.wrote or ())}, "somebody has changed it"
                assert not any(
                    content.startswith((b"Edited", b"x\n"))
                    for path, content in self.repository.files(pull.head).items()
                    if path not in self.repository.files() and isinstance(content, bytes)
                )

    @rule(seconds=st.sampled_from([0.0, 3.0, 8.0]))
    def lag(self, seconds: float) -> None:
        self.host.quirks.lag = Lag(seconds=seconds) if seconds else None

    def quiet_down(self) -> None:
        """End the lag, so that all answers know everything that was written."""
        self.host.quirks.lag = None
        self.action.clock.sleep(60)

    # --- People ---------------------------------------------------------------------------

    @rule(act=st.sampled_from(PEOPLE), seed=seeds)
    def somebody_acts(self, act: str, seed: int) -> None:
        getattr(self, act)(Random(seed).choice)

    def push(self, choose: Choose) -> None:
        """Somebody commits to a branch, which may be the default branch."""
        branch = choose(sorted(self.repository.branches))
        self.names += 1
        self.repository.person.commit(
            {f"{THEIRS}.{self.names}": b"x\n"}, branch=branch, author=AUTHOR
        )

    def take(self, choose: Choose) -> None:
        """Somebody creates a branch with a name of ours, with a commit or without one."""
        name = f"{BRANCH}{choose(['', '-2', '-3'])}"
        if name not in self.repository.branches:
            self.repository.person.create_branch(name)
            if choose([True, False]):
                self.repository.person.commit({THEIRS: b"mine\n"}, branch=name, author=AUTHOR)

    def take_out(self, choose: Choose) -> None:
        """A reviewer deletes one of the files from the branch."""
        if (pull := self.one_of(self.open_ones, choose)) and (there := self.listed_in(pull)):
            self.repository.person.commit({choose(there): None}, branch=pull.head, author=AUTHOR)

    def edit_file(self, choose: Choose) -> None:
        """A reviewer changes one of the files on the branch."""
        if (pull := self.one_of(self.open_ones, choose)) and (there := self.listed_in(pull)):
            self.repository.person.commit(
                {choose(there): self.words}, branch=pull.head, author=AUTHOR
            )

    def amend(self, choose: Choose) -> None:
        """A reviewer amends the last commit: its message, and perhaps one of the files."""
        if pull := self.one_of(self.open_ones, choose):
            self.repository.person.amend(pull.head, self.change_of(pull, choose))

    def merge_the_default_branch(self, choose: Choose) -> None:
        """Somebody merges the default branch, perhaps with a change in the merge commit."""
        mergeable = [p for p in self.open_ones if self.repository.is_mergeable(p.number)]
        if pull := self.one_of(mergeable, choose):
            self.repository.person.merge_into(
                pull.head, self.repository.head(), self.change_of(pull, choose)
            )

    def keep_one_side(self, choose: Choose) -> None:
        """The branch becomes a merge with the default branch that has the files of one of them."""
        if pull := self.one_of(self.open_ones, choose):
            sides = [self.repository.head(pull.head), self.repository.head()]
            if choose([True, False]):
                sides.reverse()
            self.repository.person.keep_ours(pull.head, *sides)

    def reset(self, choose: Choose) -> None:
        """Somebody resets a branch to one of its earlier commits."""
        if pull := self.one_of(self.open_ones, choose):
            known = {commit.sha for commit in self.repository.log()}
            earlier = [commit.sha for commit in self.repository.log(pull.head)[1:]]
            if own := [sha for sha in earlier if sha not in known]:
                self.repository.person.create_branch(pull.head, choose(own))

    def squash(self, choose: Choose) -> None:
        """Somebody squashes a branch into one commit, perhaps without one of the files.

        The commit is based on the present default branch.
        """
        if pull := self.one_of(self.open_ones, choose):
            files, base = self.repository.files(pull.head), self.repository.files()
            kept = {path: files[path] for path in files.keys() - base.keys()}
            if choose([True, False]) and (there := sorted(kept.keys() & {*LISTED})):
                del kept[choose(there)]
            if kept:
                self.repository.person.create_branch(pull.head)
                # With the message of a commit to the default branch both could have the same id
                self.repository.person.commit(kept, branch=pull.head, message="Squashed")

    def one_of(self, pulls: Sequence[PullRequest], choose: Choose) -> PullRequest | None:
        return choose(pulls) if pulls else None

    def listed_in(self, pull: PullRequest) -> list[str]:
        return sorted(set(LISTED) & self.repository.files(pull.head).keys())

    def change_of(self, pull: PullRequest, choose: Choose) -> Mapping[str, bytes | None]:
        """Return a change of one file, its deletion, or no change."""
        changes = choose([True, True, False])
        if not (changes and (there := self.listed_in(pull))):
            return {}
        return {choose(there): choose([None, self.words])}

    @property
    def words(self) -> bytes:
        self.names += 1
        return f"Edited {self.names}\n".encode()

    def change_list(self, choose: Choose) -> None:
        """The list gets another version, which may be an earlier one."""
        self.version = choose(range(VERSIONS))

    def close(self, choose: Choose) -> None:
        if pulls := self.open_ones:
            pull = choose(pulls)
            self.repository.person.close(pull.number)
            if choose([True, False]):
                self.repository.person.delete_branch(pull.head)

    def merge(self, choose: Choose) -> None:
        if pulls := [pull for pull in self.open_ones if self.repository.is_mergeable(pull.number)]:
            pull = choose(pulls)
            self.repository.person.merge(pull.number)
            if choose([True, False]):
                self.repository.person.delete_branch(pull.head)

    def reopen(self, choose: Choose) -> None:
        there = set(self.repository.branches)
        closed = [p for p in self.own if p.state == "closed" and {p.head, p.base} <= there]
        taken = {p.head for p in self.open_ones}
        if free := [p for p in closed if not (p.merged or p.head in taken)]:
            # GitHub refuses this if somebody has rewritten the branch since
            with contextlib.suppress(Refusal):
                self.repository.person.reopen(choose(free).number)

    def tidy_up(self, choose: Choose) -> None:
        """Somebody deletes a branch without an open pull request."""
        kept = {self.repository.default_branch, *(p.head for p in self.open_ones)}
        if unused := sorted(set(self.repository.branches) - kept):
            self.repository.person.delete_branch(choose(unused))

    def add_listed(self, choose: Choose) -> None:
        """Somebody adds some of the files to the default branch, as listed or with other words."""
        files = choose([LISTED[:1], LISTED[:2], LISTED])
        words = choose([True, False])
        there = self.repository.files().keys()
        new = {
            path: b"By hand\n" if words else self.content(path, self.version)
            for path in files
            if path not in there
        }
        if new:
            self.repository.person.commit(new, author=AUTHOR)

    def delete_file(self, choose: Choose) -> None:
        if there := sorted(set(LISTED) & self.repository.files().keys()):
            path = choose(there)
            self.repository.person.commit({path: None}, author=AUTHOR)

    def rename_default_branch(self, _choose: Choose) -> None:
        """Somebody renames the default branch; only open pull requests get the new base."""
        self.names += 1
        old, new = self.repository.default_branch, f"trunk-{self.names}"
        self.repository.person.create_branch(new)
        self.repository.person.change(default_branch=new)
        for pull in self.own:
            if pull.state == "open" and pull.base == old:
                self.repository.person.edit(pull.number, base=new)
        self.repository.person.delete_branch(old)

    def rename_repository(self, _choose: Choose) -> None:
        self.names += 1
        self.repository.person.rename(f"octo/renamed-{self.names}")

    def remove_our_part(self, choose: Choose) -> None:
        """Somebody replaces a description; from then on the pull request is their own."""
        if pulls := self.open_ones:
            self.repository.person.edit(choose(pulls).number, body="Mine.")

    def edit_our_part(self, choose: Choose) -> None:
        """Somebody quotes or indents our lines, writes beside them, or takes one of them out."""
        if pulls := self.open_ones:
            pull, before = choose(pulls), choose(["    ", "> ", "Look: ", ""])
            lines = (pull.body or "").split("\n")
            kept = [line for line in lines if before or "registrar:begin" not in line]
            ours = "registrar:"
            body = "\n".join(f"{before}{line}" if ours in line else line for line in kept)
            self.repository.person.edit(pull.number, body=body)

    def stranger_opens(self, choose: Choose) -> None:
        """A stranger opens a pull request between two branches.

        Its description is copied from one of ours, or is a mark that names every path.
        """
        branches = sorted(self.repository.branches)
        head, base = choose(branches), choose(branches)
        pairs = {(pull.head, pull.base) for pull in self.own if pull.state == "open"}
        bodies = [MANY_PATHS, *(pull.body or "" for pull in self.own)]
        if head not in {base, self.repository.default_branch} and (head, base) not in pairs:
            body = choose(bodies)
            self.repository.person.open_pull_request(
                head=head, base=base, body=body, author=choose(STRANGERS)
            )

    def stranger_closes(self, choose: Choose) -> None:
        if pulls := [p for p in self.own if p.author in STRANGERS and p.state == "open"]:
            self.repository.person.close(choose(pulls).number)

    def stranger_reopens(self, choose: Choose) -> None:
        """A stranger reopens a pull request of their own, which GitHub allows."""
        open_pairs = {(pull.head, pull.base) for pull in self.own if pull.state == "open"}
        theirs = [p for p in self.own if p.author in STRANGERS and p.state == "closed"]
        there = (p for p in theirs if p.base in self.repository.branches)
        grown = [p for p in there if p.head_sha == self.repository.find_head(p.head)]
        if pull := self.one_of([p for p in grown if (p.head, p.base) not in open_pairs], choose):
            self.repository.person.reopen(pull.number)

    def strangers_in_numbers(self, choose: Choose) -> None:
        """A stranger opens and closes more pull requests from a branch than a run looks at."""
        default = self.repository.default_branch
        taken = {default, *(p.head for p in self.own if p.state == "open" and p.base == default)}
        if branches := sorted(set(self.repository.branches) - taken):
            head = choose(branches)
            for _ in range(12):
                author = choose(STRANGERS)
                opened = self.repository.person.open_pull_request(
                    head=head, base=default, body="Theirs.", author=author
                )
                self.repository.person.close(opened.number)

    def fill_the_description(self, choose: Choose) -> None:
        """Somebody writes so much that GitHub takes no further character."""
        if pulls := self.open_ones:
            pull = choose(pulls)
            body = pull.body or ""
            body = f"{'x' * (65_534 - len(body))}\n\n{body}"
            self.repository.person.edit(pull.number, body=body)

    def write_around_our_part(self, choose: Choose) -> None:
        if pulls := self.open_ones:
            pull = choose(pulls)
            body = f"Words.\r\n\r\n{pull.body or ''}\r\n\r\n{WORDS}"
            self.repository.person.edit(pull.number, body=body)

    # --- The promises ---------------------------------------------------------------------

    @property
    def own(self) -> list[PullRequest]:
        full_name = self.repository.full_name
        return [p for p in self.repository.pull_requests if p.head_repository == full_name]

    @property
    def open_ones(self) -> list[PullRequest]:
        """The open pull requests that no stranger has opened."""
        return [p for p in self.own if p.state == "open" and p.author not in STRANGERS]

    @property
    def state(self) -> object:
        repository = self.repository
        heads = {name: repository.head(name) for name in repository.branches}
        return heads, [(p.number, p.state, p.body) for p in self.own]

    @property
    def removed(self) -> set[tuple[str, str]]:
        """Branches, each with a path that its description names and that it lacks.

        Somebody has taken the path out, with a commit, a merge or another history. A branch that
        has other work, and none of the named paths, is left out, because nobody knows whether the
        action has ever written to it.
        """
        found: set[tuple[str, str]] = set()
        for pull in self.open_ones:
            mark, files = Mark.of(pull.body or ""), self.repository.files(pull.head).keys()
            if mark is None or mark.wrote is None:
                continue
            if any(map(mark.names, files)) or not self.adds_anything(pull):
                lacking = (path for path in LISTED if path not in files)
                found |= {(pull.head, path) for path in lacking if mark.names(path)}
        return found

    def brought_by(self, pull: PullRequest) -> set[str]:
        """Return the paths that a merge would add: the merge base does not have them."""
        head = self.repository.head(pull.head)
        since = self.repository.merge_base(self.repository.head(), head)
        before = {path for path, _ in self.repository.walk(since.tree)} if since else set[str]()
        return set(self.repository.files(pull.head)) - before

    @property
    def held(self) -> set[tuple[str, str]]:
        """Branches, each with a listed path that it has."""
        names = self.repository.branches
        return {(name, path) for name in names for path in self.repository.files(name)} & {
            (name, path) for name in names for path in LISTED
        }

    @property
    def written(self) -> set[tuple[str, str]]:
        """Branches of open pull requests, each with a path that is unchanged since we wrote it.

        The description decides: it has hashes of the contents that were written.
        """
        found: set[tuple[str, str]] = set()
        for pull in self.open_ones:
            mark = Mark.of(pull.body or "")
            tree = self.repository.commit_at(self.repository.head(pull.head)).tree
            there = ((path, str(each.id)) for path, each in self.repository.walk(tree))
            found |= {
                (pull.head, path) for path, blob in there if mark and mark.has_written(path, blob)
            }
        return found

    def adds_anything(self, pull: PullRequest) -> bool:
        head = self.repository.head(pull.head)
        since = self.repository.merge_base(self.repository.head(), head)
        return since is None or since.tree_id != self.repository.commit_at(head).tree_id

    @property
    def is_hidden(self) -> bool:
        """Whether `per-file` does not find a used name, because a name before it is unused."""
        used = {*self.repository.branches, *(p.head for p in self.own)}
        names = [f"{BRANCH}{number}" for number in ("", "-2", "-3", "-4")]
        last = max((index for index, name in enumerate(names) if name in used), default=-1)
        return any(name not in used for name in names[:last])

    def run(
        self,
        way: str,
        paths: tuple[str, ...],
        mode: str = "register",
        kill: SignalAt | None = None,
        token: str | None = None,
        *,
        is_public: bool = False,
    ) -> Run:
        """Run the action."""
        run = self.start(way, paths, mode, kill, token=token, is_public=is_public)
        if mode == "register" and run.exit_code == 0:
            # A file of an old branch waits only for a pull request that is open
            assert self.marked or "Not proposed yet: " not in run.console, run.console
        return run

    @property
    def marked(self) -> list[int]:
        """The open pull requests of the list, without needless ones that a person has reopened."""
        marks = ((p.number, Mark.of(p.body or "")) for p in self.open_ones)
        return [number for number, mark in marks if mark and not mark.is_needless]

    def content(self, path: str, version: int) -> bytes:
        return f"{path}, {version}\n".encode()

    def start(
        self,
        way: str,
        paths: tuple[str, ...],
        mode: str = "register",
        kill: SignalAt | None = None,
        *,
        token: str | None = None,
        version: int | None = None,
        is_public: bool = False,
    ) -> Run:
        version = self.version if version is None else version
        given = {
            "language": "en",
            "definitions": self.action.listing_of(
                {path: self.content(path, version).decode() for path in paths},
                name=f"list-{version}.json",
            ),
            "mode": mode,
        }
        if token:
            given["host_token"] = token
        if way == MANY:
            given |= {"target_repo": "", "target_repos": self.repository.full_name}
        else:
            # GitHub redirects the old name of a renamed repository
            given |= {"target_repo": self.target, "commit_strategy": way}
        if kill is None:
            env = {"RUNNER_TEMP": str(self.published)} if is_public else {}
            if is_public:
                given["workflow_visibility"] = "public"
            run = self.action(given, runner=is_public, env=env)
        else:
            process = self.action.begin_without_waiting(self.action.environment(given))
            run = self.action.end(kill.to(process), {})
            self.host.settle()
        return run


TestWholeRuns = pytest.mark.timeout(7200)(pytest.mark.matrix(WholeRuns.TestCase))
TestWholeRuns.settings = settings(max_examples=200, stateful_step_count=25, deadline=None)
