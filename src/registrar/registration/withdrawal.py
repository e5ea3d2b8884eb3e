"""Takes open pull requests back: `Mode.WITHDRAW`.

Each open one of the list, under whichever name, is closed where its branch holds what this action
wrote, all of that and nothing else, as the mark in its description and the list tell. It is read
once more right before the one request that closes it, and marks it as withdrawn: so it is no "no",
and a later run opens it again. A run that is killed leaves nothing to clean up. Branches stay.
"""

from typing import TYPE_CHECKING

from registrar.models.plan import Plan
from registrar.models.repository import PullRequest, Tree
from registrar.models.result import PullRequestOperation
from registrar.registration.answers import Answers
from registrar.registration.decide import REGULAR_FILE, open_ones
from registrar.registration.mark import Mark
from registrar.registration.progress import Progress
from registrar.registration.proposal import Proposal

if TYPE_CHECKING:
    from registrar.github.client import Client


def withdraw(client: "Client", plan: Plan, answers: Answers, progress: Progress) -> Plan:
    """Close what may be closed, and name the rest; give the plan with how all names stand then."""
    branches, found = open_ones(plan, answers)
    progress.withdrawable(0)
    if not found:
        progress.note("progress.nothing_to_withdraw", repeats_state=True)
    for pull, mark in found:
        since = answers.compare(plan.state.base_sha, pull.head_sha).merge_base
        before, after = answers.tree(since) if since else None, answers.tree(pull.head_sha)
        link = pull.link
        if before is None or after is None:
            progress.note("progress.left_open", pull_request=link)
        elif edited := _edited(plan, mark, before, after):
            key, about = "progress.left_open_edited", f"{edited}"
            progress.note(key, about=about, pull_request=link, paths=edited)
        elif now := _close(client, plan, pull, mark.at(after), progress):
            state = branches[pull.head_branch]
            pulls = (now if each.number == now.number else each for each in state.pull_requests)
            branches[state.name] = state._replace(pull_requests=tuple(pulls))
        else:
            progress.note("progress.left_open_moved", pull_request=link)
    return plan._replace(state=plan.state._replace(branches=branches))


def _edited(plan: Plan, mark: Mark, before: Tree, after: Tree) -> list[str]:
    """Paths at which somebody has changed the branch: what is there, or gone, is not as written."""
    gone = {d.path for d in plan.definitions if mark.holds(d.path) and d.path not in after}
    listed = {(definition.path, definition.blob_id) for definition in plan.definitions}

    def is_written(path: str) -> bool:
        if path in before or after[path].mode != REGULAR_FILE:
            return False
        blob = after[path].sha
        return mark.has_written(path, blob) or (path, blob) in listed

    changed = (p for p in before.keys() | after.keys() if before.get(p) != after.get(p))
    return sorted(gone.union(path for path in changed if not is_written(path)))


def _close(
    client: "Client", plan: Plan, pull: PullRequest, mark: Mark, progress: Progress
) -> PullRequest | None:
    """Close it, and give it as it is by then; ``None`` where it has changed since it was read."""
    now = client.rest.pull_request(plan.repository, pull.number)
    if not now.is_open:
        return now
    is_here = (now.head_sha, now.base_branch) == (pull.head_sha, pull.base_branch)
    if not (is_here and now.has_body(pull.body)):
        return None
    body = Proposal(plan.spec, progress.texts).withdrawn(now.body, mark)
    now = client.rest.update_pull_request(plan.repository, now, body=body, state="closed")
    progress.pull_request(now, PullRequestOperation.WITHDRAWN)
    return now
