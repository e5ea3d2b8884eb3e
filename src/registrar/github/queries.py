"""The texts of the GraphQL requests. No value of a caller is ever part of a text.

What is asked of a commit is a list of paths. One that ends with a slash is a directory whose
entries are asked for as well; a slash alone is the root.

The pull requests are asked for by a field of their own: an answer that refuses them has null in
place of the whole field, because the schema does not let ``pullRequests`` itself be null.
"""

from __future__ import annotations

from collections.abc import Sequence

ROOT = "/"
_ENTRIES = "... on Tree { entries { name type } }"

_STATE = """
    id nameWithOwner url isArchived isEmpty isFork viewerPermission
    defaultBranchRef { name target { oid ... on Commit { oid %(fields)s } } }
    ref(qualifiedName: $branch) { target { oid } }
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
_REPOSITORY = f"""
query($owner: String!, $name: String!, $branch: String!, $head: String!%(variables)s) {{
  repository(owner: $owner, name: $name) {{ {_STATE} }}
  pulls: repository(owner: $owner, name: $name) {{ {_PULL_REQUESTS} }}
}}
"""
_REPOSITORIES = f"""
query($ids: [ID!]!, $branch: String!, $head: String!%(variables)s) {{
  nodes(ids: $ids) {{ ... on Repository {{ isDisabled isLocked {_STATE} }} }}
  pulls: nodes(ids: $ids) {{ ... on Repository {{ {_PULL_REQUESTS} }} }}
}}
"""
_MORE_PATHS = """
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
  createRef(input: $ref) { ref { target { oid } } }
  createCommitOnBranch(input: $commit) { commit { oid } }
  createPullRequest(input: $pull) { pullRequest { number url body } }
}
"""
CREATE_COMMIT = """
mutation($commit: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $commit) { commit { oid } }
}
"""


def repository(paths: Sequence[str]) -> str:
    """Ask for a repository, a branch, the pull requests of its name, and paths."""
    return _REPOSITORY % _fields(paths)


def repositories(paths: Sequence[str]) -> str:
    """Ask for the same of several repositories, by their ids."""
    return _REPOSITORIES % _fields(paths)


def more_paths(paths: Sequence[str]) -> str:
    """Ask for paths of a commit."""
    return _MORE_PATHS % _fields(paths)


def owner(paths: Sequence[str]) -> str:
    """Ask for paths of the owner's repository ``.github``."""
    return _OWNER % _fields(paths)


def path_variables(paths: Sequence[str]) -> dict[str, str]:
    """Give the variables of the paths, called as their fields are."""
    return {f"p{i}": path.rstrip("/") for i, path in enumerate(paths) if path != ROOT}


def _fields(paths: Sequence[str]) -> dict[str, str]:
    return {
        "variables": "".join(f", ${name}: String!" for name in path_variables(paths)),
        "fields": " ".join(_field(f"p{i}", path) for i, path in enumerate(paths)),
    }


def _field(name: str, path: str) -> str:
    if path == ROOT:
        return f"{name}: tree {{ {_ENTRIES} }}"
    entries = f" object {{ {_ENTRIES} }}" if path.endswith("/") else ""
    return f"{name}: file(path: ${name}) {{ type{entries} }}"
