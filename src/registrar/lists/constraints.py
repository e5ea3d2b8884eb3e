"""The limits of a list, and the rules for a path."""

import re
import unicodedata
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from registrar.lists import languages
from registrar.models.files import TEMPLATE_NAMES
from registrar.texts.messages import Excerpt, Message, msg

FILE_BYTES = 2_000_000
"""The largest size of a definition file."""
CONTENT_BYTES = 1_000_000
"""The largest size of one listed file."""
ALL_BYTES = 10_000_000
"""The largest size of all listed files together, so that GitHub accepts one commit with them. A
repository in which they become larger is refused (`require_writable`).

GitHub accepts about 40 MB of base64 (planetscale/ghcommit-action, "Limitations";
github-api-commit-action#66). The contents have at most 14 MB in base64. The paths have at most
25 MB in JSON, with the message of the commit, which repeats them.
"""
DESCRIPTION_CHARACTERS = 1_000
MOST_PATHS = 1_000
"""The largest number of different paths of the files of a list and its rules, so that one commit
can create them all, and one description can record them. The conditions may name as many paths.
With the strategy `per-file`, each path of both kinds takes a request."""
MOST_IN_FOLDERS = 20_000
"""The largest number of names that are read in the folders of a list and its rules together. A
folder that is listed several times is counted each time."""
MOST_DIRECTORIES = 10_000
"""The largest number of directories above the paths of a list, with alternatives and paths in
conditions. Each directory is counted once."""
MOST_ALTERNATIVES = 20
"""The largest number of alternatives of one entry."""
MOST_PARTS = 100
"""The largest number of parts of one entry."""
MOST_RULES = 100
MOST_GLOBS = 100
"""The largest number of globs in one ``exclude``."""

NAME_CHARACTERS = 40
LIST_NAME = re.compile(rf"[a-z0-9-]{{1,{NAME_CHARACTERS}}}")
"""The name of a list. It becomes a part of the name of a branch."""

PATH_BYTES = 4096
PART_BYTES = 255
"""The longest path, and the longest part of a path, that a checkout can have, in bytes of UTF-8."""
PATH_LEVELS = 32

WILDCARD = re.compile(r"[*?\[]")
"""A character that has a meaning in patterns, but not in a path."""
_IN_PATTERNS = re.compile(r"[*?\[|]")
PLACEHOLDER = re.compile(
    rf"\$?\{{+ *(?:{'|'.join(TEMPLATE_NAMES).replace('NAME', '[^{}]+')}) *\}}+"
)
"""A placeholder that a template would fill in, also with several braces or blanks."""


class Scope(Enum):
    """The paths to which a row of `PATH_DOUBTS` applies."""

    ALL = "all"
    TYPED = "typed"
    """Only to a path that stands in the list, and not to the files of a folder."""
    CREATED = "created"
    """Only to the path of a new file, and not to one that registrar only looks for."""


class _Doubt(NamedTuple):
    """A probable mistake in a path."""

    key: str
    """The warning, which has the ``path`` and the text ``found``."""
    pattern: re.Pattern[str]
    """Finds the mistake: its first group, or all of it if it has no group."""
    scope: Scope = Scope.ALL


PATH_DOUBTS = (
    # mdn/yari#2172. Joiners and marks of direction belong to words in some
    # scripts, and to emoji
    _Doubt(
        "definitions.invisible",
        re.compile(
            "[\u00a0\u00ad\u180e\u2000-\u200b\u2028-\u202f\u205f-\u2064\u2066-\u206f\ufeff]"
            "|(?<![^\\x00-\\x7f])[\u061c\u200c-\u200f]"
        ),
    ),
    # An apostrophe inside is a part of names such as `L’Oréal`
    _Doubt(
        "definitions.quotes",
        re.compile(
            "^[\u2018\u2019\u201c-\u201e\u00ab\u00bb]|[\u2018\u2019\u201c\u201d\u00ab\u00bb]$"
        ),
        Scope.TYPED,
    ),
    _Doubt("definitions.path_pattern", WILDCARD, Scope.TYPED),
    _Doubt("definitions.path_placeholder", PLACEHOLDER),
    # The names are those of https://learn.microsoft.com/windows/win32/fileio/naming-a-file, the
    # other names and the characters those that git refuses on Windows (git/git, compat/mingw.c,
    # `is_valid_win32_path`)
    _Doubt(
        "definitions.device",
        re.compile(
            "(?:^|/)(con|prn|aux|nul|conin[$]|conout[$]|(?:com|lpt)[1-9\u00b9\u00b2\u00b3])"
            " *(?:[.:][^/]*)?(?:/|$)",
            re.IGNORECASE | re.ASCII,
        ),
        Scope.CREATED,
    ),
    _Doubt("definitions.end_of_name", re.compile(r"(?:^|/)([^/]*[. ])(?:/|$)"), Scope.CREATED),
    _Doubt("definitions.not_on_windows", re.compile(r'[<>:"|?*]'), Scope.CREATED),
    # zellij-org/zellij#4969: the path of the clone is added to it
    _Doubt("definitions.long_on_windows", re.compile("(?s)^.{260,}"), Scope.CREATED),
)
"""Probable mistakes in a path. Only the first one is reported."""
_HFS_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Characters that HFS+ ignores in a name (git/git, utf8.c, `next_hfs_char`)."""
_NTFS_DOT_GIT = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.IGNORECASE | re.ASCII | re.DOTALL)
"""Names that NTFS treats as `.git`: with dots and blanks behind it, its short name, or a stream of
it (git/git, path.c, `is_ntfs_dotgit`)."""


def path_diagnostics(path: str) -> Iterator[Message]:
    """Explain why no file can be created at ``path`` of a git repository.

    Yields nothing if a file can be created there.
    """
    if not path:
        yield msg("path.empty")
        return
    if len(path) > PATH_BYTES:
        # No further check, because the path may be very long, and the list may have it very often
        yield msg("path.too_long", path=Excerpt(path))
        return
    parts = path.strip("/").split("/")
    rules = (
        ("path.absolute", path.startswith("/")),
        ("path.trailing_slash", path.endswith("/")),
        ("path.outer_blanks", path[0].isspace() or path[-1].isspace()),
        ("path.empty_part", "" in parts),
        ("path.dots", "." in parts or ".." in parts),
        ("path.git", any(_is_dot_git(part) for part in parts)),
        ("path.backslash", "\\" in path),
        ("path.control", any(unicodedata.category(char) == "Cc" for char in path)),
        ("path.too_long", len(path.encode()) > PATH_BYTES),
        ("path.part_too_long", any(len(part.encode()) > PART_BYTES for part in parts)),
        ("path.too_deep", len(parts) > PATH_LEVELS),
    )
    yield from (msg(key, path=Excerpt(path)) for key, broken in rules if broken)


def path_doubts(path: str, *scopes: Scope) -> Iterator[Message]:
    """Warn of a probable mistake in a path that git accepts.

    ``scopes`` are those that apply to the path, besides `Scope.ALL`.
    """
    for key, pattern, scope in PATH_DOUBTS:
        if scope in {Scope.ALL, *scopes} and (found := pattern.search(path)):
            text = found[pattern.groups]
            is_seen = len(text) > 1 or text.isprintable()
            shown = Excerpt(text) if is_seen else f"U+{ord(text):04X}"
            yield msg(key, path=Excerpt(path), found=shown)
            return


def value_doubts(key: str, value: str) -> Iterator[Message]:
    """Warn of a value of the condition ``key`` that probably no repository has."""
    if key == "language" and not languages.is_known(value):
        if close := languages.meant(value):
            yield msg("definitions.language_close", value=Excerpt(value), close=close)
        else:
            yield msg("definitions.language_unknown", value=Excerpt(value))
    elif key != "language" and _IN_PATTERNS.search(value):
        # Whole values are compared
        yield msg("definitions.when_pattern", key=key, value=Excerpt(value))
    if key == "property" and (found := PLACEHOLDER.search(value)):
        yield msg("definitions.when_placeholder", key=key, found=Excerpt(found[0]))


def _is_dot_git(part: str) -> bool:
    """Whether some operating system treats a name as `.git`, by the rules of git.

    With `core.protectNTFS` and `core.protectHFS` git refuses to check out such a name. It refuses
    names like `.gitmodules` only for symbolic links, which registrar never creates.
    """
    plain = _HFS_IGNORED.sub("", part)
    return plain.lower() == ".git" or bool(_NTFS_DOT_GIT.fullmatch(part))
