"""Finds the open pull requests that are to be closed: no longer needed (needless), or withdrawn.

A pull request is needless if others have added its files in the meantime: the base branch has every
path that its mark names. registrar never opens it again. `Mode.WITHDRAW` is for all open pull
requests of the list; a later run proposes their files again. A pull request is closed only if its
branch adds exactly what registrar wrote; the mark and the list show that. The request that
closes it also marks it (`Close`), so it does not count as declined, and a run that is killed leaves
nothing to clean up. No branch is deleted.
"""

from collections.abc import Callable, Iterable, Set
from typing import NamedTuple

from registrar.errors import GitHubError
from registrar.models.record import Note
from registrar.models.repository import BranchState, PullRequest, Tree
from registrar.models.settings import CommitStrategy
from registrar.models.task import Task
from registrar.registration.branch_contents import REGULAR_FILE, Contents
from registrar.registration.candidates import Candidate, Candidates
from registrar.registration.lookups import Lookups
from registrar.registration.mark import Mark, hashed
from registrar.registration.sent import Close, SentSteps
from registrar.texts.escaping import FoundPath
from registrar.texts.messages import msg


class Closings(NamedTuple):
    """The pull requests to close, and notes about those that are left open."""

    steps: tuple[Close, ...] = ()
    notes: tuple[Note, ...] = ()


def find_closings(
    task: Task,
    candidates: Candidates,
    lookups: Lookups,
    sent: SentSteps,
    states: Iterable[BranchState],
) -> Closings:
    """Return which open pull requests from the branches ``states`` are to be closed.

    With guesses, the marks alone decide whether one is needless. This run tries to close each of
    them only once.
    """
    finder = _Finder(task, lookups, candidates)
    opened = (each for state in states for each in candidates.of(state) if each.pull.is_open)
    asked = (each for each in opened if each.pull.number not in sent.tried_to_close)
    found = [step for each in asked if (step := finder.step(each))]
    if task.spec.withdraws and not (found or finder.notes or sent.tried_to_close):
        finder.note("progress.nothing_to_withdraw", repeats_state=True)
    return Closings(tuple(found), tuple(finder.notes))


class _Finder:
    def __init__(self, task: Task, lookups: Lookups, candidates: Candidates) -> None:
        self._task = task
        self._lookups = lookups
        self._candidates = candidates
        self.notes: list[Note] = []

    def note(
        self, key: str, about: str = "", *, repeats_state: bool = False, **values: object
    ) -> None:
        """Add a note; two notes with the same sentence are different if their ``about`` is."""
        self.notes.append(Note(msg(key, **values), f"{key} {about}", repeats_state))

    def step(self, candidate: Candidate) -> Close | None:
        """Return the step that closes a pull request; ``None`` if it is to be left open."""
        if self._task.spec.withdraws:
            return self._withdrawal_of(candidate)
        mark = candidate.of_list if candidate.pull.base_branch == self._task.base_branch else None
        if mark is None or candidate.is_elsewhere:
            return None
        if self._task.spec.settings.commit_strategy is CommitStrategy.PER_FILE:
            self._note_open(candidate, mark)
            return None
        if not self._may_be_needless(mark):
            return None
        step = Close(candidate.pull, mark._replace(is_needless=True))
        if self._lookups.is_guess:
            return step
        is_needless = self._candidates.counts(candidate) and self._is_needless(candidate.pull, mark)
        return step if is_needless else None

    # --- No longer needed -----------------------------------------------------------------------

    def _may_be_needless(self, mark: Mark) -> bool:
        """Whether a pull request may be needless, judging by its mark and by the first reading.

        False if this run leaves open pull requests alone.
        """
        task = self._task
        if not task.spec.settings.update or task.repository.archived:
            return False
        # It names its list and the content of every path
        is_whole = mark.wrote and mark.list and all(mark.wrote.values()) and not mark.is_withdrawn
        absent = (each.path for each in task.definitions if each.path not in task.state.entries)
        return bool(is_whole) and not any(map(mark.names, absent))

    def _note_open(self, candidate: Candidate, mark: Mark) -> None:
        """Say that a pull request stays open although every listed file exists, and in which files
        it conflicts.

        With `CommitStrategy.PER_FILE` a run does not close it, because to find out whether somebody
        has edited its branch would take more requests.
        """
        task = self._task
        is_complete = all(each.standing.is_present for each in task.paths)
        is_asked = task.spec.names_open_pull_requests and is_complete
        if is_asked and self._candidates.counts(candidate):
            link = candidate.pull.link
            if paths := self._conflicts(candidate.pull.head_sha, mark):
                key = "progress.left_open_conflicting"
                self.note(key, f"{paths}", pull_request=link, paths=paths)
            else:
                self.note("progress.left_open_complete", pull_request=link)

    def _conflicts(self, head: str, mark: Mark) -> tuple[str, ...]:
        """Return the listed paths in which a branch conflicts. They are only for a note, so an
        error is ignored, and nothing is asked if the base branch has what registrar wrote.
        """
        here = self._task.state.entries
        if not any(mark.names(p) and not mark.has_written(p, here[p].sha) for p in here):
            return ()
        try:
            tree = self._lookups.tree_at_listed(head) or {}
            return Contents(self._task, self._lookups).conflicts(head, tree, mark)
        except GitHubError:
            return ()

    def _is_needless(self, pull: PullRequest, mark: Mark) -> bool:
        now, trees = self._lookups.tree(self._task.state.base_sha), self._trees(pull)
        if now is None or trees is None:
            self.note("progress.left_open", pull_request=pull.link)
            return False
        named, wrote = {hashed(path): path for path in now}, (mark.wrote or {}).keys()
        owned = {named[each] for each in wrote & named.keys()}
        return len(owned) == len(wrote) and self._is_as_written(
            pull, trees, owned, mark.has_written
        )

    # --- Withdrawn ------------------------------------------------------------------------------

    def _withdrawal_of(self, candidate: Candidate) -> Close | None:
        mark, pull = self._candidates.ours(candidate), candidate.pull
        if mark and candidate.is_elsewhere:
            self.note("progress.list_elsewhere", pull.url, pull_request=pull.link)
            return None
        return self._withdrawal(pull, mark) if mark else None

    def _withdrawal(self, pull: PullRequest, mark: Mark) -> Close | None:
        listed = {(definition.path, definition.blob_id) for definition in self._task.definitions}

        def is_ours(path: str, blob: str) -> bool:
            return mark.has_written(path, blob) or (path, blob) in listed

        trees = self._trees(pull)
        if trees is None:
            self.note("progress.left_open", pull_request=pull.link)
            return None
        before, after = trees
        wrote = frozenset(mark.wrote or ())
        known = {hashed(path): path for path in (*before, *after, *(path for path, _ in listed))}
        # Somebody may have removed the comment with the paths of a mark
        named = {known[each] for each in wrote & known.keys()}
        owned = {path for path, _ in listed} - after.keys() if mark.wrote is None else named
        if deleted := len(wrote) - len(named):
            self.note("progress.left_open_deleted", pull_request=pull.link, count=deleted)
        if not self._is_as_written(pull, trees, owned, is_ours) or deleted:
            return None
        return Close(pull, self._withdrawn_mark(mark, *trees))

    def _withdrawn_mark(self, mark: Mark, before: Tree, after: Tree) -> Mark:
        """Return the mark of a withdrawn pull request. It also names the listed files that a killed
        run has committed, but had no time to name.
        """
        task = self._task
        added = (
            (each, after.get(each.path)) for each in task.definitions if each.path not in before
        )
        as_listed = {f.path: f.blob_id for f, entry in added if entry and entry.sha == f.blob_id}
        named = mark.naming(task.list_id, as_listed, source=task.spec.source)
        return named._replace(is_withdrawn=True)

    # --- Both -----------------------------------------------------------------------------------

    def _trees(self, pull: PullRequest) -> tuple[Tree, Tree] | None:
        """Return the files that a branch had before its own commits, and the files that it has now;
        `None` if GitHub does not list one of these, or if it has no commit in common with the base
        branch.
        """
        lookups = self._lookups
        since = lookups.compare(self._task.state.base_sha, pull.head_sha).merge_base
        before, after = lookups.tree(since) if since else None, lookups.tree(pull.head_sha)
        return None if before is None or after is None else (before, after)

    def _is_as_written(
        self,
        pull: PullRequest,
        trees: tuple[Tree, Tree],
        owned: Set[str],
        is_ours: Callable[[str, str], bool],
    ) -> bool:
        """Whether only registrar has changed a branch; if not, there is a note.

        Every path that the branch changes, and every path of ``owned``, must be a regular file that
        the branch adds and for which ``is_ours`` returns true (it takes the path and the blob id).
        The note names all other paths, also those that are not listed.
        """
        before, after = trees
        paths = before.keys() | after.keys()
        changed = {path for path in paths if before.get(path) != after.get(path)}
        added = {
            path
            for path in changed - before.keys()
            if after[path].mode == REGULAR_FILE and is_ours(path, after[path].sha)
        }
        if edited := sorted((changed | owned) - added):
            listed = {each.path for each in self._task.definitions}
            shown = [path if path in listed else FoundPath(path) for path in edited]
            link, about = pull.link, f"{edited}"
            self.note("progress.left_open_edited", about, pull_request=link, paths=shown)
        return not edited
