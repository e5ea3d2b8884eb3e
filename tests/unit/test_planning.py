"""Runs in every state of a small repository, with every answer that may be lost.

A model of a repository answers the requests of the real plans and writers. After each run, and
after people have acted, the promises to users are checked in the model.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple, Self

import pytest
from _pytest.mark import ParameterSet

from registrar.errors import Failure, GitHubError, Kind, Refused, RegistrarError
from registrar.github.limits import TokenLimits
from registrar.many.reading import Guesses
from registrar.models.files import FileDefinition
from registrar.models.paths import Done, ListedPath, Update
from registrar.models.repository import (
    BranchState,
    Comparison,
    Entry,
    PullRequest,
    Repository,
    RepositoryState,
    Tree,
    Unknown,
)
from registrar.models.spec import ONE_OF_MANY, RegistrationSpec
from registrar.models.status import Need
from registrar.models.task import Change, Created, NewCommit, NewPullRequest, Task
from registrar.presence.special_files import WORKFLOW_FILES
from registrar.presence.tasks import make_task
from registrar.registration.branch_names import LAST_SUFFIX, branch_names
from registrar.registration.listener import Listener
from registrar.registration.lookups import RestLookups
from registrar.registration.loop import carry_out
from registrar.registration.mark import BEGIN, CLOSED_BY_US, EMPTY_MARK, END, Mark, hashed
from registrar.registration.plan import Plan
from registrar.registration.planning import make_plan
from registrar.registration.progress import Progress
from registrar.registration.proposal import Proposal
from registrar.registration.run import STRATEGIES
from registrar.registration.sent import Close, SentSteps
from registrar.registration.work import Work
from registrar.texts.messages import Catalogue, Message, msg
from tests.values import DEFAULTS, file_of, spec

NAME, SECOND, THIRD = "work", "work-2", "work-3"
B = f"{WORKFLOW_FILES}b"
FILES = {path: file_of(path, f"{path}\n".encode()) for path in ("a", B)}
EDITED = f"{B}, edited"
"""In a commit it stands for the path `B` with a content of somebody's own."""
EARLIER = "a, earlier"
"""In a commit it stands for the path `a` with a content that the list does not have (any more)."""
BLOBS = {path: each.blob_id for path, each in FILES.items()}
BLOBS[EARLIER] = file_of("a", b"earlier\n").blob_id
BASE = f"{0:040x}"
MANY = "<!-- registrar:many -->"
"""An earlier version wrote this instead of more than 1,000 paths."""
THEIRS = "mine"
STRANGER, PRIVATE_MEMBER = "stranger", "private member"
LIST = "list"
LIST_ID, OTHER = f"profile {LIST}", "profile another list"
TRUNK = "trunk"
"""The default branch in worlds whose pull requests have another base."""
PARTS, MORE_PARTS = 32, 60
LOSSES_LATER = {"commit": ("",), "description": ("",), "reading": ("after", "opening")}
"""The losses with which others act at a later moment of a run."""
REFUSED_OR_LATER = (
    *(("", ""),) * 3,
    ("scope", ""),
    ("push", ""),
    *(("", each) for each in LOSSES_LATER),
)


mark_of, hash_of = cache(Mark.of), cache(hashed)
"""Cached, because the model has few descriptions and reads each of them very often."""


class Setup(NamedTuple):
    """The circumstances of a world that no event changes."""

    strategy: str = "single"
    built_in: bool = True
    """Whether the branch has the default name of the list."""
    is_many: bool = False
    updates: bool = True
    """The input `update`."""
    changed_by: str = ""
    """The content of the path `a` has changed since runs wrote it: in the `list`, or by `people` on
    each branch. Empty if it has not."""
    is_listed: bool = True
    """Whether GitHub lists the files of a commit."""
    refused: str = ""
    """The reason of a refusal that is known: `push` (everything) or `scope` (the path `B`)."""
    moment: str = ""
    """When others act during a run: before its `commit`, before its `description`, or before it
    reads again (`reading`). Empty: before it makes its branch."""

    @property
    def ahead(self) -> tuple[str, ...]:
        """The names that one query reads. With `per-file`, pull requests are read only for the
        first one, and branches for all names."""
        return (NAME, SECOND, THIRD) if self.strategy == "single" else (NAME,)


USUAL = Setup()


@dataclass
class Pull:
    number: int
    head: str
    head_sha: str
    base: str
    body: str
    state: str = "open"
    merge_commit: str = ""
    fork: bool = False
    author: str = ""
    """Empty for somebody who may write according to GitHub."""


@dataclass
class World:
    """A model of a repository: commits with one parent each, branches, pull requests."""

    default: str = "main"
    commits: dict[str, tuple[str, frozenset[str]]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    pulls: list[Pull] = field(default_factory=list)
    written: tuple[tuple[str, str], ...] = ()
    """Branches, each with a path that a run has written to it."""
    made: tuple[str, ...] = ()
    """Branches that runs have created."""
    unwanted: frozenset[str] = frozenset()
    """Paths that somebody has taken out of a pull request whose description named them."""
    executable: frozenset[str] = frozenset()
    """Commits whose files are executable."""
    base: str = ""
    """The input `base`; empty for the default branch."""
    setup: Setup = USUAL
    known: int = 0
    """Number of pull requests when the present run began."""
    own: frozenset[str] = frozenset()
    """Branches that the present run has made."""

    @classmethod
    def new(cls, default: str) -> Self:
        return cls(default, {BASE: ("", frozenset({"there"}))}, {default: BASE})

    def copy(self) -> World:
        new = copy(self)
        new.pulls, new.commits, new.branches = (
            [*map(copy, self.pulls)],
            {**self.commits},
            {**self.branches},
        )
        return new

    @property
    def target(self) -> str:
        """The base of our pull requests."""
        return self.base or self.default

    @property
    def list_id(self) -> str:
        return f"base {self.base} {LIST_ID}" if self.base else LIST_ID

    @property
    def state(self) -> object:
        """Everything that a run, or a check after it, can see of this world."""
        return (
            self.setup,
            self.default,
            self.base,
            tuple(self.commits.items()),
            tuple(sorted(self.branches.items())),
            tuple(tuple(vars(pull).values()) for pull in self.pulls),
            frozenset(self.written),
            self.made,
            self.unwanted,
            self.executable,
        )

    @property
    def content(self) -> object:
        """Everything that a run may change."""
        pulls = tuple((pull.state, pull.body) for pull in self.pulls)
        return tuple(self.branches.items()), pulls

    def commit(self, branch: str, *add: str, remove: Collection[str] = ()) -> str:
        """Add a commit that writes files, each with its content, and removes paths."""
        head, oid = self.branches[branch], f"{len(self.commits):040x}"
        changed = {*map(path_of, add), *remove}
        kept = (each for each in self.commits[head][1] if path_of(each) not in changed)
        self.commits[oid] = (head, frozenset((*kept, *add)))
        self.branches[branch] = oid
        return oid

    def paths(self, branch: str) -> frozenset[str]:
        return self.commits[self.branches[branch]][1]

    def open(self, head: str, body: str, base: str = "", **more: Any) -> Pull:
        number, sha = len(self.pulls) + 1, self.branches.get(head, "")
        pull = Pull(number, head, sha, base or self.target, body, **more)
        self.pulls.append(pull)
        return pull

    def ancestors(self, oid: str) -> list[str]:
        found = []
        while oid:
            found.append(oid)
            oid = self.commits[oid][0]
        return found

    def merge_base(self, one: str, other: str) -> str:
        known = self.ancestors(one)
        return next(oid for oid in self.ancestors(other) if oid in known)

    def is_somebodys(self, oid: str) -> bool:
        """Return whether a commit has files that we never write, as far as GitHub shows it."""
        is_executable = not self.executable.isdisjoint(self.ancestors(oid))
        return THEIRS in self.commits[oid][1] or (is_executable and self.setup.is_listed)

    def tree(self, oid: str) -> dict[str, Entry]:
        mode = "100644" if self.executable.isdisjoint(self.ancestors(oid)) else "100755"
        return {
            path_of(each): Entry("blob", mode, BLOBS[each])
            if each in BLOBS
            else Entry("blob", "100644", each)
            for each in self.commits[oid][1]
        }

    def entry(self, branch: str, path: str) -> Entry | None:
        head = self.branches.get(branch)
        return self.tree(head).get(path) if head else None

    def state_of(self, name: str) -> BranchState:
        pulls = [self.seen(p) for p in reversed(self.pulls) if p.head == name and not p.fork]
        return BranchState(name, self.branches.get(name), tuple(pulls))

    def seen(self, pull: Pull) -> PullRequest:
        """Return a pull request as GitHub shows it now."""
        if pull.state == "open" and not pull.fork:
            pull.head_sha = self.branches.get(pull.head, pull.head_sha)
        return PullRequest(
            pull.number,
            "",
            pull.body,
            is_open=pull.state == "open",
            merged=pull.state == "merged",
            head_branch=pull.head,
            head_sha=pull.head_sha,
            base_branch=pull.base,
            merge_commit=pull.merge_commit,
            author=pull.author,
            is_by_writer=not pull.author,
            of=Repository("o/r", self.default),
        )


def path_of(each: str) -> str:
    """Return the path of a file of a commit, without the words about its content."""
    return each.partition(",")[0]


def described(*paths: str, list_id: str = LIST_ID, mark: Mark = EMPTY_MARK) -> str:
    files = {path_of(path): BLOBS.get(path, "") for path in paths}
    return f"{BEGIN}\n{mark.naming(list_id, files).text}\n{END}"


def closed(body: str, **how: Any) -> str:
    """Return the description of a pull request that a run has closed for this reason."""
    mark = Mark.of(body)
    assert mark
    return f"{BEGIN}\n{mark._replace(**how).text}\n{END}"


withdrawn, needless = partial(closed, is_withdrawn=True), partial(closed, is_needless=True)


def is_theirs(pull: Pull) -> bool:
    """Return whether a person has reopened a pull request that a run closed as needless."""
    mark = mark_of(pull.body)
    return bool(mark and mark.is_needless) and pull.state == "open"


def task_of(world: World, *paths: str, mode: str = "register") -> Task:
    """Return the task of a run, with what its first reading knows; by default for all `FILES`."""
    setup, can_push = world.setup, False if world.setup.refused == "push" else None
    repository = Repository("o/r", world.default, "https://github.com/o/r", can_push=can_push)
    base = world.branches[world.target]
    branches = {name: world.state_of(name) for name in setup.ahead}
    heads: Mapping[str, str] | Unknown = Unknown.NOT_ASKED
    if setup.strategy == "per-file":
        heads = {n: c for n, c in world.branches.items() if n.startswith(NAME)}
    elif head := world.branches.get(NAME):
        # The least that GitHub may answer: the entries at the listed paths
        entries = {path: each for path, each in world.tree(head).items() if path in FILES}
        branches[NAME] = branches[NAME]._replace(entries=entries)
    state = RepositoryState(repository, base, world.tree(base), branches=branches, heads=heads)
    return make_task(job(paths or (*FILES,), world.base, setup, mode), state)


@cache
def job(paths: tuple[str, ...], base: str, setup: Setup, mode: str) -> RegistrationSpec:
    # If the caller has chosen the name of the branch, it is not the default name of the list
    defaults = DEFAULTS._replace(name=LIST, branch=NAME if setup.built_in else "built-in")
    inputs = {"branch": NAME, "base": base, "mode": mode, "commit_strategy": setup.strategy}
    inputs |= {"target_repo": "o/r", "update": f"{setup.updates}".lower()}
    made = spec(*(FILES[path] for path in paths), defaults=defaults, **inputs)
    return made._replace(policy=ONE_OF_MANY) if setup.is_many else made


class Keys(Catalogue):
    """Texts of one key and one number, because many thousand descriptions are written here."""

    def text(self, message: Message, _escape: object = str) -> str:
        return f"{message.key} {message.values.get('count', '')}"


TEXTS = Keys("en")
TOKENS = [TokenLimits("", time), TokenLimits("", time)]
"""The limits of a token without scopes, and of one that may not write workflows."""
TOKENS[1].scopes = frozenset({"repo"})
Event = Callable[[World], object]
Between = Callable[[World, str], object]
"""An event during a run, just before it creates a branch with this name, or goes on with it."""


LOST, NOT_DONE = frozenset({"before", "after", "closed", "never"}), frozenset({"before", "never"})


class Killed(Exception):
    """The run ends here."""


@dataclass
class ModelRun:
    """A run in the model: the real steps, with this object as their client.

    The client does to the world what GitHub does to a repository.
    """

    world: World
    event: Between | None = None
    """An event at the moment that the setup names."""
    loss: str = ""
    """The trouble that the requests of the run meet; empty if there is none.

    `before`: the answer to the first claim is lost, and the claim was not carried out. `after`: the
    answer is lost, and the claim was carried out. `closed`: like `after`, and somebody closes the
    pull request before the run looks again. `never`: like `before`, and no later claim is carried
    out either. `killed`: the run ends right after its first commit, or after the request that
    should make it. `killed later`: the run ends right before its first separate request for a
    commit. `refused`: GitHub refuses all commits of the run. `opening`: the answer to a request
    that has only opened a pull request is lost.
    """
    mode: str = "register"
    meanwhile: list[World] = field(default_factory=list)
    """Copies of the world, one before and one after each time that others acted during this run."""
    plan: Plan | None = None
    asked: int = 0
    opened: Pull | None = None
    sent: SentSteps = field(default_factory=SentSteps)
    is_in_turn: bool = False
    """Whether the next look at the pull request is the one before the first commit."""

    def __post_init__(self) -> None:
        self.world.known, self.world.own = len(self.world.pulls), frozenset()
        self.task = task = task_of(self.world, mode=self.mode)
        self.setup = self.world.setup
        self.limits = TOKENS[self.setup.refused == "scope"]
        client: Any = self
        self.rest = self.graphql = self.session = client
        self.lookups = RestLookups(client, task, self.sent)
        self.progress = Progress(task.spec, Listener(TEXTS))
        self.progress.identify(task.repository)
        self.progress.begin(task)
        work = Work(client, task, Proposal(task.spec, TEXTS), self.progress, self.sent)
        self.writer = STRATEGIES[task.spec.settings.commit_strategy].writer(work)

    @property
    def paths(self) -> Sequence[ListedPath]:
        """The listed paths with what the run has done."""
        return self.progress.result().files

    def do(self) -> Plan | None:
        """Plan, and carry out the plan; return `None` if the run is refused or killed."""
        try:
            if self.mode == "plan":
                self.tell(make_plan(self.task, self.lookups))
            else:
                carry_out(self.task, self.lookups, self, self.sent)
        except (RegistrarError, Killed):
            return None
        return self.plan

    # --- The real writer, which is looked at before it writes ---------------------------------

    def tell(self, plan: Plan) -> None:
        self.plan = plan
        self.writer.tell(plan)

    def close(self, step: Close) -> PullRequest:
        return self.writer.close(step)

    def write(self, plan: Plan) -> None:
        assert not plan.refusal or self.sent.branches, "it was refused before"
        is_continued = not (plan.is_new or plan.leaves_pull_request)
        if is_continued and not self.sent.has_written_to(plan.branch):
            pull, only_ours = plan.pull_request, not self.world.is_somebodys(plan.head)
            mark = mark_of(pull.body) if pull else None
            is_marked = bool(mark and mark.is_of(self.world.list_id))
            is_opened = bool(pull and self.sent.has_opened(pull))
            assert only_ours or (is_marked and not is_opened), "somebody's branch"
        self.writer.write(plan)

    # --- What GitHub does ----------------------------------------------------------------------

    add_labels = request_reviewers = staticmethod(pytest.fail)
    """No run of the model has names for them."""

    def again(self, _: Repository) -> Repository:
        return Repository("o/r", self.world.default)

    def takes_pull_requests(self, _: Repository) -> bool:
        return True

    def may_write(self, _: Repository, login: str) -> bool:
        return login == PRIVATE_MEMBER

    def branch_head(self, _: Repository, name: str) -> str | None:
        if self.sent.branches:
            self._meet(name, "reading")
        self.asked += 1
        assert self.asked < 400, "it does not end"
        return self.world.branches.get(name)

    def pull_requests(self, _: Repository, name: str) -> tuple[PullRequest, ...]:
        return self.world.state_of(name).pull_requests

    def open_pull_requests(self, _: Repository, name: str) -> tuple[PullRequest, ...]:
        return tuple(each for each in self.world.state_of(name).pull_requests if each.is_open)

    def tree(self, _: Repository, commit: str) -> Tree | None:
        return self.world.tree(commit) if self.setup.is_listed else None

    def entry(self, _: Repository, path: str, ref: str, **_options: object) -> Entry | None:
        commit = self.world.branches.get(ref, ref)
        return self.world.tree(commit).get(path) if commit in self.world.commits else None

    def compare(self, _: Repository, base: str, head: str) -> Comparison:
        since = self.world.merge_base(base, head)
        before, after = self.world.tree(since), self.world.tree(head)
        is_more = before.items() <= after.items()
        new = {path: entry.sha for path, entry in after.items() if path not in before}
        # The least that GitHub may answer: names only of a commit whose files it does not list
        return Comparison(since, new if is_more and not self.setup.is_listed else None)

    def create_branch(self, _: Repository, name: str, commit: str) -> None:
        is_lost = self._claim(name) in LOST
        if not self._make_branch(name, commit):
            raise failure(Kind.ALREADY_EXISTS, is_lost=is_lost)
        if is_lost:
            raise failure(is_lost=True)

    def create_everything(
        self, _: Repository, new: NewCommit, proposed: NewPullRequest, _look: object
    ) -> Created:
        """Carry out each of the three steps even if an earlier one was refused."""
        world, name, commit = self.world, new.branch, ""
        loss = self._claim(name)
        is_made = self._make_branch(name, new.parent)
        if world.branches[name] == new.parent and loss != "refused":
            commit = self._commit(name, new.files, new.parent)
        pull = self._open(proposed)
        if loss == "killed":
            raise Killed
        if loss == "closed":
            self._let(_close)
        if loss in LOST:
            raise failure(is_lost=True)
        return Created(name if is_made else "", commit, pull)

    def create_commit(self, _: Repository, new: NewCommit, _look: object) -> str:
        return self._commit_alone(new.branch, new.files, new.parent)

    def create_file(self, _: Repository, file: FileDefinition, *, branch: str, **__: object) -> str:
        return self._commit_alone(branch, [file])

    def create_pull_request(self, _: Repository, new: NewPullRequest) -> PullRequest:
        self._meet(new.branch, "commit", "description")
        is_open = is_proposed(self.world, new.branch)
        assert self.meanwhile or not is_open, "one is open already"
        pull = self._open(new)
        if pull is None:
            raise failure(Kind.ALREADY_EXISTS if is_open else Kind.VALIDATION)
        if self.loss == "opening":
            self.loss = ""
            raise failure(is_lost=True)
        return pull

    def wait_for_turn(self) -> None:
        assert self.plan
        self._meet(self.plan.branch, "commit")
        self.is_in_turn = True

    def update_pull_request(
        self, _: Repository, pull: PullRequest, change: Callable[[PullRequest], Change | None]
    ) -> PullRequest | None:
        if self.plan and not self.is_in_turn:
            self._meet(pull.head_branch, "commit", "description")
        self.is_in_turn = False
        [each] = [each for each in self.world.pulls if each.number == pull.number]
        wanted = change(self.world.seen(each))
        if wanted is None:
            return None
        each.body = wanted.body
        if wanted.closes:
            mark = mark_of(each.body)
            assert each is self.opened or (mark and mark.is_needless), "it is not closed"
            each.state = "closed"
        return self.world.seen(each)

    def _claim(self, name: str) -> str:
        """Let others act before a branch is made, and return the loss that the request meets."""
        assert self.setup.refused != "push", "it is refused"
        self._meet(name, "")
        loss = self.loss
        self.loss = "" if loss in {"before", "after", "closed"} else loss
        if loss in NOT_DONE:
            raise failure(is_lost=True)
        return loss

    def _make_branch(self, name: str, commit: str) -> bool:
        world = self.world
        if name in world.branches:
            return False
        world.branches[name] = commit
        world.made += (name,)
        world.own |= {name}
        return True

    def _commit_alone(self, name: str, files: Sequence[FileDefinition], parent: str = "") -> str:
        self._meet(name, "commit")
        if self.loss == "killed later":
            raise Killed
        commit = self._commit(name, files, parent)
        if self.loss == "killed":
            raise Killed
        return commit

    def _commit(self, name: str, files: Sequence[FileDefinition], parent: str) -> str:
        """Write files; only a commit without a ``parent`` replaces no file."""
        world, paths = self.world, {each.path for each in files}
        assert name not in {world.default, world.target}, "it is never written to"
        assert self.setup.refused == "" or (self.limits.scopes and B not in paths), "it is refused"
        head = world.branches.get(name)
        if self.loss == "refused" or head is None:
            raise failure(Kind.REFUSED)
        there = world.tree(head)
        if parent not in {"", head}:
            raise failure(Kind.STALE)
        if not parent and not paths.isdisjoint(there):
            raise failure(Kind.ALREADY_EXISTS)
        for each in self.paths:
            if each.path in paths:
                was = there[each.path].sha if each.path in there else ""
                assert was in {each.replaces, BLOBS[each.path]}, f"{each.path} was overwritten"
        if not paths <= world.paths(name):
            world.written += tuple((name, path) for path in paths - there.keys())
            world.commit(name, *paths)
        return world.branches[name]

    def _open(self, new: NewPullRequest) -> PullRequest | None:
        """Open a pull request, unless one is open, or the branch adds no commit."""
        world, head = self.world, self.world.branches.get(new.branch)
        is_ahead = head and head not in world.ancestors(world.branches[world.target])
        if not is_ahead or is_proposed(world, new.branch):
            return None
        self.opened = world.open(new.branch, new.body, new.base_branch)
        return self.world.seen(self.opened)

    # --- What others do meanwhile --------------------------------------------------------------

    def _meet(self, name: str, *moments: str) -> None:
        """Let others act once, if this is the moment."""
        if self.setup.moment in moments and (event := self.event):
            self.event = None
            if (name in self.world.branches) == bool(self.setup.moment):
                self._let(lambda world: event(world, name))

    def _let(self, act: Event) -> None:
        self.meanwhile.append(self.world.copy())
        act(self.world)
        self.meanwhile.append(self.world.copy())


def failure(kind: Kind = Kind.OTHER, *, is_lost: bool = False) -> GitHubError:
    why = Failure.of(msg("reason.unknown"), kind)
    return GitHubError(why._replace(may_have_been_applied=is_lost))


def is_proposed(world: World, name: str) -> bool:
    """Return whether GitHub refuses another pull request from a branch, because one is open."""
    return any(
        p.state == "open" and p.head == name and p.base == world.target and not p.fork
        for p in world.pulls
    )


def of_list(pull: Pull, world: World) -> bool:
    mark = mark_of(pull.body)
    is_ours = mark and mark.list == hash_of(world.list_id) and not is_theirs(pull)
    return bool(is_ours and counts(pull, world))


def counts(pull: Pull, world: World) -> bool:
    goes_elsewhere = pull.state == "open" and pull.base != world.target
    # If the input `base` is given, the head may have become the default branch since
    goes_elsewhere |= pull.state == "open" and pull.head == world.default
    return not (pull.fork or goes_elsewhere or pull.author == STRANGER)


def declined(world: World) -> dict[str, int]:
    """Return the declined paths, each with the number of the pull request that decides.

    A path is declined if a closed pull request of the list has proposed it, and no later one.
    """
    found: dict[str, int] = {}
    for pull in world.pulls:
        mark = mark_of(pull.body)
        if mark is None and pull.state == "closed" and pull.body != CLOSED_BY_US:
            # It was opened by hand, or somebody has deleted our part
            brings = added(world, pull.head_sha)
            is_ours = brings <= FILES.keys() and not world.is_somebodys(pull.head_sha)
            if is_ours and counts(pull, world):
                found |= dict.fromkeys(brings, pull.number)
        if mark and of_list(pull, world):
            for path in FILES:
                if mark.names(path):
                    found.pop(path, None)
                if mark.is_needless:
                    continue
                if pull.state == "closed" and (
                    was_deleted_from_branch(world, pull, path)
                    if mark.is_withdrawn
                    else mark.names(path)
                ):
                    found[path] = pull.number
    return found


def added(world: World, head: str) -> frozenset[str]:
    """Return the paths that a branch adds to the commit from which it starts."""
    base = world.merge_base(world.branches[world.target], head)
    return world.commits[head][1] - world.commits[base][1]


def was_deleted_from_branch(world: World, pull: Pull, path: str) -> bool:
    """Return whether somebody has deleted a path from the branch of a pull request.

    The description names the path, and the branch lacks it. A branch with other files and none of
    the named ones does not count, because it may never have been ours.
    """
    mark, there = mark_of(pull.body), world.tree(pull.head_sha)
    assert mark
    is_ours = any(map(mark.names, there)) or not added(world, pull.head_sha)
    return is_ours and mark.names(path) and path not in there


# --- The states, and the acts of people -----------------------------------------------------------

BRANCHES = ("absent", "at base", "ours", "executable", "ours and others'", "somebody's")
PULLS = (
    "none",
    "ours",
    "another list's",
    "by hand",
    "a fork's",
    "closed by us",
    "closed by people",
    "closed before a rename",
    "merged",
    "by hand, closed",
    "withdrawn",
    "needless",
)
MORE_PULLS = (
    "needless, opened again",
    "ours, to another branch",
    "a private member's",
    "a private member's, closed",
    "a stranger's",
    "a stranger's, to another branch",
    "a stranger's, closed",
    "ours, and a stranger's, closed",
    "closed by people, and a stranger's",
    "another list's, closed",
)
"""Further pull requests, which are combined only with `FEW_SECONDS` for the second name."""
FEW_SECONDS = [("absent", "none"), ("ours", "ours"), ("absent", "closed by people")]
NEEDS_BRANCH = {
    "ours",
    "another list's",
    "by hand",
    *(pull for pull in MORE_PULLS if not pull.endswith("closed") or "and" in pull),
}


def add(world: World, name: str, branch: str, pull: str) -> None:
    """Add a branch and a pull request of these kinds to the world."""
    world.branches[name] = BASE
    content = {
        "ours": {"a"},
        "executable": {"a"},
        "ours and others'": {"a", THEIRS},
        "somebody's": {THEIRS},
    }
    if branch in content:
        oid = world.commit(name, *content[branch])
        if branch == "executable":
            world.executable |= {oid}
    elif pull not in {"none", "a fork's"}:
        # The branch has had a commit; below it is reset or deleted
        world.commit(name, "a")
    ours = ("ours", "closed by people", "closed before a rename", "merged")
    bodies = dict.fromkeys(ours, described("a")) | {
        "another list's": described("a", list_id=OTHER),
        "closed by us": CLOSED_BY_US,
        "both closed by people": described("a", B),
        "withdrawn": withdrawn(described("a")),
        "needless": needless(described("a")),
    }
    if pull in MORE_PULLS:
        _add_more(world, name, pull)
    elif pull != "none":
        each = world.open(name, bodies.get(pull, "Mine"), fork=pull == "a fork's")
        if pull == "merged":
            each.state = "merged"
            each.merge_commit = world.commit(world.default, "a")
            world.commit(world.default, remove={"a"})
        elif pull not in NEEDS_BRANCH | {"a fork's"}:
            each.state = "closed"
        if pull == "closed before a rename":
            each.base = "master"
    if branch == "at base":
        world.branches[name] = BASE
    elif branch == "absent":
        del world.branches[name]


def _add_more(world: World, name: str, pull: str) -> None:
    """Add pull requests of one of the kinds in `MORE_PULLS` to the world."""
    if pull.startswith(("ours, and", "closed by people")):
        first = world.open(name, described("a"))
        if pull.startswith("closed"):
            first.state = "closed"
    list_id = OTHER if pull.startswith("another") else LIST_ID
    # A mark without a path stands for all paths
    each = world.open(name, described(*("a" if "stranger" not in pull else ()), list_id=list_id))
    if pull == "needless, opened again":
        each.body = needless(described("a"))
    if "private" in pull:
        each.author = PRIVATE_MEMBER
    elif "stranger" in pull:
        each.author = STRANGER
    if "to another" in pull:
        each.base = "docs"
    if pull.endswith("closed"):
        each.state = "closed"


@cache
def every_world() -> Sequence[tuple[str, World]]:
    """Return all worlds in a random order."""
    every = list(worlds())
    random.Random(0).shuffle(every)
    return every


def worlds() -> Iterator[tuple[str, World]]:
    firsts = [
        (branch, pull)
        for branch, pull in itertools.product(BRANCHES, PULLS + MORE_PULLS)
        if not (pull in NEEDS_BRANCH and branch in {"absent", "at base"})
        if branch != "executable" or pull in {"none", "ours", "by hand, closed"}
    ]
    seconds = [
        ("absent", "none"),
        ("ours", "none"),
        ("ours", "ours"),
        ("ours", "another list's"),
        ("absent", "closed by people"),
        ("ours", "closed by people"),
        ("absent", "both closed by people"),
        ("absent", "merged"),
        ("somebody's", "none"),
        ("ours", "withdrawn"),
        ("absent", "withdrawn"),
        ("ours", "needless"),
    ]
    for default in ("main", NAME, SECOND):
        for first, second in itertools.product(firsts, seconds):
            if first[1] in MORE_PULLS and second not in FEW_SECONDS:
                continue
            world = World.new(default)
            for name, (branch, pull) in ((NAME, first), (SECOND, second)):
                if name != default:
                    add(world, name, branch, pull)
            yield f"default {default}; {first}; {second}", world
            if default != NAME and second in FEW_SECONDS:
                yield f"base {default}; {first}; {second}", to_another_base(world)


def with_setup(world: World, setup: Setup) -> World:
    """Return the same world with these circumstances."""
    world = world.copy()
    world.setup = setup
    if setup.changed_by:
        for oid, (parent, files) in world.commits.items():
            world.commits[oid] = parent, frozenset(EARLIER if p == "a" else p for p in files)
    if setup.changed_by == "list":
        listed, earlier = (f"{hashed('a')}{BLOBS[each][:10]}" for each in ("a", EARLIER))
        for pull in world.pulls:
            pull.body = pull.body.replace(listed, earlier)
    return world


def to_another_base(world: World) -> World:
    """Return the same world, but with a base that is not the default branch.

    A pull request of the other list becomes one of this list to the default branch.
    """
    world = world.copy()
    world.base, world.default = world.default, TRUNK
    world.branches[TRUNK] = BASE
    world.commit(TRUNK, "a")
    for pull in world.pulls:
        if hashed(OTHER) in pull.body:
            pull.base = TRUNK
        own = pull.body.replace(hashed(LIST_ID), hashed(f"base {world.base} {LIST_ID}"))
        pull.body = own.replace(hashed(OTHER), hashed(LIST_ID))
    return world


def _open_by_hand(world: World, name: str) -> None:
    if not is_proposed(world, name):
        world.open(name, "Mine")


def _delete_branch(world: World, name: str) -> None:
    """GitHub then closes the pull requests."""
    head = world.branches.pop(name)
    for pull in world.pulls:
        if pull.head == name and pull.state == "open" and not pull.fork:
            pull.head_sha, pull.state = head, "closed"


def _other_run_goes_on(world: World, name: str) -> None:
    if not (_newest(world) or is_proposed(world, name)):
        world.open(name, described("a", list_id=world.list_id))
    if (pull := _newest(world)) and pull.head == name:
        world.commit(name, *FILES)
        pull.body = described(*FILES, list_id=world.list_id)


def _become_default(world: World, name: str) -> None:
    world.default = name


def _made(*files: str, then: Between | None = None) -> Between:
    """Return an event: somebody makes the branch and commits these files to it."""

    def act(world: World, name: str) -> None:
        world.branches[name] = BASE
        if files:
            world.commit(name, *files)
        if then:
            then(world, name)

    return act


BETWEEN: Mapping[str, Between | None] = {
    "": None,
    "somebody takes the name": _made(THEIRS),
    "somebody takes it, with a listed file": _made("a", THEIRS),
    "somebody takes it, and opens a pull request": _made(THEIRS, then=_open_by_hand),
    "somebody makes the bare branch": _made(),
    "another run is faster": _made("a", then=_other_run_goes_on),
    "another run has begun": _made("a"),
    "it becomes the default branch": _made("a", then=_become_default),
}
LOSSES = ("", "before", "after", "closed", "never", "killed", "killed later", "refused", "opening")
UNKNOWABLE = {
    ("another run has begun", "killed"),
    ("somebody takes it, with a listed file", "killed"),
    ("delete a file", "after"),
    ("delete all files", "after"),
    ("delete all files", "opening"),
}
"""In these cases the only request of a run has described files that it could not commit, or that
somebody has deleted since; nobody can know which. In the last case, the run creates a file anew
that an earlier one had left on the branch."""


def _newest(world: World) -> Pull | None:
    opened = (p for p in reversed(world.pulls) if p.state == "open" and of_list(p, world))
    return next(opened, None)


def _close(world: World) -> None:
    if pull := _newest(world):
        pull.head_sha, pull.state = world.branches[pull.head], "closed"


def _close_and_delete(world: World) -> None:
    if pull := _newest(world):
        _close(world)
        del world.branches[pull.head]


def _delete_files(world: World, *paths: str) -> None:
    pull = _newest(world)
    if pull and {*paths} <= world.tree(world.branches[pull.head]).keys():
        world.commit(pull.head, remove=paths)
        _note_unwanted(world, pull, *paths)


def _delete_file(world: World) -> None:
    _delete_files(world, B)


def _edit_file(world: World) -> None:
    """Somebody writes a content of their own on the branch."""
    pull = _newest(world)
    if pull and B in world.paths(pull.head):
        world.commit(pull.head, EDITED)


def _note_unwanted(world: World, pull: Pull, *paths: str) -> None:
    """Note the paths that somebody has taken out, if a run can recognise this.

    It cannot if the description does not name a path yet, or if the branch has other files and none
    of ours. Then the paths may be proposed again.
    """
    pull.head_sha = world.branches[pull.head]
    deleted = {path for path in FILES if was_deleted_from_branch(world, pull, path)}
    world.unwanted = world.unwanted.union(paths) & deleted


def _rewrite_without_file(world: World) -> None:
    """Somebody rewrites the branch as one commit that lacks a file."""
    pull = _newest(world)
    if pull and B in world.paths(pull.head):
        added = world.paths(pull.head) - {B}
        world.branches[pull.head] = BASE
        world.commit(pull.head, *added)
        _note_unwanted(world, pull, B)


def _merge(world: World) -> None:
    if pull := _newest(world):
        head = world.branches.pop(pull.head)
        new = world.commits[head][1] - world.commits[world.branches[world.target]][1]
        pull.state = "merged"
        pull.merge_commit = world.commit(world.target, *new)


def _close_by_run(world: World, **how: bool) -> None:
    """Another run closes the pull request for this reason."""
    if (pull := _newest(world)) and not world.is_somebodys(world.branches[pull.head]):
        _close(world)
        pull.body = closed(pull.body, **how)


_withdraw = partial(_close_by_run, is_withdrawn=True)
_become_needless = partial(_close_by_run, is_needless=True)
"""Its files are all on the default branch; afterwards, people delete them there."""


def _withdraw_then(then: Between, world: World) -> None:
    pull = _newest(world)
    _withdraw(world)
    if pull and pull.state == "closed":
        then(world, pull.head)


def _push(world: World, name: str) -> None:
    world.commit(name, THEIRS)


def _become_needless_and_reopen(world: World) -> None:
    """A person reopens a needless pull request, so that it becomes theirs."""
    pull = _newest(world)
    _become_needless(world)
    if pull:
        pull.state = "open"


def _reopen_and_close(world: World, name: str) -> None:
    """A person does both between two runs; a later one only notices the paths that are absent."""
    pull = [each for each in world.pulls if each.head == name and not each.fork][-1]
    pull.state = "open"
    _delete_file(world)
    pull.state = "closed"


def _clear_and_delete_a_file(world: World) -> None:
    """Somebody clears the description and deletes a file, so that nothing names the file."""
    if pull := _newest(world):
        _delete_file(world)
        pull.body = "Mine"
        world.unwanted -= {B}


def _lose_a_name_and_delete_it(world: World) -> None:
    """The description loses a path, because two runs wrote it at once, and somebody deletes it."""
    if pull := _newest(world):
        named = {"a", EARLIER} & world.paths(pull.head)
        pull.body = described(*named, list_id=world.list_id)
        _delete_file(world)


def _add_by_hand_what_is_listed(world: World) -> None:
    """Somebody commits the listed files to our branch, so that they count as ours."""
    if pull := _newest(world):
        world.commit(pull.head, "a", B)


def _tidy_up(world: World) -> None:
    """Somebody deletes all branches without an open pull request."""
    kept = {
        world.default,
        world.target,
        *(p.head for p in world.pulls if p.state == "open" and not p.fork),
    }
    world.branches = {name: head for name, head in world.branches.items() if name in kept}


def _in_turn(*acts: Event) -> Event:
    return lambda world: [act(world) for act in acts]


PEOPLE: Mapping[str, Event] = {
    "nothing": lambda _: None,
    "close": _close,
    "close and delete": _close_and_delete,
    "tidy up": _tidy_up,
    "delete a file": _delete_file,
    "edit a file": _edit_file,
    "delete all files": lambda world: _delete_files(world, *FILES),
    "rewrite without a file": _rewrite_without_file,
    "merge": _merge,
    "merge without a file": _in_turn(_delete_file, _merge),
    "withdraw": _withdraw,
    "withdraw and tidy up": _in_turn(_withdraw, _tidy_up),
    "delete a file and withdraw": _in_turn(_delete_file, _withdraw),
    "withdraw and rewrite": partial(_withdraw_then, _made("a", THEIRS)),
    "withdraw and push": partial(_withdraw_then, _push),
    "become needless": _become_needless,
    "become needless and tidy up": _in_turn(_become_needless, _tidy_up),
    "become needless and be reopened": _become_needless_and_reopen,
}
ACCEPTED: Mapping[str, Event] = {
    "withdraw, reopen and close": partial(_withdraw_then, _reopen_and_close),
    "clear the description and delete a file": _clear_and_delete_a_file,
    "lose a name and delete its file": _lose_a_name_and_delete_it,
    "add by hand what is listed": _add_by_hand_what_is_listed,
}
"""Acts that lead to the known limits in docs/concepts.md. The limit for files that a killed run has
committed without naming them is tested with `PEOPLE`."""


def _to_branch(act: Event, world: World, name: str) -> None:
    if (pull := _newest(world)) and pull.head == name:
        act(world)


NOT_LATER = {"nothing", "become needless and be reopened", "rewrite without a file"}
LATER: Mapping[str, Between] = {
    "somebody pushes": _push,
    "somebody writes files": lambda world, name: world.commit(name, EDITED, EARLIER),
    "somebody opens a pull request": _open_by_hand,
    "somebody deletes the branch": _delete_branch,
    "another run goes on": _other_run_goes_on,
    **{each: partial(_to_branch, act) for each, act in PEOPLE.items() if each not in NOT_LATER},
}
"""Acts during a run whose branch exists."""


def check(world: World, before: World, what: str) -> None:
    """Assert the promises to users after a run, or after a part of it in which nobody else acted.

    ``before`` is the world before it.
    """
    opened = [p for p in world.pulls if p.state == "open" and of_list(p, world)]
    earlier = [p for p in before.pulls if p.state == "open" and of_list(p, before)]
    assert len(opened) <= max(1, len(earlier)), f"{what}: a second pull request"
    made = world.made[len(before.made) :]
    assert len(made) <= 1, f"{what}: one branch was enough"
    left = [name for name in before.made if is_left(before, name)]
    assert not (made and left), f"{what}: {left} was enough"
    check_others(world, before, what)
    no = declined(before)
    for name, path in world.written[len(before.written) :]:
        assert path not in no, f"{what}: {path} was declined in #{no[path]}, written to {name}"
        assert path not in before.unwanted, f"{what}: {path} was taken out, written to {name}"


def is_left(world: World, name: str) -> bool:
    """Return whether a killed run has left a branch that the next run recognises as ours."""
    head = world.branches.get(name)
    if head is None or any(p.head == name and not p.fork for p in world.pulls):
        return False
    brings = added(world, head)
    missing = FILES.keys() - world.tree(world.branches[world.target]).keys()
    return world.setup.built_in if not brings else brings <= missing


def check_others(world: World, before: World, what: str) -> None:
    """Assert that branches and descriptions of others are unchanged, and nothing was closed."""
    for name, oid in before.branches.items():
        of_branch = [p for p in before.pulls if p.head == name and not p.fork]
        pulls = [p for p in of_branch if p.state == "open"]
        ours = any(of_list(p, before) for p in pulls)
        marks = [mark_of(p.body) for p in of_branch if of_list(p, before)]
        for path, was in before.tree(oid).items() if world.branches.get(name) != oid else ():
            is_update = any(mark and mark.has_written(path, was.sha) for mark in marks)
            is_kept = world.entry(name, path) == was
            assert is_update or is_kept, f"{what}: {path} on {name} was overwritten"
        is_reopened = any(counts(p, before) and is_theirs(p) for p in of_branch)
        is_left_alone = is_reopened or (bool(pulls) and not any(counts(p, before) for p in pulls))
        is_left_alone |= any(is_kept_as_it_is(p, world) and of_list(p, before) for p in pulls)
        if is_left_alone or (before.is_somebodys(oid) and not ours and name not in before.own):
            assert world.branches[name] == oid, f"{what}: somebody's branch {name} was written to"
    for each, now in zip(before.pulls, world.pulls, strict=False):
        is_closed = each.state == "open" != now.state and now.number <= world.known
        if is_closed and (mark := mark_of(now.body)) and mark.is_needless:
            there = world.tree(world.branches[world.target])
            is_closed = any(mark.names(path) and path not in there for path in FILES)
        assert not is_closed, f"{what}: #{now.number} was closed"
        is_others = mark_of(each.body) is not None and not of_list(each, before)
        for path in FILES if of_list(now, world) else ():
            entry = world.entry(now.head, path)
            is_new = names_content(now, path) and not names_content(each, path)
            is_ours = not entry or entry.sha == BLOBS[path]
            assert is_ours or not is_new, f"{what}: {path} of #{now.number} is not ours"
        is_others |= of_list(each, before) and is_kept_as_it_is(each, world)
        assert not is_others or now.body == each.body, f"{what}: #{now.number} was rewritten"


def names_content(pull: Pull, path: str) -> bool:
    """Return whether the description says that a run wrote the listed content."""
    mark = mark_of(pull.body)
    return bool(mark and mark.has_written(path, BLOBS[path]))


def is_kept_as_it_is(pull: Pull, world: World) -> bool:
    """Return whether `update: false` keeps a run from changing an earlier pull request.

    The comment of a withdrawn one that a person has reopened has to go.
    """
    mark = mark_of(pull.body)
    is_earlier = pull.state == "open" and pull.number <= world.known
    return is_earlier and not (world.setup.updates or (mark and mark.is_withdrawn))


def check_no(world: World, path: str, pull: PullRequest) -> None:
    """Assert that somebody has declined a path, in the pull request that a decision gives."""
    mark = mark_of(pull.body)
    assert pull.body != CLOSED_BY_US, "closed by ourselves, it declines nothing"
    assert mark is None or not mark.is_needless, "nor one whose files were all there"
    assert mark is None or mark.is_of(world.list_id), "nor does one of another list"
    names = bool(mark and mark.names(path))
    if pull.was_closed and not (mark and mark.is_withdrawn):
        # It was opened by hand, or closed while a run was writing
        assert names or path in added(world, pull.head_sha), f"nobody has declined {path}"
    else:
        was_merged = pull.merged and names
        # If GitHub does not list a branch, it cannot be seen that the file was never there
        before = world.ancestors(pull.head_sha)
        had_it = not world.setup.is_listed or any(path in world.tree(each) for each in before)
        was_deleted = names and had_it and path not in world.tree(pull.head_sha)
        is_known = was_merged or was_deleted or path in world.unwanted
        assert is_known, f"nobody has taken {path} out, {pull}"


def is_hidden(world: World) -> bool:
    """Return whether `per-file` does not read the pull requests from the second name.

    It does not if the first name was never used, and if the second name has no branch.
    """
    if world.setup.strategy == "single":
        return False
    first = [*(p.head for p in world.pulls if not p.fork), *world.branches]
    return NAME not in first and SECOND not in world.branches


SAID = {Done.TO_CREATE: Done.CREATED, Done.TO_UPDATE: Done.UPDATED, Done.NOTHING: Done.SKIPPED}
"""The words of a registration for those that only a preview has."""


def summed_up(plan: Plan | None, paths: Iterable[ListedPath]) -> object:
    """Return what is the same in a preview and after a registration; `None` for a refused one."""
    if plan is None or plan.refusal:
        return None

    def said(each: ListedPath) -> Done:
        # For a preview, a file is still to be created if no pull request is open
        is_found = each.done is Done.SKIPPED and each.on_branch
        is_new = is_found and not plan.pull_request
        return Done.CREATED if is_new else SAID.get(each.done, each.done)

    return plan.told.need, plan.branch, plan.declined, {each.path: said(each) for each in paths}


def kind_of(run: ModelRun, plan: Plan | None) -> str:
    """Return the kind of a decision."""
    if not (plan and plan.branch):
        return "declined" if plan else "refused"
    return "create" if run.world.own else "continue"


def not_looked_into(task: Task) -> Task:
    """Return the task without the entries of the first branch, as if no query had read them."""
    first = task.state.branches[NAME]._replace(entries=Unknown.NOT_ASKED)
    branches = {**task.state.branches, NAME: first}
    return task._replace(state=task.state._replace(branches=branches))


def is_outdated(pull: Pull, world: World) -> bool:
    """Return whether the branch of an open pull request has our file with an earlier content."""
    mark = mark_of(pull.body) if pull.state == "open" and of_list(pull, world) else None
    is_ours = bool(mark and mark.has_written("a", BLOBS[EARLIER]))
    return is_ours and world.entry(pull.head, "a") == Entry("blob", "100644", BLOBS[EARLIER])


def check_undisturbed(before: World, this: ModelRun, case: str) -> Iterator[bool]:
    """Assert that ``this`` run, which nothing has disturbed, has done all of what plans say.

    Yield for each query for many repositories whether it does not suffice for a plan.
    """
    setup, world, done = before.setup, this.world, summed_up(this.plan, this.paths)
    again, preview = ModelRun(world.copy()), ModelRun(before.copy(), mode="plan")
    again.do()
    preview.do()
    assert again.world.content == world.content, f"{case}: another run has more to do"
    brought = (added(world, pull.head_sha) for pull in world.pulls[len(before.pulls) :])
    assert not declined(before).keys() & {*itertools.chain(*brought)}, f"{case}: proposed again"
    if this.plan and done and setup.updates and setup.is_listed and "a" not in this.plan.declined:
        pulls = (pull for pull in world.pulls if pull.head == this.plan.branch)
        assert not any(is_outdated(pull, world) for pull in pulls), f"{case}: a is not updated"
    # If GitHub does not list a branch, files fail on it over many; a preview does not say so
    if setup.is_listed or not setup.is_many:
        assert summed_up(preview.plan, preview.paths) == done, case
        if preview.plan and done:
            kept = preview.plan.told, preview.plan.paths
            assert BEGIN not in repr(kept), f"{case}: a result would keep a description"
            is_opened = len(world.pulls) > len(before.pulls)
            is_written = not is_opened and world.branches != before.branches
            needs = preview.plan.told.need is Need.OPEN, preview.plan.told.need is Need.UPDATE
            assert needs == (is_opened, is_written), f"{case}: {preview.plan.told.need}"
    is_told = setup.refused in {"", "scope" if setup.is_many else ""}
    if setup.strategy == "single" and setup.is_listed and is_told:
        for task in (preview.task, not_looked_into(preview.task)):
            lookups = preview.lookups
            guesses = Guesses(task, lookups.may_write, lookups.scopes, lookups)
            try:
                plan = make_plan(task, guesses)
            except RegistrarError:
                plan = None
            assert guesses.used or summed_up(plan, plan.paths if plan else ()) == done, case
            yield guesses.used


def cases(before: World) -> Iterator[tuple[str, str]]:
    """Yield the events during a run and the losses of its requests that this world can meet."""
    if moment := before.setup.moment:
        for event, loss in itertools.product(LATER, LOSSES_LATER[moment]):
            # A request for a single file names no commit that the branch has to be at
            is_single = before.setup.strategy == "per-file" or not before.setup.is_listed
            is_race = is_single and (moment, event) == ("commit", "somebody pushes")
            if (event, loss) not in UNKNOWABLE and not is_race:
                yield event, loss
        return
    is_free = NAME not in before.branches
    is_second = before.pulls == [] and not is_free and before.paths(NAME) == {"there", THEIRS}
    for between, loss in itertools.product(BETWEEN, LOSSES):
        is_met = is_free or is_second or (not between and loss in {"", "killed", "opening"})
        # The run itself closes the pull request that it has opened from the new default branch
        is_own = bool(before.base) and "becomes the default" in between and loss == "closed"
        is_unseen = (between, loss) == ("somebody takes the name", "killed")
        is_met &= before.setup.is_listed or not is_unseen
        if is_met and not is_own and (between, loss) not in UNKNOWABLE:
            yield between, loss


def parts() -> Iterator[ParameterSet]:
    """Yield setups, the first of their pairs with a world, and the step to the next pair."""
    ways = ("single", False), ("single", True), ("per-file", False)
    no_yes, changes = (True, False), ("", "list", "people")
    values = itertools.product(ways, no_yes, no_yes, changes, no_yes, REFUSED_OR_LATER)
    more = tuple(
        Setup(strategy, built_in, is_many, updates, changed_by, is_listed, *refused_or_later)
        for (
            strategy,
            is_many,
        ), built_in, updates, changed_by, is_listed, refused_or_later in values
    )
    for part in range(MORE_PARTS):
        marks = [pytest.mark.chosen] if part == 0 else []
        yield pytest.param(more, part * 83, 5003, id=f"more-{part}", marks=marks)
    usual = itertools.starmap(Setup, itertools.product(("single", "per-file"), (True, False)))
    for number, (setup, part) in enumerate(itertools.product(usual, range(PARTS))):
        name = f"{setup.strategy}-{'built-in' if setup.built_in else 'own'} name-{part}"
        # Of each strategy one; the setups above have the other name of the branch, too
        marks = [pytest.mark.chosen] if number % (2 * PARTS + 2) == 0 else []
        yield pytest.param((setup,), part, PARTS, id=name, marks=marks)


@pytest.mark.matrix
@pytest.mark.parametrize(("setups", "part", "step"), list(parts()))
def test_no_path_breaks_a_promise(setups: Sequence[Setup], part: int, step: int) -> None:
    seen, known, checked = Counter[str](), Counter[bool](), set[object]()

    def run(world: World, *more: Any, **options: Any) -> ModelRun:
        each = ModelRun(world, *more, **options)
        each.plan = plan = each.do()
        seen[kind_of(each, plan)] += 1
        for path, pull in plan.declined.items() if plan else ():
            check_no(world, path, pull)
        return each

    def again(before: World, what: str) -> None:
        # Many acts leave the world unchanged, because they need an open pull request
        if before.state not in checked and not is_hidden(before):
            world = before.copy()
            checked.add(world.state)
            run(world)
            check(world, before, what)

    pairs = itertools.product(every_world(), setups)
    for (what, given), setup in itertools.islice(pairs, part, None, step):
        before = with_setup(given, setup)
        if is_hidden(before):
            continue
        if setup.built_in and before.base:
            continue  # With another base, the list has another default name
        for event, loss in cases(before):
            world = before.copy()
            this = run(world, {**BETWEEN, **LATER}[event], loss)
            case = f"{what}; {setup}; {event}; {loss}"
            parts = [before, *this.meanwhile, world]
            for then, now in zip(parts[::2], parts[1::2], strict=True):
                now.known, then.own = world.known, then.own if then is not before else frozenset()
                check(now, then, case)
            again(world, f"{case}; again")
            acts = {**PEOPLE, **({} if loss else ACCEPTED)}
            for action in acts if loss in {"", "killed"} and not event else ():
                acted = world.copy()
                acts[action](acted)
                again(acted, f"{case}; {action}")
            if not (event or loss):
                known.update(check_undisturbed(before, this, case))
    assert seen.total() > 1000 / PARTS
    assert set(seen) >= {"create", "continue", "declined", "refused"}
    assert setups[0].strategy == "per-file" or min(known[True], known[False]) > 100 / PARTS


# --- Single rules ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("branch", "default", "base", "first"),
    [
        ("work", "main", "main", ["work", "work-2", "work-3"]),
        ("work", "work-2", "work-2", ["work", "work-3", "work-4"]),
        ("work", "work-2", "work-3", ["work", "work-4", "work-5"]),
        ("work", "main", "work-2", ["work", "work-3", "work-4"]),
        ("work", "heads/work-2", "main", ["work", "work-3", "work-4"]),
        ("work", "Work", "Work-2", ["work", "work-2", "work-3"]),
        ("a/work", "work", "work", ["a/work", "a/work-2", "a/work-3"]),
    ],
)
def test_default_and_base_branch_are_passed_over(
    branch: str, default: str, base: str, first: list[str]
) -> None:
    names = branch_names(branch, default, base)
    assert names[:3] == first
    assert names[-1] == f"{branch}-{LAST_SUFFIX}"


@pytest.mark.parametrize(
    ("branch", "default"),
    [
        ("main", "main"),
        ("heads/main", "main"),
        ("refs/heads/main", "main"),
        ("heads/refs/heads/main", "main"),
        ("main", "heads/main"),
    ],
)
def test_a_working_branch_that_is_default_or_base_branch_is_refused(
    branch: str, default: str
) -> None:
    for names, key in (
        ((default, default), "preflight.branch_is_default"),
        ((default, "develop"), "preflight.branch_is_default"),
        (("develop", default), "preflight.branch_is_base"),
    ):
        with pytest.raises(Refused) as refused:
            branch_names(branch, *names)
        assert refused.value.message.key == key


def test_the_names_end() -> None:
    world = World.new("main")
    for name in branch_names(NAME, "main", "main"):
        add(world, name, "somebody's", "none")
    with pytest.raises(RegistrarError) as raised:
        make_plan(task_of(world, "a"), ModelRun(world).lookups)
    assert raised.value.message.key == "branch.no_name_free"


def refusal(number: int, *paths: str, **changes: Any) -> Pull:
    """Return a closed pull request that proposed these paths, and whose branch was deleted."""
    values = {"body": described(*paths), "state": "closed", **changes}
    return Pull(number, NAME, BASE, "main", **values)


@pytest.mark.parametrize(
    ("pulls", "found"),
    [
        ([], {}),
        ([refusal(1, "a", B)], {"a": 1, B: 1}),
        ([refusal(1, "a"), refusal(2, B, "x")], {"a": 1, B: 2}),
        ([refusal(1, "a"), refusal(2, "a")], {"a": 2}),
        ([refusal(1, "a", state="merged", merge_commit=BASE)], {"a": 1}),
        ([refusal(1, "a", state="merged")], {}),
        ([refusal(1, "a", state="merged", merge_commit=BASE, body=f"{BEGIN}{END}")], {}),
        ([refusal(1, "a", body=CLOSED_BY_US)], {}),
        ([refusal(1, "a", body="rewritten")], {}),
        ([refusal(1, "a", body=described("a", list_id=OTHER))], {}),
        ([refusal(1, "a", body=MANY)], {"a": 1, B: 1}),
        ([refusal(1, "a", body=f"{BEGIN}{END}")], {"a": 1, B: 1}),
    ],
)
def test_what_was_declined(pulls: list[Pull], found: dict[str, int]) -> None:
    world = World.new("main")
    world.pulls += pulls
    plan = ModelRun(world, mode="plan").do()
    assert plan
    assert {path: each.number for path, each in plan.declined.items()} == found
    left = [each.path for each in plan.paths if not each.declined_in]
    assert left == [path for path in FILES if path not in found]


# --- Updates ------------------------------------------------------------------------------------

OLD, OLDER = BLOBS[EARLIER], BASE
KINDS = {
    "a file": ("blob", "100644"),
    "executable": ("blob", "100755"),
    "a link": ("blob", "120000"),
    "a submodule": ("commit", "160000"),
}
WROTE = EMPTY_MARK.naming(LIST_ID, {"a": OLDER}).naming(LIST_ID, {"a": OLD})
MARKS = {
    "whole": WROTE.text,
    "of another path": EMPTY_MARK.naming(LIST_ID, {"b": OLD}).text,
    "with another list": f"{WROTE.text}\n{EMPTY_MARK.naming(OTHER, {}).text}",
    "of too many paths": f"{WROTE.text}\n{MANY}",
    "forged": "<!-- registrar:wrote 0123456789 -->",
    "without a list": WROTE._replace(list="").text,
}


class Held(World):
    """A world whose branch has the entry ``held`` at the path ``a``."""

    held: Entry

    def tree(self, oid: str) -> dict[str, Entry]:
        tree = super().tree(oid)
        return {path: self.held if path == "a" else entry for path, entry in tree.items()}


@pytest.mark.parametrize("update", [True, False])
@pytest.mark.parametrize("strategy", ["single", "per-file"])
def test_nothing_is_replaced_but_what_this_action_wrote(strategy: str, *, update: bool) -> None:
    for blob, kind, mark in itertools.product((BLOBS["a"], OLD, OLDER, "edited"), KINDS, MARKS):
        world = Held.new("main")
        world.held = Entry(*KINDS[kind], blob)
        world.branches[NAME] = BASE
        world.commit(NAME, "a")
        world.open(NAME, MARKS[mark])
        world.setup = Setup(strategy, updates=update)
        run = ModelRun(world, mode="plan")
        plan = make_plan(run.task, run.lookups)
        is_replaced = isinstance(plan.paths[0].plan, Update)
        is_ours = (blob, kind, mark) == (OLD, "a file", "whole")
        assert is_replaced == (update and is_ours), (blob, kind, mark)
        assert plan.leaves_pull_request is not update
