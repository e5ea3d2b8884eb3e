"""Reports what a run does and has done, to people and to programs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from registrar.errors import Diagnostic
from registrar.models.result import RegistrationResult
from registrar.models.run_result import ManyResult, RunResult
from registrar.models.settings import Mode
from registrar.reporting import preview, report, sentences, summary
from registrar.reporting.page import Records
from registrar.reporting.privacy import Redaction
from registrar.reporting.runner import ANNOTATIONS_PER_STEP, Console, Tone
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg, read


class Reporter:
    """The console, and what the runner keeps of a run, in a language."""

    def __init__(
        self, console: Console, language: str, redaction: Redaction, read_at: str = ""
    ) -> None:
        """``redaction`` says what may stand where; ``read_at`` is the moment of the run."""
        self.console = console
        self.redaction = redaction
        self.catalogue = Catalogue(language, redaction.for_log)
        self.texts = Catalogue(language, lambda text, _: redaction.without_token(text))
        """Those of commits and pull requests, which may name the repository that they are in."""
        self._output_catalogue = Catalogue(language, redaction.for_outputs)
        self.records = Records(console.files, self.catalogue, read_at)

    def line(self, message: Message, tone: Tone = Tone.PLAIN) -> None:
        self.console.line(self._text(message), tone)

    @contextmanager
    def group(self, key: str, /, **values: object) -> Iterator[None]:
        """Print what is inside under a heading that the runner can fold."""
        with self.console.group(self._text(msg(key, **values))):
            yield

    def fail(self, diagnostic: Diagnostic) -> None:
        """Report an error, with a link to the section that explains it."""
        text, label = self._text(diagnostic.message), self._text(msg("label.error"))
        if anchor := section(diagnostic.message):
            text += f" → {self.console.help_page}#{anchor}"
        self.console.annotate("error", text, label, diagnostic.file, diagnostic.line)

    def _fail_all(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Report errors; of more than the runner shows the last one names the rest."""
        most = ANNOTATIONS_PER_STEP - (len(diagnostics) > ANNOTATIONS_PER_STEP)
        for each in diagnostics[:most]:
            self.fail(each)
        if rest := diagnostics[most:]:
            paths = [each.file for each in rest]
            self.fail(Diagnostic(msg("change.more", count=len(rest), paths=paths)))

    def warn(self, diagnostic: Diagnostic) -> None:
        text, label = self._text(diagnostic.message), self._text(msg("label.warning"))
        self.console.annotate("warning", text, label, diagnostic.file, diagnostic.line)

    def registration(self, registration: RegistrationResult) -> None:
        """Report how a registration ended: what would be created, what failed, the summary."""
        for heading, lines in preview.diffs(registration, self.catalogue):
            with self.console.group(heading):
                for line in lines:
                    self.console.line(line)
        for cause in sentences.causes(registration):
            self.fail(Diagnostic(cause))
        advice = sentences.advice(registration)
        if registration.failure:
            self.fail(Diagnostic(registration.failure.message))
        elif registration.spec.settings.mode is Mode.CHECK:
            if registration.spec.settings.ref:
                self._fail_all(list(sentences.failed_at_ref(registration)))
            else:
                for message in sentences.failed_checks(registration):
                    self.fail(Diagnostic(message))
        for message in sentences.outcome(registration):
            self.line(message)
        for line in summary.log_summary(registration, self.catalogue):
            self.console.line(line)
        if advice and registration.spec.settings.mode is Mode.PLAN and not registration.failure:
            self.line(advice)

    def contents(self, result: ManyResult) -> None:
        """Print each content that a plan over many repositories would write."""
        if wanted := list(result.contents.values()):
            with self.console.group(self._text(preview.title(wanted))):
                is_public = self.redaction.is_log_public
                show = escaping.show_control_characters
                for heading, diff in preview.contents(wanted, is_public=is_public):
                    self.console.line(self.catalogue.text(heading, show))
                    for line in diff:
                        self.console.line(self.catalogue.shown(line, show))

    def record(self, result: RegistrationResult) -> None:
        """Put into table and page how the listed paths of a repository stand."""
        self._safely(lambda: self.records.add(result))

    def run(self, result: RunResult) -> None:
        """Report how the run ended: step summary, outputs, report.

        Each of them is written even if another one cannot be.
        """
        causes = sentences.failures(result.many) if result.many else ()
        for cause in islice(causes, ANNOTATIONS_PER_STEP):
            self.fail(Diagnostic(cause))
        for diagnostic in result.diagnostics:
            self.fail(diagnostic)

        def write_summary() -> None:
            many, registrations = result.many, result.registrations
            parts: list[str] = []
            if many is None:
                parts = [summary.of_one(each, self.catalogue) for each in registrations]
            elif many.counts:
                is_public = self.redaction.is_log_public
                parts = [summary.of_many(many, registrations, self.catalogue, is_public=is_public)]
            if errors := [diagnostic.message for diagnostic in result.diagnostics]:
                has_results = bool(registrations)
                parts.append(summary.error_summary(errors, self.catalogue, has_results=has_results))
            note = self._text(msg("summary.cut"))
            whole = self.console.files.summary(
                "\n".join(parts), lambda text, size: summary.cut(text, size, note)
            )
            if not whole:
                self.warn(Diagnostic(msg("run.summary_cut")))

        def rendered(catalogue: Catalogue) -> str:
            return self._safely(lambda: report.render(result, catalogue)) or ""

        self._safely(write_summary)
        if result.many is None:
            for each in result.registrations:
                self.record(each)
        document = rendered(self.catalogue)
        name = self._safely(lambda: self.console.files.report(document) if document else "") or ""
        # Only a run over many repositories has names to hide
        published = rendered(self._output_catalogue) if result.many else document
        files = {"report_path": name}
        wanted = list(result.many.contents.values()) if result.many else ()
        is_public = self.redaction.is_log_public
        self._safely(lambda: files.update(self.records.finish(wanted, is_public=is_public)))
        values = report.outputs(result, published, files)
        self._safely(lambda: self.console.files.outputs(values))

    def _safely(self, write: Callable[[], str | None]) -> str | None:
        try:
            return write()
        except OSError as error:
            self.warn(Diagnostic(msg("run.unwritable", reason=str(error))))
        except Exception as error:  # noqa: BLE001 (a fault of ours must not hide the outcome)
            reason = f"{type(error).__name__}: {error}"
            self.warn(Diagnostic(msg("run.unrendered", reason=reason)))
        return None

    def _text(self, message: Message) -> str:
        return self.catalogue.text(message, escaping.show_lines)


def section(message: Message) -> str:
    """Section of the help page about ``message``: of the innermost reason that has one, or none."""
    for value in message.values.values():
        inner = section(value) if isinstance(value, Message) else ""
        if inner:
            return inner
    sections = read("sections.yml")
    return sections.get(max(filter(message.key.startswith, sections), key=len, default=""), "")
