"""Closes open pull requests that have become needless: others have added their files since.

One is closed if the default branch has every path that its mark names by now, and if its
branch adds exactly these, as this action wrote them. It is read once more right before the one
request that closes it and marks it: so it is no "no". It is never opened again by this action.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from registrar.errors import ENDS_THE_WRITING, GitHubError
from registrar.models.plan import Plan
from registrar.models.repository import PullRequest, Tree
from registrar.models.settings import CommitStrategy
from registrar.registration.answers import Answers
from registrar.registration.decide import REGULAR_FILE, is_by_writer, marked
from registrar.registration.mark import NO_MARK, Mark, hashed
from registrar.registration.progress import Progress
from registrar.registration.withdrawal import close, name_edited, with_pull_request

if TYPE_CHECKING:
    from registrar.github.client import Client


def may_be_needless(plan: Plan) -> list[tuple[PullRequest, Mark]]:
    """Give the open pull requests that may be needless, as far as the first reading shows.

    The list is empty if this run leaves open pull requests alone, and with
    `CommitStrategy.PER_FILE`, whose requests are fixed.
    """
    settings = plan.spec.settings
    is_asked = settings.update and plan.spec.proposes and not plan.repository.archived
    if not is_asked or settings.commit_strategy is not CommitStrategy.SINGLE:
        return []
    absent = [each.path for each in plan.definitions if each.path not in plan.state.entries]
    return [
        (pull, mark)
        for pull, mark in marked(plan)
        if _is_whole(mark) and not any(map(mark.names, absent))
    ]


def _is_whole(mark: Mark) -> bool:
    """Whether it names its list, and every path with what was written."""
    return bool(mark.wrote and mark.list and all(mark.wrote.values()) and not mark.is_withdrawn)


def find_needless(plan: Plan, answers: Answers, progress: Progress) -> list[PullRequest]:
    """Give the open pull requests that are needless, and name those that somebody has changed."""
    found: list[PullRequest] = []
    for pull, mark in may_be_needless(plan):
        if not is_by_writer(pull, answers.may_write):
            continue
        base = plan.state.base_sha
        now, since = answers.tree(base), answers.compare(base, pull.head_sha).merge_base
        before, after = answers.tree(since) if since else None, answers.tree(pull.head_sha)
        if now is None or before is None or after is None:
            progress.note("progress.left_open", pull_request=pull.link)
            continue
        named = {hashed(path): path for path in now}
        if not (mark.wrote or {}).keys() <= named.keys():
            continue
        if edited := _edited(mark, named, before, after):
            name_edited(plan, pull, edited, progress)
        else:
            found.append(pull)
    return found


def _edited(mark: Mark, named: Mapping[str, str], before: Tree, after: Tree) -> Sequence[str]:
    """Paths at which somebody has changed the branch: the branch lacks what the mark names, has
    other content there, or changes something that the mark does not name.
    """
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    added = {
        path
        for path in changed - before.keys()
        if after[path].mode == REGULAR_FILE and mark.has_written(path, after[path].sha)
    }
    return sorted((changed | {named[each] for each in mark.wrote or ()}) - added)


def close_needless(
    client: "Client", plan: Plan, pulls: Sequence[PullRequest], progress: Progress
) -> Plan:
    """Close what has become needless; give the plan with how its pull requests stand then."""
    for pull in pulls:
        try:
            now = close(client, plan, pull, _needless(pull), progress)
        except GitHubError as error:
            if not error.nothing_done or error.kind in ENDS_THE_WRITING:
                raise
            reason = error.failure.cause.message
            progress.note("progress.left_open_refused", pull_request=pull.link, reason=reason)
            # Its branch may conflict with what is there by now, so nothing is added to it: it is
            # left alone like one that a person has opened again
            plan = with_pull_request(plan, pull._replace(body=_needless(pull).text))
            continue
        if now:
            plan = with_pull_request(plan, now)
            mark = Mark.of(now.body)
            if plan.missing and mark and mark.is_needless:
                # The result is about the one that is opened next
                progress.note("progress.closed", pull_request=pull.link)
    return plan


def _needless(pull: PullRequest) -> Mark:
    return (Mark.of(pull.body) or NO_MARK)._replace(is_needless=True)


def as_if_closed(plan: Plan, pulls: Sequence[PullRequest]) -> Plan:
    """Give the plan as it is once these are closed as needless."""
    for pull in pulls:
        closed = pull._replace(is_open=False, body=_needless(pull).text)
        plan = with_pull_request(plan, closed)
    return plan
