"""A row for each list in each repository: in the result, and a line of the log."""

from __future__ import annotations

from registrar.errors import EXIT_CANCELLED, Diagnostic
from registrar.file_lists import FileList
from registrar.models.fleet import FleetResult, FleetRow, FleetState
from registrar.models.result import RegistrationResult
from registrar.models.spec import RegistrationSpec
from registrar.registration.progress import Progress, Silence
from registrar.reporting import fleet_messages
from registrar.reporting.records import Rows as Evidence
from registrar.reporting.reporter import Reporter
from registrar.texts.messages import Message


class Rows:
    """Takes the rows as they are known."""

    def __init__(
        self,
        result: FleetResult,
        registrations: list[RegistrationResult],
        reporter: Reporter,
        *,
        lists: int,
    ) -> None:
        """``result`` grows by each row, ``registrations`` by each repository with missing files.

        Of several ``lists``, lines say which one they are about.
        """
        self.result = result
        self.registrations = registrations
        self.reporter = reporter
        self._names_list = lists > 1

    def add(
        self, row: FleetRow, place: tuple[int, int] | None = None, seconds_left: float = 0.0
    ) -> None:
        """Keep a row, and print it unless nothing is missing.

        ``place`` is its number and that of all, where that is known.
        """
        self.result.add(row)
        if row.state is not FleetState.COMPLETE:
            line = fleet_messages.row_line(row, place, seconds_left, names_list=self._names_list)
            self.reporter.line(line)

    def add_registration(self, done: RegistrationResult) -> None:
        """Keep what a registration did, or would do: all of it is in the report."""
        self.registrations.append(done)

    @property
    def are_recorded(self) -> bool:
        """Whether there is a place for table and page."""
        return self.reporter.records.are_kept

    def evidence(self, done: RegistrationResult, state: str = "") -> Evidence | None:
        """Give what table and page hold of a registration; ``None`` where there are none.

        ``state`` is that of all paths, where none was looked at.
        """
        return self.reporter.records.rows(done, state) if self.are_recorded else None

    def record(self, evidence: Evidence | None) -> None:
        """Put it into table and page."""
        if evidence:
            self.reporter.record(evidence)

    def stop(self, reason: Message, *, warn: bool = False, exit_code: int = 0) -> None:
        """Keep and print why the writing ended before all was done.

        ``exit_code`` is that of a signal, where one ended it.
        """
        self.result.stopped = reason
        self.result.cancelled = exit_code if exit_code > EXIT_CANCELLED else 0
        if warn:
            self.reporter.warn(Diagnostic(reason))
        else:
            self.reporter.line(reason)

    def progress(self, spec: RegistrationSpec, file_list: FileList) -> Progress:
        """Follow a registration without printing it: its row says what became of it."""
        return Progress(file_list.nothing_yet(spec), Silence())
