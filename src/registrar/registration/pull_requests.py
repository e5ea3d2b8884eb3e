"""Opens the pull request of the working branch, or updates the open one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import quote

from registrar.errors import Failure, GitHubError, Kind, OutOfTime, RegistrarError
from registrar.models.paths import Done, ListedPath, Outcome, Result
from registrar.models.record import PullRequestOperation, Record
from registrar.models.repository import PullRequest
from registrar.models.settings import PullRequestOptions
from registrar.models.task import Change, NewPullRequest, Task
from registrar.registration.branch_names import is_same, require_working_branch
from registrar.registration.lookups import has_newer_list
from registrar.registration.mark import EMPTY_MARK, Mark
from registrar.registration.plan import Plan
from registrar.registration.proposal import tells_the_same
from registrar.registration.sent import Open, SentSteps
from registrar.registration.work import Work, written
from registrar.texts import escaping
from registrar.texts.messages import msg

MOST_REFUSED = 3
"""After this many refused names of one input, the remaining ones are not tried, with a warning that
names them. The files and the pull request do not depend on them."""
_ABOUT_ONE_NAME = frozenset({Kind.VALIDATION, Kind.LAG})
"""Kinds of a failure that may concern only one of several names. `Kind.LAG` is one of them, because
GitHub's answer to an unknown name may look like lag."""


class NotOpened(RegistrarError):
    """The files are on the branch, but the pull request could not be opened."""

    nothing_done = False


class BecameDefault(RegistrarError):
    """The branch to which this run has written has become the default branch."""

    nothing_done = False


def prepare(work: Work, plan: Plan) -> Plan:
    """Read an open pull request once more, right before the first commit to its branch, and return
    the plan with its present state.

    Raises an error if the pull request is closed by now or has another base branch, because nobody
    should commit to a branch that was just declined. Also raises one if none of the named files was
    on the branch, and the description names others by now. If the description has no room to record
    the files, none of them is created or updated.
    """
    to_write = work.to_write()
    if plan.pull_request is None or not to_write:
        return plan
    looked = plan
    work.client.session.wait_for_turn()

    def change(now: PullRequest) -> Change | None:
        nonlocal looked
        looked = _looked_at(work, plan, now)
        if not (_has_room(work, looked, now, to_write) and plan.describes_first):
            return None
        # Otherwise a later run would count files that are not committed yet as removed
        return Change(_body(work, looked, work.progress.result(), looked.pull_request))

    work.client.rest.update_pull_request(work.task.repository, plan.pull_request, change)
    return looked


def _looked_at(work: Work, plan: Plan, pull: PullRequest) -> Plan:
    now = require_open(work, pull)
    work.sent.note_look()
    if plan.describes_first and plan.mark and Mark.of(now.body) != plan.mark:
        # Another run has committed files and named them in between. So the files that are named and
        # absent were deleted by somebody; they are not only named too early
        raise _changed(work, now)
    return plan._replace(pull_request=now)


def _has_room(work: Work, plan: Plan, pull: PullRequest, to_write: Sequence[ListedPath]) -> bool:
    """Whether the description has room to record the files of ``to_write``. If not, they are
    recorded as skipped, with a warning.
    """
    progress = work.progress
    result = progress.result(assuming={each.path: written(each) for each in to_write})
    mark = Mark.of(_body(work, plan, result, pull))
    paths, blobs = zip(*((each.path, each.definition.blob_id) for each in to_write), strict=True)
    if mark and all(map(mark.has_written, paths, blobs)):
        return True
    progress.warn("progress.no_room", about=pull.url, pull_request=pull.link, paths=paths)
    progress.record_and_print(dict.fromkeys(paths, Outcome(Result.LEFT, msg("reason.no_room"))))
    return False


def require_open(work: Work, pull: PullRequest) -> PullRequest:
    """Return a pull request that was just read, with a description of its repository.

    Raises `RegistrarError` if the pull request is closed or has another base branch, or if its own
    branch has become the default branch.
    """
    of = pull.of
    if of is None or not of.default_branch:
        of = work.client.rest.again(work.task.repository)
    require_not_default(work.sent, pull.head_branch, of.default_branch)
    base = work.task.spec.base_of(of)
    if not pull.is_open or pull.base_branch != base:
        raise _changed(work, pull)
    require_working_branch(pull.head_branch, of.default_branch, base)
    return pull._replace(of=of)


def _changed(work: Work, pull: PullRequest) -> RegistrarError:
    values = {"pull_request": pull.link}
    count = 0 if pull.is_open else work.sent.files_after(pull.head_branch, pull.head_sha)
    if not count:
        return RegistrarError(Failure.of(msg("pull_request.changed", **values)))
    return RegistrarError(Failure.of(msg("pull_request.closed_meanwhile", count=count, **values)))


def require_not_default(sent: SentSteps, branch: str, default: str) -> None:
    """Raise an error if a branch is the default branch by now: `BecameDefault` with the commits of
    this run that may have gone to the default branch; `Refused` if there are none.
    """
    if not is_same(branch, default):
        return
    if commits := sent.commits_since_look(branch):
        named = [each or msg("branch.unknown_commit") for each in commits]
        message = msg("branch.became_default", branch=branch, commits=named)
        raise BecameDefault(Failure.of(message))
    require_working_branch(branch, default, default)


def publish(work: Work, plan: Plan) -> None:
    """Open the pull request of a branch, or update the open one; add labels, assignees, reviewers.

    For a branch that adds no file, because GitHub has refused every commit, no pull request is
    opened, and the branch is left behind.
    """
    client, task, progress = work.client, work.task, work.progress
    result = progress.result()
    if not any(file.on_branch for file in result.files):
        if plan.pull_request:
            progress.keep_proposed(plan.pull_request)
        elif not result.count(Done.UNKNOWN):
            progress.keep_left_branch(plan.branch)
        return
    pull, operation = plan.pull_request, PullRequestOperation.CREATED
    if pull is None or not plan.is_done:
        pull, operation = _open_or_update(work, plan)
    if pull.of:
        require_not_default(work.sent, plan.branch, pull.of.default_branch)
    progress.keep_pull_request(pull, operation)
    if operation is PullRequestOperation.NONE and not task.spec.policy.refreshes:
        return
    options = work.proposal.options
    if operation is not PullRequestOperation.CREATED:
        # Reviewers are asked only once, because GitHub stops listing them as soon as they answer
        options = options._replace(reviewers=(), team_reviewers=())
        if options.labels or options.assignees:
            pull = client.rest.pull_request(task.repository, pull.number)
    _set_options(work, pull, options)


def _open_or_update(work: Work, plan: Plan) -> tuple[PullRequest, PullRequestOperation]:
    proposal, result = work.proposal, work.progress.result()
    if pull := plan.pull_request:
        operation = PullRequestOperation.NONE
        if not _is_up_to_date(work, plan, pull, result):
            pull, operation = _describe(work, plan, result, pull)
        return pull, PullRequestOperation.CREATED if work.sent.has_opened(pull) else operation
    body = _body(work, plan, result)
    name, base, title = plan.branch, work.task.base_branch, proposal.title(result)
    new = NewPullRequest(name, base, title, body, proposal.options)
    return _open(work, plan, new), PullRequestOperation.CREATED


def _describe(
    work: Work, plan: Plan, result: Record, pull: PullRequest
) -> tuple[PullRequest, PullRequestOperation]:
    """Update the description of a pull request; text of others is kept, also if it is new.

    Return the pull request as it was read right before, and the operation.
    """

    def change(now: PullRequest) -> Change | None:
        nonlocal pull
        pull = require_open(work, now)
        body = _body_now(work, plan, result, pull)
        return None if body is None or pull.has_body(body) else Change(body)

    is_described = work.client.rest.update_pull_request(work.task.repository, pull, change)
    is_updated = is_described or result.wrote
    return pull, PullRequestOperation.UPDATED if is_updated else PullRequestOperation.NONE


def _body_now(work: Work, plan: Plan, result: Record, pull: PullRequest) -> str | None:
    """Return the new description of a pull request that was just read; ``None`` to leave it."""
    if _has_moved(plan, result, pull):
        tree = work.client.rest.tree(work.task.repository, pull.head_sha) if result.wrote else None
        if tree is None:
            # The description would report earlier files as the present files of the branch
            work.progress.note("progress.head_moved", pull_request=pull.link)
            return None
        # Only this run knows which files it has committed, so the mark has to name them now
        on_branch = ((each, tree.get(each.path)) for each in result.files if each.is_as_listed)
        changed = (each for each, now in on_branch if now and now.sha != each.definition.blob_id)
        result = result.after(
            {
                each.path: (each.outcome or Outcome(Result.FOUND))._replace(is_as_listed=False)
                for each in changed
            }
        )
    return _body(work, plan, result, pull)


def _has_moved(plan: Plan, result: Record, pull: PullRequest) -> bool:
    """Whether the branch has a commit that this run does not know: somebody's, or one of its own
    whose answer was lost.
    """
    wrote = [file for file in result.files if file.done in {Done.CREATED, Done.UPDATED}]
    known = {plan.head, *(file.commit for file in wrote)}
    return pull.head_sha not in known


def _body(work: Work, plan: Plan, result: Record, pull: PullRequest | None = None) -> str:
    """Return the updated description of a pull request, or the description of a new one."""
    mark = plan.mark if pull is None else Mark.of(pull.body)
    if pull and not work.sent.has_opened(pull):
        result = replace(result, pull_request=pull)
    if plan.describes_first:
        mark = None
    return work.proposal.body(result, pull.body if pull else None, mark=mark or EMPTY_MARK)


def _open(work: Work, plan: Plan, new: NewPullRequest) -> PullRequest:
    """Open a pull request.

    Raises `Unclear` if it may have been opened, so that the branch has to be read again. Raises
    `OutOfTime` or `NotOpened` if it could not be opened.
    """
    try:
        return work.sent.send(Open(new.branch, new.body), partial(_create, work, new))
    except OutOfTime as ended:
        raise OutOfTime(_by_hand(work.task, new, ended.failure), ended.waits_for) from ended
    except GitHubError as error:
        if error.already_exists and not plan.taken_by:
            # It cannot be opened by hand either, and another branch could mean a second one
            hidden = msg("pull_request.not_shown", branch=new.branch)
            raise NotOpened(Failure.of(hidden, error.kind)) from error
        raise NotOpened(_why_not_opened(work, new, error.failure)) from error


def _is_up_to_date(work: Work, plan: Plan, pull: PullRequest, result: Record) -> bool:
    """Whether the description of a pull request needs no change."""
    if result.wrote:
        return False
    if not work.task.spec.policy.describes:
        return True
    if tells_the_same(pull.body, _body(work, plan, result, pull)):
        return True
    # A mark that calls an open pull request withdrawn must not stay
    is_withdrawn = plan.mark is not None and plan.mark.is_withdrawn
    return not is_withdrawn and has_newer_list(work.client, work.task.spec)


def _set_options(work: Work, pull: PullRequest, options: PullRequestOptions) -> None:
    """Add labels, assign people and ask for reviews, with a warning for names that GitHub refuses.

    Labels and assignees that the pull request has already are not sent again.
    """
    rest, progress = work.client.rest, work.progress
    this = work.task.repository, pull.number

    def assign(names: Sequence[str]) -> None:
        assigned = rest.add_assignees(*this, names)
        for name in names:
            if name.lower() not in assigned:
                progress.warn("pull_request.assignee_not_taken", about=name, name=name)

    def ask(names: Sequence[str]) -> None:
        rest.request_reviewers(*this, names, [])

    labels = [name for name in options.labels if name.lower() not in pull.labels]
    assignees = [name for name in options.assignees if name.lower() not in pull.assignees]
    _give(labels, partial(rest.add_labels, *this), work)
    _give(assignees, assign, work)
    _give(options.reviewers, ask, work)
    _give(options.team_reviewers, partial(rest.request_reviewers, *this, []), work)


def _give(names: Sequence[str], give: Callable[[Sequence[str]], None], work: Work) -> bool:
    """Send all names with one request; if GitHub refuses a name, send them one after the other.

    Return whether GitHub accepted the request with all of them. After `MOST_REFUSED` refused names,
    or at the end of the run, the remaining names are left out, with a warning.
    """
    if not names:
        return True
    progress = work.progress
    try:
        give(names)
    except GitHubError as error:
        if len(names) == 1 or error.kind not in _ABOUT_ONE_NAME:
            # Any other failure, for example a missing permission, concerns all names
            about = f"{names} {error.failure.cause.identity}"
            progress.warn(
                "pull_request.option_refused",
                about=about,
                name=tuple(names),
                reason=error.message,
            )
            return False
        refused = 0
        for number, name in enumerate(names):
            if refused == MOST_REFUSED or work.client.limits.pace.is_over:
                rest = tuple(names[number:])
                progress.warn("pull_request.not_tried", about=str(rest), name=rest)
                break
            refused += not _give([name], give, work)
        return False
    return True


def _create(work: Work, new: NewPullRequest) -> PullRequest:
    create = partial(work.client.rest.create_pull_request, work.task.repository)
    try:
        return create(new)
    except GitHubError as error:
        if error.kind is not Kind.NO_DRAFTS:
            raise
        # Some plans of GitHub have no drafts
        work.progress.warn("pull_request.no_drafts")
        return create(new._replace(options=new.options._replace(draft=False)))


def _why_not_opened(work: Work, new: NewPullRequest, why: Failure) -> Failure:
    """Return the reason why a pull request was not opened.

    Only now GitHub is asked whether pull requests are switched off, because GraphQL has not said so
    before.
    """
    repository = work.task.repository
    if not work.client.rest.takes_pull_requests(repository):
        target, branch = repository.full_name, new.branch
        message = msg("pull_request.switched_off", target=target, branch=branch)
        return Failure.of(message, Kind.REFUSED)
    return _by_hand(work.task, new, why)


def _by_hand(task: Task, new: NewPullRequest, why: Failure) -> Failure:
    """Add to a failure the branch with the files, and a link to GitHub's form for opening the pull
    request by hand; the link fills in the form.
    """
    base, head = quote(new.base_branch), quote(new.branch)
    query = f"quick_pull=1&title={quote(new.title)}"
    link = escaping.Link(f"{task.repository.html_url}/compare/{base}...{head}?{query}")
    message = msg("pull_request.not_opened", reason=why.message, branch=new.branch, link=link)
    return why._replace(message=message)
