"""The mutations of GraphQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from graphql import GraphQLResolveInfo

from tests.fakehub.graphql.nodes import HEADS, Node, Nodes, Resolver
from tests.fakehub.quirks import AfterRefusal, Symptom
from tests.fakehub.refusals import Refusal
from tests.fakehub.repository import Repository
from tests.fakehub.rest import refuse_actions
from tests.fakehub.store import WEB, check_parents, check_path, find_entry

PAYLOADS = {
    "createCommitOnBranch": "commit",
    "createPullRequest": "pullRequest",
    "createRef": "ref",
}
"""The field of each mutation's result that is null if the mutation was refused."""


class Graph(Nodes):
    """The resolvers of the queries and mutations of one request."""

    refused = False
    """Whether a mutation of this request was refused."""

    def root(self) -> Node:
        mutations: Iterable[tuple[str, Callable[[Mapping[str, Any]], Node]]] = (
            ("createCommitOnBranch", self.create_commit_on_branch),
            ("createPullRequest", self.create_pull_request),
            ("createRef", self.create_ref),
        )
        queries: dict[str, Resolver] = {
            "nodes": self.find_nodes,
            "repository": self.find_repository,
        }
        return queries | {name: self.mutation(name, function) for name, function in mutations}

    def mutation(self, name: str, function: Callable[[Mapping[str, Any]], Node]) -> Resolver:
        def resolve(_info: GraphQLResolveInfo, **given: Any) -> Node | None:
            if self.refused and self.host.quirks.after_refusal is AfterRefusal.STOP:
                return None
            try:
                if refusal := self.host.refused_mutations.get(name):
                    raise refusal
                payload = function(given["input"])
            except Refusal as refused:
                self.refused = True
                if not self.host.quirks.empty_payloads:
                    raise
                return {PAYLOADS[name]: refused}
            return payload | {"clientMutationId": given["input"].get("clientMutationId")}

        return resolve

    def create_ref(self, given: Mapping[str, Any]) -> Node:
        repository, _ = self.locate(given["repositoryId"], "contents=write")
        name = given["name"]
        if name in repository.git.references:
            raise Refusal(422, f'A ref named "{name}" already exists in the repository.')
        try:
            repository.by(self.token.actor).create_reference(name, given["oid"])
        except Refusal as refusal:
            if refusal.message != "Reference update failed":
                raise
            # microsoft/vscode-remote-repositories-github#122
            raise Refusal(422, "Ref cannot be created.") from None
        return {"ref": self.reference(repository, name)}

    def create_commit_on_branch(self, given: Mapping[str, Any]) -> Node:
        """Create one signed commit with all changes, or none of them.

        Raises `Refusal`, with the type STALE_DATA if the branch is at another commit than expected.
        """
        repository, branch = self.committable(given["branch"])
        with repository.lock:
            parent = repository.find_head(branch)
            if parent is None:
                raise Refusal(404, f'No such branch "{branch}"')
            self.check_branch_seen(repository, branch, given["expectedHeadOid"])
            if parent != given["expectedHeadOid"]:
                raise self.stale(branch, parent, given["expectedHeadOid"])
            check_rules(repository, branch)
            changes = self.changes(repository, parent, given.get("fileChanges") or {})
            message = given["message"]
            text = "\n\n".join(filter(None, (message["headline"], message.get("body"))))
            author, committer = self.token.author(), WEB
            new = repository.build_commit(parent, changes, text, author, committer)
            repository.by(self.token.actor).advance(branch, parent, new)
            return {"commit": self.git_object(repository, repository.commit_at(new))}

    def check_branch_seen(self, repository: Repository, branch: str, expected: str) -> None:
        """Raise a `Refusal` if GitHub does not know a new branch yet."""
        match self.symptom(
            repository, f"branch {branch}", Symptom.COMMIT_NO_BRANCH, Symptom.COMMIT_STALE
        ):
            case Symptom.COMMIT_NO_BRANCH:
                raise Refusal(404, "Branch not found")
            case Symptom.COMMIT_STALE:
                raise self.stale(branch, "0" * 40, expected)

    def stale(self, branch: str, head: str, expected: str) -> Refusal:
        """Return the refusal of a commit because its branch is at another commit than expected."""
        if self.host.quirks.stale_in_other_words:
            message = f"Ref {HEADS}{branch} is at {head} but expected {expected}"
            return Refusal(422, message)
        message = f'Expected branch to point to "{expected}" but it did not.  Pull and try again.'
        return Refusal(409, message, kind="STALE_DATA")

    def committable(self, given: Mapping[str, Any]) -> tuple[Repository, str]:
        if given.get("id"):
            repository, name = self.locate(given["id"], "contents=write")
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
        """Return the changes of a commit; None as content deletes a path.

        A file replaces a directory of the same path. Nobody has confirmed that GitHub does this; it
        is the worst case.
        """
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
        repository, _ = self.locate(given["repositoryId"], "pull_requests=write")
        refuse_actions(self.host, self.token)
        if not repository.has_pull_requests:
            # Nobody has confirmed these words
            raise Refusal(422, "Pull requests are disabled for this repository.")
        head, base = (given[name].removeprefix(HEADS) for name in ("headRefName", "baseRefName"))
        self.check_head_seen(repository, head, base)
        created = repository.by(self.token.actor).request_pull(
            head=head,
            base=base,
            title=given["title"],
            body=given.get("body"),
            draft=bool(given.get("draft")),
            author=self.token.login,
            maintainer_can_modify=bool(given.get("maintainerCanModify")),
        )
        return {"pullRequest": self.pull_request(repository, created)}

    def check_head_seen(self, repository: Repository, head: str, base: str) -> None:
        """Raise a `Refusal` if the head does not exist, or if GitHub does not know its commit yet.

        The words are in cli/cli#2691 and cli/cli#12889.
        """
        none_between = f"No commits between {base} and {head}"
        blank = f"Head sha can't be blank, Base sha can't be blank, {none_between}"
        if repository.find_head(head) is None:
            raise Refusal(422, f"{blank}, Head ref must be a branch")
        match self.symptom(
            repository,
            f"head {head}",
            Symptom.PULL_NO_COMMITS,
            Symptom.PULL_BLANK_SHA,
            Symptom.PULL_BAD_HEAD,
        ):
            case Symptom.PULL_NO_COMMITS:
                raise Refusal(422, none_between)
            case Symptom.PULL_BLANK_SHA:
                raise Refusal(422, blank)
            case Symptom.PULL_BAD_HEAD:
                raise Refusal(422, f"{blank}, Head ref must be a branch")


def check_rules(repository: Repository, branch: str) -> None:
    """Raise `Refusal` if a rule forbids to write to a branch directly.

    It has the type that GraphQL gives it (Thinkmill/keystatic#1598).
    """
    try:
        repository.check_protection(branch)
    except Refusal as refusal:
        if "rule violations" in refusal.message:
            raise Refusal(403, refusal.message) from None
        words = refusal.message.partition(": ")[2]
        raise Refusal(409, words, kind="BRANCH_PROTECTION_RULE_VIOLATION") from None
