"""Which branch a run may write on (docs/concepts.md, "Working branch")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from registrar.errors import Refused, RegistrarError
from registrar.failure import Failure
from registrar.github.errors import GitHubError
from registrar.models.branch import Attempt, Branch, Declined, OpenOrDeclined
from registrar.models.plan import Plan
from registrar.models.repository import BranchState, Tree
from registrar.registration import mark, proposal
from registrar.registration.plan import declined_paths, was_declined
from registrar.registration.progress import Progress
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client

LAST_SUFFIX = 50
"""The last of the names with `-2`, `-3` … that are tried: each takes requests."""
_REGULAR_FILE = "100644"
"""The mode that GitHub gives to a file which it creates."""


def names(plan: Plan) -> Iterator[str]:
    """Give the names of branches that may be written to, the best one first.

    Raises:
        Refused: the plan's own name is that of the default branch.
        RegistrarError: all names were tried.
    """
    yield require_other_than_default(plan.spec.branch, plan.repository.default_branch)
    for suffix in range(2, LAST_SUFFIX + 1):
        name = f"{plan.spec.branch}-{suffix}"
        if not _is_same(name, plan.repository.default_branch):
            yield name
    message = msg("branch.no_name_free", branch=plan.spec.branch, last=LAST_SUFFIX)
    raise RegistrarError(Failure.of(message))


def require_other_than_default(name: str, default_branch: str) -> str:
    """Refuse the default branch as a working branch.

    Raises:
        Refused: GitHub would write to the default branch.
    """
    if _is_same(name, default_branch):
        raise Refused(msg("preflight.branch_is_default", branch=name))
    return name


def _is_same(one: str, other: str) -> bool:
    """Whether both names may mean one branch: git also finds ``main`` as ``heads/main``.

    See https://git-scm.com/docs/gitrevisions, "<refname>".
    """
    return _short(one) == _short(other)


def _short(name: str) -> str:
    while name.startswith(("refs/", "heads/")):
        name = name.partition("/")[2]
    return name


def claim(
    client: Client, plan: Plan, attempt: Attempt | None, progress: Progress
) -> Branch | Declined:
    """Create the working branch, or find the one that an earlier run left.

    ``attempt`` is what this run has already asked for under the plan's own name.

    Raises:
        GitHubError: GitHub refuses the branch, or gave no usable response.
        Refused: the branch is the default branch.
    """
    for name in names(plan):
        tried = attempt if name == plan.spec.branch else None
        found = _declined_under(client, plan, name, progress) or _claim(
            client, plan, name, tried, progress
        )
        if found is not None:
            return found
    raise AssertionError  # `names` raises before it ends


def find(client: Client, plan: Plan, progress: Progress) -> OpenOrDeclined | None:
    """Find the pull request that `claim` would continue, or respect as declined, by reads only.

    Raises:
        GitHubError: GitHub does not show the branch or its pull requests.
        Refused: the branch is the default branch.
    """
    for name in names(plan):
        if declined := _declined_under(client, plan, name, progress):
            return declined
        if name == plan.spec.branch and plan.state.pull_requests is not None:
            state = plan.state.branch
        else:
            state = client.branch_state(plan.repository, name)
        if state is None:
            return None
        found = proposed(state, plan)
        if isinstance(found, Declined) or (found and proposal.is_ours(found.body)):
            # Only who writes needs to know what the branch holds
            return found
        may_have_no_commit = plan.spec.uses_profile_branch
        branch = _continue(client, plan, state, may_have_no_commit=may_have_no_commit)
        if isinstance(branch, Branch):
            return branch.pull_request
    raise AssertionError  # `names` raises before it ends


def _claim(
    client: Client, plan: Plan, name: str, attempt: Attempt | None, progress: Progress
) -> Branch | Declined | None:
    """Try one name; ``None`` when the branch of that name is to be left alone."""
    state = plan.state.branch if name == plan.spec.branch else None
    if state:
        return _continue(client, plan, state, may_have_no_commit=plan.spec.uses_profile_branch)

    may_have_been_applied = bool(attempt and attempt.may_have_been_applied)
    if may_have_been_applied or _is_later_name(plan, name):
        # Read what the request may have done before anything else is written, and do not try to
        # create what may exist: a refused request counts against GitHub's limits of writing, too
        state = client.branch_state(plan.repository, name)
    if state is None:
        try:
            client.create_branch(plan.repository, name, plan.state.base_sha)
            return Branch(name, plan.state.base_sha)
        except GitHubError as error:
            if not (error.already_exists or error.may_have_been_applied):
                raise
            state = client.branch_state(plan.repository, name)
            if state is None:
                raise
            may_have_been_applied |= error.may_have_been_applied

    # It was not there when the repository was read, so it may be the default branch by now
    now = client.default_branch(plan.repository)
    if _is_same(name, now):
        _close_again(client, plan, attempt, progress)
        if name == plan.spec.branch:
            require_other_than_default(name, now)
        return None
    may_have_no_commit = plan.spec.uses_profile_branch or (
        may_have_been_applied and state.head == plan.state.base_sha
    )
    found = _continue(client, plan, state, may_have_no_commit=may_have_no_commit, attempt=attempt)
    if isinstance(found, Branch):
        return found._replace(may_have_been_applied=may_have_been_applied)
    if found is None:
        _close_again(client, plan, attempt, progress)
    return found


def _is_later_name(plan: Plan, name: str) -> bool:
    """Whether the plan knows the pull requests of its own name, and this is another one."""
    return name != plan.spec.branch and plan.state.pull_requests is not None


def _declined_under(client: Client, plan: Plan, name: str, progress: Progress) -> Declined | None:
    """Leave out what was declined under another name than the plan's; nothing may be left then.

    Looks only where the plan took account of what was declined under its own name.
    """
    if not _is_later_name(plan, name):
        return None
    pulls = client.pull_requests(plan.repository, name)
    todo = {definition.path: definition for definition in progress.pending(plan.missing)}
    declined = declined_paths(pulls, plan.repository.default_branch, todo)
    for path, pull in declined.items():
        progress.declined(todo[path], pull)
    if len(declined) < len(todo):
        return None
    return Declined(name, next(iter(declined.values())))


def _close_again(client: Client, plan: Plan, attempt: Attempt | None, progress: Progress) -> None:
    """Close the pull request that our attempt opened from somebody else's branch, if it did."""
    opened = attempt.pull_request if attempt else None
    if attempt and attempt.may_have_been_applied:
        pulls = client.pull_requests(plan.repository, plan.spec.branch)
        opened = next((pull for pull in pulls if pull.is_open and attempt.opened(pull)), None)
    if opened:
        client.update_pull_request(plan.repository, opened, body=mark.CLOSED_BY_US, close=True)
        progress.warn(
            "progress.closed_again",
            about=opened.url,
            pull_request=opened.link,
            branch=plan.spec.branch,
        )


def _continue(
    client: Client,
    plan: Plan,
    state: BranchState,
    *,
    may_have_no_commit: bool,
    attempt: Attempt | None = None,
) -> Branch | Declined | None:
    """Continue a branch that exists, if it is ours."""
    found = proposed(state, plan)
    if isinstance(found, Declined):
        return found
    # After an attempt of ours, a pull request with our marker may be from somebody else's branch:
    # compare the commits first
    if found and not attempt and proposal.is_ours(found.body):
        tree = client.tree(plan.repository, state.head)
        return Branch(state.name, state.head, tree, found, is_new=False)
    if is_done(state, plan):
        return None
    branch = _leftover(client, plan, state, may_have_no_commit=may_have_no_commit)
    is_new = bool(found and attempt and attempt.opened(found))
    return branch and branch._replace(pull_request=found, is_pull_request_new=is_new)


def proposed(branch_state: BranchState, plan: Plan) -> OpenOrDeclined | None:
    """Find the open pull request of a branch, or the one that was declined.

    Declined is a pull request from exactly the branch's commit that somebody else closed without
    merging it. One whose paths are known is in the plan already: what is missing there goes to
    another branch.
    """
    base = plan.repository.default_branch
    ours = [pull for pull in branch_state.pull_requests if pull.base_branch == base]
    for pull in ours:
        if pull.is_open:
            return pull
    for pull in ours:
        if was_declined(pull, base) and pull.head_sha == branch_state.head:
            remembered = plan.state.pull_requests is not None
            known = remembered and mark.proposed(pull.body, ()) is not None
            return None if known else Declined(branch_state.name, pull)
    return None


def is_done(branch_state: BranchState, plan: Plan) -> bool:
    """Whether the branch has had its pull request, so that the next one is from another branch."""
    at_head = (pull.head_sha == branch_state.head for pull in branch_state.pull_requests)
    return any(at_head) and proposed(branch_state, plan) is None


def _leftover(
    client: Client, plan: Plan, state: BranchState, *, may_have_no_commit: bool
) -> Branch | None:
    """Continue a branch that an interrupted run left: it adds files of ours and nothing else.

    ``may_have_no_commit`` says whether a branch without a commit of its own counts as ours, too.
    """
    name, head = state.name, state.head
    comparison = None
    if head != plan.state.base_sha:
        comparison = client.compare(plan.repository, plan.state.base_sha, head)
    if comparison is None or comparison.merge_base == head:
        if not may_have_no_commit:
            return None
        return Branch(
            name, head, client.tree(plan.repository, head), is_new=False, had_no_commit=True
        )
    after = client.tree(plan.repository, head)
    before = client.tree(plan.repository, comparison.merge_base)
    blobs = {d.path: d.blob_id for d in plan.missing}
    # A repository too large for GitHub to list: the comparison names up to 300 files
    added = comparison.added if before is None or after is None else _added(before, after)
    ours = added and added.items() <= blobs.items()
    return Branch(name, head, after, is_new=False) if ours else None


def _added(before: Tree, after: Tree) -> Mapping[str, str] | None:
    """Blob ids of the regular files that were added; ``None`` where anything else changed."""
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    if any(path in before or after[path].mode != _REGULAR_FILE for path in changed):
        return None
    return {path: after[path].sha for path in changed}
