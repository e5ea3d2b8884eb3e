"""Names of private repositories are kept out of what a run publishes."""

from __future__ import annotations

import html
import re
import string
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote, unquote

from registrar.models.selection import ListedRepository
from registrar.texts.escaping import FromProperty, Lines, Redactor

_NAME = r"[A-Za-z0-9._-]+"
_NAME_IN_TEXT = r"(?:(?!\.{3})[A-Za-z0-9._-])+"
"""Three dots stand between two branches in an address of GitHub."""
_WORD = re.compile(r"(?<![A-Za-z0-9._/-])[A-Za-z0-9._-]+(?![A-Za-z0-9_/-])")
_ENDINGS = (r"\.git$", r"(?<!\.)\.+$")
"""What is no part of a name: that of an address for git, and of a sentence."""
_SUFFIXES = (r"-[0-9]+\.*$",)
"""What the name of a branch ends with when the first choice was taken."""
_PLACEHOLDERS = {
    "count": "[0-9]+",
    "path": ".*?",
    "property": ".*?",
    "run_url": r"\S*",
}
_KNOWN_TO_ALL = frozenset({".github", ".github-private"})
"""Names that GitHub itself gave a meaning: they say nothing about whoever has them."""
_OF_GITHUB = re.compile(r"https?://(?:docs|support)\.github\.com[A-Za-z0-9/_.#@-]*")
"""Pages of GitHub's own, whose addresses hold words that may be names, too."""
_WITHOUT_NAMES = frozenset(
    {
        "Bad credentials",
        "Not Found",
        "Requires authentication",
        "Resource not accessible by integration",
        "Resource not accessible by personal access token",
    }
)
"""Words of GitHub that hold no name, whatever its repositories are called."""
_AFTER_OWNER = re.compile(r"[A-Za-z0-9._-]+")
_NO_REPOSITORY = re.compile(r"(?:@|(?:orgs|organizations|enterprises|users)/)$", re.IGNORECASE)
"""In front of an owner: what follows the slash behind it is a team, or a page about the owner."""
_PART_OF_ADDRESS = frozenset("/\\=%&?#@~+_")
_MOST_PARTS = 100
"""Parts of one word that are looked at; it is in doubt if it has more."""
_MOST_CHARACTERS = 5_000
"""Characters of GitHub's words that are looked at: more are not shown anyway."""
_ROUNDS = 4
"""How often a text may be escaped; it is in doubt if it is escaped more often."""
_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})")


class HiddenNames:
    """Replaces names (``owner/repo``) by the repositories' numbers, wherever they stand in a text.

    So it does with the name in texts that the caller made of it: a branch ``add/{repo}``. Those who
    may see the repository find it by the number: ``GET /repositories/{id}``.
    """

    def __init__(self, instead: str = "") -> None:
        """Nothing is hidden yet; ``instead`` is shown for words that may hold a name."""
        self.is_log_public = False
        """Whether others read the log; otherwise only outputs are without the names."""
        self._instead = instead
        self._is_listing = False
        """Whether it is not yet known which names are those of private repositories."""
        self._shown: dict[str, str] = {}
        """What is shown for ``owner/repo``, and for ``repo`` alone; nothing where it is public.

        The keys are in lower case.
        """
        self._names: dict[str, set[str]] = {}
        """All names of a repository that was seen under several, by each of them; in lower case."""
        self._numbers: dict[str, int] = {}
        """The number of a repository, by each of its names in lower case."""
        self._values = set[str]()
        """Values of custom properties, in lower case."""
        self._owners = set[str]()
        self._lists = set[str]()
        self._templates = set[str]()
        self._patterns: list[re.Pattern[str]] = []

    def begin(self, *, may_be_public: bool) -> None:
        """Until `hide` is called, any word of GitHub may be a private name."""
        self.is_log_public, self._is_listing = may_be_public, True

    def hide(
        self,
        repositories: Iterable[ListedRepository],
        templates: Collection[str],
        *,
        property_names: Collection[str],
        lists: Collection[str],
        is_public: bool,
    ) -> None:
        """From now on hide the names of those that are private or internal.

        ``templates`` are those of texts that may be published, with ``{repo}`` for the name and
        ``{profile}`` for one of ``lists``. ``property_names`` are the custom properties (in lower
        case) in texts, whose values GitHub may repeat. ``is_public`` says that others read the log.
        """
        self.is_log_public, self._is_listing = is_public, False
        self._lists.update(re.escape(each) for each in lists)
        self._templates.update(each for each in templates if _names_repository(each))
        # Public ones, too: `api-2` may be such a name, and not the second branch for a hidden `api`
        for each in repositories:
            name = each.full_name.lower()
            self._numbers[name] = each.id
            self._show(name, "" if each.visibility == "public" else f"(id {each.id})")
            if each.visibility != "public":
                known = each.properties or {}
                values = (value for key in property_names for value in known.get(key, ()))
                self._values.update(value.lower() for value in values if value)
        self._make_patterns()

    def seen(self, known_as: str, name: str, *, is_private: bool | None = None) -> None:
        """Take note of what a later answer says about a listed repository.

        Once it was private, all its names are hidden. Where it is not said (``None``), a name that
        is not known to be public is hidden: it may be a new one.
        """
        known_as, name = known_as.lower(), name.lower()
        if known_as not in self._numbers:
            return
        names, number = self._names.get(known_as, {known_as}), self._numbers[known_as]
        was_hidden = any(map(self._shown.get, names))
        if name in names and (was_hidden or not is_private):
            return
        names.add(name)
        self._names |= dict.fromkeys(names, names)
        self._numbers[name] = number
        for each in names if is_private else {name}:
            is_public = is_private is False and not was_hidden
            self._show(each, "" if is_public else f"(id {number})")
        self._make_patterns()

    def _show(self, full_name: str, shown: str) -> None:
        owner, _, name = full_name.partition("/")
        self._owners.add(re.escape(owner))
        for key in (f"{owner}/{name}", name):
            # Another owner may have a public repository of the same name
            self._shown[key] = shown or self._shown.get(key, "")

    def _make_patterns(self) -> None:
        owners = "|".join(sorted(self._owners, reverse=True))
        # An escaped slash: the name may be a part of an address
        whole = rf"(?<![A-Za-z0-9_-])(?P<owner>{owners})(?:/|%2F)(?P<repo>{_NAME})"
        fields = {
            **_PLACEHOLDERS,
            "owner": f"(?:{owners})",
            "profile": f"(?:{'|'.join(sorted(self._lists, reverse=True))})",
        }
        texts = (_pattern(each, fields) for each in sorted(self._templates))
        self._patterns = [re.compile(each, re.IGNORECASE) for each in (whole, *texts)]
        self._owner_in_words = re.compile(rf"(?<![A-Za-z0-9-])({owners})/+", re.IGNORECASE)

    def __call__(self, text: str) -> str:
        """Give back ``text`` without any hidden name."""
        for pattern in self._patterns:
            text = pattern.sub(self._replacement, text)
        return text

    def in_message(self, text: str) -> str:
        """Give back GitHub's own words, or what is shown instead where they may hold a name.

        They may name a repository without its owner, and in an address in escaped form. A name
        that may be an ordinary word is looked for between quotation marks and in addresses only:
        elsewhere a gap in the sentence would tell it.
        """
        if self._is_listing:
            return text if text in _WITHOUT_NAMES else self._instead
        if not self._patterns:
            return text
        if len(text) > _MOST_CHARACTERS:
            return self._instead
        shown = _WORD.sub(self._word, self(text))
        return self._instead if self._may_hold_name(shown) else shown

    def _may_hold_name(self, words: str) -> bool:
        for _ in range(_ROUNDS):
            plain = _OF_GITHUB.sub("", words)
            if any(value in plain.lower() for value in self._values):
                return True
            if self._names_unknown(plain) or any(map(self._holds_name, _words(plain))):
                return True
            decoded = _decoded(words)
            if decoded == words:
                return False
            words = decoded
        return True

    def _names_unknown(self, words: str) -> bool:
        """Whether an owner is followed by what is not the name of a public repository."""
        for matched in self._owner_in_words.finditer(words):
            after = _AFTER_OWNER.match(words, matched.end())
            if after is None or _NO_REPOSITORY.search(words[: matched.start()]):
                continue
            owner, name = matched[1].lower(), after[0].lower()
            endings = (*_ENDINGS, r"\.git\.+$", r"\.wiki(\.git)?\.*$")
            if not any(
                self._shown.get(f"{owner}/{each}") == "" for each in _possible_names(name, endings)
            ):
                return True
        return False

    def _holds_name(self, matched: re.Match[str]) -> bool:
        """Whether a hidden name is a part of a word, from one boundary to another.

        No boundary is where a letter, a digit, a hyphen or a dot followed by one stands.
        """
        word = matched[0].lower()
        cuts = [at for at, character in enumerate(word) if character in "._"]
        if len(cuts) > _MOST_PARTS:
            return True
        begins = sorted({0, *cuts, *(at + 1 for at in cuts)})
        ends = sorted({len(word), *cuts, *(at + 1 for at in cuts)})
        for begin in begins:
            for end in ends:
                name = word[begin:end]
                if name in _KNOWN_TO_ALL or not self._shown.get(name):
                    continue
                if _is_no_word(name) or self._is_in_address(matched, begin, end):
                    return True
        return False

    def _is_in_address(self, matched: re.Match[str], begin: int, end: int) -> bool:
        """Whether a part of a word, which may be an ordinary one, stands where names do."""
        text, begin, end = matched.string, matched.start() + begin, matched.start() + end
        before, after, next_one = text[:begin][-1:], text[end : end + 1], text[end + 1 : end + 2]
        if after == "." and next_one.isalnum():
            return False
        return before in _PART_OF_ADDRESS or after in _PART_OF_ADDRESS

    def _word(self, matched: re.Match[str]) -> str:
        around = matched.string[: matched.start()][-1:], matched.string[matched.end() :][:1]
        is_quoted = around[0] == around[1] and around[0] in {"'", '"', "`"}
        for name in _possible_names(matched[0], _ENDINGS):
            if not (is_quoted or _is_no_word(name)):
                continue
            if shown := self._shown.get(name.lower()):
                return matched[0].replace(name, shown)
        return matched[0]

    def _replacement(self, matched: re.Match[str]) -> str:
        owner = matched.groupdict().get("owner")
        endings = _ENDINGS if owner else _ENDINGS + _SUFFIXES
        for name in _possible_names(matched["repo"], endings):
            shown = self._shown.get(f"{owner}/{name}".lower() if owner else name.lower())
            if shown == "":
                break
            if shown:
                begin = matched.start("repo") - matched.start()
                return matched[0][:begin] + matched[0][begin:].replace(name, shown)
        return matched[0]


def _words(text: str) -> Iterator[re.Match[str]]:
    return _AFTER_OWNER.finditer(text)


def _decoded(text: str) -> str:
    """Undo one layer of the escapes of addresses, HTML and JSON."""
    text = _ESCAPED.sub(lambda matched: chr(int(matched[1], 16)), text.replace("\\/", "/"))
    return html.unescape(unquote(text))


def _is_no_word(name: str) -> bool:
    """Whether a name is neither a word of letters nor a number."""
    return not (name.isalpha() or name.isdecimal())


def _possible_names(text: str, endings: Sequence[str]) -> Iterator[str]:
    """What in ``text`` may be a name, the longest first."""
    leading = len(text) - len(text.lstrip("."))
    # No name has more characters, and `_holds_name` is in doubt about such a word
    for begin in range(min(leading, _MOST_PARTS) + 1):
        yield text[begin:]
        for ending in endings:
            yield re.sub(ending, "", text[begin:])


def _names_repository(template: str) -> bool:
    return any(field == "repo" for _, field, _, _ in string.Formatter().parse(template))


def _pattern(template: str, fields: Mapping[str, str]) -> str:
    """A pattern for what ``template`` becomes, as it is or in an address.

    ``fields`` has the patterns of the placeholders besides ``{repo}``.
    """
    pattern = ""
    for literal, field, _, _ in string.Formatter().parse(template):
        pattern += f"(?:{re.escape(literal)}|{re.escape(quote(literal))})" if literal else ""
        if field == "repo":
            pattern += "(?P=repo)" if "(?P<repo>" in pattern else f"(?P<repo>{_NAME_IN_TEXT})"
        elif field:
            pattern += fields[field]
    return pattern


class Redaction:
    """What may stand where.

    The token is in nothing that is printed or reported. Names of private repositories are in no
    output, because outputs travel to other jobs, and in nothing else where the log is public.
    """

    def __init__(self, token: str, instead_of_words: str) -> None:
        """``instead_of_words`` is shown where GitHub's words may hold a private name."""
        self.without_token = Redactor(token)
        self.hidden_names = HiddenNames(instead_of_words)

    def for_outputs(self, text: str) -> str:
        """Make a text fit for the outputs."""
        if isinstance(text, FromProperty):
            text = text.template
        hidden = self.hidden_names
        hide = hidden.in_message if isinstance(text, Lines) else hidden
        return hide(self.without_token(text))

    def for_log(self, text: str) -> str:
        """Make a text fit for the log, the summary and the report."""
        if self.hidden_names.is_log_public:
            return self.for_outputs(text)
        return self.without_token(text)
