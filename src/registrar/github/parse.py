"""Makes our models from answers of REST: from PyGithub's objects, or from JSON if there is none.

Every function raises `UnusableAnswer` if a value is missing, or has a wrong type or form. So
neither a proxy's page with status 200 nor half an answer is used. An attribute that GitHub may
leave out is read from the JSON of the object, because PyGithub would send a request for it.
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
from registrar.github.trees import GitDirectory
from registrar.models.repository import (
    Comparison,
    Entry,
    PullRequest,
    Repository,
    Tree,
    Unknown,
    Values,
)

Value = TypeVar("Value")
MOMENT = "%Y-%m-%dT%H:%M:%SZ"
"""ISO 8601, as GitHub writes it."""
HEADS = "refs/heads/"
COMPARED_FILES = 300
"""The most files that GitHub lists of a comparison (OpenAPI description of ``GET compare``). With
more, the trees of both commits are compared."""


_OF_CONTENTS = {
    "dir": ("tree", "040000"),
    "symlink": ("blob", "120000"),
    "submodule": ("commit", "160000"),
}
"""Types of ``GET contents``, with git's type and mode. Any other type is a file, and GitHub does
not say whether it is executable."""


def identified(fields: Fields) -> Repository:
    """Return the name, the default branch, the number and the visibility of a repository."""
    visibility = ""
    if "private" in fields:
        private = "private" if fields.flag("private") else "public"
        visibility = fields.text_or("visibility", private)
    return Repository(
        full_name=fields.full_name("full_name"),
        default_branch=fields.text_or("default_branch", ""),
        id=fields.id_number("id") if "id" in fields else 0,
        visibility=visibility,
    )


def repository(given: GitHubRepository) -> Repository:
    """Return a repository; ``given`` has to be complete.

    Its custom properties are documented as optional, and a person's repositories have none
    (https://docs.github.com/en/rest/repos/repos#get-a-repository).
    """
    fields = Fields(given.raw_data)
    of_person = "owner" in fields and fields.object("owner").text_or("type", "") == "User"
    properties: Values | None = {} if of_person else None
    if "custom_properties" in fields:
        properties = property_values(given.custom_properties)
    permissions = fields.object_or_none("permissions")
    return identified(fields)._replace(
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


def property_values(given: Mapping[str, object]) -> Values:
    """Return custom properties by their names in lower case; an empty text counts as unset."""
    return {
        name.lower(): tuple(filter(None, text_or_texts(value))) for name, value in given.items()
    }


def entry(given: list[ContentFile] | ContentFile) -> Entry:
    """Return the entry at a path, from the answer to ``GET contents``."""
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
    """Return the entries of a directory by their names; ``None`` for anything but a directory."""
    if not isinstance(given, list):
        entry(given)
        return None
    return {text(each.name): entry(each) for each in given}


def branches(data: object) -> Mapping[str, str]:
    """Return the commit ids of the branches among some references, by their names."""
    return {
        each.text("ref").removeprefix(HEADS): each.object("object").text("sha")
        for each in objects(data)
    }


def first_commit(data: object) -> str | None:
    """Return the id of the first commit of a list; ``None`` if the list is empty."""
    return next((each.text("sha") for each in objects(data)), None)


def blob(given: GitBlob) -> bytes:
    """Return the content of a blob, which GitHub has to encode in Base64."""
    if given.encoding != "base64":
        raise UnusableAnswer("another encoding than base64")
    return checks.decoded(given.content)


def tree(data: object) -> Tree | None:
    """Return every path of a recursive tree, without directories; ``None`` if GitHub has cut it."""
    fields = Fields(data)
    fields.text("sha")
    entries = {
        each.text("path"): Entry(each.text("type"), each.text("mode"), each.text_or("sha", ""))
        for each in fields.objects("tree")
        if each.text("type") != "tree"
    }
    return None if fields.flag("truncated") else entries


def git_tree(data: object) -> GitDirectory | None:
    """Return a single directory; ``None`` if GitHub has cut it.

    A listing that proves itself complete counts, even if GitHub says that it was cut.
    """
    fields = Fields(data)
    entries = {
        each.text("path").encode(): Entry(
            each.text("type"), each.text("mode"), each.object_id("sha")
        )
        for each in fields.objects("tree")
    }
    listed = GitDirectory(fields.object_id("sha"), entries)
    return None if fields.flag("truncated") and not listed.is_proved else listed


def comparison(given: GitHubComparison) -> Comparison:
    """Return a comparison from the best common ancestor on.

    ``added`` is ``None`` if a file has another status than "added", or if the list may be cut.
    """
    # GitHub's description of the answer does not require this list
    files = given.files or []
    added = [file for file in files if text(file.status) == "added"]
    complete = len(added) == len(files) < COMPARED_FILES
    blobs = {text(file.filename): file.sha or "" for file in added}
    return Comparison(text(given.merge_base_commit.sha), blobs if complete else None)


def changed(given: GitHubComparison) -> frozenset[str] | Unknown:
    """Return all paths of a comparison, with the former ones, if the list is not cut."""
    files = given.files or []
    paths = {each for file in files for each in (file.filename, file.previous_filename) if each}
    return frozenset(paths) if len(files) < COMPARED_FILES else Unknown.NOT_SHOWN


def is_writer(kind: str, association: str) -> bool:
    """Whether the type and the association of an account show that it may write to a repository.

    A bot counts, because it is an App that was installed there; GitHub does not say what it may do.
    """
    return kind == "Bot" or association == "OWNER"


def is_member(association: str) -> bool:
    """Whether GitHub calls an account a member or a collaborator; this does not show its role.

    For a token that may not see a membership, the member is ``CONTRIBUTOR`` or ``NONE``
    (actions/github-script#643, flutter/flutter#101012).
    """
    return association in {"MEMBER", "COLLABORATOR"}


def may_write(permission: str) -> bool:
    """Whether a permission allows writing; GitHub says ``write`` for ``maintain``, too.

    https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
    """
    return text(permission) in {"admin", "write"}


def logins(people: Iterable[NamedUser]) -> frozenset[str]:
    """Return the logins of people in lower case."""
    return frozenset(text(person.login).lower() for person in people)


def or_none(value: Value) -> Value | None:
    """Return the value, for the type checker also ``None``.

    PyGithub's types lack ``None``, but GitHub sends null for an account or a fork that is gone.
    """
    return value


def pull_request(given: GitHubPullRequest) -> PullRequest:
    """Return a pull request that was listed, read, opened or edited."""
    head, base, author = given.head, given.base, or_none(given.user)
    fork = or_none(head.repo)
    # Read from the JSON, because PyGithub's object would request attributes that the answer lacks
    of = Fields(base.raw_data).object_or_none("repo")
    merged = given.merged_at is not None
    return PullRequest(
        number=checks.id_number(given.number),
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
        of=identified(of) if of else None,
    )
