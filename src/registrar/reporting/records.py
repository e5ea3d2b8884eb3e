"""Writes the table during a run, one list in one repository after the other, and then the page."""

from collections.abc import Sequence
from pathlib import Path

from registrar.models.record import Record
from registrar.models.run_result import Content
from registrar.models.selection import Exclusion
from registrar.models.tally import Tally
from registrar.reporting import evidence
from registrar.reporting.page import Page
from registrar.reporting.rows import rows_of
from registrar.reporting.runner import RunnerFiles
from registrar.texts.messages import Catalogue, Message


class Records:
    """Writes one list in one repository after the other to the page and the table."""

    def __init__(self, files: RunnerFiles, catalogue: Catalogue, read_at: str) -> None:
        """``catalogue`` removes the parts of a text that must not be published.

        ``read_at`` is the moment of the run (ISO 8601, UTC).
        """
        self._files = files
        self._catalogue = catalogue
        self._read_at = read_at
        self._page: Page | None = None
        self._table: Path | None = None
        self._has_result = False
        """Whether a listed path was read, or several repositories were."""

    def add(self, record: Record, counted: Tally, reason: str = "", help_page: str = "") -> None:
        """Write the states of the listed paths to the table, and keep them for the page.

        A repository with `Exclusion.NOT_MEANT` is not in the table. If the registration failed,
        ``reason`` says why, and ``help_page`` is the address of the section about it.
        """
        page, rows = self._page_of(record, counted), rows_of(record)
        page.add(record, rows, self._shown, reason, help_page)
        if record.exclusion is Exclusion.NOT_MEANT:
            return
        self._has_result |= page.is_of_many or bool(record.files)
        replaces = self._has_result
        if table := self._table or self._files.new("table", "csv", replaces=replaces):
            header = "" if self._table else evidence.header(page.property_names)
            written = evidence.lines(record, rows, self._read_at, self._catalogue, reason)
            self._files.append(table, header + written)
            self._table = table

    def _shown(self, text: str) -> str:
        return self._catalogue.shown(text, str)

    def _page_of(self, record: Record, counted: Tally) -> Page:
        if self._page is None:
            settings, names = record.spec.settings, record.spec.grouped_by
            self._page = Page(self._read_at, settings.mode, names, counted=counted)
            self._page.is_of_many = settings.selection is not None
        return self._page

    def finish(
        self,
        contents: Sequence[Content],
        *,
        ended_early: Sequence[Message] = (),
        taken_next: Sequence[Message] = (),
    ) -> dict[str, str]:
        """Write the page, and return the names of table and page by their outputs.

        The arguments go to the `Page`: ``contents`` are those that a plan would write,
        ``ended_early`` has the reasons why the run ended before its work was done, and
        ``taken_next`` has sentences about the repositories that a run on the same day writes to.
        """
        replaces, page = self._has_result, self._page
        path = self._files.new("page", "html", replaces=replaces) if page else None
        if path and self._page:
            self._page.contents = contents
            self._page.ended_early, self._page.taken_next = ended_early, taken_next
            for part in self._page.render(self._catalogue):
                self._files.append(path, part)
        written = {"table_path": self._table, "page_path": path}
        return {name: each.name for name, each in written.items() if each}
