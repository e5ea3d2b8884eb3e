"""When GitHub's words give the same cause: without names, addresses, ids and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from registrar.github.explain import Context
from registrar.github.request import Request
from registrar.github.response import NoAnswer, Response

_ADDRESS = re.compile(r"[\w+.-]+://\S+|\b[\w-]+(?:\.[\w-]+)+/\S*")
"""With ``https://`` or without."""
_RUN = re.compile(r"[\w./@:%#-]+")
"""What a name, a path, an id or a number may stand in."""
_QUOTES = frozenset("'\"`")
_LONGEST_NAME = 255
"""Characters; a longer value of a request is a text or a content."""


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
