"""Tells people and programs what a run does and did: the texts of `report` to their places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from registrar.errors import Diagnostic
from registrar.models import FAILED_STATES, Mode, RegistrationResult, State
from registrar.reporting import report, troubleshooting
from registrar.reporting.runner import Workflow
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg


@dataclass(frozen=True, slots=True)
class Reporter:
    """The workflow, in a language."""

    workflow: Workflow
    catalogue: Catalogue

    def line(self, message: Message) -> None:
        """Print one line."""
        self.workflow.line(self._text(message))

    def fail(self, diagnostic: Diagnostic) -> None:
        """Tell an error, with a link to the section that explains it."""
        text, label = self._text(diagnostic.message), self._text(msg("label.error"))
        if section := troubleshooting.section(diagnostic.message):
            text += f" → {self.workflow.help_page}#{section}"
        self.workflow.error(text, label=label, file=diagnostic.file, line=diagnostic.line or 0)

    def warn(self, diagnostic: Diagnostic) -> None:
        """Tell a warning."""
        text, label = self._text(diagnostic.message), self._text(msg("label.warning"))
        self.workflow.warning(text, label=label, file=diagnostic.file, line=diagnostic.line or 0)

    def registration(self, registration: RegistrationResult) -> None:
        """Tell how a registration ended: what would be created, what failed, the summary."""
        missing = [f.definition.path for f in registration.files if f.state is State.MISSING]
        if missing:
            title = self._text(msg("group.diff", count=len(missing)))
            with self.workflow.group(title):
                for line in report.console_diff(registration):
                    self.workflow.line(self.catalogue.shown(line, escaping.show_control_characters))
        for file in registration.files:
            if file.state in FAILED_STATES:
                message = msg("progress.failed", path=file.definition.path, reason=file.reason)
                self.fail(Diagnostic(message))
        if registration.error:
            self.fail(Diagnostic(registration.error))
        elif registration.mode is Mode.CHECK and missing:
            total = len(registration.files)
            message = msg("progress.missing", count=len(missing), total=total, paths=missing)
            self.fail(Diagnostic(message))
        for line in report.console_summary(registration, self.catalogue):
            self.workflow.line(line)

    def run(
        self,
        registrations: Sequence[RegistrationResult],
        diagnostics: Sequence[Diagnostic],
        exit_code: int,
    ) -> None:
        """Report how the run ended: step summary, outputs, report; ``diagnostics`` ended it."""
        for diagnostic in diagnostics:
            self.fail(diagnostic)
        errors = [diagnostic.message for diagnostic in diagnostics]
        parts = [report.step_summary(r, self.catalogue) for r in registrations]
        parts += [report.error_summary(errors, self.catalogue)] if errors else []
        document = report.report_json(registrations, errors, exit_code, self.catalogue)
        note = self._text(msg("summary.cut"))

        self._write(
            lambda: self.workflow.summary(
                "\n".join(parts), lambda markdown, size: report.cut(markdown, size, note)
            )
        )
        path = self._write(lambda: self.workflow.file("registrar-report", "json", document))
        outputs = report.outputs(registrations, document, path or "")
        self._write(lambda: self.workflow.outputs(outputs))

    def _write(self, write: Callable[[], str | None]) -> str | None:
        """Write a file; that one cannot be written is no reason to leave out the others."""
        try:
            return write()
        except OSError as error:
            self.warn(Diagnostic(msg("run.unwritable", reason=str(error))))
            return None

    def _text(self, message: Message) -> str:
        return self.catalogue.text(message, escaping.show_control_characters)
