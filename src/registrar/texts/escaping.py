"""Nothing that comes from outside speaks: one function for each place where a text lands.

Paths, descriptions, names and the host's own messages pass through here before anybody else
(the runner, a Markdown renderer, the host's reference scanner) can take them for an instruction.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

# Cc control, Cf format (bidirectional and zero-width marks), Cs lone surrogates, Zl/Zp separators
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ZERO_WIDTH = "\u200b"

_TOKEN_SHAPES = re.compile(r"\b(?:gh[oprsu]_[A-Za-z0-9_.\-]{16,}|github_pat_[A-Za-z0-9_]{16,})")
REDACTED = "***"
SECRET_CHARACTERS = 8
"""What is shorter is no token of the host, and a part of ordinary words."""

# Every ASCII character that Markdown or HTML reads as more than itself
_MARKUP = str.maketrans({c: f"&#{ord(c)};" for c in "&<>\"'`*_~[](){}|\\#@:$!^="})
_AUTOLINK_WWW = re.compile(r"www\.", re.IGNORECASE)
# "@name", "#1", "GH-1" and addresses: what the host turns into mentions, references and links
_REFERENCE = re.compile(r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=\bGH)(?=-\d)|(?<=:)(?=//)", re.IGNORECASE)
_SKIP_CHECKS = re.compile(
    r"\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|\bskip-checks(?=:)", re.IGNORECASE
)


class Url(str):
    """An address that we composed ourselves: the only text that may become a link."""

    __slots__ = ()


class Redactor:
    """Replaces the token, and whatever looks like one, in a text that leaves us.

    Done in-process: the runner's own ``::add-mask::`` would print the token to hide it.
    """

    def __init__(self, token: str) -> None:
        """``token`` may be empty: then only the shapes of the host's tokens are looked for."""
        self._token = token

    def __call__(self, text: str) -> str:
        """Give back ``text`` without any token."""
        if len(self._token) >= SECRET_CHARACTERS:
            text = text.replace(self._token, REDACTED)
        return _TOKEN_SHAPES.sub(REDACTED, text)


def show_control_characters(text: str) -> str:
    """Show every character that is not to be seen as what it is (``\\n``, ``\\u202e``)."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _NAMED.get(char) or f"\\u{ord(char):04x}"
        if unicodedata.category(char) in _INVISIBLE
        else char
        for char in text
    )


def for_console(text: str) -> str:
    """Make ``text`` one line in which the runner finds no workflow command.

    The runner reads ``::`` at a line's start, blanks before it included, and the old form
    ``##[`` anywhere (actions/runner, ActionCommand.cs).
    """
    line = show_control_characters(text).replace("##[", "##\\[")
    return f"\\{line.lstrip()}" if line.lstrip().startswith("::") else line


def for_command_data(text: str) -> str:
    """Escape the text of a workflow command; line ends survive as the runner's own escapes."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "%0A".join(show_control_characters(line).replace("%", "%25") for line in lines)


def for_command_property(text: str) -> str:
    """Escape a property of a workflow command (``file=…``)."""
    return for_command_data(text).replace(":", "%3A").replace(",", "%2C")


def for_markdown(text: str) -> str:
    """Make ``text`` plain words inside Markdown: no markup, mention, reference or link."""
    inert = _REFERENCE.sub(_ZERO_WIDTH, show_control_characters(text))
    return _AUTOLINK_WWW.sub("www&#46;", inert.translate(_MARKUP))


def for_markdown_code(text: str) -> str:
    """Show ``text`` to the letter inside Markdown, table cells included.

    An element and not backticks: what it holds can neither end it nor split a table cell, and
    the host looks for no mention in it. An address of our own is shown as a link.
    """
    if isinstance(text, Url):
        return f"<{for_link(text)}>"
    inert = show_control_characters(text).translate(_MARKUP)
    return f"<code>{_AUTOLINK_WWW.sub('www&#46;', inert)}</code>"


def for_link(url: str) -> str:
    """Make a web address fit for the target of a Markdown link; nothing else becomes one."""
    if not url.startswith(("https://", "http://")):
        return ""
    return quote(url, safe="/:?&=%~+,;.-_@#")


def characters(text: str) -> int:
    """Length of a text as the host counts it: UTF-16 units, the larger of the known ways."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def for_commit(text: str) -> str:
    """Make ``text`` inert where the host reads no Markdown: commit messages and titles.

    Mentions, references and closing keywords are broken by a zero-width space, instructions to
    skip workflows by a backslash.
    """
    inert = _REFERENCE.sub(_ZERO_WIDTH, show_control_characters(text))
    return _SKIP_CHECKS.sub(lambda found: f"{found.group()[:-1]}\\{found.group()[-1]}", inert)
