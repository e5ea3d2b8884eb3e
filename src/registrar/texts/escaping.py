"""Escapes texts from outside, with one function for each place where a text is written.

Paths, descriptions, names and GitHub's own messages are escaped here. Otherwise the runner, a
Markdown renderer or GitHub's search for references could take a part of a text for an instruction.
"""

import re
import unicodedata
from typing import Self
from urllib.parse import quote

# Cc control, Cf format (bidirectional and zero-width marks), Cs lone surrogates, Zl/Zp separators
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
SURROGATE = re.compile(r"[\ud800-\udfff]")
"""A character that Python makes of a byte that is not UTF-8 (PEP 383), or JSON of half a character.
"""
_ZERO_WIDTH = "\u200b"
_LINE_BREAK = re.compile(r"\r\n|\r|\n")

# The tokens that GitHub issues, also in the middle of a word (github.blog, "Behind GitHub's new
# authentication token formats"). After `ghs_` there may be an App's id and a JSON Web Token
_TOKEN_SHAPES = re.compile(
    r"gh[oprsu]_(?:[A-Za-z0-9]+_eyJ[A-Za-z0-9]{10,}|[A-Za-z0-9]{20,})[A-Za-z0-9_.\-]*"
    r"|github_pat_[A-Za-z0-9_]{16,}"
)
REDACTED = "***"
SECRET_CHARACTERS = 8
"""The smallest length of a token that is searched for. A shorter text is not a token of GitHub, and
could be a part of ordinary words."""
PART_CHARACTERS = 20
"""The number of consecutive characters of the token that are replaced like the whole token.

Half of the shortest token that GitHub issues (40 characters).
"""
_ANCHOR_CHARACTERS = PART_CHARACTERS // 2

# Characters with a meaning in Markdown, HTML or GitHub's additions (emoji, mathematics)
_MARKUP = str.maketrans({c: f"&#{ord(c)};" for c in "&<>`*_~[]|\\#@$"})
_COLON = re.compile(r":(?=\S)")
_AUTOLINK_WWW = re.compile(r"www\.", re.IGNORECASE)
# "@name", "a@b.example", "#1", "GH-1" and addresses, which become mentions, references or links
_REFERENCE = re.compile(r"(?<=@)|(?<=#)(?=\d)|(?<=GH)(?=-\d)|(?<=:)(?=//)", re.IGNORECASE)
# A character that would end a code span or a table cell, or begin a comment such as a mark
_NO_CODE_SPAN = re.compile(r"[`|<]|^\s|\s$|^$")
_TWO_UNITS = re.compile("[\U00010000-\U0010ffff]")
_NUMBER = re.compile(r"#[0-9]+")
_SKIP_CHECKS = re.compile(
    r"\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|skip-checks(?=:)", re.IGNORECASE
)


class Link(str):
    """A text with an address that registrar has composed. No other text becomes a link."""

    __slots__ = ("url",)

    url: str

    def __new__(cls, text: str, url: str = "") -> Self:
        """``text`` is shown to the reader. Without ``url`` it is also the address."""
        link = super().__new__(cls, text)
        link.url = url or text
        return link


class Lines(str):
    """A message of GitHub, which may have several lines. They are kept where people read it."""

    __slots__ = ()


class FoundPath(str):
    """An existing path of a repository, which may be none of the listed paths."""

    __slots__ = ()


class Redactor:
    """Replaces the token, parts of it, and every text that looks like a token.

    The runner's own ``::add-mask::`` is not used, because registrar would have to print the token.
    """

    def __init__(self, token: str) -> None:
        """If ``token`` is empty, only texts with the shape of GitHub's tokens are replaced."""
        self._token = token
        # PART_CHARACTERS consecutive characters of the token always contain one of these pieces
        starts = range(0, len(token) - _ANCHOR_CHARACTERS + 1, _ANCHOR_CHARACTERS)
        self._anchors = [(token[start : start + _ANCHOR_CHARACTERS], start) for start in starts]

    def __call__(self, text: str) -> str:
        """Return ``text`` with every token, and every long part of the token, replaced."""
        if len(self._token) >= SECRET_CHARACTERS:
            text = text.replace(self._token, REDACTED)
        if len(text) >= PART_CHARACTERS:
            for anchor, start in self._anchors:
                if anchor in text:
                    text = self._without_parts(text, anchor, start)
        return _TOKEN_SHAPES.sub(REDACTED, text)

    def _without_parts(self, text: str, anchor: str, start: int) -> str:
        """Replace the long parts of the token around ``anchor``.

        ``anchor`` is the piece of the token that begins at ``start``.
        """
        token = self._token
        kept: list[str] = []
        done, at = 0, text.find(anchor)
        while at >= 0:
            left, right = at, at + len(anchor)
            first, last = start, start + len(anchor)
            while left > done and first and text[left - 1] == token[first - 1]:
                left, first = left - 1, first - 1
            while right < len(text) and last < len(token) and text[right] == token[last]:
                right, last = right + 1, last + 1
            if right - left >= PART_CHARACTERS:
                kept += [text[done:left], REDACTED]
                done = right
            at = text.find(anchor, right)
        return "".join([*kept, text[done:]])


def show_control_characters(text: str) -> str:
    """Show control and other invisible characters as escapes (``\\n``, ``\\u202e``)."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _NAMED.get(char) or f"\\u{ord(char):04x}"
        if unicodedata.category(char) in _INVISIBLE
        else char
        for char in text
    )


def for_page(value: object) -> object:
    """Escape a value of the page as `show_control_characters` does; line breaks are kept.

    Markup, and a value that is not a text, stays as it is.
    """
    if not isinstance(value, str) or value.isprintable() or hasattr(value, "__html__"):
        return value
    return "\n".join(map(show_control_characters, value.split("\n")))


def show_lines(text: str) -> str:
    """Like `show_control_characters`, but `Lines` keep their lines, except for blank ones."""
    if not isinstance(text, Lines):
        return show_control_characters(text)
    lines = [show_control_characters(line) for line in _LINE_BREAK.split(text)]
    return "\n".join(line for line in lines if line.strip()) or lines[0]


def for_console(text: str) -> str:
    """Return ``text`` as one line in which the runner finds no workflow command.

    The runner finds ``::`` at the beginning of a line, also after blanks, and the old form ``##[``
    anywhere (actions/runner, ActionCommand.cs).
    """
    line = show_control_characters(text).replace("##[", "##\\[")
    return f"\\{line.lstrip()}" if line.lstrip().startswith("::") else line


def for_command_data(text: str) -> str:
    """Escape the text of a workflow command. Line ends become the runner's own escapes."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "%0A".join(show_control_characters(line).replace("%", "%25") for line in lines)


def for_command_property(text: str) -> str:
    """Escape a property of a workflow command (``file=…``)."""
    return for_command_data(text).replace(":", "%3A").replace(",", "%2C")


def for_markdown(text: str) -> str:
    """Return Markdown that shows ``text`` literally: no markup, mention, reference or link."""
    inert = _REFERENCE.sub(_ZERO_WIDTH, show_control_characters(text)).translate(_MARKUP)
    return _AUTOLINK_WWW.sub("www&#46;", _COLON.sub("&#58;", inert))


def for_markdown_code(text: str) -> str:
    """Return Markdown that shows ``text`` as code, also in table cells, and a `Link` as a link.

    Each line becomes a code span, because neither Markdown nor GitHub interprets anything in it. If
    a character would end the span, the line becomes an HTML element.
    """
    if isinstance(text, Link):
        target = for_link(text.url)
        label = text if _NUMBER.fullmatch(text) else for_markdown(text)
        return f"<{target}>" if text == text.url else f"[{label}]({target})"
    return "<br>".join(
        f"<code>{for_markdown(line)}</code>" if _NO_CODE_SPAN.search(line) else f"`{line}`"
        for line in show_lines(text).split("\n")
    )


def for_link(url: str) -> str:
    """Escape a web address for the target of a Markdown link; empty for any other text."""
    if not url.startswith(("https://", "http://")):
        return ""
    return quote(url, safe="/:?&=%~+,;.-_@#")


def characters(text: str) -> int:
    """Return the length of a text in UTF-16 units.

    GitHub counts these units or characters, and there are never fewer units than characters.
    """
    return len(text) + len(_TWO_UNITS.findall(text))


def for_commit(text: str) -> str:
    """Return ``text`` for commit messages and titles, where GitHub reads no Markdown.

    A zero-width space breaks mentions, references and closing keywords. A backslash breaks
    instructions to skip workflows.
    """
    return no_skip(_REFERENCE.sub(_ZERO_WIDTH, show_control_characters(text)))


def skips_checks(text: str) -> bool:
    """Whether ``text`` asks GitHub to run no workflows."""
    return bool(_SKIP_CHECKS.search(text))


def no_skip(text: str) -> str:
    """Return ``text`` with a backslash in each instruction to skip workflows."""
    return _SKIP_CHECKS.sub(lambda matched: f"{matched[0][:-1]}\\{matched[0][-1]}", text)
