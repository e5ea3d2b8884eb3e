"""Explanations of GitHub's answers: what happened, the likely cause, what to do.

`docs/troubleshooting.md` lists them by the messages that users see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple
from urllib.parse import unquote

from registrar import __version__
from registrar.github.request import Request
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
_ADDRESS = re.compile(r"[\w+.-]+://\S+|\b[\w-]+(?:\.[\w-]+)+/\S*")
"""With ``https://`` or without."""
_RUN = re.compile(r"[\w./@:%#-]+")
"""What a name, a path, an id or a number may stand in."""
_QUOTES = frozenset("'\"`")
_LONGEST_NAME = 255
"""Characters; a longer value of a request is a text or a content."""


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


def words_alone(words: str, *names: str) -> str:
    """Leave out of GitHub's words what differs from one request to another.

    ``names`` are owners, repositories, branches and paths; their parts count, too. A name that is a
    word of letters counts as one only between quotation marks: elsewhere it may be a word of the
    sentence (a repository called ``rule``).
    """
    known = {part.lower().strip(".:") for name in names for part in (name, *name.split("/"))}
    paths = [name for name in known if "/" in name]
    words = _ADDRESS.sub("", words.lower())
    # Longer ones first: one may be a part of another
    for name in sorted(known, key=len, reverse=True):
        if " " in name.strip():
            words = words.replace(name, "")

    def bare(matched: re.Match[str]) -> str:
        run = matched[0].strip(".:")
        around = matched.string[: matched.start()][-1:], matched.string[matched.end() :][:1]
        is_quoted = around[0] == around[1] and around[0] in _QUOTES
        is_name = run in known or any(name in run for name in paths)
        # `.editorconfig` is none, and `refused.` is one
        is_word = matched[0].rstrip(".:").isalpha() and not is_quoted
        return "" if (is_name and not is_word) or any(map(str.isdigit, run)) else run

    return " ".join(_RUN.sub(bare, words).split())


def cause_of(
    row: str, answer: Response | NoAnswer, request: Request[object], context: Context
) -> str:
    """Give what answers with one cause share: the ``row`` of the table, and GitHub's words."""
    if isinstance(answer, NoAnswer):
        return row
    address, _, _ = request.target.partition("?")
    path = unquote(address.partition("/contents/")[2])
    in_address = map(unquote, address.split("/"))
    names = {context.target, path, *in_address, *_names_in(request.body)}
    number = answer.headers.get("x-github-request-id", "")
    return f"{row}: {words_alone(answer.message, number, *names)}"


def _names_in(value: object) -> Iterator[str]:
    """Every value of a body that may be a name or a path."""
    if isinstance(value, str) and len(value) <= _LONGEST_NAME:
        yield value
        yield value.removeprefix("refs/heads/")
    elif isinstance(value, dict):
        for each in value.values():
            yield from _names_in(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _names_in(each)
