"""Decides what is to be done about each missing path, once the branch is chosen."""

from types import MappingProxyType
from typing import NamedTuple

from registrar.errors import Failure
from registrar.models.files import parents
from registrar.models.paths import (
    CannotCreate,
    Create,
    Done,
    Leave,
    ListedPath,
    PathPlan,
    Update,
    Why,
)
from registrar.models.repository import Entry, PullRequest, Tree
from registrar.models.settings import Mode
from registrar.models.standing import Standing
from registrar.models.task import Task
from registrar.presence.tasks import blocked
from registrar.registration.lookups import Lookups
from registrar.registration.mark import Mark
from registrar.registration.preflight import lacking_scope, scope_failure
from registrar.registration.sent import SentSteps
from registrar.rendering.states import other_case_reason
from registrar.texts.messages import msg


class Branch(NamedTuple):
    """A branch with its files."""

    name: str
    head: str
    tree: Tree | None = MappingProxyType({})
    """Files of the branch by path, at least those at the listed paths. Empty for a new branch,
    ``None`` if GitHub does not list them."""
    seen: Tree = MappingProxyType({})
    """Files that ``tree`` may lack, but that a comparison of commits or a request has shown."""
    replaces: Tree = MappingProxyType({})
    """Files of ``tree`` that registrar wrote, and for which the list has other content now."""
    from_base: frozenset[str] = frozenset()
    """Missing paths that the branch has only because the commit from which it starts has them. They
    were deleted from the base branch since, so a merge would not add them."""

    def holds(self, path: str) -> Entry | None:
        """Return the entry that the branch is known to have at a path; ``None`` without one."""
        return (self.tree or {}).get(path) or self.seen.get(path)


class Target(NamedTuple):
    """The branch that is made or continued, and its pull request; see the fields of `Plan`."""

    branch: Branch
    pull_request: PullRequest | None = None
    is_new: bool = False
    is_bare: bool = False
    describes_first: bool = False
    taken_by: PullRequest | None = None
    mark: Mark | None = None
    leaves_pull_request: bool = False
    is_elsewhere: bool = False
    conflicts: tuple[str, ...] = ()


class PathPlanner:
    """Plans each path of a list in a repository whose working branch was chosen."""

    def __init__(
        self, task: Task, target: Target | None, sent: SentSteps, lookups: Lookups
    ) -> None:
        """``target`` is ``None`` if all missing files were declined, or if no pull request may be
        opened.
        """
        self._spec = spec = task.spec
        self._target = target
        self._sent = sent
        self._is_guess = lookups.is_guess
        self._has_newer_list = lookups.has_newer_list
        # In one repository, the whole run is refused instead (`preflight.require_writable`), and
        # where the token may not write at all, the scope would not help
        is_asked = spec.policy.fails_refused_files and spec.proposes
        is_asked &= spec.settings.mode is not Mode.CHECK and task.repository.can_push is not False
        self._scopes = lookups.scopes if is_asked else None
        tree = (target and target.branch.tree) or {}
        self._directories = {parent for path in tree for parent in parents(path)}

    def planned(
        self,
        listed: ListedPath,
        declined_in: PullRequest | None,
        deleted_since: PullRequest | None,
    ) -> ListedPath:
        """Return a listed path with its plan.

        ``declined_in`` is the pull request in which somebody has declined the path, and
        ``deleted_since`` a merged one that added it, if somebody has deleted the file since.
        """
        target = self._target
        if target and target.pull_request and listed.path in target.conflicts:
            return listed._replace(conflicts_with=target.pull_request.brief)
        create = listed.plan
        if not isinstance(create, Create):
            return listed
        plan: PathPlan = create
        if declined_in:
            reason = msg("reason.declined", pull_request=declined_in.link)
            plan = Leave(Why.DECLINED, Done.SKIPPED, reason, declined_in.brief)
        elif target is None and self._spec.opens_nothing:
            reason = msg("reason.not_named")
            plan = Leave(Why.NOT_NAMED, Done.SKIPPED, reason)
        elif target:
            plan = self._plan(listed, create, target)
            if isinstance(plan, Update) and target.pull_request and self._has_newer_list():
                reason = msg("reason.older_list", branch=self._spec.settings.attempt_of)
                said = Done.SKIPPED if self._spec.writes else Done.NOTHING
                plan = Leave(Why.OLDER_LIST, said, reason)
            plan = self._in_scope(listed, plan)
        if isinstance(plan, Leave) and plan.why in {Why.DECLINED, Why.NOT_NAMED}:
            # Nobody adds the path, so warnings about it do not apply
            listed = listed._replace(
                other_case="", hides="", used_instead="", hides_inherited=False
            )
        return listed._replace(plan=plan, deleted_since=deleted_since and deleted_since.brief)

    def _plan(self, listed: ListedPath, create: Create, target: Target) -> PathPlan:
        spec, path, branch = self._spec, listed.path, target.branch
        if above := next((each for each in parents(path) if each in (branch.tree or {})), ""):
            return blocked(spec, msg("reason.blocked_on_branch", parent=above), above)
        if path in branch.from_base:
            return Leave(Why.FROM_BASE, Done.SKIPPED, msg("reason.from_base"))
        if target.leaves_pull_request:
            return self._not_updated(listed, target)
        if spec.writes:
            return self._written(listed, target)
        return self._foreseen(listed, create, target)

    def _not_updated(self, listed: ListedPath, target: Target) -> PathPlan:
        is_brought = self._found(listed, target, by_mark=True) is not None
        if is_brought and not self._spec.writes:
            return Leave(Why.ON_BRANCH, Done.NOTHING)
        why = Why.KEPT if is_brought else Why.NOT_UPDATED
        reason = msg("reason.list_elsewhere" if target.is_elsewhere else "reason.no_update")
        return Leave(why, Done.SKIPPED, reason)

    def _written(self, listed: ListedPath, target: Target) -> PathPlan:
        """Plan a path in a run that writes."""
        match self._found(listed, target):
            case Update() as found:
                return found
            case Why.MADE as found:
                return Leave(found, Done.CREATED, other_case_reason(listed))
            case Why() as found:
                is_same = found is Why.ON_BRANCH
                reason = msg("reason.on_branch" if is_same else "reason.edited")
                return Leave(found, Done.SKIPPED, reason)
            case None:
                pass
        is_listed = target.branch.tree is not None
        if is_listed or self._spec.policy.falls_back:
            return Create(is_known_absent=is_listed)
        return CannotCreate(Failure.of(msg("reason.not_committable")))

    def _foreseen(self, listed: ListedPath, create: Create, target: Target) -> PathPlan:
        """Plan a path in a run that only shows its plan."""
        is_continued = target.mark or target.pull_request
        found = self._found(listed, target, by_mark=True) if is_continued else None
        if found is None:
            return create
        is_open, proposes = target.pull_request is not None, self._spec.proposes
        if isinstance(found, Update) and proposes:
            standing = Standing.PROPOSED if is_open else Standing.TO_CREATE
            return found._replace(standing=standing, said=Done.TO_UPDATE)
        if not is_open:
            return create
        if proposes and isinstance(found, Why) and found is not Why.ON_BRANCH:
            return Leave(found, Done.NOTHING, msg("reason.edited"))
        return Leave(Why.ON_BRANCH, Done.NOTHING)

    def _found(
        self, listed: ListedPath, target: Target, *, by_mark: bool = False
    ) -> Update | Why | None:
        """Return what the branch is known to have at a path; ``None`` if it lacks the path.

        With ``by_mark``, the mark decides if GitHub does not list the files of the branch.
        """
        branch, file = target.branch, listed.definition
        if file.path in self._directories:
            return Why.NO_FILE
        if replaced := branch.replaces.get(file.path):
            return Update(replaced.sha)
        if entry := branch.holds(file.path):
            if entry.sha != file.blob_id:
                return Why.EDITED
            is_ours = self._sent.may_have_written(branch.name, file)
            return Why.MADE if is_ours else Why.ON_BRANCH
        mark = target.mark if by_mark and branch.tree is None else None
        if mark is None or not mark.names(file.path):
            return None
        is_other = self._is_guess and not mark.has_written(file.path, file.blob_id)
        return Update("") if is_other else Why.ON_BRANCH

    def _in_scope(self, listed: ListedPath, plan: PathPlan) -> PathPlan:
        """Return a plan, or the failure of a file that the token may not write."""
        is_to_write = isinstance(plan, (Create, Update))
        if not (is_to_write and lacking_scope([listed.definition], self._scopes)):
            return plan
        standing = Standing.PROPOSED if isinstance(plan, Update) else Standing.TO_CREATE
        return CannotCreate(scope_failure(self._scopes), standing)


def unlisted(target: Target, listed: frozenset[str]) -> tuple[str, ...]:
    """Return the paths that earlier runs have added to a branch and that are not ``listed``."""
    mark, tree = target.mark, target.branch.tree
    if mark is None or mark.wrote is None:
        return ()
    return tuple(path for path in tree or () if path not in listed and mark.names(path))
