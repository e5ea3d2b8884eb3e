"""The files with a meaning for GitHub: their names, and the directories where GitHub looks.

`SPECIAL_FILES` has one row with a source for each kind, so a change by GitHub changes one row.
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
_LICENSEE = "https://github.com/licensee/licensee/blob/main"

EVERYWHERE = (".github", "", "docs")
"""The directories where GitHub looks for a community health file, in its order (`_DEFAULTS`)."""
ISSUE_TEMPLATES = ".github/ISSUE_TEMPLATE"
DISCUSSION_FORMS = ".github/DISCUSSION_TEMPLATE"
FORM_FOLDERS = frozenset({ISSUE_TEMPLATES, DISCUSSION_FORMS})
"""Folders whose files a repository inherits if it has none of its own in the folder (`_DEFAULTS`).
This is not confirmed for forms of discussions. Each of these belongs to the category of its name.
"""
WORKFLOW_FILES = ".github/workflows/"
"""The beginning of the paths of workflows, for which a token needs an additional permission."""
_FLAGS = re.IGNORECASE | re.ASCII
_TEXT = r"(\.(md|markdown|txt|rst|adoc))?"


class Inherited(Enum):
    """Whether GitHub uses a file from the owner's ``.github`` repository (`_DEFAULTS`)."""

    NEVER = "never"
    UNLESS_PRIVATE = "unless private"
    """From a public ``.github`` repository, and inside an enterprise from an internal one."""
    IF_PUBLIC = "if public"


class SpecialFile(NamedTuple):
    """A kind of file: files that GitHub uses for the same purpose, so that one is enough."""

    name: str
    """Regular expression of the file's name, in any letter case. It may look back at the path."""
    places: tuple[str, ...]
    """The directories where GitHub looks. It uses the first one that has such a file. The root is
    empty. In one directory, ``.yml`` comes before ``.yaml``; this is not confirmed."""
    inherited: Inherited
    source: str
    """The address of a page that describes this."""
    listed: tuple[str, ...] | None = None
    """The directories in which a listed file is of this kind; ``None`` for all of ``places``."""
    folders: tuple[str, ...] = ()
    """Directories in which every file with one of ``extensions`` is of this kind, too."""
    extensions: tuple[str, ...] = ()
    """Endings of names in ``folders``, with the dot, in lower case."""


SPECIAL_FILES = (
    *(
        SpecialFile(rf"{name}{_TEXT}", EVERYWHERE, Inherited.UNLESS_PRIVATE, _DEFAULTS)
        for name in ("CONTRIBUTING", "GOVERNANCE", "SECURITY", "SUPPORT")
    ),
    SpecialFile(
        rf"(citizen[_-])?code[_-]of[_-]conduct{_TEXT}",
        EVERYWHERE,
        Inherited.UNLESS_PRIVATE,
        f"{_LICENSEE}/lib/licensee/project_files/code_of_conduct_file.rb",
    ),
    SpecialFile(
        r"FUNDING\.yml",
        (".github",),
        Inherited.UNLESS_PRIVATE,
        f"{_DOCS}/repositories/managing-your-repositorys-settings-and-features"
        "/customizing-your-repository/displaying-a-sponsor-button-in-your-repository",
    ),
    # GitHub fills in a file of a folder PULL_REQUEST_TEMPLATE only if a link names the file
    # (ggml-org/llama.cpp#7868, Tribler/py-ipv8#811)
    SpecialFile(r"PULL_REQUEST_TEMPLATE(\.(md|txt))?", EVERYWHERE, Inherited.IF_PUBLIC, _TEMPLATES),
    # People choose from the folder in `.github`; a file of another folder needs a link that names
    # the file
    SpecialFile(
        r"ISSUE_TEMPLATE(\.md)?",
        EVERYWHERE,
        Inherited.IF_PUBLIC,
        f"{_DOCS}/communities/using-templates-to-encourage-useful-issues-and-pull-requests"
        "/manually-creating-a-single-issue-template-for-your-repository",
        folders=(ISSUE_TEMPLATES,),
        extensions=(".md", ".yml", ".yaml"),
    ),
    SpecialFile(
        r"release\.ya?ml",
        (".github",),
        Inherited.NEVER,
        f"{_DOCS}/rest/releases/releases#generate-release-notes-content-for-a-release",
    ),
    SpecialFile(
        r"dependabot\.ya?ml",
        (".github",),
        Inherited.NEVER,
        "https://github.com/github/docs/pull/43123",
    ),
    # A configuration in a folder of `.devcontainer` is left out, because there may be several, and
    # people choose one of them
    SpecialFile(
        r"(?<=/)devcontainer\.json|(?<!/)\.devcontainer\.json",
        (".devcontainer", ""),
        Inherited.NEVER,
        "https://github.com/devcontainers/spec/blob/main/docs/specs/devcontainer-reference.md",
    ),
    SpecialFile(
        "CODEOWNERS",
        EVERYWHERE,
        Inherited.NEVER,
        f"{_DOCS}/repositories/managing-your-repositorys-settings-and-features"
        "/customizing-your-repository/about-code-owners#codeowners-file-location",
    ),
    SpecialFile(
        r"((un)?licen[sc]e|copy(ing|right))(\.[^.]+|-.+)?|ofl(\.[^.]+)?"
        r"|[^.]+-(licen[sc]e|copy(ing|right))(\.[^.]+)?",
        ("",),
        Inherited.NEVER,
        f"{_LICENSEE}/lib/licensee/project_files/license_file.rb",
    ),
    SpecialFile(
        r"README(\.[^.]+)?",
        EVERYWHERE,
        Inherited.NEVER,
        f"{_DOCS}/repositories/managing-your-repositorys-settings-and-features"
        "/customizing-your-repository/about-readmes",
        # GitHub also shows a README in `docs/` for that directory, so a listed one has its own use
        listed=(".github", ""),
    ),
)
"""The kinds of files that GitHub knows. A path is of the first kind that matches."""
YAML_FILES = {
    rf"{ISSUE_TEMPLATES}/(?!config$)[^/]+": "https://github.com/autokey/autokey/pull/896",
    # GitHub finds `copilot-setup-steps` only under its full name
    rf"{WORKFLOW_FILES}(?!copilot-setup-steps$)[^/]+": (
        f"{_DOCS}/actions/reference/workflows-and-actions/workflow-syntax"
    ),
    r"(.+/)?action": f"{_DOCS}/actions/reference/workflows-and-actions/metadata-syntax",
}
"""Regular expressions of other paths that GitHub reads with `.yml` and with `.yaml`, with their
sources.

If there is no source for that (`FUNDING.yaml`), only the listed ending counts. GitHub does not read
`config.yaml` in the folder of issue templates (https://github.com/orgs/community/discussions/36812).
"""
INVALID_IF_BLANK = re.compile(
    r"\.github/(?:workflows/[^/]+|ISSUE_TEMPLATE/(?!config\.)[^/]+|DISCUSSION_TEMPLATE/[^/]+"
    r"|dependabot)\.ya?ml|(?:\.github/actions/.+/)?action\.ya?ml"
)
"""Paths of files that have required keys, so GitHub reports an error if they are blank. A blank
workflow fails at every push (wasmerio/wasmer#5832).

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax,
https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-issue-forms,
https://docs.github.com/en/discussions/managing-discussions-for-your-community/syntax-for-discussion-category-forms,
https://docs.github.com/en/code-security/dependabot/working-with-dependabot/dependabot-options-reference,
https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax
"""
OWNER_DIRECTORIES = tuple(
    dict.fromkeys(
        directory
        for kind in SPECIAL_FILES
        if kind.inherited is not Inherited.NEVER
        for directory in (*EVERYWHERE, *kind.folders, DISCUSSION_FORMS)
    )
)
"""All directories of the owner's ``.github`` repository from which files are inherited. They are
read together once, and then serve every list."""


@lru_cache(maxsize=10_000)
def special_file(path: str) -> SpecialFile | None:
    """Return the kind of a listed path; ``None`` if the path has no meaning for GitHub.

    The result is cached, because every repository needs it for the paths of the same list.
    """
    for kind in SPECIAL_FILES:
        listed = kind.places if kind.listed is None else kind.listed
        if directory_of(path) in listed and is_named(kind, path):
            return kind
    return None


def same_yaml(path: str) -> str | None:
    """Return the path with the other ending of YAML; ``None`` if GitHub does not read both."""
    stem, dot, ending = path.rpartition(".")
    other = {"yml": "yaml", "yaml": "yml"}.get(ending)
    is_read = other and any(re.fullmatch(each, stem) for each in YAML_FILES)
    return f"{stem}{dot}{other}" if is_read else None


def is_issue_template(path: str) -> bool:
    """Whether a path is in the folder of issue templates, which is inherited only as a whole."""
    return directory_of(path) == ISSUE_TEMPLATES


def is_configuration(path: str) -> bool:
    """Whether a file in a folder of issue templates is a configuration and not a template.

    This includes ``config.yaml``, although GitHub reads only ``config.yml``.
    """
    return path.rpartition("/")[2].casefold() in {"config.yml", "config.yaml"}


def is_named(kind: SpecialFile, path: str) -> bool:
    """Whether ``path`` has a name of this kind, in any directory."""
    return bool(re.compile(kind.name, _FLAGS).fullmatch(path, path.rfind("/") + 1))


def directory_of(path: str) -> str:
    """Return the directory of ``path``; the root is empty."""
    return path.rpartition("/")[0]
