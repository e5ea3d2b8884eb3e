"""What a run is going to do, from what was read. Pure arithmetic."""

from __future__ import annotations

import math

from registrar.errors import Refused
from registrar.github.limits import interval_for
from registrar.models.fleet import Budget, Counts
from registrar.models.result import Status
from registrar.models.selection import MOST_SHARDS, Shard
from registrar.models.settings import PullRequestOptions, Settings
from registrar.texts.messages import msg


def writes_of(options: PullRequestOptions) -> dict[Status, int]:
    """Writing requests of one pull request, where there are any.

    A new one takes one for everything, an open one two: a commit and its description. Every kind of
    option takes one more; reviewers are asked once.
    """
    always = sum(map(bool, (options.labels, options.assignees)))
    once = sum(map(bool, (options.reviewers, options.team_reviewers)))
    return {Status.TO_OPEN: 1 + always + once, Status.TO_UPDATE: 2 + always}


MOST_FILES = 1_000_000
"""Listed files of all repositories together: one takes some 500 bytes until the report."""


def require_memory(files: int) -> None:
    """Refuse what would fill the memory: ``files`` in all lists of all repositories."""
    if files > MOST_FILES:
        raise Refused(msg("fleet.too_many_files", count=files, most=MOST_FILES))


def require_points(queries: int, *, points_left: int | None) -> None:
    """Refuse to begin what cannot end: reading alone would take more points than are left."""
    if points_left is not None and queries > points_left:
        raise Refused(msg("fleet.too_few_points", needed=queries, left=points_left))


def make_budget(counts: Counts, settings: Settings) -> Budget:
    to_open, to_update = counts.of[Status.TO_OPEN], counts.of[Status.TO_UPDATE]
    now = min(to_open, settings.part.share(settings.max_pull_requests))
    each = writes_of(settings.pull_request)
    writes = now * each[Status.TO_OPEN] + to_update * each[Status.TO_UPDATE]
    matrix = _shards(writes, max_seconds=settings.max_seconds)
    if len(matrix) > MOST_SHARDS:
        raise Refused(msg("fleet.too_many_shards", count=len(matrix), most=MOST_SHARDS))
    return Budget(
        counts,
        now,
        writes,
        # The shards write one after the other, so that an hour may see several of them
        interval_for(writes * settings.part.total),
        matrix,
    )


def _shards(writes: int, *, max_seconds: float) -> tuple[Shard, ...]:
    """Split the writing requests into shards that each end in time; none for no writes."""
    if not writes:
        return ()
    total = math.ceil(writes * interval_for(writes) / max_seconds)
    return tuple(Shard(number, total) for number in range(1, total + 1))
