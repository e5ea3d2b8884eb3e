"""The JSON of the REST API -> our models.

Every function raises `UnusableAnswer` where a field is missing or has another type than it must
have, so that neither a proxy's page with status 200 nor half an answer is used.
"""

from collections.abc import Iterable, Mapping

from registrar.github.fields import Fields, UnusableAnswer, objects
from registrar.github.trees import GitTree
from registrar.models.repository import Comparison, Entry, PullRequest, Repository, Tree, Values
from registrar.models.standing import CodeownersError

_HEADS = "refs/heads/"
COMPARED_FILES = 300
"""GitHub lists no more files of a comparison (OpenAPI description of ``GET compare``)."""


_OF_CONTENTS = {
    "dir": ("tree", "040000"),
    "symlink": ("blob", "120000"),
    "submodule": ("commit", "160000"),
}
"""Type and mode in git; any other is a file, of which GitHub does not say whether it can be run."""


def identity(fields: Fields) -> Repository:
    """Which repository it is, its default branch, and who may know its name."""
    visibility = ""
    if "private" in fields:
        private = "private" if fields.flag("private") else "public"
        visibility = fields.text_or("visibility", private)
    return Repository(
        full_name=fields.repository("full_name"),
        default_branch=fields.text_or("default_branch", ""),
        id=fields.identity("id") if "id" in fields else 0,
        visibility=visibility,
    )


def repository(fields: Fields) -> Repository:
    """A repository, as itself or in a list.

    Its custom properties are documented as optional, and a person's repositories have none
    (https://docs.github.com/en/rest/repos/repos#get-a-repository).
    """
    of_person = "owner" in fields and fields.object("owner").text_or("type", "") == "User"
    properties: Values | None = {} if of_person else None
    if "custom_properties" in fields:
        given = fields.object("custom_properties")
        properties = _values({name: given.text_or_texts(name) for name in given.names()})
    permissions = fields.object_or_none("permissions")
    return identity(fields)._replace(
        html_url=fields.url("html_url"),
        node_id=fields.text_or("node_id", ""),
        archived="archived" in fields and fields.flag("archived"),
        disabled="disabled" in fields and fields.flag("disabled"),
        is_fork="fork" in fields and fields.flag("fork"),
        can_push=permissions.flag("push") if permissions and "push" in permissions else None,
        takes_pull_requests="has_pull_requests" not in fields or fields.flag("has_pull_requests"),
        of_person=of_person,
        language=fields.text_or("language", ""),
        topics=frozenset(fields.texts("topics")) if "topics" in fields else frozenset(),
        properties=properties,
    )


def property_values(properties: Iterable[Fields]) -> Values:
    """Custom properties of one repository."""
    return _values({each.text("property_name"): each.text_or_texts("value") for each in properties})


def _values(given: Mapping[str, tuple[str, ...]]) -> Values:
    """By their names in lower case: an empty text is no value."""
    return {name.lower(): tuple(filter(None, values)) for name, values in given.items()}


def entry(data: object) -> Entry:
    """What ``GET contents`` describes."""
    if isinstance(data, list):
        names = [each.text("path") for each in objects(data)]
        if not names:
            # git has no empty directories
            raise UnusableAnswer("$ is an empty array")
        return Entry(*_OF_CONTENTS["dir"], "")
    return _entry(Fields(data))


def directory(data: object) -> Mapping[str, Entry] | None:
    """The entries of a directory, as in `Directories`; ``None`` for anything else."""
    if not isinstance(data, list):
        entry(data)
        return None
    return {each.text("name"): _entry(each) for each in objects(data)}


def _entry(fields: Fields) -> Entry:
    fields.text("path")
    kind, mode = _OF_CONTENTS.get(fields.text("type"), ("blob", ""))
    return Entry(kind, mode, fields.text("sha"))


def codeowners(fields: Fields | None) -> tuple[CodeownersError, ...]:
    """What GitHub finds wrong in ``CODEOWNERS``, if there is one."""
    return tuple(
        CodeownersError(
            path=each.text("path"),
            line=each.number("line"),
            column=each.number("column"),
            kind=each.text("kind"),
            message=each.text("message"),
            suggestion=each.text_or("suggestion", ""),
        )
        for each in (fields.objects("errors") if fields else ())
    )


def branches(data: object) -> Mapping[str, str]:
    """Names and commit ids of the branches among some references."""
    commits = {each.text("ref"): each.object("object").text("sha") for each in objects(data)}
    return {
        name.removeprefix(_HEADS): sha for name, sha in commits.items() if name.startswith(_HEADS)
    }


def first_commit(data: object) -> str | None:
    """Id of the first commit of a list; ``None`` where it is empty."""
    return next((each.text("sha") for each in objects(data)), None)


def blob(data: object) -> bytes:
    """The content of a blob; it is an error where GitHub encodes it in another way than base64."""
    fields = Fields(data)
    if fields.text("encoding") != "base64":
        raise UnusableAnswer("another encoding than base64")
    return fields.base64("content")


def events(data: object) -> list[str]:
    """What happened to a pull request."""
    return [each.text("event") for each in objects(data)]


def commit_of_file(data: object) -> str:
    fields = Fields(data)
    fields.object("content")
    return fields.object("commit").text("sha")


def tree(data: object) -> Tree | None:
    """Every path of a recursive tree; ``None`` where GitHub cut it."""
    fields = Fields(data)
    fields.text("sha")
    entries = {
        each.text("path"): Entry(each.text("type"), each.text("mode"), each.text_or("sha", ""))
        for each in fields.objects("tree")
        if each.text("type") != "tree"
    }
    return None if "truncated" in fields and fields.flag("truncated") else entries


def git_tree(data: object) -> GitTree | None:
    """A single directory; ``None`` where GitHub cut it."""
    fields = Fields(data)
    entries = {
        each.text("path").encode(): Entry(
            each.text("type"), each.text("mode"), each.object_id("sha")
        )
        for each in fields.objects("tree")
    }
    listed = GitTree(fields.object_id("sha"), entries)
    return None if fields.flag("truncated") and not listed.is_proved else listed


def comparison(data: object) -> Comparison:
    """A comparison from the best common ancestor on."""
    fields = Fields(data)
    merge_base = fields.object("merge_base_commit").text("sha")
    files = list(fields.objects("files")) if "files" in fields else []
    added = [file for file in files if file.text("status") == "added"]
    complete = len(files) < COMPARED_FILES and len(added) == len(files)
    there = [file for file in files if file.text("status") != "removed"]
    changed = {file.text("filename"): file.text_or("sha", "") for file in there}
    return Comparison(merge_base, changed if complete else None, changed)


def is_writer(kind: str, association: str) -> bool:
    """Whether an account may write to a repository, by its type and its association with it.

    An App is a bot, and acts only where it was installed. Members are ``CONTRIBUTOR`` or ``NONE``
    to those who do not see their membership (actions/github-script#643, flutter/flutter#101012).
    """
    return kind == "Bot" or association in {"OWNER", "MEMBER", "COLLABORATOR"}


def may_write(data: object) -> bool:
    """Whether a role allows it: ``maintain`` and roles of an organisation's own count as ``write``.

    https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
    """
    return Fields(data).text("permission") in {"admin", "write"}


def pull_request(data: object) -> PullRequest:
    return _pull_request(Fields(data))


def pull_requests_from(data: object, branch: str) -> tuple[PullRequest, ...]:
    """Those of a list that are from ``branch`` of the repository itself, whatever its name is."""
    return tuple(
        pull
        for fields in objects(data)
        if (pull := _pull_request(fields)).head_branch == branch
        and pull.head_repository == fields.object("base").object("repo").text("full_name")
    )


def logins(fields: Fields) -> frozenset[str]:
    """Logins of the assignees, in lower case."""
    return frozenset(person.text("login").lower() for person in _some(fields, "assignees"))


def _some(fields: Fields, name: str) -> list[Fields]:
    return list(fields.objects(name)) if name in fields else []


def _pull_request(fields: Fields) -> PullRequest:
    head, base = fields.object("head"), fields.object("base")
    repository, of = head.object_or_none("repo"), base.object_or_none("repo")
    author = fields.object_or_none("user")
    kind = author.text_or("type", "") if author else ""
    return PullRequest(
        number=fields.identity("number"),
        url=fields.url("html_url"),
        body=fields.text_or("body", ""),
        is_open=fields.text("state") == "open",
        merged="merged_at" in fields,
        author=author.text("login") if author else "",
        is_by_writer=is_writer(kind, fields.text_or("author_association", "")),
        head_branch=head.text("ref"),
        head_sha=head.text("sha"),
        head_repository=repository.text("full_name") if repository else "",
        base_branch=base.text("ref"),
        merge_commit=fields.text_or("merge_commit_sha", "") if "merged_at" in fields else "",
        labels=frozenset(label.text("name").lower() for label in _some(fields, "labels")),
        assignees=logins(fields),
        created_at=fields.text_or("created_at", ""),
        closed_at=fields.text_or("closed_at", ""),
        of=identity(of) if of else None,
    )
