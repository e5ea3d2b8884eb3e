"""A list in a repository: what was read about it, and what is left to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from registrar.failure import Failure
from registrar.models.evidence import notable
from registrar.models.fleet import FleetRow, FleetState, PullState
from registrar.models.plan import Plan
from registrar.models.repository import PullRequest
from registrar.models.selection import Exclusion, ListedRepository
from registrar.models.spec import RegistrationSpec
from registrar.registration.decide import Decision, Declined, LeftAlone, NotKnown, Write
from registrar.reporting.records import Rows
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.file_lists import FileList


class Target(NamedTuple):
    """One list in one repository."""

    repository: ListedRepository
    files: FileList

    @property
    def spec(self) -> RegistrationSpec:
        """Ask for a registration under the listed name."""
        return self.files.spec(self.repository.full_name)

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
            self.files.profile.name,
            self.files.list_name,
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
    """What was read about a list in a repository.

    Where something is left to do it is kept without plan and decision, which would fill the memory
    for thousands of repositories.
    """

    target: Target
    row: FleetRow
    """How it stands when nothing is going to be written."""
    exclusion: Exclusion | None = None
    """Why the repository is not worked on, after all."""
    pull_state: PullState | None = None
    """What is left to do; ``None`` where no file is missing that could be created."""
    node_id: str = ""
    """What GraphQL calls the repository: a list may have an id of an older form."""
    is_known: bool = True
    """Whether it is known that there is a pull request, or none."""
    plan: Plan | None = None
    failure_or_decision: Failure | Decision | None = None

    evidence: Rows | None = None
    """How its paths stood when they were read, where that is recorded."""

    def without_plan(self, evidence: Rows | None) -> Reading:
        """Give the same, for later."""
        return self._replace(plan=None, failure_or_decision=None, evidence=evidence)


def failed_reading(target: Target, failure: Failure, plan: Plan | None = None) -> Reading:
    """Give what was read where it is not known what is to be done."""
    missing = plan.missing_count if plan else 0
    row = target.row(FleetState.FAILED, missing, failure)
    if plan:
        row = row._replace(notable=notable(plan.found, plan.codeowners))
    return Reading(target, row, plan=plan, failure_or_decision=failure)


def reading_of(target: Target, plan: Plan, decision: Decision | None = None) -> Reading:
    """Give what was read, and what a registration would do.

    ``decision`` is ``None`` where no file is missing that could be created.
    """
    pull_state, state, failure = _pull_state(decision), FleetState.COMPLETE, None
    if plan.blocked:
        path, parent = next(iter(plan.blocked.items()))
        message = msg("fleet.blocked", path=path, parent=parent)
        state, failure = FleetState.FAILED, Failure.of(message, about=f"{path} {parent}")
    elif plan.missing_count:
        state = _STATES[pull_state]
    row = target.row(state, plan.missing_count, failure, _pull_request(decision))
    return Reading(
        target,
        row._replace(notable=notable(plan.found, plan.codeowners)),
        pull_state=pull_state,
        node_id=plan.repository.node_id,
        is_known=decision is None or decision.choice != NotKnown(),
        plan=plan,
        failure_or_decision=decision,
    )


def _pull_state(decision: Decision | None) -> PullState | None:
    """Say what is left to do."""
    if decision is None:
        return None
    choice = decision.choice
    if isinstance(choice, Declined):
        return PullState.DECLINED
    if isinstance(choice, LeftAlone):
        return PullState.WAITING
    if isinstance(choice, NotKnown) and choice.pull_request:
        return PullState.TO_UPDATE
    if not isinstance(choice, Write) or choice.mark is None:
        return PullState.TO_OPEN
    proposes_all = all(choice.mark.holds(each.path) for each in decision.files)
    return PullState.WAITING if proposes_all else PullState.TO_UPDATE


def _pull_request(decision: Decision | None) -> PullRequest | None:
    """Give the pull request that is open, or in which everything was declined."""
    if decision is None:
        return None
    if isinstance(decision.choice, Declined):
        return next(iter(decision.declined.values()))
    is_about_one = isinstance(decision.choice, Write | LeftAlone | NotKnown)
    return decision.choice.pull_request if is_about_one else None
