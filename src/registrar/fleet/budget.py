"""What a run is going to do, from what was read. Pure arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from registrar.errors import Refused
from registrar.fleet import schedule
from registrar.fleet.tasks import PullState
from registrar.models.fleet import Budget
from registrar.models.selection import MOST_SHARDS, Exclusion, Shard
from registrar.models.spec import PullRequestOptions
from registrar.texts.messages import msg

POINTS_PER_REPOSITORY = 2
"""A query, and what writes everything at once or a commit."""


def writes_of(options: PullRequestOptions) -> dict[PullState, int]:
    """Writing requests of one pull request, where there are any.

    A new one takes one for everything, an open one a commit and its description; then each kind of
    option takes one. Reviewers are asked once.
    """
    always = sum(map(bool, (options.labels, options.assignees)))
    once = sum(map(bool, (options.reviewers, options.team_reviewers)))
    return {PullState.TO_OPEN: 1 + always + once, PullState.TO_UPDATE: 2 + always}


MOST_FILES = 1_000_000
"""Listed files of all repositories together: each takes some 500 bytes until the report."""


def require_memory(files: int) -> None:
    """Refuse what would fill the memory: ``files`` in all lists of all repositories.

    Raises:
        Refused: nothing was read or written.
    """
    if files > MOST_FILES:
        raise Refused(msg("fleet.too_many_files", count=files, most=MOST_FILES))


def require_points(queries: int, *, points_left: int | None) -> None:
    """Refuse to begin what cannot end: reading alone would take more points than are left.

    Raises:
        Refused: nothing was read or written.
    """
    if points_left is not None and queries > points_left:
        raise Refused(msg("fleet.too_few_points", needed=queries, left=points_left))


class Read(NamedTuple):
    """What is known after the reading."""

    found: int
    excluded: Mapping[Exclusion, int]
    queries: int
    points_left: int | None
    pull_requests: Counter[PullState]
    """Lists with missing files, by what is left to do."""
    unread: int = 0
    """Of them, so many whose pull requests the token may not read."""


class Bounds(NamedTuple):
    """What bounds the writing."""

    cap: int
    """New pull requests at most, for all shards, of which this run is one."""
    max_seconds: float
    writes_of: Mapping[PullState, int]
    """Writing requests of one pull request."""
    shard: Shard


def make_budget(read: Read, bounds: Bounds) -> Budget:
    """Count what is to be done.

    Raises:
        Refused: it would take more shards than a matrix has jobs.
    """
    pull_requests = read.pull_requests
    to_open, to_update = pull_requests[PullState.TO_OPEN], pull_requests[PullState.TO_UPDATE]
    now = min(to_open, bounds.shard.share(bounds.cap))
    each = bounds.writes_of
    writes = now * each[PullState.TO_OPEN] + to_update * each[PullState.TO_UPDATE]
    matrix = schedule.shards(writes, max_seconds=bounds.max_seconds)
    if len(matrix) > MOST_SHARDS:
        raise Refused(msg("fleet.too_many_shards", count=len(matrix), most=MOST_SHARDS))
    return Budget(
        found=read.found,
        excluded=read.excluded,
        queries=read.queries,
        points_left=read.points_left,
        missing=sum(pull_requests.values()),
        proposed=to_update + pull_requests[PullState.WAITING],
        to_update=to_update,
        declined=pull_requests[PullState.DECLINED],
        unread=read.unread,
        now=now,
        deferred=to_open - now,
        writes=writes,
        # The shards write one after the other, so that an hour may see several of them
        interval=schedule.interval(writes * bounds.shard.total),
        # Each repository is read again, and written to, also where that turns out to be needless
        points=POINTS_PER_REPOSITORY * (now + to_update) + pull_requests[PullState.WAITING],
        matrix=matrix,
    )
