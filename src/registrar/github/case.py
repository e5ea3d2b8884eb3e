"""The types of `classify`: a row of its table, the answer that it is compared with, the meaning."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from registrar import __version__
from registrar.errors import Kind
from registrar.github.answer import GRAPHQL, GraphQLError, Response, Sent
from registrar.texts.escaping import Lines
from registrar.texts.messages import Message, msg

PERMISSIONS = "contents=write; pull_requests=write"
"""The permissions that a registration needs, written as in ``X-Accepted-GitHub-Permissions``."""
API_VERSION = "2022-11-28"
MOST_DOUBTED = 2
"""How many rejections in a row may be mistakes of GitHub, if it has accepted the token before. Each
success begins the count again, so a long run may meet any number of such mistakes."""
_PERMISSIONS = re.compile(r"[a-z_]+=[a-z]+(?:[;,] *[a-z_]+=[a-z]+)*")
_SSO_PAGE = re.compile(
    r"-|https?://[^/]+/(?:orgs|enterprises)/[\w-]+/sso(?:\?authorization_request=[\w-]+)?", re.ASCII
)
_SSO_URL = re.compile(r"url=(https?://\S+)")
# Possessive quantifiers and lookbehinds keep the time proportional to the length of a text
_ADDRESS = re.compile(
    r"(?<![\w+.-])[\w+.-]++://\S+|(?<![\w-])(?<![\w-]\.)[\w-]++(?:\.[\w-]++)++/\S*"
)
"""An address, with ``https://`` or without."""
_RUN = re.compile(r"[\w./@:%#-]+")
"""Characters in a row that may be, or contain, a name, a path, an id or a number."""
_QUOTES = frozenset("'\"`")
_PREFIX = re.compile(r"gh[a-z]_|github_pat_|v1\.")
_OF_INSTALLATION = frozenset({"ghs_", "v1."})
"""Prefixes of an App's token and of a workflow's own. Any other token counts as a user's
(https://github.blog/engineering/behind-githubs-new-authentication-token-formats/)."""
OF_APP = frozenset({"gho_", "ghu_"})
"""Prefixes of a token with which an app acts for a user: an OAuth app such as `gh`, a GitHub App.
"""
_LONGEST_NAME = 255
"""In characters. A longer value of a request is not a name, but a text or the content of a file."""


class Context(NamedTuple):
    """The facts about the run and its token on which the meaning of an answer depends."""

    host: str | Message
    """Name and port of the API, for people, with the proxy if there is one."""
    target: str
    """Full name of the repository that the requests are about; empty if they are about many."""
    prefix: str
    """The prefix of the token, which shows its kind; empty if it has none."""
    workflow_repository: str
    was_accepted: bool = False
    """Whether any request of the run has succeeded with the token."""
    rejections: int = 0
    """How often in a row GitHub has rejected the token after it had accepted it."""
    is_of_fork: bool = False
    """Whether a pull request from a fork started the workflow, so that its own token only reads."""

    @property
    def is_installation(self) -> bool:
        """Whether the token is an App's or a workflow's own. It authenticates no user."""
        return self.prefix in _OF_INSTALLATION

    @property
    def may_be_new(self) -> bool:
        """Whether the token may have been made so recently that GitHub does not know it yet."""
        return self.is_installation and not self.was_accepted

    @property
    def may_be_mistaken(self) -> bool:
        """Whether a rejection may be a mistake of GitHub, because it has accepted the token before.

        Only a few in a row count as such, because GitHub answers 403 after too many rejections.
        """
        return self.was_accepted and self.rejections < MOST_DOUBTED

    @property
    def is_foreign(self) -> bool:
        """Whether a workflow uses an App's token, or its own, on another repository than its own.

        Both kinds of token have the same prefix, so they cannot be told apart.
        """
        return (
            self.is_installation
            and bool(self.target and self.workflow_repository)
            and self.workflow_repository.lower() != self.target.lower()
        )


def prefix_of(token: str) -> str:
    """Return the prefix that shows the kind of a token; empty if the token has none."""
    found = _PREFIX.match(token)
    return found[0] if found else ""


def explanation(key: str, answer: Response, context: Context) -> Message:
    """Fill in a text of the catalogue with the details of an answer."""
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
    """Return a text of GitHub as it is if it has the known form, otherwise marked as `Lines`."""
    return text if form.fullmatch(text) else Lines(text)


def words_alone(words: str, *names: str) -> str:
    """Remove addresses, names and numbers, which differ between requests, from GitHub's words.

    ``names`` are owners, repositories, branches and paths; the parts between their slashes are
    removed, too. A name of letters alone is removed only between quotation marks, because elsewhere
    it may be a word of the sentence (for example, of a repository called ``rule``). The result is
    in lower case.
    """
    known = {part.lower().strip(".:") for name in names for part in (name, *name.split("/"))}
    paths = [name for name in known if "/" in name]
    words = _ADDRESS.sub("", words.lower())
    # Longer names first, because a name may be a part of another one
    for name in sorted(known, key=len, reverse=True):
        if " " in name.strip():
            words = words.replace(name, "")

    def bare(matched: re.Match[str]) -> str:
        run = matched[0].strip(".:")
        start, end = matched.span()
        before, behind = matched.string[max(start - 1, 0) : start], matched.string[end : end + 1]
        is_quoted = before == behind and before in _QUOTES
        is_name = run in known or any(name in run for name in paths)
        # `refused.` is a word of the sentence, `.editorconfig` is not
        is_word = matched[0].rstrip(".:").isalpha() and not is_quoted
        return "" if (is_name and not is_word) or any(map(str.isdigit, run)) else run

    return " ".join(_RUN.sub(bare, words).split())


def cause_of(row: str, answer: Response, sent: Sent, context: Context) -> str:
    """Return the identity of a cause: the ``row`` of the table, and GitHub's words without names.

    Answers have the same cause if their identities are equal.
    """
    address, _, _ = sent.target.partition("?")
    path = unquote(address.partition("/contents/")[2])
    in_address = map(unquote, address.split("/"))
    names = {context.target, path, *in_address}
    with suppress(ValueError):
        names |= {*_names_in(json.loads(sent.body))}
    number = answer.headers.get("x-github-request-id", "")
    return f"{row}: {words_alone(answer.message, number, *names)}"


def _names_in(value: object) -> Iterator[str]:
    """Yield every value of a request's body that may be a name or a path."""
    if isinstance(value, str) and len(value) <= _LONGEST_NAME:
        yield value
        yield value.removeprefix("refs/heads/")
    elif isinstance(value, (dict, list, tuple)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _names_in(each)


INACCESSIBLE = "not accessible by"
NOT_PERMITTED = "does not have the correct permissions"
UNREADABLE = frozenset({"FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES"})
"""Types of GraphQL errors about things that the token may not read. An error of another type is
about this one answer, so another try may succeed."""
_UNRESOLVED = re.compile("global id of '([^']*)'")
_SIGNATURE_ALONE = re.compile(
    r"(?:Repository rule violations found(?: for \S+)?|Could not (?:create|update) file:)?"
    r"(?:[\s;-]|Review all repository rules at \S+)*"
    r"Commits must have verified signatures\.?"
    r"(?:[\s;:.]|Found 1 violation|\b[0-9a-f]{40}\b)*"
)
_PULL_REQUEST_IDS = ("PR_", "MDExOlB1bGxSZXF1ZXN0")
"""How the ids of pull requests begin, in the new form and in the old
(https://docs.github.com/en/graphql/guides/migrating-graphql-global-node-ids)."""


@dataclass(frozen=True)
class Case(Response):
    """An answer with its request and the facts on which its meaning depends.

    ``may_lag`` says whether "not found" may mean "not known everywhere yet".
    """

    sent: Sent
    writes: bool
    """Whether the request changes something."""
    context: Context
    may_lag: bool

    @property
    def errors(self) -> tuple[GraphQLError, ...]:
        return self.graphql_errors if self.is_graphql else ()

    @property
    def types(self) -> frozenset[str]:
        return frozenset(error.type for error in self.errors)

    @property
    def is_graphql(self) -> bool:
        """Whether the request is a GraphQL request, whose refusals have status 200, too."""
        return self.sent.target == GRAPHQL

    @property
    def refused(self) -> bool:
        """Whether GitHub did nothing, or did not answer the question."""
        return self.status >= 400 or (self.is_graphql and self.status == 200)

    def says(self, *phrases: str) -> bool:
        return any(phrase in self.message for phrase in phrases)

    def refers_to(self, *pages: str) -> bool:
        """Whether the address in ``documentation_url`` contains one of these texts."""
        address = self.field("documentation_url")
        return isinstance(address, str) and any(page in address for page in pages)

    def posts(self, what: str) -> bool:
        """Whether the request is a POST to an address that ends with ``what``."""
        return self.sent.method == "POST" and self.sent.target.endswith(f"/{what}")

    def commits(self, beginning: str) -> bool:
        """Whether the request is a GraphQL commit that adds a path with this ``beginning``."""
        with suppress(ValueError, TypeError, LookupError):
            commit = json.loads(self.sent.body)["variables"]["commit"]
            added = commit["fileChanges"]["additions"]
            return any(each["path"].startswith(beginning) for each in added)
        return False

    def names(self, code: str, field: str) -> bool:
        return any(
            isinstance(e, dict) and e.get("field") == field and e.get("code") == code
            for e in self.details
        )

    @property
    def lacks_only_a_signature(self) -> bool:
        """Whether GitHub refused a file by REST only because a rule requires signed commits."""
        return self.sent.method == "PUT" and _SIGNATURE_ALONE.fullmatch(self.message) is not None

    @property
    def misses_pull_request(self) -> bool:
        """Whether the id that GitHub does not find is one of a pull request."""
        matched = _UNRESOLVED.search(self.message)
        return matched is not None and matched[1].startswith(_PULL_REQUEST_IDS)

    @property
    def repository_is_missing(self) -> bool:
        """Whether all errors of a GraphQL answer say that a repository was not found."""
        return bool(self.errors) and all(
            error.type == "NOT_FOUND" and len(error.path) == 1 for error in self.errors
        )


class RefusalRow(NamedTuple):
    """One row of the table: the answers to which it applies, their meaning, and the remedy."""

    kind: Kind
    text: str
    """Key of the explanation in the catalogue."""
    status: tuple[int, ...] = ()
    """The row applies to these statuses; empty: to any refusal."""
    says: tuple[str, ...] = ()
    """GitHub's message contains one of these texts; empty: the message does not matter."""
    when: Callable[[Case], bool] = lambda _: True
    tries: int = 1
    """How often the request may be sent in all; limits and lag have their own bounds."""
    may_have_been_applied: bool = False
    """Whether a write that got such an answer may have been applied."""
    at_least_a_minute: bool = False
    """Whether to wait a minute or more before the next try, even if GitHub asks for less."""
    gave_up: str = ""
    """Key of the text when all tries have failed."""

    @property
    def name(self) -> str:
        """The kind and the text, which are equal for rows with the same explanation."""
        return f"{self.kind.name} {self.text}"

    def holds(self, case: Case) -> bool:
        return (
            (case.status in self.status if self.status else case.refused)
            and (not self.says or case.says(*self.says))
            and self.when(case)
        )


class Meaning(NamedTuple):
    """The meaning of a failure, and its remedy."""

    row: RefusalRow
    reason: Message
    cause: str = ""
    """The name of the row, with GitHub's words without names, numbers and addresses. Two answers
    that differ only in these have the same cause."""
    pause: float | None = None
    """Seconds that GitHub asks to wait; ``None`` if GitHub names no time."""

    @property
    def kind(self) -> Kind:
        return self.row.kind
