"""What a path and a list may be."""

import re
import unicodedata
from collections.abc import Iterator

from registrar.models.files import TEMPLATE_NAMES
from registrar.texts.messages import Excerpt, Message, msg

FILE_BYTES = 2_000_000
"""Size of a definition file."""
CONTENT_BYTES = 1_000_000
"""Size of one listed file."""
ALL_BYTES = 10_000_000
"""Size of all listed files together: the commit of them stays below what GitHub accepts.

About 40 MB of base64 are the most that passes (planetscale/ghcommit-action, "Limitations";
github-api-commit-action#66).
"""
DESCRIPTION_CHARACTERS = 1_000
MOST_PATHS = 5_000
"""Paths of a list, alternatives included; each of them is asked for."""
MOST_IN_FOLDERS = 4 * MOST_PATHS
"""Names in the folders of a list and its rules, where one may stand several times."""
MOST_DIRECTORIES = 10_000
"""Directories above those paths, each counted once."""
MOST_ALTERNATIVES = 20
"""Alternatives of one entry."""
MOST_PARTS = 100
"""Parts of one entry."""
MOST_RULES = 100
MOST_GLOBS = 100
"""Globs of ``exclude``."""

NAME_CHARACTERS = 40
LIST_NAME = re.compile(rf"[a-z0-9-]{{1,{NAME_CHARACTERS}}}")
"""The name of a list: it stands in the name of a branch."""

PATH_BYTES = 4096
PART_BYTES = 255
"""Longest path and longest part of a path, in bytes of UTF-8, that a checkout can hold."""
PATH_LEVELS = 32

WILDCARD = re.compile(r"[*?\[]")
"""What stands in patterns, and means itself in a path."""
_PLACEHOLDER = re.compile(rf"\$?\{{+ *({'|'.join(TEMPLATE_NAMES).replace('NAME', '[^{}]+')}) *\}}+")
"""What a template would fill in, however the braces are written."""
_DEVICE = re.compile(
    "(con|prn|aux|nul|conin[$]|conout[$]|(com|lpt)[1-9\u00b9\u00b2\u00b3]) *([.:].*)?",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')
"""What git on Windows refuses in a name (git/git, compat/mingw.c, `is_valid_win32_path`), and the
devices of https://learn.microsoft.com/windows/win32/fileio/naming-a-file."""
_HFS_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""What HFS+ leaves out of a name (git/git, utf8.c, `next_hfs_char`)."""
_NTFS_DOT_GIT = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.IGNORECASE | re.ASCII | re.DOTALL)
"""What NTFS treats as `.git`: its short name, dots and blanks behind it, a stream of it
(git/git, path.c, `is_ntfs_dotgit`)."""


def path_diagnostics(path: str) -> Iterator[Message]:
    """Explain why no file can be created at ``path`` of a git repository: nothing when one can."""
    if not path:
        yield msg("path.empty")
        return
    if len(path) > PATH_BYTES:
        # Nothing else of it is looked at: it may be very long, and stand there very often
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


def path_doubts(path: str) -> Iterator[Message]:
    """Say what of a path is probably meant otherwise: it names a file to the letter."""
    if WILDCARD.search(path):
        yield msg("definitions.path_pattern", path=Excerpt(path))
    yield from placeholder_doubts(path)


def placeholder_doubts(path: str) -> Iterator[Message]:
    """Warn that a placeholder in a path is not filled in."""
    if found := _PLACEHOLDER.search(path):
        placeholder = Excerpt(found[0])
        yield msg("definitions.path_placeholder", path=Excerpt(path), placeholder=placeholder)


def windows_doubts(path: str) -> Iterator[Message]:
    """Say why no checkout on Windows can hold a file at ``path``: the first reason is enough."""
    for part in path.split("/"):
        if device := _DEVICE.fullmatch(part):
            yield msg("definitions.device", path=Excerpt(path), part=device[1])
        elif part.endswith((".", " ")):
            yield msg("definitions.end_of_name", path=Excerpt(path), part=Excerpt(part))
        elif found := _NOT_ON_WINDOWS.search(part):
            yield msg("definitions.not_on_windows", path=Excerpt(path), character=found[0])
        else:
            continue
        return


def _is_dot_git(part: str) -> bool:
    """Whether some system treats a name as `.git`, as git itself decides it.

    With `core.protectNTFS` and `core.protectHFS` no checkout holds such a name. Files like
    `.gitmodules` are fine: git refuses them as symbolic links only, and none is created here.
    """
    plain = _HFS_IGNORED.sub("", part)
    return plain.lower() == ".git" or bool(_NTFS_DOT_GIT.fullmatch(part))
