"""The contract to the letter: one existence check and one commit per file, calls in its order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import TypeVar

from registrar import answers
from registrar.branches import Attempt, Branch
from registrar.connection import HostError
from registrar.errors import Cancelled, Refused
from registrar.host import Host
from registrar.messages import say
from registrar.models import FileDefinition, FileResult, Job, Plan, State, Survey
from registrar.progress import Progress
from registrar.proposal import Proposal
from registrar.waiting import OutOfTime

CONNECTIONS = 30
"""How many existence checks are under way at once: the built-in lists take one round trip.

The host allows 100 (docs: "Rate limits for the REST API").
"""

Item = TypeVar("Item")
Result = TypeVar("Result")


def survey(host: Host, job: Job, progress: Progress) -> Survey:
    """Read the repository, its default branch, and every listed path at that branch's commit.

    Raises:
        Refused: there is no such repository, or it is empty.
        HostError: an answer told neither that a path exists nor that it is missing.
    """
    host.waiting.require_budget(2 + len(job.definitions))
    repository = host.repository(job.target)
    progress.found(repository)
    try:
        base_sha = host.branch_head(repository, repository.default_branch)
    except HostError as error:
        if error.status == answers.CONFLICT:
            raise Refused(say("preflight.empty", target=repository.full_name)) from error
        raise
    if base_sha is None:
        branch = repository.default_branch
        target = repository.full_name
        raise Refused(say("preflight.no_default_branch", target=target, branch=branch))

    total = len(job.definitions)
    existing = set[str]()
    with progress.group("group.check", count=total, target=repository.full_name):
        paths = [definition.path for definition in job.definitions]
        found = _concurrently(lambda path: host.entry(repository, path, base_sha), paths)
        for number, (path, entry) in enumerate(zip(paths, found, strict=True), start=1):
            if entry is not None:
                existing.add(path)
            progress.checked(number, total, path, exists=entry is not None)
    return Survey(repository, base_sha, frozenset(existing))


def write_at_once(_host: Host, _plan: Plan, _proposal: Proposal, _progress: Progress) -> Attempt:
    """Leave everything to the common road: REST has no request for all of it."""
    return Attempt()


def create_files(
    host: Host, plan: Plan, branch: Branch, proposal: Proposal, progress: Progress
) -> None:
    """Create every file that has no result yet, one by one.

    A failed file does not stop the run (contract, "Errors", rule 3).

    Raises:
        OutOfTime: the host's limits last for longer than we may wait.
        Cancelled: a signal arrived.
    """
    todo = progress.pending(plan.missing)
    if not todo:
        return
    with progress.group("group.create", count=len(todo), branch=branch.name):
        for number, definition in enumerate(todo, start=1):
            try:
                message = proposal.commit_message(progress.registration(), definition)
                result = _create(host, plan, branch, definition, message)
            except (Cancelled, OutOfTime) as ended:
                if ended.unanswered:
                    reason = say("reason.unknown")
                    progress.record(FileResult(definition, State.UNKNOWN, reason))
                raise
            progress.settled(number, len(todo), result)


def _there(branch: Branch, definition: FileDefinition) -> FileResult:
    """Tell what the branch holds already: our own lost write, or an earlier run's file."""
    entry = branch.tree.get(definition.path) if branch.tree else None
    if branch.maybe_written and entry and entry.sha == definition.blob_id:
        return FileResult(definition, State.CREATED, on_branch=True)
    return FileResult(definition, State.SKIPPED, say("reason.on_branch"), on_branch=True)


def _create(
    host: Host, plan: Plan, branch: Branch, definition: FileDefinition, message: str
) -> FileResult:
    if branch.has(definition.path):
        return _there(branch, definition)
    try:
        commit = host.create_file(
            plan.repository,
            definition.path,
            branch=branch.name,
            content=definition.content,
            message=message,
        )
    except HostError as error:
        if error.already_there or error.uncertain:
            return _read_back(host, plan, branch, definition, error)
        return FileResult(definition, State.FAILED, error.message)
    return FileResult(definition, State.CREATED, commit=commit, on_branch=True)


def _read_back(
    host: Host, plan: Plan, branch: Branch, definition: FileDefinition, error: HostError
) -> FileResult:
    """Look what a write did whose answer was lost, or who else created the path."""
    try:
        found = host.entry(plan.repository, definition.path, branch.name)
    except HostError:
        return FileResult(definition, State.UNKNOWN, error.message)
    except (Cancelled, OutOfTime) as ended:
        ended.unanswered |= error.uncertain
        raise
    if found is None:
        return FileResult(definition, State.FAILED, error.message)
    maybe_ours = error.uncertain or branch.maybe_written
    if maybe_ours and found == definition.blob_id:
        return FileResult(definition, State.CREATED, on_branch=True)
    return FileResult(definition, State.SKIPPED, say("reason.on_branch"), on_branch=True)


def _concurrently(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int = CONNECTIONS
) -> Iterator[Result]:
    """Do ``work`` for every item on several threads; results in the order of the items.

    The first exception ends it. The threads are daemons: a cancelled run does not wait for the
    answers that it no longer needs.
    """
    futures: list[Future[Result]] = [Future() for _ in items]
    waiting = deque(zip(items, futures, strict=True))

    def serve() -> None:
        while waiting:
            try:
                item, future = waiting.popleft()
            except IndexError:
                return
            try:
                future.set_result(work(item))
            except BaseException as error:  # noqa: BLE001 (raised again by the one who waits)
                future.set_exception(error)

    for _ in range(min(workers, len(items))):
        threading.Thread(target=serve, daemon=True).start()
    try:
        for future in futures:
            yield future.result()
    finally:
        waiting.clear()
