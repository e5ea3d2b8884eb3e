"""What was found, as files for later steps: a table that grows during the run, and a page."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from registrar.models.result import RegistrationResult
from registrar.reporting import evidence
from registrar.reporting.evidence import Evidence
from registrar.reporting.page import Page
from registrar.reporting.runner_files import RunnerFiles
from registrar.texts.messages import Catalogue


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
        rows_of_paths = evidence.rows_of(result, self._read_at)
        rows = tuple(row._replace(state=state) if state else row for row in rows_of_paths)
        return Rows(rows, result.repository.html_url)

    def add(self, rows: Rows) -> None:
        """Write rows into the table, and keep what the page shows of them."""
        shown = [self._shown(row) for row in rows.rows]
        self._page.add(shown, rows.url if shown and shown[0].visibility else "")
        text = "".join(map(evidence.line, shown))
        if self._table is None:
            self._table = self._files.new("table", "csv")
            text = evidence.header() + text
        if self._table:
            self._files.append(self._table, text)

    def _shown(self, row: Evidence) -> Evidence:
        """What may be published of a row."""
        if self._catalogue.shown(row.repository, str) != row.repository:
            return row.without_names()
        return Evidence(*(self._catalogue.shown(text, str) for text in row))

    def finish(self) -> dict[str, str]:
        """Write the page; give the names of both files by their outputs."""
        path = self._files.new("page", "html") if self._table else None
        if path:
            for part in self._page.render(self._catalogue):
                self._files.append(path, part)
        written = {"table_path": self._table, "page_path": path}
        return {name: each.name for name, each in written.items() if each}
