"""Reports the progress and the result of a run to people and to programs."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from registrar.errors import Cause, Diagnostic, Refused
from registrar.many.many_listener import ManyListener
from registrar.models.paths import Done, ListedPath
from registrar.models.record import PullRequestOperation, Record
from registrar.models.repository import PullRequest, Repository
from registrar.models.run_result import Budget, Content, ManyResult, RunResult
from registrar.models.settings import Mode, Settings
from registrar.models.spec import FileList
from registrar.models.standing import Standing
from registrar.models.status import WRITTEN, Status
from registrar.models.tally import Tally
from registrar.privacy import Privacy
from registrar.rendering import states
from registrar.rendering.states import Tone
from registrar.reporting import preview, report, sentences, summary
from registrar.reporting.records import Records
from registrar.reporting.runner import ANNOTATIONS_PER_STEP, Console
from registrar.texts import escaping
from registrar.texts.escaping import Link
from registrar.texts.messages import LANGUAGES, Catalogue, Languages, Message, msg, read

HELP_PAGES = {"ja": "docs/troubleshooting.ja.md", "en": "docs/troubleshooting.md"}
"""The pages that explain errors, with the same anchors."""

ROWS_PER_STATE = 20
"""The most repositories in one state for which the log has a line, if the run writes nothing to
them."""

SECTIONS = "sections.yml"
"""Sections of the help page, by the beginnings of the messages that they are about."""


class Reporter(ManyListener):
    """Writes to the console and to the runner's files, in a language."""

    def __init__(
        self,
        console: Console,
        languages: Languages,
        privacy: Privacy,
        read_at: str = "",
    ) -> None:
        """``privacy`` decides which texts may be published.

        ``read_at`` is the moment of the run (ISO 8601, UTC).
        """
        # Texts in commits and pull requests only lose the token, because they may name the
        # repository that they are in
        super().__init__(Catalogue(languages.texts, privacy.without_token))
        # Read now, because a run may end because no more files can be opened
        read(SECTIONS)
        self.console = console
        self.privacy = privacy
        self.catalogue = Catalogue(languages.reader, privacy.text)
        self._other: Catalogue | None = None
        """A second language for readers who may not know the first; ``None`` if it was chosen."""
        if not languages.are_chosen:
            [other] = (each for each in LANGUAGES if each != languages.reader)
            self._other = Catalogue(other, privacy.text)
        self.asks: Callable[[str], bool | None] | None = None
        """Asks the person at the terminal before the run writes to many repositories, and returns
        whether the answer is a yes; ``None`` if there is nobody. ``None`` if a run does not ask."""
        self.records = Records(console.files, self.catalogue, read_at)
        self.warnings = 0
        """Number of warnings so far."""
        self._rows = Counter[Status]()
        """Number of lists in repositories that were to be printed, by their state."""
        self._left_out = Counter[Status]()
        """Number of those that were not printed."""
        self._minutes_left = 0
        """The time that was printed last; 0 if none was."""
        self._last_failure: tuple[Done, Cause] | None = None
        """The outcome and the cause of the last failed path that was printed."""

    def line(self, message: Message, tone: Tone = Tone.PLAIN) -> None:
        """Print a sentence about the progress of the run."""
        self.console.line(self._text(message), tone)

    def _result(self, message: Message) -> None:
        self.console.result(self._text(message))

    @contextmanager
    def group(self, key: str, /, **values: object) -> Iterator[None]:
        """Print a heading; the runner can fold everything that is printed inside the block."""
        with self.console.group(self._text(msg(key, **values))):
            yield

    def begin(self) -> None:
        """Say in English how to change the language, if it is another one and nobody chose it."""
        if self._other and self._other.language == "en":
            self.console.line(self._other.text(msg("run.language")))

    def inputs_are_read(self) -> None:
        """Report errors in one language from now on, because the inputs have been read."""
        self._other = None

    def fail(self, diagnostic: Diagnostic) -> None:
        """Report an error, with a link to the section that explains it.

        The first error about the inputs is in two languages if nobody has chosen a language.
        """
        text, label = self._explained(diagnostic.message), self._text(msg("label.error"))
        if self._other:
            text += f"\n{self._explained(diagnostic.message, self._other)}"
            self._other = None
        self.console.annotate("error", text, label, diagnostic.file, diagnostic.line)

    def _explained(self, message: Message, catalogue: Catalogue | None = None) -> str:
        catalogue = catalogue or self.catalogue
        text, address = catalogue.text(message, escaping.show_lines), self._help(message, catalogue)
        return f"{text} → {address}" if address else text

    def _help(self, message: Message, catalogue: Catalogue) -> str:
        """Return the address of the section that explains a message; empty if there is none."""
        anchor = section(message)
        page = HELP_PAGES[catalogue.language]
        return f"{self.console.pages}{page}#{anchor}" if anchor else ""

    def _fail_all(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Report errors; if they are more than the runner shows, the last one names all others."""
        most = ANNOTATIONS_PER_STEP - (len(diagnostics) > ANNOTATIONS_PER_STEP)
        for each in diagnostics[:most]:
            self.fail(each)
        if rest := diagnostics[most:]:
            paths = [each.file for each in rest]
            self.fail(Diagnostic(msg("change.more", count=len(rest), paths=paths)))

    def warn(self, diagnostic: Diagnostic) -> None:
        """Report a warning, and count it."""
        self.warnings += 1
        text, label = self._text(diagnostic.message), self._text(msg("label.warning"))
        self.console.annotate("warning", text, label, diagnostic.file, diagnostic.line)

    # --- One registration, while it goes on -----------------------------------------------------

    def begins(self, repository: Repository) -> None:
        """Apply from now on the rules of privacy for this repository."""
        self.privacy.identify(repository)
        self._last_failure = None

    def path_found(self, listed: ListedPath, number: int, total: int) -> None:
        """Print the state of a path before anything is done."""
        is_absent = listed.standing in {Standing.TO_CREATE, Standing.BLOCKED}
        tone = Tone.NOTABLE if is_absent else Tone.PLAIN
        self._path(number, total, listed.path, states.described_at_first(listed), tone)

    def path_done(self, listed: ListedPath, number: int, total: int) -> None:
        """Print the outcome of a path; a reason that was just printed is not printed again."""
        described = states.described(listed)
        if listed.failure:
            failed = (listed.done, listed.failure.cause)
            if failed == self._last_failure:
                described = states.described_again(listed)
            self._last_failure = failed
        self._path(number, total, listed.path, described, states.DONE[listed.done].tone)

    def _path(self, number: int, total: int, path: str, state: Message, tone: Tone) -> None:
        place = f"{number:>{len(str(total))}}"
        self.line(msg("progress.path", number=place, total=total, path=path, state=state), tone)

    def pull_request_done(self, pull: PullRequest, operation: PullRequestOperation) -> None:
        """Print the outcome of a pull request."""
        self._result(msg(states.OPERATIONS[operation].line, url=Link(pull.url)))

    # --- Many, while they go on -----------------------------------------------------------------

    def budget_known(self, budget: Budget, settings: Settings) -> None:
        """Print the result of the reading, and the plan of the writing."""
        for sentence in (*sentences.read(budget), *sentences.budget(budget, settings)):
            self.line(sentence)

    def agrees(self, budget: Budget, settings: Settings) -> bool:
        """Ask at the terminal whether the run may write; true if the run does not ask.

        Raises `Refused` if there is nobody to ask.
        """
        if self.asks is None:
            return True
        question = "\n".join(map(self._text, sentences.question(budget, settings)))
        is_confirmed = self.asks(self.console.block(question))
        if is_confirmed is None:
            raise Refused(msg("many.nobody_to_ask"))
        return is_confirmed

    def begins_to_write(self, records: Sequence[Record]) -> None:
        """Name all repositories that have their turn, in order."""
        names = list(dict.fromkeys(each.repository.link for each in records))
        if names:
            self.line(msg("many.in_turn", repositories=names))

    def repository_done(
        self,
        row: Record,
        place: tuple[int, int] | None = None,
        seconds_left: float = 0.0,
        *,
        names_list: bool,
    ) -> None:
        """Print the final state of a list in a repository.

        Left out is what only says that nothing was done: a list that is left for the next run, or
        one that a run with `Mode.WITHDRAW` is not about. Every write has its line, so that a log
        shows all of them even if the run is killed; of other states, the log has the first ones.
        """
        status = row.status
        self._rows[status] += 1
        is_late = status is Status.DEFERRED and not row.first_failure
        is_other = row.spec.settings.mode is Mode.WITHDRAW and not (place or row.first_failure)
        fails = status is Status.FAILED and not row.spec.settings.mode.only_reads
        is_written = status in WRITTEN or row.is_described or fails
        if is_late or is_other or not (self._rows[status] <= ROWS_PER_STATE or is_written):
            self._left_out[status] += 1
            return
        is_same = sentences.minutes(seconds_left) == self._minutes_left
        self._minutes_left = sentences.minutes(seconds_left)
        seconds_left = 0.0 if is_same else seconds_left
        self.line(sentences.line(row, place, seconds_left, names_list=names_list))

    def many_done(self, result: RunResult) -> None:
        """Print the contents that a plan would write, the notes, and the number in each state."""
        if result.many:
            if self._left_out:
                parts = [sentences.counted(each, count) for each, count in self._left_out.items()]
                self.line(msg("many.lines_left_out", parts=parts))
            self._report_contents(result.many)
            notes = sentences.notes(result.registrations)
            for sentence in (*notes, *sentences.closing(result.many)):
                self._result(sentence)

    # --- At the end -----------------------------------------------------------------------------

    def report_registration(self, registration: Record) -> None:
        """Report the result of a registration: the diffs of a plan, the failures, the summary."""
        registration = self.privacy.row(registration)
        for heading, lines in preview.diffs(registration, self.catalogue):
            with self.console.group(heading):
                for line in lines:
                    self.console.line(line)
        for cause in sentences.causes(registration):
            self.fail(Diagnostic(cause))
        advice = sentences.advice(registration)
        if registration.failure:
            self.fail(Diagnostic(registration.failure.message))
        elif registration.spec.settings.ref:
            self._fail_all(list(sentences.failed_at_ref(registration)))
        else:
            for message in sentences.failed_checks(registration):
                self.fail(Diagnostic(message))
        for message in sentences.outcome(registration):
            self._result(message)
        for line in summary.log_summary(registration, self.catalogue):
            self.console.result(line)
        if advice and registration.spec.settings.mode is Mode.PLAN and not registration.failure:
            self._result(advice)

    def _report_contents(self, result: ManyResult) -> None:
        """Print each content that a plan over many repositories would write."""
        if wanted := list(result.contents.values()):
            with self.console.group(self._text(preview.title(wanted))):
                show = escaping.show_control_characters
                for heading, diff in preview.contents(wanted):
                    self.console.line(self.catalogue.text(heading, show))
                    for line in diff:
                        self.console.line(self.catalogue.shown(line, show))

    def report_lists(self, lists: Sequence[FileList]) -> None:
        """Say that these lists have no mistake."""
        for message in sentences.valid(lists):
            self._result(message)

    def record(self, row: Record, counted: Tally) -> None:
        """Add the states of the listed paths of a repository to table and page."""
        self._safely(lambda: self._record(row, counted))

    def _record(self, row: Record, counted: Tally) -> None:
        reason = help_page = ""
        if failure := row.first_failure:
            reason = self.catalogue.text(failure.message, str)
            help_page = self._help(failure.message, self.catalogue)
        elif row.status in {Status.NOT_WRITABLE, Status.NOT_NAMED}:
            reason = self.catalogue.text(sentences.state(row), str)
        self.records.add(self.privacy.row(row), counted, reason, help_page)

    def report_run(self, result: RunResult) -> None:
        """Report the result of the run: step summary, outputs, report, table and page.

        Each of them is written even if another one cannot be written.
        """
        published = self.privacy.published(result)
        causes = sentences.failures(published.many) if published.many else ()
        for cause in islice(causes, ANNOTATIONS_PER_STEP):
            self.fail(Diagnostic(cause))
        for diagnostic in published.diagnostics:
            self.fail(diagnostic)

        def write_summary() -> None:
            many, registrations = published.many, published.registrations
            parts: list[str] = []
            if many is None:
                parts = [summary.of_one(each, self.catalogue) for each in registrations]
            elif many.end.repositories:
                parts = [summary.of_many(many, registrations, self.catalogue)]
            if result.valid_lists:
                parts.append(summary.of_lists(result.valid_lists, self.catalogue))
            if errors := [diagnostic.message for diagnostic in published.diagnostics]:
                has_results = bool(registrations)
                parts.append(summary.error_summary(errors, self.catalogue, has_results=has_results))
            note = self._text(msg("summary.cut"))
            whole = self.console.files.summary(
                "\n".join(parts), lambda text, size: summary.cut(text, size, note)
            )
            if not whole:
                self.warn(Diagnostic(msg("run.summary_cut")))

        self._safely(write_summary)
        if result.many is None:
            counted = Tally()
            for each in result.registrations:
                counted.add(each)
                self.record(each, counted)
        document = self._safely(lambda: report.render(published, self.catalogue)) or ""
        name = self._safely(lambda: self.console.report(document) if document else "") or ""
        files = {"report_path": name}
        self._safely(lambda: files.update(self._finish_records(published)))
        values = report.outputs(result, document, files)
        self._safely(lambda: self.console.files.outputs(values))

    def _finish_records(self, published: RunResult) -> dict[str, str]:
        """Write the page and the end of the table; return their names by their outputs."""
        ended = [msg("page.ended_early", reason=each.message) for each in published.diagnostics]
        contents: list[Content] = []
        taken_next: list[Message] = []
        if many := published.many:
            contents = list(many.contents.values())
            ended += [many.stopped] if many.stopped else []
            taken_next = list(sentences.taken_next(many))
        return self.records.finish(
            contents,
            ended_early=ended,
            taken_next=taken_next,
        )

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
    """Return the section of the help page about a message; empty if there is none.

    If the reasons inside the message have sections, the one of the innermost reason counts.
    """
    for value in message.values.values():
        inner = section(value) if isinstance(value, Message) else ""
        if inner:
            return inner
    sections = read(SECTIONS)
    return sections.get(max(filter(message.key.startswith, sections), key=len, default=""), "")
