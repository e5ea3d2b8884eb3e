"""Which branch a run may write on (docs/concepts.md, "Working branch")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from registrar.errors import RegistrarError
from registrar.github.client import Host
from registrar.github.errors import GitHubError
from registrar.models import BranchState, Plan, PullRequest, Tree, TreeEntry
from registrar.texts.messages import msg

LAST_SUFFIX = 50
_REGULAR_FILE = "100644"
WITHDRAWN = "<!-- registrar:withdrawn -->"
"""Marks a pull request that we closed ourselves, so that it is not taken for a "no"."""


@dataclass(frozen=True, slots=True)
class Branch:
    """The branch to write on, new or continued."""

    name: str
    head: str
    tree: Tree | None = None
    """What a continued branch holds; ``None`` where it is new, or the host does not list it."""
    pull_request: PullRequest | None = None
    """The open pull request that is to be continued."""
    is_new: bool = True
    may_have_been_applied: bool = False
    """Whether this very run may have put there what the branch holds."""

    def has(self, path: str) -> bool:
        """Whether the branch is known to hold ``path``."""
        return self.tree is not None and path in self.tree


@dataclass(frozen=True, slots=True)
class Declined:
    """Somebody closed our pull request unmerged: that is a "no"."""

    name: str
    pull_request: PullRequest


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an attempt to do everything in one request left behind."""

    done: bool = False
    may_have_been_applied: bool = False
    not_ours: bool = False
    """Whether the branch of our name turned out to be somebody else's."""


def claim(
    host: Host, plan: Plan, *, built_in: bool, attempt: Attempt | None = None
) -> Branch | Declined:
    """Create the working branch, or find the one that an earlier run left.

    ``built_in`` says that nobody but us would choose the branch's name.

    Raises:
        GitHubError: the host refuses the branch, or gave no usable response.
    """
    attempt = attempt or Attempt()
    for name in _names(plan.branch):
        if name == plan.branch and attempt.not_ours:
            continue
        found = _claim(
            host, plan, name, built_in=built_in, may_have_been_applied=attempt.may_have_been_applied
        )
        if found is not None:
            return found
    raise RegistrarError(msg("branch.no_name_free", branch=plan.branch, last=LAST_SUFFIX))


def _names(name: str) -> Iterator[str]:
    yield name
    for suffix in range(2, LAST_SUFFIX + 1):
        yield f"{name}-{suffix}"


def _claim(
    host: Host, plan: Plan, name: str, *, built_in: bool, may_have_been_applied: bool
) -> Branch | Declined | None:
    """Try one name; ``None`` when the branch of that name is to be left alone."""
    branch_state = plan.branch_state if name == plan.branch else None
    if branch_state is None:
        try:
            host.create_branch(plan.repository, name, plan.base_sha)
            return Branch(name, plan.base_sha)
        except GitHubError as error:
            if not (error.already_exists or error.may_have_been_applied):
                raise
            branch_state = host.branch_state(plan.repository, name)
            if branch_state is None:
                raise
            may_have_been_applied |= error.may_have_been_applied
    may_be_bare = built_in or (may_have_been_applied and branch_state.head == plan.base_sha)
    found = _continue(host, plan, name, branch_state, may_be_bare=may_be_bare)
    if isinstance(found, Branch):
        return replace(found, is_new=False, may_have_been_applied=may_have_been_applied)
    return found


def _continue(
    host: Host, plan: Plan, name: str, branch_state: BranchState, *, may_be_bare: bool
) -> Branch | Declined | None:
    found = proposed(branch_state, plan)
    if isinstance(found, Declined):
        return replace(found, name=name)
    if found:
        return Branch(name, branch_state.head, host.tree(plan.repository, branch_state.head), found)
    if any(pull.head_sha == branch_state.head for pull in branch_state.pull_requests):
        return None
    return leftover(host, plan, name, branch_state.head, may_be_bare=may_be_bare)


def proposed(branch_state: BranchState, plan: Plan) -> PullRequest | Declined | None:
    """Find the open pull request of a branch, or the "no" that its last one got.

    A "no" is a pull request from exactly the branch's commit, closed unmerged by somebody else.
    """
    base = plan.repository.default_branch
    ours = [pull for pull in branch_state.pull_requests if pull.base_branch == base]
    for pull in ours:
        if pull.is_open:
            return pull
    for pull in ours:
        closed = not pull.is_open and not pull.merged and WITHDRAWN not in pull.body
        if closed and pull.head_sha == branch_state.head:
            return Declined(plan.branch, pull)
    return None


def leftover(host: Host, plan: Plan, name: str, head: str, *, may_be_bare: bool) -> Branch | None:
    """Take a branch for what an interrupted run left, when everything on it is ours."""
    comparison = None
    if head != plan.base_sha:
        comparison = host.compare(plan.repository, plan.base_sha, head)
    if comparison is None or comparison.merge_base == head:
        return Branch(name, head, host.tree(plan.repository, head)) if may_be_bare else None
    after = host.tree(plan.repository, head)
    before = host.tree(plan.repository, comparison.merge_base)
    if before is not None and after is not None:
        ours = {d.path: TreeEntry(_REGULAR_FILE, d.blob_id) for d in plan.missing}
        changed = {p for p in before.keys() | after.keys() if before.get(p) != after.get(p)}
        only_ours = all(path not in before and after[path] == ours.get(path) for path in changed)
    else:
        # A repository too large for the host to list: the comparison names up to 300 files
        added = comparison.added
        blobs = {d.path: d.blob_id for d in plan.missing}
        only_ours = added is not None and added.items() <= blobs.items()
    return Branch(name, head, after) if only_ours else None
