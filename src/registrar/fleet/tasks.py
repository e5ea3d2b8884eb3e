"""A list in a repository: what was read about it, and what is left to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from registrar.failure import Failure
from registrar.models.branch import Declined, OpenOrDeclined
from registrar.models.fleet import FleetRow, FleetState, PullState
from registrar.models.plan import Plan
from registrar.models.repository import PullRequest
from registrar.models.selection import Exclusion, ListedRepository
from registrar.registration import branches, mark, proposal
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
    ) -> FleetRow:
        """Give the row of the result, with the number of missing files."""
        return FleetRow(
            self.repository.full_name,
            self.job.profile.name,
            self.job.list_name,
            state,
            url=self.repository.html_url,
            missing=missing,
            failure=failure,
            pull_request=pull_request,
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

    @property
    def found(self) -> OpenOrDeclined | None:
        """The open pull request of the working branch, or the last one, where it was declined."""
        plan = self.plan
        if plan is None:
            return None
        if plan.declined and not plan.missing:
            return Declined(plan.spec.branch, next(iter(plan.declined.values())))
        found = branches.proposed(plan.state.branch, plan) if plan.state.branch else None
        # Without our marker only its commits tell whether it is ours, which takes a request each
        is_ours = not isinstance(found, PullRequest) or proposal.is_ours(found.body)
        return found if is_ours else None

    @property
    def is_branch_done(self) -> bool:
        """Whether the pull request can only be under another name of a branch."""
        plan = self.plan
        if plan is None or not plan.missing or plan.state.branch is None:
            return False
        return branches.is_done(plan.state.branch, plan)

    @property
    def pull_request(self) -> PullRequest | None:
        """The pull request that is open, or was declined."""
        found = self.found
        return found.pull_request if isinstance(found, Declined) else found

    @property
    def pull_state(self) -> PullState | None:
        """What is left to do; ``None`` where no file is missing that could be created.

        What an open pull request proposes is read from its description: its branch would cost a
        request for each repository.
        """
        found = self.found
        if isinstance(found, Declined):
            return PullState.DECLINED
        if self.plan is None or not self.plan.missing:
            return None
        if found is None:
            return PullState.TO_OPEN
        paths = frozenset(definition.path for definition in self.plan.missing)
        proposes_all = mark.proposed(found.body, paths) == paths
        return PullState.WAITING if proposes_all else PullState.TO_UPDATE

    @property
    def row(self) -> FleetRow:
        """How the task stands when nothing is going to be written."""
        plan, state, failure = self.plan, FleetState.COMPLETE, self.failure
        if plan is None:
            state = FleetState.FAILED
        elif plan.blocked:
            path, parent = next(iter(plan.blocked.items()))
            message = msg("fleet.blocked", path=path, parent=parent)
            state, failure = FleetState.FAILED, Failure.of(message, about=f"{path} {parent}")
        elif plan.missing_count:
            state = _STATES[self.pull_state]
        missing = plan.missing_count if plan else 0
        return self.task.row(state, missing, failure, self.pull_request)


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
