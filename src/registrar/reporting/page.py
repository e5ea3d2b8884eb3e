"""The evidence as one HTML page: no script, font or picture from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from registrar.models.result import RegistrationResult
from registrar.models.standing import Standing
from registrar.reporting import evidence, sentences
from registrar.reporting.evidence import Evidence
from registrar.reporting.runner import RunnerFiles
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, msg

MOST_REPOSITORIES = 2000
"""So many repositories with something to look at are shown; the rest is counted."""
BARS = (
    "present",
    "blank",
    "not_a_file",
    "proposed",
    "missing",
    "declined",
    "unset",
    "blocked",
    "unread",
)
"""What a bar shows, in this order."""
_RARE = ("not_a_file", "unset", "blocked", "unread")
"""What has no column where there is none."""
_BAR_OF = {each: each.way for each in Standing} | {
    Standing.BLANK: "blank",
    Standing.NO_FILE: "not_a_file",
}
_BAR_WORDS = {
    "present": "page.bar_present",
    "blank": "page.bar_blank",
    "not_a_file": "page.bar_not_a_file",
    "proposed": "page.bar_proposed",
    "missing": "page.bar_missing",
    "declined": "page.bar_declined",
    "unset": "page.bar_unset",
    "blocked": "page.bar_blocked",
    "unread": "page.bar_unread",
}
_EXCLUDED = "excluded"
_PARTS = 5_000
"""Pieces of the page that are put together before they are written."""
_FOLDER = Path(__file__).parent


class ShownPath(NamedTuple):
    """A path that is missing, or blank."""

    path: str
    state: str
    url: str
    """Address of what is there; empty where there is nothing, or it must not be named."""


@dataclass(slots=True)
class ShownRepository:
    """A repository with such paths."""

    name: str
    url: str
    list_name: str
    paths: list[ShownPath]
    pull_request: str
    lacking: int
    """Number of listed paths that it lacks."""

    @property
    def number(self) -> str:
        """The pull request as people write it."""
        return f"#{self.pull_request.rpartition('/')[2]}"


@dataclass(slots=True)
class Page:
    """Grows by one repository after the other; memory is bounded by `MOST_REPOSITORIES`."""

    read_at: str
    """Moment of the run (ISO 8601, UTC)."""
    names: set[str] = field(default_factory=set[str])
    """The repositories that were read."""
    incomplete: set[str] = field(default_factory=set[str])
    """Those of them that lack a listed file, of whatever list."""
    excluded: set[str] = field(default_factory=set[str])
    not_shown: int = 0
    paths: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    """For each listed path, how many repositories are in which part of its bar."""
    shown: list[ShownRepository] = field(default_factory=list[ShownRepository])

    @property
    def lists(self) -> set[str]:
        return {each.list_name for each in self.shown}

    @property
    def bars(self) -> list[str]:
        """The parts of the bars that have a column."""
        return [bar for bar in BARS if bar not in _RARE or self.total(bar)]

    @property
    def states(self) -> list[str]:
        return sorted({path.state for each in self.shown for path in each.paths})

    def total(self, bar: str) -> int:
        """Listed paths of all repositories in one part of the bars."""
        return sum(counts[bar] for counts in self.paths.values())

    def add(self, rows: Sequence[Evidence], url: str = "") -> None:
        """Take the rows of one list in one repository; ``url`` is its address for people."""
        if not rows:
            return
        name = rows[0].repository
        if rows[0].state.startswith(_EXCLUDED):
            self.excluded.add(name)
            return
        self.names.add(name)
        to_look_at: list[Evidence] = []
        for row in rows:
            bar = _BAR_OF[Standing(row.state)]
            self.paths.setdefault(row.path, Counter())[bar] += 1
            if bar != "present":
                to_look_at.append(row)
        standings = [Standing(row.state) for row in to_look_at]
        lacking = sum(not each.is_present for each in standings)
        if not all(each.is_complete for each in standings):
            self.incomplete.add(name)
        if not to_look_at:
            return
        if len(self.shown) == MOST_REPOSITORIES:
            self.not_shown += 1
        else:
            self.shown.append(_repository(to_look_at, lacking, url))

    def render(self, catalogue: Catalogue) -> Iterator[str]:
        """The page in the catalogue's language, part by part."""
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 (only here is it needed)

        def text(key: str, **values: object) -> str:
            return catalogue.text(msg(key, **values))

        read = [msg("page.read_at", moment=f"{self.read_at[:16].replace('T', ' ')} UTC")]
        if self.excluded:
            read.append(msg("page.excluded", count=len(self.excluded)))
        style = (_FOLDER / "page.css").read_text("utf-8")
        script = (_FOLDER / "page.js").read_text("utf-8")
        template = (_FOLDER / "page.html.j2").read_text("utf-8")
        environment = Environment(
            autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        stream = environment.from_string(template).stream(
            page=self,
            read=catalogue.sentences(read, escaping.show_control_characters),
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
            language=catalogue.language,
            t=text,
            bar_words=_BAR_WORDS,
            state_words=sentences.STANDINGS,
            shown=partial(catalogue.shown, escape=escaping.show_control_characters),
            ordered=sorted(
                self.shown, key=lambda each: (-each.lacking, -len(each.paths), each.name.lower())
            ),
        )
        stream.enable_buffering(_PARTS)
        yield from stream


def _repository(rows: Sequence[Evidence], lacking: int, url: str) -> ShownRepository:
    pull_request = next((row.pull_request for row in rows if row.pull_request), "")
    paths = [
        ShownPath(
            row.path,
            row.state,
            f"{url}/blob/{row.commit}/{quote(row.found_path or row.path)}"
            if url and row.blob
            else "",
        )
        for row in rows
    ]
    return ShownRepository(rows[0].repository, url, rows[0].list, paths, pull_request, lacking)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


class Records:
    """Takes one list in one repository after the other."""

    def __init__(self, files: RunnerFiles, catalogue: Catalogue, read_at: str) -> None:
        """``catalogue`` takes out of each text what must not be published.

        ``read_at`` is the moment of the run (ISO 8601, UTC).
        """
        self._files = files
        self._catalogue = catalogue
        self._read_at = read_at
        self._page = Page(read_at)
        self._table: Path | None = None
        self._is_empty = True

    def add(self, result: RegistrationResult) -> None:
        """Write how each listed path stands into the table, and keep what the page shows of it."""
        self._is_empty = False
        shown = [self._shown(row) for row in evidence.rows_of(result, self._read_at)]
        url = result.repository.html_url
        self._page.add(shown, url if shown and shown[0].visibility else "")
        table = self._table or self._files.new("table", "csv")
        if table:
            text = "".join(map(evidence.line, shown))
            self._files.append(table, text if self._table else evidence.header() + text)
            self._table = table

    def _shown(self, row: Evidence) -> Evidence:
        """What may be published of a row."""
        if self._catalogue.shown(row.repository, str) != row.repository:
            return row.without_names()
        return Evidence(*(self._catalogue.shown(text, str) for text in row))

    def finish(self) -> dict[str, str]:
        """Write the page; give the names of both files by their outputs."""
        path = None if self._is_empty else self._files.new("page", "html")
        if path:
            for part in self._page.render(self._catalogue):
                self._files.append(path, part)
        written = {"table_path": self._table, "page_path": path}
        return {name: each.name for name, each in written.items() if each}
