"""The loop of a run that writes: plan, do the steps, and after an unclear step read and plan
again.

A run that has lost an answer goes on in the same way as a run after one that was killed: it reads
the present state of the branch, and plans from that. In addition, it knows the steps that it has
sent itself (`SentSteps`).
"""

from contextlib import suppress

from registrar.errors import GitHubError, OutOfTime
from registrar.models.task import Task
from registrar.registration.branch_names import is_same
from registrar.registration.lookups import Lookups
from registrar.registration.plan import Plan
from registrar.registration.planning import make_plan
from registrar.registration.pull_requests import BecameDefault, require_not_default
from registrar.registration.sent import Close, SentSteps, Unclear
from registrar.registration.work import Writer


def carry_out(task: Task, lookups: Lookups, writer: Writer, sent: SentSteps) -> None:
    """Make a plan, and carry it out. Raises `RegistrarError` if the run cannot go on.

    The loop ends, because each step is sent only once, and a branch is read again only a few times
    without headway (`SentSteps.may_read`). If the branch cannot be read again, the unclear step
    counts as failed, and the run does the remaining steps of the same plan.
    """
    plan = make_plan(task, lookups, sent)
    while True:
        while plan.closes:
            task, is_as_planned = _close(task, plan, writer, sent)
            if is_as_planned:
                plan = plan._replace(closes=(), branches=task.state.branches)
            else:
                plan = make_plan(task, lookups, sent)
        writer.tell(plan)
        if plan.refusal and not sent.branches:
            raise plan.refusal
        if task.spec.withdraws or not plan.branch:
            return
        try:
            writer.write(plan)
        except Unclear as unclear:
            sent.count_reading()
            try:
                read = _with_branches(task, plan)
                task = _read_again(read, unclear.step.branch, lookups, writer, sent)
                plan = make_plan(task, lookups, sent)
                sent.readings += 1
            except (GitHubError, OutOfTime) as error:
                sent.cannot_read(unclear.step, error)
        except BecameDefault:
            for pull in sent.opened(plan.branch):
                # This error is the more important one
                with suppress(GitHubError):
                    writer.close(Close(pull))
            raise
        else:
            return


def _with_branches(task: Task, plan: Plan) -> Task:
    """Return the task with the states of the names that the plan has read."""
    return task._replace(state=task.state._replace(branches=plan.branches))


def _close(task: Task, plan: Plan, writer: Writer, sent: SentSteps) -> tuple[Task, bool]:
    """Close the pull requests that a plan closes.

    Return the task with the states of the names that the plan has read and with these pull requests
    as they are now, and whether they are as the plan takes them.
    """
    task, is_as_planned = _with_branches(task, plan), True
    for step in plan.closes:
        sent.tried_to_close.add(step.pull_request.number)
        now = writer.close(step)
        task = task.with_pull_request(now)
        is_as_planned &= step.is_done_by(now)
    return task, is_as_planned


def _read_again(task: Task, branch: str, lookups: Lookups, writer: Writer, sent: SentSteps) -> Task:
    """Read a branch again, and return the task with its present state.

    If it has become the default branch in the meantime, pull requests that this run has opened from
    it are closed. Then an error is raised if this run may have written to the default branch, or if
    its name is the first one of the working branch; otherwise the next plan takes another name.
    """
    state = lookups.branch(branch)
    if state.head is not None and is_same(branch, now := lookups.default_branch()):
        for pull in state.pull_requests:
            if pull.is_open and sent.has_opened(pull):
                writer.close(Close(pull))
        if branch == task.spec.branch or sent.commits_since_look(branch):
            require_not_default(sent, branch, now)
        state = state._replace(is_default=True)
    branches = {**task.state.branches, branch: state}
    return task._replace(state=task.state._replace(branches=branches))
