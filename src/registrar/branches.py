"""Which branch a run may write on (design §5, "Running again")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from registrar.errors import RegistrarError
from registrar.host import Host, HostError
from registrar.messages import say
from registrar.models import Plan, PullRequest, Tree, TreeEntry

LAST_SUFFIX = 50
_REGULAR_FILE = "100644"


@dataclass(frozen=True, slots=True)
class Branch:
    """The branch to write on, new or continued."""

    name: str
    tree: Tree = field(default_factory=dict[str, TreeEntry])
    """What a continued branch is known to hold; nothing of a new one."""
    pull_request: PullRequest | None = None
    """The open pull request that is to be continued."""


@dataclass(frozen=True, slots=True)
class Declined:
    """Somebody closed our pull request unmerged: that is a "no"."""

    name: str
    pull_request: PullRequest


def claim(host: Host, plan: Plan, *, built_in: bool) -> Branch | Declined:
    """Create the working branch, or find the one that an earlier run left.

    ``built_in`` says that nobody but us would choose the branch's name.

    Raises:
        HostError: the host refuses the branch, or gave no usable answer.
    """
    for name in _names(plan.branch):
        found = _claim(host, plan, name, built_in=built_in)
        if found is not None:
            return found
    raise RegistrarError(say("branch.no_name_free", branch=plan.branch, last=LAST_SUFFIX))


def _names(name: str) -> Iterator[str]:
    yield name
    for suffix in range(2, LAST_SUFFIX + 1):
        yield f"{name}-{suffix}"


def _claim(host: Host, plan: Plan, name: str, *, built_in: bool) -> Branch | Declined | None:
    """Try one name; ``None`` when the branch of that name is to be left alone."""
    try:
        host.create_branch(plan.repository, name, plan.base_sha)
        return Branch(name)
    except HostError as error:
        if not (error.already_there or error.uncertain):
            raise
        head = host.branch_head(plan.repository, name)
        if head is None:
            raise
        ours = built_in or (error.uncertain and head == plan.base_sha)
    return _continue(host, plan, name, head, may_be_bare=ours)


def _continue(
    host: Host, plan: Plan, name: str, head: str, *, may_be_bare: bool
) -> Branch | Declined | None:
    pulls = host.pull_requests(plan.repository, name)
    base = plan.repository.default_branch
    for pull in pulls:
        if pull.is_open and pull.base_branch == base:
            return Branch(name, host.tree(plan.repository, head) or {}, pull)
    from_head = [pull for pull in pulls if pull.head_sha == head]
    for pull in from_head:
        if not pull.is_open and not pull.merged and pull.base_branch == base:
            return Declined(name, pull)
    if from_head:
        return None

    merge_base = plan.base_sha if head == plan.base_sha else None
    merge_base = merge_base or host.merge_base(plan.repository, plan.base_sha, head)
    if merge_base == head:
        return Branch(name) if may_be_bare else None
    before, after = host.tree(plan.repository, merge_base), host.tree(plan.repository, head)
    if before is None or after is None or not _adds_only_ours(plan, before, after):
        return None
    return Branch(name, after)


def _adds_only_ours(plan: Plan, before: Tree, after: Mapping[str, TreeEntry]) -> bool:
    """Whether a branch adds nothing but listed files, as listed, that are missing still."""
    ours = {d.path: TreeEntry(_REGULAR_FILE, d.blob_id) for d in plan.missing}
    changed = {p for p in before.keys() | after.keys() if before.get(p) != after.get(p)}
    return all(path not in before and after[path] == ours.get(path) for path in changed)
