"""Names of private repositories are kept out of what a run publishes.

A private or internal repository is shown by its number: ``octo-org/(id 866827919)``; who may see it
finds it by that. Of what GitHub and the caller's texts say about it nothing is shown but its listed
paths. GitHub's own words are shown only where the request was about one repository that is public.
They may still name a private one, as may a text of ours: so every name that any answer has shown to
be private is replaced wherever it stands.
"""

import html
import re
from urllib.parse import unquote

from registrar.models.repository import Repository
from registrar.texts.escaping import FromProperty, Lines, Open, Redactor
from registrar.texts.messages import Scope

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_ENDING = re.compile(r"(\.wiki)?(\.git)?[._]*$", re.IGNORECASE)
"""What is no part of a name: that of an address for git, and of a sentence."""
_NOT_SHOWN = "…"
_OF_JSON = re.compile(r"\\u([0-9a-f]{4})", re.IGNORECASE)
_MOST_ESCAPES = 10
"""How often a text may be escaped, one time over the other, before it is not looked through."""


class HiddenNames:
    """The names of private repositories, as far as answers have told them."""

    def __init__(self) -> None:
        self._names: dict[int, set[str]] = {}
        """Every name (``owner/repo``, in lower case) under which a repository was seen."""
        self._hidden: dict[str, str] = {}
        """What is shown for ``owner/repo``, and for ``repo`` alone."""
        self._owners = set[str]()
        self._full_name = re.compile(r"(?!)")

    def see(self, repository: Repository) -> None:
        """Take note of what an answer says; once it is private, all its names are hidden."""
        names = self._names.setdefault(repository.id, set())
        names.add(repository.full_name.lower())
        if repository.is_public and not any(map(self._hidden.get, names)):
            return
        hidden = f"(id {repository.id})"
        for name in names:
            owner, _, repo = name.partition("/")
            self._hidden |= {f"{owner}/{repo}": hidden, repo: hidden}
            if owner not in self._owners:
                self._owners.add(owner)
                owners = "|".join(map(re.escape, sorted(self._owners, reverse=True)))
                pattern = rf"(?<![A-Za-z0-9-])({owners})(/|%2F)([\w.-]+)"
                self._full_name = re.compile(pattern, re.ASCII | re.IGNORECASE)

    def in_text(self, text: str) -> str:
        """Replace every ``owner/repo``."""
        return self._full_name.sub(self._replaced, text)

    def in_words(self, text: str) -> str:
        """The same in words of GitHub, which may name a repository without its owner."""
        return _NAME.sub(self._replaced_alone, self.in_text(text))

    def are_escaped_in(self, text: str) -> bool:
        """Whether a name may stand in it in the escapes of an address, of HTML or of JSON."""
        for _ in range(_MOST_ESCAPES):
            escaped, text = text, html.unescape(unquote(text)).replace("\\/", "/")
            text = _OF_JSON.sub(lambda found: chr(int(found[1], 16)), text)
            if text == escaped:
                return False
            if self.in_words(text) != text:
                return True
        return True

    def _replaced(self, matched: re.Match[str]) -> str:
        owner, slash, repo = matched.groups()
        return f"{owner}{slash}{self._without(repo, owner)}"

    def _replaced_alone(self, matched: re.Match[str]) -> str:
        return self._without(matched[0])

    def _without(self, text: str, owner: str = "") -> str:
        """Replace a name; an underscore may be a part of it, or put it in italics."""
        for name in (text, _ENDING.sub("", text), _ENDING.sub("", text.lstrip("_"))):
            if shown := self._hidden.get(f"{owner}/{name}".lower() if owner else name.lower()):
                return text.replace(name, shown, 1)
        return text


class Redaction:
    """What may stand where.

    The token is in nothing that is printed or reported. Names of private repositories are in no
    output, because outputs travel to other jobs, and in nothing else where others read the log.
    """

    def __init__(self, token: str, instead_of_words: str) -> None:
        """``instead_of_words`` is shown where GitHub's words may hold a private name."""
        self.without_token = Redactor(token)
        self.hidden_names = HiddenNames()
        self.is_log_public = False
        """Whether others read the log; otherwise only outputs are without the names."""
        self._instead_of_words = instead_of_words

    def for_outputs(self, text: str, scope: Scope | None = None) -> str:
        """Make a text fit for the outputs; ``scope`` is that of the repository that it is about."""
        if isinstance(text, FromProperty):
            return self.without_token(text.template)
        if isinstance(text, Lines) and (scope is not None or not text.is_public):
            return self._instead_of_words
        if scope is not None and not isinstance(text, Open):
            return scope.get(text, _NOT_SHOWN)
        names, is_theirs = self.hidden_names, isinstance(text, Lines)
        text = self.without_token(text)
        if is_theirs and names.are_escaped_in(text):
            return self._instead_of_words
        return names.in_words(text) if is_theirs else names.in_text(text)

    def for_log(self, text: str, scope: Scope | None = None) -> str:
        """Make a text fit for the log, the summary and the report."""
        return self.for_outputs(text, scope) if self.is_log_public else self.without_token(text)
