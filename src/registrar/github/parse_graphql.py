"""Makes our models from the data of GraphQL answers.

Every function raises `UnusableAnswer` if a field is missing, or has a wrong type or form.
"""

import re
from collections.abc import Mapping, Sequence

from registrar.github import queries
from registrar.github.answer import GraphQLError, Response
from registrar.github.fields import Contradiction, Fields
from registrar.github.parse import is_member, is_writer
from registrar.github.queries import Query
from registrar.github.trees import (
    DirectoryAnswer,
    GitDirectory,
    NoListing,
    ProvedDirectories,
    entries_of,
)
from registrar.models.repository import BranchState, Entry, PullRequest, Repository, Unknown
from registrar.models.task import Created

_FIELD = re.compile(r"p\d+")
NOT_FOUND = "NOT_FOUND"
_MAY_PUSH = frozenset({"WRITE", "MAINTAIN", "ADMIN"})


def identified(fields: Fields) -> Repository:
    """Return the name, the default branch, the ids and the visibility of a repository."""
    default = fields.object_or_none("defaultBranchRef")
    private = "private" if fields.flag("isPrivate") else "public"
    return Repository(
        full_name=fields.full_name("nameWithOwner"),
        default_branch=default.text("name") if default else "",
        id=fields.id_number("databaseId") if "databaseId" in fields else 0,
        node_id=fields.text("id"),
        visibility=fields.text_or("visibility", private).lower(),
    )


def repository(fields: Fields) -> Repository:
    """Return a repository; it has a language and topics only if the query asked for them."""
    language = fields.object_or_none("primaryLanguage")
    topics = fields.object_or_none("repositoryTopics")
    role = fields.text_or("viewerPermission", "")
    return identified(fields)._replace(
        html_url=fields.url("url"),
        archived=fields.flag("isArchived"),
        is_fork=fields.flag("isFork"),
        can_push=role in _MAY_PUSH if role else None,
        language=language.text("name") if language else "",
        topics=frozenset(each.object("topic").text("name") for each in topics.objects("nodes"))
        if topics
        else frozenset(),
    )


def created(data: Fields, body: str) -> Created:
    """Return which of the three mutations were applied; ``body`` is that of the pull request."""
    made = _part(data, "createCommitOnBranch", "commit")
    pull = _part(data, "createPullRequest", "pullRequest")
    reference = _part(data, "createRef", "ref")
    return Created(
        branch_id=reference.text("id") if reference else "",
        commit=made.text("oid") if made else "",
        pull_request=_new_pull_request(pull, body) if pull else None,
    )


def _new_pull_request(fields: Fields, body: str) -> PullRequest:
    of = fields.object_or_none("repository")
    return PullRequest(
        number=fields.id_number("number"),
        url=fields.url("url"),
        body=body,
        created_at=fields.text_or("createdAt", ""),
        of=identified(of) if of else None,
    )


def commit_id(data: Fields) -> str:
    return data.object("createCommitOnBranch").object("commit").text("oid")


def is_about_directory(error: GraphQLError) -> bool:
    """Whether an error may say that a directory does not exist, or that its path is a file.

    GitHub sends such an error beside the data for each path that is missing (recorded in the tests
    of changesets/ghcommit). `directories` judges it.
    """
    if not error.path:
        return False
    says_absent = error.type == NOT_FOUND
    is_about_path = not error.type and error.message.startswith("Could not resolve file")
    is_field = _FIELD.fullmatch(str(error.path[-1])) is not None
    return is_field and (says_absent or is_about_path)


def directories(
    full_name: str, commit: Fields, query: Query, response: Response
) -> ProvedDirectories:
    """Return the directories of a query at a commit, as far as the answer proves them."""
    tree = ProvedDirectories(full_name, commit.object_id("oid"))
    return tree.learn(listings(commit, query, response))


def listings(commit: Fields, query: Query, response: Response) -> Mapping[str, DirectoryAnswer]:
    """Return the answer about each directory of a query, by its path."""
    fields = {path: queries.alias(index) for index, path in enumerate(query.directories)}
    return {path: _listing(commit, fields[path], path, response) for path in fields}


def _listing(commit: Fields, field: str, path: str, response: Response) -> DirectoryAnswer:
    found = commit.object_or_null(field)
    if found is None:
        about = response.errors_by_path.get((*commit.path, field), ())
        says_absent = all(error.type == NOT_FOUND for error in about)
        return NoListing.ABSENT if says_absent else NoListing.UNCLEAR
    tree = found.object_or_null("object") if path else found
    if tree is None or "entries" not in tree:
        return NoListing.UNCLEAR
    entries = {
        each.base64("nameRaw"): Entry(
            each.text("type"), f"{each.number('mode'):06o}", each.object_id("oid")
        )
        for each in tree.objects("entries")
    }
    return GitDirectory(tree.object_id("oid"), entries)


def branches(
    fields: Fields, pulls: Fields | None, query: Query, response: Response, repository: str
) -> Mapping[str, BranchState] | Unknown:
    """Return the commit and the pull requests of each name that a query asks for in full.

    ``pulls`` are the fields with the pull requests. The first branch also has its entries, if the
    query asks for them and the answer proves them.
    """
    states: dict[str, BranchState] = {}
    for index, name in enumerate(query.branches):
        ref = fields.object_or_null(f"b{index}")
        listed = pulls.object_or_null(f"h{index}") if pulls else None
        found = pull_requests(listed, repository) if listed else Unknown.NOT_SHOWN
        if listed is None or isinstance(found, Unknown):
            return Unknown.NOT_SHOWN
        state = BranchState(name, None, found, listed.object("pageInfo").flag("hasNextPage"))
        if ref:
            commit = ref.object("target")
            state = state._replace(head=commit.text("oid"))
            if query.looks_into_branch and not index:
                state = state._replace(entries=_entries(commit, query, response))
        states[name] = state
    return states


def _entries(commit: Fields, query: Query, response: Response) -> Mapping[str, Entry] | Unknown:
    try:
        found = directories("", commit, query, response).directories
    except Contradiction:
        return Unknown.NOT_PROVED
    return found if isinstance(found, Unknown) else entries_of(found)


def heads(
    fields: Fields, names: Sequence[str], read: Mapping[str, BranchState]
) -> Mapping[str, str] | Unknown:
    """Return the commits of those names that are branches.

    GitHub finds them by a part of the name. So they have to agree with the branches in ``read``,
    which the query asked for by their whole names.
    """
    listed = fields.object_or_none("heads")
    if listed is None or "nodes" not in listed or listed.object("pageInfo").flag("hasNextPage"):
        return Unknown.NOT_SHOWN
    nodes = [node for node in listed.objects_or_null("nodes") if node is not None]
    found = {each.text("name"): each.object("target").text("oid") for each in nodes}
    if any(found.get(name) != state.head for name, state in read.items()):
        return Unknown.NOT_SHOWN
    return {name: found[name] for name in names if name in found}


def branch_ids(fields: Fields, names: Sequence[str]) -> Mapping[str, str]:
    """Return GraphQL's ids of the branches that exist, by name."""
    refs = {name: fields.object_or_null(f"b{index}") for index, name in enumerate(names)}
    return {name: ref.text("id") for name, ref in refs.items() if ref}


def pull_requests(listed: Fields, repository: str) -> tuple[PullRequest, ...] | Unknown:
    """Return the pull requests from the repository itself, without those from branches of forks.

    GitHub may leave out a single one (jasperapp/jasper#187), which may matter.
    """
    nodes = listed.objects_or_null("nodes") if "nodes" in listed else [None]
    pulls = [_pull_request(node) for node in nodes if node is not None]
    if len(pulls) < len(nodes):
        return Unknown.NOT_SHOWN
    return tuple(pull for pull in pulls if pull.head_repository == repository)


def _part(data: Fields, mutation: str, field: str) -> Fields | None:
    """Return the payload of one mutation; ``None`` (null) if GitHub has refused it."""
    payload = data.object_or_null(mutation)
    return payload.object_or_null(field) if payload else None


def _pull_request(fields: Fields) -> PullRequest:
    repository = fields.object_or_null("headRepository")
    merged, state = fields.object_or_null("mergeCommit"), fields.text("state")
    author = fields.object_or_null("author")
    kind = author.text("__typename") if author else ""
    association = fields.text_or("authorAssociation", "")
    return PullRequest(
        number=fields.id_number("number"),
        url=fields.url("url"),
        body=fields.text("body"),
        is_open=state == "OPEN",
        merged=state == "MERGED",
        author=author.text("login") if author else "",
        is_by_writer=is_writer(kind, association) or fields.flag("viewerDidAuthor"),
        is_by_member=is_member(association),
        head_branch=fields.text("headRefName"),
        head_sha=fields.text("headRefOid"),
        head_repository=repository.text("nameWithOwner") if repository else "",
        base_branch=fields.text("baseRefName"),
        merge_commit=merged.text("oid") if merged else "",
        created_at=fields.text_or("createdAt", ""),
        closed_at=fields.text_or("closedAt", ""),
    )
