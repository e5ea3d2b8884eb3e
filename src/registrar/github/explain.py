"""Explanations of GitHub's answers: what happened, the likely cause, what to do.

`docs/troubleshooting.md` lists them by the messages that users see.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from registrar import __version__
from registrar.github.response import NoAnswer, Response
from registrar.texts.escaping import Lines
from registrar.texts.messages import Message, msg

PERMISSIONS = "contents=write; pull_requests=write"
"""What a registration needs, in the form of ``X-Accepted-GitHub-Permissions``."""
API_VERSION = "2022-11-28"
_PERMISSIONS = re.compile(r"[a-z_]+=[a-z]+(?:[;,] *[a-z_]+=[a-z]+)*")
_SSO_PAGE = re.compile(
    r"-|https?://[^/]+/(?:orgs|enterprises)/[\w-]+/sso(?:\?authorization_request=[\w-]+)?", re.ASCII
)
_SSO_URL = re.compile(r"url=(https?://\S+)")


class TokenKind(Enum):
    """Kinds of tokens, recognised by their prefix
    (https://github.blog/engineering/behind-githubs-new-authentication-token-formats/)."""

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


class Context(NamedTuple):
    """What the meaning of an answer depends on, beside its request."""

    host: str | Message
    """Name and port of the API, for people, with the proxy where there is one."""
    target: str
    """Full name of the repository that the requests are about; empty: about no single one."""
    token_kind: TokenKind
    workflow_repository: str
    was_accepted: bool = False
    """Whether any request of the run has succeeded with the token."""

    @property
    def may_be_new(self) -> bool:
        """Whether the token may have been made so recently that GitHub does not know it yet."""
        return self.token_kind is TokenKind.INSTALLATION and not self.was_accepted

    @property
    def is_foreign(self) -> bool:
        """Whether a workflow uses an App's token, or its own, on another repository than its own.

        The two have the same prefix.
        """
        return (
            self.token_kind is TokenKind.INSTALLATION
            and bool(self.target and self.workflow_repository)
            and self.workflow_repository.lower() != self.target.lower()
        )


def explanation(key: str, answer: Response | NoAnswer, context: Context) -> Message:
    """Fill in a text of the catalogue with the details of an answer."""
    if isinstance(answer, NoAnswer):
        seconds = round(answer.seconds)
        return msg(key, host=context.host, detail=answer.detail or "-", seconds=seconds)
    headers = answer.headers
    url = _SSO_URL.search(headers.get("x-github-sso", ""))
    return msg(
        key,
        host=context.host,
        words=answer.message or f"HTTP {answer.status}",
        status=answer.status,
        target=context.target,
        own=context.workflow_repository,
        url=_known(_SSO_PAGE, url[1] if url else "-"),
        needed=_known(_PERMISSIONS, headers.get("x-accepted-github-permissions") or PERMISSIONS),
        location=Lines(headers.get("location") or "-"),
        version=API_VERSION,
        release=__version__,
    )


def _known(form: re.Pattern[str], text: str) -> str:
    """A text from outside, marked as one unless its form shows what is in it."""
    return text if form.fullmatch(text) else Lines(text)
