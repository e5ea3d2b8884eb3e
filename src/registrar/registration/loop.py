"""The loop of a run that writes: read, decide, do the steps; after an unclear one, all once more.

Being killed and going on in the next run, and losing an answer and going on in this one, are the
same: what is there is read, and everything is decided from that. What this run knows besides is
the list of the steps that it has sent (`SentSteps`).
"""

from registrar.errors import GitHubError, OutOfTime
from registrar.models.task import Task
from registrar.registration.branch_names import is_same, require_working_branch
from registrar.registration.decide import decide
from registrar.registration.lookups import Lookups
from registrar.registration.sent import Close, SentSteps, Unclear
from registrar.registration.work import Writer


def carry_out(task: Task, lookups: Lookups, writer: Writer, sent: SentSteps) -> None:
    """Decide, and do what was decided. `RegistrarError` ends it.

    It ends, because each step is sent once, and a branch is read again a few times at most. Where
    it cannot be read again, the run goes on with what is known, so that an unclear step has failed.
    """
    decision = decide(task, lookups, sent)
    while True:
        writer.tell(decision)
        task = task._replace(state=task.state._replace(branches=decision.branches))
        for step in decision.taken_back:
            writer.close(step)
            task = task.with_pull_request(step.closed)
        decision = decision._replace(taken_back=())
        if decision.write is None:
            return
        try:
            writer.write(decision.write)
        except Unclear as unclear:
            sent.tries += 1
            try:
                task = _read_again(task, unclear.step.branch, lookups, writer, sent)
                decision = decide(task, lookups, sent)
                sent.readings += 1
            except (GitHubError, OutOfTime) as error:
                sent.cannot_read(unclear.step, error)
        else:
            return


def _read_again(task: Task, branch: str, lookups: Lookups, writer: Writer, sent: SentSteps) -> Task:
    """Give the task with how a branch stands by now.

    When the repository was read, it was not there, or was not the default branch; it may be by now.
    """
    state = lookups.branch(branch)
    if state.head is not None and is_same(branch, now := lookups.default_branch()):
        for pull in state.pull_requests:
            if pull.is_open and sent.opened(pull):
                writer.close(Close(pull))
        if branch == task.spec.branch:
            require_working_branch(branch, now, now)
        state = state._replace(is_default=True)
    branches = {**task.state.branches, branch: state}
    return task._replace(state=task.state._replace(branches=branches))
