"""What became of a whole run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from registrar.errors import (
    EXIT_CANCELLED,
    EXIT_DONE,
    EXIT_FAILED,
    Cause,
    Diagnostic,
    Failure,
    InvalidInput,
    Kind,
    describe,
    exit_code,
)
from registrar.models.files import FileDefinition
from registrar.models.paths import ListedPath
from registrar.models.record import Record, Status
from registrar.models.repository import Repository
from registrar.models.rules import Replaced, UnusedParts
from registrar.models.selection import Exclusion
from registrar.models.settings import Settings
from registrar.models.spec import FileList
from registrar.models.standing import Standing
from registrar.models.tally import Tally
from registrar.texts.messages import Message

POINTS_PER_REPOSITORY = 2
"""A query, and what writes everything at once or a commit."""


class NotNamed(NamedTuple):
    """How repositories ended whose names and details may not be published."""

    status: Status
    kind: Kind | None = None
    """Of failures, the kind."""
    why: Cause | None = None
    """Of failures, the reason, which names nothing."""


class Budget(NamedTuple):
    """What is known after the reading, and what a run is going to do.

    What is counted of pull requests counts lists in repositories: two each for two profiles.
    """

    excluded: Mapping[Exclusion, int]
    """Number of repositories that are left out."""
    not_found: int
    """Number of names that stand for nothing that the token may read."""
    queries: int
    """Requests that the reading took."""
    points_left: int | None
    reading: Tally
    """How the lists were read to stand."""
    guessed: int = 0
    """Number of lists with an open pull request that is read only when the run comes to it: people
    may have changed it."""
    now: int = 0
    """Pull requests that this run is going to open."""
    deferred: int = 0
    """Pull requests that are left for the next run."""
    updates: int = 0
    """Open pull requests that it is going to update."""
    closes: int = 0
    """Needless pull requests that it is going to close, at most."""
    writes: int = 0
    """Writing requests that it needs."""
    interval: float = 0.0
    """Seconds from one writing request to the next."""
    next: tuple[Record, ...] = ()
    """What is to be written to first, as far as it may be named."""
    next_not_named: int = 0
    """Number of repositories in addition to those."""

    @property
    def selected(self) -> int:
        """Number of repositories that are worked on."""
        return self.reading.repositories

    @property
    def found(self) -> int:
        """Number of repositories, those that are left out among them."""
        return self.selected + sum(self.excluded.values())

    @property
    def seconds(self) -> float:
        """How long the writing lasts."""
        return self.writes * self.interval

    @property
    def points(self) -> int:
        """Points of GraphQL that the writing costs at most: every repository is read once more."""
        written = self.now + self.updates
        reading = self.reading
        only_read = reading.only_looked_at + reading.left[Status.TO_WITHDRAW] + self.closes
        return POINTS_PER_REPOSITORY * written + only_read


class Content(NamedTuple):
    """A listed content that is to be written, and in how many repositories."""

    listed: FileDefinition
    """As the list has it, with its placeholders and every part."""
    example: FileDefinition
    """As `of` gets it."""
    of: Repository
    """One of the repositories, a public one if there is any."""
    replaces: str = ""
    """Id of the blob that it replaces, in open pull requests."""
    before: bytes | None = None
    """Content of the blob that `replaces` names, where it was read."""
    repositories: int = 0

    def with_one(self, example: FileDefinition, of: Repository) -> "Content":
        """Count one more, which gets it as ``example``."""
        counted = self._replace(repositories=self.repositories + 1)
        is_better = of.is_public and not self.of.is_public
        return counted._replace(example=example, of=of) if is_better else counted


MOST_NAMED = 200
"""Repositories with findings that are named at most; the rest is counted."""


class ManyResult:
    """The growing result of a run over many repositories.

    Whatever ends the run, what was done until then is here. A repository that is complete has no
    row; all that is kept of it is counted, and the few findings that are named.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.reading = Tally()
        """Of what was read."""
        self.end = Tally()
        """Of how everything ended."""
        self.rows: list[Record] = []
        """The end of each list that may be named, except for complete ones."""
        self.with_finding: dict[Standing, list[Record]] = {}
        """The first `MOST_NAMED` rows with paths that deserve a look, also complete ones."""
        self.more_with_finding = Counter[Standing]()
        """Number of the rows with such paths that are not among those."""
        self.repositories = 0
        """Number of selected repositories."""
        self.rules = Counter[tuple[str, int]]()
        """To how many repositories a rule applies, by the name of its list and its number."""
        self.replaced = Counter[Replaced]()
        """In how many repositories an entry of a list replaces another one."""
        self.unused_parts = Counter[UnusedParts]()
        """In how many repositories parts of a file are not used."""
        self.unset: dict[tuple[str, str], list[Repository]] = {}
        """Those that lack a custom property, by the path that it is for and its name."""
        self.contents: dict[tuple[object, ...], Content] = {}
        """What a plan would write: by path, text, rule and what it replaces."""
        self.notes: list[Message] = []
        """What is worth knowing of the lists."""
        self.budget: Budget | None = None
        self.cancelled = 0
        """Exit code of the signal that ended the run; 0 where none did."""
        self.stopped: Message | None = None
        """Why the run ended before its work did."""
        self.not_named = Counter[NotNamed]()
        """Number of repositories without a row in what is published."""

    def add(self, row: Record) -> None:
        """Keep how one list in one repository ended."""
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
        """Keep what is missing in one repository, and what the rules of its list make of it."""
        if self.settings.mode.only_reads:
            for file in (*previewed.to_create, *previewed.to_update):
                self._note_content(file, previewed)
        label = previewed.spec.file_list.label
        self.rules.update((label, number) for number in previewed.fitting)
        self.replaced.update(previewed.replaced)
        self.unused_parts.update(previewed.unused_parts)
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
        self.contents[key] = content.with_one(file, previewed.repository)

    def note_blobs(self, blobs: Mapping[str, bytes]) -> None:
        """Keep the contents that would be replaced, by the ids of the blobs."""
        for key, content in self.contents.items():
            self.contents[key] = content._replace(before=blobs.get(content.replaces))

    def stop(self, reason: Message, exit_code: int) -> None:
        """Keep what ended the run; ``exit_code`` is of a signal if it is above others."""
        self.stopped = reason
        self.cancelled = exit_code if exit_code > EXIT_CANCELLED else 0

    @property
    def exit_code(self) -> int:
        """The exit code that follows from the repositories. Deferred ones are not failures."""
        fail_on = self.settings.fail_on
        # Of what was not read nobody knows
        end = self.end
        fails_check = any(end.found(each) or end.lists[Status.UNREAD] for each in fail_on)
        failed = end.has_failed or fails_check
        return self.cancelled or (EXIT_FAILED if failed else EXIT_DONE)


class RunResult:
    """The growing result of any run. If the run ends early, this holds what was done until then."""

    def __init__(self, registrations: Sequence[Record] = ()) -> None:
        self.registrations = list(registrations)
        self.many: ManyResult | None = None
        """Where the run is about many repositories."""
        self.valid_lists: Sequence[FileList] = ()
        """The lists of a run that only reads these."""
        self.diagnostics: Sequence[Diagnostic] = ()
        """What ended the run early."""
        self.failure: Failure | None = None
        """What ended the run early, unless that is about the input."""
        self._exit_code: int | None = None
        """Exit code of what ended it early."""

    def end_with(self, error: BaseException) -> None:
        """Keep what ended the run early."""
        wrote = any(not each.spec.settings.mode.only_reads for each in self.registrations)
        self._exit_code = exit_code(error, wrote=wrote)
        if isinstance(error, InvalidInput):
            self.diagnostics = error.diagnostics
        else:
            self.failure = describe(error)
            self.diagnostics = [Diagnostic(self.failure.message)]

    @property
    def exit_code(self) -> int:
        """One exit code for all registrations: theirs when they agree, else 1."""
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
