"""Writes table and page while a run goes on, one list in one repository after the other."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from registrar.models.record import Record
from registrar.models.run_result import Content
from registrar.models.selection import Exclusion
from registrar.models.tally import Tally
from registrar.reporting import evidence
from registrar.reporting.evidence import Evidence
from registrar.reporting.page import Page
from registrar.reporting.runner import RunnerFiles
from registrar.texts.messages import Catalogue, Message


class Records:
    """Writes one list in one repository after the other to the page and the table."""

    def __init__(self, files: RunnerFiles, catalogue: Catalogue, read_at: str) -> None:
        """``catalogue`` takes out of each text what must not be published.

        ``read_at`` is the moment of the run (ISO 8601, UTC).
        """
        self._files = files
        self._catalogue = catalogue
        self._read_at = read_at
        self._page: Page | None = None
        self._table: Path | None = None
        self._not_named = Counter[Evidence]()
        """How many repositories stand alike that are not named."""

    def add(self, record: Record, counted: Tally, reason: str = "", help_page: str = "") -> None:
        """Write how each listed path stands into the table, and keep what the page shows of it.

        A repository that is not meant is in the page alone. ``reason`` says why it failed, if
        it did, and ``help_page`` is the address of what to do about it.
        """
        self._page_of(record, counted).add(record, self._shown, reason, help_page)
        if record.exclusion is not Exclusion.NOT_MEANT:
            self._write(evidence.rows_of(record, self._read_at, reason))

    def count(self, record: Record, counted: Tally, reason: str = "") -> None:
        """Count how each listed path stands, if the repository is not named."""
        self._page_of(record, counted).count(record)
        if record.exclusion is not Exclusion.NOT_MEANT:
            rows = evidence.rows_of(record, self._read_at, reason)
            self._not_named.update(map(evidence.without_repository, rows))

    def _shown(self, text: str) -> str:
        return self._catalogue.shown(text, str)

    def _page_of(self, record: Record, counted: Tally) -> Page:
        if self._page is None:
            settings, names = record.spec.settings, record.spec.grouped_by
            self._page = Page(self._read_at, settings.mode, names, counted=counted)
            self._page.is_of_many = settings.selection is not None
        return self._page

    def _write(self, rows: Iterable[Evidence]) -> None:
        table = self._table or self._files.new("table", "csv")
        if table and self._page:
            text = evidence.lines(rows, self._shown)
            header = "" if self._table else evidence.header(self._page.property_names)
            self._files.append(table, header + text)
            self._table = table

    def finish(
        self,
        contents: Sequence[Content],
        *,
        others_read: bool,
        ended_early: Sequence[Message] = (),
        taken_next: Sequence[Message] = (),
    ) -> dict[str, str]:
        """Write the page; give the names of both files by their outputs.

        ``contents`` are what a plan would create; ``others_read`` says that others read the page.
        ``ended_early`` is why the run ended before its work was done, and ``taken_next`` what a run
        of the same day takes.
        """
        if self._page and self._not_named:
            self._write(evidence.counted(self._not_named, self._page.property_names))
        path = self._files.new("page", "html") if self._page else None
        if path and self._page:
            self._page.contents = contents
            self._page.ended_early, self._page.taken_next = ended_early, taken_next
            for part in self._page.render(self._catalogue, others_read=others_read):
                self._files.append(path, part)
        written = {"table_path": self._table, "page_path": path}
        return {name: each.name for name, each in written.items() if each}
