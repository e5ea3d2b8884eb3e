"""The nodes of GraphQL: repositories, git objects and pull requests."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pygit2
from graphql import GraphQLResolveInfo

from tests.fakehub.quirks import Symptom, Unresolved
from tests.fakehub.refusals import Refusal
from tests.fakehub.repository import PullRequest, Repository
from tests.fakehub.representations import (
    moment,
    moment_or_none,
    node_id,
    parse_node_id,
)
from tests.fakehub.store import find_entry, git_type
from tests.fakehub.tokens import Token

if TYPE_CHECKING:
    from tests.fakehub.host import StandInHost

Node: TypeAlias = dict[str, Any]
Resolver: TypeAlias = Callable[..., Any]
HEADS = "refs/heads/"
MAX_IDS = 100


def resolver(function: Callable[..., Any], *arguments: Any) -> Resolver:
    """Return a resolver that calls ``function`` only when a query asks for its field."""
    return lambda _info: function(*arguments)


class Nodes:
    """Builds the nodes for one request with one token."""

    def __init__(self, host: StandInHost, token: Token) -> None:
        self.host = host
        self.token = token

    def symptom(self, repository: Repository, thing: str, *possible: Symptom) -> Symptom | None:
        """Return how the answer shows that it does not know a thing yet (`Written.symptom`)."""
        return repository.written.symptom(self.host.quirks.lag, thing, *possible)

    # Finding

    def find_repository(self, _info: GraphQLResolveInfo, **given: Any) -> Node:
        name = f"{given['owner']}/{given['name']}"
        missing = Refusal(404, f"Could not resolve to a Repository with the name '{name}'.")
        try:
            repository, moved = self.host.find_repository(name)
            self.token.require(repository)
        except Refusal as refusal:
            raise (missing if refusal.status == 404 else refusal) from None
        if moved and not given["followRenames"]:
            raise missing
        return self.repository(repository)

    def find_nodes(self, _info: GraphQLResolveInfo, **given: Any) -> list[Any]:
        """Return the nodes of at most 100 ids, in the order of the ids.

        A `Refusal` in the list becomes null and an error. Raises `Refusal` 422 if there are more
        than 100 ids, in the words of sourcecred/sourcecred#908.
        """
        count = len(given["ids"])
        if count > MAX_IDS:
            message = f"You may not provide more than {MAX_IDS} node ids; you provided {count}."
            raise Refusal(422, message, kind="ARGUMENT_LIMIT")

        def found(identifier: str) -> Node | Refusal:
            try:
                return self.repository(self.locate(identifier)[0])
            except Refusal as refusal:
                return refusal

        return [found(identifier) for identifier in given["ids"]]

    def locate(self, identifier: str, *needs: str) -> tuple[Repository, str]:
        """Return the repository and the key of a global id.

        Raises `Refusal` 404 if there is no such repository, 403 if the token lacks a permission.
        """
        missing = Refusal(404, f"Could not resolve to a node with the global id of '{identifier}'")
        try:
            _, (number, *key) = parse_node_id(identifier)
        except ValueError:
            raise missing from None
        repository = self.host.repository_by_id(number)
        if repository is None:
            raise missing
        self.token.require(repository, *needs)
        return repository, "|".join(key)

    # Nodes

    def repository(self, repository: Repository) -> Node:
        permission = self.host.quirks.role if self.token.may_push(repository) else "READ"

        def ref(_info: GraphQLResolveInfo, **given: Any) -> Node | None:
            name = given["qualifiedName"]
            branch = name.removeprefix(HEADS)
            if self.symptom(repository, f"branch {branch}", Symptom.GRAPHQL_REFERENCE):
                return None
            return self.reference(repository, name if name.startswith("refs/") else HEADS + name)

        def refs(_info: GraphQLResolveInfo, **given: Any) -> Node:
            """Return the references that have the text in their names, in any letter case."""
            if given["refPrefix"] != HEADS:
                raise NotImplementedError
            part = (given.pop("query", None) or "").lower()
            names = [name for name in repository.branches if part in name.lower()]
            found = (ref(_info, qualifiedName=HEADS + name) for name in names)
            return connection("refs", list(filter(None, found)), given)

        def pull_requests(_info: GraphQLResolveInfo, **given: Any) -> Node:
            return self.pull_requests(repository, repository.pull_requests, given)

        def topics(_info: GraphQLResolveInfo, **given: Any) -> Node:
            return connection("repositoryTopics", list(map(self.topic, repository.topics)), given)

        language = repository.language and {
            "id": node_id("L", repository.language),
            "name": repository.language,
        }
        return {
            "__typename": "Repository",
            "id": node_id("R", repository.id),
            "databaseId": repository.id,
            "nameWithOwner": repository.full_name,
            "url": repository.html_url,
            "isArchived": repository.archived,
            "isDisabled": repository.disabled,
            "isEmpty": lambda _info: repository.empty,
            "isFork": repository.parent is not None,
            "isLocked": repository.locked,
            "isPrivate": repository.private,
            "visibility": repository.visibility.upper(),
            "primaryLanguage": language,
            "repositoryTopics": topics,
            "viewerPermission": None if self.token.bot else permission,
            "defaultBranchRef": resolver(self.default_branch, repository),
            "ref": ref,
            "refs": refs,
            "object": lambda _info, **given: self.find_object(repository, given),
            "pullRequests": pull_requests,
        }

    def default_branch(self, repository: Repository) -> Node | None:
        """Return the default branch. Raise `Refusal` 403 if the token may not read contents."""
        if repository.full_name in self.host.quirks.hidden_contents:
            raise self.token.refusal("contents=read")
        return self.reference(repository, HEADS + repository.default_branch)

    def topic(self, name: str) -> Node:
        return {
            "__typename": "RepositoryTopic",
            "id": node_id("RT", name),
            "topic": {"id": node_id("T", name), "name": name},
        }

    def find_object(self, repository: Repository, given: Mapping[str, Any]) -> Node | None:
        commit = repository.resolve(given.get("oid") or given["expression"])
        return self.git_object(repository, commit)

    def reference(self, repository: Repository, name: str) -> Node | None:
        found = repository.git.references.get(name)
        if found is None:
            return None
        return {
            "__typename": "Ref",
            "id": node_id("REF", repository.id, name),
            "name": name.removeprefix(HEADS),
            "target": resolver(self.git_object, repository, repository.git[found.target]),
        }

    def git_object(self, repository: Repository, found: Any) -> Node | None:
        """Return a commit, a tree or a blob."""
        if found is None:
            return None
        kind = git_type(found)
        node: Node = {"id": node_id("GO", repository.id, found.id), "oid": str(found.id)}
        if isinstance(found, pygit2.Commit):
            kind, tree = "commit", found.tree
            node["tree"] = resolver(self.git_object, repository, tree)
            node["file"] = lambda _info, **given: self.file(repository, tree, given["path"])
        elif isinstance(found, pygit2.Tree):
            node["entries"] = resolver(self.entries, repository, found)
        return node | {"__typename": kind.capitalize()}

    def file(self, repository: Repository, tree: pygit2.Tree, path: str) -> Node | None:
        """Return the entry at a path; raise `Refusal` if there is none (changesets/ghcommit).

        A file above 10 MB is refused as well (sveltia/sveltia-cms#692); whether its error has a
        type is not known. `Quirks` can replace the refusals by None.
        """
        entry = find_entry(tree, path) if path else None
        quirks = self.host.quirks
        how: Unresolved | None = None
        if isinstance(entry, pygit2.Tree):
            how = quirks.hidden_directories
        elif entry is None:
            below = is_below_something(tree, path)
            how = quirks.below_a_file if below else quirks.missing
        if how in {Unresolved.NOT_FOUND, Unresolved.WITHOUT_TYPE}:
            kind = None if how is Unresolved.NOT_FOUND else ""
            raise Refusal(404, f"Could not resolve file for path '{path}'.", kind=kind)
        if entry is None or how is Unresolved.NULL:
            return None
        if isinstance(entry, pygit2.Blob) and entry.size > quirks.most_found:
            raise Refusal(422, "Could not resolve file over 10mb.", kind="")
        return self.entry(repository, entry)

    def entries(self, repository: Repository, tree: pygit2.Tree) -> list[Node]:
        listed = list(tree)[: self.host.quirks.most_entries]
        return [self.entry(repository, entry) for entry in listed]

    def entry(self, repository: Repository, entry: pygit2.Object) -> Node:
        quirks, raw = self.host.quirks, entry.raw_name
        assert raw is not None
        if quirks.raw_names_are_utf8:
            raw = raw.decode(errors="replace").encode()
        mode = int(entry.filemode) | (0o20 if quirks.odd_modes and entry.type_str == "blob" else 0)
        kind = git_type(entry)
        return {
            "__typename": "TreeEntry",
            "nameRaw": base64.b64encode(raw).decode(),
            "mode": mode,
            "oid": str(entry.id),
            "type": kind,
            # The commit of a submodule is in another repository
            "object": None if kind == "commit" else resolver(self.git_object, repository, entry),
        }

    def pull_requests(
        self, repository: Repository, found: Sequence[PullRequest], given: Mapping[str, Any]
    ) -> Node:
        """Return a list of pull requests; raise `Refusal` 403 if the token may not see them."""
        strict = self.host.quirks.pull_requests_need_permission
        if strict and not self.token.may_read_pull_requests(repository):
            raise self.token.refusal("pull_requests=read")
        head, order = given.get("headRefName"), given.get("orderBy") or {}
        if given.keys() - {"headRefName", "first", "orderBy"} or order.get("field") == "UPDATED_AT":
            raise NotImplementedError
        # `headRefName` also finds branches of forks, because it has no owner
        unlisted = self.host.quirks.unlisted_pull_requests
        found = [each for each in found if each.number not in unlisted]
        chosen = [each for each in found if head is None or each.head == head]
        if order.get("direction") == "DESC":
            chosen.reverse()
        hidden = Refusal(
            403,
            "Resource protected by organization SAML enforcement. You must grant your Personal "
            "Access token access to this organization.",
            headers={"X-GitHub-SSO": "partial-results; organizations=1"},
            extensions={"saml_failure": True},
        )
        nodes = [
            hidden
            if each.number in self.host.quirks.hidden_pull_requests
            else self.pull_request(repository, each)
            for each in chosen
        ]
        return connection("pullRequests", nodes, given)

    def pull_request(self, repository: Repository, each: PullRequest) -> Node:
        merged = repository.resolve(each.merge_commit_sha) if each.merge_commit_sha else None
        # anomalyco/opencode#13820
        head = None if each.is_fork_deleted else {"nameWithOwner": each.head_repository}
        # GraphQL gives the login of a bot without `[bot]` (digdir/designsystemet#5338)
        login = each.author.removesuffix("[bot]")
        kind = "User" if login == each.author else "Bot"
        return {
            "__typename": "PullRequest",
            "id": node_id("PR", repository.id, each.number),
            "number": each.number,
            "body": each.body or "",
            "url": each.html_url,
            "state": state_of(each),
            "createdAt": moment(each.created_at),
            "closedAt": moment_or_none(each.closed_at),
            "mergeCommit": self.git_object(repository, merged) if each.merged else None,
            "baseRefName": each.base,
            "headRefName": each.head,
            "headRefOid": each.head_sha,
            "headRepository": head,
            "repository": resolver(self.repository, repository),
            "viewerDidAuthor": each.author == self.token.login,
            "authorAssociation": repository.association(each.author),
            "author": {"__typename": kind, "id": node_id("U", login), "login": login},
        }


def is_below_something(tree: pygit2.Tree, path: str) -> bool:
    """Return whether a parent of a path is a file, a link or a submodule."""
    parts = path.split("/")
    above = (find_entry(tree, "/".join(parts[:depth])) for depth in range(1, len(parts)))
    return any(entry is not None and not isinstance(entry, pygit2.Tree) for entry in above)


def connection(name: str, nodes: Sequence[Node | Refusal | None], given: Mapping[str, Any]) -> Node:
    """Return the first nodes of a connection; only the first page is supported.

    Raises `Refusal` 422 if `first` is missing or above 100.
    """
    if given.keys() & {"after", "before", "last"}:
        raise NotImplementedError
    first = given.get("first")
    if first is None:
        message = f"You must provide a `first` or `last` value to properly paginate `{name}`."
        raise Refusal(422, message, kind="MISSING_PAGINATION_BOUNDARIES")
    if not 0 <= first <= 100:
        message = f"Requesting more than 100 records on `{name}` exceeds the limit."
        raise Refusal(422, message, kind="EXCESSIVE_PAGINATION")
    return {"nodes": list(nodes[:first]), "pageInfo": {"hasNextPage": len(nodes) > first}}


def state_of(pull_request: PullRequest) -> str:
    return "MERGED" if pull_request.merged else pull_request.state.upper()
