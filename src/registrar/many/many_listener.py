"""The interface through which a run over many repositories reports its progress."""

from collections.abc import Sequence

from registrar.models.record import Record
from registrar.models.run_result import Budget, RunResult
from registrar.models.settings import Settings
from registrar.models.tally import Tally
from registrar.registration import listener


class ManyListener(listener.Listener):
    """Receives the progress of a run over many repositories; this class ignores it."""

    def budget_known(self, budget: Budget, settings: Settings) -> None:
        """Receive the result of the reading, and the plan of the writing."""

    def agrees(self, _budget: Budget, _settings: Settings) -> bool:
        """Return whether the run may write. Raises `Refused` if nobody can be asked."""
        return True

    def begins_to_write(self, records: Sequence[Record]) -> None:
        """Receive the lists in repositories that have their turn, in this order."""

    def repository_done(
        self,
        row: Record,
        place: tuple[int, int] | None = None,
        seconds_left: float = 0.0,
        *,
        names_list: bool,
    ) -> None:
        """Receive the final record of one list in one repository.

        ``place`` is its number and the number of all records, if these are known. ``seconds_left``
        is the time that the others take; 0 if it is not known. ``names_list`` is true if the run
        has several lists.
        """

    def record(self, row: Record, counted: Tally) -> None:
        """Receive a final record for table and page, and the counts of all records so far."""

    def many_done(self, result: RunResult) -> None:
        """Receive the result of the whole run."""
