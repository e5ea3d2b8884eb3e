"""Closes open pull requests that are no longer needed (needless), or that are withdrawn.

A pull request is needless if others have added its files in the meantime: the base branch has every
path that its mark names. registrar never opens it again. `Mode.WITHDRAW` is for all open pull
requests of the list; a later run proposes their files again. A pull request is closed only if its
branch holds exactly what registrar wrote; the mark and the list show that. The request that
closes it also marks it (`Close`), so it does not count as declined, and a run that is killed leaves
nothing to clean up. No branch is deleted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from registrar.errors import ENDS_THE_WRITING, GitHubError
from registrar.models.repository import PullRequest, Tree
from registrar.models.settings import CommitStrategy
from registrar.models.task import Task
from registrar.registration.decide import REGULAR_FILE, is_by_writer, open_as_read, open_ones
from registrar.registration.lookups import Lookups
from registrar.registration.mark import Mark, hashed
from registrar.registration.progress import Progress
from registrar.registration.sent import Close
from registrar.registration.work import Writer
from registrar.texts.escaping import FoundPath


def possibly_needless(task: Task) -> list[Close]:
    """Return the steps that close the pull requests which may be needless, judging by their marks
    and by the first reading of the base branch.

    The list is empty if this run leaves open pull requests alone, and with
    `CommitStrategy.PER_FILE`, because its requests are fixed.
    """
    settings = task.spec.settings
    is_asked = settings.update and task.spec.proposes and not task.repository.archived
    if not is_asked or settings.commit_strategy is not CommitStrategy.SINGLE:
        return []
    absent = [each.path for each in task.definitions if each.path not in task.state.entries]
    return [
        Close(pull, mark._replace(is_needless=True))
        for pull, mark in open_as_read(task)
        if _is_whole(mark) and not any(map(mark.names, absent))
    ]


def _is_whole(mark: Mark) -> bool:
    """Whether a mark names its list and the content of every path, and is not withdrawn."""
    return bool(mark.wrote and mark.list and all(mark.wrote.values()) and not mark.is_withdrawn)


def find_needless(task: Task, lookups: Lookups, progress: Progress) -> list[Close]:
    """Return the steps that close the open pull requests which are needless.

    If somebody has changed the branch of one, or GitHub does not list its files, it is left open
    and ``progress`` gets a note.
    """
    found: list[Close] = []
    for step in possibly_needless(task):
        pull, mark = step
        if not is_by_writer(pull, lookups.may_write):
            continue
        now, trees = lookups.tree(task.state.base_sha), _trees(task, pull, lookups)
        if now is None or trees is None:
            progress.note("progress.left_open", pull_request=pull.link)
            continue
        named, wrote = {hashed(path): path for path in now}, (mark.wrote or {}).keys()
        owned = {named[each] for each in wrote & named.keys()}
        has_all_paths = len(owned) == len(wrote)
        if has_all_paths and _is_as_written(pull, trees, owned, mark.has_written, progress):
            found.append(step)
    return found


def withdraw(task: Task, lookups: Lookups, writer: Writer, progress: Progress) -> Task:
    """Close the open pull requests of the list; return the task with the states of all branches.

    A pull request that somebody has changed is left open, and ``progress`` gets a note.
    """
    branches, found = open_ones(task, lookups)
    task = task._replace(state=task.state._replace(branches=branches))
    progress.keep_withdrawable(0)
    if not found:
        progress.note("progress.nothing_to_withdraw", repeats_state=True)
    return close(task, _find_withdrawable(task, found, lookups, progress), writer, progress)


def _find_withdrawable(
    task: Task, found: Sequence[tuple[PullRequest, Mark]], lookups: Lookups, progress: Progress
) -> Iterator[Close]:
    """Yield the steps that withdraw those of ``found`` that have only files of registrar."""
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
            yield Close(pull, _withdrawn_mark(task, mark, *trees))


def _trees(task: Task, pull: PullRequest, lookups: Lookups) -> tuple[Tree, Tree] | None:
    """Return the files that a branch had before its own commits, and the files that it has now;
    `None` if GitHub does not list one of these, or if it has no commit in common with the base
    branch.
    """
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
    """Whether only registrar has changed a branch; if not, ``progress`` gets a note.

    Every path that the branch changes, and every path of ``owned``, must be a regular file that the
    branch adds and for which ``is_ours`` returns true (it takes the path and the blob id). The note
    names all other paths, also those that are not listed.
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


def _withdrawn_mark(task: Task, mark: Mark, before: Tree, after: Tree) -> Mark:
    """Return the mark of a withdrawn pull request. It also names the listed files that a killed run
    has committed, but had no time to name.
    """
    there = ((each, after.get(each.path)) for each in task.definitions if each.path not in before)
    as_listed = {f.path: f.blob_id for f, entry in there if entry and entry.sha == f.blob_id}
    return mark.naming(task.list_id, as_listed)._replace(is_withdrawn=True)


def close(task: Task, steps: Iterable[Close], writer: Writer, progress: Progress) -> Task:
    """Close pull requests, and return the task with their new states.

    If GitHub refuses to close a needless one, ``progress`` gets a note and the run goes on.
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
            # The branch may conflict with the base branch by now, so nothing must be added to it.
            # With this mark it is left alone, like one that a person has reopened
            now = pull._replace(body=step.mark.text)
        if now is None:
            continue
        task = task.with_pull_request(now)
        mark = Mark.of(now.body)
        if task.missing and not now.is_open and mark and mark.is_needless:
            # The result will be about the pull request that is opened next, so this one gets a note
            progress.note("progress.closed", pull_request=now.link)
    return task


def as_if_closed(task: Task, steps: Iterable[Close]) -> Task:
    """Return the task as it will be once these steps are done; nothing is sent."""
    for step in steps:
        task = task.with_pull_request(step.closed)
    return task
