"""The result of a whole run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from registrar.errors import (
    EXIT_CANCELLED,
    EXIT_DONE,
    EXIT_FAILED,
    Diagnostic,
    Failure,
    InvalidInput,
    describe,
    exit_code,
)
from registrar.models.files import FileDefinition
from registrar.models.paths import ListedPath
from registrar.models.record import Record
from registrar.models.repository import Repository
from registrar.models.rules import Replaced, UnusedParts
from registrar.models.selection import Exclusion
from registrar.models.settings import Settings
from registrar.models.spec import FileList
from registrar.models.standing import Standing
from registrar.models.status import Status
from registrar.models.tally import Tally
from registrar.texts.messages import Message

POINTS_PER_REPOSITORY = 2
"""GraphQL points for each repository that is written to.

One is for the query that reads it again, and one for the mutation that creates everything at once
or makes a commit.
"""


class Budget(NamedTuple):
    """The result of the reading, and the plan of the writing, in a run over many repositories.

    Each number of pull requests but `closes` counts lists in repositories, so a repository with two
    lists counts twice.
    """

    excluded: Mapping[Exclusion, int]
    """Number of repositories that are left out, by reason."""
    not_found: int
    """Number of given names for which the token can read no repository."""
    queries: int
    """Number of requests that the reading took."""
    points_left: int | None
    """GraphQL points that the token has left; ``None`` if they are not known."""
    reading: Tally
    """The lists in the states that the reading found."""
    guessed: int = 0
    """Number of lists whose state may change when the repository is read alone, because people may
    have changed an open pull request."""
    now: int = 0
    """Number of pull requests that this run is going to open."""
    deferred: int = 0
    """Number of lists that are left for the next run."""
    updates: int = 0
    """Number of open pull requests that this run is going to update."""
    closes: int = 0
    """Number of pull requests that are no longer needed and that this run closes, at most. Some may
    be beside one that it opens or updates."""
    descriptions: int = 0
    """Number of other open pull requests whose description this run updates, at most."""
    writes: int = 0
    """Number of writing requests that this run needs."""
    interval: float = 0.0
    """Seconds from one writing request to the next."""
    next: tuple[Record, ...] = ()
    """The lists that the run writes to, in this order."""

    @property
    def selected(self) -> int:
        """Number of repositories that the run has read and not left out."""
        return self.reading.repositories

    @property
    def found(self) -> int:
        """Number of repositories, including those that are left out."""
        return self.selected + sum(self.excluded.values())

    @property
    def seconds(self) -> float:
        """Seconds that the writing takes."""
        return self.writes * self.interval

    @property
    def points(self) -> int:
        """GraphQL points that the writing costs at most.

        Every repository is read once more, also if it turns out that nothing is to be written.
        """
        written = self.now + self.updates
        reading = self.reading
        only_read = reading.only_looked_at + reading.needed[Status.TO_WITHDRAW] + self.closes
        return POINTS_PER_REPOSITORY * written + only_read


class Content(NamedTuple):
    """The content of a listed file that a run would write to one or several repositories."""

    listed: FileDefinition
    """The file as the list has it, with its placeholders and every part."""
    example: FileDefinition
    """The file as the repository `of` gets it."""
    of: Repository
    """One of the repositories."""
    replaces: str = ""
    """Id of the blob in open pull requests that is replaced; empty if the file is created."""
    before: bytes | None = None
    """Content of the blob with the id `replaces`; ``None`` if it was not read."""
    repositories: int = 0
    """Number of lists in repositories for which this content would be written."""


MOST_NAMED = 200
"""The largest number of records that are named for one kind of finding. Others are counted."""


class ManyResult:
    """The growing result of a run over many repositories.

    However the run ends, everything that it has done is here. To save memory, complete repositories
    are only counted, except for the first ones with a finding.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.reading = Tally()
        """Counts the lists in the states that the reading found."""
        self.end = Tally()
        """Counts the lists in the states at the end of the run."""
        self.rows: list[Record] = []
        """The final record of each list in each repository, except for complete ones."""
        self.with_finding: dict[Standing, list[Record]] = {}
        """The first `MOST_NAMED` records with each finding, also of complete repositories."""
        self.more_with_finding = Counter[Standing]()
        """Number of further records with each finding."""
        self.repositories = 0
        """Number of selected repositories."""
        self.rules = Counter[tuple[str, int]]()
        """Number of repositories to which a rule applies, by the label of its list and its number.
        """
        self.replaced = Counter[Replaced]()
        """Number of repositories in which an entry of a list replaces another one."""
        self.unused_parts = Counter[UnusedParts]()
        """Number of repositories that do not get some parts of a file."""
        self.unset: dict[tuple[str, str], list[Repository]] = {}
        """Repositories in which a custom property is unset, by the listed path that needs it and
        the name of the property."""
        self.contents: dict[tuple[object, ...], Content] = {}
        """The contents that a run which writes would write; the keys keep different ones apart."""
        self.notes: list[Message] = []
        """Sentences about the whole run, for the log and the report."""
        self.budget: Budget | None = None
        """``None`` until the reading has ended."""
        self.next: Sequence[Record] = ()
        """The lists that the next run writes to, in this order."""
        self.cancelled = 0
        """Exit code of the signal that ended the run; 0 if there was none."""
        self.stopped: Message | None = None
        """Why the run ended before everything was done; ``None`` if it did not."""

    def add(self, row: Record) -> None:
        """Add the final record of one list in one repository."""
        self.end.add(row)
        if row.status is not Status.COMPLETE:
            self.rows.append(row)
        for finding in row.findings:
            named = self.with_finding.setdefault(finding, [])
            if len(named) < MOST_NAMED:
                named.append(row)
            else:
                self.more_with_finding[finding] += 1

    def note_read(self, previewed: Record) -> None:
        """Add the results of the reading for one list in one repository.

        Counts the rules that apply, replaced entries and unused parts, and collects unset custom
        properties. In a run that only reads, also the contents that would be written.
        """
        is_left_alone = previewed.needed is Status.NOT_WRITABLE
        if self.settings.mode.only_reads and not is_left_alone:
            for file in (*previewed.to_create, *previewed.to_update):
                self._note_content(file, previewed)
        label = previewed.spec.file_list.label
        self.rules.update((label, number) for number in previewed.facts.applying)
        self.replaced.update(previewed.facts.replaced)
        self.unused_parts.update(previewed.facts.unused_parts)
        for file in previewed.files:
            if file.unset:
                those = self.unset.setdefault((file.path, file.unset), [])
                those.append(previewed.repository)

    def _note_content(self, result: ListedPath, previewed: Record) -> None:
        file, replaces = result.definition, result.replaces
        own, *_ = file.texts
        key = (file.path, own.source, own.template, file.rule if file.parts else 0, replaces)
        if not (content := self.contents.get(key)):
            possible = previewed.spec.file_list.possible
            listed = {(each.path, each.rule): each for each in possible}[file.path, file.rule]
            content = Content(listed, file, previewed.repository, replaces)
        self.contents[key] = content._replace(repositories=content.repositories + 1)

    def note_blobs(self, blobs: Mapping[str, bytes]) -> None:
        """Add the contents that would be replaced; ``blobs`` are contents by blob id."""
        for key, content in self.contents.items():
            self.contents[key] = content._replace(before=blobs.get(content.replaces))

    def stop(self, reason: Message, exit_code: int) -> None:
        """Record why the run ends before everything is done.

        ``exit_code`` is the one of the last registration. If a signal ended that, it becomes the
        exit code of the run.
        """
        self.stopped = reason
        self.cancelled = exit_code if exit_code > EXIT_CANCELLED else 0

    @property
    def exit_code(self) -> int:
        """The exit code that follows from the repositories. A deferred one is not a failure."""
        fail_on = self.settings.fail_on
        # A list that was not read may have any finding
        end = self.end
        fails_check = any(end.found(each) or end.lists[Status.UNREAD] for each in fail_on)
        failed = end.has_failed or fails_check
        return self.cancelled or (EXIT_FAILED if failed else EXIT_DONE)


class RunResult:
    """The growing result of any run. If the run ends early, it has everything done until then."""

    def __init__(self, registrations: Sequence[Record] = ()) -> None:
        self.registrations = list(registrations)
        self.many: ManyResult | None = None
        """The result of a run over many repositories; ``None`` for a run over one."""
        self.valid_lists: Sequence[FileList] = ()
        """The lists of a run with `Mode.VALIDATE`."""
        self.diagnostics: Sequence[Diagnostic] = ()
        """The errors that ended the run early."""
        self.failure: Failure | None = None
        """The failure that ended the run early; ``None`` if the input was invalid."""
        self._exit_code: int | None = None
        """Exit code of the error that ended the run early; ``None`` if there was none."""

    def end_with(self, error: BaseException) -> None:
        """Record the error that ended the run early."""
        wrote = any(each.is_ended for each in self.registrations)
        self._exit_code = exit_code(error, wrote=wrote)
        if isinstance(error, InvalidInput):
            self.diagnostics = error.diagnostics
        else:
            self.failure = describe(error, wrote=wrote)
            self.diagnostics = [Diagnostic(self.failure.message)]

    @property
    def exit_code(self) -> int:
        """The exit code of the run.

        In one repository, it is the exit code of all registrations if they agree, otherwise 1. The
        exit code of a signal comes before all others.
        """
        if self.many:
            return self.many.exit_code if self._exit_code is None else self._exit_code
        codes = [result.exit_code for result in self.registrations]
        if self._exit_code is not None:
            codes.append(self._exit_code)
        cancelled = [code for code in codes if code >= EXIT_CANCELLED]
        if cancelled:
            return cancelled[0]
        if self.valid_lists and not codes:
            return EXIT_DONE
        return codes[0] if len(set(codes)) == 1 else EXIT_FAILED
