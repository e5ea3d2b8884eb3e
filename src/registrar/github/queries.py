"""The texts of the GraphQL requests. The values of a caller are variables, never parts of a text.

A query asks for directories of a commit by their paths (empty: the root), with the ids that prove
their entries (`trees`). The ``size`` of a file is left out: a tree does not contain it, so GitHub
would have to open every file.

The pull requests have a field of their own. If GitHub refuses them, the whole field is null,
because the schema does not allow null for ``pullRequests``; the other field keeps its data.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

NAMES_AT_ONCE = 3
"""How many names of the working branch a query asks for with their pull requests. Later names are
hardly ever used; each of them costs one more request."""
DIRECTORIES_PER_QUERY = 100
"""GitHub refused a query with 227 aliases, and answered one with 120 (hermes-ecosystem#825)."""
_LISTING = "oid entries { nameRaw mode type oid }"

_NAMES = """
    id databaseId nameWithOwner url visibility isPrivate isArchived isEmpty isFork viewerPermission
"""
_STATE = """
    %(names)s
    %(base)s
    %(branches)s %(heads)s
"""
_HEADS = """
    heads: refs(refPrefix: "refs/heads/", query: $h0, first: 100) {
      pageInfo { hasNextPage } nodes { name target { oid } }
    }
"""
_DEFAULT_BRANCH = "defaultBranchRef { name target { oid ... on Commit { oid %(fields)s } } }"
_BASE = """
    defaultBranchRef { name }
    base: ref(qualifiedName: $base) { target { oid ... on Commit { oid %(fields)s } } }
"""
_BRANCH = "b%(index)d: ref(qualifiedName: $b%(index)d) { id target { oid %(commit)s } }"
_COMMIT_OF_BRANCH = "... on Commit { %(fields)s }"
_PULL_REQUESTS = """
    h%(index)d: pullRequests(
      headRefName: $h%(index)d, first: 100, orderBy: {field: CREATED_AT, direction: DESC}
    ) {
      pageInfo { hasNextPage }
      nodes {
        number url body state headRefName headRefOid baseRefName
        createdAt closedAt viewerDidAuthor authorAssociation author { __typename login }
        headRepository { nameWithOwner } mergeCommit { oid }
      }
    }
"""
_FACTS = """
    primaryLanguage { name } repositoryTopics(first: 100) { nodes { topic { name } } }
"""
_REPOSITORY = """
query($owner: String!, $name: String!%(variables)s) {
  repository(owner: $owner, name: $name) { %(facts)s %(state)s }
  pulls: repository(owner: $owner, name: $name) { %(pull_requests)s }
}
"""
_REPOSITORIES = """
query($ids: [ID!]!%(variables)s) {
  nodes(ids: $ids) { ... on Repository { isDisabled isLocked %(state)s } }
  pulls: nodes(ids: $ids) { ... on Repository { %(pull_requests)s } }
}
"""
_COMMITS = """
query($owner: String!, $name: String!%(variables)s) {
  repository(owner: $owner, name: $name) {
    %(facts)s %(names)s defaultBranchRef { name } %(commits)s
  }
}
"""
_COMMIT = "%(name)s: object(oid: $%(name)s) { ... on Commit { oid %(fields)s } }"
_ROOT = f"%(name)s: tree {{ {_LISTING} }}"
_DIRECTORY = f"%(name)s: file(path: $%(name)s) {{ type object {{ ... on Tree {{ {_LISTING} }} }} }}"
_OWNER = """
query($owner: String!%(variables)s) {
  repository(owner: $owner, name: ".github") {
    visibility
    defaultBranchRef { target { ... on Commit { oid %(fields)s } } }
  }
}
"""
CREATE_EVERYTHING = """
mutation(
  $ref: CreateRefInput!, $commit: CreateCommitOnBranchInput!, $pull: CreatePullRequestInput!
) {
  createRef(input: $ref) { ref { id target { oid } } }
  createCommitOnBranch(input: $commit) { commit { oid } }
  createPullRequest(input: $pull) {
    pullRequest {
      number url body createdAt
      repository {
        id databaseId nameWithOwner visibility isPrivate defaultBranchRef { name }
      }
    }
  }
}
"""
CREATE_COMMIT = """
mutation($commit: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $commit) { commit { oid } }
}
"""


class Query(NamedTuple):
    """A text with its variables, and the things that it asks for of each repository."""

    text: str
    variables: Mapping[str, object]
    directories: Sequence[str] = ()
    branches: Sequence[str] = ()
    """The names of branches that the query asks for with their pull requests."""
    names: Sequence[str] = ()
    """All names of the working branch, ``branches`` first. Of the later names the query asks only
    for the commits of branches that exist."""
    looks_into_branch: bool = False
    """Whether the query also asks for the directories of the first branch."""
    base: str = ""
    """The branch whose commit is read; empty: the default branch."""

    @property
    def base_field(self) -> str:
        """The name of the field that has the base branch of a repository."""
        return "base" if self.base else "defaultBranchRef"

    def points(self, repositories: int) -> int:
        """Return the points that the query costs: 1 for 100 connections, over all repositories.

        https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
        """
        return max((repositories * self.text.count("first: ") + 50) // 100, 1)


class Root(NamedTuple):
    """The outer part of a query, which names what the query is about."""

    template: str
    variables: Mapping[str, object]


def repository(full_name: str) -> Root:
    """Ask about a repository."""
    return Root(_REPOSITORY, _by_name(full_name))


def repositories(ids: Sequence[str]) -> Root:
    """Ask the same as `repository`, but of several repositories, by their GraphQL ids."""
    return Root(_REPOSITORIES, {"ids": ids})


def at_commits(full_name: str) -> Root:
    """Ask about some commits of a repository, in the fields ``c0``, ``c1`` …"""
    return Root(_COMMITS, _by_name(full_name))


def owner(name: str) -> Root:
    """Ask about the owner's repository ``.github``."""
    return Root(_OWNER, {"owner": name})


def alias(index: int) -> str:
    """Return the name of the field for the directory with this index in a query."""
    return f"p{index}"


def _by_name(full_name: str) -> dict[str, str]:
    owner, _, name = full_name.partition("/")
    return {"owner": owner, "name": name}


def query(  # noqa: PLR0913 (what a query can ask for)
    root: Root,
    directories: Sequence[str],
    branches: Sequence[str] = (),
    *,
    base: str = "",
    commits: Sequence[str] = (),
    with_facts: bool = False,
    looks_into_branch: bool = False,
) -> Query:
    """Ask for directories at the ``commits``, or at the commit of the branch ``base`` (empty: the
    default branch); and for branches, the first `NAMES_AT_ONCE` with their pull requests.

    Without directories, only the first branch has its pull requests. With ``looks_into_branch`` the
    directories are also those of the first branch, if the query has room for them. ``with_facts``
    adds the language and the topics, which rules ask about.
    """
    looks = looks_into_branch and 0 < 2 * len(directories) <= DIRECTORIES_PER_QUERY
    ids = {f"c{index}": each for index, each in enumerate(commits)}
    values = {alias(index): path for index, path in enumerate(directories) if path}
    first = branches[: NAMES_AT_ONCE if directories else 1]
    values |= {f"b{index}": f"refs/heads/{name}" for index, name in enumerate(first)}
    values |= {f"h{index}": name for index, name in enumerate(first)}
    values |= {"base": f"refs/heads/{base}"} if base else {}
    fields = " ".join(
        (_DIRECTORY if path else _ROOT) % {"name": alias(index)}
        for index, path in enumerate(directories)
    )
    looked_into = _COMMIT_OF_BRANCH % {"fields": fields} if looks else ""
    numbers = [
        {"index": index, "commit": "" if index else looked_into} for index, _ in enumerate(first)
    ]
    parts = {
        "facts": _FACTS if with_facts else "",
        "names": _NAMES,
        "variables": "".join(f", ${name}: GitObjectID!" for name in ids)
        + "".join(f", ${name}: String!" for name in values),
        "branches": " ".join(_BRANCH % each for each in numbers),
        "heads": _HEADS if first else "",
        "pull_requests": " ".join(_PULL_REQUESTS % each for each in numbers),
        "fields": fields,
    }
    parts["base"] = (_BASE if base else _DEFAULT_BRANCH) % parts
    parts["state"] = _STATE % parts
    parts["commits"] = " ".join(_COMMIT % {**parts, "name": name} for name in ids)
    given = {**root.variables, **ids, **values}
    return Query(root.template % parts, given, directories, first, branches, looks, base)
