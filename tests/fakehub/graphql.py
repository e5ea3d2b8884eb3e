"""GraphQL on the same repositories: GitHub's published schema, executed by graphql-core."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import pygit2
from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLResolveInfo,
    GraphQLScalarType,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    Visitor,
    build_schema,
    execute_sync,
    parse,
    validate,
    visit,
)

from .descriptions import FOLDER
from .refusals import Refusal
from .repository import (
    Person,
    PullRequest,
    Repository,
    check_body,
    check_parents,
    check_path,
    find_entry,
    git_type,
)
from .representations import WEB_FLOW, moment, moment_or_none, node_id, parse_node_id, user_id
from .rest import refuse_actions
from .tokens import Token

if TYPE_CHECKING:
    from .server import StandInHost

Node: TypeAlias = dict[str, Any]
Resolver: TypeAlias = Callable[..., Any]
TYPES = {403: "FORBIDDEN", 404: "NOT_FOUND"}
HEADS = "refs/heads/"


@cache
def schema() -> GraphQLSchema:
    """The extracted schema; its scalars take what GitHub's take."""
    built = build_schema((FOLDER / "graphql.graphql").read_text(encoding="utf-8"))
    for name, check in (("GitObjectID", git_object_id), ("Base64String", base64_string)):
        scalar = built.type_map[name]
        assert isinstance(scalar, GraphQLScalarType)
        scalar.parse_value = check  # type: ignore[method-assign]
    return built


def git_object_id(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{40}", value):
        raise GraphQLError(f"{value!r} is not a GitObjectID")
    return value


def base64_string(value: object) -> bytes:
    try:
        return base64.b64decode(str(value), validate=True)
    except binascii.Error as error:
        raise GraphQLError(f"not a Base64String: {error}") from None


def respond(host: StandInHost, token: Token, body: Any) -> tuple[dict[str, Any], list[str]]:
    """The answer to a GraphQL request, and what was wrong with the request itself.

    A query that the schema does not allow, and a resolver's own failure, are in the second part.
    """
    given = body if isinstance(body, dict) else {}
    unknown = given.keys() - {"query", "variables", "operationName"}
    mismatches = [f"undocumented property {name}" for name in sorted(unknown)]
    try:
        document = parse(given.get("query") or "")
    except GraphQLError as error:
        return {"errors": [shown(error)]}, [*mismatches, str(error)]
    if errors := validate(schema(), document):
        return {"errors": [shown(error) for error in errors]}, [*mismatches, *map(str, errors)]
    if aliases(document) > host.graphql_alias_limit:
        message = "Resource limits for this query exceeded."
        limit = {"type": "RESOURCE_LIMITS_EXCEEDED", "message": message}
        return {"data": None, "errors": [limit]}, mismatches
    if is_mutation(document) and host.pace is not None:
        host.pace.spend(host.clock.monotonic())
    result = execute_sync(
        schema(),
        document,
        Graph(host, token).root(),
        variable_values=given.get("variables"),
        operation_name=given.get("operationName"),
    )
    found = result.errors or []
    mismatches += [str(error) for error in found if not isinstance(error.original_error, Refusal)]
    answer: dict[str, Any] = {"data": result.data}
    if found:
        answer["errors"] = [shown(error) for error in found]
    return answer, mismatches


def is_mutation(document: DocumentNode) -> bool:
    return any(
        isinstance(each, OperationDefinitionNode) and each.operation is OperationType.MUTATION
        for each in document.definitions
    )


def aliases(document: DocumentNode) -> int:
    """How many fields of a query carry an alias."""

    class Counter(Visitor):
        count = 0

        def enter_field(self, node: FieldNode, *_: Any) -> None:
            self.count += node.alias is not None

    counter = Counter()
    visit(document, counter)
    return counter.count


def shown(error: GraphQLError) -> dict[str, Any]:
    """An error as the host formats it: with a `type` where the request reached a resolver."""
    formatted: dict[str, Any] = dict(error.formatted)
    refusal = error.original_error
    if isinstance(refusal, Refusal):
        formatted["type"] = refusal.kind or TYPES.get(refusal.status, "UNPROCESSABLE")
        details = [each["message"] for each in refusal.errors if "message" in each]
        formatted["message"] = details[0] if details else refusal.message
    return formatted


def resolver(function: Callable[..., Any], *arguments: Any) -> Resolver:
    """A field that is computed only when it is asked for, without arguments of its own."""
    return lambda _info: function(*arguments)


class Graph:
    """Builds the nodes that one request with one token reaches."""

    def __init__(self, host: StandInHost, token: Token) -> None:
        self.host = host
        self.token = token

    def root(self) -> Node:
        mutations: Iterable[tuple[str, Callable[[Mapping[str, Any]], Node]]] = (
            ("closePullRequest", self.close_pull_request),
            ("createCommitOnBranch", self.create_commit_on_branch),
            ("createPullRequest", self.create_pull_request),
            ("createRef", self.create_ref),
            ("deleteRef", self.delete_ref),
            ("updatePullRequest", self.update_pull_request),
            ("updateRef", self.update_ref),
        )
        return {
            "node": self.find_node,
            "rateLimit": lambda _info, **_: self.rate_limit(),
            "repository": self.find_repository,
            "viewer": resolver(self.actor, self.token.login),
        } | {name: self.mutation(name, function) for name, function in mutations}

    def mutation(self, name: str, function: Callable[[Mapping[str, Any]], Node]) -> Resolver:
        def resolve(_info: GraphQLResolveInfo, **given: Any) -> Node:
            refusal = self.host.refused_mutations.get(name)
            if refusal is not None:
                raise refusal
            payload = function(given["input"])
            return payload | {"clientMutationId": given["input"].get("clientMutationId")}

        return resolve

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

    def find_node(self, _info: GraphQLResolveInfo, **given: Any) -> Node | None:
        kind, repository, key = self.locate(given["id"])
        match kind:
            case "R":
                return self.repository(repository)
            case "REF":
                return self.reference(repository, key)
            case "PR":
                return self.pull_request(repository, repository.pull_request(int(key)))
            case _:
                return self.git_object(repository, repository.git.get(key))

    def locate(self, identifier: str, *needs: str) -> tuple[str, Repository, str]:
        """Kind, repository and key of a global id; `Refusal` 404, or 403 without a permission."""
        missing = Refusal(404, f"Could not resolve to a node with the global id of '{identifier}'")
        try:
            kind, (number, *key) = parse_node_id(identifier)
        except ValueError:
            raise missing from None
        for repository in self.host.repositories:
            if str(repository.id) == number:
                self.token.require(repository, *needs)
                return kind, repository, "|".join(key)
        raise missing

    # Nodes

    def repository(self, repository: Repository) -> Node:
        permission = "WRITE" if self.token.push else "READ"

        def ref(_info: GraphQLResolveInfo, **given: Any) -> Node | None:
            name = given["qualifiedName"]
            return self.reference(repository, name if name.startswith("refs/") else HEADS + name)

        def refs(_info: GraphQLResolveInfo, **given: Any) -> Node:
            names = sorted(repository.git.references)
            if (given.get("orderBy") or {}).get("direction", given.get("direction")) == "DESC":
                names.reverse()
            wanted = given.get("query") or ""
            prefix = given["refPrefix"]
            return connection(
                "refs",
                [
                    self.reference(repository, name)
                    for name in names
                    if name.startswith(prefix) and wanted in name.removeprefix(prefix)
                ],
                given,
            )

        def pull_request(_info: GraphQLResolveInfo, **given: Any) -> Node:
            return self.pull_request(repository, repository.pull_request(given["number"]))

        def pull_requests(_info: GraphQLResolveInfo, **given: Any) -> Node:
            return self.pull_requests(repository, repository.pull_requests, given)

        return {
            "__typename": "Repository",
            "id": node_id("R", repository.id),
            "databaseId": repository.id,
            "name": repository.name,
            "nameWithOwner": repository.full_name,
            "owner": self.actor(repository.owner, "Organization"),
            "url": repository.html_url,
            "isArchived": repository.archived,
            "isDisabled": repository.disabled,
            "isEmpty": repository.empty,
            "isFork": False,
            "isLocked": False,
            "isPrivate": repository.private,
            "viewerPermission": None if self.token.bot else permission,
            "defaultBranchRef": resolver(
                self.reference, repository, HEADS + repository.default_branch
            ),
            "ref": ref,
            "refs": refs,
            "object": lambda _info, **given: self.find_object(repository, given),
            "pullRequest": pull_request,
            "pullRequests": pull_requests,
        }

    def find_object(self, repository: Repository, given: Mapping[str, Any]) -> Node | None:
        revision, colon, path = (given.get("oid") or given.get("expression") or "").partition(":")
        commit = repository.resolve(revision)
        found: Any
        if colon:
            found = find_entry(commit.tree, path) if commit else None
        else:
            found = commit or (repository.git.get(revision) if len(revision) == 40 else None)
        return self.git_object(repository, found, path)

    def reference(self, repository: Repository, name: str) -> Node | None:
        found = repository.git.references.get(name)
        if found is None:
            return None
        prefix = next((each for each in (HEADS, "refs/tags/") if name.startswith(each)), "refs/")
        short = name.removeprefix(prefix)

        def associated(_info: GraphQLResolveInfo, **given: Any) -> Node:
            own = [each for each in repository.pull_requests if repository.is_head(each, short)]
            return self.pull_requests(repository, own if prefix == HEADS else [], given)

        def compare(_info: GraphQLResolveInfo, **given: Any) -> Node | None:
            head = repository.resolve(given["headRef"])
            return None if head is None else self.comparison(repository, str(found.target), head)

        return {
            "__typename": "Ref",
            "id": node_id("REF", repository.id, name),
            "name": short,
            "prefix": prefix,
            "repository": resolver(self.repository, repository),
            "target": resolver(self.git_object, repository, repository.git[found.target]),
            "associatedPullRequests": associated,
            "compare": compare,
        }

    def comparison(self, repository: Repository, base: str, head: pygit2.Commit) -> Node:
        ahead, behind = repository.ahead_behind(str(head.id), base)
        status = {
            (False, False): "IDENTICAL",
            (True, False): "AHEAD",
            (False, True): "BEHIND",
            (True, True): "DIVERGED",
        }[bool(ahead), bool(behind)]

        def commits(_info: GraphQLResolveInfo, **given: Any) -> Node:
            walker = repository.git.walk(head.id)
            walker.hide(pygit2.Oid(hex=base))
            nodes = [self.git_object(repository, each) for each in list(walker)[::-1]]
            return connection("commits", nodes, given)

        return {
            "__typename": "Comparison",
            "id": node_id("CMP", repository.id, base, head.id),
            "aheadBy": ahead,
            "behindBy": behind,
            "status": status,
            "baseTarget": resolver(self.git_object, repository, repository.git[base]),
            "headTarget": resolver(self.git_object, repository, head),
            "commits": commits,
        }

    def git_object(self, repository: Repository, found: Any, path: str = "") -> Node | None:
        """A commit, tree or blob; None for anything else. `path` is where a tree was found."""
        if found is None:
            return None
        common = {
            "id": node_id(
                "C" if isinstance(found, pygit2.Commit) else "GO", repository.id, found.id
            ),
            "oid": str(found.id),
            "abbreviatedOid": str(found.id)[:7],
        }
        if isinstance(found, pygit2.Commit):
            return common | self.commit(repository, found)
        if isinstance(found, pygit2.Tree):
            return common | {
                "__typename": "Tree",
                "entries": resolver(self.entries, repository, found, path),
            }
        if isinstance(found, pygit2.Blob):
            text = None if found.is_binary else found.data.decode(errors="replace")
            return common | {
                "__typename": "Blob",
                "byteSize": found.size,
                "isBinary": found.is_binary,
                "isTruncated": False,
                "text": text,
            }
        return None

    def commit(self, repository: Repository, commit: pygit2.Commit) -> Node:
        headline, _, body = commit.message.partition("\n")
        signed = commit.committer.email == WEB_FLOW

        def file(_info: GraphQLResolveInfo, **given: Any) -> Node | None:
            entry = find_entry(commit.tree, given["path"]) if given["path"] else None
            return None if entry is None else self.entry(repository, given["path"], entry)

        def history(_info: GraphQLResolveInfo, **given: Any) -> Node:
            nodes = [self.git_object(repository, each) for each in repository.git.walk(commit.id)]
            return connection("history", nodes, given)

        def parents(_info: GraphQLResolveInfo, **given: Any) -> Node:
            nodes = [self.git_object(repository, each) for each in commit.parents]
            return connection("parents", nodes, given)

        def stat(name: str) -> Resolver:
            return lambda _info: getattr(repository.changes(commit).stats, name)

        return {
            "__typename": "Commit",
            "url": f"{repository.html_url}/commit/{commit.id}",
            "message": commit.message,
            "messageHeadline": headline,
            "messageBody": body.strip(),
            "author": git_actor(commit.author),
            "authoredDate": moment(commit.author.time),
            "committer": git_actor(commit.committer),
            "committedDate": moment(commit.committer.time),
            "signature": {"__typename": "GpgSignature", "isValid": True} if signed else None,
            "tree": resolver(self.git_object, repository, commit.tree),
            "file": file,
            "history": history,
            "parents": parents,
            "additions": stat("insertions"),
            "deletions": stat("deletions"),
            "changedFilesIfAvailable": stat("files_changed"),
        }

    def entries(self, repository: Repository, tree: pygit2.Tree, path: str) -> list[Node]:
        prefix = f"{path}/" if path else ""
        return [self.entry(repository, f"{prefix}{entry.name}", entry) for entry in tree]

    def entry(self, repository: Repository, path: str, entry: pygit2.Object) -> Node:
        name = path.rpartition("/")[2]
        dot = name.rfind(".")
        return {
            "__typename": "TreeEntry",
            "name": name,
            "path": path,
            "extension": name[dot:] if dot >= 0 else "",
            "mode": int(entry.filemode),
            "oid": str(entry.id),
            "size": entry.size if isinstance(entry, pygit2.Blob) else 0,
            "type": git_type(entry),
            "object": resolver(self.git_object, repository, entry, path),
        }

    def pull_requests(
        self, repository: Repository, found: Sequence[PullRequest], given: Mapping[str, Any]
    ) -> Node:
        states, base, head = (given.get(key) for key in ("states", "baseRefName", "headRefName"))
        chosen = [
            each
            for each in found
            if (not states or state_of(each) in states)
            and (base is None or each.base == base)
            # Of any fork: a name alone does not say whose branch it is.
            and (head is None or each.head == head)
        ]
        order = given.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
        if order["field"] == "UPDATED_AT":
            chosen.sort(key=lambda each: each.updated_at)
        if order["direction"] == "DESC":
            chosen.reverse()
        nodes = [self.pull_request(repository, each) for each in chosen]
        return connection("pullRequests", nodes, given)

    def pull_request(self, repository: Repository, each: PullRequest) -> Node:
        own = each.head_repository == repository.full_name
        return {
            "__typename": "PullRequest",
            "id": node_id("PR", repository.id, each.number),
            "number": each.number,
            "title": each.title,
            "body": each.body or "",
            "url": each.html_url,
            "permalink": each.html_url,
            "state": state_of(each),
            "closed": each.state == "closed",
            "merged": each.merged,
            "isDraft": each.draft,
            "isCrossRepository": not own,
            "author": self.actor(each.author),
            "createdAt": moment(each.created_at),
            "updatedAt": moment(each.updated_at),
            "closedAt": moment_or_none(each.closed_at),
            "mergedAt": moment_or_none(each.merged_at),
            "baseRefName": each.base,
            "baseRefOid": each.base_sha,
            "baseRef": resolver(self.reference, repository, HEADS + each.base),
            "headRefName": each.head,
            "headRefOid": each.head_sha,
            "headRef": resolver(self.reference, repository, HEADS + each.head) if own else None,
            "headRepository": resolver(self.head_repository, repository, each),
            "headRepositoryOwner": self.actor(
                each.head_repository.partition("/")[0], "Organization" if own else "User"
            ),
            "repository": resolver(self.repository, repository),
        }

    def head_repository(self, repository: Repository, each: PullRequest) -> Node:
        """The repository of a pull request's head; a fork shows its name only."""
        if each.head_repository == repository.full_name:
            return self.repository(repository)
        owner, _, name = each.head_repository.partition("/")
        number = user_id(each.head_repository) & 0x7FFFFFFF
        return self.repository(repository) | {
            "id": node_id("R", number),
            "databaseId": number,
            "name": name,
            "nameWithOwner": each.head_repository,
            "owner": self.actor(owner),
            "isFork": True,
        }

    def actor(self, login: str, kind: str | None = None) -> Node:
        return {
            "__typename": kind or ("Bot" if login.endswith("[bot]") else "User"),
            "id": node_id("U", login),
            "databaseId": user_id(login) & 0x7FFFFFFF,
            "login": login,
            "url": f"{self.host.url}/{login}",
        }

    def rate_limit(self) -> Node | None:
        limit = self.host.graphql_rate_limit
        if limit is None:
            return None
        given = limit.shown(self.host.clock.time())
        return given | {"cost": 1, "nodeCount": 0, "resetAt": moment(given["reset"])}

    # Mutations

    def create_ref(self, given: Mapping[str, Any]) -> Node:
        _, repository, _ = self.locate(given["repositoryId"], "contents=write")
        name = given["name"]
        if name in repository.git.references:
            raise Refusal(422, f'A ref named "{name}" already exists in the repository.')
        repository.create_reference(name, given["oid"])
        return {"ref": self.reference(repository, name)}

    def update_ref(self, given: Mapping[str, Any]) -> Node:
        _, repository, name = self.locate(given["refId"], "contents=write")
        with repository.lock:
            branch = name.removeprefix(HEADS)
            repository.check_protection(branch)
            old = repository.head(branch)
            if repository.resolve(given["oid"]) is None:
                raise Refusal(422, "Object does not exist")
            if repository.ahead_behind(given["oid"], old)[1] and not given["force"]:
                raise Refusal(422, "Update is not a fast forward")
            repository.advance(branch, old, given["oid"])
            return {"ref": self.reference(repository, name)}

    def delete_ref(self, given: Mapping[str, Any]) -> Node:
        _, repository, name = self.locate(given["refId"], "contents=write")
        with repository.lock:
            branch = name.removeprefix(HEADS)
            repository.check_protection(branch)
            if branch == repository.default_branch:
                raise Refusal(422, "The default branch cannot be deleted")
            if repository.find_head(branch) is None:
                raise Refusal(422, "Reference does not exist")
            repository.delete_branch(branch)
        return {}

    def create_commit_on_branch(self, given: Mapping[str, Any]) -> Node:
        """One signed commit; refused as a whole, STALE_DATA where the branch has moved on."""
        repository, branch = self.committable(given["branch"])
        with repository.lock:
            parent = repository.find_head(branch)
            if parent is None:
                raise Refusal(404, f'No such branch "{branch}"')
            if parent != given["expectedHeadOid"]:
                message = f'Expected branch to point to "{given["expectedHeadOid"]}" but it did not'
                raise Refusal(409, f"{message}. Pull and try again.", kind="STALE_DATA")
            repository.check_protection(branch)
            changes = self.changes(repository, parent, given.get("fileChanges") or {})
            message = given["message"]
            text = "\n\n".join(filter(None, (message["headline"], message.get("body"))))
            author, committer = self.token.author(), Person("GitHub", WEB_FLOW)
            new = repository.build_commit(parent, changes, text, author, committer)
            repository.advance(branch, parent, new)
            return {
                "commit": self.git_object(repository, repository.commit_at(new)),
                "ref": self.reference(repository, HEADS + branch),
            }

    def committable(self, given: Mapping[str, Any]) -> tuple[Repository, str]:
        if given.get("id"):
            _, repository, name = self.locate(given["id"], "contents=write")
            return repository, name.removeprefix(HEADS)
        full_name, branch = given.get("repositoryNameWithOwner"), given.get("branchName")
        if not full_name or not branch:
            raise Refusal(422, "Either id, or repositoryNameWithOwner and branchName is needed")
        repository, _ = self.host.find_repository(full_name)
        self.token.require(repository, "contents=write")
        return repository, branch.removeprefix(HEADS)

    def changes(
        self, repository: Repository, parent: str, given: Mapping[str, Any]
    ) -> dict[str, bytes | None]:
        tree = repository.commit_at(parent).tree
        changes: dict[str, bytes | None] = {}
        for deletion in given.get("deletions", ()):
            if find_entry(tree, deletion["path"]) is None:
                raise Refusal(422, f"{deletion['path']} does not exist")
            changes[deletion["path"]] = None
        for addition in given.get("additions", ()):
            path = addition["path"]
            check_path(path)
            check_parents(tree, path)
            self.token.require_workflows(path)
            changes[path] = addition["contents"]
        return changes

    def create_pull_request(self, given: Mapping[str, Any]) -> Node:
        _, repository, _ = self.locate(given["repositoryId"], "pull_requests=write")
        refuse_actions(self.host, self.token)
        created = repository.request_pull(
            head=given["headRefName"].removeprefix(HEADS),
            base=given["baseRefName"].removeprefix(HEADS),
            title=given["title"],
            body=given.get("body"),
            draft=bool(given.get("draft")),
            author=self.token.login,
            maintainer_can_modify=bool(given.get("maintainerCanModify")),
        )
        return {"pullRequest": self.pull_request(repository, created)}

    def update_pull_request(self, given: Mapping[str, Any]) -> Node:
        """Title, body, base and state; what is set by ids is not built."""
        _, repository, number = self.locate(given["pullRequestId"], "pull_requests=write")
        unbuilt = {"assigneeIds", "labelIds", "milestoneId", "projectIds"} & given.keys()
        if unbuilt:
            raise NotImplementedError(", ".join(unbuilt))
        pull_request = repository.pull_request(int(number))
        check_body(given.get("body"))
        match given.get("state"):
            case "OPEN":
                repository.reopen(pull_request.number)
            case "CLOSED":
                repository.close(pull_request.number)
        pull_request.title = given.get("title") or pull_request.title
        pull_request.body = given.get("body", pull_request.body)
        pull_request.base = given.get("baseRefName") or pull_request.base
        return {"pullRequest": self.pull_request(repository, pull_request)}

    def close_pull_request(self, given: Mapping[str, Any]) -> Node:
        _, repository, number = self.locate(given["pullRequestId"], "pull_requests=write")
        repository.close(int(number))
        return {"pullRequest": self.pull_request(repository, repository.pull_request(int(number)))}


def connection(name: str, nodes: Sequence[Node | None], given: Mapping[str, Any]) -> Node:
    """A page of nodes; `Refusal` when neither `first` nor `last` bounds it to 100."""
    first, last = given.get("first"), given.get("last")
    if first is None and last is None:
        message = f"You must provide a `first` or `last` value to properly paginate `{name}`."
        raise Refusal(422, message, kind="MISSING_PAGINATION_BOUNDARIES")
    if not 0 <= (first or 0) <= 100 or not 0 <= (last or 0) <= 100:
        message = f"Requesting more than 100 records on `{name}` exceeds the limit."
        raise Refusal(422, message, kind="EXCESSIVE_PAGINATION")
    start = int(given["after"]) if given.get("after") else 0
    end = int(given["before"]) - 1 if given.get("before") else len(nodes)
    if first is not None:
        end = min(end, start + first)
    if last is not None:
        start = max(start, end - last)
    return {
        "nodes": list(nodes[start:end]),
        "totalCount": len(nodes),
        "pageInfo": {
            "startCursor": str(start + 1) if end > start else None,
            "endCursor": str(end) if end > start else None,
            "hasPreviousPage": start > 0,
            "hasNextPage": end < len(nodes),
        },
    }


def state_of(pull_request: PullRequest) -> str:
    return "MERGED" if pull_request.merged else pull_request.state.upper()


def git_actor(signature: pygit2.Signature) -> Node:
    date = moment(signature.time)
    return {"name": signature.name, "email": signature.email, "date": date}
