"""What became of a whole run."""

from __future__ import annotations

from collections.abc import Sequence

from registrar.errors import (
    EXIT_CANCELLED,
    EXIT_FAILED,
    Diagnostic,
    InvalidInput,
    describe,
    exit_code,
)
from registrar.models.fleet import FleetResult
from registrar.models.result import RegistrationResult


class RunResult:
    """The growing result: whatever ends the run, what was done until then is here."""

    def __init__(self, registrations: Sequence[RegistrationResult] = ()) -> None:
        self.registrations = list(registrations)
        self.fleet: FleetResult | None = None
        """Where the run is about many repositories."""
        self.diagnostics: Sequence[Diagnostic] = ()
        """What ended the run early."""
        self._exit_code: int | None = None
        """Exit code of what ended it early."""

    def end_with(self, error: BaseException) -> None:
        """Keep what ended the run early."""
        wrote = any(result.spec.writes for result in self.registrations)
        self._exit_code = exit_code(error, wrote=wrote)
        self.diagnostics = (
            error.diagnostics
            if isinstance(error, InvalidInput)
            else [Diagnostic(describe(error).message)]
        )

    @property
    def exit_code(self) -> int:
        """One exit code for all registrations: theirs when they agree, else 1."""
        if self.fleet:
            return self.fleet.exit_code if self._exit_code is None else self._exit_code
        codes = [result.exit_code for result in self.registrations]
        if self._exit_code is not None:
            codes.append(self._exit_code)
        cancelled = [code for code in codes if code >= EXIT_CANCELLED]
        if cancelled:
            return cancelled[0]
        return codes[0] if len(set(codes)) == 1 else EXIT_FAILED
