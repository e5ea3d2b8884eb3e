"""The texts of the GraphQL requests. No value of a caller is ever part of a text."""

from __future__ import annotations

from collections.abc import Sequence

_REPOSITORY = """
query($owner: String!, $name: String!, $branch: String!%(variables)s) {
  repository(owner: $owner, name: $name) {
    id nameWithOwner url isArchived isEmpty viewerPermission
    defaultBranchRef { name target { oid ... on Commit { oid %(files)s } } }
    ref(qualifiedName: $branch) {
      target { oid }
      associatedPullRequests(first: 50, orderBy: {field: CREATED_AT, direction: DESC}) {
        nodes {
          number url body state headRefName headRefOid baseRefName
          headRepository { nameWithOwner }
        }
      }
    }
  }
}
"""
_MORE_PATHS = """
query($owner: String!, $name: String!, $oid: GitObjectID!%(variables)s) {
  repository(owner: $owner, name: $name) {
    object(oid: $oid) { ... on Commit { oid %(files)s } }
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


def repository(paths: int) -> str:
    """Ask for a repository, a branch with its pull requests, and so many paths."""
    return _REPOSITORY % _fields(paths)


def more_paths(paths: int) -> str:
    """Ask for so many paths of a commit."""
    return _MORE_PATHS % _fields(paths)


def path_variables(paths: Sequence[str]) -> dict[str, str]:
    """Give the variables of the paths, which are also the names of their fields."""
    return {f"p{index}": path for index, path in enumerate(paths)}


def _fields(paths: int) -> dict[str, str]:
    return {
        "variables": "".join(f", $p{index}: String!" for index in range(paths)),
        "files": " ".join(f"p{i}: file(path: $p{i}) {{ type }}" for i in range(paths)),
    }
