"""One registration: state of the repository -> task -> plan -> steps -> record.

`register` reads the repository with a strategy and makes a task. If files are missing, `make_plan`
plans their branch and pull request; requests answer its questions (`lookups`). A run that writes
carries out the plan (`loop`, with a writer), and any other run only reports it. `preview` also only
reports it, for a repository that was read together with others.

`STRATEGIES` has the ways to read and write. Nothing else in this module depends on the chosen one,
or on whether the run is about other repositories, too.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from registrar.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    Cancelled,
    Failure,
    OutOfTime,
    RegistrarError,
    describe,
    exit_code,
)
from registrar.models.paths import Done
from registrar.models.record import Record
from registrar.models.settings import CommitStrategy, Mode
from registrar.models.spec import RegistrationSpec
from registrar.models.task import Task
from registrar.presence.tasks import require_known_properties
from registrar.registration import per_file, single
from registrar.registration.listener import Listener
from registrar.registration.lookups import Lookups, RestLookups
from registrar.registration.loop import carry_out
from registrar.registration.mark import EMPTY_MARK, Mark
from registrar.registration.plan import Plan
from registrar.registration.planning import make_plan
from registrar.registration.progress import Progress
from registrar.registration.proposal import Proposal, tells_the_same
from registrar.registration.sent import SentSteps
from registrar.registration.work import Strategy, Work, read_blobs
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.client import Client


STRATEGIES: Mapping[CommitStrategy, Strategy] = {
    CommitStrategy.PER_FILE: per_file,
    CommitStrategy.SINGLE: single,
}


def register(client: "Client", spec: RegistrationSpec, listener: Listener) -> Record:
    """Do one registration, or only preview it if the mode only reads.

    An error is not raised; the result describes it.
    """
    progress = Progress(spec, listener)
    result = _result_of(lambda: _register(client, progress), progress, client)
    return replace(result, is_ended=spec.writes or spec.withdraws)


def preview(task: Task, lookups: Lookups, listener: Listener) -> Record:
    """Return the plan of a registration in a repository that was read already.

    An error is not raised; the result describes it.
    """
    progress = Progress(task.spec, listener)

    def report() -> None:
        progress.identify(task.repository)
        _report_paths(task, progress)
        _preview(task, lookups, progress)

    return _result_of(report, progress)


def _result_of(
    work: Callable[[], None], progress: Progress, client: "Client | None" = None
) -> Record:
    """Do ``work``, which adds to ``progress``, and return the result.

    If an error ends it, the result describes the error and has its exit code. ``client`` shows
    whether something was written; without one, nothing was.
    """
    try:
        work()
    except (Exception, Cancelled) as error:  # noqa: BLE001 (described, with its exit code)
        session = client.session if client else None
        may_have_written = bool(session and (session.wrote or session.may_have_been_applied))
        # Over many repositories, the run may have written to another one
        may_have_written |= not progress.spec.policy.tells_paths
        failure = describe(error, progress.result().branch, wrote=may_have_written)
        # Files that were not begun have not failed: they stay pending, with the error as reason
        progress.end_early(_why_pending(error, failure, progress.spec))
        result = progress.result()
        wrote = bool(client and client.session.wrote) or bool(result.count(Done.UNKNOWN))
        return replace(result, exit_code=exit_code(error, wrote=wrote), failure=failure)
    result = progress.result()
    fails_check = any(result.found_of(result.spec.settings.fail_on))
    return replace(result, exit_code=EXIT_FAILED if result.failed or fails_check else EXIT_DONE)


def _why_pending(error: BaseException, failure: Failure, spec: RegistrationSpec) -> Message | None:
    """Say why the remaining files were not reached. Over many repositories this is `None` (unless
    time was over), because the row of the repository says it once for all files.
    """
    if isinstance(error, OutOfTime):
        return error.waits_for
    if not spec.policy.tells_paths:
        return None
    return msg("kind.cancelled") if isinstance(error, Cancelled) else failure.cause.message


def _register(client: "Client", progress: Progress) -> None:
    spec = progress.spec
    task = STRATEGIES[spec.settings.commit_strategy].inspect(client, progress)
    if not spec.was_listed:
        require_known_properties(spec.property_names, [task.repository])
    _report_paths(task, progress)
    sent = SentSteps()
    lookups = RestLookups(client, task, sent)
    if spec.writes or spec.withdraws:
        _write(Work(client, task, _proposal(task, progress), progress, sent), lookups)
        return
    plan = _preview(task, lookups, progress)
    if spec.settings.ref or not spec.policy.tells_paths:
        return
    to_update = progress.result().to_update
    blobs = read_blobs(lambda _: client, {each.replaces: task.repository for each in to_update})
    progress.keep_contents(blobs)
    # The report gives advice about an archived repository, and about one without pull requests
    has_advice = task.repository.archived or not task.repository.takes_pull_requests
    is_to_write = bool(to_update or progress.result().to_create)
    pull = plan.pull_request
    if spec.settings.mode is Mode.PLAN and pull and not (is_to_write or plan.leaves_pull_request):
        mark, proposal = Mark.of(pull.body) or EMPTY_MARK, _proposal(task, progress)
        body = proposal.body(progress.result(), pull.body, mark=mark)
        if not (tells_the_same(pull.body, body) or lookups.has_newer_list()):
            progress.note("progress.describes", pull_request=pull.link)
    if spec.settings.mode is Mode.PLAN and plan.refusal and is_to_write and not has_advice:
        progress.warn("progress.register_fails", reason=plan.refusal.failure.message)


def _report_paths(task: Task, progress: Progress) -> None:
    progress.begin(task)
    facts = task.facts
    if not task.spec.policy.tells_paths:
        # A run over many repositories counts the rules that apply, and reports them once
        return
    if task.repository.of_person and task.spec.property_names:
        progress.note("progress.no_properties", owners=[task.repository.owner])
    rules = task.spec.file_list.rules
    if others := [each.described for each in rules if each.number not in facts.applying]:
        progress.note("progress.rules_not_applying", rules=others)
    if facts.replaced:
        progress.note("progress.replaced", entries=[each.shown for each in facts.replaced])
    for unused in facts.unused_parts:
        progress.keep(unused.described, about=f"{unused}")


def _proposal(task: Task, progress: Progress) -> Proposal:
    """Return the texts of the pull request; a property that the repository lacks is warned of, if
    something is to be proposed.
    """
    properties = task.repository.properties or {}
    proposal = Proposal(task.spec, progress.listener.texts, properties)
    return proposal.filled_in(progress) if task.missing and task.spec.proposes else proposal


def _preview(task: Task, lookups: Lookups, progress: Progress) -> Plan:
    """Keep and print the plan of a run that writes, and return it.

    If the token may not read pull requests, the plan says so, and lists the missing files.
    """
    plan = make_plan(task, lookups)
    progress.keep_needless(plan.closes)
    _proposal(task, progress)
    progress.tell(plan)
    return plan


def _write(work: Work, lookups: Lookups) -> None:
    """Close pull requests, make or continue the branch, create the files, and open or update the
    pull request, as far as the plan says so.
    """
    client, task, sent = work.client, work.task, work.sent
    writer = STRATEGIES[task.spec.settings.commit_strategy].writer(work)
    try:
        carry_out(task, lookups, writer, sent)
    except (RegistrarError, Cancelled):
        if not client.session.may_have_been_applied:
            sent.forget_unsent()
        for commit in sent.unclear_commits:
            # The branch is reported even if GitHub does not show it, because the write may still be
            # under way, or may not be visible everywhere yet
            work.progress.keep_branch(commit.branch)
            work.note_unknown(commit)
        raise
