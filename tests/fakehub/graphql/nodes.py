"""The nodes that one request reaches."""

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
    WEB_FLOW,
    moment,
    moment_or_none,
    node_id,
    parse_node_id,
    user_id,
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
    """A field that is computed only when it is asked for, without arguments of its own."""
    return lambda _info: function(*arguments)


class Nodes:
    """Builds the nodes that one request with one token reaches."""

    def __init__(self, host: StandInHost, token: Token) -> None:
        self.host = host
        self.token = token

    def symptom(self, repository: Repository, thing: str, *possible: Symptom) -> Symptom | None:
        """How the answer is to show that it does not know yet what was just written."""
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

    def find_nodes(self, info: GraphQLResolveInfo, **given: Any) -> list[Any]:
        """At most 100 nodes in the order of their ids; what cannot be read is null, with an error.

        The words of the limit are those of sourcecred/sourcecred#908.
        """
        count = len(given["ids"])
        if count > MAX_IDS:
            message = f"You may not provide more than {MAX_IDS} node ids; you provided {count}."
            raise Refusal(422, message, kind="ARGUMENT_LIMIT")

        def found(identifier: str) -> Node | Refusal | None:
            try:
                return self.find_node(info, id=identifier)
            except Refusal as refusal:
                return refusal

        return [found(identifier) for identifier in given["ids"]]

    def locate(self, identifier: str, *needs: str) -> tuple[str, Repository, str]:
        """Kind, repository and key of a global id; `Refusal` 404, or 403 without a permission."""
        missing = Refusal(404, f"Could not resolve to a node with the global id of '{identifier}'")
        try:
            kind, (number, *key) = parse_node_id(identifier)
        except ValueError:
            raise missing from None
        repository = self.host.repository_by_id(number)
        if repository is None:
            raise missing
        self.token.require(repository, *needs)
        return kind, repository, "|".join(key)

    # Nodes

    def codeowners(self, repository: Repository) -> Node | None:
        if self.host.quirks.hides_codeowners:
            raise Refusal(403, "Resource not accessible by integration")
        if not repository.has_codeowners:
            return None
        return {"errors": [{"suggestion": None, **each} for each in repository.codeowners_errors]}

    def repository(self, repository: Repository) -> Node:
        permission = "WRITE" if self.token.may_push(repository) else "READ"

        def ref(_info: GraphQLResolveInfo, **given: Any) -> Node | None:
            name = given["qualifiedName"]
            branch = name.removeprefix(HEADS)
            if self.symptom(repository, f"branch {branch}", Symptom.GRAPHQL_REFERENCE):
                return None
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
            "name": repository.name,
            "nameWithOwner": repository.full_name,
            "owner": self.owner(repository),
            "url": repository.html_url,
            "isArchived": repository.archived,
            "isDisabled": repository.disabled,
            "isEmpty": lambda _info: repository.empty,
            "isFork": repository.parent is not None,
            "isLocked": repository.locked,
            "isPrivate": repository.private,
            "visibility": repository.visibility.upper(),
            "parent": resolver(self.parent, repository),
            "codeowners": lambda _info, **_given: self.codeowners(repository),
            "primaryLanguage": language,
            "repositoryTopics": topics,
            "viewerPermission": None if self.token.bot else permission,
            "defaultBranchRef": resolver(self.default_branch, repository),
            "ref": ref,
            "refs": refs,
            "object": lambda _info, **given: self.find_object(repository, given),
            "pullRequest": pull_request,
            "pullRequests": pull_requests,
        }

    def default_branch(self, repository: Repository) -> Node | None:
        """The default branch; `Refusal` 403 where the contents are hidden."""
        if repository.full_name in self.host.quirks.hidden_contents:
            raise self.token.refusal("contents=read")
        return self.reference(repository, HEADS + repository.default_branch)

    def owner(self, repository: Repository) -> Node:
        person = repository.owner.lower() in self.host.users
        return self.actor(repository.owner, "User" if person else "Organization")

    def parent(self, repository: Repository) -> Node | None:
        """The repository that a fork was made from; null where the token may not see it."""
        if repository.parent is None:
            return None
        try:
            found, _ = self.host.find_repository(repository.parent)
            self.token.require(found)
        except Refusal:
            return None
        return self.repository(found)

    def topic(self, name: str) -> Node:
        return {
            "__typename": "RepositoryTopic",
            "id": node_id("RT", name),
            "url": f"{self.host.url}/topics/{name}",
            "topic": {"id": node_id("T", name), "name": name},
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
            return self.file(repository, commit.tree, given["path"])

        def history(_info: GraphQLResolveInfo, **given: Any) -> Node:
            found = repository.history(str(commit.id), given.get("path"))
            return connection("history", [self.git_object(repository, c) for c in found], given)

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

    def file(self, repository: Repository, tree: pygit2.Tree, path: str) -> Node | None:
        """What is at a path; `Refusal` where nothing is (changesets/ghcommit, its tests).

        It exists, and is refused all the same, when it is larger than 10 MB
        (sveltia/sveltia-cms#692; whether that has a type is not known).
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
        if isinstance(entry, pygit2.Blob) and entry.size > 10_000_000:
            raise Refusal(422, "Could not resolve file over 10mb.", kind="")
        return self.entry(repository, path, entry)

    def entries(self, repository: Repository, tree: pygit2.Tree, path: str) -> list[Node]:
        prefix = f"{path}/" if path else ""
        return [
            self.entry(repository, prefix + raw_name(entry).decode(errors="replace"), entry)
            for entry in list(tree)[: self.host.quirks.most_entries]
        ]

    def entry(self, repository: Repository, path: str, entry: pygit2.Object) -> Node:
        name = path.rpartition("/")[2]
        quirks = self.host.quirks
        raw = name.encode() if quirks.raw_names_are_utf8 else raw_name(entry)
        mode = int(entry.filemode) | (0o20 if quirks.odd_modes and entry.type_str == "blob" else 0)
        dot = name.rfind(".")
        kind = git_type(entry)
        # The commit of a submodule is in another repository
        below = None if kind == "commit" else resolver(self.git_object, repository, entry, path)
        return {
            "__typename": "TreeEntry",
            "name": name,
            "nameRaw": base64.b64encode(raw).decode(),
            "path": path,
            "extension": name[dot:] if dot >= 0 else "",
            "mode": mode,
            "oid": str(entry.id),
            "size": lambda _info: entry.size if isinstance(entry, pygit2.Blob) else 0,
            "type": kind,
            "object": below,
        }

    def pull_requests(
        self, repository: Repository, found: Sequence[PullRequest], given: Mapping[str, Any]
    ) -> Node:
        """A list of pull requests; `Refusal` 403 for a token that may not see them."""
        strict = self.host.quirks.pull_requests_need_permission
        if strict and not self.token.may_read_pull_requests(repository):
            raise self.token.refusal("pull_requests=read")
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
        hidden = Refusal(
            403,
            "Resource protected by organization SAML enforcement. You must grant your Personal "
            "Access token access to this organization.",
            headers={"X-GitHub-SSO": "partial-results; organizations=1"},
        )
        nodes = [
            hidden
            if each.number in self.host.quirks.hidden_pull_requests
            else self.pull_request(repository, each)
            for each in chosen
        ]
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
            "mergeCommit": resolver(self.merge_commit, repository, each),
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

    def merge_commit(self, repository: Repository, each: PullRequest) -> Node | None:
        found = repository.resolve(each.merge_commit_sha) if each.merge_commit_sha else None
        return self.git_object(repository, found) if each.merged else None

    def head_repository(self, repository: Repository, each: PullRequest) -> Node | None:
        """The repository of a pull request's head; a fork shows its name only."""
        if each.is_fork_deleted:
            # anomalyco/opencode#13820
            return None
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
        given = limit.state(self.host.now())
        return given | {"cost": 1, "nodeCount": 0, "resetAt": moment(given["reset"])}


def raw_name(entry: pygit2.Object) -> bytes:
    """The name of an entry of a tree, in whatever encoding."""
    assert entry.raw_name is not None
    return entry.raw_name


def is_below_something(tree: pygit2.Tree, path: str) -> bool:
    """Whether something that is no directory stands above a path."""
    parts = path.split("/")
    above = (find_entry(tree, "/".join(parts[:depth])) for depth in range(1, len(parts)))
    return any(entry is not None and not isinstance(entry, pygit2.Tree) for entry in above)


def connection(name: str, nodes: Sequence[Node | Refusal | None], given: Mapping[str, Any]) -> Node:
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
