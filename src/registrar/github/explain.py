"""Why the host refused: its response -> what happened, the likely cause, what to do.

The forms and their sources: docs/github-behaviour.md. What is not recognised is told in GitHub's
own words. `docs/troubleshooting.md` explains every text of this module to users.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from registrar.github.response import (
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    REDIRECTS,
    UNAUTHORIZED,
    Response,
)
from registrar.texts.messages import Message, msg

WORKFLOW_FILES = ".github/workflows/"


class TokenKind(Enum):
    """Kinds of tokens, told apart by their prefix (docs: "GitHub's token formats")."""

    USER = "user"
    FINE_GRAINED = "fine-grained"
    INSTALLATION = "installation"
    """Of an App, or a workflow's own: it authenticates no user."""

    @classmethod
    def of(cls, token: str) -> TokenKind:
        """Kind of ``token``; an unknown prefix counts as a user's."""
        if token.startswith(("ghs_", "v1.")):
            return cls.INSTALLATION
        return cls.FINE_GRAINED if token.startswith("github_pat_") else cls.USER


@dataclass(frozen=True, slots=True)
class Context:
    """What a refusal has to be seen with."""

    target: str
    token_kind: TokenKind
    workflow_repository: str

    @property
    def is_foreign(self) -> bool:
        """Whether a workflow's own token would be used on another repository than its own."""
        return (
            self.token_kind is TokenKind.INSTALLATION
            and bool(self.workflow_repository)
            and self.workflow_repository.lower() != self.target.lower()
        )


def reason(
    response: Response, context: Context, path: str = "", *, writes: bool = False
) -> Message:
    """Explain why ``response`` refuses; ``path`` is the file that was to be created, if any."""
    host = response.message or f"HTTP {response.status}"
    sso = response.headers.get("x-github-sso", "")
    sso_url = re.search(r"url=(\S+)", sso)
    inaccessible = "not accessible by" in host
    workflow_file = path.startswith(WORKFLOW_FILES)
    rules = (
        ("refusal.sso", bool(sso) or "SAML enforcement" in host),
        ("refusal.token_rejected", response.status == UNAUTHORIZED),
        ("refusal.redirect", response.status in REDIRECTS),
        ("refusal.actions_pull_requests", "is not permitted to create or approve" in host),
        ("refusal.archived", "archived" in host),
        ("refusal.empty", "Git Repository is empty" in host),
        ("refusal.ruleset", "rule violations found" in host),
        ("refusal.reference", "Reference update failed" in host),
        ("refusal.branch_protection", "Could not create/update file" in host),
        ("refusal.parent_is_file", "a file exists where" in host),
        ("refusal.malformed_path", "malformed path component" in host),
        ("refusal.workflow_scope", workflow_file and response.status in {NOT_FOUND, FORBIDDEN}),
        ("refusal.own_token", inaccessible and context.is_foreign),
        (
            "refusal.installation_permission",
            inaccessible and context.token_kind is TokenKind.INSTALLATION,
        ),
        ("refusal.fine_grained_permission", inaccessible),
        ("refusal.no_place", writes and response.status == NOT_FOUND),
        ("refusal.contended", response.status == CONFLICT and "expected" in host),
    )
    return msg(
        next((key for key, holds in rules if holds), "refusal.other"),
        host=host,
        status=response.status,
        target=context.target,
        own=context.workflow_repository,
        url=sso_url[1] if sso_url else "-",
        needed=response.headers.get("x-accepted-github-permissions")
        or "contents=write; pull_requests=write",
        location=response.headers.get("location", "-"),
    )
