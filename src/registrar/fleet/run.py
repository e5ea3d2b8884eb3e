"""A run over many repositories: list, read, report the budget, write one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from registrar import registration
from registrar.cancellation import Cancellation
from registrar.errors import EXIT_CANCELLED, EXIT_DONE, Diagnostic, Refused
from registrar.fleet import budget as budgets
from registrar.fleet import publicity, schedule
from registrar.fleet.listing import Listing, make_listing
from registrar.fleet.reading import PullState, Reader, Reading, Task, queries_for
from registrar.inputs.settings import Settings
from registrar.jobs import Job
from registrar.models.fleet import Budget, FleetResult, FleetState, Row
from registrar.models.plan import Plan
from registrar.models.repository import PullRequest
from registrar.models.result import FAILED_STATES, PullRequestOperation, RegistrationResult
from registrar.models.selection import Selection, Shard
from registrar.models.spec import Mode, RegistrationSpec
from registrar.reporting import fleet as texts
from registrar.reporting.privacy import HiddenNames
from registrar.reporting.progress import Progress, Silence
from registrar.reporting.reporter import Reporter
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.client import GitHub

SAME_CAUSE = 5
"""So many failures in a row with one cause end the writing: it would be the same for the rest."""
_LIMIT = "limit."
"""Beginning of the messages of a limit that lasts for longer than the run may wait."""
_FOR_ALL = ("refusal.token_rejected", _LIMIT)
"""Beginnings of the messages that hold for every repository, and end the writing at once."""
_STATES = {
    None: FleetState.MISSING,
    PullState.TO_OPEN: FleetState.MISSING,
    PullState.TO_UPDATE: FleetState.MISSING,
    PullState.WAITING: FleetState.WAITING,
    PullState.DECLINED: FleetState.DECLINED,
}
"""How a repository with missing files stands, when nothing is written."""
_OPERATIONS = {
    PullRequestOperation.CREATED: FleetState.OPENED,
    PullRequestOperation.UPDATED: FleetState.UPDATED,
    PullRequestOperation.NONE: FleetState.WAITING,
}


class WorkItem(NamedTuple):
    """A task whose repository has missing files."""

    task: Task
    pull_state: PullState
    missing: int
    pull_request: PullRequest | None
    is_unread: bool
    """Whether the token may not read its pull requests."""


class Fleet(NamedTuple):
    """One run; ``result`` grows while it goes on, whatever ends it."""

    github: GitHub
    settings: Settings
    selection: Selection
    jobs: Sequence[Job]
    reporter: Reporter
    names: HiddenNames
    cancellation: Cancellation
    result: FleetResult

    @property
    def shard(self) -> Shard:
        """The part of the repositories that this run works on."""
        return self.settings.shard or Shard()

    def run(self) -> None:
        """List, read, report the budget, write.

        Raises:
            Refused: nothing was written.
            GitHubError: repositories could not be listed or read.
            OutOfTime: GitHub's limits last for longer than we may wait.
            Cancelled: a signal arrived.
        """
        settings, result = self.settings, self.result
        end = self.cancellation.clock.monotonic() + settings.max_seconds
        self.github.check_token()
        client = self.github.many()
        with self.reporter.group("fleet.group_list"):
            listing = make_listing(client, self.selection, self.shard, settings.workflow_repository)
            if publicity.is_public(settings, listing.found.values(), client):
                texts_of_caller = (settings.branch, settings.title, settings.commit_message)
                self.names.hide(listing.found.values(), texts_of_caller)
            self._report_not_found(listing)
        in_shard = len(listing.selected) + listing.excluded.total()
        if not listing.selected and not listing.not_found and not settings.shard:
            raise Refused(msg("fleet.nothing_selected", found=in_shard))
        reader = Reader(self.github, client, self.cancellation.clock, end)
        with self.reporter.group("fleet.group_read", count=len(listing.selected)):
            items = self._read(reader, listing)
        result.budget = budgets.make_budget(
            budgets.Read(
                in_shard,
                listing.excluded,
                reader.queries,
                client.points_left,
                Counter(item.pull_state for item in items),
                sum(item.is_unread for item in items),
            ),
            budgets.Bounds(
                settings.max_pull_requests,
                settings.max_seconds,
                budgets.writes_of(settings.pull_request),
                self.shard,
            ),
        )
        result.repositories = result.budget.selected
        for sentence in texts.budget_sentences(result.budget):
            self.reporter.line(sentence)
        todo = [item for item in items if item.pull_state is not PullState.DECLINED]
        if settings.mode is Mode.REGISTER and todo:
            with self.reporter.group("fleet.group_write", count=len(todo)):
                self._write(self._ordered(todo), result.budget, end)
        for note in texts.notes(result):
            self.reporter.line(note)
        self.reporter.line(texts.outcome(result))

    # --- Listing and reading --------------------------------------------------------------

    def _report_not_found(self, listing: Listing) -> None:
        rows = [
            Row(name, job.profile.name, FleetState.FAILED, reason=reason)
            for name, reason in listing.not_found.items()
            for job in self.jobs
        ]
        for number, row in enumerate(rows, start=1):
            self._report(row, number, len(rows))

    def _read(self, reader: Reader, listing: Listing) -> list[WorkItem]:
        """Read every repository, report what is final, and give those with missing files."""
        tasks = [Task(repository, job) for repository in listing.selected for job in self.jobs]
        budgets.require_points(queries_for(tasks), points_left=reader.client.points_left)
        items: list[WorkItem] = []
        left_out = set[int]()
        for number, reading in enumerate(reader.read(tasks), start=1):
            repository = reading.task.repository
            if reading.exclusion:
                if repository.id not in left_out:
                    listing.excluded[reading.exclusion] += 1
                left_out.add(repository.id)
                continue
            row, pull_state = self._row_of(reading), reading.pull_state
            if pull_state:
                is_unread = bool(reading.plan and reading.plan.state.unreadable)
                items.append(
                    WorkItem(reading.task, pull_state, row.missing, row.pull_request, is_unread)
                )
                if self.settings.mode is Mode.REGISTER and pull_state is not PullState.DECLINED:
                    continue
            self._report(row, number, len(tasks))
        return items

    def _row_of(self, reading: Reading) -> Row:
        """How a repository stands after it was read, when nothing is going to be written."""
        task, plan = reading.task, reading.plan
        state, reason = FleetState.COMPLETE, reading.error
        if plan:
            self.names.renamed(task.repository.full_name, plan.repository.full_name)
        if plan is None:
            state = FleetState.FAILED
        elif plan.missing or plan.blocked or plan.declined:
            if self.settings.mode is not Mode.REGISTER:
                self.result.registrations.append(self._previewed(reading, plan))
            state = _STATES[reading.pull_state]
            if plan.blocked:
                path, parent = next(iter(plan.blocked.items()))
                state, reason = FleetState.FAILED, msg("fleet.blocked", path=path, parent=parent)
        return Row(
            task.repository.full_name,
            task.job.profile.name,
            state,
            task.repository.html_url,
            len(plan.missing) + len(plan.blocked) + len(plan.declined) if plan else 0,
            reason,
            reading.pull_request,
        )

    def _previewed(self, reading: Reading, plan: Plan) -> RegistrationResult:
        client = self.github.client(plan.repository.full_name)
        progress = self._progress(plan.spec, reading.task.job)
        return registration.preview(client, plan, reading.found, progress)

    # --- Writing --------------------------------------------------------------------------

    def _ordered(self, todo: Sequence[WorkItem]) -> list[WorkItem]:
        """Open pull requests first, then an order that starves none when the cap cuts it."""
        day = datetime.fromtimestamp(self.cancellation.clock.time(), UTC).date()
        ids = {item.task.repository.id for item in todo}
        place = {number: index for index, number in enumerate(schedule.in_order(ids, day))}
        return sorted(
            todo,
            key=lambda item: (item.pull_state is PullState.TO_OPEN, place[item.task.repository.id]),
        )

    def _write(self, todo: Sequence[WorkItem], budget: Budget, end: float) -> None:
        """Register in one repository after the other, until something ends it."""
        settings = self.settings
        writes = budgets.writes_of(settings.pull_request)
        cap = self.shard.share(settings.max_pull_requests)
        left = budget.writes
        opened, most = 0, 1
        self._keep_distance(left, 0, end)
        causes: list[str] = []
        for number, item in enumerate(todo, start=1):
            write_at = self.cancellation.clock.monotonic() + self.github.seconds_until(most)
            if not self.result.stopped and write_at >= end:
                self.result.stopped = msg("fleet.out_of_minutes", minutes=settings.max_seconds / 60)
                self.reporter.line(self.result.stopped)
            is_new = item.pull_state is PullState.TO_OPEN
            if self.result.stopped or (is_new and opened >= cap):
                self._report(self._left_alone(item), number, len(todo))
                continue
            made = self.github.writes
            row, done = self._register(item)
            most = max(most, self.github.writes - made)
            opened += done.operation is PullRequestOperation.CREATED
            left = max(left - writes.get(item.pull_state, 0), 0)
            seconds_left = self._keep_distance(left, budget.writes - left, end)
            self._report(row, number, len(todo), seconds_left)
            self._end_if_needed(row, done, causes)

    def _keep_distance(self, planned: int, done: int, end: float) -> float:
        """Choose the distance for what is ``planned``, and give the seconds that it takes."""
        made = self.github.writes
        left = schedule.writes_left(planned, done=done, made=made)
        # The shards write one after the other, so that an hour may see several of them
        distance = schedule.distance((made + left) * self.shard.total)
        self.github.keep_distance(distance, end)
        return left * self.github.distance

    def _end_if_needed(self, row: Row, done: RegistrationResult, causes: list[str]) -> None:
        """End the writing where the other repositories would end alike."""
        why = _why(done)
        chain = texts.chain(why)
        for_all = next((each for each in chain if each.key.startswith(_FOR_ALL)), None)
        if done.exit_code > EXIT_CANCELLED:
            self.result.cancelled, self.result.stopped = done.exit_code, why
        elif for_all:
            self.result.stopped = msg("fleet.stopped", reason=for_all)
        elif row.state is not FleetState.FAILED or row.pull_request:
            causes.clear()
        elif chain:
            same = texts.cause_id(row)
            causes[:] = [*causes, same] if causes[-1:] == [same] else [same]
            if len(causes) == SAME_CAUSE:
                reason = texts.cause(row)
                self.result.stopped = msg("fleet.same_cause", count=SAME_CAUSE, reason=reason)
        if self.result.stopped:
            self.reporter.warn(Diagnostic(self.result.stopped))

    def _register(self, item: WorkItem) -> tuple[Row, RegistrationResult]:
        """Do the ordinary registration, which reads the repository again first."""
        repository, job = item.task.repository, item.task.job
        spec = job.spec(repository.full_name)
        client = self.github.client(spec.target)
        done = registration.register(client, spec, job.proposal, self._progress(spec, job))
        self.cancellation.stop_timer()
        self.names.renamed(repository.full_name, done.repository)
        if done.pull_request:
            self.names.renamed(repository.full_name, done.pull_request.repository)
        self.result.registrations.append(done)
        if _was_interrupted(done) and not client.wrote and not done.failed:
            return self._left_alone(item), done
        state = _OPERATIONS[done.operation]
        if done.exit_code != EXIT_DONE:
            state = FleetState.FAILED
        elif not done.pull_request:
            state = FleetState.DECLINED if done.missing else FleetState.COMPLETE
        row = Row(
            repository.full_name,
            job.profile.name,
            state,
            repository.html_url,
            done.missing if done.files else item.missing,
            _why(done) if state is FleetState.FAILED else None,
            done.pull_request,
        )
        return row, done

    def _left_alone(self, item: WorkItem) -> Row:
        """How a repository stands that is left for the next run: nothing was written in it."""
        repository = item.task.repository
        return Row(
            repository.full_name,
            item.task.job.profile.name,
            FleetState.WAITING if item.pull_state is PullState.WAITING else FleetState.DEFERRED,
            repository.html_url,
            item.missing,
            pull_request=item.pull_request,
        )

    # --- Reporting --------------------------------------------------------------------------

    def _progress(self, spec: RegistrationSpec, job: Job) -> Progress:
        nothing_yet = RegistrationResult(job.profile.name, spec.target, spec.mode)
        return Progress(nothing_yet, Silence(), self.reporter.catalogue)

    def _report(self, row: Row, number: int, total: int, seconds_left: float = 0.0) -> None:
        self.result.add(row)
        if row.state is not FleetState.COMPLETE:
            self.reporter.line(texts.row_line(row, number, total, seconds_left))


def _why(done: RegistrationResult) -> Message | None:
    """What ended a registration, or why a file of it failed; ``None`` where all is well."""
    failed = (file.reason for file in done.files if file.state in FAILED_STATES)
    return done.error or next(failed, None)


def _was_interrupted(done: RegistrationResult) -> bool:
    """Whether a limit or a signal ended a registration: the next run does it as if new."""
    limits = (each for each in texts.chain(done.error) if each.key.startswith(_LIMIT))
    return done.exit_code > EXIT_CANCELLED or any(limits)
