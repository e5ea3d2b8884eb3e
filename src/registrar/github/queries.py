"""The texts of the GraphQL requests. The values of a caller are variables, never parts of a text.

A query asks for directories of a commit by their paths (empty: the root), with the ids that prove
their entries (`trees`). The ``size`` of a file is left out: a tree does not contain it, so GitHub
would have to open every file.

The pull requests have a field of their own. If GitHub refuses them, the whole field is null,
because the schema does not allow null for ``pullRequests``; the other field keeps its data.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

NAMES_AT_ONCE = 3
"""How many names of the working branch a query asks for with their pull requests. Later names are
hardly ever used; each of them costs one more request."""
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
_MORE_DIRECTORIES = """
query($owner: String!, $name: String!, $oid: GitObjectID!%(variables)s) {
  repository(owner: $owner, name: $name) {
    object(oid: $oid) { ... on Commit { oid %(fields)s } }
  }
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
      number url body createdAt repository { id databaseId nameWithOwner visibility isPrivate }
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


def repository(  # noqa: PLR0913 (what a query can ask for)
    full_name: str,
    branches: Sequence[str],
    directories: Sequence[str],
    at_once: int = NAMES_AT_ONCE,
    *,
    base: str = "",
    with_facts: bool = False,
    looks_into_branch: bool = False,
) -> Query:
    """Ask for a repository, branches, the pull requests of the first names, and directories.

    ``at_once`` is the number of those first names. The directories are those of the branch ``base``
    (empty: the default branch), and with ``looks_into_branch`` also those of the first of
    ``branches``. ``with_facts`` adds the language and the topics, which rules ask about.
    """
    values, facts = _by_name(full_name), _FACTS if with_facts else ""
    return _query(
        _REPOSITORY,
        values,
        directories,
        branches,
        at_once=at_once,
        base=base,
        facts=facts,
        looks_into_branch=looks_into_branch,
    )


def repositories(
    ids: Sequence[str],
    branches: Sequence[str],
    directories: Sequence[str],
    *,
    base: str = "",
    looks_into_branch: bool = False,
) -> Query:
    """Ask for the same as `repository`, but of several repositories, by their GraphQL ids."""
    looks, values = looks_into_branch, {"ids": ids}
    return _query(_REPOSITORIES, values, directories, branches, base=base, looks_into_branch=looks)


def more_directories(full_name: str, commit: str, directories: Sequence[str]) -> Query:
    """Ask for further directories of a commit."""
    return _query(_MORE_DIRECTORIES, {**_by_name(full_name), "oid": commit}, directories)


def at_commits(
    full_name: str, ids: Sequence[str], directories: Sequence[str], *, with_facts: bool = False
) -> Query:
    """Ask for a repository, and for directories at some commits, in the fields ``c0``, ``c1`` …"""
    at = {f"c{index}": each for index, each in enumerate(ids)}
    facts = _FACTS if with_facts else ""
    return _query(_COMMITS, _by_name(full_name), directories, commits=at, facts=facts)


def owner(name: str, directories: Sequence[str]) -> Query:
    """Ask for directories of the owner's repository ``.github``."""
    return _query(_OWNER, {"owner": name}, directories)


def alias(index: int) -> str:
    """Return the name of the field for the directory with this index in a query."""
    return f"p{index}"


def _by_name(full_name: str) -> dict[str, str]:
    owner, _, name = full_name.partition("/")
    return {"owner": owner, "name": name}


def _query(  # noqa: PLR0913 (what a query can ask for)
    template: str,
    variables: Mapping[str, object],
    directories: Sequence[str],
    branches: Sequence[str] = (),
    *,
    at_once: int = NAMES_AT_ONCE,
    base: str = "",
    commits: Mapping[str, str] = MappingProxyType({}),
    facts: str = "",
    looks_into_branch: bool = False,
) -> Query:
    """Fill in a field for each directory, branch and commit, and a variable with the same name."""
    values = {alias(index): path for index, path in enumerate(directories) if path}
    first = branches[:at_once]
    values |= {f"b{index}": f"refs/heads/{name}" for index, name in enumerate(first)}
    values |= {f"h{index}": name for index, name in enumerate(first)}
    values |= {"base": f"refs/heads/{base}"} if base else {}
    fields = " ".join(
        (_DIRECTORY if path else _ROOT) % {"name": alias(index)}
        for index, path in enumerate(directories)
    )
    looked_into = _COMMIT_OF_BRANCH % {"fields": fields} if looks_into_branch else ""
    numbers = [
        {"index": index, "commit": "" if index else looked_into} for index, _ in enumerate(first)
    ]
    parts = {
        "facts": facts,
        "names": _NAMES,
        "variables": "".join(f", ${name}: GitObjectID!" for name in commits)
        + "".join(f", ${name}: String!" for name in values),
        "branches": " ".join(_BRANCH % each for each in numbers),
        "heads": _HEADS if first else "",
        "pull_requests": " ".join(_PULL_REQUESTS % each for each in numbers),
        "fields": fields,
    }
    parts["base"] = (_BASE if base else _DEFAULT_BRANCH) % parts
    parts["state"] = _STATE % parts
    parts["commits"] = " ".join(_COMMIT % {**parts, "name": name} for name in commits)
    given = {**variables, **commits, **values}
    return Query(template % parts, given, directories, first, branches, looks_into_branch, base)
