"""Files that have a meaning for GitHub: their names, and where it looks for them.

What GitHub changes about that is a row of `SPECIAL_FILES`, with its source.
"""

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

_DOCS = "https://docs.github.com/en"
_DEFAULTS = (
    f"{_DOCS}/communities/setting-up-your-project-for-healthy-contributions"
    "/creating-a-default-community-health-file"
)
_TEMPLATES = (
    f"{_DOCS}/communities/using-templates-to-encourage-useful-issues-and-pull-requests"
    "/about-issue-and-pull-request-templates"
)

EVERYWHERE = (".github", "", "docs")
"""Where GitHub looks for a community health file, in its own order (`_DEFAULTS`)."""
ISSUE_TEMPLATES = ".github/ISSUE_TEMPLATE"
WORKFLOW_FILES = ".github/workflows/"
"""Beginning of the paths that a token needs a permission of its own for."""
_FLAGS = re.IGNORECASE | re.ASCII
_TEXT = r"(\.(md|markdown|txt|rst|adoc))?"


class Inherited(Enum):
    """Whether GitHub uses a file from the owner's ``.github`` repository (`_DEFAULTS`)."""

    NEVER = "never"
    UNLESS_PRIVATE = "unless private"
    """From a public one, and inside an enterprise from an internal one."""
    IF_PUBLIC = "if public"


class SpecialFile(NamedTuple):
    """Files that GitHub uses for the same purpose: one of them is enough."""

    name: str
    """Regular expression of the file's name, in any letter case."""
    places: tuple[str, ...]
    """Directories where GitHub looks, the first one wins; the root is empty."""
    inherited: Inherited
    source: str
    listed: tuple[str, ...] | None = None
    """Directories in which a listed file is one of this kind; ``None``: all of ``places``."""
    folders: tuple[str, ...] = ()
    """Directories in which any file with one of ``extensions`` counts, too."""
    extensions: tuple[str, ...] = ()


SPECIAL_FILES = (
    *(
        SpecialFile(rf"{name}{_TEXT}", EVERYWHERE, Inherited.UNLESS_PRIVATE, _DEFAULTS)
        for name in ("CODE_OF_CONDUCT", "CONTRIBUTING", "GOVERNANCE", "SECURITY", "SUPPORT")
    ),
    SpecialFile(
        r"FUNDING\.yml",
        (".github",),
        Inherited.UNLESS_PRIVATE,
        f"{_DOCS}/repositories/managing-your-repositorys-settings-and-features"
        "/customizing-your-repository/displaying-a-sponsor-button-in-your-repository",
    ),
    SpecialFile(
        r"PULL_REQUEST_TEMPLATE(\.(md|txt))?",
        EVERYWHERE,
        Inherited.IF_PUBLIC,
        _TEMPLATES,
        folders=(
            ".github/PULL_REQUEST_TEMPLATE",
            "PULL_REQUEST_TEMPLATE",
            "docs/PULL_REQUEST_TEMPLATE",
        ),
        extensions=(".md", ".txt"),
    ),
    SpecialFile(
        r"ISSUE_TEMPLATE(\.md)?",
        EVERYWHERE,
        Inherited.IF_PUBLIC,
        _TEMPLATES,
        folders=(ISSUE_TEMPLATES, "ISSUE_TEMPLATE", "docs/ISSUE_TEMPLATE"),
        extensions=(".md", ".yml", ".yaml"),
    ),
    SpecialFile(
        "CODEOWNERS",
        EVERYWHERE,
        Inherited.NEVER,
        f"{_DOCS}/repositories/managing-your-repositorys-settings-and-features"
        "/customizing-your-repository/about-code-owners#codeowners-file-location",
    ),
    SpecialFile(
        r"((un)?licen[sc]e|copying)(\.[^.]+|-.+)?|[^.]+-(licen[sc]e|copying)(\.[^.]+)?",
        ("",),
        Inherited.NEVER,
        "https://github.com/licensee/licensee/blob/main/docs/what-we-look-at.md",
    ),
    SpecialFile(
        r"README(\.[^.]+)?",
        EVERYWHERE,
        Inherited.NEVER,
        f"{_DOCS}/repositories/managing-your-repositorys-settings-and-features"
        "/customizing-your-repository/about-readmes",
        # What stands in `docs/` is shown for that directory as well, so it is wanted by itself
        listed=(".github", ""),
    ),
)
"""The order within ``places`` is GitHub's: the first of them that has such a file wins."""
YAML_FILES = {
    rf"{ISSUE_TEMPLATES}/(?!config$)[^/]+": "https://github.com/autokey/autokey/pull/896",
    r"\.github/dependabot": "https://github.com/github/docs/pull/43123",
    # `copilot-setup-steps` is looked for by its whole name
    rf"{WORKFLOW_FILES}(?!copilot-setup-steps$)[^/]+": (
        f"{_DOCS}/actions/reference/workflows-and-actions/workflow-syntax"
    ),
    r"(.+/)?action": f"{_DOCS}/actions/reference/workflows-and-actions/metadata-syntax",
}
"""Regular expressions of paths that GitHub reads as `.yml` and as `.yaml`, with their sources.

Where nobody has confirmed it (`FUNDING.yaml`, `.github/release.yaml`), the listed ending counts;
`config.yaml` beside issue templates is not read (https://github.com/orgs/community/discussions/36812).
"""
OWNER_DIRECTORIES = tuple(
    dict.fromkeys(
        directory
        for kind in SPECIAL_FILES
        if kind.inherited is not Inherited.NEVER
        for directory in (*EVERYWHERE, *kind.folders)
    )
)
"""All directories of the owner's repository ``.github`` from which files are inherited. It is read
once, with all of them, for every list."""


@lru_cache(maxsize=10_000)
def special_file(path: str) -> SpecialFile | None:
    """The kind of a listed path, if GitHub knows one.

    It is remembered, because every repository asks for the paths of the same list.
    """
    for kind in SPECIAL_FILES:
        listed = kind.places if kind.listed is None else kind.listed
        if directory_of(path) in listed and is_named(kind, path):
            return kind
    return None


def same_yaml(path: str) -> str | None:
    """The listed path with the other ending of YAML, if GitHub reads both."""
    stem, dot, ending = path.rpartition(".")
    other = {"yml": "yaml", "yaml": "yml"}.get(ending)
    is_read = other and any(re.fullmatch(each, stem) for each in YAML_FILES)
    return f"{stem}{dot}{other}" if is_read else None


def is_configuration(path: str) -> bool:
    """Whether a file in a folder of issue templates configures them, or is meant to."""
    return path.rpartition("/")[2].casefold() in {"config.yml", "config.yaml"}


def is_named(kind: SpecialFile, path: str) -> bool:
    """Whether the name of ``path`` is one of this kind, in any directory."""
    name = path.rpartition("/")[2]
    return bool(re.fullmatch(kind.name, name, _FLAGS))


def directory_of(path: str) -> str:
    """The directory of ``path``; the root is empty."""
    return path.rpartition("/")[0]
