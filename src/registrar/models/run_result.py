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
from registrar.models.repository import Repository
from registrar.models.result import ONLY_LOOKED_AT, RegistrationResult, Status
from registrar.models.rules import Replaced, UnusedParts
from registrar.models.selection import Exclusion
from registrar.models.settings import FailOn, Settings
from registrar.models.spec import FileList
from registrar.models.standing import FINDINGS, Completeness, Standing
from registrar.texts.messages import Message

POINTS_PER_REPOSITORY = 2
"""A query, and what writes everything at once or a commit."""


class NotNamed(NamedTuple):
    """How repositories ended of which nothing else may be published."""

    status: Status
    kind: Kind | None = None
    """Of failures, the kind."""
    why: Cause | None = None
    """Of failures, the reason, which names nothing."""


class Budget(NamedTuple):
    """What is known after the reading, and what a run is going to do.

    ``found`` and ``excluded`` count repositories, the rest counts lists in repositories: two each
    for two profiles.
    """

    found: int
    excluded: Mapping[Exclusion, int]
    queries: int
    """Requests that the reading took."""
    points_left: int | None
    of: Counter[Status]
    """Number of lists that are not complete, by what is left to do."""
    unread: int = 0
    """Number of those whose pull requests the token may not read."""
    not_found: int = 0
    """Number of names in ``found`` that stand for nothing that the token may read."""
    guessed: int = 0
    """Number of lists of which only their turn shows what people did to the pull requests."""
    withdrawable: int = 0
    """Number of lists with pull requests that could be withdrawn, at most."""
    refused: int = 0
    """Number of lists with files that the token may not write."""
    refused_whole: int = 0
    """Number of those without any other file."""
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
    next: tuple[RegistrationResult, ...] = ()
    """What is to be written to first, as far as it may be named."""
    next_not_named: int = 0
    """Number of repositories in addition to those."""

    @property
    def selected(self) -> int:
        """Number of repositories that are worked on."""
        return self.found - sum(self.excluded.values())

    @property
    def missing(self) -> int:
        """Number of lists with files that are absent and wanted."""
        return self.of[Status.TO_OPEN] + self.proposed + self.refused_whole

    @property
    def proposed(self) -> int:
        """Number of those with an open pull request."""
        return self.of[Status.TO_UPDATE] + self._only_looked_at

    @property
    def _only_looked_at(self) -> int:
        return sum(self.of[each] for each in ONLY_LOOKED_AT)

    @property
    def seconds(self) -> float:
        """How long the writing lasts."""
        return self.writes * self.interval

    @property
    def points(self) -> int:
        """Points of GraphQL that the writing costs at most: every repository is read once more."""
        written = self.now + self.updates
        only_read = self._only_looked_at + self.of[Status.TO_WITHDRAW] + self.closes
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
    row; all that is kept of it is counted, or the few findings that are named.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.standings = Counter[Standing]()
        """Number of listed paths that stand in each way, in all repositories together."""
        self.with_finding: dict[Standing, list[RegistrationResult]] = {}
        """The first `MOST_NAMED` rows with paths that deserve a look, also complete ones."""
        self.rows_with = Counter[Standing]()
        """Number of all rows with such paths."""
        self.repositories = 0
        """Number of selected repositories."""
        self.lists = Counter[Status]()
        """Number of lists in each state: with two lists, two for each repository."""
        self._states: dict[str, Status] = {}
        """How each repository stands, by its name in lower case."""
        self._completeness: dict[str, Completeness] = {}
        """How far the lists are carried out in each repository, by its name in lower case."""
        self._has_failed = False
        self.rows: list[RegistrationResult] = []
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

    def add(self, row: RegistrationResult) -> None:
        """Keep how one list in one repository ended."""
        status, name = row.status, row.spec.repository.full_name.lower()
        self.lists[status] += 1
        of_others = self._states.get(name, status)
        self._states[name] = min(of_others, status, key=lambda status: status.place)
        known = self._completeness.get(name, Completeness.COMPLETE)
        self._completeness[name] = min(known, row.completeness)
        self._has_failed |= row.fails_run
        if status is not Status.COMPLETE:
            self.rows.append(row)
        self.standings.update(row.standings)
        for finding in row.findings:
            self.rows_with[finding] += 1
            named = self.with_finding.setdefault(finding, [])
            if len(named) < MOST_NAMED:
                named.append(row)

    def note_read(self, previewed: RegistrationResult) -> None:
        """Keep what is missing in one repository, and what the rules of its list make of it."""
        if self.settings.mode.only_reads:
            for file in (*previewed.to_create, *previewed.to_update):
                self._note_content(file, previewed)
        label = previewed.spec.files.label
        self.rules.update((label, number) for number in previewed.fitting)
        self.replaced.update(previewed.replaced)
        self.unused_parts.update(previewed.unused_parts)
        for file in previewed.files:
            if file.unset:
                those = self.unset.setdefault((file.path, file.unset), [])
                those.append(previewed.repository)

    def _note_content(self, result: ListedPath, previewed: RegistrationResult) -> None:
        file, replaces = result.definition, result.replaces
        own, *_ = file.texts
        key = (file.path, own.source, own.template, file.rule if file.parts else 0, replaces)
        if not (content := self.contents.get(key)):
            possible = previewed.spec.files.possible
            listed = {(each.path, each.rule): each for each in possible}[file.path, file.rule]
            content = Content(listed, file, previewed.repository, replaces)
        self.contents[key] = content.with_one(file, previewed.repository)

    def note_blobs(self, blobs: Mapping[str, bytes]) -> None:
        """Keep the contents that would be replaced, by the ids of the blobs."""
        for key, content in self.contents.items():
            self.contents[key] = content._replace(before=blobs.get(content.replaces))

    def stop(self, reason: Message, exit_code: int) -> None:
        """Keep what ended the run; ``exit_code`` is of a signal where it is above others."""
        self.stopped = reason
        self.cancelled = exit_code if exit_code > EXIT_CANCELLED else 0

    @property
    def counts(self) -> Counter[Status]:
        """Number of repositories in each state: each is in one, the first of those of its lists."""
        return Counter(self._states.values())

    @property
    def incomplete(self) -> int:
        """Number of repositories in which something is left to do about a listed path."""
        return sum(each < Completeness.DONE for each in self._completeness.values())

    @property
    def findings(self) -> Mapping[Standing, int]:
        """Number of paths that deserve a look, by how they stand."""
        return {each: self.standings[each] for each in FINDINGS}

    def found(self, kind: FailOn) -> int:
        """Number of listed paths that ``kind`` is about, in all repositories together."""
        return kind.found_in(self.standings)

    @property
    def exit_code(self) -> int:
        """What the repositories make of the exit code; what is deferred is no failure."""
        fail_on = self.settings.fail_on
        # Of what was not read nobody knows
        fails_check = any(self.found(each) or self.lists[Status.UNREAD] for each in fail_on)
        failed = self._has_failed or fails_check
        return self.cancelled or (EXIT_FAILED if failed else EXIT_DONE)


class RunResult:
    """The growing result of any run: whatever ends it, what was done until then is here."""

    def __init__(self, registrations: Sequence[RegistrationResult] = ()) -> None:
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
