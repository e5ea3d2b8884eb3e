"""Tokens: the permissions of each kind, and GitHub's refusals of everything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .journal import Actor
from .refusals import Refusal, not_found
from .repository import Repository
from .store import Person

Kind: TypeAlias = Literal["classic", "fine-grained", "installation", "oauth", "user"]

PREFIXES: dict[Kind, str] = {
    "classic": "ghp_",
    "fine-grained": "github_pat_",
    "installation": "ghs_",
    "oauth": "gho_",
    "user": "ghu_",
}
BOT = "github-actions[bot]"
ARCHIVED = "Repository was archived so is read-only."
LOCKED = "Repository has been locked for migration."
"""Nobody has confirmed these words."""
WORKFLOWS = ".github/workflows/"


@dataclass(frozen=True, slots=True)
class Token:
    """A token and the user or App behind it.

    `scopes` count for classic tokens, `permissions` and `repositories` (None: all) for all others.
    `push` says whether the user may push to the repositories. The token is a bad credential before
    `known_from` (seconds since the epoch) and after its first `requests` requests. Listings leave
    out the repositories of the owners in `hidden_by_sso`. With `is_tool` another tool has the
    token, not registrar.
    """

    value: str
    kind: Kind
    login: str
    scopes: tuple[str, ...]
    permissions: Mapping[str, str]
    repositories: tuple[str, ...] | None
    push: bool
    sso: bool
    requests: int | None
    hidden_by_sso: tuple[str, ...]
    known_from: float
    is_tool: bool

    @property
    def actor(self) -> Actor:
        """The actor of its requests: registrar or, with `is_tool`, another tool."""
        return Actor("tool" if self.is_tool else "registrar", self.value)

    @property
    def may_create_labels(self) -> bool:
        return self.kind == "classic" or self._grants("issues=write")

    @property
    def bot(self) -> bool:
        return self.kind == "installation"

    def author(self) -> Person:
        """Return the author of a commit for which the client gives no author."""
        return Person(self.login, f"{self.login}@users.noreply.github.com")

    def role(self, repository: Repository) -> dict[str, bool]:
        """Return the `permissions` of a repository: the user's role; all are false for an App."""
        push = self.may_push(repository) and not self.bot
        return {
            "admin": False,
            "maintain": False,
            "push": push,
            "triage": push,
            "pull": not self.bot,
        }

    def may_push(self, repository: Repository) -> bool:
        """Return whether the user's role on the repository allows to push."""
        return self.push and not repository.read_only

    def covers(self, repository: Repository) -> bool:
        return self.repositories is None or repository.full_name.lower() in {
            name.lower() for name in self.repositories
        }

    def sees(self, repository: Repository) -> bool:
        """Return whether a list shows a repository to this token."""
        try:
            self.require(repository)
        except Refusal:
            return False
        return True

    def _grants(self, need: str) -> bool:
        name, _, level = need.partition("=")
        granted = self.permissions.get(name)
        return granted in {"write", level}

    def require(self, repository: Repository, *needs: str) -> None:
        """Raise `Refusal` unless the token has one of the `needs`, such as `contents=write`.

        It is 404 if the token does not see the repository, or if a classic token may not write;
        403 with X-Accepted-GitHub-Permissions if a permission is missing; 403 with X-GitHub-SSO if
        the organisation requires single sign-on; and 403 for a write to an archived or locked
        repository.
        """
        writing = any(need.endswith("=write") for need in needs)
        if self.kind == "classic":
            scope_holds = "repo" in self.scopes or (
                not repository.private and (not writing or "public_repo" in self.scopes)
            )
            if not scope_holds or (writing and not self.may_push(repository)):
                raise not_found()
        elif repository.private and not self.covers(repository):
            raise not_found()
        if self.sso or repository.sso:
            raise Refusal(
                403,
                "Resource protected by organization SAML enforcement. You must grant your "
                "Personal Access token access to this organization.",
                headers={
                    "X-GitHub-SSO": f"required; url={repository.web}/orgs/{repository.owner}/sso"
                },
                # fwouts/prmonitor#1042
                extensions={"saml_failure": True},
            )
        if repository.policy:
            raise repository.policy
        if self.kind != "classic" and (writing or repository.private) and needs:
            granted = self.covers(repository) and any(map(self._grants, needs))
            if not granted or (writing and not self.bot and not self.may_push(repository)):
                raise self.refusal("; ".join(needs))
        if writing and repository.archived:
            raise Refusal(403, ARCHIVED)
        if writing and repository.locked:
            raise Refusal(403, LOCKED)

    def require_of_organization(self, need: str) -> None:
        """Raise `Refusal` 403 if the token lacks a permission of the organisation."""
        if self.kind != "classic" and not self._grants(need):
            raise self.refusal(need)

    def sees_teams(self) -> bool:
        return self.kind == "classic" or self._grants("members=read")

    def may_read_pull_requests(self, repository: Repository) -> bool:
        return self.kind == "classic" or (
            self.covers(repository) and self._grants("pull_requests=read")
        )

    def require_workflows(self, path: str) -> None:
        """Raise `Refusal` for a workflow file: 404 without the scope, 403 without the permission.

        octokit/octokit.rb#1184 and googleapis/release-please-action#704 show this.
        """
        if not path.startswith(WORKFLOWS):
            return
        if self.kind == "classic":
            if "workflow" not in self.scopes:
                raise not_found()
        elif not self._grants("workflows=write"):
            raise self.refusal("contents=write,workflows=write")

    def refusal(self, accepted: str) -> Refusal:
        """Return the 403 for an App or a fine-grained token that lacks a permission."""
        whom = "personal access token" if self.kind == "fine-grained" else "integration"
        return Refusal(
            403,
            f"Resource not accessible by {whom}",
            headers={"X-Accepted-GitHub-Permissions": accepted},
        )
