"""The texts of the GraphQL requests. No value of a caller is ever part of a text.

What is asked of a commit is a list of directories, with what proves their entries (`trees`); the
root is empty. No ``size``: it is not in a tree, so GitHub would have to open every file.

The pull requests are asked for by a field of their own: an answer that refuses them has null in
place of the whole field, because the schema does not let ``pullRequests`` itself be null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

_LISTING = "oid entries { nameRaw mode type oid }"

_STATE = """
    id databaseId nameWithOwner url visibility isPrivate isArchived isEmpty isFork viewerPermission
    defaultBranchRef { name target { oid ... on Commit { oid %(fields)s } } }
    %(branches)s
    %(codeowners)s
"""
_CODEOWNERS = "codeowners { errors { path line column kind message suggestion } }"
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
_COMMIT = "r{0}: node(id: $r{0}) {{ ... on Repository {{ object(oid: $c{0}) {{ {1} }} }} }}"
_LAST_CHANGE = """
    ... on Commit {{
      history(first: 1, path: $h{0}) {{
        nodes {{ oid history(first: 100) {{ nodes {{ oid }} pageInfo {{ hasNextPage }} }} }}
      }}
    }}
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


def repository(
    branches: Sequence[str],
    directories: Sequence[str],
    *,
    with_facts: bool = False,
    with_codeowners: bool = False,
) -> str:
    """Ask for a repository, branches, the pull requests of their names, and directories.

    With facts also for what the rules of a list ask about it, with codeowners for what GitHub finds
    wrong in that file.
    """
    return _REPOSITORY % {
        **_fields(directories, branches),
        "facts": _FACTS if with_facts else "",
        "codeowners": _CODEOWNERS if with_codeowners else "",
    }


def repositories(
    branches: Sequence[str], directories: Sequence[str], *, with_codeowners: bool = False
) -> str:
    """Ask for the same of several repositories, by their ids."""
    codeowners = _CODEOWNERS if with_codeowners else ""
    return _REPOSITORIES % {**_fields(directories, branches), "codeowners": codeowners}


def more_directories(directories: Sequence[str]) -> str:
    """Ask for directories of a commit."""
    return _MORE_DIRECTORIES % _fields(directories)


def owner(directories: Sequence[str]) -> str:
    """Ask for directories of the owner's repository ``.github``."""
    return _OWNER % _fields(directories)


def commits(count: int, directories: Sequence[str]) -> str:
    """Ask for directories of ``count`` commits, each of a repository with an id."""
    asked = _fields(directories)
    fragment = f"fragment Listed on Commit {{ oid {asked['fields']} }}"
    return _of_commits(count, "...Listed", asked["variables"]) + fragment


def last_changes(count: int) -> str:
    """Ask for the last change of a path up to each of ``count`` commits, and what came before."""
    return _of_commits(count, _LAST_CHANGE, "".join(f", $h{i}: String!" for i in range(count)))


def commit_variables(commits: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Give the variables of commits; each comes after the id of its repository."""
    values: dict[str, str] = {}
    for index, (repository_id, commit) in enumerate(commits):
        values |= {f"r{index}": repository_id, f"c{index}": commit}
    return values


def _of_commits(count: int, fields: str, variables: str) -> str:
    declared = ", ".join(f"$r{i}: ID!, $c{i}: GitObjectID!" for i in range(count))
    asked = " ".join(_COMMIT.format(i, fields.format(i)) for i in range(count))
    return f"query({declared}{variables}) {{ {asked} }}\n"


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
    """Give the body of a request."""
    return {"query": query, "variables": dict(variables)}
