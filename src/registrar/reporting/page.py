"""The results of a run as one HTML page, which loads nothing from elsewhere."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from string import ascii_lowercase
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from registrar.models.paths import Done
from registrar.models.record import PullRequestOperation, Record
from registrar.models.run_result import Content
from registrar.models.selection import Exclusion
from registrar.models.settings import Mode
from registrar.models.standing import Completeness, Standing
from registrar.models.status import Status
from registrar.models.tally import Tally
from registrar.rendering.states import BARS, EXCLUDED, MODES, STANDINGS, STATUSES, Bar
from registrar.reporting import evidence, preview
from registrar.reporting.rows import Row
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment, Template

MOST_CELLS = 150_000
"""The most cells (a listed path in a repository) that the page shows. Other rows are counted."""
_BARS = {bar.name: bar for bar in BARS}
_THERE = frozenset(words.bar.name for each, words in STANDINGS.items() if each.is_present)
_CODES = dict(zip(_BARS, ascii_lowercase, strict=False))
"""One character for each part of the bars, for the script of the page."""
_BAR_OF_CODE = {code: bar for bar, code in _CODES.items()}
MOST_EXCLUDED = 1_000
"""The most repositories that are named for each reason to leave them out, and the most paths for
each kind of warning. Others are counted."""
_NOT_LISTED = "-"
_BACKTICKS = re.compile(r"`([^`]+)`")
_CLOSING = (PullRequestOperation.WITHDRAWN, PullRequestOperation.CLOSED)
_REMARKS: Mapping[Done, str] = {
    Done.UPDATED: "state.updated",
    Done.TO_UPDATE: "state.to_update",
}
_REMARKS_OF_CLOSED: Mapping[Status, str] = {
    Status.WITHDRAWN: "page.pull_request_withdrawn",
    Status.CLOSED: "page.pull_request_closed",
}
_NOTHING: Mapping[str, Any] = MappingProxyType({})
"""One for all repositories without such values, to save memory."""
_STEPS = {
    Status.NOT_WRITABLE: "many.not_writable",
    Status.NOT_NAMED: "many.not_named",
    Status.CLOSED: "page.closed",
    Status.WITHDRAWN: "page.withdrawn",
}
_KINDS = {
    "complete": "page.complete",
    "done": "page.done",
    "failed": "page.failed",
    "open": "page.kind_open",
    "conflicting": "page.kind_conflicting",
    "left": "page.kind_left",
}
_BAR_OF_REPOSITORY = {
    Completeness.TO_DO: "to_create",
    Completeness.DONE: "declined",
    Completeness.COMPLETE: "present",
}
_PARTS = 5_000
"""Number of pieces of the page that are joined before they are written."""
_REMEMBERED = 1_000
"""Number of values whose escaped form is cached."""
_FOLDER = Path(__file__).parent
COMPILED = _FOLDER / "compiled"
"""The directory with the compiled template, which only the image has (see `Dockerfile`)."""


class ShownPath(NamedTuple):
    """A path of a repository that is not simply present."""

    path: str
    bar: str
    url: str
    """Address of the present file or of the pull request; empty if there is none."""


@dataclass(slots=True)
class ShownRepository:
    """One list in one repository, with only the values that the page shows, to save memory."""

    name: str
    counted_as: int | str
    """The `Repository.counted_as` by which `Tally` counts the repository; it is not shown."""
    url: str
    list_name: str
    properties: tuple[str, ...]
    """Values of the properties that the page groups by."""
    commit: str
    pull_request: str
    """The address of the pull request to show; empty if there is none. One that this run has closed
    comes first, then an open one, then one in which paths were declined."""
    links: Mapping[str, Sequence[str]]
    """The paths that a pull request proposes, or that were declined in it, by its address."""
    remark: str
    """Key of the text beside the pull request, for example that it was updated; may be empty."""
    left_branch: str
    """A branch that the run has left without a commit; empty if there is none."""
    conflicts: Sequence[str]
    """Paths in which the open pull request conflicts."""
    cells: str
    """The code of the state of each path, in the order of the page's paths. Paths that the page got
    later have no code."""
    elsewhere: Mapping[str, str]
    """The path of the file that makes a listed path present, if it is a different path."""
    lacking: int
    """Number of listed paths that are absent or were not read."""
    outcome: str
    """The state of the repository for the list; see `evidence.outcome_of`."""
    reason: str
    """Why the registration or one of its files failed; empty if nothing did."""
    help_page: str
    """The address of the section that explains this reason; empty if there is none."""

    def bars(self, count: int) -> Iterator[str]:
        """Yield the name of the bar of each of the first ``count`` paths; empty if not listed."""
        for cell in self.cells.ljust(count, _NOT_LISTED):
            yield _BAR_OF_CODE.get(cell, "")

    @property
    def has_failed(self) -> bool:
        return self.outcome == Status.FAILED

    @property
    def is_unread(self) -> bool:
        """Whether a listed path was not read, so that it is not known how many are absent."""
        return _CODES["unread"] in self.cells

    @property
    def needs_nobody(self) -> bool:
        """Whether every listed path is present, so that at most its content is worth a look."""
        needs = (self.lacking, self.reason, self.remark, self.conflicts, self.left_branch)
        return not any(needs)

    @property
    def left_url(self) -> str:
        """The address of the branch that the run has left without a commit."""
        return f"{self.url}/tree/{quote(self.left_branch)}"

    def to_look_at(self, paths: Sequence[str]) -> list[ShownPath]:
        """Return the paths that are not simply present."""
        bars = zip(paths, self.bars(len(paths)), strict=True)
        # If the repository failed, its reason already explains the paths that were not read
        plain = {"", "present", *(["unread"] if self.reason else [])}
        looked_at = ((path, bar) for path, bar in bars if bar not in plain)
        return [ShownPath(path, bar, self._address(path, bar)) for path, bar in looked_at]

    def _address(self, path: str, bar: str) -> str:
        found = self.elsewhere.get(path, path)
        if bar in _THERE:
            is_inherited = found.startswith(f"{self.name.partition('/')[0]}/.github/")
            return "" if is_inherited else f"{self.url}/blob/{self.commit}/{quote(found)}"
        return next((url for url, paths in self.links.items() if path in paths), "")


class Warned(NamedTuple):
    """A path about which there is a warning."""

    repository: str
    url: str
    path: str
    warning: Message


class Step(NamedTuple):
    """A sentence about a next step, with the filter that shows its repositories; empty if none."""

    sentence: Message
    kind: str = ""
    outcome: str = ""


class Group(NamedTuple):
    """The repositories with one value of a property."""

    value: str
    counts: Counter[str]
    """Number of repositories by the parts of a bar: ``present`` if they are complete, ``declined``
    if they are complete except for declined files, otherwise ``to_create``."""

    @property
    def done(self) -> int:
        """Number of repositories in which nothing is left to do."""
        return self.counts["present"] + self.counts["declined"]


@dataclass(slots=True)
class Page:
    """The page, which gets one list in one repository after the other, and keeps little of each."""

    read_at: str
    """Moment of the run (ISO 8601, UTC)."""
    mode: Mode
    property_names: tuple[str, ...] = ()
    """The custom properties by which the repositories are grouped."""
    contents: Sequence[Content] = ()
    """The contents that a plan would write."""
    ended_early: Sequence[Message] = ()
    """The reasons why the run ended before its work was done."""
    taken_next: Sequence[Message] = ()
    """Sentences about the repositories that a run on the same day writes to."""
    counted: Tally = field(default_factory=Tally)
    """The counts of all repositories."""
    is_of_many: bool = False
    names: dict[str, str] = field(default_factory=dict[str, str])
    """The addresses of the repositories, by their names."""
    excluded: dict[str, Exclusion] = field(default_factory=dict[str, Exclusion])
    """The reasons why repositories were left out, by their names, except for those that are too
    private to be named."""
    rows: list[ShownRepository] = field(default_factory=list[ShownRepository])
    warned: dict[str, list[Warned]] = field(default_factory=dict[str, list[Warned]])
    """The paths about which there are warnings, by the key of the words for the kind of warning."""
    lists: dict[str, None] = field(default_factory=dict[str, None])
    """Names of the lists, in their order."""

    @property
    def read(self) -> int:
        """Number of repositories that were read."""
        return self.counted.repositories

    @property
    def failed(self) -> int:
        """Number of repositories that failed."""
        return self.counted.states[Status.FAILED]

    def reach(self, least: str) -> int:
        """Return the number of repositories that are at least ``COMPLETE`` or ``DONE``."""
        return self.counted.reach(Completeness[least])

    @property
    def targets(self) -> list[str]:
        """The name of the only repository, or the owners of all repositories."""
        names = list(self.names | self.excluded)
        owners = dict.fromkeys(name.partition("/")[0] for name in names)
        return names if len(names) == 1 else list(owners)

    @property
    def paths(self) -> dict[str, Counter[str]]:
        """For each listed path, the number of repositories in each part of its bar."""
        return {path: _in_bars(counts) for path, counts in self.counted.paths.items()}

    @property
    def totals(self) -> Counter[str]:
        """Number of listed paths in all repositories, in each part of the bars."""
        return _in_bars(self.counted.standings)

    @property
    def tiles(self) -> Counter[str]:
        """The same for the numbers at the top, where blank and differing files are added to the
        present ones.
        """
        return _with_shades(self.totals)

    @property
    def needing_nobody(self) -> int:
        """Number of lists that have every path in a repository."""
        return sum(row.needs_nobody for row in self.rows)

    @property
    def kinds(self) -> dict[str, int]:
        """The number of rows of each kind in `kinds_of` that has one, in the order of the page."""
        rows = self.counted
        counts = {"open": len(rows.open), "conflicting": rows.conflicting}
        counts["left"] = rows.left_branches
        if len(self.lists) == 1:
            # With several lists, these numbers count repositories, and each has several rows
            of_repositories = {"complete": self.reach("COMPLETE"), "done": self.reach("DONE")}
            counts = {**of_repositories, "failed": self.failed, **counts}
        return {kind: count for kind, count in counts.items() if count}

    def kinds_of(self, row: ShownRepository, kinds: Mapping[str, int]) -> list[str]:
        """Return those of the page's ``kinds`` that a row belongs to."""
        reached = self.counted.completeness[row.counted_as]
        holds = {
            "complete": reached is Completeness.COMPLETE,
            "done": reached >= Completeness.DONE,
            "failed": row.has_failed,
            "open": (row.counted_as, row.list_name) in self.counted.open,
            "conflicting": bool(row.conflicts),
            "left": bool(row.left_branch),
        }
        return [kind for kind in kinds if holds[kind]]

    @property
    def outcomes(self) -> dict[str, Message]:
        """The number of lists in each state at the end of a run over many, in words."""
        return {
            status.value: msg(words.several, count=self.counted.lists[status])
            for status, words in STATUSES.items()
            if self.is_of_many and self.counted.lists[status]
        }

    @property
    def next_steps(self) -> list[Step]:
        """Sentences about the next steps: failed repositories, open pull requests, the next run.

        They also say why this run ended early, and how many pull requests it has closed, because
        nobody would notice this otherwise.
        """
        steps = [*map(Step, self.ended_early)]
        if self.failed:
            steps.append(Step(msg("page.look_at_failed", count=self.failed), "failed"))
        if since := self.counted.open.values():
            days = max(evidence.days(each, self.read_at) for each in since)
            key = "page.open" if days else "page.open_today"
            steps.append(Step(msg(key, count=len(since), days=days), "open"))
        if conflicting := self.counted.conflicting:
            steps.append(Step(msg("page.conflicting", count=conflicting), "conflicting"))
        if left := self.counted.left_branches:
            steps.append(Step(msg("page.left_branches", count=left), "left"))
        # After a run over one repository, its summary already says this
        lists = self.counted.lists if self.is_of_many else Counter[Status]()
        steps += (
            Step(msg(key, count=lists[each]), outcome=each)
            for each, key in _STEPS.items()
            if lists[each]
        )
        counts = ((words.next_run, lists[each]) for each, words in STATUSES.items())
        if parts := [msg(key, count=count) for key, count in counts if key and count]:
            steps.append(Step(msg("page.next_run", parts=parts)))
        return [*steps, *map(Step, self.taken_next)]

    @property
    def bars(self) -> list[str]:
        """The parts of the bars that have a column."""
        totals = self.totals
        return [bar.name for bar in BARS if bar.has_column or totals[bar.name]]

    @property
    def excluded_by_reason(self) -> dict[Exclusion, tuple[list[str], int]]:
        """For each reason, the named repositories that were left out, and the number of all."""
        all_of = Counter(self.counted.excluded.values())
        named: dict[Exclusion, list[str]] = {reason: [] for reason in all_of}
        for name, reason in self.excluded.items():
            named[reason].append(name)
        return {reason: (named[reason], count) for reason, count in all_of.items()}

    @property
    def groups(self) -> dict[str, list[Group]]:
        """For each property, its values with the numbers of named repositories that have them."""
        groups: dict[str, dict[str, Counter[str]]] = {}
        for row in {row.name: row for row in self.rows}.values():
            bar = _BAR_OF_REPOSITORY[self.counted.completeness[row.counted_as]]
            for name, value in zip(self.property_names, row.properties, strict=False):
                groups.setdefault(name, {}).setdefault(value, Counter())[bar] += 1
        return {name: [Group(*each) for each in sorted(of.items())] for name, of in groups.items()}

    def add(
        self,
        record: Record,
        rows: Sequence[Row],
        shown: Callable[[str], str] = str,
        reason: str = "",
        help_page: str = "",
    ) -> None:
        """Take one list in one repository; the caller has counted it in ``counted`` already.

        ``rows`` are those of its listed paths. ``shown`` removes the parts of a text that must not
        be published. If the registration failed, ``reason`` says why, and ``help_page`` is the
        address of the section about it.
        """
        repository, label = record.repository, record.spec.file_list.label
        name = shown(repository.full_name)
        if record.exclusion:
            self.excluded[name] = record.exclusion
            return
        self.names[name] = repository.html_url
        self.lists[label] = None
        for row in rows:
            for heading, warning in row.warnings:
                found = Warned(name, repository.html_url, row.path, warning)
                self.warned.setdefault(heading, []).append(found)
        bars = {row.path: STANDINGS[row.standing].bar.name for row in rows}
        listed = (bars.get(path) for path in self.counted.paths)
        proposed = [(row, row.pull_request.url) for row in rows if row.pull_request]
        links: dict[str, list[str]] = {}
        for row, url in proposed:
            links.setdefault(shown(url), []).append(row.path)
        elsewhere = {row.path: shown(row.found_path) for row in rows if row.found_path}
        first = {row.standing: url for row, url in reversed(proposed)}
        urls = map(first.get, (Standing.PROPOSED, Standing.UNREAD, Standing.DECLINED))
        pull_request = next(filter(None, urls), "")
        remark = next((_REMARKS[row.done] for row, _ in proposed if row.done in _REMARKS), "")
        if record.operation in _CLOSING and record.pull_request:
            pull_request = record.pull_request.url
            remark = _REMARKS_OF_CLOSED.get(record.status, "") if self.is_of_many else ""
        self.rows.append(
            ShownRepository(
                name=name,
                counted_as=record.spec.repository.counted_as,
                url=repository.html_url,
                list_name=label,
                properties=tuple(map(shown, evidence.properties_of(record))),
                commit=record.facts.commit,
                pull_request=shown(pull_request) if pull_request else "",
                links=links or _NOTHING,
                remark=remark,
                left_branch=shown(record.left_branch) if record.left_branch else "",
                conflicts=[*map(shown, record.told.conflicts)],
                cells="".join(_CODES[bar] if bar else _NOT_LISTED for bar in listed),
                elsewhere=elsewhere or _NOTHING,
                lacking=sum(not row.standing.is_present for row in rows),
                outcome=evidence.outcome_of(record),
                reason=reason,
                # In a shell, the address is a path in the directory of registrar
                help_page=help_page if "://" in help_page else "",
            )
        )

    def render(self, catalogue: Catalogue) -> Iterator[str]:
        """Yield the page in the catalogue's language, part by part."""

        def text(key: str, **values: object) -> str:
            return catalogue.text(msg(key, **values), escaping.show_control_characters)

        def percent(part: int, whole: int) -> str:
            number = (200 * part + whole) // (2 * whole) if whole else 100
            shown: object = number
            if part < whole and number == 100:  # noqa: PLR2004 (percent)
                shown = ">\u00a099"
            return text("page.percent", number=shown or ("<\u00a01" if part else 0))

        def marked(sentence: str) -> "Markup":
            """Return a sentence as HTML, with its texts in backticks as code."""
            escaped = str(Markup.escape(escaping.for_page(sentence)))
            return Markup(_BACKTICKS.sub(r"<code>\1</code>", escaped))  # noqa: S704 (escaped)

        def word(bar: Bar) -> str:
            shown = text(bar.word)
            return text("page.present_and", state=shown) if bar.is_shade else shown

        paths = self.paths
        ordered = sorted(
            self.rows,
            key=lambda row: (
                not row.has_failed,
                -row.lacking,
                not row.cells.strip(f"{_CODES['present']}{_NOT_LISTED}"),
                row.name.lower(),
            ),
        )
        rows = ordered[: MOST_CELLS // max(len(paths), 1)]
        style = f"{_colours()}{(_FOLDER / 'page.css').read_text('utf-8')}"
        script = (_FOLDER / "page.js").read_text("utf-8")
        from markupsafe import Markup  # noqa: PLC0415 (a part of jinja2)

        # Cached, because the same few values fill most of the page
        shown = lru_cache(_REMEMBERED, typed=True)(
            partial(catalogue.shown, escape=escaping.show_control_characters)
        )
        pieces = _template().generate(
            page=self,
            title=text(
                "page.title",
                targets=self.targets,
                lists=[*self.lists],
            ),
            read=text(MODES[self.mode].read, moment=f"{self.read_at[:16].replace('T', ' ')} UTC"),
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
            language=catalogue.language,
            t=text,
            percent=percent,
            bar_words={bar.name: text(bar.word) for bar in BARS},
            whole_words={bar.name: word(bar) for bar in BARS},
            letters={bar.name: text(bar.letter) for bar in BARS},
            codes={**_CODES, "present": "".join(_CODES[bar] for bar in _BARS if bar in _THERE)},
            shades=[bar.name for bar in BARS if bar.is_shade],
            marked=marked,
            with_shades=_with_shades,
            outcomes={
                status: catalogue.text(each, escaping.show_control_characters)
                for status, each in self.outcomes.items()
            },
            next_steps=[
                (catalogue.text(step.sentence, escaping.show_control_characters), step)
                for step in self.next_steps
            ],
            there=lambda counts: sum(counts[bar] for bar in _THERE),
            said=lambda message: catalogue.text(message, escaping.show_control_characters),
            excluded_words=EXCLUDED,
            kind_words=_KINDS,
            shown=shown,
            paths=paths,
            rows=rows,
            more=len(ordered) - len(rows),
            most_excluded=MOST_EXCLUDED,
            contents_title=catalogue.text(preview.title(self.contents)),
            contents=[
                (catalogue.text(heading, escaping.show_control_characters), diff)
                for heading, diff in preview.contents(self.contents)
            ],
        )
        while part := "".join(islice(pieces, _PARTS)):
            yield part


def compile_template() -> None:
    """Compile the page's template into `COMPILED`, when the image is made.

    Elsewhere each run that writes a page compiles it, which takes about 40 ms.
    """
    from jinja2 import FileSystemLoader  # noqa: PLC0415 (other runs do not need it)

    environment = _environment(FileSystemLoader(_FOLDER))
    environment.compile_templates(COMPILED, extensions=["j2"], zip=None)


def _template() -> "Template":
    from jinja2 import ChoiceLoader, FileSystemLoader, ModuleLoader  # noqa: PLC0415

    loaders = [ModuleLoader(COMPILED), FileSystemLoader(_FOLDER)]
    return _environment(ChoiceLoader(loaders)).get_template("page.html.j2")


def _environment(loader: "BaseLoader") -> "Environment":
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    return Environment(
        autoescape=True,
        finalize=escaping.for_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=loader,
    )


def _in_bars(counts: Mapping[Standing, int]) -> Counter[str]:
    """Add up the states that are in the same part of the bars."""
    bars = Counter[str]()
    for standing, count in counts.items():
        bars[STANDINGS[standing].bar.name] += count
    return bars


def _with_shades(counts: Mapping[str, int]) -> Counter[str]:
    """Add blank and differing files, and paths that are not files, to the present ones."""
    whole = Counter(counts)
    for bar in BARS:
        if bar.is_shade:
            whole["present"] += whole.pop(bar.name, 0)
    return whole


def _colours() -> str:
    """Return the colours of the bars as CSS."""
    light = "".join(f".{bar.name} {{ --bar: {bar.light}; }}\n" for bar in BARS)
    dark = "".join(f"  .{bar.name} {{ --bar: {bar.dark}; }}\n" for bar in BARS)
    return f"{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
