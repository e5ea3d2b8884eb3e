"""Names of private repositories are kept out of what a run publishes."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

from registrar.models.selection import ListedRepository

_NAME = r"[A-Za-z0-9._-]+"
_NAME_IN_TEXT = r"(?:(?!\.{3})[A-Za-z0-9._-])+"
"""Three dots stand between two branches in an address of GitHub."""
_WORD = re.compile(r"(?<![A-Za-z0-9._/-])[A-Za-z0-9._-]+(?![A-Za-z0-9_/-])")
_ENDINGS = (r"\.git$", r"\.+$")
"""What is no part of a name: that of an address for git, and of a sentence."""
_SUFFIXES = (r"-[0-9]+\.*$",)
"""What the name of a branch ends with when the first choice was taken."""
_PLACEHOLDERS = {
    "count": "[0-9]+",
    "path": ".*?",
    "run_url": r"\S*",
}


class HiddenNames:
    """Replaces names (``owner/repo``) by the repositories' numbers, wherever they stand in a text.

    So it does with the name in texts that the caller made of it: a branch ``add/{repo}``. Those who
    may see the repository find it by the number: ``GET /repositories/{id}``.
    """

    def __init__(self) -> None:
        """Nothing is hidden yet."""
        self.is_log_public = False
        """Whether everybody reads the log; otherwise only outputs are without the names."""
        self._shown: dict[str, str] = {}
        """What is shown for ``owner/repo``, and for ``repo`` alone; nothing where it is public.

        The keys are in lower case.
        """
        self._owners = set[str]()
        self._lists = set[str]()
        self._templates = set[str]()
        self._patterns: list[re.Pattern[str]] = []

    def hide(
        self,
        repositories: Iterable[ListedRepository],
        templates: Collection[str],
        *,
        lists: Collection[str],
        is_public: bool,
    ) -> None:
        """From now on hide the names of those that are private or internal.

        ``templates`` are those of texts that may be published, with ``{repo}`` for the name and
        ``{profile}`` for one of ``lists``. ``is_public`` says that everybody reads the log.
        """
        self.is_log_public = is_public
        self._lists.update(re.escape(each) for each in lists)
        self._templates.update(each for each in templates if _names_repository(each))
        # Public ones, too: `api-2` may be such a name, and not the second branch for a hidden `api`
        for each in sorted(repositories, key=lambda each: each.visibility != "public"):
            owner, _, name = each.full_name.partition("/")
            self._show(owner, name, "" if each.visibility == "public" else f"(id {each.id})")
        self._make_patterns()

    def renamed(self, old: str, new: str) -> None:
        """Hide the new name of a repository whose old one is hidden."""
        owner, _, name = new.partition("/")
        if shown := self._shown.get(old.lower()):
            self._show(owner, name, shown)
            self._make_patterns()

    def _show(self, owner: str, name: str, shown: str) -> None:
        self._owners.add(re.escape(owner.lower()))
        self._shown |= {f"{owner}/{name}".lower(): shown, name.lower(): shown}

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

    def __call__(self, text: str) -> str:
        """Give back ``text`` without any hidden name."""
        for pattern in self._patterns:
            text = pattern.sub(self._replacement, text)
        return text

    def in_message(self, text: str) -> str:
        """Give back GitHub's own words, which may name a repository without its owner.

        A name that may be an ordinary word is hidden between quotation marks only: elsewhere a
        gap in the sentence would tell it.
        """
        return _WORD.sub(self._word, self(text))

    def _word(self, found: re.Match[str]) -> str:
        around = found.string[: found.start()][-1:], found.string[found.end() :][:1]
        is_quoted = around[0] == around[1] and around[0] in {"'", '"', "`"}
        for name in _possible_names(found[0], _ENDINGS):
            if not (is_quoted or _is_no_word(name)):
                continue
            if shown := self._shown.get(name.lower()):
                return found[0].replace(name, shown)
        return found[0]

    def _replacement(self, found: re.Match[str]) -> str:
        owner = found.groupdict().get("owner")
        endings = _ENDINGS if owner else _ENDINGS + _SUFFIXES
        for name in _possible_names(found["repo"], endings):
            shown = self._shown.get(f"{owner}/{name}".lower() if owner else name.lower())
            if shown == "":
                break
            if shown:
                begin = found.start("repo") - found.start()
                return found[0][:begin] + found[0][begin:].replace(name, shown)
        return found[0]


def _is_no_word(name: str) -> bool:
    """Whether a name is neither a word of letters nor a number."""
    return not (name.isalpha() or name.isdecimal())


def _possible_names(text: str, endings: Sequence[str]) -> Iterator[str]:
    """What in ``text`` may be a name, the longest first."""
    for begin in range(len(text) - len(text.lstrip(".")) + 1):
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
