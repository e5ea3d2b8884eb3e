"""A repository of the stand-in, with git, the rules of its branches, and its pull requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, Unpack

import pygit2

from .acts import Acts
from .journal import PERSON, REGISTRAR, Actor, Change, Journal
from .quirks import Written
from .refusals import Refusal, not_found
from .store import SOMEBODY, Person, Store

NO_BLOB = "0" * 40
"""The id that git gives for a file that does not exist."""

Protection: TypeAlias = Literal["classic", "ruleset"]


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request; `head` and `base` are branch names, `head_repository` an owner/name.

    It can be read only, and always shows the present state. People change it with verbs, such as
    ``repository.person.edit(1, body="mine")`` and ``repository.person.close(1)``.
    """

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
    labels: Sequence[str] = field(default_factory=list)
    assignees: Sequence[str] = field(default_factory=list)
    reviewers: Sequence[str] = field(default_factory=list)
    team_reviewers: Sequence[str] = field(default_factory=list)
    closed_at: float | None = None
    merged_at: float | None = None
    merge_commit_sha: str | None = None
    is_fork_deleted: bool = False
    """Whether the repository of the head has been deleted."""

    @property
    def merged(self) -> bool:
        return self.merged_at is not None


class Attributes(TypedDict, total=False):
    """Attributes with which a repository is created; people can change them later.

    With `internal` the whole enterprise sees a private repository. With `parent`, the full name of
    another repository, the repository is a fork. `protections` are the rules of `Acts.protect`.
    """

    private: bool
    internal: bool
    archived: bool
    disabled: bool
    locked: bool
    has_pull_requests: bool
    has_drafts: bool
    parent: str | None
    language: str | None
    topics: Sequence[str]
    properties: Mapping[str, str | list[str]]
    created_at: float
    sso: bool
    policy: Refusal | None
    wants_signatures: bool
    read_only: bool
    collaborators: Set[str]
    private_members: Set[str]
    readers: Set[str]
    mannequins: Set[str]
    teams: Set[str]
    hidden_teams: Set[str]
    labels: Set[str]
    secrets: Set[bytes]
    protections: Sequence[tuple[str, Protection]]


class Changes(Attributes, total=False):
    """Attributes that people can change, but that are given in another way at the creation."""

    default_branch: str


class Repository(Store):
    """A git repository with its settings, people and pull requests.

    Everything can be read only. Everybody acts through verbs, which stand in the journal of the
    host: ``repository.person.close(1)`` for a person, ``repository.as_registrar.commit(…)`` for an
    earlier run of registrar (`Acts` has all verbs). `lock` guards the git repository and the pull
    requests. It is never held while a request spends its latency, so that writes really overlap.
    """

    private: Final[bool] = False
    internal: Final[bool] = False
    archived: Final[bool] = False
    disabled: Final[bool] = False
    locked: Final[bool] = False
    has_pull_requests: Final[bool] = True
    has_drafts: Final[bool] = True
    """Whether the plan of its owner has draft pull requests."""
    parent: Final[str | None] = None
    language: Final[str | None] = None
    topics: Final[Sequence[str]] = ()
    properties: Final[Mapping[str, str | list[str]]] = MappingProxyType({})
    """The custom properties that have a value."""
    deleted: Final[bool] = False
    sso: Final[bool] = False
    """Whether its organisation requires single sign-on for every token."""
    policy: Final[Refusal | None] = None
    """The refusal that every token gets because of a policy of the organisation."""
    wants_signatures: Final[bool] = False
    """Whether a ruleset allows only signed commits."""
    read_only: Final[bool] = False
    """Whether no user may push."""
    collaborators: Final[Set[str]] = frozenset({"octocat", "hubot", "monalisa", "somebody"})
    private_members: Final[Set[str]] = frozenset()
    """Members of its organisation who may push, and whose membership is private."""
    readers: Final[Set[str]] = frozenset()
    """Collaborators who may only read."""
    mannequins: Final[Set[str]] = frozenset()
    """Accounts that belong to nobody any more."""
    teams: Final[Set[str]] = frozenset({"maintainers"})
    hidden_teams: Final[Set[str]] = frozenset()
    """Teams that exist, but that no token may see."""
    labels: Final[Set[str]] = frozenset({"bug", "documentation", "enhancement"})
    """The labels that exist; requests of clients add more."""
    secrets: Final[Set[bytes]] = frozenset()
    """Parts of a file that push protection takes for a secret."""
    protections: Final[Sequence[tuple[str, Protection]]] = ()
    former_names: Final[Sequence[str]] = ()

    def __init__(
        self,
        path: Path,
        template: Store,
        full_name: str,
        number: int,
        *,
        web: str,
        journal: Journal,
        now: Callable[[], float],
        **attributes: Unpack[Attributes],
    ) -> None:
        super().__init__(path, template.default_branch, template, now)
        self.full_name: Final = full_name
        self.id: Final = number
        self.web: Final = web
        self.journal: Final = journal
        self.written: Final = Written(now)
        self.created_at: Final = now()
        self.pushed_at: Final = self.created_at
        self._pull_requests: list[PullRequest] = []
        self.put(**attributes)

    if not TYPE_CHECKING:
        # mypy knows these mistakes without such a method, and would know fewer with it

        def __setattr__(self, name: str, value: object) -> None:
            if not name.startswith("_") and (name in self.__dict__ or hasattr(type(self), name)):
                raise AttributeError(
                    f"a repository can be read only: use repository.person.change({name}=…)"
                )
            super().__setattr__(name, value)

        def __getattr__(self, name: str) -> object:
            hint = f": use repository.person.{name}(…)" if hasattr(Acts, name) else ""
            raise AttributeError(f"a repository has no attribute {name!r}{hint}")

    def put(self, **attributes: object) -> None:
        """Set attributes for the verbs; everybody else can only read them."""
        self.__dict__.update(attributes)

    @property
    def person(self) -> Acts:
        """The verbs of people: ``repository.person.merge(1)``."""
        return Acts(self, PERSON)

    @property
    def as_registrar(self) -> Acts:
        """The same verbs for an earlier run of registrar that a test does not really start."""
        return Acts(self, REGISTRAR)

    def by(self, actor: Actor) -> Acts:
        """The same verbs for anybody."""
        return Acts(self, actor)

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

    def changed(self, old: str, new: str) -> list[Change]:
        """Return the paths that differ between two commits."""
        with self.lock:
            trees = (self.commit_at(each).tree for each in (old, new))
            found = next(trees).diff_to_tree(next(trees))
            return [
                Change(
                    delta.new_file.path,
                    *(
                        None if str(file.id) == NO_BLOB else str(file.id)
                        for file in (delta.old_file, delta.new_file)
                    ),
                )
                for delta in found.deltas
            ]

    def pushed(self) -> None:
        """Note a push, and set the head commits of the open pull requests to their branches'."""
        self.put(pushed_at=self.now())
        for each in self._pull_requests:
            if each.state == "open" and self.is_head(each, each.head):
                head = self.find_head(each.head) or each.head_sha
                self.change_pull_request(each.number, {"head_sha": head})

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
                    self._point(f"refs/heads/{name}", sha)
                    self.pushed()

    # Rules

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

    def add_pull_request(self, **attributes: Any) -> PullRequest:
        """Add a pull request with these attributes and the next number."""
        number, now = len(self._pull_requests) + 1, self.now()
        added = PullRequest(
            number=number,
            html_url=f"{self.html_url}/pull/{number}",
            created_at=now,
            updated_at=now,
            **attributes,
        )
        self._pull_requests.append(added)
        return added

    def change_pull_request(self, number: int, after: Mapping[str, Any]) -> dict[str, Any]:
        """Set attributes of a pull request for the verbs, and return their earlier values."""
        changed = self.pull_request(number)
        before = {name: getattr(changed, name) for name in after}
        for name, value in after.items():
            object.__setattr__(changed, name, value)
        return before

    def is_mergeable(self, number: int) -> bool:
        """Return whether the base of a pull request exists and git finds no conflict with it."""
        with self.lock:
            pull_request = self.pull_request(number)
            ours, theirs = self.find_head(pull_request.base), pull_request.head_sha
            if ours is None:
                return False
            found = self.git.merge_commits(pygit2.Oid(hex=ours), pygit2.Oid(hex=theirs))
            return not found.conflicts

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
