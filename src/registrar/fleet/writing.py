"""Registers in one repository after the other, at GitHub's pace, until something ends it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from registrar.cancellation import Cancellation
from registrar.errors import EXIT_DONE, Diagnostic
from registrar.failure import ENDS_THE_WRITING, LEAVES_FOR_NEXT_RUN, Cause, Failure, Kind
from registrar.fleet import budget as budgets
from registrar.fleet import schedule
from registrar.fleet.rows import Rows
from registrar.fleet.tasks import PullState, WorkItem
from registrar.inputs.settings import Settings
from registrar.models.fleet import Budget, FleetResult, FleetRow, FleetState
from registrar.models.result import PullRequestOperation, RegistrationResult
from registrar.models.selection import ListedRepository, Shard
from registrar.models.spec import Chosen
from registrar.registration.run import register
from registrar.reporting.privacy import HiddenNames
from registrar.reporting.reporter import Reporter
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client, GitHub

SAME_CAUSE = 5
"""So many failures in a row with one cause end the writing: it would be the same for the rest."""
_OPERATIONS = {
    PullRequestOperation.CREATED: FleetState.OPENED,
    PullRequestOperation.UPDATED: FleetState.UPDATED,
    PullRequestOperation.NONE: FleetState.WAITING,
}


class Writer(NamedTuple):
    """The writing of one run."""

    github: GitHub
    settings: Settings
    shard: Shard
    budget: Budget
    end: float
    """Moment (monotonic) after which nothing new begins."""
    result: FleetResult
    rows: Rows
    reporter: Reporter
    hidden_names: HiddenNames
    cancellation: Cancellation

    def write(self, todo: Sequence[WorkItem]) -> None:
        """Register in one repository after the other, until something ends it."""
        settings, budget, end = self.settings, self.budget, self.end
        todo = self._ordered(todo)
        writes = budgets.writes_of(settings.pull_request)
        cap = self.shard.share(settings.max_pull_requests)
        left = budget.writes
        opened, largest = 0, 1
        self.github.end_writing_at(end)
        self._plan_interval(left, 0)
        causes: list[Cause] = []
        for number, item in enumerate(todo, start=1):
            # The next registration may take as many writes as the largest one so far
            write_at = self.cancellation.clock.monotonic() + self.github.seconds_until(largest)
            if not self.result.stopped and write_at >= end:
                self.result.stopped = msg("fleet.out_of_minutes", minutes=settings.max_seconds / 60)
                self.reporter.line(self.result.stopped)
            is_new = item.pull_state is PullState.TO_OPEN
            if self.result.stopped or (is_new and opened >= cap):
                self.rows.add(self._left_alone(item), (number, len(todo)))
                continue
            made = self.github.writes
            client = self.github.client(item.task.repository.full_name)
            row, done = self._register(item, client)
            largest = max(largest, self.github.writes - made)
            opened += done.operation is PullRequestOperation.CREATED or (
                # An answer may have been lost, and GitHub may not show yet what it had done
                is_new and (done.pull_request is not None or client.may_have_been_applied)
            )
            left = max(left - writes.get(item.pull_state, 0), 0)
            seconds_left = self._plan_interval(left, budget.writes - left)
            self.rows.add(row, (number, len(todo)), seconds_left)
            self._end_if_needed(row, done, causes)

    def _ordered(self, todo: Sequence[WorkItem]) -> list[WorkItem]:
        """Open pull requests first, then an order that starves none when the cap cuts it."""
        day = datetime.fromtimestamp(self.cancellation.clock.time(), UTC).date()
        ids = {item.task.repository.id for item in todo}
        place = {number: index for index, number in enumerate(schedule.in_order(ids, day))}
        return sorted(
            todo,
            key=lambda item: (item.pull_state is PullState.TO_OPEN, place[item.task.repository.id]),
        )

    def _plan_interval(self, planned: int, done: int) -> float:
        """Choose the interval for what is ``planned``, and give the seconds it takes."""
        made = self.github.writes
        left = schedule.writes_left(planned, done=done, made=made)
        # The shards write one after the other, so that an hour may see several of them
        self.github.plan_write_interval(schedule.interval((made + left) * self.shard.total))
        return left * self.github.write_interval

    def _end_if_needed(self, row: FleetRow, done: RegistrationResult, causes: list[Cause]) -> None:
        """End the writing where the other repositories would end alike."""
        failure = _failure_of(done)
        if failure and failure.kind is Kind.CANCELLED:
            self.result.cancelled, self.result.stopped = done.exit_code, failure.message
        elif failure and failure.kind in ENDS_THE_WRITING:
            self.result.stopped = msg("fleet.stopped", reason=failure.cause.message)
        elif row.state is not FleetState.FAILED or row.pull_request:
            causes.clear()
        elif row.failure:
            cause = row.failure.cause
            causes[:] = [*causes, cause] if causes[-1:] == [cause] else [cause]
            if len(causes) == SAME_CAUSE:
                reason = cause.message
                self.result.stopped = msg("fleet.same_cause", count=SAME_CAUSE, reason=reason)
        if self.result.stopped:
            self.reporter.warn(Diagnostic(self.result.stopped))

    def _register(self, item: WorkItem, client: Client) -> tuple[FleetRow, RegistrationResult]:
        """Do the ordinary registration, which reads the repository again first."""
        repository, job = item.task.repository, item.task.job
        spec = job.spec(repository.full_name)._replace(
            chosen=Chosen(repository.id, item.node_id, partial(self._may_be_called, repository))
        )
        done = register(client, spec, job.proposal, self.rows.progress(spec, job))
        self.cancellation.stop_timer()
        if done.pull_request:
            self.hidden_names.seen(repository.full_name, done.pull_request.repository)
        self.rows.add_registration(done)
        is_open = done.operation is not PullRequestOperation.NONE
        if (
            done.failure
            and done.failure.kind in LEAVES_FOR_NEXT_RUN
            and not (is_open or done.failed)
        ):
            tells = client.wrote or done.failure.kind is Kind.MOVED
            failure = done.failure if tells else None
            return self._left_alone(item)._replace(failure=failure), done
        state = _OPERATIONS[done.operation]
        if done.exit_code != EXIT_DONE:
            state = FleetState.FAILED
        elif not done.pull_request:
            state = FleetState.DECLINED if done.missing else FleetState.COMPLETE
        missing = done.missing if done.files else item.missing
        failure = _failure_of(done) if state is FleetState.FAILED else None
        return item.task.row(state, missing, failure, done.pull_request), done

    def _may_be_called(self, repository: ListedRepository, full_name: str) -> bool:
        """Whether a repository is selected by the name that it has by now."""
        selection = self.settings.selection
        is_unchanged = full_name.lower() == repository.full_name.lower()
        return is_unchanged or bool(selection and selection.takes(full_name))

    def _left_alone(self, item: WorkItem) -> FleetRow:
        """How a repository stands that is left for the next run."""
        is_waiting = item.pull_state is PullState.WAITING
        state = FleetState.WAITING if is_waiting else FleetState.DEFERRED
        return item.task.row(state, item.missing, pull_request=item.pull_request)


def _failure_of(done: RegistrationResult) -> Failure | None:
    """What ended a registration, or why a file of it failed; ``None`` where all is well."""
    return done.failure or next((file.failure for file in done.files if file.failure), None)
