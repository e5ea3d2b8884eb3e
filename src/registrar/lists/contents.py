"""The rules for the content of a listed file."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from registrar.models.files import TEMPLATE_NAMES
from registrar.texts import templates
from registrar.texts.messages import Excerpt, Message, msg

_NAMES = (
    *(name for name in TEMPLATE_NAMES if name != templates.PROPERTY),
    f"property:{templates.PROPERTY_NAME.pattern}",
)
_CONTEXTS = (
    *("github", "env", "vars", "job", "jobs", "steps", "runner", "secrets", "strategy", "matrix"),
    *("needs", "inputs"),
)
"""The contexts of GitHub's expressions:
https://docs.github.com/en/actions/reference/workflows-and-actions/contexts"""
_FUNCTIONS = (
    *("contains", "startsWith", "endsWith", "format", "join", "toJSON", "fromJSON", "hashFiles"),
    *("success", "always", "cancelled", "failure"),
)
"""The functions of GitHub's expressions:
https://docs.github.com/en/actions/reference/workflows-and-actions/expressions"""
_PLACEHOLDER = re.compile(rf"(?<![${{])\{{({'|'.join(_NAMES)})\}}(?!\}})")
"""A placeholder that a template fills in. `${repo}` is a variable of a shell, and `{{repo}}` one of
other tools."""
_EXPRESSION = re.compile(
    r"\$\{\{(?!\{)(?:"
    rf"\s*(?:{'|'.join(_CONTEXTS)})\s*[.\[]"
    rf"|[\s!]*(?:{'|'.join(_FUNCTIONS)})\s*\("
    r"|\s+[A-Za-z_][A-Za-z0-9_-]*\s*[.\[(]"
    r"|\s+(?=[^{};]{1,100}\}\}))[^{}]{0,100}\}{0,2}"
)
"""An expression of GitHub, which would lose one of its two braces in a template.

`${{HOME}}` does not match, because a template writes `${HOME}` so. `${{ ls; }}` does not match
either, because it is a command substitution of a shell.
"""


class _Doubt(NamedTuple):
    """A probable mistake in a content."""

    key: str
    """The warning, which has the ``path`` of the file and the text ``found``."""
    templates: frozenset[bool | None]
    """The values of ``template`` to which the row applies; ``None`` if the list has no such key."""
    find: Callable[[str, str], str | None]
    """Returns the mistake in the content of a path; ``None`` if there is none."""


def _search(pattern: re.Pattern[str]) -> Callable[[str, str], str | None]:
    return lambda _, text: (found := pattern.search(text)) and found[0]


def _doubled(_path: str, text: str) -> str | None:
    return (doubled := templates.doubled(text, TEMPLATE_NAMES)) and doubled.found


DOUBTS = (
    _Doubt("definitions.no_template", frozenset({None}), _search(_PLACEHOLDER)),
    _Doubt("definitions.doubled", frozenset({True}), _doubled),
    _Doubt("definitions.doubled_no_template", frozenset({None}), _doubled),
)
"""Probable mistakes in a content."""


def doubts(path: str, source: bytes, *, template: bool | None) -> Iterator[Message]:
    """Warn of probable mistakes in the content of the file at ``path``.

    ``template`` is ``None`` if the list does not say whether the content is a template.
    """
    text = source.decode(errors="replace")
    for key, applies, find in DOUBTS:
        if template in applies and (found := find(path, text)):
            yield msg(key, path=Excerpt(path), found=found, meant=f"{{{found.strip('{ }')}}}")


def template_diagnostics(content: bytes) -> Iterator[Message]:
    """Find the mistakes in the bytes of a template."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        yield msg("definitions.template_binary")
        return
    if found := _EXPRESSION.search(text):
        yield msg("definitions.expression", expression=Excerpt(found[0]))
    yield from templates.diagnostics("template", text, TEMPLATE_NAMES)
