"""What was found, as files for later steps: a table that grows during the run, and a page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from registrar.models.evidence import Evidence
from registrar.models.repository import PullRequest
from registrar.models.result import FileResult, RegistrationResult, State
from registrar.reporting import table
from registrar.reporting.page import Page
from registrar.reporting.runner_files import RunnerFiles
from registrar.texts.messages import Catalogue

_STATES = {
    State.CREATED: "proposed",
    State.MISSING: "missing",
    State.FAILED: "failed",
    State.UNKNOWN: "unread",
    State.PENDING: "unread",
    State.SKIPPED: "missing",
}
"""How a path stands that is not there."""


class Rows(NamedTuple):
    """The listed paths of one repository."""

    rows: tuple[Evidence, ...]
    url: str
    """Its address for people."""


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

    @property
    def are_kept(self) -> bool:
        """Whether there is a place for them."""
        return self._files.new("table", "csv") is not None

    def rows(self, result: RegistrationResult, state: str = "") -> Rows:
        """How each listed path stands after a registration, or after the reading.

        ``state`` is that of all paths, where none was looked at.
        """
        rows_of_paths = _rows(result, self._read_at)
        rows = tuple(row._replace(state=state) if state else row for row in rows_of_paths)
        return Rows(rows, result.html_url)

    def add(self, rows: Rows) -> None:
        """Write rows into the table, and keep what the page shows of them.

        Raises:
            OSError: the table cannot be written.
        """
        shown = [self._shown(row) for row in rows.rows]
        self._page.add(shown, rows.url if shown and shown[0].visibility else "")
        text = "".join(map(table.line, shown))
        if self._table is None:
            self._table = self._files.new("table", "csv")
            text = table.header() + text
        if self._table:
            self._files.append(self._table, text)

    def _shown(self, row: Evidence) -> Evidence:
        """What may be published of a row."""
        if self._catalogue.shown(row.repository, str) != row.repository:
            return row.without_names()
        return Evidence(*(self._catalogue.shown(text, str) for text in row))

    def finish(self) -> dict[str, str]:
        """Write the page; give the names of both files by their outputs.

        Raises:
            OSError: the page cannot be written.
        """
        path = self._files.new("page", "html") if self._table else None
        if path:
            for part in self._page.render(self._catalogue):
                self._files.append(path, part)
        written = {"table_path": self._table, "page_path": path}
        return {name: each.name for name, each in written.items() if each}


def _rows(result: RegistrationResult, read_at: str) -> Iterator[Evidence]:
    for file in result.files:
        pull = _pull_request(file, result)
        is_open = bool(pull and pull.is_open)
        yield Evidence(
            repository=result.repository,
            id=str(result.repository_id or ""),
            visibility=result.visibility,
            default_branch=result.base_branch,
            commit=result.commit,
            list=result.list_name,
            path=file.definition.path,
            state=_state(file, is_open=is_open),
            found_path=file.found.path
            if file.found and file.found.path != file.definition.path
            else "",
            blob=file.found.blob if file.found else "",
            pull_request=pull.url if pull else "",
            pull_request_age_days=_days(pull.created_at, read_at) if pull and is_open else "",
            declined_since=pull.closed_at[:10] if pull and not is_open else "",
            list_digest=result.list_digest,
            read_at=read_at,
        )


def _state(file: FileResult, *, is_open: bool) -> str:
    if file.found:
        return file.found.presence
    if file.declined_in:
        return "declined"
    if file.unset:
        return "unset"
    if file.on_branch or (is_open and file.state is State.MISSING):
        return "proposed"
    return _STATES[file.state]


def _pull_request(file: FileResult, result: RegistrationResult) -> PullRequest | None:
    return None if file.found else file.declined_in or result.pull_request


def _days(since: str, until: str) -> str:
    """Whole days between two moments (ISO 8601); empty where the first is not known."""
    if not since:
        return ""
    return str((datetime.fromisoformat(until) - datetime.fromisoformat(since)).days)
