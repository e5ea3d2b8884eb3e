"""The texts of the GraphQL requests. No value of a caller is ever part of a text.

What is asked of a commit is a list of directories, with what proves their entries (`trees`); the
root is empty. No ``size``: it is not in a tree, so GitHub would have to open every file.

The pull requests are asked for by a field of their own: an answer that refuses them has null in
place of the whole field, because the schema does not let ``pullRequests`` itself be null.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_LISTING = "oid entries { nameRaw mode type oid }"

_IDENTITY = """
    id databaseId nameWithOwner url visibility isPrivate isArchived isEmpty isFork viewerPermission
"""
_STATE = f"""
    {_IDENTITY}
    defaultBranchRef {{ name target {{ oid ... on Commit {{ oid %(fields)s }} }} }}
    %(branches)s
"""
_BRANCH = "b{0}: ref(qualifiedName: $b{0}) {{ id target {{ oid }} }}"
_PULL_REQUESTS = """
    h{0}: pullRequests(
      headRefName: $h{0}, first: 100, orderBy: {{field: CREATED_AT, direction: DESC}}
    ) {{
      pageInfo {{ hasNextPage }}
      nodes {{
        number url body state headRefName headRefOid baseRefName
        createdAt closedAt viewerDidAuthor authorAssociation author {{ __typename login }}
        headRepository {{ nameWithOwner }} mergeCommit {{ oid }}
      }}
    }}
"""
_FACTS = """
    primaryLanguage { name } repositoryTopics(first: 100) { nodes { topic { name } } }
"""
_REPOSITORY = f"""
query($owner: String!, $name: String!%(variables)s) {{
  repository(owner: $owner, name: $name) {{ %(facts)s {_STATE} }}
  pulls: repository(owner: $owner, name: $name) {{ %(pull_requests)s }}
}}
"""
_REPOSITORIES = f"""
query($ids: [ID!]!%(variables)s) {{
  nodes(ids: $ids) {{ ... on Repository {{ isDisabled isLocked {_STATE} }} }}
  pulls: nodes(ids: $ids) {{ ... on Repository {{ %(pull_requests)s }} }}
}}
"""
_MORE_DIRECTORIES = """
query($owner: String!, $name: String!, $oid: GitObjectID!%(variables)s) {
  repository(owner: $owner, name: $name) {
    object(oid: $oid) { ... on Commit { oid %(fields)s } }
  }
}
"""
_COMMITS = """
query($owner: String!, $name: String!{declared}%(variables)s) {{
  repository(owner: $owner, name: $name) {{
    %(facts)s {identity} defaultBranchRef {{ name }} {asked}
  }}
}}
"""
_COMMIT = "{0}: object(oid: ${0}) {{ ... on Commit {{ oid %(fields)s }} }}"
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
    """A text with its values, and what it asks of each repository."""

    text: str
    variables: Mapping[str, object]
    directories: Sequence[str] = ()
    branches: Sequence[str] = ()

    def points(self, repositories: int = 1) -> int:
        """Points that GitHub counts for it: 1 for 100 connections, those of each repository
        (https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api).
        """
        return max((repositories * self.text.count("first: ") + 50) // 100, 1)


def repository(
    full_name: str,
    branches: Sequence[str],
    directories: Sequence[str],
    *,
    with_facts: bool = False,
) -> Query:
    """Ask for a repository, branches, the pull requests of their names, and directories.

    With facts also for what the rules of a list ask about it.
    """
    facts = _FACTS if with_facts else ""
    return _query(_REPOSITORY, _by_name(full_name), directories, branches, facts=facts)


def repositories(ids: Sequence[str], branches: Sequence[str], directories: Sequence[str]) -> Query:
    """Ask for the same of several repositories, by their ids."""
    return _query(_REPOSITORIES, {"ids": ids}, directories, branches)


def more_directories(full_name: str, commit: str, directories: Sequence[str]) -> Query:
    return _query(_MORE_DIRECTORIES, {**_by_name(full_name), "oid": commit}, directories)


def commits(
    full_name: str, ids: Sequence[str], directories: Sequence[str], *, with_facts: bool = False
) -> Query:
    """Ask for a repository, and for directories at some commits: its fields ``c0``, ``c1`` …"""
    commits = {f"c{index}": each for index, each in enumerate(ids)}
    declared = "".join(f", ${name}: GitObjectID!" for name in commits)
    asked = " ".join(_COMMIT.format(name) for name in commits)
    template = _COMMITS.format(identity=_IDENTITY, declared=declared, asked=asked)
    facts = _FACTS if with_facts else ""
    return _query(template, {**_by_name(full_name), **commits}, directories, facts=facts)


def owner(name: str, directories: Sequence[str]) -> Query:
    """Ask for directories of the owner's repository ``.github``."""
    return _query(_OWNER, {"owner": name}, directories)


def alias(index: int) -> str:
    """Name the field of the directory with this place among those that are asked for."""
    return f"p{index}"


def _by_name(full_name: str) -> dict[str, str]:
    owner, _, name = full_name.partition("/")
    return {"owner": owner, "name": name}


def _query(
    template: str,
    variables: Mapping[str, object],
    directories: Sequence[str],
    branches: Sequence[str] = (),
    facts: str = "",
) -> Query:
    """Fill in a field for each directory and each branch; their variables are called alike."""
    values = {alias(index): path for index, path in enumerate(directories) if path}
    values |= {f"b{index}": f"refs/heads/{name}" for index, name in enumerate(branches)}
    values |= {f"h{index}": name for index, name in enumerate(branches)}
    text = template % {
        "facts": facts,
        "variables": "".join(f", ${name}: String!" for name in values),
        "branches": " ".join(_BRANCH.format(index) for index, _ in enumerate(branches)),
        "pull_requests": " ".join(_PULL_REQUESTS.format(i) for i, _ in enumerate(branches)),
        "fields": " ".join(_field(alias(i), path) for i, path in enumerate(directories)),
    }
    return Query(text, {**variables, **values}, directories, branches)


def _field(name: str, path: str) -> str:
    if not path:
        return f"{name}: tree {{ {_LISTING} }}"
    return f"{name}: file(path: ${name}) {{ type object {{ ... on Tree {{ {_LISTING} }} }} }}"
