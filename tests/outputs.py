"""Compare every output of a run over many repositories with the state of the stand-in.

`World.expect` calculates the state that each repository must have. It knows only the stand-in
before and after the run, and what people did meanwhile. `compare` compares each output with that.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import yaml

from tests.fakehub import Repository, Request
from tests.fakehub.repository import PullRequest
from tests.fakehub.representations import node_id, old_node_id
from tests.fakehub.store import Content
from tests.harness import LIST_BRANCH, ROOT, Run, is_read

TEXTS: Mapping[str, str] = yaml.safe_load((ROOT / "src/registrar/texts/en.yml").read_text("utf-8"))
STATES = (
    *("failed", "opened", "updated", "withdrawn", "closed", "to open", "to update", "to close"),
    *("deferred", "not writable", "not read", "conflicting", "waiting", "not proposed"),
    *("blocked", "unset", "declined", "complete"),
)
"""All states of a list. If a repository has several lists, its state is the first one in this order
that one of the lists has."""
TO_DO = {"to open", "to update", "to close"}
PRESENT = {"same", "blank", "differs", "filled"}
WANTED = {"to create", "proposed", "blocked"}
BLANK = {b"", b"\n", b"{}", b"{}\n"}
DAY = 86_400


class Listed(NamedTuple):
    """A list with its name, its working branch, and the contents of its files by path."""

    name: str
    branch: str
    files: Mapping[str, str]
    earlier: Mapping[str, str] = {}
    """The earlier contents of the paths for which the list has other content now."""


class Moment(NamedTuple):
    """A copy of a repository's state at one moment."""

    files: Mapping[str, Content]
    pulls: Mapping[int, PullRequest]
    heads: Mapping[int, tuple[str, Mapping[str, Content]]]
    """The commit and the files of the head of each pull request whose branch exists."""

    @classmethod
    def of(cls, repository: Repository) -> Moment:
        """Return the state of a repository now."""
        pulls = {each.number: replace(each) for each in repository.pull_requests}
        heads = {
            number: (repository.head(each.head), repository.files(each.head))
            for number, each in pulls.items()
            if each.head in repository.branches
        }
        return cls(repository.files(), pulls, heads)

    def on(self, branch: str) -> Mapping[str, Content]:
        """Return the files of a branch; those of the default branch if it has no pull request."""
        earlier = (number for number, each in self.pulls.items() if each.head == branch)
        return next((self.heads[each][1] for each in earlier if each in self.heads), self.files)

    def open_of(self, listed: Listed) -> int | None:
        """Return the number of the open pull request of a list; ``None`` if there is none."""
        of_list = (each for each in self.pulls.values() if each.head.startswith(listed.branch))
        return next((each.number for each in of_list if each.state == "open"), None)


class Stand(NamedTuple):
    """The state that one list must have in one repository, and the state of each path."""

    repository: str
    listed: Listed
    state: str
    paths: Mapping[str, str]
    created: int = 0
    """The number of files that the run has added to the pull request."""
    open_since: float | None = None
    """When its open pull request was opened, in seconds since the epoch."""

    @property
    def opened_at(self) -> float | None:
        """When its open pull request was opened; ``None`` if it cannot propose a path."""
        may_propose = not {"proposed", "unread"}.isdisjoint(self.paths.values())
        return self.open_since if may_propose else None


@dataclass
class World:
    """The selected repositories, and what people did in them."""

    repositories: Sequence[Repository]
    found: int
    """The number of repositories that the selection finds, with the ones that are left out."""
    refuses: set[int] = field(default_factory=set[int])
    """The ids of the repositories that refuse our branches."""
    declined: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    """The paths that people have declined, by the id of the repository."""
    edited: set[int] = field(default_factory=set[int])
    """The ids of the repositories whose pull request people have edited."""

    def now(self) -> list[Moment]:
        """Return the state of every repository now, in the order of `repositories`."""
        return [Moment.of(each) for each in self.repositories]

    def expect(
        self,
        lists: Sequence[Listed],
        mode: str,
        before: Sequence[Moment],
        requests: Iterable[Request],
        not_found: Sequence[str] = (),
    ) -> list[Stand]:
        """Return the state that each list must have in each repository after a run.

        ``before`` is the state before the run, ``requests`` are its requests, and ``not_found`` are
        the names of repositories that do not exist.
        """
        writes = [str(each.fields) for each in requests if not is_read(each)]
        return self._stands(lists, mode, [*zip(before, self.now(), strict=True)], writes, not_found)

    def foresee(
        self,
        lists: Sequence[Listed],
        mode: str,
        before: Sequence[Moment],
        not_found: Sequence[str] = (),
    ) -> list[Stand]:
        """Return the state that a run must report before it writes, for each list and repository.

        ``before`` is the state before the run.
        """
        foresees = "check" if mode == "check" else "plan"
        return self._stands(lists, foresees, [*zip(before, before, strict=True)], (), not_found)

    def _stands(
        self,
        lists: Sequence[Listed],
        mode: str,
        moments: Sequence[tuple[Moment, Moment]],
        writes: Sequence[str],
        not_found: Sequence[str],
    ) -> list[Stand]:
        stands = [
            self._stand(repository, listed, mode, of_both, writes)
            for repository, of_both in zip(self.repositories, moments, strict=True)
            for listed in lists
        ]
        unread = (
            Stand(name, listed, "failed", dict.fromkeys(listed.files, "unread"))
            for name in not_found
            for listed in lists
        )
        return [*stands, *unread]

    def _stand(
        self,
        repository: Repository,
        listed: Listed,
        mode: str,
        moments: tuple[Moment, Moment],
        writes: Sequence[str],
    ) -> Stand:
        then, now = moments
        was, number = then.open_of(listed), now.open_of(listed)
        _, held = now.heads.get(number or 0, ("", {}))
        no = self.declined.get(repository.id, set())
        paths = {
            path: _standing(path, content.encode(), now.files, held, is_declined=path in no)
            for path, content in listed.files.items()
        }
        state = self._left(repository, listed, paths, held)
        needs_right = bool(was) if mode == "withdraw" else state in TO_DO
        if repository.read_only and needs_right and mode != "check":
            state = "not writable"
        elif mode in {"register", "withdraw"}:
            moments, numbers = (then, now), (was, number)
            state = self._after(repository, moments, numbers, state, mode, writes)
        pull = now.pulls[number] if number and mode == "register" else None
        created = held.keys() - then.on(pull.head).keys() if pull else ()
        open_since = now.pulls[number].created_at if number else None
        return Stand(repository.full_name, listed, state, paths, len(created), open_since)

    def _left(
        self,
        repository: Repository,
        listed: Listed,
        paths: Mapping[str, str],
        held: Mapping[str, Content],
    ) -> str:
        """Return the state that a plan must report."""
        standings = set(paths.values())
        outdated = any(
            paths[path] == "proposed" and held[path] == content.encode()
            for path, content in listed.earlier.items()
        )
        # A pull request is needless if it proposes no path that the default branch lacks
        is_needless = (
            bool(held) and "proposed" not in standings and repository.id not in self.edited
        )
        if "to create" in standings or outdated:
            return "to update" if held and not is_needless else "to open"
        if is_needless:
            return "to close"
        ways = {"proposed": "waiting", "blocked": "blocked", "declined": "declined"}
        return next((state for way, state in ways.items() if way in standings), "complete")

    def _after(
        self,
        repository: Repository,
        moments: tuple[Moment, Moment],
        numbers: tuple[int | None, int | None],
        state: str,
        mode: str,
        writes: Sequence[str],
    ) -> str:
        """Return the state that a run that may write must report, according to its changes."""
        (then, now), (was, number) = moments, numbers
        if number != was:
            done = "withdrawn" if mode == "withdraw" else "closed"
            return "opened" if number else done
        if number and then.heads[number][0] != now.heads[number][0]:
            return "updated"
        if mode == "withdraw":
            return "not proposed" if state in {"to open", "blocked"} and not number else state
        branch = node_id("REF", repository.id, f"refs/heads/{LIST_BRANCH}")
        ids = (node_id("R", repository.id), old_node_id(repository.id), repository.full_name)
        was_tried = any(each in write for each in (*ids, branch) for write in writes)
        if repository.id in self.refuses and was_tried:
            return "failed"
        if state in TO_DO:
            return "deferred"
        return state


def _standing(
    path: str,
    content: bytes,
    files: Mapping[str, Content],
    held: Mapping[str, Content],
    *,
    is_declined: bool,
) -> str:
    parts = path.split("/")
    if path in files:
        there = files[path]
        if there in BLANK:
            return "blank"
        if there == content:
            return "same"
        return "filled" if content in BLANK else "differs"
    if any("/".join(parts[:length]) in files for length in range(1, len(parts))):
        return "blocked"
    if path in held:
        return "proposed"
    return "declined" if is_declined else "to create"


# --- The outputs of a run -----------------------------------------------------------------------


class Outputs(NamedTuple):
    """A run, with its report, and the table and the page that it has left for later steps."""

    run: Run
    mode: str
    began: float
    """When the run began, in seconds since the epoch."""
    report: Any
    table: str
    page: str
    cap: int

    @property
    def rows(self) -> list[dict[str, str]]:
        """The rows of the table about selected repositories."""
        rows = csv.DictReader(io.StringIO(self.table.removeprefix("\ufeff"), newline=""))
        return [row for row in rows if row["outcome"]]

    @property
    def taken_next(self) -> list[str]:
        """The lines of the log that say what the next run does; none or one."""
        begins, _, _ = TEXTS["many.next"].partition("{")
        return [line for line in self.run.lines if line.startswith(begins)]

    def as_far_as_read(self, stands: Sequence[Stand]) -> list[Stand]:
        """Return the states that a run which ended early must report.

        Its table shows which repositories it has not read. A run that writes has read each
        repository once, but it has not read what people did to the pull request.
        """
        unread = {
            (row["repository"], row["list"]) for row in self.rows if row["standing"] == "unread"
        }
        of_one = self._left_alone if self.mode in {"register", "withdraw"} else self._unread
        return [
            of_one(each) if (each.repository, each.listed.name) in unread else each
            for each in stands
        ]

    def _unread(self, stand: Stand) -> Stand:
        paths = dict.fromkeys(stand.paths, "unread")
        return stand._replace(state="not read", paths=paths, open_since=None)

    def _left_alone(self, stand: Stand) -> Stand:
        paths = {
            path: standing if standing in PRESENT | {"blocked"} else "unread"
            for path, standing in stand.paths.items()
        }
        return stand._replace(state="waiting" if stand.open_since else stand.state, paths=paths)


def compare(
    outputs: Outputs, stands: Sequence[Stand], foreseen: Sequence[Stand], found: int
) -> None:
    """Assert that every output has the numbers of ``stands``.

    The forecast of a run, before it writes, must have the numbers of ``foreseen``. ``found`` is
    the number of all repositories, with the ones that are left out.
    """
    names = {each.repository for each in stands}
    states = _by_repository(stands)
    assert states.total() == len(names)
    _compare_outputs(outputs, stands, states)
    _compare_report(outputs.report["many"], stands, states)
    _compare_sentences(outputs, stands, states, found)
    _compare_table(outputs, stands)
    _compare_page(outputs, stands, states, found)
    if outputs.report["many"]["budget"] and outputs.mode != "withdraw":
        _compare_forecast(outputs, foreseen, found)
    if outputs.mode == "register" and not outputs.report["many"]["stopped"]:
        _compare_left(outputs, stands, foreseen)


def _same(what: str, said: object, expected: object) -> None:
    """Assert that two values are equal; the message shows both, after the name of the output."""
    if isinstance(said, Counter) and isinstance(expected, Counter):
        # The message shows only the differences, because there may be very many items
        said, expected = said - expected, expected - said
    assert said == expected, f"{what} say {said}, not {expected}"


def _by_repository(stands: Iterable[Stand]) -> Counter[str]:
    """Return how many repositories are in each state; each repository is counted once."""
    states: dict[str, str] = {}
    for each in stands:
        other = states.get(each.repository, each.state)
        states[each.repository] = min(other, each.state, key=STATES.index)
    return Counter(states.values())


def _standings(stands: Iterable[Stand]) -> Counter[str]:
    return Counter(standing for each in stands for standing in each.paths.values())


def _way(standing: str) -> str:
    return "present" if standing in PRESENT else standing


def _compare_outputs(outputs: Outputs, stands: Sequence[Stand], states: Counter[str]) -> None:
    run, standings = outputs.run, _standings(stands)
    expected = {
        "repositories": states.total(),
        "incomplete": states.total() - len(_reach(stands)["done"]),
        "failed_repositories": states["failed"],
        "created": sum(each.created for each in stands),
        "missing": sum(standings[each] for each in WANTED),
        "blank": standings["blank"],
        "differing": standings["differs"],
        "declined": standings["declined"],
    }
    if outputs.mode in {"register", "withdraw"}:
        expected["deferred"] = sum(each.state == "deferred" for each in stands)
    _same("the outputs", {name: int(run.outputs[name]) for name in expected}, expected)


def _compare_report(many: Any, stands: Sequence[Stand], states: Counter[str]) -> None:
    _same("the repositories of the report", many["repositories"], states.total())
    _same("the states of the report", +Counter(many["states"]), states)
    _same("the standings of the report", +Counter(many["standings"]), _ways(stands))
    # If there are several lists, a repository has a row for each of them
    rows = Counter(row["state"] for row in many["rows"])
    incomplete = Counter(each.state for each in stands if each.state != "complete")
    _same("the rows of the report", rows, incomplete)
    wanted = Counter(
        (each.repository, each.state, sum(way in WANTED for way in each.paths.values()))
        for each in stands
    )
    outputs = Counter((row["repository"], row["state"], row["missing"]) for row in many["rows"])
    _same("the rows of the report", outputs - wanted, Counter())


def _compare_forecast(outputs: Outputs, foreseen: Sequence[Stand], found: int) -> None:
    """Compare the forecast that a run makes before it writes, in log, report and summary."""
    lists = Counter(each.state for each in foreseen)
    to_open, to_update, to_close = (lists[each] for each in ("to open", "to update", "to close"))
    proposed = to_update + lists["waiting"]
    budget = outputs.report["many"]["budget"]
    expected = {
        "found": found,
        "selected": len({each.repository for each in foreseen}),
        "missing": proposed + to_open,
        "proposed": proposed,
        "to_update": to_update,
        "to_close": to_close,
        "declined": lists["declined"],
    }
    _same("the numbers of the reading", {name: budget[name] for name in expected}, expected)
    if outputs.mode != "check":
        cap = outputs.cap
        taken = (min(to_open, cap), min(to_update + to_close, cap))
        said = (budget["now"], budget["updates"] + budget["closes"])
        _same("what is to be opened and changed", said, taken)
    to_do = budget["now"] + budget["updates"] + budget["closes"] + budget["deferred"]
    if outputs.mode != "check":
        _same("now, to update and deferred", to_do, to_open + to_update + to_close)
    parts = {
        "many.missing_proposed": proposed,
        "many.missing_to_update": to_update,
        "many.missing_to_open": to_open,
    }
    in_words = ", ".join(TEXTS[key].format(count=n) for key, n in parts.items() if n)
    sentences = [TEXTS["many.missing"].format(count=proposed + to_open, parts=in_words)]
    left = ("failed", "not writable", "blocked", "declined")
    if besides := [TEXTS[_count(each)].format(count=lists[each]) for each in left if lists[each]]:
        sentences.append(TEXTS["many.missing_besides"].format(parts=", ".join(besides)))
    if to_close:
        key = "many.may_close" if outputs.mode == "register" else "many.to_close"
        sentences.append(TEXTS[key].format(count=to_close))
    if outputs.mode != "check" and to_do:
        sentences.append(TEXTS["many.now"].partition(" With GitHub")[0].format(**budget))
    for sentence in sentences:
        assert sentence in outputs.run.stdout
        assert outputs.mode == "register" or sentence in outputs.run.summary


def _compare_left(outputs: Outputs, stands: Sequence[Stand], foreseen: Sequence[Stand]) -> None:
    """Compare the number that is left after a run, and the cap with which one run does them all."""
    both = zip(stands, foreseen, strict=True)
    left = Counter(then.state for now, then in both if now.state == "deferred")
    said = [line for line in outputs.run.lines if line.startswith("Pull requests left for later")]
    opened, changed = left["to open"], left["to update"] + left["to close"]
    kinds = {"many.left_to_open": opened, "many.left_to_change": changed}
    parts = ", ".join(TEXTS[key].format(count=n) for key, n in kinds.items() if n)
    needed = max(opened, changed)
    key = "many.capped" if needed > outputs.cap else "many.capped_once"
    number = f"{left.total()} ({parts})" if opened and changed else left.total()
    values = {"left": number, "most": outputs.cap, "needed": needed}
    expected = TEXTS[key].format(**values)
    _same("the sentences about what is left", said, [expected] if left else [])
    assert not left or expected in outputs.run.summary


def _ways(stands: Iterable[Stand]) -> Counter[str]:
    counts = Counter[str]()
    for standing, count in _standings(stands).items():
        counts[_way(standing)] += count
    return counts


def _compare_sentences(
    outputs: Outputs, stands: Sequence[Stand], states: Counter[str], found: int
) -> None:
    run = outputs.run
    counted = {TEXTS[_count(state)].format(count=count) for state, count in states.items()}
    shades = {"blank": "evidence.blank", "differs": "evidence.differs"}
    standings = _standings(stands)
    there = {
        TEXTS[key].format(count=standings[each]) for each, key in shades.items() if standings[each]
    }
    incomplete = {each.repository for each in stands if each.state != "complete"}
    if len({each.listed.name for each in stands}) == 1:
        _compare_counts_of_rows(outputs, stands)
    texts = [run.summary]
    if run.exit_code != 2:
        # A run that ends while it reads has no outcome in its log
        texts.append(run.stdout)
        for text in (run.stdout, run.summary):
            assert f"Repositories selected: {states.total()} of {found}." in text
    for text in texts:
        [outcome] = re.findall(r"^Outcome: (.*?)\.", text, re.MULTILINE)
        _same("log and summary", set(outcome.split(", ")), counted)
        present = re.search(r"Of the listed paths that exist: (.*?)\.", text)
        _same("log and summary", set(present[1].split(", ") if present else ()), there)
    failed = sum(
        int(each) for each in re.findall(r"^\*\*(\d+) failed:\*\*", run.summary, re.MULTILINE)
    )
    named = re.search(r"<summary>Repositories with something to report \((\d+)\);", run.summary)
    _same("the rows of the summary", int(named[1] if named else 0), len(incomplete))
    if len({each.listed.name for each in stands}) == 1:
        _same("the causes of the summary", failed, states["failed"])


def _compare_counts_of_rows(outputs: Outputs, stands: Sequence[Stand]) -> None:
    """Compare the numbers of missing and of blocked files in each line of the log."""
    ways = {each.repository: Counter(map(_way, each.paths.values())) for each in stands}
    line = re.compile(
        r"^(?:\[\d+/\d+\] )?(octo-org/[^:]+): .*?missing files: (\d+)"
        r"(?:\)?; of these blocked: (\d+))?",
        re.MULTILINE,
    )
    found = line.findall(outputs.run.stdout)
    says = {name: (int(missing), int(of or 0)) for name, missing, of in found}
    expected = {
        name: (sum(ways[name][each] for each in WANTED), ways[name]["blocked"]) for name in says
    }
    _same("the lines of the log", Counter(says.items()), Counter(expected.items()))


def _count(state: str) -> str:
    return f"many.count_{state.replace(' ', '_')}"


def _compare_table(outputs: Outputs, stands: Sequence[Stand]) -> None:
    says = Counter[tuple[str, ...]]()
    for row in outputs.rows:
        says[row["list"], row["path"], row["standing"], row["outcome"]] += 1
    expected = Counter[tuple[str, ...]](
        (each.listed.name, path, standing, each.state)
        for each in stands
        for path, standing in each.paths.items()
    )
    _same("the rows of the table", says, expected)
    of_names = {(row["repository"], row["list"], row["outcome"]) for row in outputs.rows}
    known = {(each.repository, each.listed.name, each.state) for each in stands}
    _same("the repositories of the table", of_names - known, set())


def _days(stand: Stand, outputs: Outputs) -> int:
    """Return the whole days since the pull request was opened; 0 if this run has opened it."""
    return max(int((outputs.began - (stand.opened_at or 0)) // DAY), 0)


def _compare_page(
    outputs: Outputs, stands: Sequence[Stand], states: Counter[str], found: int
) -> None:
    page = outputs.page
    reach, total = _reach(stands), states.total()
    for name, reached in reach.items():
        card = rf"<strong>(\d+ / \d+)</strong> Repositories: {name} \((.*?)\)"
        shown = re.search(card, page)
        counted = (f"{len(reached)} / {total}", _percent(len(reached), total))
        _same(f"the page, of what is {name},", shown and shown.groups(), counted)
    tiles = {
        name: int(count)
        for count, name in re.findall(r'<strong>(\d+)</strong> <span class="(\w+) key">', page)
    }
    ways = _ways(stands)
    always = dict.fromkeys(("present", "proposed", "to_create"), 0)
    failed = {"failed": states["failed"]} if states["failed"] else {}
    in_bars = {str(name).replace(" ", "_"): count for name, count in ways.items()}
    _same("the tiles of the page", tiles, always | in_bars | failed)
    shades = {
        name: int(count)
        for name, count in re.findall(r'<span class="(\w+) key"></span>[^<]*: (\d+)</p>', page)
    }
    standings = _standings(stands)
    expected = {each: standings[each] for each in ("blank", "differs") if standings[each]}
    _same("the shades of the page", shades, expected)
    _compare_rows_of_page(page, stands)
    left_out = re.search(r"<h2>Left out \((\d+)\)</h2>", page)
    if outputs.run.exit_code != 2:
        _same("the page", int(left_out[1] if left_out else 0), found - total)
    found_steps = re.search(r'<ul class="steps">(.*?)</ul>', page, re.DOTALL)
    said = re.findall(r"<li>(.*?)</li>", found_steps[1] if found_steps else "")
    steps = _steps(outputs, stands, states)
    in_words = [html.unescape(re.sub("</?code>", "`", each)) for each in said]
    _same("the first lines of the page", in_words, steps)


def _percent(part: int, whole: int) -> str:
    number = str((200 * part + whole) // (2 * whole))
    if number == "0" and part:
        number = "&lt;\u00a01"
    if number == "100" and part < whole:
        number = "&gt;\u00a099"
    return f"{number}\u00a0%"


def _compare_rows_of_page(page: str, stands: Sequence[Stand]) -> None:
    """Compare the tables by path and by repository, and the repositories without a name."""
    by_path: dict[str, Counter[str]] = {}
    for each in stands:
        for path, standing in each.paths.items():
            # A path that exists counts as present with any content
            of_path = by_path.setdefault(path, Counter())
            ways = {_way(standing), standing} - {"same", "filled"}
            of_path.update(each.replace(" ", "_") for each in ways)
            of_path["all"] += 1
    head, *rows = re.findall(r"<tr>(.*?)</tr>", page[page.index('id="by-path"') :], re.DOTALL)
    bars = [*re.findall(r'<span class="(\w+) key">', head), "all"]
    says: dict[str, Counter[str]] = {}
    for row in rows[: len(by_path)]:
        [path] = re.findall(r"<code>(.*?)</code>", row)
        counts = [int(each) for each in re.findall(r'class="number[^"]*">(\d+)</td>', row)]
        says[path] = +Counter(dict(zip(bars, counts, strict=True)))
        share = _percent(says[path]["present"], says[path]["all"])
        assert f'<td class="number">{share}</td>' in row, row
    _same("the paths of the page", says, by_path)
    to_look_at, every = page[page.index('id="list"') :].split('id="matrix"')
    row_of_page = re.compile(
        r'<tr data-name="([^"]+)".*?<td class="number">(\d+)</td>\s*<td>(.*?)</ul>', re.DOTALL
    )
    shown = Counter(
        (name, int(lacking), text.count('<li><span class="state">'))
        for name, lacking, text in row_of_page.findall(to_look_at)
    )
    rows_of = Counter[tuple[str, int, int]]()
    for each in stands:
        absent = [way for way in each.paths.values() if way not in PRESENT]
        looked_at = [way for way in each.paths.values() if way not in {"same", "filled"}]
        if each.state == "failed" and {*absent} == {"unread"}:
            looked_at = []  # the page shows only the reason of the failure
        if looked_at or absent:
            rows_of[each.repository, len(absent), len(looked_at)] += 1
    names = re.findall(r'<tr data-name="([^"]+)"', every)
    expected_rows = Counter({row: n for row, n in rows_of.items() if row[0] in {*names}})
    _same("the repositories of the page", shown, expected_rows)


def _reach(stands: Iterable[Stand]) -> dict[str, set[str]]:
    """Return the repositories that are complete, and that are done, with all their lists.

    They are `done` if they lack only declined files.
    """
    lacking = dict[str, set[str]]()
    for each in stands:
        of_failed = {"failed"} if each.state == "failed" else set[str]()
        absent = {*each.paths.values()} - PRESENT | of_failed
        lacking.setdefault(each.repository, set()).update(absent)
    return {
        "complete": {name for name, absent in lacking.items() if not absent},
        "done": {name for name, absent in lacking.items() if absent <= {"declined"}},
    }


def _steps(outputs: Outputs, stands: Sequence[Stand], states: Counter[str]) -> list[str]:
    """Return the list of open tasks at the beginning of the page."""
    lists = Counter(each.state for each in stands)
    ages = [_days(each, outputs) for each in stands if each.opened_at is not None]
    many = outputs.report["many"]
    reasons = outputs.report["errors"] if outputs.run.exit_code == 2 else []
    steps = [TEXTS["page.ended_early"].format(reason=each) for each in reasons]
    steps += [many["stopped"]] if many["stopped"] else []
    if states["failed"]:
        steps.append(TEXTS["page.look_at_failed"].format(count=states["failed"]))
    if ages:
        key = "page.open" if max(ages) else "page.open_today"
        steps.append(TEXTS[key].format(count=len(ages), days=max(ages)))
    if lists["not writable"]:
        steps.append(TEXTS["many.not_writable"].format(count=lists["not writable"]))
    if lists["closed"]:
        steps.append(TEXTS["page.closed"].format(count=lists["closed"]))
    if lists["withdrawn"]:
        steps.append(TEXTS["page.withdrawn"].format(count=lists["withdrawn"]))
    if parts := [
        TEXTS[f"page.{state.replace(' ', '_')}"].format(count=lists[state])
        for state in ("to open", "to update", "to close", "deferred")
        if lists[state]
    ]:
        steps.append(TEXTS["page.next_run"].format(parts=", ".join(parts)))
    return [*steps, *outputs.taken_next]
