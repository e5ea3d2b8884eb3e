"""What a run is going to do, from what was read. Pure arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from registrar.branches import Declined
from registrar.errors import Refused
from registrar.fleet import schedule
from registrar.fleet.batches import FIRST_SIZE
from registrar.models.fleet import Budget
from registrar.models.repository import PullRequest
from registrar.models.selection import MOST_SHARDS, Exclusion, Shard
from registrar.models.spec import PullRequestOptions
from registrar.texts.messages import msg

SECONDS_PER_QUERY = 2.0
"""What a query of `FIRST_SIZE` repositories may take, generously."""


def requests_of(options: PullRequestOptions) -> int:
    """Writing requests of one new pull request: everything at once, then each kind of option."""
    given = (options.labels, options.assignees, options.reviewers, options.team_reviewers)
    return 1 + sum(map(bool, given))


def require_reads(tasks: int, *, points_left: int | None, max_seconds: float) -> None:
    """Refuse to begin what cannot end: reading alone would take too much.

    Raises:
        Refused: nothing was read or written.
    """
    queries = math.ceil(tasks / FIRST_SIZE)
    if points_left is not None and queries > points_left:
        raise Refused(msg("fleet.too_few_points", needed=queries, left=points_left))
    if queries * SECONDS_PER_QUERY > max_seconds:
        minutes = math.ceil(queries * SECONDS_PER_QUERY / 60)
        raise Refused(msg("fleet.too_few_minutes", needed=minutes, minutes=max_seconds / 60))


class Read(NamedTuple):
    """What is known after the reading."""

    found: int
    excluded: Mapping[Exclusion, int]
    queries: int
    points_left: int | None
    lacking: Sequence[PullRequest | Declined | None]
    """What each list in a repository that lacks files has on its working branch."""


class Bounds(NamedTuple):
    """What bounds the writing."""

    cap: int
    """New pull requests at most, for all shards, of which this run is one."""
    max_seconds: float
    writes_each: int
    """Writing requests of one pull request."""
    shard: Shard


def make_budget(read: Read, bounds: Bounds) -> Budget:
    """Count what is to be done.

    Raises:
        Refused: it would take more shards than a matrix has jobs.
    """
    declined = sum(isinstance(found, Declined) for found in read.lacking)
    proposed = sum(isinstance(found, PullRequest) for found in read.lacking)
    to_open = len(read.lacking) - declined - proposed
    now = min(to_open, bounds.shard.share(bounds.cap))
    matrix = schedule.shards(now * bounds.writes_each, max_seconds=bounds.max_seconds)
    if not matrix and proposed:
        # Open pull requests may have to be brought up to date
        matrix = (Shard(),)
    if len(matrix) > MOST_SHARDS:
        raise Refused(msg("fleet.too_many_shards", count=len(matrix), most=MOST_SHARDS))
    return Budget(
        found=read.found,
        excluded=read.excluded,
        queries=read.queries,
        points_left=read.points_left,
        lacking=len(read.lacking),
        proposed=proposed,
        declined=declined,
        now=now,
        deferred=to_open - now,
        seconds=schedule.seconds(now * bounds.writes_each),
        matrix=matrix,
    )
