"""A run over many repositories: list, read, report the budget, write one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from registrar.errors import Diagnostic, Refused
from registrar.github.limits import Resource
from registrar.many.listing import Listing, is_public, make_listing, may_be_public
from registrar.many.reading import (
    Reader,
    Reading,
    Target,
    queries_for,
    require_memory,
    require_points,
)
from registrar.many.writing import (
    Gate,
    ended,
    in_order,
    left_alone,
    make_budget,
    may_have_opened,
    why_stop,
    writes_left,
    writes_of,
)
from registrar.models.repository import Repository
from registrar.models.result import RegistrationResult, Status
from registrar.models.run_result import (
    Budget,
    Counts,
    ManyResult,
)
from registrar.models.selection import Exclusion, Selection
from registrar.models.settings import Mode, Settings
from registrar.models.spec import FileList, RegistrationSpec
from registrar.registration.progress import Progress
from registrar.registration.run import register
from registrar.reporting import sentences
from registrar.reporting.reporter import Reporter
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.client import GitHub


@dataclass
class ManyRun:
    """One run; its result grows while it goes on, whatever ends it."""

    github: GitHub
    settings: Settings
    lists: Sequence[FileList]
    reporter: Reporter
    cancellation: Cancellation
    result: ManyResult
    registrations: list[RegistrationResult]
    """What was done, or would be, in each repository with missing files."""

    def __post_init__(self) -> None:
        self._end = self.cancellation.clock.monotonic() + self.settings.max_seconds
        """Moment (monotonic) of the run's end."""

    def run(self, selection: Selection) -> None:
        """List, read, report the budget, write."""
        settings, result, reporter = self.settings, self.result, self.reporter
        reporter.redaction.is_log_public = may_be_public(settings)
        self.github.check_token()
        client = self.github.many()
        asks = selection.with_properties or any(files.asks_for_properties for files in self.lists)
        asks |= bool(settings.property_names)
        with reporter.group("fleet.group_list"):
            listing = make_listing(
                client,
                selection._replace(with_properties=asks),
                settings.part,
                settings.workflow_repository,
                self._require_time,
            )
            is_log_public = is_public(settings, listing.by_id.values(), client)
            reporter.redaction.is_log_public = is_log_public
            self._report_not_found(listing)
            if asks:
                self._report_persons(listing)
            for repository, reason in listing.left_out:
                for target in self._targets([repository]):
                    self._record_excluded(target, reason)
        in_shard = len(listing.selected) + listing.excluded.total()
        self._note_selected(in_shard, listing)
        reader = Reader(
            self.github, client, self.cancellation, self.reporter.texts, settings.mode, self._end
        )
        with reporter.group("fleet.group_read", count=len(listing.selected)):
            items = self._read(reader, listing)
        # Only reading tells which repositories are empty or locked
        self._note_selected(in_shard, listing)
        result.budget = self._make_budget(in_shard, listing, reader, items)
        for sentence in sentences.budget(result.budget):
            reporter.line(sentence)
        if settings.mode is Mode.REGISTER:
            self._write(items, result.budget.writes)
        for note in sentences.notes(self.registrations):
            reporter.line(note)
        reporter.line(sentences.outcome(result))
        if findings := sentences.findings(result.findings):
            reporter.line(findings)

    def _require_time(self) -> None:
        """Refuse to list for longer than the run may take."""
        if self.cancellation.clock.monotonic() >= self._end:
            minutes = self.settings.max_seconds / 60
            raise Refused(msg("fleet.listing_took_too_long", minutes=minutes))

    def _note_selected(self, in_shard: int, listing: Listing) -> None:
        """Keep how many repositories are selected; none is an error, except in a shard."""
        self.result.repositories = in_shard - listing.excluded.total()
        if self.result.repositories or listing.not_found or self.settings.shard:
            return
        if not in_shard:
            raise Refused(msg("fleet.nothing_found"))
        parts = sentences.left_out(listing.excluded)
        raise Refused(msg("fleet.nothing_selected", found=in_shard, parts=parts))

    def _report_not_found(self, listing: Listing) -> None:
        for name, failure in listing.not_found.items():
            for files in self.lists:
                spec, repository = (
                    RegistrationSpec(self.settings, files, name),
                    Repository(name),
                )
                self._add(RegistrationResult(spec, repository, Status.FAILED, failure=failure))

    def _targets(self, repositories: Iterable[Repository]) -> list[Target]:
        return [
            Target(self.settings, files, repository)
            for repository in repositories
            for files in self.lists
        ]

    def _read(self, reader: Reader, listing: Listing) -> list[Reading]:
        """Read every repository, report what is final, and give the ones with missing files."""
        targets = self._targets(listing.selected)
        paths = sum(len(files.possible) for files in self.lists)
        require_memory(paths * len(listing.selected))
        require_points(
            queries_for(targets), points_left=self.github.limits.remaining(Resource.GRAPHQL)
        )
        items: list[Reading] = []
        alone: list[Target] = []
        excluded_ids, result = set[int](), self.result
        result.rules.update({(f.label, r.number): 0 for f in self.lists for r in f.rules})
        for reading in reader.read(targets):
            if reading.exclusion:
                repository = reading.target.repository
                if repository.id not in excluded_ids:
                    listing.excluded[reading.exclusion] += 1
                excluded_ids.add(repository.id)
                self._record_excluded(reading.target, reading.exclusion)
            elif reading.status is Status.UNREAD:
                alone.append(reading.target)
            else:
                self._take(reading, items)
        if alone:
            self.reporter.line(msg("fleet.alone", count=len(alone)))
        for reading in reader.preview_alone(alone):
            self._take(reading, items)
        for note in sentences.rules(result):
            self._note(note)
        return items

    def _take(self, reading: Reading, items: list[Reading]) -> None:
        """Report a repository whose state is final; what is left to do is put into ``items``."""
        previewed, registers = reading.result, self.settings.mode is Mode.REGISTER
        self.result.note_read(previewed)
        evidence = self.reporter.evidence(previewed)
        if previewed.missing and not registers:
            self.registrations.append(previewed)
        is_final = not (registers and reading.is_left_to_do)
        items.append(reading.without_files(None if is_final else evidence))
        if is_final:
            self._add(previewed)
            self.reporter.record(evidence)

    def _record_excluded(self, target: Target, reason: Exclusion) -> None:
        """Put a repository that is not worked on into table and page."""
        self.reporter.record(self.reporter.evidence(target.unread, f"excluded: {reason}"))

    def _report_persons(self, listing: Listing) -> None:
        """Say whose repositories can have no custom properties."""
        owners = {r.full_name.partition("/")[0] for r in listing.by_id.values() if r.of_person}
        if owners:
            self._note(msg("progress.no_properties", owners=sorted(owners)))

    def _note(self, note: Message) -> None:
        self.result.notes.append(note)
        self.reporter.line(note)

    def _make_budget(
        self, in_shard: int, listing: Listing, reader: Reader, items: Sequence[Reading]
    ) -> Budget:
        counts = Counts(
            in_shard,
            listing.excluded,
            reader.queries,
            self.github.limits.remaining(Resource.GRAPHQL),
            Counter(item.status for item in items if item.status is not Status.COMPLETE),
            sum(not item.is_known for item in items),
        )
        return make_budget(counts, self.settings)

    def _write(self, items: Sequence[Reading], expected: int) -> None:
        """Register in one repository after the other, until something ends it.

        ``expected`` are the writes that this takes.
        """
        today = datetime.fromtimestamp(self.cancellation.clock.time(), UTC).date()
        todo = in_order([item for item in items if item.is_left_to_do], today)
        if not todo:
            return
        with self.reporter.group("fleet.group_write", count=len(todo)):
            gate = Gate(self.settings, self.github.limits.pace, self.cancellation)
            writes_each = writes_of(self.settings.pull_request)
            left = expected
            self._set_pace(expected, 0)
            for number, item in enumerate(todo, start=1):
                place = (number, len(todo))
                if not (self.result.stopped or gate.has_time):
                    minutes = self.settings.max_seconds / 60
                    self.result.stopped = msg("fleet.out_of_minutes", minutes=minutes)
                    self.reporter.line(self.result.stopped)
                if self.result.stopped or not gate.takes(item):
                    self._add(left_alone(item), place)
                    self.reporter.record(item.evidence)
                    continue
                done, row = self._register(item, gate)
                left = max(left - writes_each.get(item.status, 0), 0)
                self._add(row, place, self._set_pace(left, expected - left))
                evidence = self.reporter.evidence(done) if done.files else item.evidence
                self.reporter.record(evidence)
                if reason := why_stop(done, gate):
                    self.result.stop(reason, done.exit_code)
                    self.reporter.warn(Diagnostic(reason))

    def _set_pace(self, left: int, done: int) -> float:
        """Set the pace for what is left of the plan, and give the seconds that it takes."""
        pace = self.github.limits.pace
        left = writes_left(left, done=done, made=pace.writes)
        # The shards write one after the other, so that an hour may see several of them
        pace.expect((pace.writes + left) * self.settings.part.total, end=self._end)
        return left * pace.interval

    def _register(self, item: Reading, gate: Gate) -> tuple[RegistrationResult, RegistrationResult]:
        """Do the ordinary registration, which reads the repository again first.

        Gives what it did, and how the repository stands then.
        """
        target, before = item.target, self.github.limits.pace.writes
        client = self.github.client(target.spec.target)
        done = register(client, target.spec, self.reporter.texts, Progress(target.nothing_yet))
        self.cancellation.stop_timer()
        self.registrations.append(done)
        opened = may_have_opened(item, done, client)
        row = ended(item, done, wrote=client.wrote)
        gate.note(row, writes=self.github.limits.pace.writes - before, opened=opened)
        return done, row

    def _add(
        self,
        row: RegistrationResult,
        place: tuple[int, int] | None = None,
        seconds_left: float = 0.0,
    ) -> None:
        """Keep a row, and print it unless nothing is missing.

        ``place`` is its number and the number of all rows, where that is known.
        """
        self.result.add(row)
        if row.status is not Status.COMPLETE:
            names_list = len(self.lists) > 1
            line = sentences.line(row, place, seconds_left, names_list=names_list)
            self.reporter.line(line)
