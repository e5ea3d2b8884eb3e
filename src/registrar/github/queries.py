"""The texts of the GraphQL requests. No value of a caller is ever part of a text.

What is asked of a commit is a list of directories, with what proves their entries (`trees`); the
root is empty. No ``size``: it is not in a tree, so GitHub would have to open every file.

The pull requests are asked for by a field of their own: an answer that refuses them has null in
place of the whole field, because the schema does not let ``pullRequests`` itself be null.
"""

from __future__ import annotations

from collections.abc import Sequence

_LISTING = "oid entries { nameRaw mode type oid }"

_STATE = """
    id nameWithOwner url isPrivate isArchived isEmpty isFork viewerPermission
    defaultBranchRef { name target { oid ... on Commit { oid %(fields)s } } }
    ref(qualifiedName: $branch) { id target { oid } }
"""
_PULL_REQUESTS = """
    pullRequests(
      headRefName: $head, first: 100, orderBy: {field: CREATED_AT, direction: DESC}
    ) {
      nodes {
        number url body state headRefName headRefOid baseRefName
        headRepository { nameWithOwner }
      }
    }
"""
_FACTS = """
    visibility primaryLanguage { name } repositoryTopics(first: 100) { nodes { topic { name } } }
"""
_REPOSITORY = f"""
query($owner: String!, $name: String!, $branch: String!, $head: String!%(variables)s) {{
  repository(owner: $owner, name: $name) {{ %(facts)s {_STATE} }}
  pulls: repository(owner: $owner, name: $name) {{ {_PULL_REQUESTS} }}
}}
"""
_REPOSITORIES = f"""
query($ids: [ID!]!, $branch: String!, $head: String!%(variables)s) {{
  nodes(ids: $ids) {{ ... on Repository {{ isDisabled isLocked {_STATE} }} }}
  pulls: nodes(ids: $ids) {{ ... on Repository {{ {_PULL_REQUESTS} }} }}
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
CREATE_EVERYTHING = """
mutation(
  $ref: CreateRefInput!, $commit: CreateCommitOnBranchInput!, $pull: CreatePullRequestInput!
) {
  createRef(input: $ref) { ref { id target { oid } } }
  createCommitOnBranch(input: $commit) { commit { oid } }
  createPullRequest(input: $pull) { pullRequest { number url body } }
}
"""
CREATE_COMMIT = """
mutation($commit: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $commit) { commit { oid } }
}
"""


def repository(directories: Sequence[str], *, with_facts: bool = False) -> str:
    """Ask for a repository, a branch, the pull requests of its name, and directories.

    With facts also for what the rules of a list ask about it.
    """
    return _REPOSITORY % {**_fields(directories), "facts": _FACTS if with_facts else ""}


def repositories(directories: Sequence[str]) -> str:
    """Ask for the same of several repositories, by their ids."""
    return _REPOSITORIES % _fields(directories)


def more_directories(directories: Sequence[str]) -> str:
    """Ask for directories of a commit."""
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


def _fields(directories: Sequence[str]) -> dict[str, str]:
    return {
        "variables": "".join(f", ${name}: String!" for name in variables(directories)),
        "fields": " ".join(_field(alias(i), path) for i, path in enumerate(directories)),
    }


def _field(name: str, path: str) -> str:
    if not path:
        return f"{name}: tree {{ {_LISTING} }}"
    return f"{name}: file(path: ${name}) {{ type object {{ ... on Tree {{ {_LISTING} }} }} }}"
