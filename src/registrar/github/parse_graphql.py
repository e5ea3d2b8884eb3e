"""The data of GraphQL answers -> our models.

As with REST, every function raises `UnusableAnswer` where a field is not what it must be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from registrar.github import queries
from registrar.github.fields import Fields
from registrar.github.response import Response
from registrar.models.plan import Created
from registrar.models.repository import Directories, OwnerFiles, PullRequest, Repository


class AtPaths(NamedTuple):
    """What is at some paths of a commit."""

    entries: Mapping[str, str]
    """Types, as in `RepositoryState`."""
    directories: Directories


def owner_files(response: Response, paths: Sequence[str]) -> OwnerFiles | None:
    """Directories of the owner's repository ``.github``; ``None``: nothing is inherited."""
    found = Fields(response.data).object("data").object("repository")
    default = found.object_or_none("defaultBranchRef")
    visibility = found.text("visibility")
    if default is None or visibility == "PRIVATE":
        return None
    listed = at_paths(default.object("target"), paths)
    return OwnerFiles(listed.directories, is_public=visibility == "PUBLIC")


def created(response: Response, body: str) -> Created:
    """Which of the three mutations were applied; ``body`` is that of the pull request."""
    data = Fields(response.data).object("data")
    made = _part(data, "createCommitOnBranch", "commit")
    pull = _part(data, "createPullRequest", "pullRequest")
    return Created(
        branch=_part(data, "createRef", "ref") is not None,
        commit=made.text("oid") if made else "",
        pull_request=PullRequest(pull.number("number"), pull.url("url"), body) if pull else None,
    )


def commit_id(response: Response) -> str:
    """Id of the commit that a mutation made."""
    data = Fields(response.data).object("data")
    return data.object("createCommitOnBranch").object("commit").text("oid")


def commit_of(response: Response) -> Fields:
    """The commit that a query asked for by its id."""
    return Fields(response.data).object("data").object("repository").object("object")


def at_paths(commit: Fields, paths: Sequence[str]) -> AtPaths:
    """What is at ``paths``; the query asked for each of them, so each has an answer."""
    entries: dict[str, str] = {}
    directories: dict[str, Sequence[str]] = {}
    for index, path in enumerate(paths):
        entry = commit.object_or_null(f"p{index}")
        name = path.rstrip("/")
        if entry is None:
            continue
        tree = entry if path == queries.ROOT else entry.object_or_none("object")
        if path != queries.ROOT:
            entries[name] = entry.text("type")
        if path.endswith("/") and tree and "entries" in tree:
            directories[name] = tuple(
                f"{each.text('name')}/" if each.text("type") == "tree" else each.text("name")
                for each in tree.objects("entries")
            )
    return AtPaths(entries, directories)


def pull_requests(found: Fields, repository: Repository) -> tuple[PullRequest, ...]:
    """Only those of the repository itself: a fork's branch may have the same name."""
    nodes = found.object("pullRequests").nodes("nodes")
    pulls = [_pull_request(node) for node in nodes]
    return tuple(pull for pull in pulls if pull.head_repository == repository.full_name)


def _part(data: Fields, mutation: str, field: str) -> Fields | None:
    """The payload of one mutation; ``None`` (null) when it was refused."""
    payload = data.object_or_null(mutation)
    return payload.object_or_none(field) if payload else None


def _pull_request(found: Fields) -> PullRequest:
    """A pull request of the GraphQL API."""
    repository = found.object_or_none("headRepository")
    state = found.text("state")
    return PullRequest(
        number=found.number("number"),
        url=found.url("url"),
        body=found.text("body"),
        is_open=state == "OPEN",
        merged=state == "MERGED",
        head_branch=found.text("headRefName"),
        head_sha=found.text("headRefOid"),
        head_repository=repository.text("nameWithOwner") if repository else "",
        base_branch=found.text("baseRefName"),
    )
