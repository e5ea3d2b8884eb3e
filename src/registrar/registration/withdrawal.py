"""Takes open pull requests back: `Mode.WITHDRAW`.

A pull request of the list is closed if its branch holds exactly what this action wrote; the mark in
its description and the list show that. It is read once more right before the one request that
closes it. This request also marks it as withdrawn, so that it does not count as declined, and a
later run proposes its files again. A run that is killed leaves nothing to clean up. No branch is
deleted.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from registrar.models.plan import Change, Plan
from registrar.models.repository import PullRequest, Tree
from registrar.models.result import PullRequestOperation
from registrar.registration.answers import Answers
from registrar.registration.decide import REGULAR_FILE, open_ones
from registrar.registration.mark import Mark
from registrar.registration.progress import Progress
from registrar.registration.proposal import Proposal
from registrar.texts.escaping import FoundPath

if TYPE_CHECKING:
    from registrar.github.client import Client


def withdraw(client: "Client", plan: Plan, answers: Answers, progress: Progress) -> Plan:
    """Close what may be closed, and name the rest; give the plan with how all names stand then."""
    branches, found = open_ones(plan, answers)
    plan = plan._replace(state=plan.state._replace(branches=branches))
    progress.keep_withdrawable(0)
    if not found:
        progress.note("progress.nothing_to_withdraw", repeats_state=True)
    for pull, mark in found:
        since = answers.compare(plan.state.base_sha, pull.head_sha).merge_base
        before, after = answers.tree(since) if since else None, answers.tree(pull.head_sha)
        link = pull.link
        if before is None or after is None:
            progress.note("progress.left_open", pull_request=link)
        elif edited := _edited(plan, mark, before, after):
            name_edited(plan, pull, edited, progress)
        elif now := close(client, plan, pull, _named(plan, mark, before, after), progress):
            plan = with_pull_request(plan, now)
    return plan


def with_pull_request(plan: Plan, now: PullRequest) -> Plan:
    """Give the plan with a pull request as it is by now."""
    state = plan.state.branches[now.head_branch]
    pulls = (now if each.number == now.number else each for each in state.pull_requests)
    state = state._replace(pull_requests=tuple(pulls))
    branches = {**plan.state.branches, state.name: state}
    return plan._replace(state=plan.state._replace(branches=branches))


def name_edited(plan: Plan, pull: PullRequest, edited: Sequence[str], progress: Progress) -> None:
    """Name what somebody has changed, listed or not."""
    listed = {definition.path for definition in plan.definitions}
    paths = [path if path in listed else FoundPath(path) for path in edited]
    progress.note(
        "progress.left_open_edited", about=f"{edited}", pull_request=pull.link, paths=paths
    )


def _edited(plan: Plan, mark: Mark, before: Tree, after: Tree) -> list[str]:
    """Paths at which somebody has changed the branch: what is there, or gone, is not as written."""
    gone = {d.path for d in plan.definitions if mark.names(d.path) and d.path not in after}
    listed = {(definition.path, definition.blob_id) for definition in plan.definitions}

    def is_written(path: str) -> bool:
        if path in before or after[path].mode != REGULAR_FILE:
            return False
        blob = after[path].sha
        return mark.has_written(path, blob) or (path, blob) in listed

    changed = (p for p in before.keys() | after.keys() if before.get(p) != after.get(p))
    return sorted(gone.union(path for path in changed if not is_written(path)))


def _named(plan: Plan, mark: Mark, before: Tree, after: Tree) -> Mark:
    """Give the mark of a withdrawn pull request. Files that a killed run committed, but did not
    name any more, are added to it.
    """
    there = ((each, after.get(each.path)) for each in plan.definitions if each.path not in before)
    as_listed = {f.path: f.blob_id for f, entry in there if entry and entry.sha == f.blob_id}
    return mark.naming(plan.list_id, as_listed)._replace(is_withdrawn=True)


def close(
    client: "Client", plan: Plan, pull: PullRequest, mark: Mark, progress: Progress
) -> PullRequest | None:
    """Close it with a mark that says why, and give it as it is by then.

    ``None`` if it has changed since it was read; `GitHubError` if GitHub refuses it.
    """
    found: PullRequest | None = None

    def change(now: PullRequest) -> Change | None:
        nonlocal found
        is_here = (now.head_sha, now.base_branch) == (pull.head_sha, pull.base_branch)
        if not now.is_open:
            found = now
            return None
        if not (is_here and now.has_body(pull.body)):
            progress.note("progress.left_open_moved", pull_request=pull.link)
            return None
        return Change(
            Proposal(plan.spec, progress.listener.texts).closed(now.body, mark), closes=True
        )

    if now := client.rest.update_pull_request(plan.repository, pull, change):
        closed = PullRequestOperation.CLOSED if mark.is_needless else PullRequestOperation.WITHDRAWN
        progress.keep_pull_request(now, closed)
    return now or found
