"""The files that a branch adds to its base and those that it lacks, for all rules that ask this."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from registrar.errors import GitHubError, Kind
from registrar.models.files import FileDefinition, parents
from registrar.models.repository import Entry, Tree
from registrar.models.task import Task
from registrar.presence.tasks import blob_ids_at
from registrar.registration.lookups import Lookups
from registrar.registration.mark import Mark
from registrar.texts.escaping import FoundPath

REGULAR_FILE = "100644"
"""The mode that GitHub gives to a file which it creates."""


class Added(NamedTuple):
    """The files that a branch adds to the commit from which it starts."""

    blobs: Mapping[str, str]
    """Blob ids of the added files, by path. Empty if the branch also changes other files, changes
    more than GitHub lists, or has no commit in common with the base branch."""
    before: Tree | None = None
    """The files of the commit from which the branch starts; ``None`` if GitHub does not list them.
    """


class Contents:
    """Answers questions about the files of commits, with the questions of `Lookups`."""

    def __init__(self, task: Task, lookups: Lookups) -> None:
        self._task = task
        self._lookups = lookups

    def lacking(self, paths: frozenset[str], commit: str) -> frozenset[str]:
        """Return those of ``paths`` that a commit lacks; none if GitHub has lost the commit."""
        try:
            return self._lookups.lacking(paths, commit) if paths else paths
        except GitHubError as error:
            if error.kind is not Kind.NOT_FOUND:
                raise
            return frozenset()

    def removed(self, mark: Mark, named: frozenset[str], head: str) -> frozenset[str]:
        """Find those of the ``named`` paths, which a mark names, that somebody removed.

        If the branch adds none of the named files, but others that are not listed, nothing counts
        as removed. The request that opens a pull request writes the description before the commit,
        and somebody may have created the branch in between.
        """
        removed = self.lacking(named, head)
        tree = self._lookups.tree(head) if removed and removed == named else None
        if tree is None or any(map(mark.names, tree)):
            return removed
        since = self._lookups.compare(self._task.state.base_sha, head).merge_base
        if not since or self._lookups.tree(since) == tree:
            return removed
        added = self.added(head) or Added({})
        is_as_listed = added.blobs.items() <= self.blobs(added, self._task.missing).items()
        return removed if added.blobs and is_as_listed else frozenset()

    def added(self, head: str) -> Added | None:
        """Return the files that a branch adds; `None` if it has no commit of its own."""
        base_sha = self._task.state.base_sha
        if head == base_sha:
            return None
        comparison = self._lookups.compare(base_sha, head)
        if comparison.merge_base == head:
            return None
        if not comparison.merge_base:
            return Added({})
        after, before = self._lookups.tree(head), self._lookups.tree(comparison.merge_base)
        if before is None or after is None:
            # GitHub does not list so many files, but the comparison names up to 300 of them
            return Added(comparison.added or {})
        return Added(_added_between(before, after), before)

    def blobs(self, added: Added, definitions: Sequence[FileDefinition]) -> Mapping[str, str]:
        """Return the blob ids of ``definitions`` by path.

        If a part of a file depends on the paths of the repository, its blob is the one that the
        list gives to the commit from which the branch starts.
        """
        blobs = {definition.path: definition.blob_id for definition in definitions}
        if added.before is not None:
            then = blob_ids_at(self._task, added.before)
            blobs = {path: then.get(path, blob) for path, blob in blobs.items()}
        return blobs

    def added_as_listed(self, head: str) -> frozenset[str]:
        """Find the missing paths that a branch adds with the list's content, if it changes nothing
        but regular files that it adds. None if GitHub has lost the commit.
        """
        try:
            added = self.added(head) or Added({})
        except GitHubError as error:
            if error.kind is not Kind.NOT_FOUND:
                raise
            return frozenset()
        blobs = self.blobs(added, self._task.missing)
        return frozenset(path for path in blobs if added.blobs.get(path) == blobs[path])

    def added_beyond(self, mark: Mark, head: str) -> frozenset[str]:
        """Find the missing paths that a mark does not name, and that a branch adds with the list's
        content, perhaps beside other changes. None if GitHub has lost the commit.

        The files of the branch are read first, because hardly any branch has such a path.
        """
        unnamed = [each.path for each in self._task.missing if not mark.names(each.path)]
        try:
            tree = self._lookups.tree_at_listed(head) if unnamed else {}
            if tree is None:
                return self.added_as_listed(head).intersection(unnamed)
            there = [p for p in unnamed if p in tree and tree[p].mode == REGULAR_FILE]
            since = (
                self._lookups.compare(self._task.state.base_sha, head).merge_base if there else ""
            )
            before = self._lookups.tree(since) if since else None
        except GitHubError as error:
            if error.kind is not Kind.NOT_FOUND:
                raise
            return frozenset()
        if before is None:
            return frozenset()
        blobs = self.blobs(Added({}, before), self._task.missing)
        return frozenset(p for p in there if p not in before and tree[p].sha == blobs[p])

    def conflicts(self, head: str, tree: Tree, mark: Mark) -> tuple[str, ...]:
        """Find the paths at which the branch and the base branch have added different files, or at
        which the base branch has added a file in place of a directory.

        Only paths that registrar has added count; the list may not have them any more. Git cannot
        merge either. If somebody has merged the base branch into this branch and kept
        the branch's file, there is no conflict any more.
        """
        if not mark.wrote:
            return ()
        listed = {each.path: None for each in self._task.definitions}
        others = [FoundPath(each) for each in tree if each not in listed and mark.names(each)]
        here = self._task.state.entries
        if others and (files := self._lookups.tree(self._task.state.base_sha)):
            above = {parent for path in files for parent in parents(path)}
            here = {**dict.fromkeys(above, Entry("tree", "", "")), **files, **here}

        def is_taken(path: str) -> bool:
            if path in here:
                return here[path].sha != tree[path].sha
            return any(here[above].type != "tree" for above in parents(path) if above in here)

        suspected = [
            path
            for path in (*listed, *others)
            if path in tree and mark.names(path) and is_taken(path)
        ]
        if not suspected:
            return ()
        base_sha = self._task.state.base_sha
        merge_base, added = self._lookups.compare(base_sha, head)
        if merge_base in {"", base_sha}:
            return ()
        if added is None:
            before = self._lookups.tree(merge_base)
            if before is None:
                return ()
            taken = {above for path in before for above in (path, *parents(path))}
            new = (path for path in suspected if path not in taken)
            return tuple(path for path in new if before.keys().isdisjoint(parents(path)))
        return tuple(path for path in suspected if path in added)


def _added_between(before: Tree, after: Tree) -> Mapping[str, str]:
    """Return the blob ids of the regular files that were added, by path; an empty mapping if
    anything else has changed.
    """
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    if any(path in before or after[path].mode != REGULAR_FILE for path in changed):
        return {}
    return {path: after[path].sha for path in changed}
