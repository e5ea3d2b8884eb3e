"""A run over many repositories: list, read, report the budget, write one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from registrar.cancellation import Cancellation
from registrar.errors import Refused
from registrar.file_lists import FileList
from registrar.fleet import budget as budgets
from registrar.fleet import publicity
from registrar.fleet.listing import Listing, make_listing
from registrar.fleet.reading import Reader, queries_for
from registrar.fleet.rows import Rows
from registrar.fleet.targets import Reading, Target
from registrar.fleet.writing import Writer
from registrar.inputs.settings import Settings
from registrar.models.fleet import Budget, Counts, FleetRow, FleetState, PullState
from registrar.models.plan import Plan
from registrar.models.result import FileResult, RegistrationResult, State
from registrar.models.rules import Replaced
from registrar.models.selection import Selection
from registrar.models.spec import Mode
from registrar.registration.plan import place_of
from registrar.registration.run import preview
from registrar.reporting import fleet_messages
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.client import GitHub


class Fleet:
    """One run; its result, in ``rows``, grows while it goes on, whatever ends it."""

    def __init__(
        self,
        github: GitHub,
        settings: Settings,
        lists: Sequence[FileList],
        rows: Rows,
        cancellation: Cancellation,
    ) -> None:
        """Nothing is sent before `run`."""
        self.github = github
        self.settings = settings
        self.lists = lists
        self.rows = rows
        self.cancellation = cancellation

    def run(self, selection: Selection) -> None:
        """List, read, report the budget, write.

        Raises:
            Refused: nothing was written.
            GitHubError: repositories could not be listed or read.
            OutOfTime: GitHub's limits last for longer than we may wait.
            Cancelled: a signal arrived.
        """
        settings, result, reporter = self.settings, self.rows.result, self.rows.reporter
        end = self.cancellation.clock.monotonic() + settings.max_seconds
        reporter.hidden_names.begin(may_be_public=publicity.may_be_public(settings))
        self.github.check_token()
        client = self.github.many()
        asks = selection.with_properties or any(files.asks_for_properties for files in self.lists)
        with reporter.group("fleet.group_list"):
            listing = make_listing(
                client,
                selection._replace(with_properties=asks),
                settings.part,
                settings.workflow_repository,
                lambda: self._require_time(end),
            )
            reporter.hidden_names.hide(
                listing.found.values(),
                (settings.branch, settings.title, settings.commit_message),
                property_names={n for files in self.lists for n in files.proposal.property_names},
                lists=[files.profile.name for files in self.lists],
                is_public=publicity.is_public(settings, listing.found.values(), client),
            )
            self._report_not_found(listing)
            if asks:
                self._report_persons(listing)
            for repository, reason in listing.left_out:
                for files in self.lists:
                    self._record_unread(Target(repository, files), f"excluded: {reason}")
        in_shard = len(listing.selected) + listing.excluded.total()
        self._note_selected(in_shard, listing)
        reader = Reader(self.github, client, self.cancellation.clock, end)
        with reporter.group("fleet.group_read", count=len(listing.selected)):
            items = self._read(reader, listing)
        # Only reading tells which repositories are empty or locked
        self._note_selected(in_shard, listing)
        result.budget = self._make_budget(in_shard, listing, reader, items)
        for sentence in fleet_messages.budget_sentences(result.budget):
            reporter.line(sentence)
        if settings.mode is Mode.REGISTER:
            self._write(items, result.budget, end)
        for note in fleet_messages.notes(self.rows.registrations):
            reporter.line(note)
        reporter.line(fleet_messages.outcome(result))
        if evidence := fleet_messages.evidence(result):
            reporter.line(evidence)

    def _require_time(self, end: float) -> None:
        """Refuse to list for longer than the run may take.

        Raises:
            Refused: the moment ``end`` (monotonic) is over.
        """
        if self.cancellation.clock.monotonic() >= end:
            minutes = self.settings.max_seconds / 60
            raise Refused(msg("fleet.listing_took_too_long", minutes=minutes))

    def _note_selected(self, found: int, listing: Listing) -> None:
        """Keep how many repositories are selected; none is an error, except in a shard.

        Raises:
            Refused: nothing is selected.
        """
        self.rows.result.repositories = found - listing.excluded.total()
        if self.rows.result.repositories or listing.not_found or self.settings.shard:
            return
        if not found:
            raise Refused(msg("fleet.nothing_found"))
        parts = fleet_messages.left_out(listing.excluded)
        raise Refused(msg("fleet.nothing_selected", found=found, parts=parts))

    def _report_not_found(self, listing: Listing) -> None:
        rows = [
            FleetRow(
                name,
                files.profile.name,
                files.list_name,
                FleetState.FAILED,
                failure=failure,
            )
            for name, failure in listing.not_found.items()
            for files in self.lists
        ]
        for row in rows:
            self.rows.add(row)

    def _read(self, reader: Reader, listing: Listing) -> list[Reading]:
        """Read every repository, report what is final, and give those with missing files."""
        targets = [
            Target(repository, files) for repository in listing.selected for files in self.lists
        ]
        paths = sum(len(files.spec("o/r").possible) for files in self.lists)
        budgets.require_memory(paths * len(listing.selected))
        budgets.require_points(queries_for(targets), points_left=reader.client.points_left)
        items: list[Reading] = []
        left_out, rules = set[int](), self.rows.result.rules
        replaced, unset = Counter[Replaced](), Counter[tuple[str, str]]()
        rules.update({(files.list_name, r.number): 0 for files in self.lists for r in files.rules})
        for reading in reader.read(targets):
            repository, plan = reading.target.repository, reading.plan
            if reading.exclusion:
                self._record_unread(reading.target, f"excluded: {reading.exclusion}")
                if repository.id not in left_out:
                    listing.excluded[reading.exclusion] += 1
                left_out.add(repository.id)
                continue
            if plan:
                name = reading.target.files.list_name
                rules.update((name, number) for number in plan.fitting)
                replaced.update(plan.replaced)
                unset.update(plan.unset.items())
            evidence = None
            if plan is None:
                self._record_unread(reading.target)
            elif plan.missing_count or self.rows.are_recorded:
                previewed = self._previewed(reading, plan)
                evidence = self.rows.evidence(previewed)
                if plan.missing_count and self.settings.mode is not Mode.REGISTER:
                    self.rows.add_registration(previewed)
            if reading.pull_state:
                items.append(reading.without_plan(evidence))
                is_final = reading.pull_state is PullState.DECLINED
                if self.settings.mode is Mode.REGISTER and not is_final:
                    continue
            self.rows.add(reading.row)
            self.rows.record(evidence)
        self._report_rules(replaced, unset)
        return items

    def _record_unread(self, target: Target, state: str = "") -> None:
        """Put a repository that was not read into table and page."""
        if not self.rows.are_recorded:
            return
        repository = target.repository
        nothing_yet = target.files.nothing_yet(target.spec)
        result = nothing_yet._replace(
            html_url=repository.html_url,
            repository_id=repository.id,
            visibility=repository.visibility,
            files=tuple(FileResult(each, State.PENDING) for each in target.files.definitions),
        )
        self.rows.record(self.rows.evidence(result, state))

    def _report_persons(self, listing: Listing) -> None:
        """Say whose repositories can have no custom properties."""
        owners = {r.full_name.partition("/")[0] for r in listing.found.values() if r.of_person}
        if owners:
            self._note(msg("progress.no_properties", owners=sorted(owners)))

    def _report_rules(
        self, replaced: Mapping[Replaced, int], unset: Mapping[tuple[str, str], int]
    ) -> None:
        """Report to how many repositories each rule applies, and what deserves a note.

        ``replaced`` and ``unset``, by path and custom property, count repositories.
        """
        for files in self.lists:
            name, rules = files.list_name, self.rows.result.rules
            counts = {rule.number: rules[name, rule.number] for rule in files.rules}
            if parts := [msg("fleet.rule", number=n, count=count) for n, count in counts.items()]:
                self._note(msg("fleet.rules", list=name, parts=parts))
            if unfit := [number for number, count in counts.items() if not count]:
                self._note(msg("fleet.unfit_rules", list=name, numbers=unfit))
        for (path, earlier, later), count in replaced.items():
            places = {"earlier": place_of(earlier), "later": place_of(later)}
            taken = msg("progress.replaced", path=path, **places)
            self._note(msg("fleet.counted", note=taken, count=count))
        for (path, name), count in unset.items():
            skipped = msg("fleet.unset", path=path, name=name)
            self._note(msg("fleet.counted", note=skipped, count=count))

    def _note(self, note: Message) -> None:
        self.rows.result.notes.append(note)
        self.rows.reporter.line(note)

    def _previewed(self, reading: Reading, plan: Plan) -> RegistrationResult:
        client = self.github.client(plan.repository.full_name)
        progress = self.rows.progress(plan.spec, reading.target.files)
        proposal = reading.target.files.proposal
        return preview(client, plan, reading.failure_or_decision, proposal, progress)

    def _make_budget(
        self, found: int, listing: Listing, reader: Reader, items: Sequence[Reading]
    ) -> Budget:
        counts = Counts(
            found,
            listing.excluded,
            reader.queries,
            reader.client.points_left,
            Counter(item.pull_state for item in items if item.pull_state),
            sum(not item.is_known for item in items),
        )
        return budgets.make_budget(counts, self.settings)

    def _write(self, items: Sequence[Reading], budget: Budget, end: float) -> None:
        todo = [item for item in items if item.pull_state is not PullState.DECLINED]
        if not todo:
            return
        with self.rows.reporter.group("fleet.group_write", count=len(todo)):
            writer = Writer(self.github, self.settings, self.rows, self.cancellation)
            writer.write(todo, planned=budget.writes, end=end)
