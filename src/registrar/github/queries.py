"""The texts of the GraphQL requests. No value of a caller is ever part of a text.

What is asked of a commit is a list of directories, with what proves their entries (`trees`); the
root is empty. No ``size``: it is not in a tree, so GitHub would have to open every file.

The pull requests are asked for by a field of their own: an answer that refuses them has null in
place of the whole field, because the schema does not let ``pullRequests`` itself be null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_LISTING = "oid entries { nameRaw mode type oid }"

_STATE = """
    id databaseId nameWithOwner url visibility isPrivate isArchived isEmpty isFork viewerPermission
    defaultBranchRef { name target { oid ... on Commit { oid %(fields)s } } }
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
        createdAt closedAt
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
_OWNER = """
query($owner: String!%(variables)s) {
  repository(owner: $owner, name: ".github") {
    visibility
    defaultBranchRef { target { ... on Commit { oid %(fields)s } } }
  }
}
"""
CODEOWNERS = """
query($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Repository { codeowners { errors { path line column kind message suggestion } } }
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
    pullRequest { number url body repository { id databaseId nameWithOwner visibility isPrivate } }
  }
}
"""
CREATE_COMMIT = """
mutation($commit: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $commit) { commit { oid } }
}
"""


def repository(
    branches: Sequence[str], directories: Sequence[str], *, with_facts: bool = False
) -> str:
    """Ask for a repository, branches, the pull requests of their names, and directories.

    With facts also for what the rules of a list ask about it.
    """
    return _REPOSITORY % {
        **_fields(directories, branches),
        "facts": _FACTS if with_facts else "",
    }


def repositories(branches: Sequence[str], directories: Sequence[str]) -> str:
    """Ask for the same of several repositories, by their ids."""
    return _REPOSITORIES % _fields(directories, branches)


def more_directories(directories: Sequence[str]) -> str:
    return _MORE_DIRECTORIES % _fields(directories)


def owner(directories: Sequence[str]) -> str:
    """Ask for directories of the owner's repository ``.github``."""
    return _OWNER % _fields(directories)


def variables(directories: Sequence[str]) -> dict[str, str]:
    """Give the variables of the directories, called as their fields are."""
    return {alias(index): path for index, path in enumerate(directories) if path}


def alias(index: int) -> str:
    """Name the field of the directory with this place among those that are asked for."""
    return f"p{index}"


def branch_variables(branches: Sequence[str]) -> dict[str, str]:
    """Give the variables of the branches, called as their fields are."""
    refs = {f"b{index}": f"refs/heads/{name}" for index, name in enumerate(branches)}
    return refs | {f"h{index}": name for index, name in enumerate(branches)}


def _fields(directories: Sequence[str], branches: Sequence[str] = ()) -> dict[str, str]:
    names = [*variables(directories), *branch_variables(branches)]
    return {
        "variables": "".join(f", ${name}: String!" for name in names),
        "branches": " ".join(_BRANCH.format(index) for index, _ in enumerate(branches)),
        "pull_requests": " ".join(_PULL_REQUESTS.format(i) for i, _ in enumerate(branches)),
        "fields": " ".join(_field(alias(i), path) for i, path in enumerate(directories)),
    }


def _field(name: str, path: str) -> str:
    if not path:
        return f"{name}: tree {{ {_LISTING} }}"
    return f"{name}: file(path: ${name}) {{ type object {{ ... on Tree {{ {_LISTING} }} }} }}"


def body(query: str, variables: Mapping[str, object]) -> dict[str, object]:
    return {"query": query, "variables": dict(variables)}
