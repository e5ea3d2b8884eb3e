"""Other paths that count for a listed path: the alternatives of the list, and GitHub's rules."""

from __future__ import annotations

import pytest

from registrar.models.files import FileDefinition, parents
from registrar.models.repository import Entry
from registrar.presence import alternatives
from registrar.presence.alternatives import DirectoryEntries
from registrar.presence.names import forms_of
from registrar.presence.special_files import OWNER_DIRECTORIES, SPECIAL_FILES, YAML_FILES


def listing_of(*paths: str) -> DirectoryEntries:
    """Return the listings of all directories in a repository that has only these files."""
    directories: dict[str, dict[str, Entry]] = {"": {}}
    for path in paths:
        name, kind = path, "blob"
        for parent in (*parents(path), ""):
            entry = Entry(kind, "", "")
            directories.setdefault(parent, {})[name[len(parent) :].lstrip("/")] = entry
            name, kind = parent, "tree"
    return DirectoryEntries(directories)


GITHUB_ACCEPTS = {
    # A community health file is in one of three places, with any ending, in any letter case
    ".github/SECURITY.md": "SECURITY.md, docs/SECURITY.md",
    "SECURITY.md": ".github/security.md",
    "docs/CONTRIBUTING.md": "contributing.rst",
    ".github/CODE_OF_CONDUCT.md": (
        "docs/Code_of_Conduct.txt, code-of-conduct.md, .github/code_of-conduct.markdown"
    ),
    "CITIZEN_CODE_OF_CONDUCT.md": "docs/code-of-conduct.txt",
    ".github/GOVERNANCE.md": "GOVERNANCE",
    ".github/SUPPORT.md": "SUPPORT.adoc",
    "CODEOWNERS": "docs/CODEOWNERS",
    ".github/CODEOWNERS": "CODEOWNERS",
    ".github/FUNDING.yml": ".github/funding.yml",
    # A license has one of several names
    "LICENSE": (
        "LICENSE.md, LICENCE.txt, COPYING, LICENSE-MIT, MIT-LICENSE.txt, COPYRIGHT, "
        "MIT-COPYING, OFL.txt"
    ),
    "LICENSE.md": "license",
    "COPYING": "UNLICENSE",
    # A README may be in another place, with another ending or letter case
    "README.md": "readme.md, README, README.rst, .github/README.md, docs/README.md",
    # There is one template, or a folder of templates
    ".github/PULL_REQUEST_TEMPLATE.md": "pull_request_template.md, docs/pull_request_template.txt",
    ".github/ISSUE_TEMPLATE.md": ".github/ISSUE_TEMPLATE/bug.yml, .github/ISSUE_TEMPLATE/bug.yaml",
    "ISSUE_TEMPLATE.md": ".github/ISSUE_TEMPLATE/bug.md",
    ".github/ISSUE_TEMPLATE/config.yml": ".github/ISSUE_TEMPLATE/Config.yml",
    # YAML has two endings, and here GitHub reads both
    ".github/ISSUE_TEMPLATE/bug.md": (
        ".github/ISSUE_TEMPLATE/bug.yml, .github/ISSUE_TEMPLATE/Bug.yaml"
    ),
    ".github/ISSUE_TEMPLATE/bug.yml": (
        ".github/ISSUE_TEMPLATE/Bug.md, .github/ISSUE_TEMPLATE/bug.yaml"
    ),
    ".github/ISSUE_TEMPLATE/bug.yaml": (
        ".github/ISSUE_TEMPLATE/bug.yml, .github/ISSUE_TEMPLATE/bug.md"
    ),
    ".github/dependabot.yml": ".github/dependabot.yaml",
    ".github/dependabot.yaml": ".github/dependabot.yml",
    ".github/release.yml": ".github/release.yaml",
    ".github/release.yaml": ".github/release.yml",
    ".github/workflows/ci.yml": ".github/workflows/ci.yaml",
    ".github/workflows/ci.yaml": ".github/workflows/CI.yml",
    "action.yml": "action.yaml",
    "setup/action.yaml": "setup/action.yml",
    ".devcontainer/devcontainer.json": ".devcontainer.json",
    ".devcontainer.json": ".devcontainer/devcontainer.json",
    # For any other path only the letter case may differ
    "AGENTS.md": "agents.md",
    ".vscode/settings.json": ".vscode/Settings.json",
    "docs/guide.md": "Docs/guide.md",
    "caf\u00e9.md": "cafe\u0301.md",
}
GITHUB_DOES_NOT_ACCEPT = {
    ".github/SECURITY.md": "src/SECURITY.md, SECURITY.yml, SECURITY_INSIGHTS.md",
    ".github/SUPPORT.md": "SECURITY.md",
    ".github/CODE_OF_CONDUCT.md": "code of conduct.md, conduct.md",
    "packages/a/CONTRIBUTING.md": "CONTRIBUTING.md",
    "CODEOWNERS": "CODEOWNERS.md",
    ".github/FUNDING.yml": "FUNDING.yml, .github/FUNDING.yaml",
    "LICENSE": "docs/LICENSE, LICENSES/MIT.txt, LICENSE/MIT.txt, OFL-1.1.txt",
    "docs/README.md": "README.md",
    "README.md": "README.ja.md, src/README.md",
    ".github/PULL_REQUEST_TEMPLATE/feature.md": (
        ".github/PULL_REQUEST_TEMPLATE.md, .github/PULL_REQUEST_TEMPLATE/other.md"
    ),
    # GitHub fills in a file of such a folder only if a link names the file
    ".github/PULL_REQUEST_TEMPLATE.md": (
        ".github/PULL_REQUEST_TEMPLATE/feature.md, .github/pull_request_template/feature.md, "
        "PULL_REQUEST_TEMPLATE/pull_request_template.md, docs/PULL_REQUEST_TEMPLATE/feature.md"
    ),
    ".github/ISSUE_TEMPLATE/bug.yml": ".github/ISSUE_TEMPLATE/feature.yml",
    # GitHub reads a configuration with another ending neither as such nor as a template
    ".github/ISSUE_TEMPLATE/config.yml": (
        ".github/ISSUE_TEMPLATE/bug.yml, .github/ISSUE_TEMPLATE/config.md, "
        ".github/ISSUE_TEMPLATE/config.yaml"
    ),
    ".github/ISSUE_TEMPLATE/config.yaml": ".github/ISSUE_TEMPLATE/config.yml",
    ".github/ISSUE_TEMPLATE/config.md": ".github/ISSUE_TEMPLATE/config.yml",
    ".github/ISSUE_TEMPLATE.md": (
        "ISSUE_TEMPLATE/bug.yml, docs/ISSUE_TEMPLATE/bug.md, "
        ".github/ISSUE_TEMPLATE/config.yml, .github/ISSUE_TEMPLATE/config.yaml"
    ),
    # Nobody has confirmed that GitHub reads these
    ".github/DISCUSSION_TEMPLATE/ideas.yml": ".github/DISCUSSION_TEMPLATE/ideas.yaml",
    ".github/workflows/copilot-setup-steps.yml": ".github/workflows/copilot-setup-steps.yaml",
    "workflow-templates/ci.yml": "workflow-templates/ci.yaml",
    "dependabot.yml": "dependabot.yaml",
    "release.yml": ".github/release.yml",
    ".devcontainer/devcontainer.json": (
        "devcontainer.json, .devcontainer/a/devcontainer.json, .devcontainer/.devcontainer.json"
    ),
    ".devcontainer.json": "src/.devcontainer.json",
    ".github/workflows/lib/ci.yml": ".github/workflows/lib/ci.yaml",
    "my-action.yml": "my-action.yaml",
    "AGENTS.md": "docs/AGENTS.md",
    "docs": "docs/guide.md",
}


@pytest.mark.parametrize("listed", GITHUB_ACCEPTS)
def test_what_github_would_use_counts_as_present_where_it_is_respected(listed: str) -> None:
    """Only the directories that are read for the listed path matter.

    A directory in another letter case is found only in the listing of its parent.
    """
    definition = FileDefinition(listed)
    for exists in GITHUB_ACCEPTS[listed].split(", "):
        listing = listing_of(exists)
        assert alternatives.satisfied_by(definition, listing, respect=True) == exists
        assert alternatives.satisfied_by(definition, listing, respect=False) is None
        directory = exists.rpartition("/")[0]
        if directory != "Docs":
            assert directory in alternatives.directories_to_read([definition], respect=True)


@pytest.mark.parametrize("listed", GITHUB_DOES_NOT_ACCEPT)
def test_what_github_would_not_use_does_not_count(listed: str) -> None:
    definition = FileDefinition(listed)
    for exists in GITHUB_DOES_NOT_ACCEPT[listed].split(", "):
        found = alternatives.satisfied_by(definition, listing_of(exists), respect=True)
        assert found is None, exists


NOTES, BOTH = ("docs/notes.md", "b/NOTES.md"), ["SECURITY.md", "docs/SECURITY.md", "a.md", "b.md"]


@pytest.mark.parametrize(
    ("listed", "own", "exists", "always", "respected"),
    [
        # An alternative of the list counts always, and to the letter
        ("NOTES.md", NOTES, ["docs/notes.md"], "docs/notes.md", "docs/notes.md"),
        ("NOTES.md", NOTES, ["b/NOTES.md"], "b/NOTES.md", "b/NOTES.md"),
        ("NOTES.md", NOTES, ["docs/NOTES.md"], None, None),
        # Of several, the first of the list is named, otherwise the first by its name
        (".github/SECURITY.md", ("b.md", "a.md"), BOTH, "b.md", "b.md"),
        (".github/SECURITY.md", (), BOTH, None, "SECURITY.md"),
        ("LICENSE", (), ["LICENSE.md", "COPYING", "UNLICENSE"], None, "COPYING"),
        ("agents.md", (), ["agents.MD", "Agents.md", "AGENTS.md"], None, "AGENTS.md"),
    ],
)
def test_the_first_that_counts_is_named(
    listed: str, own: tuple[str, ...], exists: list[str], always: str | None, respected: str | None
) -> None:
    definition, listing = FileDefinition(listed, alternatives=own), listing_of(*exists)
    assert alternatives.satisfied_by(definition, listing, respect=False) == always
    assert alternatives.satisfied_by(definition, listing, respect=True) == respected


@pytest.mark.parametrize(
    ("listed", "own", "always", "respected"),
    [
        (".github/SECURITY.md", (), (), {".github", "", "docs"}),
        ("AGENTS.md", (), (), {""}),
        (".vscode/settings.json", (), (), {".vscode"}),
        (".github/ISSUE_TEMPLATE/config.yml", (), (), {".github/ISSUE_TEMPLATE"}),
        ("LICENSE", (), (), {""}),
        ("a/b", ("c/d", "e"), ("c", ""), {"c", "", "a"}),
    ],
)
def test_these_directories_are_read(
    listed: str, own: tuple[str, ...], always: tuple[str, ...], respected: set[str]
) -> None:
    definitions = [FileDefinition(listed, alternatives=own)]
    assert alternatives.directories_to_read(definitions, respect=False) == always
    assert set(alternatives.directories_to_read(definitions, respect=True)) == respected


INHERITED = {
    ".github/CODE_OF_CONDUCT.md": "CODE_OF_CONDUCT.md",
    ".github/SECURITY.md": "docs/security.md",
    ".github/FUNDING.yml": "FUNDING.yml",
    "CONTRIBUTING.md": ".github/CONTRIBUTING.md",
    # But for the templates of an internal repository
    ".github/PULL_REQUEST_TEMPLATE.md": "pull_request_template.md",
    ".github/ISSUE_TEMPLATE.md": "ISSUE_TEMPLATE.md",
    ".github/DISCUSSION_TEMPLATE/ideas.yml": ".github/DISCUSSION_TEMPLATE/ideas.yml",
    # GitHub inherits the whole folder
    ".github/ISSUE_TEMPLATE/config.yml": (
        ".github/ISSUE_TEMPLATE/config.yml, .github/ISSUE_TEMPLATE/feature.md"
    ),
    ".github/ISSUE_TEMPLATE/bug.yml": (
        ".github/ISSUE_TEMPLATE/config.yml, .github/ISSUE_TEMPLATE/feature.md"
    ),
}
NOT_INHERITED = {
    "LICENSE": "LICENSE",
    "README.md": "README.md",
    ".github/CODEOWNERS": ".github/CODEOWNERS",
    ".github/release.yml": ".github/release.yml",
    ".github/dependabot.yml": ".github/dependabot.yaml",
    ".devcontainer/devcontainer.json": ".devcontainer.json",
    "AGENTS.md": "AGENTS.md",
    ".github/ISSUE_TEMPLATE/config.yml": "ISSUE_TEMPLATE/config.yml",
    "packages/a/SECURITY.md": "SECURITY.md",
    ".github/DISCUSSION_TEMPLATE/ideas.yml": (
        ".github/DISCUSSION_TEMPLATE/q-a.yml, DISCUSSION_TEMPLATE/ideas.yml"
    ),
}


def inherited(listed: str, exists: str, *, is_public: bool) -> str | None:
    """Return what a repository with another file inherits from an owner with one file."""
    owner, definition = listing_of(exists), FileDefinition(listed)
    return alternatives.inherited_from(definition, listing_of("a"), owner, is_public=is_public)


@pytest.mark.parametrize("listed", INHERITED)
def test_what_is_inherited_but_for_templates_of_an_internal_repository(listed: str) -> None:
    for exists in INHERITED[listed].split(", "):
        assert inherited(listed, exists, is_public=True) == exists
        of_internal = None if "TEMPLATE" in listed else exists
        assert inherited(listed, exists, is_public=False) == of_internal
        assert exists.rpartition("/")[0] in OWNER_DIRECTORIES
    assert alternatives.may_inherit([FileDefinition(listed)])


@pytest.mark.parametrize("listed", NOT_INHERITED)
def test_what_is_not_inherited(listed: str) -> None:
    for exists in NOT_INHERITED[listed].split(", "):
        assert inherited(listed, exists, is_public=True) is None, exists


OWN_TEMPLATE, IDEAS = ".github/ISSUE_TEMPLATE/own.yml", ".github/DISCUSSION_TEMPLATE/ideas.yml"


@pytest.mark.parametrize(
    ("own", "listed", "expected"),
    [
        (OWN_TEMPLATE, ".github/ISSUE_TEMPLATE/config.yml", None),
        (OWN_TEMPLATE, ".github/ISSUE_TEMPLATE/bug.md", None),
        (OWN_TEMPLATE, ".github/ISSUE_TEMPLATE.md", None),
        (OWN_TEMPLATE, ".github/SECURITY.md", "SECURITY.md"),
        # Whether this is so is not confirmed, but a form counts as inherited only without it
        (".github/DISCUSSION_TEMPLATE/q-a.yml", IDEAS, None),
    ],
)
def test_own_templates_switch_off_the_inherited_ones(
    own: str, listed: str, expected: str | None
) -> None:
    owner = listing_of(".github/ISSUE_TEMPLATE/bug.md", "ISSUE_TEMPLATE.md", "SECURITY.md", IDEAS)
    definition, there = FileDefinition(listed), listing_of(own)
    assert alternatives.inherited_from(definition, there, owner, is_public=True) == expected
    assert alternatives.places_of([FileDefinition(IDEAS)]) == (".github",)


def test_the_owner_is_not_asked_where_nothing_is_inherited() -> None:
    scaffold = [FileDefinition(path) for path in ("README.md", ".vscode/settings.json", "LICENSE")]
    assert not alternatives.may_inherit(scaffold)


@pytest.mark.parametrize(
    ("path", "exists", "conflict"),
    [
        ("README.md", "readme.md", "readme.md"),
        ("README.md", "README.md", None),
        ("README.md", "readme.md README.md", None),
        ("README.md", "README.txt", None),
        ("docs/a.md", "Docs/b.md", "Docs/"),
        ("docs/a.md", "Docs/A.md", "Docs/A.md"),
        ("docs/a.md", "docs/b.md", None),
        ("a/b/c", "A/x", "A/"),
        ("caf\u00e9.md", "cafe\u0301.md", "cafe\u0301.md"),
        # A file where a directory is, and the other way round
        ("docs", "Docs/a.md", "Docs/"),
        ("docs/a.md", "Docs", "Docs"),
        ("a/caf\u00e9/b", "a/cafe\u0301", "a/cafe\u0301"),
        ("docs", "docs/a.md", None),
        ("docs/a.md", "docs", None),
    ],
)
def test_letter_case_conflict(path: str, exists: str, conflict: str | None) -> None:
    assert alternatives.letter_case_conflict(path, listing_of(*exists.split())) == conflict


@pytest.mark.parametrize(
    ("path", "other", "forms"),
    [
        ("caf\u00e9.md", "cafe\u0301.md", ("NFC", "NFD")),
        ("cafe\u0301.md", "caf\u00e9.md", ("NFD", "NFC")),
        ("caf\u00e9/a/b", "cafe\u0301/", ("NFC", "NFD")),
        ("\u00e9e\u0301", "\u00e9\u00e9", ("NFC + NFD", "NFC")),
        ("caf\u00e9.md", "Cafe\u0301.md", None),
        ("README.md", "readme.md", None),
        ("docs/a", "Docs/", None),
    ],
)
def test_unicode_forms(path: str, other: str, forms: tuple[str, str] | None) -> None:
    assert forms_of(path, other) == forms


def test_every_rule_names_its_public_source() -> None:
    for source in (*(kind.source for kind in SPECIAL_FILES), *YAML_FILES.values()):
        assert source.startswith(("https://docs.github.com/", "https://github.com/"))


@pytest.mark.parametrize(
    ("path", "present", "hidden", "used"),
    [
        (".github/SECURITY.md", ["SECURITY.md"], "SECURITY.md", ""),
        (".github/SECURITY.md", ["docs/security.txt"], "docs/security.txt", ""),
        (".github/SECURITY.md", ["SECURITY.md", "docs/SECURITY.md"], "SECURITY.md", ""),
        ("SECURITY.md", ["docs/SECURITY.md"], "docs/SECURITY.md", ""),
        ("docs/SECURITY.md", ["SECURITY.md"], "", "SECURITY.md"),
        ("SECURITY.md", [".github/SECURITY.md", "docs/SECURITY.md"], "", ".github/SECURITY.md"),
        (".github/SECURITY.md", [".github/SECURITY.rst", "SECURITY.md"], "", ""),
        (".github/SECURITY.md", ["src/SECURITY.md", "SECURITY.md/a"], "", ""),
        (".github/README.md", ["README.md"], "README.md", ""),
        ("README.md", [".github/README.md"], "", ".github/README.md"),
        ("README.md", ["docs/README.md"], "docs/README.md", ""),
        ("docs/README.md", ["README.md"], "", ""),
        (".github/CODEOWNERS", ["CODEOWNERS"], "CODEOWNERS", ""),
        # Mininglamp-OSS/octo-smart-summary#37
        ("CODEOWNERS", [".github/CODEOWNERS"], "", ".github/CODEOWNERS"),
        ("docs/CODEOWNERS", ["Docs/codeowners", "CODEOWNERS"], "", "CODEOWNERS"),
        (".github/release.yml", [".github/release.yaml"], ".github/release.yaml", ""),
        (".github/release.yaml", [".github/release.yml"], "", ".github/release.yml"),
        (".github/dependabot.yaml", [".github/dependabot.yml"], "", ".github/dependabot.yml"),
        (".github/release.yml", [".github/Release.yaml", ".github/Release.yml"], "", ""),
        (".github/workflows/a.yml", [".github/workflows/a.yaml"], "", ""),
        (
            ".devcontainer.json",
            [".devcontainer/devcontainer.json"],
            "",
            ".devcontainer/devcontainer.json",
        ),
        (".devcontainer/devcontainer.json", [".devcontainer.json"], ".devcontainer.json", ""),
        (".devcontainer/a/devcontainer.json", [".devcontainer.json"], "", ""),
        ("LICENSE", ["COPYING", "docs/LICENSE"], "", ""),
        (".github/FUNDING.yml", ["FUNDING.yml"], "", ""),
        (
            ".github/PULL_REQUEST_TEMPLATE.md",
            ["pull_request_template.md"],
            "pull_request_template.md",
            "",
        ),
        ("other.md", [".github/other.md"], "", ""),
    ],
)
def test_what_a_new_file_hides_and_by_what_it_is_hidden(
    path: str, present: list[str], hidden: str, used: str
) -> None:
    assert alternatives.rivals_of(path, listing_of(*present)) == (hidden, used)
