"""What REST answers -> our models: PyGithub's objects, and JSON if there is no object.

Every function raises `UnusableAnswer` if a value is missing or is not what it must be, so that
neither a proxy's page with status 200 nor half an answer is used. An attribute that GitHub may
leave out is read from the JSON of an object that is complete: PyGithub would ask for it again.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from github.Comparison import Comparison as GitHubComparison
from github.ContentFile import ContentFile
from github.GitBlob import GitBlob
from github.NamedUser import NamedUser
from github.PullRequest import PullRequest as GitHubPullRequest
from github.Repository import Repository as GitHubRepository

from registrar.github import fields as checks
from registrar.github.fields import Fields, UnusableAnswer, objects, text, text_or_texts
from registrar.github.trees import GitTree
from registrar.models.repository import Comparison, Entry, PullRequest, Repository, Tree, Values

Value = TypeVar("Value")
MOMENT = "%Y-%m-%dT%H:%M:%SZ"
"""ISO 8601, as GitHub writes it."""
HEADS = "refs/heads/"
COMPARED_FILES = 300
"""GitHub lists no more files of a comparison (OpenAPI description of ``GET compare``)."""


_OF_CONTENTS = {
    "dir": ("tree", "040000"),
    "symlink": ("blob", "120000"),
    "submodule": ("commit", "160000"),
}
"""Type and mode in git; any other is a file, and GitHub does not say whether it can be run."""


def identity(fields: Fields) -> Repository:
    """Which repository it is, its default branch, and who may know its name."""
    visibility = ""
    if "private" in fields:
        private = "private" if fields.flag("private") else "public"
        visibility = fields.text_or("visibility", private)
    return Repository(
        full_name=fields.full_name("full_name"),
        default_branch=fields.text_or("default_branch", ""),
        id=fields.identity("id") if "id" in fields else 0,
        visibility=visibility,
    )


def repository(given: GitHubRepository) -> Repository:
    """A repository whose object is complete.

    Its custom properties are documented as optional, and a person's repositories have none
    (https://docs.github.com/en/rest/repos/repos#get-a-repository).
    """
    fields = Fields(given.raw_data)
    of_person = "owner" in fields and fields.object("owner").text_or("type", "") == "User"
    properties: Values | None = {} if of_person else None
    if "custom_properties" in fields:
        properties = property_values(given.custom_properties)
    permissions = fields.object_or_none("permissions")
    return identity(fields)._replace(
        html_url=checks.url(given.html_url),
        node_id=given.node_id or "",
        archived=bool(given.archived),
        disabled="disabled" in fields and fields.flag("disabled"),
        is_fork=bool(given.fork),
        can_push=permissions.flag("push") if permissions and "push" in permissions else None,
        takes_pull_requests="has_pull_requests" not in fields or fields.flag("has_pull_requests"),
        of_person=of_person,
        language=given.language or "",
        topics=frozenset(fields.texts("topics")) if "topics" in fields else frozenset(),
        properties=properties,
        created_at=fields.text_or("created_at", ""),
    )


def repository_beside(pull_request: object) -> Repository | None:
    """The repository that an answer about a pull request describes beside it, if it does."""
    base = Fields(pull_request).object_or_none("base")
    repo = base.object_or_none("repo") if base else None
    return identity(repo) if repo else None


def property_values(given: Mapping[str, object]) -> Values:
    """Custom properties by their names in lower case: an empty text counts as not set."""
    return {
        text(name).lower(): tuple(filter(None, text_or_texts(value)))
        for name, value in given.items()
    }


def entry(given: list[ContentFile] | ContentFile) -> Entry:
    """What is at a path."""
    if isinstance(given, list):
        if not given:
            # git has no empty directories
            raise UnusableAnswer("an empty array")
        for each in given:
            text(each.path)
        return Entry(*_OF_CONTENTS["dir"], "")
    text(given.path)
    kind, mode = _OF_CONTENTS.get(text(given.type), ("blob", ""))
    return Entry(kind, mode, text(given.sha))


def directory(given: list[ContentFile] | ContentFile) -> Mapping[str, Entry] | None:
    """The entries of a directory, as in `Directories`; ``None`` for anything else."""
    if not isinstance(given, list):
        entry(given)
        return None
    return {text(each.name): entry(each) for each in given}


def branches(data: object) -> Mapping[str, str]:
    """Names and commit ids of the branches among some references."""
    commits = {each.text("ref"): each.object("object").text("sha") for each in objects(data)}
    return {
        name.removeprefix(HEADS): sha for name, sha in commits.items() if name.startswith(HEADS)
    }


def first_commit(data: object) -> str | None:
    """Id of the first commit of a list; ``None`` if it is empty."""
    return next((each.text("sha") for each in objects(data)), None)


def blob(given: GitBlob) -> bytes:
    """The content of a blob; it is an error if GitHub encodes it in another way than base64."""
    if given.encoding != "base64":
        raise UnusableAnswer("another encoding than base64")
    return checks.decoded(given.content)


def tree(data: object) -> Tree | None:
    """Every path of a recursive tree; ``None`` if GitHub cut it."""
    fields = Fields(data)
    fields.text("sha")
    entries = {
        each.text("path"): Entry(each.text("type"), each.text("mode"), each.text_or("sha", ""))
        for each in fields.objects("tree")
        if each.text("type") != "tree"
    }
    return None if "truncated" in fields and fields.flag("truncated") else entries


def git_tree(data: object) -> GitTree | None:
    """A single directory; ``None`` if GitHub cut it."""
    fields = Fields(data)
    entries = {
        each.text("path").encode(): Entry(
            each.text("type"), each.text("mode"), each.object_id("sha")
        )
        for each in fields.objects("tree")
    }
    listed = GitTree(fields.object_id("sha"), entries)
    return None if fields.flag("truncated") and not listed.is_proved else listed


def comparison(given: GitHubComparison) -> Comparison:
    """A comparison from the best common ancestor on."""
    files = given.files or []
    added = [file for file in files if text(file.status) == "added"]
    complete = len(files) < COMPARED_FILES and len(added) == len(files)
    blobs = {text(file.filename): file.sha or "" for file in added}
    return Comparison(text(given.merge_base_commit.sha), blobs if complete else None)


def is_writer(kind: str, association: str) -> bool:
    """Whether an account may write to a repository, as far as its type and association show.

    An App is a bot, and acts only where it was installed; GitHub does not say what it may do.
    """
    return kind == "Bot" or association == "OWNER"


def is_member(association: str) -> bool:
    """Whether an account is a member or collaborator, with whatever role.

    Members are ``CONTRIBUTOR`` or ``NONE`` to those who do not see their membership
    (actions/github-script#643, flutter/flutter#101012).
    """
    return association in {"MEMBER", "COLLABORATOR"}


def may_write(permission: str) -> bool:
    """Whether a role allows it: ``maintain`` and roles of an organisation's own count as ``write``.

    https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
    """
    return text(permission) in {"admin", "write"}


def logins(people: Iterable[NamedUser]) -> frozenset[str]:
    """Logins in lower case."""
    return frozenset(text(person.login).lower() for person in people)


def or_none(value: Value) -> Value | None:
    """Give what PyGithub calls an object always: null for an account or a fork that is gone."""
    return value


def pull_request(given: GitHubPullRequest) -> PullRequest:
    """A pull request: listed, read, opened or edited."""
    head, base, author = given.head, given.base, or_none(given.user)
    fork = or_none(head.repo)
    # A part's repository, as an object, would ask GitHub for what the answer leaves out
    of = repository_beside({"base": base.raw_data})
    merged = given.merged_at is not None
    return PullRequest(
        number=checks.identity(given.number),
        url=checks.url(given.html_url),
        body=given.body or "",
        is_open=text(given.state) == "open",
        merged=merged,
        author=text(author.login) if author else "",
        is_by_writer=is_writer(author.type if author else "", given.author_association),
        is_by_member=is_member(given.author_association),
        head_branch=text(head.ref),
        head_sha=text(head.sha),
        head_repository=text(fork.full_name) if fork else "",
        base_branch=text(base.ref),
        merge_commit=(given.merge_commit_sha or "") if merged else "",
        labels=frozenset(text(label.name).lower() for label in given.labels),
        assignees=logins(given.assignees),
        created_at=given.created_at.strftime(MOMENT),
        closed_at=given.closed_at.strftime(MOMENT) if given.closed_at else "",
        of=of,
    )
