"""A run over many repositories: list, read, report the budget, write one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from registrar.errors import Diagnostic, Refused
from registrar.file_lists import FileList
from registrar.fleet import budget as budgets
from registrar.fleet.listing import Listing, is_public, make_listing, may_be_public
from registrar.fleet.reading import Reader, queries_for
from registrar.fleet.targets import Reading, Target
from registrar.fleet.writing import (
    Gate,
    in_order,
    left_alone,
    may_have_opened,
    row_after,
    why_stop,
    writes_left,
)
from registrar.inputs.settings import Settings
from registrar.models.fleet import (
    Budget,
    Counts,
    FleetResult,
    FleetRow,
    FleetState,
    PullState,
)
from registrar.models.result import FileResult, RegistrationResult, State
from registrar.models.selection import ListedRepository, Selection
from registrar.models.spec import Chosen, Mode
from registrar.registration.progress import Progress
from registrar.registration.run import preview, register
from registrar.reporting import fleet_messages
from registrar.reporting.reporter import Reporter
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.client import GitHub


@dataclass
class Fleet:
    """One run; its result grows while it goes on, whatever ends it."""

    github: GitHub
    settings: Settings
    lists: Sequence[FileList]
    reporter: Reporter
    cancellation: Cancellation
    result: FleetResult
    registrations: list[RegistrationResult]
    """What was done, or would be, in each repository with missing files."""

    def __post_init__(self) -> None:
        self._end = self.cancellation.clock.monotonic() + self.settings.max_seconds
        """Moment (monotonic) of the run's end."""

    def run(self, selection: Selection) -> None:
        """List, read, report the budget, write.

        Raises:
            Refused: nothing was written.
            GitHubError: repositories could not be listed or read.
            OutOfTime: GitHub's limits last for longer than we may wait.
            Cancelled: a signal arrived.
        """
        settings, result, reporter = self.settings, self.result, self.reporter
        reporter.hidden_names.begin(may_be_public=may_be_public(settings))
        self.github.check_token()
        client = self.github.many()
        asks = selection.with_properties or any(files.asks_for_properties for files in self.lists)
        with reporter.group("fleet.group_list"):
            listing = make_listing(
                client,
                selection._replace(with_properties=asks),
                settings.part,
                settings.workflow_repository,
                self._require_time,
            )
            reporter.hidden_names.hide(
                listing.by_id.values(),
                (settings.branch, settings.title, settings.commit_message),
                property_names={n for files in self.lists for n in files.proposal.property_names},
                lists=[files.profile.name for files in self.lists],
                is_public=is_public(settings, listing.by_id.values(), client),
            )
            self._report_not_found(listing)
            if asks:
                self._report_persons(listing)
            for repository, reason in listing.left_out:
                for files in self.lists:
                    self._record_unread(Target(repository, files), f"excluded: {reason}")
        in_shard = len(listing.selected) + listing.excluded.total()
        self._note_selected(in_shard, listing)
        reader = Reader(self.github, client, self.cancellation.clock, self._end)
        with reporter.group("fleet.group_read", count=len(listing.selected)):
            items = self._read(reader, listing)
        # Only reading tells which repositories are empty or locked
        self._note_selected(in_shard, listing)
        result.budget = self._make_budget(in_shard, listing, reader, items)
        for sentence in fleet_messages.budget_sentences(result.budget):
            reporter.line(sentence)
        if settings.mode is Mode.REGISTER:
            self._write(items, result.budget.writes)
        for note in fleet_messages.notes(self.registrations):
            reporter.line(note)
        reporter.line(fleet_messages.outcome(result))
        if evidence := fleet_messages.evidence(result):
            reporter.line(evidence)

    def _require_time(self) -> None:
        """Refuse to list for longer than the run may take.

        Raises:
            Refused: its end has come.
        """
        if self.cancellation.clock.monotonic() >= self._end:
            minutes = self.settings.max_seconds / 60
            raise Refused(msg("fleet.listing_took_too_long", minutes=minutes))

    def _note_selected(self, in_shard: int, listing: Listing) -> None:
        """Keep how many repositories are selected; none is an error, except in a shard.

        Raises:
            Refused: nothing is selected.
        """
        self.result.repositories = in_shard - listing.excluded.total()
        if self.result.repositories or listing.not_found or self.settings.shard:
            return
        if not in_shard:
            raise Refused(msg("fleet.nothing_found"))
        parts = fleet_messages.left_out(listing.excluded)
        raise Refused(msg("fleet.nothing_selected", found=in_shard, parts=parts))

    def _report_not_found(self, listing: Listing) -> None:
        for name, failure in listing.not_found.items():
            for files in self.lists:
                profile, list_name = files.profile.name, files.list_name
                row = FleetRow(name, profile, list_name, FleetState.FAILED, failure=failure)
                self._add(row)

    def _read(self, reader: Reader, listing: Listing) -> list[Reading]:
        """Read every repository, report what is final, and give the ones with missing files."""
        targets = [
            Target(repository, files) for repository in listing.selected for files in self.lists
        ]
        paths = sum(len(files.spec("o/r").possible) for files in self.lists)
        budgets.require_memory(paths * len(listing.selected))
        budgets.require_points(queries_for(targets), points_left=reader.client.points_left)
        items: list[Reading] = []
        excluded_ids, result = set[int](), self.result
        result.rules.update({(f.list_name, r.number): 0 for f in self.lists for r in f.rules})
        for reading in reader.read(targets):
            repository, plan = reading.target.repository, reading.plan
            if reading.exclusion:
                self._record_unread(reading.target, f"excluded: {reading.exclusion}")
                if repository.id not in excluded_ids:
                    listing.excluded[reading.exclusion] += 1
                excluded_ids.add(repository.id)
                continue
            if plan:
                result.count_rules(reading.target.files.list_name, plan)
            evidence = None
            if plan is None:
                self._record_unread(reading.target)
            elif plan.missing_count or self.reporter.records.are_kept:
                files = reading.target.files
                nothing_yet = Progress(files.nothing_yet(plan.spec))
                previewed = preview(plan, reading.failure_or_decision, files.proposal, nothing_yet)
                evidence = self.reporter.evidence(previewed)
                if plan.missing_count and self.settings.mode is not Mode.REGISTER:
                    self.registrations.append(previewed)
            if reading.pull_state:
                is_final = reading.pull_state is PullState.DECLINED
                is_final |= self.settings.mode is not Mode.REGISTER
                items.append(reading.without_plan(None if is_final else evidence))
                if not is_final:
                    continue
            self._add(reading.row)
            self.reporter.record(evidence)
        for note in fleet_messages.rules(result):
            self._note(note)
        return items

    def _record_unread(self, target: Target, state: str = "") -> None:
        """Put a repository that was not read into table and page."""
        if not self.reporter.records.are_kept:
            return
        repository = target.repository
        nothing_yet = target.files.nothing_yet(target.spec)
        result = nothing_yet._replace(
            html_url=repository.html_url,
            repository_id=repository.id,
            visibility=repository.visibility,
            files=tuple(FileResult(each, State.PENDING) for each in target.files.definitions),
        )
        self.reporter.record(self.reporter.evidence(result, state))

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
            reader.client.points_left,
            Counter(item.pull_state for item in items if item.pull_state),
            sum(not item.is_known for item in items),
        )
        return budgets.make_budget(counts, self.settings)

    def _write(self, items: Sequence[Reading], expected: int) -> None:
        """Register in one repository after the other, until something ends it.

        ``expected`` are the writes that this takes.
        """
        today = datetime.fromtimestamp(self.cancellation.clock.time(), UTC).date()
        todo = in_order([i for i in items if i.pull_state is not PullState.DECLINED], today)
        if not todo:
            return
        with self.reporter.group("fleet.group_write", count=len(todo)):
            gate = Gate(self.settings, self.github.pace, self.cancellation)
            writes_each = budgets.writes_of(self.settings.pull_request)
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
                row, done = self._register(item, gate)
                left = max(left - writes_each.get(item.pull_state, 0), 0)
                self._add(row, place, self._set_pace(left, expected - left))
                evidence = self.reporter.evidence(done) if done.files else item.evidence
                self.reporter.record(evidence)
                if reason := why_stop(done, gate):
                    self.result.stop(reason, done.exit_code)
                    self.reporter.warn(Diagnostic(reason))

    def _set_pace(self, left: int, done: int) -> float:
        """Set the pace for what is left of the plan, and give the seconds that it takes."""
        pace = self.github.pace
        left = writes_left(left, done=done, made=pace.writes)
        # The shards write one after the other, so that an hour may see several of them
        pace.expect((pace.writes + left) * self.settings.part.total, end=self._end)
        return left * pace.interval

    def _register(self, item: Reading, gate: Gate) -> tuple[FleetRow, RegistrationResult]:
        """Do the ordinary registration, which reads the repository again first."""
        repository, files = item.target.repository, item.target.files
        before = self.github.pace.writes
        spec = item.target.spec._replace(
            facts=repository.facts,
            chosen=Chosen(repository.id, item.node_id, partial(self._may_be_called, repository)),
        )
        client = self.github.client(spec.target)
        done = register(client, spec, files.proposal, Progress(files.nothing_yet(spec)))
        self.cancellation.stop_timer()
        if done.pull_request:
            seen = self.reporter.hidden_names.seen
            seen(repository.full_name, done.pull_request.repository)
        self.registrations.append(done)
        row = row_after(item, done, wrote=client.wrote)
        writes, opened = self.github.pace.writes - before, may_have_opened(item, done, client)
        gate.note(row, writes=writes, opened=opened)
        return row, done

    def _may_be_called(self, repository: ListedRepository, full_name: str) -> bool:
        """Whether a repository is selected by the name that it has by now."""
        selection = self.settings.selection
        is_unchanged = full_name.lower() == repository.full_name.lower()
        return is_unchanged or bool(selection and selection.takes(full_name))

    def _add(
        self, row: FleetRow, place: tuple[int, int] | None = None, seconds_left: float = 0.0
    ) -> None:
        """Keep a row, and print it unless nothing is missing.

        ``place`` is its number and the number of all rows, where that is known.
        """
        self.result.add(row)
        if row.state is not FleetState.COMPLETE:
            names_list = len(self.lists) > 1
            line = fleet_messages.row_line(row, place, seconds_left, names_list=names_list)
            self.reporter.line(line)
