"""A row of the table of `classify`, and what it is matched against."""

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
"""What a registration needs, in the form of ``X-Accepted-GitHub-Permissions``."""
API_VERSION = "2022-11-28"
MOST_DOUBTED = 2
"""How often in a run it is asked again after GitHub rejected a token that it has accepted."""
_PERMISSIONS = re.compile(r"[a-z_]+=[a-z]+(?:[;,] *[a-z_]+=[a-z]+)*")
_SSO_PAGE = re.compile(
    r"-|https?://[^/]+/(?:orgs|enterprises)/[\w-]+/sso(?:\?authorization_request=[\w-]+)?", re.ASCII
)
_SSO_URL = re.compile(r"url=(https?://\S+)")
# Possessive, and only from where a name begins: a long text needs no more time for each character
_ADDRESS = re.compile(
    r"(?<![\w+.-])[\w+.-]++://\S+|(?<![\w-])(?<![\w-]\.)[\w-]++(?:\.[\w-]++)++/\S*"
)
"""With ``https://`` or without."""
_RUN = re.compile(r"[\w./@:%#-]+")
"""What a name, a path, an id or a number may stand in."""
_QUOTES = frozenset("'\"`")
OF_INSTALLATION = ("ghs_", "v1.")
"""Prefixes of tokens of an App, or a workflow's own; any other counts as a user's
(https://github.blog/engineering/behind-githubs-new-authentication-token-formats/)."""
_LONGEST_NAME = 255
"""Characters; a longer value of a request is a text or a content."""


class Context(NamedTuple):
    """What the meaning of an answer depends on, beside its request."""

    host: str | Message
    """Name and port of the API, for people, with the proxy if there is one."""
    target: str
    """Full name of the repository that the requests are about; empty: about no single one."""
    is_installation: bool
    """Whether the token is an App's, or a workflow's own: it authenticates no user."""
    workflow_repository: str
    was_accepted: bool = False
    """Whether any request of the run has succeeded with the token."""
    rejections: int = 0
    """How often GitHub has rejected the token since, in the whole run."""
    is_of_fork: bool = False
    """Whether a pull request from a fork started the workflow, so that its own token only reads."""

    @property
    def may_be_new(self) -> bool:
        """Whether the token may have been made so recently that GitHub does not know it yet."""
        return self.is_installation and not self.was_accepted

    @property
    def may_be_mistaken(self) -> bool:
        """Whether GitHub may reject a good token: counted over the run, for many become a 403."""
        return self.was_accepted and self.rejections < MOST_DOUBTED

    @property
    def is_foreign(self) -> bool:
        """Whether a workflow uses an App's token, or its own, on another repository than its own.

        The two have the same prefix.
        """
        return (
            self.is_installation
            and bool(self.target and self.workflow_repository)
            and self.workflow_repository.lower() != self.target.lower()
        )


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
        start, end = matched.span()
        before, behind = matched.string[max(start - 1, 0) : start], matched.string[end : end + 1]
        is_quoted = before == behind and before in _QUOTES
        is_name = run in known or any(name in run for name in paths)
        # `.editorconfig` is none, and `refused.` is one
        is_word = matched[0].rstrip(".:").isalpha() and not is_quoted
        return "" if (is_name and not is_word) or any(map(str.isdigit, run)) else run

    return " ".join(_RUN.sub(bare, words).split())


def cause_of(row: str, answer: Response, sent: Sent, context: Context) -> str:
    """Give what answers with one cause share: the ``row`` of the table, and GitHub's words."""
    address, _, _ = sent.target.partition("?")
    path = unquote(address.partition("/contents/")[2])
    in_address = map(unquote, address.split("/"))
    names = {context.target, path, *in_address}
    with suppress(ValueError):
        names |= {*_names_in(json.loads(sent.body))}
    number = answer.headers.get("x-github-request-id", "")
    return f"{row}: {words_alone(answer.message, number, *names)}"


def _names_in(value: object) -> Iterator[str]:
    """Every value of a body that may be a name or a path."""
    if isinstance(value, str) and len(value) <= _LONGEST_NAME:
        yield value
        yield value.removeprefix("refs/heads/")
    elif isinstance(value, (dict, list, tuple)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _names_in(each)


INACCESSIBLE = "not accessible by"
UNREADABLE = frozenset({"FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES"})
"""Types of the errors about what the token may not read; any other is about this one answer."""
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
    """An answer with its request, and whether "not there" may be lag."""

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
        """Whether it is GraphQL, which answers 200 to what it refuses, too."""
        return self.sent.target == GRAPHQL

    @property
    def refused(self) -> bool:
        """Whether nothing was done, or the question was not answered."""
        return self.status >= 400 or (self.is_graphql and self.status == 200)

    def says(self, *phrases: str) -> bool:
        return any(phrase in self.message for phrase in phrases)

    def refers_to(self, *pages: str) -> bool:
        """Whether the address of the documentation contains one of these."""
        address = self.field("documentation_url")
        return isinstance(address, str) and any(page in address for page in pages)

    def posts(self, what: str) -> bool:
        """Whether the request is a POST to an address that ends with ``what``."""
        return self.sent.method == "POST" and self.sent.target.endswith(f"/{what}")

    def commits(self, beginning: str) -> bool:
        """Whether the request is a commit, by GraphQL, with a file below a directory."""
        with suppress(ValueError, TypeError, LookupError):
            commit = json.loads(self.sent.body)["variables"]["commit"]
            added = commit["fileChanges"]["additions"]
            return self.is_graphql and any(each["path"].startswith(beginning) for each in added)
        return False

    def names(self, code: str, field: str) -> bool:
        return any(
            isinstance(e, dict) and e.get("field") == field and e.get("code") == code
            for e in self.details
        )

    @property
    def lacks_only_a_signature(self) -> bool:
        """Whether a file was not committed by REST because a rule wants a signature, and no other
        rule stands in the way."""
        return self.sent.method == "PUT" and _SIGNATURE_ALONE.fullmatch(self.message) is not None

    @property
    def misses_pull_request(self) -> bool:
        """Whether the id that GitHub does not find is one of a pull request."""
        matched = _UNRESOLVED.search(self.message)
        return matched is not None and matched[1].startswith(_PULL_REQUEST_IDS)

    @property
    def repository_is_missing(self) -> bool:
        """Whether a repository is missing, and nothing else is wrong."""
        return bool(self.errors) and all(
            error.type == "NOT_FOUND" and len(error.path) == 1 for error in self.errors
        )


class Row(NamedTuple):
    """One row of the table: when it applies, what that means, what to do about it."""

    kind: Kind
    text: str
    """Key of the explanation in the catalogue."""
    status: tuple[int, ...] = ()
    """Any refusal when empty."""
    says: tuple[str, ...] = ()
    """GitHub's message contains one of these."""
    when: Callable[[Case], bool] = lambda _: True
    tries: int = 1
    """How often the request may be sent in all; limits and lag have their own bounds."""
    may_have_been_applied: bool = False
    """Whether a write that met this may have been done."""
    at_least_a_minute: bool = False
    gave_up: str = ""
    """Key of the text when all tries have failed."""
    told: str = ""
    """Key of the explanation for those who may not know the repository: of the answer it takes
    GitHub's words alone, which are not shown to them. Empty: they are told the kind."""

    @property
    def name(self) -> str:
        """The same for every answer that this row, or one that says the same, applies to."""
        return f"{self.kind.name} {self.text}"

    def holds(self, case: Case) -> bool:
        return (
            (case.status in self.status if self.status else case.refused)
            and (not self.says or case.says(*self.says))
            and self.when(case)
        )


class Outcome(NamedTuple):
    """What a failure means, and what to do about it."""

    row: Row
    reason: Message
    cause: str = ""
    """GitHub's words without names, numbers and addresses: two answers that differ in nothing else
    have one cause."""
    told: Message | None = None
    """The reason for those who may not know which repository it is about."""
    pause: float | None = None
    """Seconds that GitHub asks to wait; ``None``: we choose."""

    @property
    def kind(self) -> Kind:
        return self.row.kind
