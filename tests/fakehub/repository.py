"""A repository of the stand-in, with git, the rules of its branches, and its pull requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict, Unpack

import pygit2

from .quirks import Written
from .refusals import Refusal, invalid, not_found
from .store import SOMEBODY, Content, Person, Store

MAX_BODY = 65_536

Protection: TypeAlias = Literal["classic", "ruleset"]


@dataclass(slots=True)
class PullRequest:
    """A pull request; `head` and `base` are branch names, `head_repository` an owner/name."""

    number: int
    title: str
    body: str | None
    head: str
    base: str
    head_repository: str
    head_sha: str
    base_sha: str
    author: str
    html_url: str
    created_at: float
    updated_at: float
    draft: bool = False
    state: Literal["open", "closed"] = "open"
    maintainer_can_modify: bool = False
    labels: list[str] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    team_reviewers: list[str] = field(default_factory=list)
    closed_at: float | None = None
    merged_at: float | None = None
    merge_commit_sha: str | None = None
    is_fork_deleted: bool = False
    """Whether the repository of the head has been deleted."""

    @property
    def merged(self) -> bool:
        return self.merged_at is not None


class Attributes(TypedDict, total=False):
    """Attributes with which a repository is created; they can be changed later.

    With `internal` the whole enterprise sees a private repository. With `parent`, the full name of
    another repository, the repository is a fork.
    """

    private: bool
    internal: bool
    archived: bool
    disabled: bool
    locked: bool
    has_pull_requests: bool
    parent: str | None
    language: str | None
    topics: Sequence[str]
    properties: Mapping[str, str | list[str]]


class Repository(Store):
    """A git repository with its settings, people and pull requests.

    Attributes may be changed at any time. `lock` guards the git repository and the pull requests.
    It is never held while a request spends its latency, so that writes really overlap.
    """

    def __init__(
        self,
        path: Path,
        template: Store,
        full_name: str,
        number: int,
        *,
        web: str,
        now: Callable[[], float],
        **attributes: Unpack[Attributes],
    ) -> None:
        super().__init__(path, template.default_branch, template, now)
        self.full_name = full_name
        self.former_names: list[str] = []
        self.id = number
        self.web = web
        self.private = attributes.get("private", False)
        self.internal = attributes.get("internal", False)
        self.archived = attributes.get("archived", False)
        self.disabled = attributes.get("disabled", False)
        self.locked = attributes.get("locked", False)
        self.has_pull_requests = attributes.get("has_pull_requests", True)
        self.parent = attributes.get("parent")
        self.language = attributes.get("language")
        self.topics = list(attributes.get("topics", ()))
        self.properties = dict(attributes.get("properties", {}))
        """The custom properties that have a value."""
        self.deleted = False
        self.sso = False
        """Whether its organisation requires single sign-on for every token."""
        self.policy: Refusal | None = None
        """The refusal that every token gets because of a policy of the organisation."""
        self.wants_signatures = False
        """Whether a ruleset allows only signed commits."""
        self.read_only = False
        """Whether no user may push."""
        self.written = Written(now)
        self.has_drafts = True
        """Whether the plan of its owner has draft pull requests."""
        self.collaborators = {"octocat", "hubot", "monalisa", "somebody"}
        self.private_members = set[str]()
        """Members of its organisation who may push, and whose membership is private."""
        self.readers = set[str]()
        """Collaborators who may only read."""
        self.mannequins = set[str]()
        """Accounts that belong to nobody any more."""
        self.teams = {"maintainers"}
        self.hidden_teams = set[str]()
        """Teams that exist, but that no token may see."""
        self.labels = {"bug", "documentation", "enhancement"}
        """The labels that exist; requests of clients add more."""
        self.secrets = set[bytes]()
        """Parts of a file that push protection takes for a secret."""
        self.created_at = self.pushed_at = now()
        self.protections: list[tuple[str, Protection]] = []
        self._pull_requests: list[PullRequest] = []

    @property
    def owner(self) -> str:
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        return self.full_name.partition("/")[2]

    @property
    def visibility(self) -> str:
        if self.private:
            return "internal" if self.internal else "private"
        return "public"

    @property
    def html_url(self) -> str:
        return f"{self.web}/{self.full_name}"

    # Commits and references

    def advance(self, branch: str, expected: str | None, new: str) -> None:
        """Move a branch from the commit `expected` (None: no such branch) to the commit `new`.

        Raises `Refusal` 409 if the branch is no longer at `expected` (PyGithub/PyGithub#1787).
        """
        with self.lock:
            current = self.find_head(branch)
            if current != expected:
                raise Refusal(409, f"is at {current} but expected {expected}")
            self._set_reference(f"refs/heads/{branch}", new)
            self.written.note(f"head {branch}")

    def _set_reference(self, name: str, sha: str) -> None:
        self.point(name, sha)
        self.pushed()

    def pushed(self) -> None:
        """Record a push, and set the head commits of the open pull requests to their branches'."""
        self.pushed_at = self.now()
        for each in self._pull_requests:
            if each.state == "open" and self.is_head(each, each.head):
                each.head_sha = self.find_head(each.head) or each.head_sha

    def commit(
        self,
        changes: Mapping[str, Content | None],
        *,
        branch: str | None = None,
        message: str = "Change by somebody else",
        author: Person | tuple[str, str] = SOMEBODY,
    ) -> str:
        """Commit as somebody else, without checking any rule, and return the id of the commit.

        A branch that does not exist is created at the default branch. None in `changes` deletes
        the path.
        """
        with self.lock:
            branch = branch or self.default_branch
            parent = self.find_head(branch) or self.find_head(self.default_branch)
            person = Person(*author)
            sha = self.build_commit(parent, changes, message, person, person)
            self._set_reference(f"refs/heads/{branch}", sha)
            return sha

    def create_branch(self, name: str, at: str | None = None) -> str:
        """Create or move a branch, and return the id of its commit.

        `at` is a commit, a branch or a tag; by default it is the default branch.
        """
        with self.lock:
            commit = self.resolve(at or self.default_branch)
            if commit is None:
                raise KeyError(at)
            self._set_reference(f"refs/heads/{name}", str(commit.id))
            return str(commit.id)

    def delete_branch(self, name: str) -> None:
        """Delete a branch, which closes its open pull requests."""
        with self.lock:
            self.own().references.delete(f"refs/heads/{name}")
            for pull_request in self._pull_requests:
                if pull_request.state == "open" and self.is_head(pull_request, name):
                    self.close(pull_request.number)

    def create_reference(self, name: str, sha: str) -> None:
        """Create a reference for a client, with all checks.

        Raises `Refusal` 422: `Reference already exists` (renovatebot/renovate#20281); `Reference
        update failed` if the name is below or above another reference, or if a ruleset forbids it
        (actions/github-script#455); other words for a name or a commit that is not valid.
        """
        with self.lock:
            if not name.startswith("refs/") or name.count("/") < 2:
                raise Refusal(
                    422, "Reference name must start with 'refs/' and have at least two slashes."
                )
            if not pygit2.reference_is_valid_name(name):
                raise Refusal(422, f"{name} is not a valid ref name.")
            if len(sha) != 40 or sha not in self.git:
                raise Refusal(422, "Object does not exist")
            if name in self.git.references:
                raise Refusal(422, "Reference already exists")
            if any(
                other.startswith(f"{name}/") or name.startswith(f"{other}/")
                for other in self.git.references
            ) or "ruleset" in self.protections_of(name.removeprefix("refs/heads/")):
                raise Refusal(422, "Reference update failed")
            self._set_reference(name, sha)
            branch = name.removeprefix("refs/heads/")
            self.written.note(f"branch {branch}", f"head {branch}")

    def restore(self, branches: Mapping[str, str], pull_requests: int) -> None:
        """Reset the repository to an earlier state.

        `branches` has the commit of each branch; all other branches are deleted. `pull_requests` is
        the number of pull requests; the ones after that are deleted.
        """
        with self.lock:
            del self._pull_requests[pull_requests:]
            for name in set(self.branches) - branches.keys():
                self.own().references.delete(f"refs/heads/{name}")
            for name, sha in branches.items():
                if self.find_head(name) != sha:
                    self._set_reference(f"refs/heads/{name}", sha)

    # Rules

    def protect(self, branch_pattern: str, kind: Protection = "classic") -> None:
        """Refuse direct writes to the branches of a pattern.

        A ruleset also refuses to create such branches.
        """
        self.protections.append((branch_pattern, kind))

    def protections_of(self, branch: str) -> set[Protection]:
        return {kind for pattern, kind in self.protections if fnmatchcase(branch, pattern)}

    def check_protection(self, branch: str, *, verb: str = "create") -> None:
        """Raise `Refusal` 409 if a rule forbids direct writes to a branch.

        `verb` is `create` or `update`, for the message. The words for a protection are those of
        BobAnkh/auto-generate-changelog#58 and #78; for a ruleset, those of the OpenAPI 409.
        """
        reason = "Changes must be made through a pull request."
        kinds = self.protections_of(branch)
        if "classic" in kinds:
            raise Refusal(409, f"Could not {verb} file: {reason}")
        if kinds:
            raise Refusal(409, f"Repository rule violations found\n\n{reason}\n\n")

    def check_signature(self, *, is_signed: bool) -> None:
        """Raise `Refusal` 409 if a ruleset wants signatures and the commit has none.

        The words are those of grafana/pyroscope-dotnet#386.
        """
        if self.wants_signatures and not is_signed:
            words = "Commits must have verified signatures."
            raise Refusal(409, f"Repository rule violations found\n\n{words}\n\n")

    def check_secrets(self, content: bytes) -> None:
        """Raise `Refusal` 409 if a file contains a secret.

        It is the 409 of the OpenAPI description, with the words of GitHub's web pages.
        """
        if any(secret in content for secret in self.secrets):
            raise Refusal(409, "Repository rule violations found\n\nSecret detected in content\n\n")

    def rename(self, full_name: str) -> None:
        """Give the repository another name. Requests with the old name are redirected."""
        for pull_request in self._pull_requests:
            if pull_request.head_repository == self.full_name:
                pull_request.head_repository = full_name
        self.former_names.append(self.full_name)
        self.full_name = full_name

    def swap_names(self, other: Repository) -> None:
        """Exchange the names of this repository and another one."""
        ours, theirs = self.full_name, other.full_name
        other.rename(f"{theirs}-in-between")
        self.rename(theirs)
        other.rename(ours)

    def delete(self) -> None:
        """Delete the repository. Requests for it are answered 404 from now on."""
        self.deleted = True

    # Pull requests

    @property
    def pull_requests(self) -> list[PullRequest]:
        with self.lock:
            return list(self._pull_requests)

    def association(self, login: str) -> str:
        """Return the `author_association` of an account.

        It is the one that a token gets that does not see private members
        (actions/github-script#643, flutter/flutter#101012).
        """
        if login.lower() == self.owner.lower():
            return "OWNER"
        if login in self.collaborators | self.readers:
            return "COLLABORATOR"
        merged = any(each.merged and each.author == login for each in self._pull_requests)
        return "CONTRIBUTOR" if merged else "NONE"

    def permission(self, login: str) -> str:
        """Return the permission of an account: `admin`, `write`, `read` or `none`.

        Everybody has `read` on a public repository.
        """
        if login.lower() == self.owner.lower():
            return "admin"
        if login in self.collaborators | self.private_members:
            return "write"
        return "none" if self.private else "read"

    def pull_request(self, number: int) -> PullRequest:
        """Return a pull request by its number. Raise `Refusal` 404 if there is none."""
        for pull_request in self._pull_requests:
            if pull_request.number == number:
                return pull_request
        raise not_found()

    def is_head(self, pull_request: PullRequest, branch: str) -> bool:
        return pull_request.head == branch and pull_request.head_repository == self.full_name

    def open_pull_request(
        self,
        *,
        head: str,
        base: str | None = None,
        title: str = "A pull request by somebody else",
        body: str | None = None,
        draft: bool = False,
        author: str = "somebody",
        head_repository: str | None = None,
        maintainer_can_modify: bool = False,
    ) -> PullRequest:
        """Open a pull request without checking any rule.

        With `head_repository` it comes from a branch of that fork. The branch is at the same commit
        as the branch of the same name here or, if there is none, at the commit of the base. The
        stand-in does not serve the fork itself.
        """
        with self.lock:
            base = base or self.default_branch
            base_sha = self.head(base)
            head_sha = self.find_head(head)
            if head_sha is None:
                if head_repository is None:
                    raise KeyError(head)
                head_sha = base_sha
            number = len(self._pull_requests) + 1
            pull_request = PullRequest(
                number=number,
                title=title,
                body=body,
                head=head,
                base=base,
                head_repository=head_repository or self.full_name,
                head_sha=head_sha,
                base_sha=base_sha,
                author=author,
                html_url=f"{self.html_url}/pull/{number}",
                created_at=self.now(),
                updated_at=self.now(),
                draft=draft,
                maintainer_can_modify=maintainer_can_modify,
            )
            self._pull_requests.append(pull_request)
            return pull_request

    def request_pull(
        self,
        *,
        head: str,
        base: str,
        title: str,
        body: str | None,
        draft: bool,
        author: str,
        maintainer_can_modify: bool,
    ) -> PullRequest:
        """Open a pull request for a client, with all checks.

        Raises `Refusal` 422, in most cases with the reason in `errors[].message`, as recorded by
        hub4j/github-api and others.
        """
        with self.lock:
            owner, separator, branch = head.rpartition(":")
            base_sha, head_sha = self.find_head(base), self.find_head(branch)
            if base_sha is None:
                raise invalid("PullRequest", "base")
            if head_sha is None or (separator and owner.lower() != self.owner.lower()):
                raise invalid("PullRequest", "head")
            check_body(body)
            if draft and not self.has_drafts:
                # SWE-agent/SWE-agent#179
                raise Refusal(422, "Draft pull requests are not supported in this repository.")
            if any(
                each.state == "open" and self.is_head(each, branch) and each.base == base
                for each in self._pull_requests
            ):
                raise custom(f"A pull request already exists for {self.owner}:{branch}.")
            if self.merge_base(base_sha, head_sha) is None:
                raise custom(f"The {branch} branch has no history in common with {base}")
            if not self.ahead_behind(head_sha, base_sha)[0]:
                raise custom(f"No commits between {base} and {branch}")
            opened = self.open_pull_request(
                head=branch,
                base=base,
                title=title,
                body=body,
                draft=draft,
                author=author,
                maintainer_can_modify=maintainer_can_modify,
            )
            self.written.note(f"pull request {opened.number}")
            return opened

    def close(self, number: int) -> None:
        """Close a pull request without merging it."""
        with self.lock:
            pull_request = self.pull_request(number)
            pull_request.state = "closed"
            pull_request.closed_at = pull_request.updated_at = self.now()

    def reopen(self, number: int) -> None:
        """Open a closed pull request again.

        Raises `Refusal` 422 if it is merged, if its branch has been deleted or no longer contains
        the last commit of the pull request (pytorch/pytorch#114423, cilium/cilium#47088), or if its
        base has been deleted. The words for a deleted base are not confirmed.
        """
        with self.lock:
            pull_request = self.pull_request(number)
            branch, why = pull_request.head, ""
            head, then = self.find_head(branch), pull_request.head_sha
            if pull_request.merged:
                why = "The pull request has been merged."
            elif head is None:
                why = f"The {branch} branch has been deleted."
            elif self.find_head(pull_request.base) is None:
                why = f"The {pull_request.base} branch has been deleted."
            elif (base := self.merge_base(head, then)) is None or str(base.id) != then:
                why = f"The {branch} branch was force-pushed or recreated."
            if why or head is None:
                message = f"state cannot be changed. {why}"
                raise invalid("PullRequest", "state", "custom", message=message)
            pull_request.state, pull_request.closed_at = "open", None
            pull_request.head_sha = head

    def is_mergeable(self, number: int) -> bool:
        """Return whether the base of a pull request exists and git finds no conflict with it."""
        with self.lock:
            pull_request = self.pull_request(number)
            ours, theirs = self.find_head(pull_request.base), pull_request.head_sha
            if ours is None:
                return False
            found = self.git.merge_commits(pygit2.Oid(hex=ours), pygit2.Oid(hex=theirs))
            return not found.conflicts

    def merge(self, number: int) -> str:
        """Merge a pull request with a merge commit, and return the id of the commit.

        Raises `Refusal` 405 if git finds a conflict
        (https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request).
        """
        with self.lock:
            pull_request = self.pull_request(number)
            if not self.is_mergeable(number):
                raise Refusal(405, "Pull Request is not mergeable")
            merged = self.test_merge(pull_request.base, pull_request.head_sha)
            self._set_reference(f"refs/heads/{pull_request.base}", merged)
            self.close(number)
            pull_request.merged_at = pull_request.closed_at
            pull_request.merge_commit_sha = merged
            return merged

    def merge_into(self, branch: str, commit: str, changes: Mapping[str, Content | None]) -> str:
        """Merge a commit into a branch, with changes in the merge commit itself; return its id.

        The history of a path does not show such changes, because ``git log`` simplifies it.
        """
        with self.lock:
            merged = self.test_merge(branch, commit)
            person = Person(*SOMEBODY)
            changed = self.build_commit(merged, changes, "", person, person)
            tree = self.git[changed].peel(pygit2.Commit).tree_id
            parents = self.git[merged].peel(pygit2.Commit).parent_ids
            message, sign = f"Merge {commit} into {branch}", person.signature(self.now())
            amended = self.own().create_commit(None, sign, sign, message, tree, parents)
            self._set_reference(f"refs/heads/{branch}", str(amended))
            return str(amended)

    def keep_ours(self, branch: str, ours: str, theirs: str) -> str:
        """Point a branch at a merge of two commits with the files of the first; return its id.

        ``git merge -s ours`` makes such a merge.
        """
        with self.lock:
            sign, tree = Person(*SOMEBODY).signature(self.now()), self.commit_at(ours).tree_id
            parents = [pygit2.Oid(hex=ours), pygit2.Oid(hex=theirs)]
            merged = self.own().create_commit(None, sign, sign, f"Merge {theirs}", tree, parents)
            self._set_reference(f"refs/heads/{branch}", str(merged))
            return str(merged)

    def amend(self, branch: str, changes: Mapping[str, Content | None]) -> str:
        """Replace the last commit of a branch by one with these changes; return its id."""
        with self.lock:
            head, person = self.commit_at(self.head(branch)), Person(*SOMEBODY)
            changed = self.build_commit(str(head.id), changes, "", person, person)
            sign, tree = person.signature(self.now()), self.commit_at(changed).tree_id
            message, parents = f"{head.message}, amended", head.parent_ids
            amended = self.own().create_commit(None, sign, sign, message, tree, parents)
            self._set_reference(f"refs/heads/{branch}", str(amended))
            return str(amended)

    def test_merge(self, base: str, head: str) -> str:
        """Merge a commit and a branch in a commit that is on no branch, and return its id.

        If a pull request has started a workflow, `github.sha` is such a commit.
        """
        with self.lock:
            ours, theirs = pygit2.Oid(hex=self.head(base)), pygit2.Oid(hex=head)
            person = Person(*SOMEBODY).signature(self.now())
            tree = self.git.merge_commits(ours, theirs).write_tree(self.own())
            message = f"Merge {head} into {base}"
            merged = self.own().create_commit(None, person, person, message, tree, [ours, theirs])
            return str(merged)


def custom(message: str) -> Refusal:
    error = {"resource": "PullRequest", "code": "custom", "message": message}
    return Refusal(422, "Validation Failed", errors=[error])


def check_body(body: str | None) -> None:
    """Raise `Refusal` 422 if the body of a pull request is too long (github/issue-metrics#258)."""
    if body is not None and len(body) > MAX_BODY:
        message = f"body is too long (maximum is {MAX_BODY} characters)"
        raise invalid("PullRequest", "body", "custom", message=message)
