"""A run over many repositories: list, read, report the budget, write one after the other."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from registrar.errors import Diagnostic, Refused
from registrar.github.limits import Resource
from registrar.many import writing
from registrar.many.listing import Listing, is_public, make_listing, may_be_public
from registrar.many.reading import Reader, unread
from registrar.models.repository import Repository
from registrar.models.result import RegistrationResult, Status
from registrar.models.run_result import Budget, ManyResult, RunResult
from registrar.models.selection import Selection
from registrar.models.settings import FailOn, Mode, Settings
from registrar.models.spec import FileList, RegistrationSpec
from registrar.presence.planning import require_known_properties
from registrar.registration.base import read_blobs
from registrar.registration.run import register
from registrar.reporting import sentences
from registrar.reporting.reporter import Reporter
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.bulk import BulkClient
    from registrar.github.client import GitHub

_TO_REGISTER = frozenset({Status.TO_OPEN, Status.TO_UPDATE, Status.WAITING})
_ABSENT = (FailOn.MISSING, FailOn.DECLINED, FailOn.UNSET)


@dataclass
class ManyRun:
    """One run; its result grows while it goes on, whatever ends it."""

    github: "GitHub"
    settings: Settings
    lists: Sequence[FileList]
    reporter: Reporter
    cancellation: Cancellation
    of_run: RunResult

    def __post_init__(self) -> None:
        self.result = self.of_run.many = ManyResult(self.settings)
        self.registrations = self.of_run.registrations
        """What was done, or would be, in each repository with missing files."""
        self._end = self.cancellation.clock.monotonic() + self.settings.max_seconds
        """Moment (monotonic) of the run's end."""
        self.github.limits.pace.end = self._end
        self._todo: list[RegistrationResult] = []
        """What a run that writes has read of the repositories in which something is left to do."""
        self._left_to_do = Counter[Status]()
        """What the reading has left to do, or would be."""
        self._unknown = 0
        """Number of repositories whose pull requests the token may not read."""
        self._withdrawable = 0

    def run(self, selection: Selection) -> None:
        """List, read, report the budget, write."""
        result, reporter = self.result, self.reporter
        reporter.redaction.is_log_public = may_be_public(self.settings)
        self.github.check_token()
        client = self.github.many(self._require_time)
        with reporter.group("fleet.group_list"):
            listing = self._list(client, selection)
        in_shard = len(listing.selected) + listing.excluded.total()
        self._note_selected(in_shard, listing)
        reader = Reader(self.github, client, self.cancellation, reporter, self._end)
        with reporter.group("fleet.group_read", count=len(listing.selected)):
            self._read(reader, listing)
        # Only reading tells which repositories are empty or locked
        self._note_selected(in_shard, listing)
        read = Budget(
            in_shard,
            listing.excluded,
            reader.queries,
            self.github.limits.remaining(Resource.GRAPHQL),
            self._left_to_do,
            self._unknown,
            self._withdrawable,
        )
        result.budget = writing.with_writing(read, self.settings)
        planned = sentences.budget(result.budget, self.settings.mode)
        for sentence in (*sentences.read(result.budget), *planned):
            reporter.line(sentence)
        if self._todo:
            self._write(result.budget.writes)
        replaced = {each.replaces: each.of for each in result.contents.values() if each.replaces}
        result.note_blobs(read_blobs(self.github.client, replaced))
        reporter.contents(result)
        for sentence in (*sentences.notes(self.registrations), *sentences.closing(result)):
            reporter.line(sentence)

    # --- Which repositories ---------------------------------------------------------------------

    def _list(self, client: "BulkClient", selection: Selection) -> Listing:
        settings, redaction = self.settings, self.reporter.redaction
        of_lists = (files.property_names for files in self.lists)
        asked = selection.property_names.union(settings.property_names, *of_lists)
        listing = make_listing(client, selection._replace(with_properties=bool(asked)), settings)
        redaction.is_log_public = is_public(settings, listing.by_id.values(), client)
        require_known_properties(asked, listing.by_id.values(), is_public=redaction.is_log_public)
        for name, failure in listing.not_found.items():
            for spec in self._specs([Repository(name)]):
                failed = RegistrationResult(spec, spec.repository, Status.FAILED, failure=failure)
                self._add(failed)
        if asked and (persons := {each.owner for each in listing.by_id.values() if each.of_person}):
            self._note(msg("progress.no_properties", owners=sorted(persons)))
        for repository, reason in listing.left_out:
            for spec in self._specs([repository]):
                self.reporter.record(unread(spec)._replace(exclusion=reason))
        return listing

    def _require_time(self) -> None:
        if self.cancellation.clock.monotonic() >= self._end:
            minutes = self.settings.max_seconds / 60
            raise Refused(msg("fleet.listing_took_too_long", minutes=minutes))

    def _specs(self, repositories: Iterable[Repository]) -> list[RegistrationSpec]:
        return [
            RegistrationSpec(self.settings, files, repository)
            for repository in repositories
            for files in self.lists
        ]

    def _note_selected(self, in_shard: int, listing: Listing) -> None:
        """Keep how many repositories are selected; none is an error, except in a shard."""
        self.result.repositories = in_shard - listing.excluded.total()
        if self.result.repositories or listing.not_found or self.settings.shard:
            return
        if not in_shard:
            raise Refused(msg("fleet.nothing_found"))
        parts = sentences.left_out(listing.excluded)
        raise Refused(msg("fleet.nothing_selected", found=in_shard, parts=parts))

    # --- How they stand -------------------------------------------------------------------------

    def _read(self, reader: Reader, listing: Listing) -> None:
        specs = self._specs(listing.selected)
        reader.require_enough(specs)
        alone: list[RegistrationSpec] = []
        excluded_ids, result = set[int](), self.result
        result.rules.update({(f.label, r.number): 0 for f in self.lists for r in f.rules})
        for read in reader.read(specs):
            if read.exclusion:
                if read.repository.id not in excluded_ids:
                    listing.excluded[read.exclusion] += 1
                excluded_ids.add(read.repository.id)
                self.reporter.record(read)
            elif read.status is Status.UNREAD:
                alone.append(read.spec)
            else:
                self._take(read)
        if alone:
            self.reporter.line(msg("fleet.alone", count=len(alone)))
        for read in reader.read_alone(alone):
            self._take(read)
        is_public = self.reporter.redaction.is_log_public
        for note in sentences.rules(result, self.lists, is_public=is_public):
            self._note(note)

    def _take(self, read: RegistrationResult) -> None:
        registers, left_to_do = self.settings.mode is Mode.REGISTER, read.left_to_do
        self.result.note_read(read)
        self._unknown += not read.knows_pull_requests
        self._withdrawable += read.withdrawable > 0
        if left_to_do is not Status.COMPLETE:
            self._left_to_do[left_to_do] += 1
        if (registers and left_to_do in _TO_REGISTER) or left_to_do is Status.TO_WITHDRAW:
            self._todo.append(read)
            return
        if read.failed or (not registers and any(map(read.found, _ABSENT))):
            self.registrations.append(read)
        self._add(read)
        self.reporter.record(read)

    def _note(self, note: Message) -> None:
        self.result.notes.append(note)
        self.reporter.line(note)

    # --- What is done ---------------------------------------------------------------------------

    def _write(self, expected: int) -> None:
        """Register in one repository after the other, until something ends it.

        ``expected`` are the writes that this takes.
        """
        today = datetime.fromtimestamp(self.cancellation.clock.time(), UTC).date()
        todo = writing.in_order(self._todo, today)
        withdraws = self.settings.mode is Mode.WITHDRAW
        heading = "fleet.group_withdraw" if withdraws else "fleet.group_write"
        with self.reporter.group(heading, count=len(todo)):
            gate = writing.Gate(self.settings, self.github.limits.pace, self.cancellation)
            writes_each = writing.writes_of(self.settings.pull_request)
            left = expected
            self._set_pace(expected, 0)
            for number, read in enumerate(todo, start=1):
                place = (number, len(todo))
                if not (self.result.stopped or gate.has_time):
                    minutes = self.settings.max_seconds / 60
                    self.result.stopped = msg("fleet.out_of_minutes", minutes=minutes)
                    self.reporter.line(self.result.stopped)
                if self.result.stopped or not gate.takes(read):
                    self._add(writing.left_alone(read), place)
                    self.reporter.record(read)
                    continue
                done, row = self._register(read, gate)
                left = max(left - writes_each.get(read.left_to_do, 0), 0)
                self._add(row, place, self._set_pace(left, expected - left))
                self.reporter.record(row)
                if reason := writing.why_stop(done, gate):
                    self.result.stop(reason, done.exit_code)
                    self.reporter.warn(Diagnostic(reason))

    def _set_pace(self, left: int, done: int) -> float:
        """Set the pace for what is left of the plan, and give the seconds that it takes."""
        pace = self.github.limits.pace
        left = writing.writes_left(left, done=done, made=pace.writes)
        # The shards write one after the other, so that an hour may see several of them
        pace.expect((pace.writes + left) * self.settings.part.total, end=self._end)
        return left * pace.interval

    def _register(
        self, read: RegistrationResult, gate: writing.Gate
    ) -> tuple[RegistrationResult, RegistrationResult]:
        """Do the ordinary registration, which reads the repository again first.

        Gives what it did, and how the repository stands then.
        """
        writes_before = self.github.limits.pace.writes
        client = self.github.client(read.spec.target)
        done = register(client, read.spec, self.reporter)
        self.cancellation.stop_timer()
        self.registrations.append(done)
        row = writing.ended(read, done, wrote=client.session.wrote)
        wrote = writing.may_have_written(read, done, client)
        gate.note(row, writes=self.github.limits.pace.writes - writes_before, wrote=wrote)
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
