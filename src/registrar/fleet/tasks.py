"""A list in a repository: what was read about it, and what is left to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from registrar.failure import Failure
from registrar.models.evidence import Found, Presence
from registrar.models.fleet import FleetRow, FleetState, PullState
from registrar.models.plan import Plan
from registrar.models.repository import PullRequest
from registrar.models.selection import Exclusion, ListedRepository
from registrar.registration.decide import Continue, Decision, Declined, NotKnown
from registrar.reporting.records import Rows
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.jobs import Job


class Task(NamedTuple):
    """One list in one repository."""

    repository: ListedRepository
    job: Job

    def row(
        self,
        state: FleetState,
        missing: int,
        failure: Failure | None = None,
        pull_request: PullRequest | None = None,
        present: Collection[Found] = (),
    ) -> FleetRow:
        """Give the row of the result, with the number of missing files.

        ``present`` is what is known of the others.
        """
        counts = Counter(each.presence for each in present)
        return FleetRow(
            self.repository.full_name,
            self.job.profile.name,
            self.job.list_name,
            state,
            url=self.repository.html_url,
            missing=missing,
            failure=failure,
            pull_request=pull_request,
            blank=counts[Presence.BLANK],
            differing=counts[Presence.DIFFERS],
            invalid=counts[Presence.NOT_A_FILE],
        )


_STATES = {
    None: FleetState.MISSING,
    PullState.TO_OPEN: FleetState.MISSING,
    PullState.TO_UPDATE: FleetState.MISSING,
    PullState.WAITING: FleetState.WAITING,
    PullState.DECLINED: FleetState.DECLINED,
}
"""How a repository with missing files stands, when nothing is written."""


class Reading(NamedTuple):
    """What was read about one task."""

    task: Task
    plan: Plan | None = None
    """``None`` where there is none: then one of the next two says why."""
    exclusion: Exclusion | None = None
    failure: Failure | None = None
    decision: Decision | None = None
    """What a registration would do; ``None`` where no file is missing that could be created."""

    @property
    def is_known(self) -> bool:
        """Whether it is known what a registration would do."""
        return self.decision is None or not isinstance(self.decision.choice, NotKnown)

    @property
    def pull_request(self) -> PullRequest | None:
        """The pull request that is open, or in which everything was declined."""
        if self.decision is None:
            return None
        choice, declined = self.decision.choice, self.decision.declined
        if isinstance(choice, Declined):
            return next(iter(declined.values()))
        return choice.pull_request if isinstance(choice, Continue) else None

    @property
    def pull_state(self) -> PullState | None:
        """What is left to do; ``None`` where no file is missing that could be created.

        What an open pull request proposes is read from its description: its branch would cost a
        request for each repository.
        """
        if self.decision is None:
            return None
        choice = self.decision.choice
        if isinstance(choice, Declined):
            return PullState.DECLINED
        if not isinstance(choice, Continue) or choice.mark is None:
            return PullState.TO_OPEN
        proposes_all = all(choice.mark.holds(each.path) for each in self.decision.files)
        return PullState.WAITING if proposes_all else PullState.TO_UPDATE

    @property
    def row(self) -> FleetRow:
        """How the task stands when nothing is going to be written."""
        plan, state, failure = self.plan, FleetState.COMPLETE, self.failure
        if failure:
            state = FleetState.FAILED
        elif plan and plan.blocked:
            path, parent = next(iter(plan.blocked.items()))
            message = msg("fleet.blocked", path=path, parent=parent)
            state, failure = FleetState.FAILED, Failure.of(message, about=f"{path} {parent}")
        elif plan and plan.missing_count:
            state = _STATES[self.pull_state]
        missing = plan.missing_count if plan else 0
        present = plan.found.values() if plan else ()
        return self.task.row(state, missing, failure, self.pull_request, present)


class WorkItem(NamedTuple):
    """A task whose repository has missing files.

    It is kept without its plan: the plans of thousands of repositories would fill the memory.
    """

    task: Task
    node_id: str
    """What GraphQL calls the repository: a list may have an id of an older form."""
    pull_state: PullState
    missing: int
    pull_request: PullRequest | None
    is_unread: bool
    """Whether the token may not read its pull requests."""
    evidence: Rows | None = None
    """How its paths stood when they were read, where that is recorded."""
