"""Stories: rows about what people and runs do one after the other, and the state afterwards.

A row is a `story`: a name in users' words, and then its steps. A step is a run (`run`, `plan`,
`check`, `withdraw`), an act of somebody (`close`, `push`, …), a sentence that the last run must
have said (`says`), or a text: the state that must then be there. Each row is told in three ways:
with both strategies, and over many repositories. Rows of one kind take turns (`in_turn`).
The language changes from way to way, so that each row of three ways has both. At its end, the last
run is started again: it only reads, and changes no state. Before it there is also a plan, and with
`single` before each run.

Files are written in one notation in lists, commits and states: ``a.md`` has the content that its
name gives (`text_of`), ``a.md=x`` has the content ``x`` instead, ``a.md*`` is executable,
``a.md->x`` is a link, and ``-a.md`` is a deleted file.

A state has these parts, separated by semicolons:

- each pull request: ``#1 open: a.md b.md`` has the files that a merge of its branch would change.
  It is open, closed, merged, withdrawn, or needless (closed, because nobody needs it any more). Its
  branch is the one of the list, or ``from -2``, or ``from x``; its base is the default branch, or
  ``into x``; and it is the one of a run, or ``by somebody``. It has no files if its branch is
  deleted, or has a later pull request.
- each other branch: ``branch -2: a.md``
- the states of paths in the last run, without those of present and proposed ones: ``a.md declined
  in #1``; in a plan also ``a.md to create`` and ``a.md to update``
- ``exit 1``, if the last run did not end with 0
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import chain
from signal import SIGKILL
from string import Formatter
from typing import Any, Concatenate, Literal, ParamSpec
from zlib import crc32

import pytest
from _pytest.mark import ParameterSet

from registrar.registration.mark import NEEDLESS, WITHDRAWN
from registrar.texts.messages import read
from tests.fakehub import Content, Executable, Fault, FaultKind, Repository, Request, Symlink
from tests.fakehub.acts import Acts
from tests.fakehub.repository import PullRequest
from tests.harness import LIST_BRANCH, TARGET, Action, Run, SignalAt, is_read, refuse, shortened

# fmt: off
__all__ = [
    "Act", "Copied", "Running", "Step", "World", "asks", "branch", "change", "check", "close",
    "contents", "delete", "describe", "does", "full", "hides", "in_turn", "leaves", "merge",
    "never", "only", "opens", "plan", "protects", "push", "quirk", "recovers", "refusing",
    "reopen", "reports", "reset", "run", "says", "sends", "sets", "shows", "step", "story",
    "told", "unprotects", "update_branch", "withdraw",
]
# fmt: on
P = ParamSpec("P")
WAYS = {"p": "per-file", "s": "single", "m": "many"}
LANGUAGES = ("ja", "en")
WAITS = FaultKind.SECONDARY_429_RETRY_AFTER
SAYS_NOTHING = {"same", "blank", "differs", "filled", "proposed"}
"""States of paths that a state leaves out."""


class Step:
    """A step of a story."""

    @property
    def name(self) -> str:
        """The step, as a row writes it."""
        raise NotImplementedError

    def __call__(self, world: World, /) -> object:
        """Take the step."""
        raise NotImplementedError


@dataclass(frozen=True)
class Story:
    """A row: see the beginning of this module."""

    name: str
    steps: Sequence[Step | str]
    ways: str = "psm"
    files: str = "README.md"
    """The files of the repository at first."""
    but: str = ""
    """The anchor of the known limit that the row is about, if it breaks a promise."""


@dataclass(frozen=True)
class State(Step):
    """A state that must be there in some ways."""

    words: str
    ways: str

    @property
    def name(self) -> str:
        """The state."""
        return self.words

    def __call__(self, world: World) -> None:
        if world.way[0] in self.ways:
            world.expect(self.words)


def story(
    name: str, *steps: Step | str, ways: str = "psm", files: str = "README.md", but: str = ""
) -> Story:
    """Make a row, which is told in these ways, each with its first letter.

    ``but`` is the anchor of the known limit that the row is about, if a promise is broken.
    """
    assert isinstance(steps[-1], (str, State)), f"{name}: a story ends with a state"
    return Story(name, steps, ways, files, but)


def in_turn(*kinds: Iterable[Story]) -> list[Story]:
    """Return rows of one kind or several, each told in another one of its ways than the last."""
    stories = enumerate(chain(*kinds))
    return [replace(each, ways=each.ways[number % len(each.ways)]) for number, each in stories]


def in_each_way(*stories: Story) -> Iterator[ParameterSet]:
    """Return the parameters of a test, which `told` makes."""
    names = [each.name for each in stories]
    assert len({*names}) == len(names), "two stories have one name"
    for each in stories:
        for number, way in enumerate(each.ways):
            language = LANGUAGES[(crc32(each.name.encode()) + number) % 2]
            marks = [pytest.mark.but(each.but)] if each.but else []
            name = f"{each.name}-{WAYS[way]}-{language}"
            yield pytest.param(each, WAYS[way], language, id=name, marks=marks)


def told(*stories: Story) -> Callable[[Story, str, str, Action], None]:
    """Make a test of these stories."""

    @pytest.mark.parametrize(("row", "way", "language"), [*in_each_way(*stories)])
    def test(row: Story, way: str, language: str, action: Action) -> None:
        World(row, way, language, action).tell()

    return test


# --- Files ------------------------------------------------------------------------------------


def text_of(path: str) -> str:
    """Return the content that a path has unless a row says otherwise."""
    return f"{path.rpartition('/')[2].partition('.')[0].upper()}\n"


def full(branch: str) -> str:
    """Return the name of a branch that a row calls ``1``, ``-2`` or by its name."""
    if branch in {"1", ""}:
        return LIST_BRANCH
    return f"{LIST_BRANCH}{branch}" if branch.startswith("-") else branch


def short(branch: str) -> str:
    """Return how a row calls a branch."""
    return branch.removeprefix(LIST_BRANCH) or "1"


def contents(files: str) -> dict[str, Content | None]:
    """Read files in the notation of this module."""
    found: dict[str, Content | None] = {}
    for each in files.split():
        path, is_other, text = each.partition("=")
        link, is_link, target = path.partition("->")
        if path.startswith("-"):
            found[path[1:]] = None
        elif is_link:
            found[link] = Symlink(target)
        elif path.endswith("*"):
            found[path[:-1]] = Executable(text_of(path[:-1]).encode())
        else:
            found[path] = (f"{text}\n" if is_other else text_of(path)).encode()
    return found


def shown(path: str, content: Content | None, mode: int | None = None) -> str:
    """Write a file in the notation of this module."""
    if content is None:
        return f"-{path}"
    if isinstance(content, Symlink):
        return f"{path}->{content.target}"
    if mode == 0o100755:
        return f"{path}*"
    assert isinstance(content, bytes)
    text = content.decode()
    return path if text == text_of(path) else f"{path}={text}".removesuffix("\n")


# --- The world of a story ---------------------------------------------------------------------


@dataclass
class World:
    """A repository, and the last run on it."""

    story: Story
    way: str
    language: str
    action: Action
    repository: Repository = field(init=False)
    last: Running | None = None
    """The last run, with the list and the inputs that it had."""
    run: Run | None = None
    rows: list[dict[str, str]] = field(default_factory=list)
    """The table of the last run, which has a row for each path."""
    sent: list[Request] = field(default_factory=list)
    """The requests of the last run."""
    told: list[str] = field(default_factory=list)
    """The steps that have been told."""

    def __post_init__(self) -> None:
        files = {path: text for path, text in contents(self.story.files).items() if text}
        self.repository = self.action.host.create_repository(TARGET, files)

    def tell(self) -> None:
        """Tell the story; the test fails with its name, the step, and both states."""
        registers = [each for each in self.story.steps if isinstance(each, Running)]
        try:
            for each in self.story.steps:
                self.told.append(each if isinstance(each, str) else each.name)
                if isinstance(each, str):
                    self.expect(each)
                    continue
                if self.way == "single" or each is registers[-1]:
                    self.foresee(each)
                each(self)
                self.action.clock.sleep(60)
            self.repeat()
        except Exception as error:
            error.add_note(self.so_far())
            raise

    def foresee(self, step: Step) -> None:
        """Make a plan before a run."""
        if isinstance(step, Running) and step.mode == "register" and not step.meanwhile:
            last = self.last
            replace(step, mode="plan").start(self)
            self.last = last

    def repeat(self) -> None:
        """Start the last run again, which must only read and change no state."""
        last, ended = self.last, self.run
        if last and last.mode == "register" and ended and not ended.exit_code:
            self.told.append("the last run again")
            before = self.state()
            self.run = replace(last, meanwhile=None, only_reads=True).start(self)
            self.expect(before)

    def expect(self, state: str) -> None:
        """Compare a state with the present one."""
        if (found := self.state()) != state:
            self.fail(f"expected: {state}\nis:       {found}")

    def fail(self, what: str) -> None:
        """Let the test fail, with the story and the step in the first lines."""
        console = self.run.console[:4000] if self.run else ""
        steps = f"step {len(self.told)}: {self.told[-1]}"
        last = f"the last run: {self.last.name}" if self.last else "no run yet"
        pytest.fail(
            f"{self.story.name} ({self.way}, {self.language})\n"
            f"{steps}, {last}\n{what}\n\n{self.so_far()}\n\n{console}",
            pytrace=False,
        )

    def so_far(self) -> str:
        """Return the steps that have been told."""
        return f"{self.story.name} ({self.way}, {self.language}):\n  " + "\n  ".join(self.told)

    @property
    def person(self) -> Acts:
        """The verbs of people."""
        return self.repository.person

    def texts(self, which: str) -> str:
        """Return the log, the summary, the table, or all texts of the last run; or a description:
        ``#1``.
        """
        assert self.run
        if which == "table":
            return "\n".join(cell for row in self.rows for cell in row.values())
        if which.startswith("#"):
            return self.repository.pull_request(int(which[1:])).body or ""
        of_run = {"log": self.run.console, "summary": self.run.summary, "all": self.run.text}
        return of_run[which]

    @property
    def wrote(self) -> list[str]:
        """The requests of the last run that write."""
        return [_call(each) for each in self.sent if not is_read(each)]

    # What a state has

    def state(self) -> str:
        """Return the present state in the notation of this module."""
        pulls = self.repository.pull_requests
        last = {pull.head: pull.number for pull in pulls}
        used = {self.repository.default_branch, *(pull.base for pull in pulls), *last}
        parts = [
            *(self._pull(pull, is_last=last[pull.head] == pull.number) for pull in pulls),
            *(self._branch(each) for each in self.repository.branches if each not in used),
            *self._paths(),
            *([f"exit {self.run.exit_code}"] if self.run and self.run.exit_code else []),
        ]
        return "; ".join(parts)

    def _pull(self, pull: PullRequest, *, is_last: bool) -> str:
        body = pull.body or ""
        words = [f"#{pull.number}", "merged" if pull.merged else pull.state]
        for mark, word in ((WITHDRAWN, "withdrawn"), (NEEDLESS, "needless")):
            if mark in body and not pull.merged:
                words = [*words, f"({word})"] if pull.state == "open" else [words[0], word]
        if pull.head != LIST_BRANCH:
            words.append(f"from {short(pull.head)}")
        if pull.head_repository != self.repository.full_name:
            words.append(f"of {pull.head_repository}")
        if pull.base != self.repository.default_branch:
            words.append(f"into {pull.base}")
        if pull.author != "octocat":
            words.append(f"by {pull.author}")
        said = " ".join(words)
        if not is_last or pull.head not in self.repository.branches:
            return said
        brings = self._brings(pull.head, pull.base)
        return f"{said}: {brings}" if brings or pull.state == "open" else said

    def _branch(self, name: str) -> str:
        brings = self._brings(name, self.repository.default_branch)
        return f"branch {short(name)}: {brings}" if brings else f"branch {short(name)}"

    def _brings(self, head: str, base: str) -> str:
        """Return the files that a merge of a branch would change."""
        repository = self.repository
        ours, theirs = repository.head(head), repository.head(base)
        begun, now = repository.merge_base(theirs, ours), repository.commit_at(ours)
        changes = now.tree.diff_to_tree(swap=True)
        if begun is not None:
            changes = begun.tree.diff_to_tree(now.tree)
        paths = sorted(each.new_file.path for each in changes.deltas)
        files, modes = repository.files(head), repository.modes(head)
        return " ".join(shown(path, files.get(path), modes.get(path)) for path in paths)

    def _paths(self) -> Iterator[str]:
        """Yield the states of the paths in the last run, each with its paths."""
        found: dict[str, list[str]] = {}
        report = self.run.report if self.run and self.run.outputs.get("report") else {}
        ended = {
            file["path"]: file["done"]
            for each in report.get("registrations", ())
            for file in each["files"]
        }
        for row in self.rows:
            says = "" if row["standing"] in SAYS_NOTHING else row["standing"]
            if says == "declined":
                says = f"declined in #{row['pull_request'].rpartition('/')[2]}"
            if row["update"] == "to update":
                says = "to update"
            if ended.get(row["path"]) in {"failed", "unknown"}:
                says = ended[row["path"]]
            if row["conflicts_with"]:
                says = f"{says} and in conflict" if says else "in conflict"
            found.setdefault(says, []).append(row["path"])
        found.pop("", None)
        for says, paths in found.items():
            yield f"{' '.join(paths)} {says}"


# --- Runs -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Running(Step):
    """A run of registrar."""

    listed: str | None
    mode: str = "register"
    inputs: Mapping[str, str] = field(default_factory=dict)
    meanwhile: Meanwhile | None = None
    is_otherwise: bool = False
    only_reads: bool = False

    @property
    def name(self) -> str:
        """The run, as a row writes it."""
        given = [f"{name}={value!r}" for name, value in self.inputs.items()]
        word = "run" if self.mode == "register" else self.mode
        called = f"{word}({', '.join([*([self.listed] if self.listed else []), *given])})"
        return called + ("" if self.meanwhile is None else self.meanwhile.name)

    def __call__(self, world: World) -> None:
        with self.meanwhile.happens(world) if self.meanwhile else nullcontext():
            world.run = self.start(world)

    def start(self, world: World) -> Run:
        """Run in the way of the story, and return the result."""
        host, order = world.action.host, [*WAYS.values()]
        now = self
        if self.listed is None and world.last:
            inputs = {**world.last.inputs, **self.inputs}
            now = replace(self, listed=world.last.listed, inputs=inputs)
        way = order[(order.index(world.way) + 1) % 3] if self.is_otherwise else world.way
        inputs = {"mode": self.mode, "language": world.language, **now.inputs}
        inputs = {"definitions": listing(world, now.listed or "", inputs), **inputs}
        # The repository may be a fork, and forks are selected only on request
        targets = {"target_repos": f"{TARGET}, fork:true"}
        inputs |= targets if way == "many" else {"commit_strategy": way}
        table = world.action.directory / "table.csv"
        table.unlink(missing_ok=True)
        first = len(host.requests)
        workflow = inputs.pop("workflow", "")
        environ = world.action.environment(inputs, runner=bool(workflow))
        environ |= {"GITHUB_REPOSITORY": workflow} if workflow else {}
        arguments = ("--table", str(table))
        if self.meanwhile and self.meanwhile.kills:
            world.run = ended = self.meanwhile.kill(world, environ, *arguments)
        else:
            world.run = ended = world.action.start(environ, *arguments)
        world.last, world.sent = now, host.requests[first:]
        text = table.read_text("utf-8") if table.exists() else ""
        world.rows = [*csv.DictReader(io.StringIO(text, newline=""))]
        wrote = world.wrote
        if wrote and (self.only_reads or self.mode in {"plan", "check"}):
            world.fail(f"expected: only reads\nis:       {wrote}")
        return ended

    def at(self, moment: str, *steps: Step) -> Running:
        """Let people act once, when a request has arrived and before its answer."""
        return replace(self, meanwhile=Meanwhile(moment, steps))

    def losing(
        self, moment: str, *steps: Step, kind: FaultKind = FaultKind.ERROR_502_HTML
    ) -> Running:
        """Lose the answer to a request, which is carried out after people have acted."""
        return replace(self, meanwhile=Meanwhile(moment, steps, kind, "after"))

    def waiting(self, moment: str, *steps: Step, kind: FaultKind = WAITS) -> Running:
        """Let people act while a request waits, because GitHub has refused it for some seconds."""
        return replace(self, meanwhile=Meanwhile(moment, steps, kind))

    def killed(self, moment: str, *, applied: bool) -> Running:
        """Kill the run when a request has arrived, which is carried out if it is ``applied``."""
        kind = None if applied else FaultKind.CLOSED
        return replace(self, meanwhile=Meanwhile(moment, kind=kind, kills=True))

    @property
    def otherwise(self) -> Running:
        """The same run in the next way: after per-file comes single, then many."""
        return replace(self, is_otherwise=True)


def listing(world: World, listed: str, inputs: dict[str, str]) -> str:
    """Write the file of a list, and return its name.

    Besides inputs, a row may give ``file``, the name of the file; ``called``, the name of the list;
    and ``workflow``, the repository whose workflow runs.
    """
    entries = [
        {"path": path, "content": text.decode()}
        for path, text in contents(listed).items()
        if isinstance(text, bytes)
    ]
    called, file = inputs.pop("called", ""), inputs.pop("file", "list.json")
    written = {"name": called, "files": entries} if called else entries
    return world.action.write(file, json.dumps(written))


def run(listed: str | None = None, /, **inputs: str) -> Running:
    """Register a list; by default, it is that of the last run, with the same inputs."""
    return Running(listed, inputs=inputs)


def plan(listed: str | None = None, /, **inputs: str) -> Running:
    """Make a plan."""
    return Running(listed, "plan", inputs)


def check(listed: str | None = None, /, **inputs: str) -> Running:
    """Run a check."""
    return Running(listed, "check", inputs)


def withdraw(listed: str | None = None, /, **inputs: str) -> Running:
    """Withdraw the pull requests of a list."""
    return Running(listed, "withdraw", inputs)


MOMENTS: Mapping[str, Callable[[Request], bool]] = {
    "a write": lambda request: not is_read(request),
    "the branch": lambda request: (
        _call(request) == "POST git/refs" or "createRef(" in str(request.fields.get("query"))
    ),
    "the commit": lambda request: (
        request.method == "PUT" or "createCommitOnBranch" in str(request.fields.get("query"))
    ),
    "the list of pull requests": lambda request: _call(request) == "GET pulls",
    "the pull request": lambda request: (
        _call(request) == "POST pulls" or "createPullRequest" in str(request.fields.get("query"))
    ),
    "the labels": lambda request: _call(request) == "POST issues/1/labels",
    "the last look": lambda request: _call(request) == "GET pulls/1",
    "the description": lambda request: _call(request) == "PATCH pulls/1",
}
"""Requests by names that fit in each way."""


def _call(request: Request) -> str:
    """Return method and path of a request, without the name or number of the repository."""
    return re.sub(r"^(\w+) /repositories/\d+/", r"\1 ", shortened(request))


@dataclass(frozen=True)
class Meanwhile:
    """Something that happens once during a run, at the first request of a kind (`MOMENTS`)."""

    moment: str
    steps: Sequence[Step] = ()
    kind: FaultKind | None = None
    when: Literal["before", "after"] = "before"
    kills: bool = False

    @property
    def name(self) -> str:
        """The same, as a row writes it."""
        what = [*([self.kind] if self.kind else []), *(each.name for each in self.steps)]
        return f" at {self.moment}: {', '.join(what)}"

    @contextmanager
    def happens(self, world: World) -> Iterator[None]:
        """Let it happen; the test fails if the moment did not come."""
        host, matches = world.action.host, MOMENTS[self.moment]
        came: list[Request] = []
        if self.kind:
            host.faults.add(Fault(self.kind, match=matches, when=self.when))

        def on_request(request: Request) -> None:
            if matches(request) and not came:
                came.append(request)
                for each in self.steps:
                    each(world)

        host.on_request = on_request
        yield
        host.on_request = None
        host.faults.clear()
        if not came and not self.kills:
            world.fail(f"expected: a request that is {self.moment}\nis:       none")

    def kill(self, world: World, environ: Mapping[str, str], *arguments: str) -> Run:
        """Start a run as a process of its own, and kill it at the moment."""
        action, host = world.action, world.action.host
        host.on_request = signal = SignalAt(SIGKILL, MOMENTS[self.moment])
        process = signal.to(action.begin_without_waiting(environ, *arguments))
        ended = action.end(process, environ)
        assert ended.exit_code == -SIGKILL, ended.console
        # Its last request may still wait for the fault when the process has ended
        host.settle()
        return replace(ended, exit_code=0)


# --- People -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Act(Step):
    """A step that is neither a run nor a state."""

    words: str
    do: Callable[[World], object]

    @property
    def name(self) -> str:
        """The step, as a row writes it."""
        return self.words

    def __call__(self, world: World) -> object:
        return self.do(world)


def step(do: Callable[Concatenate[World, P], object]) -> Callable[P, Act]:
    """Make a function of the world the kind of a step: ``close(1)``."""

    @wraps(do)
    def made(*args: P.args, **values: P.kwargs) -> Act:
        given = [*map(str, args), *(f"{name}={value!r}" for name, value in values.items())]
        name = do.__name__.removesuffix("_")
        return Act(f"{name}({', '.join(given)})", lambda world: do(world, *args, **values))

    return made


def only(ways: str, step: Step | str) -> Step:
    """Take a step, or expect a state, in these ways only, each with its first letter."""
    if isinstance(step, str):
        return State(step, ways)
    return Act(step.name, lambda world: step(world) if world.way[0] in ways else None)


def does(name: str, do: Callable[[World], object]) -> Act:
    """Make a step of a function, with a name in users' words."""
    return Act(name, do)


@step
def close(world: World, number: int) -> None:
    """Somebody closes a pull request."""
    world.person.close(number)


@step
def reopen(world: World, number: int) -> None:
    """Somebody opens a closed pull request again."""
    world.person.reopen(number)


@step
def reset(world: World, branch: str = "1") -> None:
    """Somebody takes the last commit of a branch back."""
    head = world.repository.commit_at(world.repository.head(full(branch)))
    world.person.create_branch(full(branch), str(head.parent_ids[0]))


@step
def update_branch(world: World) -> None:
    """Somebody clicks *Update branch*."""
    world.person.merge_into(LIST_BRANCH, world.repository.head("main"), {})


@step
def merge(world: World, number: int) -> None:
    """Somebody merges a pull request."""
    world.person.merge(number)


@step
def delete(world: World, branch: str = "1") -> None:
    """Somebody deletes a branch."""
    world.person.delete_branch(full(branch))


@step
def push(world: World, files: str, to: str = "1") -> None:
    """Somebody commits files to a branch, by default to that of the list."""
    world.person.commit(contents(files), branch=full(to))


@step
def leaves(world: World, files: str, on: str = "1") -> None:
    """A run that was killed has committed files to a branch, and has recorded nothing."""
    world.repository.as_registrar.commit(contents(files), branch=full(on))


@step
def branch(world: World, name: str, files: str = "", at: str | None = None) -> None:
    """Somebody makes a branch, with a commit of files."""
    world.person.create_branch(full(name), at and full(at))
    if files:
        world.person.commit(contents(files), branch=full(name))


@step
def opens(world: World, /, head: str, **attributes: Any) -> None:
    """Somebody opens a pull request."""
    world.person.open_pull_request(head=full(head), **attributes)


@step
def describe(world: World, number: int, edit: str | Callable[[str], str]) -> None:
    """Somebody writes another description of a pull request, or edits the present one."""
    body = world.repository.pull_request(number).body or ""
    world.person.edit(number, body=edit if isinstance(edit, str) else edit(body))


class Copied(Step):
    """Somebody copies the description of a pull request: ``copied := Copied()``."""

    name = "somebody copies the description"
    text = ""

    def __call__(self, world: World) -> None:
        self.text = world.repository.pull_request(1).body or ""

    def above(self, body: str) -> str:
        """Return a description below the copy."""
        return f"{self.text}\n\n{body}"

    def words_stay(self, world: World) -> None:
        """The description still has each line of the copy, without the comments of registrar."""
        body = (world.repository.pull_request(1).body or "").splitlines()
        lines = [each for each in self.text.splitlines() if "registrar:" not in each]
        assert {*lines} <= {*body}, body

    @property
    def is_unchanged(self) -> Step:
        """The description is still the copied one."""
        return does("the description is the copied one", self._compare)

    def _compare(self, world: World) -> None:
        if (body := world.repository.pull_request(1).body) != self.text:
            world.fail(f"expected: {self.text}\nis:       {body}")


@step
def refusing(world: World, part: str, status: int, message: str) -> None:
    """From now on, GitHub refuses each request with this part in its method and path."""

    def match(request: Request) -> bool:
        return part in f"{request.method} {request.path}"

    refuse(world.action.host, match, status, message=message)


@step
def sets(world: World, /, **attributes: Any) -> None:
    """Somebody changes the repository: ``sets(private=True)``."""
    world.person.change(**attributes)


@step
def protects(world: World, branch: str) -> None:
    """A rule of GitHub refuses commits to a branch from now on."""
    world.person.protect(full(branch))


@step
def unprotects(world: World) -> None:
    """No rule of GitHub refuses commits any more."""
    world.person.unprotect()


@step
def quirk(world: World, /, **quirks: Any) -> None:
    """GitHub has such a quirk from now on."""
    for name, value in quirks.items():
        setattr(world.action.host.quirks, name, value)


@step
def recovers(world: World) -> None:
    """GitHub refuses nothing any more."""
    world.action.host.faults.clear()


@step
def change(world: World, /, number: int, **attributes: Any) -> None:
    """Somebody changes a pull request in another way: ``change(1, base="docs")``."""
    world.person.edit(number, **attributes)


# --- What a run has done and said ---------------------------------------------------------------


def plain(text: str) -> str:
    """Return a text without the signs of Markdown, and with the text of links alone."""
    linked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", html.unescape(text))
    return re.sub(r"[\\`]", "", linked)


def sentence(key: str, language: str, **values: object) -> re.Pattern[str]:
    """Return a pattern of a text of the catalogue, in which any value stands for one not given."""
    parts, texts = "", read(f"{language}.yml")
    for text, name, _, _ in Formatter().parse(texts[key]):
        parts += re.escape(plain(text))
        if name is not None:
            value = values.pop(name, None)
            value = texts["label.separator"].join(value) if isinstance(value, list) else value
            parts += ".*?" if value is None else re.escape(str(value))
    assert not values, f"{key} has no {sorted(values)}"
    return re.compile(parts.removesuffix(re.escape(".")))


@step
def says(world: World, /, key: str, in_: str = "log", **values: object) -> None:
    """The last run has said a text of the catalogue, with these values of its placeholders."""
    assert world.run
    pattern = sentence(key, world.language, **values)
    if not pattern.search(plain(world.texts(in_))):
        world.fail(f"expected: {key} {values}, as {pattern.pattern}\nis:       not there")


@step
def never(world: World, key: str, in_: str = "all") -> None:
    """The last run has not said a text of the catalogue, with any values."""
    assert world.run
    if found := sentence(key, world.language).search(plain(world.texts(in_))):
        world.fail(f"expected: no {key}\nis:       {found[0]}")


@step
def shows(world: World, text: str, in_: str = "all") -> None:
    """The last run shows a text, or a description has it."""
    if text not in world.texts(in_):
        world.fail(f"expected: {text[:200]}\nis:       not there")


@step
def hides(world: World, text: str, in_: str = "all") -> None:
    """The last run does not show a text, or a description does not have it."""
    if text in world.texts(in_):
        world.fail(f"expected: no {text[:200]}\nis:       there")


@step
def sends(world: World, *requests: str) -> None:
    """The last run has sent these requests that write, and no other ones."""
    if world.wrote != [*requests]:
        world.fail(f"expected: {[*requests]}\nis:       {world.wrote}")


@step
def asks(world: World, part: str, times: int) -> None:
    """The last run has sent so many requests with this part in their method and path."""
    sent = [f"{each.method} {each.path}" for each in world.sent]
    if (found := sum(part in each for each in sent)) != times:
        world.fail(f"expected: {times} requests with {part}\nis:       {found} of {sent}")


@step
def reports(world: World, /, **pull_request: object) -> None:
    """The last run reports a pull request with such a number or operation."""
    assert world.run
    given = world.run.registration["pull_request"] or {}
    if (found := {name: given.get(name) for name in pull_request}) != pull_request:
        world.fail(f"expected: the pull request {pull_request}\nis:       {found}")
