"""Tells people and programs what a run does and did: the texts of `report` to their places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from registrar import escaping, report
from registrar.errors import Mistake
from registrar.inputs import CHECK
from registrar.messages import Catalogue, Message, say
from registrar.models import FAILED_STATES, Registration, State
from registrar.workflow import Workflow


@dataclass(frozen=True, slots=True)
class Reporter:
    """The workflow, in a language."""

    workflow: Workflow
    catalogue: Catalogue

    def line(self, message: Message) -> None:
        """Print one line."""
        self.workflow.line(self._text(message))

    def fail(self, mistake: Mistake) -> None:
        """Tell an error."""
        text, label = self._text(mistake.message), self._text(say("label.error"))
        self.workflow.error(text, label=label, file=mistake.file, line=mistake.line or 0)

    def warn(self, mistake: Mistake) -> None:
        """Tell a warning."""
        text, label = self._text(mistake.message), self._text(say("label.warning"))
        self.workflow.warning(text, label=label, file=mistake.file, line=mistake.line or 0)

    def registration(self, registration: Registration) -> None:
        """Tell how a registration ended: what would be created, what failed, the summary."""
        missing = [f.definition.path for f in registration.files if f.state is State.MISSING]
        if missing:
            title = self._text(say("group.diff", count=len(missing)))
            with self.workflow.group(title):
                for line in report.console_diff(registration):
                    self.workflow.line(self.catalogue.shown(line, escaping.visible))
        for file in registration.files:
            if file.state in FAILED_STATES:
                message = say("progress.failed", path=file.definition.path, reason=file.reason)
                self.fail(Mistake(message))
        if registration.error:
            self.fail(Mistake(registration.error))
        elif registration.mode == CHECK and missing:
            total = len(registration.files)
            message = say("progress.missing", count=len(missing), total=total, paths=missing)
            self.fail(Mistake(message))
        for line in report.console_summary(registration, self.catalogue):
            self.workflow.line(line)

    def run(
        self, registrations: Sequence[Registration], mistakes: Sequence[Mistake], exit_code: int
    ) -> None:
        """Tell how the run ended: step summary, outputs and report; ``mistakes`` ended it early."""
        for mistake in mistakes:
            self.fail(mistake)
        errors = [mistake.message for mistake in mistakes]
        parts = [report.step_summary(r, self.catalogue) for r in registrations]
        parts += [report.error_summary(errors, self.catalogue)] if errors else []
        document = report.report_json(registrations, errors, exit_code, self.catalogue)
        note = self._text(say("summary.cut"))

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
            self.warn(Mistake(say("run.unwritable", reason=str(error))))
            return None

    def _text(self, message: Message) -> str:
        return self.catalogue.text(message, escaping.visible)
