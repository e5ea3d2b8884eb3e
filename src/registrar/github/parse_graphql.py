"""Makes our models from the data of GraphQL answers.

Every function raises `UnusableAnswer` if a field is missing, or has a wrong type or form.
"""

import re
from collections.abc import Mapping, Sequence

from registrar.github import queries
from registrar.github.answer import GraphQLError, Path, Response
from registrar.github.fields import Contradiction, Fields
from registrar.github.parse import is_member, is_writer
from registrar.github.queries import Query
from registrar.github.trees import DirectoryAnswer, GitDirectory, ProvedDirectories, entries_of
from registrar.models.repository import BranchState, Entry, PullRequest, Repository
from registrar.models.task import Created

_FIELD = re.compile(r"p\d+")
NOT_FOUND = "NOT_FOUND"
_MAY_PUSH = frozenset({"WRITE", "MAINTAIN", "ADMIN"})


def identified(fields: Fields) -> Repository:
    """Return the name, the ids and the visibility of a repository."""
    private = "private" if fields.flag("isPrivate") else "public"
    return Repository(
        full_name=fields.full_name("nameWithOwner"),
        id=fields.id_number("databaseId") if "databaseId" in fields else 0,
        node_id=fields.text("id"),
        visibility=fields.text_or("visibility", private).lower(),
    )


def repository(fields: Fields) -> Repository:
    """Return a repository; it has a language and topics only if the query asked for them."""
    default = fields.object_or_none("defaultBranchRef")
    language = fields.object_or_none("primaryLanguage")
    topics = fields.object_or_none("repositoryTopics")
    role = fields.text_or("viewerPermission", "")
    return identified(fields)._replace(
        default_branch=default.text("name") if default else "",
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
    commit: Fields, query: Query, response: Response, where: Path
) -> Mapping[str, DirectoryAnswer]:
    """Return the answer about each directory of a query, by its path.

    ``commit`` has the fields of the directories; ``where`` is its place in the response.
    """
    answers: dict[str, DirectoryAnswer] = {}
    for index, path in enumerate(query.directories):
        field = queries.alias(index)
        fields = commit.object_or_null(field)
        if fields is None:
            about = response.errors_by_path.get((*where, field), ())
            answers[path] = DirectoryAnswer(None, all(error.type == NOT_FOUND for error in about))
        else:
            answers[path] = DirectoryAnswer(
                _tree(fields.object_or_none("object") if path else fields)
            )
    return answers


def _tree(fields: Fields | None) -> GitDirectory | None:
    if fields is None or "entries" not in fields:
        return None
    entries = {
        each.base64("nameRaw"): Entry(
            each.text("type"), f"{each.number('mode'):06o}", each.object_id("oid")
        )
        for each in fields.objects("entries")
    }
    return GitDirectory(fields.object_id("oid"), entries)


def branches(
    fields: Fields, heads: Fields | None, names: Sequence[str], repository: str
) -> Mapping[str, BranchState] | None:
    """Return the commit and the pull requests of each name; the query must have asked for them.

    ``heads`` are the fields with the pull requests. ``None`` if GitHub does not show one of them.
    """
    states: dict[str, BranchState] = {}
    for index, name in enumerate(names):
        ref = fields.object_or_null(f"b{index}")
        listed = heads.object_or_null(f"h{index}") if heads else None
        pulls = pull_requests(listed, repository) if listed else None
        if listed is None or pulls is None:
            return None
        head = ref.object("target").text("oid") if ref else None
        has_more = listed.object("pageInfo").flag("hasNextPage")
        states[name] = BranchState(name, head, pulls, has_more=has_more)
    return states


def with_entries(
    fields: Fields, query: Query, response: Response, where: Path, states: Mapping[str, BranchState]
) -> Mapping[str, BranchState]:
    """Return the states, the first one with the entries of its branch in the query's directories.

    If the branch does not exist, or its listings do not prove that they are complete, no entries
    are added. They are then read with another request if they are needed.
    """
    first = states[query.branches[0]]
    ref = fields.object_or_null("b0")
    if ref is None or first.head is None:
        return states
    answers = directories(ref.object("target"), query, response, (*where, "b0", "target"))
    try:
        tree = ProvedDirectories("", first.head).learn(answers)
    except Contradiction:
        return states
    if tree.unproved:
        return states
    return {**states, first.name: first._replace(entries=entries_of(tree.directories))}


def heads(
    fields: Fields, names: Sequence[str], read: Mapping[str, BranchState]
) -> Mapping[str, str] | None:
    """Return the commits of those names that are branches; ``None`` if the answer may lack some.

    GitHub finds them by a part of the name. So they have to agree with the branches in ``read``,
    which the query asked for by their whole names.
    """
    listed = fields.object_or_none("heads")
    if listed is None or "nodes" not in listed or listed.object("pageInfo").flag("hasNextPage"):
        return None
    nodes = [node for node in listed.objects_or_null("nodes") if node is not None]
    found = {each.text("name"): each.object("target").text("oid") for each in nodes}
    if any(found.get(name) != state.head for name, state in read.items()):
        return None
    return {name: found[name] for name in names if name in found}


def branch_ids(fields: Fields, names: Sequence[str]) -> Mapping[str, str]:
    """Return GraphQL's ids of the branches that exist, by name."""
    refs = {name: fields.object_or_null(f"b{index}") for index, name in enumerate(names)}
    return {name: ref.text("id") for name, ref in refs.items() if ref}


def pull_requests(listed: Fields, repository: str) -> tuple[PullRequest, ...] | None:
    """Return the pull requests from the repository itself, without those from branches of forks.

    ``None`` if GitHub does not show a pull request (jasperapp/jasper#187), because it may matter.
    """
    if "nodes" not in listed:
        return None
    nodes = listed.objects_or_null("nodes")
    pulls = [_pull_request(node) for node in nodes if node is not None]
    if len(pulls) < len(nodes):
        return None
    return tuple(pull for pull in pulls if pull.head_repository == repository)


def _part(data: Fields, mutation: str, field: str) -> Fields | None:
    """Return the payload of one mutation; ``None`` (null) if GitHub has refused it."""
    payload = data.object_or_null(mutation)
    return payload.object_or_none(field) if payload else None


def _pull_request(fields: Fields) -> PullRequest:
    repository = fields.object_or_none("headRepository")
    merged, state = fields.object_or_none("mergeCommit"), fields.text("state")
    author = fields.object_or_none("author")
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
