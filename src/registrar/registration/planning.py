"""Makes the plan of a registration: branch, pull request, and what becomes of each listed path.

Theory of operation. `make_plan` is given a `Task`. The task holds the first reading of the
repository: the missing files, and the first names of the working branch with their commits and pull
requests.
Everything else is asked through `Lookups`. A run over one repository answers with requests, a run
over many with the result of one query about up to a hundred repositories, and the tests with a
model. `make_plan` itself sends nothing, and keeps nothing afterwards. It goes in this order:

1. The names. A list has one name for its branch, and the same name with ``-2``, ``-3`` … if the
   first one is taken. The names are read up to the first one without a branch and without a pull
   request.
2. The declined paths (`declining`). For each missing path, the newest pull request of this list
   that has proposed it decides (its mark says what it proposed). If that one was closed without a
   merge, or merged without the path, the path is declined. A closed one may have proposed more
   than its mark names: it was opened by hand, or closed while a run was writing. So the files on
   its branch are compared with the list. The paths that remain are created; if none remain, there
   is nothing to do.
3. If a pull request of this list is open under any of the names, it is continued:
   - If its mark names a path that its branch lacks, somebody has deleted the file there, so the
     path is declined.
   - A file on the branch is updated if it is unchanged since registrar wrote it, and differs from
     the list.
   - If the base branch has got another file at a path that the pull request adds, or in place of a
     directory of it, the two conflict, and the run says so.
   A pull request that registrar itself has closed is not continued:
   - One that was withdrawn (`Mode.WITHDRAW`) stays closed. If its branch holds only files that
     registrar wrote and that nobody has declined since, and has no conflict, a new pull request is
     opened from the same branch.
   - One that was closed as no longer needed (needless) does not decline its paths. If it is open
     again, a person has reopened it, and it is theirs.
4. Otherwise the first name that can be used is taken. If there is no branch of this name, it is
   made. An existing branch is continued in three cases:
   - It adds only listed files, so an interrupted run must have left it.
   - Its pull request was closed as no longer needed, and it adds only listed files and files that
     the base branch has as well.
   - It has no commit of its own, and its name is the list's default name.
   Any other branch belongs to somebody else or has a conflict, so the next name is tried.
5. Between the reading and the writing, another run or a person may change the repository, and
   answers may get lost. If the answer to a step is unclear, `carry_out` reads the branch again and
   calls `make_plan` once more, with the present state and the steps that this run has sent
   (`SentSteps`). These steps say whether a branch or a pull request is this run's own; the run
   continues there before it looks at any other name. If this run has opened a pull request from
   somebody else's branch, it closes that pull request again. If a branch has become the default
   branch in the meantime, its name is not used.

The rules for people are in docs/concepts.md, "Working branch".
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from registrar.errors import Failure, GitHubError, Kind, RegistrarError
from registrar.models.files import FileDefinition, parents
from registrar.models.paths import ListedPath
from registrar.models.record import Told
from registrar.models.repository import BranchState, Entry, PullRequest, Tree, Unknown
from registrar.models.task import Task
from registrar.registration.branch_contents import REGULAR_FILE, Added, Contents
from registrar.registration.branch_names import LAST_SUFFIX, branch_names
from registrar.registration.candidates import Candidate, Candidates
from registrar.registration.closing import Closings, find_closings
from registrar.registration.declining import Decision, Fate, Table, decide
from registrar.registration.lookups import Lookups
from registrar.registration.mark import EMPTY_MARK, Mark, hashed
from registrar.registration.need import cannot, need_of
from registrar.registration.path_planner import Branch, PathPlanner, Target, unlisted
from registrar.registration.plan import Plan
from registrar.registration.sent import Close, SentSteps
from registrar.texts.messages import msg


class _Missing(NamedTuple):
    """The missing files, divided by whether somebody has declined them."""

    files: tuple[FileDefinition, ...]
    """The missing files that are not declined."""
    declined: Mapping[str, PullRequest]
    """The declined paths, each with the pull request in which somebody declined it."""

    def without(self, removed: Mapping[str, PullRequest]) -> "_Missing":
        """Return the same after some more paths turned out to be declined."""
        files = tuple(each for each in self.files if each.path not in removed)
        return _Missing(files, {**self.declined, **removed})


class _Choice(NamedTuple):
    """The branch to write on, with the files that are left for it."""

    target: Target | None
    """``None`` if all missing files were declined."""
    missing: _Missing
    mistakes: tuple[Close, ...] = ()
    """The steps that close the pull requests which this run has opened from somebody else's branch.
    """


def make_plan(task: Task, lookups: Lookups, sent: SentSteps | None = None) -> Plan:
    """Plan what a run closes, where it writes, which pull request it continues, and what becomes of
    each path.

    ``sent`` holds the steps that this run has sent already; ``None`` means none. Raises `Refused`
    if the working branch is the default branch or the base branch, and `RegistrarError` if all
    names are taken. Errors of ``lookups`` are passed on.
    """
    plan = Plan(task.paths)
    if not task.spec.settings.ref:
        plan = _Planner(task, lookups, sent or SentSteps()).make()
    to_close = sum(each.mark.is_needless for each in plan.closes)
    plan = plan._replace(told=plan.told._replace(to_close=to_close))
    return plan._replace(told=plan.told._replace(need=need_of(task.spec, plan)))


class _Planner:
    def __init__(self, task: Task, lookups: Lookups, sent: SentSteps) -> None:
        self._task = task
        self._lookups = lookups
        self._sent = sent
        self._candidates = Candidates(task, lookups)
        self._states = dict(task.state.branches)
        self._contents = Contents(task, lookups)

    @cached_property
    def _names(self) -> list[str]:
        default = self._task.repository.default_branch
        return branch_names(self._task.spec.branch, default, self._task.base_branch)

    def make(self) -> Plan:
        """Make the plan, as `make_plan` describes it."""
        task, spec = self._task, self._task.spec
        refusal = self._lookups.refusal(()) if spec.writes or spec.withdraws else None
        if spec.withdraws:
            if refusal:
                return Plan(task.paths, refusal=refusal)
            self._read_names()
        # A run that may not write, and has nothing to do but to close, does not fail
        closings = Closings() if refusal else self._closings()
        plan = Plan(
            task.paths,
            closes=closings.steps,
            notes=closings.notes,
            told=Told(withdrawable=0 if spec.withdraws else self._candidates.withdrawable),
            branches=self._states,
        )
        if not task.missing:
            return plan
        unread = task.state.pull_requests_error
        try:
            if unread is None:
                return self._with_target(plan)
        except GitHubError as error:
            if spec.writes or error.kind is not Kind.PERMISSION:
                raise
            unread = error.failure
        plan = plan._replace(told=plan.told._replace(unread=unread))
        if spec.opens_nothing:
            planner = PathPlanner(task, None, self._sent, self._lookups)
            return plan._replace(
                paths=tuple(planner.planned(each, None, None) for each in task.paths)
            )
        return plan._replace(refusal=self._refusal(task.missing))

    def _closings(self) -> Closings:
        """Find the pull requests to close; afterwards, they are planned with as closed."""
        states = [*self._states.values()]
        closings = find_closings(self._task, self._candidates, self._lookups, self._sent, states)
        for step in closings.steps:
            name = step.pull_request.head_branch
            self._states[name] = self._states[name].with_pull_request(step.closed)
        return closings

    def _refusal(self, files: Sequence[FileDefinition]) -> RegistrarError | None:
        return self._lookups.refusal(files) if self._task.spec.proposes else None

    def _with_target(self, plan: Plan) -> Plan:
        """Choose where to write, and plan every path."""
        task = self._task
        self._read_names()
        candidates = self._candidates.newest_first(self._known)
        decisions = self._decisions(candidates)
        target, missing, mistakes = self._choose(self._missing(decisions))
        missing = missing._replace(declined=self._with_gone_bases(missing.declined))
        if task.spec.opens_nothing and target and not target.pull_request:
            target = None
        planner = PathPlanner(task, target, self._sent, self._lookups)
        deleted = {p: each.pull for p, each in decisions.items() if each.fate is Fate.MERGED}
        paths = tuple(
            planner.planned(each, missing.declined.get(each.path), deleted.get(each.path))
            for each in task.paths
        )
        plan = plan._replace(
            paths=paths,
            closes=(*plan.closes, *mistakes),
            declined=missing.declined,
            ignored=self._candidates.ignored,
            moved=tuple(each.pull for each in candidates if self._candidates.may_be_moved(each)),
        )
        if target is None:
            return plan
        files = [each.definition for each in paths if each.is_to_write]
        if target.is_new and not files:
            # A new branch would stay empty. Then the failure of a file is the failure of the run
            refused = next((each.failure for each in paths if cannot(each)), None)
            refusal = self._refusal(files) or RegistrarError(refused) if refused else None
            return plan._replace(refusal=refusal)
        others = unlisted(target, frozenset(each.path for each in task.paths))
        told = plan.told._replace(
            conflicts=target.conflicts if target.pull_request else (),
            unlisted=others,
            may_be_listed=bool(others and target.pull_request) and self._lookups.has_newer_list(),
            of_other_lists=self._of_other_lists(target.branch.name),
            describes=self._describes(target, paths),
        )
        return plan._replace(
            told=told,
            refusal=self._refusal(files),
            branch=target.branch.name,
            head=target.branch.head,
            is_new=target.is_new,
            is_bare=target.is_bare,
            pull_request=target.pull_request,
            mark=target.mark,
            describes_first=target.describes_first,
            leaves_pull_request=target.leaves_pull_request,
            is_elsewhere=target.is_elsewhere,
            taken_by=target.taken_by,
        )

    def _describes(self, target: Target, paths: Sequence[ListedPath]) -> bool:
        """Whether the mark of the open pull request differs from the one that it has to have. With
        guesses, it may differ as soon as a path may be in conflict, or was.
        """
        pull, mark = target.pull_request, target.mark or EMPTY_MARK
        if pull is None or target.leaves_pull_request or not self._task.spec.proposes:
            return False
        written = {each.path: each.definition.blob_id for each in paths if each.is_as_listed}
        conflicts = target.conflicts
        if self._lookups.is_guess:
            named = {hashed(each.path): each.path for each in paths}
            if not (mark.wrote or {}).keys() <= named.keys():
                return True
            ours = (named[each] for each in mark.wrote or ())
            if mark.conflicts or any(self._may_conflict(path, mark) for path in ours):
                return True
        has_to_have = mark.naming(self._task.list_id, written, conflicts)
        return Mark.of(pull.body) != has_to_have and not self._lookups.has_newer_list()

    def _may_conflict(self, path: str, mark: Mark) -> bool:
        """Whether the base branch has another file than registrar wrote, or one above the path."""
        here = self._task.state.entries
        if path in here:
            return not mark.has_written(path, here[path].sha)
        return any(here[above].type != "tree" for above in parents(path) if above in here)

    def _with_gone_bases(self, declined: Mapping[str, PullRequest]) -> dict[str, PullRequest]:
        """Set `PullRequest.base_is_gone` for the closed pull requests among the values."""
        bases = {each.base_branch for each in declined.values() if each.was_declined}
        others = bases - {self._task.base_branch, self._task.repository.default_branch}
        gone = {each for each in others if not self._lookups.has_branch(each)}
        return {
            path: pull._replace(base_is_gone=pull.was_declined and pull.base_branch in gone)
            for path, pull in declined.items()
        }

    def _of_other_lists(self, chosen: str) -> tuple[PullRequest, ...]:
        """Return the open pull requests of other lists from the names before the ``chosen`` one."""
        before = takewhile(lambda state: state.name != chosen, self._usable)
        opened = map(self._candidates.open_one, before)
        return tuple(
            each.pull.brief
            for each in opened
            if each and each.is_of_any_list and self._candidates.is_by_writer(each)
            if not self._sent.has_opened(each.pull)
        )

    @property
    def _known(self) -> list[BranchState]:
        """The states of the names that were read, in the order of the names."""
        return [self._states[name] for name in self._names if name in self._states]

    @property
    def _usable(self) -> list[BranchState]:
        """The same, without a branch that has become the default branch."""
        return [state for state in self._known if not state.is_default]

    def _read_names(self) -> None:
        """Read the names in order, up to the first unused one behind all that are known to be used.

        Later names are not read. So a declined path is not found if it was proposed from a later
        name whose branch is gone, and if no name before it has a branch or a pull request.
        """
        heads = self._task.state.heads
        seen = [
            *(() if isinstance(heads, Unknown) else heads),
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

    def _decisions(self, candidates: Sequence[Candidate]) -> Mapping[str, Decision]:
        """Decide about each missing path on which the pull requests have something to say."""
        table = Table(self._task, self._lookups, self._candidates, self._contents)
        rows = table.rows(candidates)
        decided = ((each.path, decide(each.path, rows)) for each in self._task.missing)
        return {path: decision for path, decision in decided if decision}

    def _missing(self, decisions: Mapping[str, Decision]) -> _Missing:
        declined = {
            path: self._first_with(path, self._states[pull.head_branch], pull)
            if pull.is_withdrawn
            else pull
            for path, (fate, pull) in decisions.items()
            if fate is Fate.DECLINED
        }
        return _Missing(self._task.missing, {}).without(declined)

    def _choose(self, missing: _Missing) -> _Choice:
        """Choose where to write."""
        mistakes: list[Close] = []
        if not missing.files:
            return _Choice(None, missing)
        states = self._usable
        found = [(state, each) for state in states for each in self._candidates.of(state)]
        for state, each in sorted(found, key=lambda pair: pair[1].is_elsewhere):
            # If this run has opened it, the branch may be somebody else's: `_examine` finds out
            is_ours = each.pull.is_open and not self._sent.has_opened(each.pull)
            if is_ours and (mark := self._candidates.ours(each)):
                return self._continue(state, each.pull, mark, missing)
        begun = [state for state in states if self._is_begun(state)]
        for group in (begun, [state for state in states if state not in begun]):
            for state in group:
                if withdrawn := self._withdrawn(state, missing):
                    choice = self._continue(state, *withdrawn, missing)
                    target, missing, _ = choice
                    # Another name is used if nobody could merge the pull request, or if merging it
                    # would bring no missing file back
                    is_idle = target and _brings_nothing(target.branch, missing)
                    if not (target and (target.conflicts or is_idle)):
                        return choice._replace(mistakes=tuple(mistakes))
            for state in group:
                if state.head is None:
                    branch = Branch(state.name, self._task.state.base_sha)
                    return _Choice(Target(branch, is_new=True), missing, tuple(mistakes))
                if target := self._examine(state, state.head, missing):
                    return _Choice(target, missing, tuple(mistakes))
                pulls = (pull for pull in state.pull_requests if pull.is_open)
                mistakes += [Close(pull) for pull in pulls if self._sent.has_opened(pull)]
        first = self._task.spec.branch
        message = msg("branch.no_name_free", branch=first, last=LAST_SUFFIX)
        raise RegistrarError(Failure.of(message))

    def _is_begun(self, state: BranchState) -> bool:
        """Whether this run has written to a branch, or has opened a pull request from it.

        The run continues such a branch before any other one, because its files are there.
        """
        pulls = (pull for pull in state.pull_requests if pull.is_open)
        return self._sent.has_written_to(state.name) or any(map(self._sent.has_opened, pulls))

    def _withdrawn(self, state: BranchState, missing: _Missing) -> tuple[PullRequest, Mark] | None:
        """Return the newest pull request of this list from a branch, and its mark, if it was
        withdrawn and the branch adds only files that registrar wrote. A new one is then opened
        from the branch.

        Otherwise, or if somebody has rewritten the branch since, return `None`: the branch is
        examined like any other.
        """
        marks = ((each.pull, self._candidates.ours(each)) for each in self._candidates.of(state))
        of_list = ((pull, mark) for pull, mark in marks if mark)
        pull, mark = next(of_list, (None, EMPTY_MARK))
        is_free = not any(each.is_open for each in state.pull_requests)
        if not (state.head and pull and is_free and pull.was_closed and mark.is_withdrawn):
            return None
        then, head = pull.head_sha, state.head
        has_grown = then == head or self._lookups.compare(then, head).merge_base == then
        added = self._contents.added(head) if has_grown else None
        if added is None or not added.blobs:
            return None
        listed = self._contents.blobs(added, missing.files)
        is_elsewhere = mark.is_elsewhere(self._task.spec.source)
        # A file that was declined since must not be proposed again with its branch
        is_as_written = missing.declined.keys().isdisjoint(added.blobs) and all(
            (mark.has_written(path, blob) and not is_elsewhere) or listed.get(path) == blob
            for path, blob in added.blobs.items()
        )
        return (pull, mark) if is_as_written else None

    def _continue(
        self, state: BranchState, pull: PullRequest, mark: Mark, missing: _Missing
    ) -> _Choice:
        """Continue the branch of a pull request of this list, without the files that somebody has
        deleted from it.
        """
        head = state.head or pull.head_sha
        named = frozenset(
            file.path for file in missing.files if mark.wrote and mark.names(file.path)
        )
        removed = self._contents.removed(mark, named, head)
        # The description may have been read after a commit, and the branch before it
        if removed and (now := self._lookups.head(state.name)) and now != head:
            head, removed = now, self._contents.removed(mark, named, now)
        left = missing.without({path: self._first_with(path, state, pull) for path in removed})
        if not left.files:
            return _Choice(None, left)
        tree = self._tree_at_named(head, mark)
        branch = self._branch(state.name, head, tree, left)
        # If a person has reopened a withdrawn pull request, its mark must be rewritten even with
        # `update: false`: otherwise closing it again would count as withdrawn, not as declined
        is_open = pull.is_open
        is_elsewhere = is_open and mark.is_elsewhere(self._task.spec.source)
        leaves = is_elsewhere or not (self._task.spec.settings.update or mark.is_withdrawn)
        replaces = {} if leaves else self._outdated(tree or {}, mark, left)
        may_be_named = frozenset(file.path for file in left.files if mark.names(file.path))
        from_base = self._from_base(head, tree, may_be_named, left)
        branch = branch._replace(replaces=replaces, from_base=from_base)
        # The mark was written before the commit: its files are absent, but `removed` has none
        is_early = bool(named) and not removed and tree is not None and named.isdisjoint(tree)
        target = Target(
            branch,
            pull if is_open else None,
            mark=mark,
            describes_first=is_early,
            leaves_pull_request=leaves,
            is_elsewhere=is_elsewhere,
            conflicts=self._contents.conflicts(head, tree or {}, mark),
        )
        return _Choice(target, left)

    def _first_with(self, path: str, state: BranchState, pull: PullRequest) -> PullRequest:
        """Return the oldest withdrawn pull request of a branch that names a path; ``pull`` if there
        is none.

        So the description links to the same pull request before and after a new one is opened.
        """
        for each in self._candidates.of(state):
            mark = self._candidates.ours(each)
            if mark and mark.is_withdrawn and mark.names(path):
                pull = each.pull._replace(is_withdrawn=True)
        return pull

    def _from_base(
        self, head: str, tree: Tree | None, named: frozenset[str], missing: _Missing
    ) -> frozenset[str]:
        """Find the missing paths that a branch has only because the commit from which it starts has
        them. The ``named`` paths do not count, because the branch itself adds them.
        """
        paths = (each.path for each in missing.files)
        suspected = frozenset(p for p in paths if tree is None or p in tree) - named
        base_sha = self._task.state.base_sha
        since = self._lookups.compare(base_sha, head).merge_base if suspected else ""
        return (
            suspected - self._contents.lacking(suspected, since)
            if since not in {"", base_sha}
            else frozenset()
        )

    def _outdated(self, tree: Tree, mark: Mark, missing: _Missing) -> Tree:
        """Find the files that registrar wrote and for which the list has other content now.

        Only regular files (mode 100644) count, because a commit by GraphQL would reset any other
        mode.
        """
        on_branch = ((each, tree[each.path]) for each in missing.files if each.path in tree)
        return {
            file.path: entry
            for file, entry in on_branch
            if entry.sha != file.blob_id
            and (entry.type, entry.mode) == ("blob", REGULAR_FILE)
            and mark.has_written(file.path, entry.sha)
        }

    def _examine(self, state: BranchState, head: str, missing: _Missing) -> Target | None:
        """Continue a branch that adds listed files and nothing else; `None` to leave it alone.

        An open pull request without a mark does not prevent this, if it counts. If a pull request
        from the branch was closed as no longer needed, the branch may also add files that the base
        branch has with the same content, because git can merge them.
        """
        found, sent = self._candidates.open_one(state), self._sent
        pull = found.pull if found else None
        has_opened = pull is not None and sent.has_opened(pull)
        has_written = sent.has_written_to(state.name)
        is_taken = found is not None and not has_opened and self._is_taken_by(found)
        mark = self._needless_at(state, head) if pull is None else None
        if not has_written and (is_taken or self._is_left_alone(state, head)):
            return None
        added = self._contents.added(head)
        if not (has_written or self._may_continue(state, head, added, mark, missing)):
            return None
        blobs = added.blobs if added else {}
        tree = self._lookups.tree(head)
        tree = self._lookups.tree_at_listed(head) if tree is None else tree
        branch = self._branch(state.name, head, tree, missing)
        compared = {path: Entry("blob", REGULAR_FILE, blob) for path, blob in blobs.items() if blob}
        from_base = self._from_base(head, tree, frozenset(blobs), missing)
        branch = branch._replace(from_base=from_base, seen={**compared, **branch.seen})
        if _brings_nothing(branch, missing):
            return None
        paths = map(_path, missing.files)
        return Target(
            branch,
            None if is_taken else pull,
            is_bare=added is None and not has_written,
            describes_first=has_opened and not all(map(branch.holds, paths)),
            taken_by=pull if is_taken else None,
            mark=mark,
        )

    def _is_taken_by(self, candidate: Candidate) -> bool:
        """Whether the branch of an open pull request is in use by somebody else, because the pull
        request does not count, or belongs to another list.
        """
        return candidate.mark is not None or not self._candidates.counts(candidate)

    def _is_left_alone(self, state: BranchState, head: str) -> bool:
        """Whether a branch must not be used: no pull request from it is open, and one that counts
        was closed or merged at this commit (unless as no longer needed).
        """
        if self._candidates.open_one(state):
            return False
        closed = (each for each in self._candidates.of(state) if each.pull.head_sha == head)
        others = (each for each in closed if not self._needless(each))
        return any(map(self._candidates.counts, others))

    def _may_continue(
        self,
        state: BranchState,
        head: str,
        added: Added | None,
        needless: Mark | None,
        missing: _Missing,
    ) -> bool:
        """Whether a branch may be continued, because it adds only files with the list's content.

        If it has no commit of its own (``added`` is `None`), it must have the list's default name,
        or this run may have made it. ``needless`` is the mark of a pull request from it that was
        closed as no longer needed: then it may also add files that the base branch has with the
        same content.
        """
        if added is None:
            may_be_made = self._sent.may_have_made(state.name)
            is_made = may_be_made and head == self._task.state.base_sha
            return is_made or self._task.spec.uses_profile_branch
        entries = self._task.state.entries.items() if needless else ()
        on_base = {path: each.sha for path, each in entries if each.mode in {"", REGULAR_FILE}}
        allowed = {**on_base, **self._contents.blobs(added, missing.files)}
        return bool(added.blobs) and added.blobs.items() <= allowed.items()

    def _needless_at(self, state: BranchState, head: str) -> Mark | None:
        """Return the mark of a pull request that was closed as no longer needed at this commit.

        If this run has written to the branch, the pull request may have been closed at an earlier
        commit, because this run has moved the head.
        """
        has_written = self._sent.has_written_to(state.name)
        found = self._candidates.of(state)
        at_head = (each for each in found if each.pull.head_sha == head or has_written)
        return next(filter(None, map(self._needless, at_head)), None)

    def _needless(self, candidate: Candidate) -> Mark | None:
        """Return the mark of a pull request that counts and was closed as no longer needed."""
        mark = self._candidates.ours(candidate)
        return mark if mark and mark.is_needless else None

    def _tree_at_named(self, head: str, mark: Mark) -> Tree | None:
        """Return the files of a branch at the listed paths and at the paths that its mark names;
        `None` if GitHub does not list them. The description also shows paths that are no longer
        listed.
        """
        listed = {hashed(each.path) for each in self._task.definitions}
        if mark.wrote is None or not mark.wrote.keys() <= listed:
            return self._lookups.tree(head)
        return self._lookups.tree_at_listed(head)

    def _branch(self, name: str, head: str, tree: Tree | None, missing: _Missing) -> Branch:
        """Return a branch with its files.

        If this run has sent a file that ``tree`` lacks, the file is looked up with a request of its
        own, because the tree may not show the newest commit yet.
        """
        asked = dict(self._sent.may_be_there(name))
        if tree is None and name in self._sent.branches:
            asked = {**dict.fromkeys(map(_path, missing.files), False), **asked}
        seen = {
            path: entry
            for path, is_there in asked.items()
            if path not in (tree or {})
            and (entry := self._lookups.entry(name, path, is_there=is_there))
        }
        return Branch(name, head, tree, seen)


def _path(file: FileDefinition) -> str:
    return file.path


def _brings_nothing(branch: Branch, missing: _Missing) -> bool:
    """Whether a branch has every missing file only because the commit from which it starts has
    them, so a new pull request from it would bring none of them back.
    """
    return branch.from_base.issuperset(map(_path, missing.files))
