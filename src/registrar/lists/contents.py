"""The rules for the content of a listed file."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from registrar.models.files import TEMPLATE_NAMES, FileDefinition
from registrar.presence.special_files import INVALID_IF_BLANK, ISSUE_TEMPLATES
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


_ANY = frozenset({True, False, None})


class _Doubt(NamedTuple):
    """A probable mistake in a content."""

    key: str
    """The warning, which has the ``path`` of the file and the text ``found``."""
    templates: frozenset[bool | None]
    """The values of ``template`` to which the row applies; ``None`` if the list has no such key."""
    find: Callable[[str, str], str | None]
    """Returns the mistake in the content of a path; ``None`` if there is none."""


_OTHER_BRACES = re.compile(
    r"(?<![${])\{\{[-~]?\s+(?:(?:if|range|with|include|template|define)\s[^{}\n;(]{1,100}"
    r"|(?:\.[A-Za-z_]|[A-Za-z_]\w*\.)[\w.]*(?:\s*\|[^{}\n]{1,100})?"
    r"|[A-Za-z_]\w*\s*\|\s*[A-Za-z_][^{}\n;|]{0,100})\s*[-~]?\}\}"
)
"""An expression of Go's templates, Jinja or Handlebars, with blanks inside. Without blanks it may
be the text `{a.b}`, in which each brace was doubled."""
_DATA = (
    *(".yml", ".yaml", ".json", ".json5", ".toml", ".cfg", ".ini", ".properties"),
    *(".md", ".markdown", ".txt", ".html", ".rst", ".adoc"),
)
"""Endings of files in which one brace on each side of such an expression means nothing. In source
code, `{ User.new }` may be a block."""
_OBJECT_IN_JSX = re.compile(r"=\{\{(?!\{)\s*[\w'\"-]+\s*:[^{}]{0,100}\}\}(?!\})")
"""An object as the value of an attribute. One brace on each side would be a mistake."""
_JSX = (".jsx", ".tsx", ".mdx")
_CONFLICT = re.compile(r"(?ms)^<{7}(?: [^\r\n]*)?\r?$(?=.*^>{7}(?: |\r?$))")
"""The marker with which git begins a conflict, if one that ends it follows. A heading of some
formats is underlined with the third marker."""
_POINTER = re.compile(r"\Aversion https://(?:git-lfs|hawser)\.github\.com/spec/v\d")
"""The first line of a pointer (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md)."""
_INTERPRETER = re.compile(r"\A#! */[^\r\n]*")
"""The first line of a script. `#![…]` is an attribute of Rust."""
_ENDS_WITH_CR = re.compile(rf"{_INTERPRETER.pattern}(?=\r)")
_BYTE_ORDER_MARK = "\ufeff"
_FRONT_MATTER = (".md", ".markdown", ".html")
"""Endings of files that may begin with a front matter in YAML."""


def _other_braces(path: str, text: str) -> str | None:
    rows = ((_DATA, _OTHER_BRACES), (_JSX, _OBJECT_IN_JSX))
    found = (p.search(text) for endings, p in rows if path.lower().endswith(endings))
    return next((each[0] for each in found if each), None)


def _byte_order_mark(path: str, text: str) -> str | None:
    """Find a byte order mark with which the beginning of the file is not recognised.

    That of an issue form or of its configuration is known from NLog/NLog#4921.
    """
    rest = text.removeprefix(_BYTE_ORDER_MARK)
    has_front = rest.startswith("---") and path.lower().endswith(_FRONT_MATTER)
    is_script = _INTERPRETER.match(rest) is not None
    is_read = has_front or is_script or path.startswith(f"{ISSUE_TEMPLATES}/")
    return "U+FEFF" if rest != text and is_read else None


def _search(pattern: re.Pattern[str]) -> Callable[[str, str], str | None]:
    return lambda _, text: (found := pattern.search(text)) and found[0]


def _doubled(_path: str, text: str) -> str | None:
    return (doubled := templates.doubled(text, TEMPLATE_NAMES)) and doubled.found


_PROSE = re.compile(
    r"\.(?:md|markdown|mdx|txt|rst|adoc|html|json)$|(?:^|/)(?:LICEN[CS]E|NOTICE|README|COPYING)$",
    re.IGNORECASE,
)
"""Paths of files in which it does not matter where a line ends."""
DOUBTS = (
    # actions/checkout#2208
    _Doubt("definitions.lfs_pointer", _ANY, _search(_POINTER)),
    _Doubt("definitions.byte_order_mark", _ANY, _byte_order_mark),
    # rappasoft/laravel-boilerplate#662
    _Doubt("definitions.conflict_marker", _ANY, _search(_CONFLICT)),
    # The kernel looks for an interpreter whose name ends with the carriage return
    _Doubt("definitions.script_line_ends", _ANY, _search(_ENDS_WITH_CR)),
    # renovatebot/renovate#17511
    _Doubt("definitions.other_braces", frozenset({True}), _other_braces),
    _Doubt("definitions.no_template", frozenset({None}), _search(_PLACEHOLDER)),
    _Doubt("definitions.doubled", frozenset({True}), _doubled),
    _Doubt("definitions.doubled_no_template", frozenset({None}), _doubled),
)
"""Probable mistakes in a content."""


def doubts(
    path: str, source: bytes, *, template: bool | None, is_folded: bool = False
) -> Iterator[Message]:
    """Warn of probable mistakes in the content of the file at ``path``.

    ``template`` is ``None`` if the list does not say whether the content is a template. With
    ``is_folded``, YAML has joined lines of the content.
    """
    text = source.decode(errors="replace")
    if is_folded and not _PROSE.search(path):
        # openshift/console#6619
        yield msg("definitions.folded", path=Excerpt(path))
    for key, applies, find in DOUBTS:
        if template in applies and (found := find(path, text)):
            yield msg(key, path=Excerpt(path), found=found, meant=f"{{{found.strip('{ }')}}}")


def blank_doubts(file: FileDefinition) -> Iterator[Message]:
    """Warn of a file that GitHub reports as invalid as long as it is blank."""
    if file.is_to_fill_in and INVALID_IF_BLANK.fullmatch(file.path):
        yield msg("definitions.blank", path=Excerpt(file.path))


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
