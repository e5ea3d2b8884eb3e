"""Which open pull requests are closed: those that have become needless, and with `Mode.WITHDRAW`
all that this action has left as it wrote them.

One is needless if others have added its files since: the default branch has every path that its
mark names by now. It is never opened again by this action. A withdrawn one is proposed again by a
later run. Either is closed only if its branch holds exactly what this action wrote; its mark and
the list show that. The request that closes it also marks it (`Close`), so it does not count as
declined, and a run that is killed leaves nothing to clean up. No branch is deleted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from registrar.errors import ENDS_THE_WRITING, GitHubError
from registrar.models.repository import PullRequest, Tree
from registrar.models.settings import CommitStrategy
from registrar.models.task import Task
from registrar.registration.decide import REGULAR_FILE, is_by_writer, marked, open_ones
from registrar.registration.lookups import Lookups
from registrar.registration.mark import Mark, hashed
from registrar.registration.progress import Progress
from registrar.registration.sent import Close
from registrar.registration.work import Writer
from registrar.texts.escaping import FoundPath


def may_be_needless(task: Task) -> list[Close]:
    """Say which open pull requests may be needless, as far as the first reading shows.

    The list is empty if this run leaves open pull requests alone, and with
    `CommitStrategy.PER_FILE`, whose requests are fixed.
    """
    settings = task.spec.settings
    is_asked = settings.update and task.spec.proposes and not task.repository.archived
    if not is_asked or settings.commit_strategy is not CommitStrategy.SINGLE:
        return []
    absent = [each.path for each in task.definitions if each.path not in task.state.entries]
    return [
        Close(pull, mark._replace(is_needless=True))
        for pull, mark in marked(task)
        if _is_whole(mark) and not any(map(mark.names, absent))
    ]


def _is_whole(mark: Mark) -> bool:
    """Whether it names its list, and every path with what was written."""
    return bool(mark.wrote and mark.list and all(mark.wrote.values()) and not mark.is_withdrawn)


def find_needless(task: Task, lookups: Lookups, progress: Progress) -> list[Close]:
    """Find the open pull requests that are needless, and name those that somebody has changed."""
    found: list[Close] = []
    for step in may_be_needless(task):
        pull, mark = step
        if not is_by_writer(pull, lookups.may_write):
            continue
        now, trees = lookups.tree(task.state.base_sha), _trees(task, pull, lookups)
        if now is None or trees is None:
            progress.note("progress.left_open", pull_request=pull.link)
            continue
        named, wrote = {hashed(path): path for path in now}, (mark.wrote or {}).keys()
        owned = {named[each] for each in wrote & named.keys()}
        is_whole = len(owned) == len(wrote)
        if is_whole and _is_as_written(pull, trees, owned, mark.has_written, progress):
            found.append(step)
    return found


def withdraw(task: Task, lookups: Lookups, writer: Writer, progress: Progress) -> Task:
    """Close what may be closed, and name the rest; give the task with how all names stand then."""
    branches, found = open_ones(task, lookups)
    task = task._replace(state=task.state._replace(branches=branches))
    progress.keep_withdrawable(0)
    if not found:
        progress.note("progress.nothing_to_withdraw", repeats_state=True)
    return close(task, _find_withdrawn(task, found, lookups, progress), writer, progress)


def _find_withdrawn(
    task: Task, found: Sequence[tuple[PullRequest, Mark]], lookups: Lookups, progress: Progress
) -> Iterator[Close]:
    listed = {(definition.path, definition.blob_id) for definition in task.definitions}
    for pull, mark in found:

        def is_ours(path: str, blob: str, mark: Mark = mark) -> bool:
            return mark.has_written(path, blob) or (path, blob) in listed

        trees = _trees(task, pull, lookups)
        if trees is None:
            progress.note("progress.left_open", pull_request=pull.link)
            continue
        gone = {d.path for d in task.definitions if mark.names(d.path)} - trees[1].keys()
        if _is_as_written(pull, trees, gone, is_ours, progress):
            yield Close(pull, _named(task, mark, *trees))


def _trees(task: Task, pull: PullRequest, lookups: Lookups) -> tuple[Tree, Tree] | None:
    """What a branch held before its own commits, and what it holds now; `None`: not known."""
    since = lookups.compare(task.state.base_sha, pull.head_sha).merge_base
    before, after = lookups.tree(since) if since else None, lookups.tree(pull.head_sha)
    return None if before is None or after is None else (before, after)


def _is_as_written(
    pull: PullRequest,
    trees: tuple[Tree, Tree],
    owned: Set[str],
    is_ours: Callable[[str, str], bool],
    progress: Progress,
) -> bool:
    """Whether a branch changes nothing, and has all that is ``owned`` of it, unless it has added a
    file there that ``is_ours``. Else what somebody has changed is named, listed or not.
    """
    before, after = trees
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    added = {
        path
        for path in changed - before.keys()
        if after[path].mode == REGULAR_FILE and is_ours(path, after[path].sha)
    }
    if edited := sorted((changed | owned) - added):
        listed = progress.result().paths
        paths = [path if path in listed else FoundPath(path) for path in edited]
        link, about = pull.link, f"{edited}"
        progress.note("progress.left_open_edited", about=about, pull_request=link, paths=paths)
    return not edited


def _named(task: Task, mark: Mark, before: Tree, after: Tree) -> Mark:
    """Give the mark of a withdrawn pull request. Files that a killed run committed, but did not
    name any more, are added to it.
    """
    there = ((each, after.get(each.path)) for each in task.definitions if each.path not in before)
    as_listed = {f.path: f.blob_id for f, entry in there if entry and entry.sha == f.blob_id}
    return mark.naming(task.list_id, as_listed)._replace(is_withdrawn=True)


def close(task: Task, steps: Iterable[Close], writer: Writer, progress: Progress) -> Task:
    """Close pull requests; give the task with how they stand then.

    A needless one that GitHub refuses to close is named, and the run goes on without it.
    """
    for step in steps:
        try:
            now = writer.close(step)
        except GitHubError as error:
            is_final = not error.nothing_done or error.kind in ENDS_THE_WRITING
            if is_final or not step.mark.is_needless:
                raise
            pull, reason = step.pull_request, error.failure.cause.message
            progress.note("progress.left_open_refused", pull_request=pull.link, reason=reason)
            # Its branch may conflict with what is there by now, so nothing is added to it: it is
            # left alone like one that a person has opened again
            now = pull._replace(body=step.mark.text)
        if now is None:
            continue
        task = task.with_pull_request(now)
        mark = Mark.of(now.body)
        if task.missing and not now.is_open and mark and mark.is_needless:
            # The result is about the one that is opened next
            progress.note("progress.closed", pull_request=now.link)
    return task


def as_if_closed(task: Task, steps: Iterable[Close]) -> Task:
    """Give the task as it is once these steps are done."""
    for step in steps:
        task = task.with_pull_request(step.closed)
    return task
