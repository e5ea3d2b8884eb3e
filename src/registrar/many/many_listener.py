"""Who hears of a run over many repositories while it goes on, and what each of them is told."""

from registrar.models.record import Record
from registrar.models.run_result import Budget, RunResult
from registrar.models.settings import Settings
from registrar.models.tally import Tally
from registrar.registration import listener


class ManyListener(listener.Listener):
    """Hears of a run over many repositories while it goes on."""

    def budget_known(self, budget: Budget, settings: Settings) -> None:
        """Hear what was read, and what the run is going to do."""

    def agrees(self, _budget: Budget, _settings: Settings) -> bool:
        """Say whether the run may do it; if nobody can be asked, it may."""
        return True

    def repository_done(
        self,
        row: Record,
        place: tuple[int, int] | None = None,
        seconds_left: float = 0.0,
        *,
        names_list: bool,
    ) -> None:
        """Hear how one list in one repository ended.

        ``place`` is its number and that of all, if that is known; ``names_list`` says that there
        are several lists for each repository.
        """

    def record(self, row: Record, counted: Tally) -> None:
        """Hear how the listed paths of a repository stand at the end; they are ``counted``."""

    def many_done(self, result: RunResult) -> None:
        """Hear how all repositories ended, and what a plan would write."""
