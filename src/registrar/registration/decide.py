"""Which branch a run writes on, which pull request it continues, and what was declined.

Theory of operation. `decide` is given a `Task`, which holds what was read at first: what is
missing, and how the first names of the working branch stand (their commits and pull requests).
It asks for everything else through `Lookups`, so that one repository answers with requests, a
run over many with what one query has read of a hundred, and the tests with a model. It sends
nothing itself, and keeps nothing beyond one decision. The order:

1. The names. A list has one name for its branch, and ``-2``, ``-3`` … behind it where that is
   taken. They are read up to the first one that nobody ever used.
2. What was declined. For each missing path, the newest pull request of this list that has proposed
   it decides (its mark says what it proposed). If that one was closed without a merge, or merged
   without the path, the path is declined. A closed one without a mark may have been opened by hand,
   so its branch is looked at. The paths that remain are created; if none remain, there is nothing
   to do.
3. An open pull request of this list, under whichever name, is continued. A path that its mark names
   and its branch lacks was removed by somebody: declined. A file on the branch that is unchanged
   since this action wrote it, and that differs from the list, is updated. If the default branch has
   got another file at a path that the pull request adds, they conflict, and the run says so. If
   this action has withdrawn the pull request (`Mode.WITHDRAW`), and its branch holds only what this
   action wrote, without a conflict, the branch is continued, and a new pull request is opened from
   it. A pull request that was closed as needless is never continued: its paths do not count as
   declined, and if it is open again, a person has reopened it and it is theirs.
4. Otherwise the first name that can be used is taken. If there is no branch of this name, it is
   made. If there is one, it is continued if an interrupted run has left it, or a pull request that
   was closed as needless: it holds only our own files, and what the default branch has as well, or
   it has no commit of its own and its name is the list's default name. Any other branch belongs to
   somebody else, or conflicts by now, and the next name is looked at.
5. Between the reading and the writing anything may happen: another run, a person, a lost answer.
   If the answer to a step is unclear, the branch is read again, and everything is decided once
   more (`carry_out`), from what is there now and from the steps that this run has sent
   (`SentSteps`). They say whether a branch, or a pull request, is this run's; the run goes on
   there before it looks at any other name. A pull request that it opened from somebody else's
   branch is closed again. The name may even be the default branch by now: then it is not used.

The rules for people are in docs/concepts.md, "Working branch".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from registrar.errors import Failure, GitHubError, Kind, RegistrarError
from registrar.models.files import FileDefinition, parents
from registrar.models.repository import BranchState, PullRequest, Tree
from registrar.models.task import Task
from registrar.presence.tasks import blob_ids_at
from registrar.registration.branch_names import LAST_SUFFIX, branch_names
from registrar.registration.decision import Branch, Decision, Write
from registrar.registration.lookups import Lookups
from registrar.registration.mark import CLOSED_BY_US, NO_MARK, Mark, hashed
from registrar.registration.sent import Close, SentSteps
from registrar.texts.messages import msg

_MOST_LOOKED_AT = 10
"""Closed pull requests whose branches are looked at: each costs up to three requests."""
REGULAR_FILE = "100644"
"""The mode that GitHub gives to a file which it creates."""


class _Added(NamedTuple):
    """What a branch adds to the commit from which it starts."""

    blobs: Mapping[str, str]
    """Blob ids by path; none if it changes anything else, or too much to be listed, or has no
    commit in common with the default branch."""
    before: Tree | None = None
    """What that commit holds; ``None`` if GitHub does not list it."""


def decide(task: Task, lookups: Lookups, sent: SentSteps | None = None) -> Decision:
    """Decide for a repository in which files are missing, if this run has ``sent`` something.

    It refuses a working branch that is the default branch, or the base branch. It ends with an
    error where all names are taken, or with one of ``lookups``.
    """
    return _Decider(task, lookups, sent or SentSteps()).make()


def open_ones(
    task: Task, lookups: Lookups
) -> tuple[dict[str, BranchState], list[tuple[PullRequest, Mark]]]:
    """Find the open pull requests of a list that count, and how all names of its branch stand."""
    return _Decider(task, lookups, SentSteps()).open_ones()


def is_by_writer(pull: PullRequest, may_write: Callable[[str], bool | None]) -> bool:
    """Whether somebody opened a pull request who may write to the repository.

    `author_association` does not show whether the author may write. It is used only if the token
    may not read the author's permission.
    """
    if pull.is_by_writer or not pull.author:
        return pull.is_by_writer
    may = may_write(pull.author)
    return pull.is_by_member if may is None else may


def marked(task: Task) -> list[tuple[PullRequest, Mark]]:
    """Give the open pull requests of a list, as far as they were read with the repository."""
    base = task.base_branch
    pulls = (pull for state in task.state.branches.values() for pull in state.pull_requests)
    here = (pull for pull in pulls if pull.is_open and pull.base_branch == base)
    found = ((pull, _mark_for(task, pull)) for pull in here)
    return [(pull, mark) for pull, mark in found if mark]


def _mark_for(task: Task, pull: PullRequest) -> Mark | None:
    mark = Mark.of(pull.body)
    is_theirs = mark and mark.is_needless and pull.is_open
    return mark if mark and _is_of_list(task, pull, mark) and not is_theirs else None


def _is_of_list(task: Task, pull: PullRequest, mark: Mark = NO_MARK) -> bool:
    """Whether a pull request is of the list of a task, as far as its mark says.

    If that does not say of which list it is, one to another base is another list's; a list without
    a base of its own outlives the name of the default branch.
    """
    if mark.list or task.base_branch == task.repository.default_branch:
        return mark.is_of(task.list_id)
    return pull.base_branch == task.base_branch


def _is_marked(pull: PullRequest) -> bool:
    """Whether an open pull request is of some list, and not a person's by now."""
    mark = Mark.of(pull.body)
    return mark is not None and not mark.is_needless


class _Decider:
    def __init__(self, task: Task, lookups: Lookups, sent: SentSteps) -> None:
        self._task = task
        self._lookups = lookups
        self._sent = sent
        default = task.repository.default_branch
        self._names = branch_names(task.spec.branch, default, task.base_branch)
        self._states = dict(task.state.branches)
        self._declined: dict[str, PullRequest] = {}
        self._deleted: dict[str, PullRequest] = {}
        self._beside: list[PullRequest] = []
        self._ignored: dict[int, PullRequest] = {}
        self._moved: list[PullRequest] = []
        self._taken_back: list[Close] = []

    def make(self) -> Decision:
        """Decide from what was read, and from what this run has sent."""
        self._read_names()
        return Decision(
            self._choose(),
            self._files,
            self._declined,
            self._deleted,
            tuple(self._beside),
            tuple(self._ignored.values()),
            tuple(self._moved),
            tuple(self._taken_back),
            self._states,
        )

    def open_ones(self) -> tuple[dict[str, BranchState], list[tuple[PullRequest, Mark]]]:
        """Find the open pull requests of the list that count."""
        self._read_names()
        pulls = (pull for state in self._states.values() for pull in state.pull_requests)
        found = ((pull, self._mark_of(pull)) for pull in pulls if pull.is_open)
        return self._states, [(pull, mark) for pull, mark in found if mark]

    @property
    def _files(self) -> tuple[FileDefinition, ...]:
        return tuple(d for d in self._task.missing if d.path not in self._declined)

    def _read_names(self) -> None:
        """Read every name that is known to be used, and on to the first one that is not.

        Later names are not read. So a declined path is not found if it was proposed from a later
        name whose branch is gone, and if no name before it was ever used.
        """
        seen = [
            *(self._task.state.heads or ()),
            *(s.name for s in self._states.values() if s.is_used),
        ]
        last = max((self._names.index(name) for name in seen if name in self._names), default=-1)
        for index, name in enumerate(self._names):
            if name not in self._states:
                self._states[name] = self._lookups.branch(name)
            if self._states[name].is_used:
                last = max(last, index)
            elif index > last:
                return

    def _choose(self) -> Write | None:
        """Choose where to write; `None`: all was declined."""
        known = [self._states[name] for name in self._names if name in self._states]
        pulls = [pull for state in known for pull in state.pull_requests]
        self._find_declined(sorted(pulls, key=lambda pull: pull.number, reverse=True))
        if not self._files:
            return None
        states = [state for state in known if not state.is_default]
        for index, state in enumerate(states):
            for pull in state.pull_requests:
                # What this run opened may be from somebody else's branch: `_examine` looks
                if pull.is_open and (mark := self._mark_of(pull)) and not self._sent.opened(pull):
                    others = filter(None, map(self._open_one, states[:index]))
                    self._beside += [o for o in others if self._counts(o) and _is_marked(o)]
                    return self._continue(state, pull, mark)
        begun = [state for state in states if self._is_begun(state)]
        for some in (begun, [state for state in states if state not in begun]):
            for state in some:
                if withdrawn := self._withdrawn(state):
                    write = self._continue(state, *withdrawn)
                    # Nobody could merge what conflicts by now, so another name is used
                    if not (write and write.conflicts):
                        return write
            for state in some:
                if state.head is None:
                    return Write(Branch(state.name, self._task.state.base_sha), is_new=True)
                if write := self._examine(state, state.head):
                    return write
        first = self._task.spec.branch
        message = msg("branch.no_name_free", branch=first, last=LAST_SUFFIX)
        raise RegistrarError(Failure.of(message))

    def _is_begun(self, state: BranchState) -> bool:
        """Whether this run has written to a branch, or has opened a pull request from it.

        It goes on there before anywhere else, because the files that it has created are there.
        """
        pulls = (pull for pull in state.pull_requests if pull.is_open)
        return self._sent.has_written_to(state.name) or any(map(self._sent.opened, pulls))

    def _withdrawn(self, state: BranchState) -> tuple[PullRequest, Mark] | None:
        """Give the newest pull request of this list, if it was withdrawn and its branch holds only
        what this action wrote: a new one is opened from it.

        If somebody has rewritten the branch since, it is looked at like any other.
        """
        ours = ((pull, mark) for pull in state.pull_requests if (mark := self._mark_of(pull)))
        pull, mark = next(ours, (None, NO_MARK))
        is_free = not any(each.is_open for each in state.pull_requests)
        if not (state.head and pull and is_free and pull.was_closed and mark.is_withdrawn):
            return None
        then, head = pull.head_sha, state.head
        has_grown = then == head or self._lookups.compare(then, head).merge_base == then
        added = self._added(head) if has_grown else None
        if added is None or not added.blobs:
            return None
        listed = self._blobs(added, self._files)
        is_ours = all(
            mark.has_written(path, blob) or listed.get(path) == blob
            for path, blob in added.blobs.items()
        )
        return (pull, mark) if is_ours else None

    def _mark_of(self, pull: PullRequest) -> Mark | None:
        mark = _mark_for(self._task, pull)
        return mark if mark and self._counts(pull) else None

    def _counts(self, pull: PullRequest) -> bool:
        """Whether a pull request counts: somebody who may write opened it and, if it is open, it
        goes to the base branch.

        This has to be checked, because anybody who may read a public repository can open a pull
        request between two of its branches, with any description.
        """
        is_elsewhere = pull.is_open and pull.base_branch != self._task.base_branch
        if not is_elsewhere and is_by_writer(pull, self._lookups.may_write):
            return True
        self._ignored[pull.number] = pull
        return False

    def _may_be_moved(self, pull: PullRequest) -> bool:
        """Whether a pull request names just the paths of this list, for a list in another file.

        A list with a name is known by that, wherever its file is.
        """
        files, other = self._task.spec.file_list, Mark.of(pull.body)
        if files.name or not files.path or other is None or other.is_needless or pull.merged:
            return False
        listed = {hashed(each.path) for each in self._task.definitions}
        is_other = bool(other.list and other.wrote) and pull.base_branch == self._task.base_branch
        return is_other and (other.wrote or {}).keys() <= listed and self._counts(pull)

    def _find_declined(self, pulls: Sequence[PullRequest]) -> None:
        """Find what was declined: the newest pull request that has proposed a path decides."""
        undecided = frozenset(definition.path for definition in self._task.missing)
        proposed = frozenset[str]()
        looked_at = 0
        for pull in pulls:
            mark = self._mark_of(pull)
            is_unmarked = mark is None and pull.was_closed and Mark.of(pull.body) is None
            is_unmarked = is_unmarked and _is_of_list(self._task, pull)
            if mark is None and self._may_be_moved(pull):
                self._moved.append(pull)
            if CLOSED_BY_US in pull.body or not (mark or is_unmarked):
                continue
            held = frozenset(path for path in undecided if mark and mark.names(path))
            # A mark with more than `MOST_PATHS` paths does not say which ones
            known = held if mark and mark.wrote is not None else frozenset[str]()
            if pull.is_open or (mark and mark.is_needless):
                proposed |= known
                continue
            if pull.was_closed and mark and mark.is_withdrawn:
                removed = self._removed(mark, known, pull.head_sha)
                proposed, held = proposed | (known - removed), removed
            elif mark is None and undecided and looked_at < _MOST_LOOKED_AT:
                looked_at += 1
                held = self._found(pull, undecided)
            undecided -= held
            if pull.was_closed:
                by = dict.fromkeys(held - proposed, pull)
                if mark and mark.is_withdrawn:
                    state = self._states[pull.head_branch]
                    by = {path: self._first_with(path, state, pull) for path in by}
                self._declined |= by
            elif pull.merged and known and pull.merge_commit:
                # What was merged and deleted later is proposed again; what was taken out is not
                taken_out = self._lookups.lacking(known, pull.merge_commit)
                self._declined |= dict.fromkeys(taken_out - proposed, pull)
                self._deleted |= dict.fromkeys(known - taken_out, pull)

    def _continue(self, state: BranchState, pull: PullRequest, mark: Mark) -> Write | None:
        """Continue a pull request of ours, without what somebody removed from its branch."""
        head = state.head or pull.head_sha
        named = frozenset(file.path for file in self._files if mark.wrote and mark.names(file.path))
        removed = self._removed(mark, named, head)
        # The description may be newer than the branch was as it was read
        if removed and (now := self._lookups.head(state.name)) and now != head:
            head, removed = now, self._removed(mark, named, now)
        self._declined |= {path: self._first_with(path, state, pull) for path in removed}
        if not self._files:
            return None
        tree = self._held(head, mark)
        branch = self._branch(state.name, head, tree)
        # If a person has reopened a withdrawn pull request, its mark must be rewritten even with
        # `update: false`: otherwise closing it again would count as withdrawn, not as declined
        is_open = pull.is_open
        leaves = is_open and not (self._task.spec.settings.update or mark.is_withdrawn)
        replaces = {} if leaves else self._outdated(tree or {}, mark)
        ours = frozenset(file.path for file in self._files if mark.names(file.path))
        from_base = self._from_base(head, tree, ours)
        branch = branch._replace(replaces=replaces, from_base=from_base)
        # Then nothing was removed of it, and none of it is there
        is_early = bool(named) and not removed and tree is not None and named.isdisjoint(tree)
        return Write(
            branch,
            pull if is_open else None,
            mark=mark,
            describes_first=is_open and is_early,
            leaves_pull_request=leaves,
            conflicts=self._conflicts(head, tree or {}, mark),
        )

    def _first_with(self, path: str, state: BranchState, pull: PullRequest) -> PullRequest:
        """Give the first pull request of a branch that named a path, if it was withdrawn.

        So the description says the same before and after a new one is opened.
        """
        for each in state.pull_requests:
            mark = self._mark_of(each)
            if not each.is_open and mark and mark.is_withdrawn and mark.names(path):
                pull = each._replace(is_withdrawn=True)
        return pull

    def _conflicts(self, head: str, tree: Tree, mark: Mark) -> tuple[str, ...]:
        """Find the paths of ours that the default branch has got since, with something else.

        Git merges neither of two files that both sides have added. A branch that was given the
        default branch's file by a merge, and kept ours, has no conflict: it no longer adds it.
        """
        here = self._task.state.entries
        suspected = [
            path
            for path in (each.path for each in self._task.definitions)
            if path in here and path in tree and mark.wrote and mark.names(path)
            if here[path].sha != tree[path].sha
        ]
        if not suspected:
            return ()
        base = self._task.state.base_sha
        merge_base, added = self._lookups.compare(base, head)
        if merge_base in {"", base}:
            return ()
        if added is None:
            before = self._lookups.tree(merge_base)
            if before is None:
                return ()
            there = {above for path in before for above in (path, *parents(path))}
            return tuple(path for path in suspected if path not in there)
        return tuple(path for path in suspected if path in added)

    def _from_base(self, head: str, tree: Tree | None, named: frozenset[str]) -> frozenset[str]:
        """Find the missing paths that a branch holds only because its first commit has them.

        What a description names was committed by us.
        """
        paths = (each.path for each in self._files)
        suspected = frozenset(p for p in paths if tree is None or p in tree) - named
        base = self._task.state.base_sha
        since = self._lookups.compare(base, head).merge_base if suspected else ""
        return (
            suspected - self._lacking(suspected, since) if since not in {"", base} else frozenset()
        )

    def _removed(self, mark: Mark, named: frozenset[str], head: str) -> frozenset[str]:
        """Find the paths that the mark names and that somebody removed.

        If the branch holds other files and none of the named ones, nothing counts as removed. The
        request that opens a pull request writes the description before the commit, and somebody may
        have created the branch in between.
        """
        removed = self._lacking(named, head)
        tree = self._lookups.tree(head) if removed and removed == named else None
        if tree is None or any(map(mark.names, tree)):
            return removed
        since = self._lookups.compare(self._task.state.base_sha, head).merge_base
        is_somebodys = bool(since) and self._lookups.tree(since) != tree
        return frozenset() if is_somebodys else removed

    def _lacking(self, paths: frozenset[str], commit: str) -> frozenset[str]:
        """Find what a commit lacks; nothing if GitHub has lost the commit."""
        try:
            return self._lookups.lacking(paths, commit) if paths else paths
        except GitHubError as error:
            if error.kind is not Kind.NOT_FOUND:
                raise
            return frozenset()

    def _outdated(self, tree: Tree, mark: Mark) -> Tree:
        """Find the files that we wrote and for which the list gives other content now.

        Only regular files (mode 100644): a commit by GraphQL would reset any other mode.
        """
        there = ((each, tree[each.path]) for each in self._files if each.path in tree)
        return {
            file.path: entry
            for file, entry in there
            if entry.sha != file.blob_id
            and (entry.type, entry.mode) == ("blob", REGULAR_FILE)
            and mark.has_written(file.path, entry.sha)
        }

    def _examine(self, state: BranchState, head: str) -> Write | None:
        """Continue a branch that adds our files and nothing else; return `None` to leave it alone.

        A branch with an open pull request without a mark is continued as well, if the pull request
        counts. So is that of one that was closed as needless, where the default branch has the
        same as it adds besides: then git can merge it.
        """
        pull, sent = self._open_one(state), self._sent
        is_opened = pull is not None and sent.opened(pull)
        is_ours = sent.has_written_to(state.name)
        is_others = pull is not None and not is_opened and self._is_others(pull)
        mark = self._needless_at(state, head) if pull is None else None
        if not is_ours and (is_others or self._is_left_alone(state, head)):
            # One of this list would have been continued
            is_beside = pull and is_others and self._counts(pull) and _is_marked(pull)
            self._beside += [pull] if pull and is_beside else []
            return None
        added = self._added(head)
        if not (is_ours or self._is_found(state, head, added, mark)):
            self._take_back(state)
            return None
        branch = self._branch(state.name, head, self._lookups.tree(head))
        ours = frozenset(added.blobs) if added else frozenset[str]()
        branch = branch._replace(from_base=self._from_base(head, branch.tree, ours))
        return Write(
            branch,
            None if is_others else pull,
            is_bare=added is None and not is_ours,
            describes_first=is_opened and not all(map(branch.holds, map(_path, self._files))),
            taken_by=pull if is_others else None,
            mark=mark,
        )

    def _is_others(self, pull: PullRequest) -> bool:
        """Whether an open pull request is a stranger's, or of another list."""
        return not self._counts(pull) or Mark.of(pull.body) is not None

    def _is_left_alone(self, state: BranchState, head: str) -> bool:
        """Whether a pull request that counts was closed at this commit, and none is open."""
        closed = (pull for pull in state.pull_requests if pull.head_sha == head)
        others = (pull for pull in closed if not self._needless(pull))
        return self._open_one(state) is None and any(map(self._counts, others))

    def _is_found(
        self, state: BranchState, head: str, added: _Added | None, needless: Mark | None
    ) -> bool:
        """Whether a branch is ours by what it adds, or, if that is nothing, by its name, or because
        the answer about it was lost.

        If it is that of a ``needless`` pull request, it may also add what the default branch has.
        """
        if added is None:
            may_be_made = self._sent.may_have_made(state.name)
            is_made = may_be_made and head == self._task.state.base_sha
            return is_made or self._task.spec.uses_profile_branch
        entries = self._task.state.entries.items() if needless else ()
        there = {path: each.sha for path, each in entries if each.mode in {"", REGULAR_FILE}}
        known = {**there, **self._blobs(added, self._files)}
        return bool(added.blobs) and added.blobs.items() <= known.items()

    def _needless_at(self, state: BranchState, head: str) -> Mark | None:
        """Give the mark of a pull request that was closed as needless at this commit.

        A commit of this run has moved the head.
        """
        is_ours = self._sent.has_written_to(state.name)
        pulls = (pull for pull in state.pull_requests if pull.head_sha == head or is_ours)
        return next(filter(None, map(self._needless, pulls)), None)

    def _needless(self, pull: PullRequest) -> Mark | None:
        mark = self._mark_of(pull)
        return mark if mark and mark.is_needless else None

    def _held(self, head: str, mark: Mark) -> Tree | None:
        """Find what a branch holds at the listed paths, and at all that the mark names: the
        description also shows what is no longer listed.
        """
        listed = {hashed(each.path) for each in self._task.definitions}
        if mark.wrote is None or not mark.wrote.keys() <= listed:
            return self._lookups.tree(head)
        return self._lookups.listed(head)

    def _branch(self, name: str, head: str, tree: Tree | None) -> Branch:
        """Give a branch with what its ``tree`` holds.

        A file that was sent, and that the tree lacks, is looked for by itself: the tree may lag.
        """
        asked = dict(self._sent.may_be_there(name))
        if tree is None and name in self._sent.branches:
            asked = {**dict.fromkeys(map(_path, self._files), False), **asked}
        seen = {
            path: entry
            for path, is_there in asked.items()
            if path not in (tree or {})
            and (entry := self._lookups.entry(name, path, is_there=is_there))
        }
        return Branch(name, head, tree, seen)

    def _open_one(self, state: BranchState) -> PullRequest | None:
        base = self._task.base_branch
        pulls = [pull for pull in state.pull_requests if pull.is_open]
        return min(pulls, key=lambda pull: pull.base_branch != base, default=None)

    def _found(self, pull: PullRequest, paths: frozenset[str]) -> frozenset[str]:
        """Find which of these paths a closed pull request without a mark proposed.

        It was opened by hand, or somebody deleted our part. A path counts if it was added with our
        content, and if the pull request changes only such files.
        """
        if not self._counts(pull):
            return frozenset()
        try:
            added = self._added(pull.head_sha) or _Added({})
        except GitHubError as error:
            if error.kind is not Kind.NOT_FOUND:
                raise
            return frozenset()
        blobs = self._blobs(added, self._task.missing)
        return frozenset(path for path in paths if added.blobs.get(path) == blobs[path])

    def _blobs(self, added: _Added, definitions: Sequence[FileDefinition]) -> Mapping[str, str]:
        blobs = {definition.path: definition.blob_id for definition in definitions}
        if self._task.spec.file_list.asks_in_parts and added.before is not None:
            then = blob_ids_at(self._task, added.before)
            blobs = {path: then.get(path, blob) for path, blob in blobs.items()}
        return blobs

    def _added(self, head: str) -> _Added | None:
        """Give what a branch adds; `None`: it has no commit of its own."""
        base = self._task.state.base_sha
        if head == base:
            return None
        comparison = self._lookups.compare(base, head)
        if comparison.merge_base == head:
            return None
        if not comparison.merge_base:
            return _Added({})
        after, before = self._lookups.tree(head), self._lookups.tree(comparison.merge_base)
        if before is None or after is None:
            # A repository too large for GitHub to list: the comparison names up to 300 files
            return _Added(comparison.added or {})
        return _Added(_added_between(before, after), before)

    def _take_back(self, state: BranchState) -> None:
        self._taken_back += [
            Close(pull) for pull in state.pull_requests if pull.is_open and self._sent.opened(pull)
        ]


def _path(file: FileDefinition) -> str:
    return file.path


def _added_between(before: Tree, after: Tree) -> Mapping[str, str]:
    """Blob ids of the regular files that were added; nothing where anything else changed."""
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    if any(path in before or after[path].mode != REGULAR_FILE for path in changed):
        return {}
    return {path: after[path].sha for path in changed}
