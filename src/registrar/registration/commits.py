"""One commit for several files: GitHub refuses it where the branch has moved on."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from registrar.errors import GitHubError, Kind
from registrar.models.files import FileDefinition
from registrar.models.plan import NewCommit
from registrar.registration.decide import Branch
from registrar.registration.work import Work

FILES_PER_COMMIT = 1000
BYTES_PER_COMMIT = 20_000_000
"""Base64 of a commit; about 40 MB is the most that passes (github-api-commit-action#66)."""
MOST_REREADS = 5
"""How often a branch that others write to is read again before its files have failed."""
_MAY_HAVE_MOVED = frozenset({Kind.STALE, Kind.LAG})


class NotCommitted(Exception):
    """A commit was refused, or its answer lost."""

    def __init__(self, error: GitHubError, branch: Branch, batch: Sequence[FileDefinition]) -> None:
        """``branch`` is as it was read last, without the files of the ``batch``."""
        super().__init__(str(error))
        self.error = error
        self.branch = branch._replace(has_lost_commit=error.may_have_been_applied)
        self.batch = batch


def commit(
    work: Work, branch: Branch, choose: Callable[[Branch], Iterable[FileDefinition]]
) -> Branch:
    """Commit what has no result yet of the files that ``choose`` finds for a branch.

    Where the branch has moved on, they are chosen again: another run may have written to it, or
    this one, when the answer was lost. Gives the branch afterwards; raises `NotCommitted`.
    """
    proposal, progress = work.proposal, work.progress
    rereads = 0
    while batch := next(batches(progress.pending(choose(branch))), None):
        corrects = all(branch.is_outdated(each.path) for each in batch)
        message = proposal.commit_message(progress.result(), batch, corrects=corrects)
        new = NewCommit(branch.name, branch.head, *message, batch)
        with work.interruptible(batch):
            try:
                head = work.client.graphql.create_commit(work.plan.repository, new)
            except GitHubError as error:
                moved = _moved(work, branch, error) if rereads < MOST_REREADS else None
                if moved is None:
                    raise NotCommitted(error, branch, batch) from error
                # Files that the branch had before this commit were not written by this run
                record_there(work, branch, moved)
                branch, rereads = moved, rereads + 1
                continue
        branch = branch._replace(head=head)
        with progress.group("group.create", count=len(batch), branch=branch.name):
            progress.record_and_print(*(work.written(branch, each, head) for each in batch))
    return branch


def _moved(work: Work, branch: Branch, refused: GitHubError) -> Branch | None:
    """Give the branch as it is by now; ``None`` when it has not moved, or cannot be read."""
    lost = refused.may_have_been_applied
    if not lost and refused.kind not in _MAY_HAVE_MOVED:
        return None
    rest, repository = work.client.rest, work.plan.repository
    try:
        head = rest.branch_head(repository, branch.name)
        if head is None or head == branch.head:
            return None
        tree = rest.tree(repository, head)
    except GitHubError:
        return None
    return branch._replace(head=head, tree=tree, may_be_ours=branch.may_be_ours or lost)


def batches(files: Sequence[FileDefinition]) -> Iterator[list[FileDefinition]]:
    """Split into commits that GitHub accepts."""
    batch: list[FileDefinition] = []
    size = 0
    for definition in files:
        cost = len(definition.content) * 4 // 3 + len(definition.path.encode())
        if batch and (len(batch) == FILES_PER_COMMIT or size + cost > BYTES_PER_COMMIT):
            yield batch
            batch, size = [], 0
        batch.append(definition)
        size += cost
    if batch:
        yield batch


def record_there(work: Work, branch: Branch, now: Branch) -> None:
    """Record the files that the branch already held, if they need no correction or are gone from
    ``now``.
    """
    progress, tree = work.progress, branch.tree or {}
    found = [each for each in progress.pending(work.plan.missing) if each.path in tree]
    is_gone = () if now.tree is None else tree.keys() - now.tree.keys()
    there = (each for each in found if each.path in is_gone or not branch.is_outdated(each.path))
    progress.record_and_print(*(work.there(branch, each, tree[each.path].sha) for each in there))
