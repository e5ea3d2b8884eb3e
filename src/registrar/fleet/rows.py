"""A row for each list in each repository: in the result, and a line of the log."""

from __future__ import annotations

from registrar.jobs import Job
from registrar.models.fleet import FleetResult, FleetRow, FleetState
from registrar.models.result import RegistrationResult
from registrar.models.spec import RegistrationSpec
from registrar.reporting import fleet_messages
from registrar.reporting.progress import Progress, Silence
from registrar.reporting.reporter import Reporter


class Rows:
    """Takes the rows as they are known."""

    def __init__(
        self, result: FleetResult, registrations: list[RegistrationResult], reporter: Reporter
    ) -> None:
        """``result`` grows by each row, ``registrations`` by each repository with missing files."""
        self._result = result
        self._registrations = registrations
        self._reporter = reporter

    def add(self, row: FleetRow, number: int, total: int, seconds_left: float = 0.0) -> None:
        """Keep a row, and print it unless nothing is missing; ``number`` counts up to ``total``."""
        self._result.add(row)
        if row.state is not FleetState.COMPLETE:
            self._reporter.line(fleet_messages.row_line(row, number, total, seconds_left))

    def add_registration(self, done: RegistrationResult) -> None:
        """Keep what a registration did, or would do: all of it is in the report."""
        self._registrations.append(done)

    def progress(self, spec: RegistrationSpec, job: Job) -> Progress:
        """Follow a registration without printing it: its row says what became of it."""
        nothing_yet = RegistrationResult(job.profile.name, spec.target, spec.mode)
        return Progress(nothing_yet, Silence())
