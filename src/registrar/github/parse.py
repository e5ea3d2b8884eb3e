"""The JSON of GitHub's answers -> our models.

Every function raises `UnusableAnswer` where a field is missing or has another type than it must
have, so that neither a proxy's page with status 200 nor half an answer is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from registrar.github.fields import Fields, UnusableAnswer, objects
from registrar.models.repository import Comparison, PullRequest, Tree, TreeEntry

COMPARED_FILES = 300
"""GitHub lists no more files of a comparison (OpenAPI description of ``GET compare``)."""


def entry_id(data: object) -> str:
    """Object id of what ``GET contents`` describes; ``""`` for a directory."""
    if isinstance(data, list):
        names = [entry.text("path") for entry in objects(data)]
        if not names:
            # git has no empty directories
            raise UnusableAnswer("$ is an empty array")
        return ""
    entry = Fields(data)
    entry.text("type")
    entry.text("path")
    return entry.text("sha")


def directory(data: object) -> Sequence[str] | None:
    """Names in a directory, as in `Directories`; ``None`` for anything else."""
    if not isinstance(data, list):
        entry_id(data)
        return None
    return tuple(
        f"{entry.text('name')}/" if entry.text("type") == "dir" else entry.text("name")
        for entry in objects(data)
    )


def tree(data: object) -> Tree | None:
    """Every path of a recursive tree; ``None`` where GitHub cut it."""
    found = Fields(data)
    found.text("sha")
    entries = {
        entry.text("path"): TreeEntry(entry.text("mode"), entry.text_or("sha", ""))
        for entry in found.objects("tree")
        if entry.text("type") != "tree"
    }
    return None if "truncated" in found and found.flag("truncated") else entries


def comparison(data: object) -> Comparison:
    """A comparison from the best common ancestor on."""
    found = Fields(data)
    merge_base = found.object("merge_base_commit").text("sha")
    files = list(found.objects("files")) if "files" in found else []
    added = [file for file in files if file.text("status") == "added"]
    complete = len(files) < COMPARED_FILES and len(added) == len(files)
    blobs = {file.text("filename"): file.text("sha") for file in added}
    return Comparison(merge_base, blobs if complete else None)


def pull_request(found: Fields) -> PullRequest:
    """A pull request of the REST API."""
    head, base = found.object("head"), found.object("base")
    repository = head.object_or_none("repo")
    return PullRequest(
        number=found.number("number"),
        url=found.url("html_url"),
        body=found.text_or("body", ""),
        is_open=found.text("state") == "open",
        merged="merged_at" in found,
        head_branch=head.text("ref"),
        head_sha=head.text("sha"),
        head_repository=repository.text("full_name") if repository else "",
        base_branch=base.text("ref"),
        labels=frozenset(label.text("name").lower() for label in _some(found, "labels")),
        assignees=logins(found),
    )


def pull_request_node(found: Fields) -> PullRequest:
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


def logins(found: Fields) -> frozenset[str]:
    """Logins of the assignees, in lower case."""
    return frozenset(person.text("login").lower() for person in _some(found, "assignees"))


def _some(found: Fields, name: str) -> list[Fields]:
    return list(found.objects(name)) if name in found else []
