"""What GitHub has: a repository, its branches, files and pull requests."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from registrar.errors import Failure
from registrar.texts.escaping import Link


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


Values = Mapping[str, tuple[str, ...]]
"""Values of custom properties by their names in lower case; one that is not set has none."""


class Repository(NamedTuple):
    """A repository, as far as an answer of GitHub describes it."""

    full_name: str
    """``owner/repo`` in GitHub's own spelling, the new one when it was renamed."""
    default_branch: str = ""
    html_url: str = ""
    id: int = 0
    """Its number, which stays the same when it is renamed; 0 if no answer has said it."""
    node_id: str = ""
    """What GraphQL calls it."""
    visibility: str = ""
    """``public``, ``private`` or ``internal``; empty if GitHub does not say."""
    archived: bool = False
    disabled: bool = False
    is_fork: bool = False
    can_push: bool | None = None
    """Whether the token's user may push; ``None`` if GitHub does not say."""
    takes_pull_requests: bool = True
    """False where they are switched off: GitHub then answers 404 to all requests about them."""
    of_person: bool = False
    """Whether it belongs to a person, so that it can have no custom properties."""
    language: str = ""
    """The main one; empty if GitHub found none."""
    topics: frozenset[str] = frozenset()
    properties: Values | None = None
    """``None`` if no answer had them."""
    created_at: str = ""
    """Moment (ISO 8601); empty if no answer has said it."""
    goes_by_id: bool = False
    """Whether it was chosen by its number. Then requests name the number, so that a new name does
    not matter.
    """

    @property
    def address(self) -> str:
        """Path of the REST API below which everything about the repository is.

        A renamed repository redirects to its number, and bors-ng/bors-ng reads and writes by it
        alone; GitHub's description of the API has only names.
        """
        return f"/repositories/{self.id}" if self.goes_by_id else f"/repos/{self.full_name}"

    @property
    def owner(self) -> str:
        """The part before the slash."""
        return self.full_name.partition("/")[0]

    @property
    def link(self) -> str:
        """The name, with its address if that is known."""
        return Link(self.full_name, self.html_url) if self.html_url else self.full_name

    @property
    def is_public(self) -> bool:
        """Whether everybody may know its name."""
        return self.visibility == "public"

    def described_by(self, other: "Repository") -> "Repository":
        """Take over what rules ask about it from an earlier description."""
        return self._replace(
            of_person=other.of_person,
            language=other.language,
            topics=other.topics,
            properties=other.properties,
        )


class PullRequest(NamedTuple):
    """A pull request of the target repository."""

    number: int
    url: str
    body: str = ""
    is_open: bool = True
    merged: bool = False
    author: str = ""
    """Login; empty if the account is gone."""
    is_by_writer: bool = False
    """Whether it is known without asking that who opened it may write here."""
    is_by_member: bool = False
    """Whether GitHub calls who opened it a member or a collaborator: they may only read, too."""
    head_branch: str = ""
    head_sha: str = ""
    head_repository: str = ""
    base_branch: str = ""
    merge_commit: str = ""
    """The commit that merged it, if GitHub says."""
    labels: frozenset[str] = frozenset()
    """In lower case: GitHub ignores the case of labels and of logins."""
    assignees: frozenset[str] = frozenset()
    """Logins in lower case."""
    created_at: str = ""
    """Moment (ISO 8601)."""
    closed_at: str = ""
    """Moment (ISO 8601); empty while it is open."""

    of: Repository | None = None
    """The repository that it is in, where the answer describes it."""
    is_withdrawn: bool = False
    """Whether this action has closed it, so that only what people took out of it is declined."""

    @property
    def was_closed(self) -> bool:
        """Whether it was closed without being merged."""
        return not self.is_open and not self.merged

    @property
    def was_refused(self) -> bool:
        """Whether a person has closed it, and so has declined all of it."""
        return self.was_closed and not self.is_withdrawn

    def has_body(self, text: str) -> bool:
        """Whether the body is ``text``; GitHub's own editor ends lines with CRLF."""
        return _lines(self.body) == _lines(text)

    @property
    def link(self) -> Link:
        """The number as a reader sees it, with its address."""
        return Link(f"#{self.number}", self.url)


class Comparison(NamedTuple):
    """What a commit has beyond another one."""

    merge_base: str
    """The best common ancestor; empty if there is none."""
    added: Mapping[str, str] | None
    """Blob ids of the added paths; ``None`` where anything else changed, or too much did."""


class BranchState(NamedTuple):
    """How the name of a branch stands: its commit, and the pull requests from it."""

    name: str
    head: str | None
    """``None`` if there is no such branch."""
    pull_requests: tuple[PullRequest, ...] = ()
    """Only those of the repository itself, no fork's; the newest first."""
    has_more: bool = False
    """Whether the answer did not hold all pull requests from branches of this name."""
    is_default: bool = False
    """Whether it has become the default branch since the repository was read."""
    entries: Mapping[str, "Entry"] | None = None
    """What the branch has in the directories of the listed paths, and in those above them; ``None``
    where that was not read."""

    @property
    def is_used(self) -> bool:
        """Whether there is such a branch, or was one with a pull request."""
        return self.head is not None or bool(self.pull_requests)


class Entry(NamedTuple):
    """What is at a path of a commit."""

    type: str
    """``blob`` (a file or a link), ``tree`` (a directory) or ``commit`` (a submodule)."""
    mode: str
    """Git's mode, six octal digits (``100644`` …); empty if GitHub does not say."""
    sha: str
    """Id of the object; empty for a directory that REST has listed instead, and for a file that it
    does not show."""

    @property
    def is_file(self) -> bool:
        """Whether it is a file: no directory, link or submodule."""
        return self.type == "blob" and self.mode != "120000"


Tree = Mapping[str, Entry]
"""Every path of a commit, directories left out."""

Directories = Mapping[str, Mapping[str, Entry]]
"""The entries of some directories (the root is empty) by their names."""

MOST_LISTED = 1000
"""Names of a directory that ``GET contents`` lists at most; a list of this length may be cut
(https://docs.github.com/en/rest/repos/contents#get-repository-content)."""


def entries_in(directory: str, tree: Tree) -> Mapping[str, Entry]:
    """All entries of a directory of a commit, as in `Directories`."""
    prefix = f"{directory}/" if directory else ""
    entries: dict[str, Entry] = {}
    for path, entry in tree.items():
        if path.startswith(prefix):
            name, slash, _ = path.removeprefix(prefix).partition("/")
            entries[name] = Entry("tree", "040000", "") if slash else entry
    return entries


class OwnerFiles(NamedTuple):
    """What the repository ``.github`` of the target's owner has."""

    directories: Directories
    is_public: bool
    """Else it is internal: what a private one has is not inherited."""


class RepositoryState(NamedTuple):
    """What a repository has of the listed paths, all read at the commit ``base_sha``: that of the
    base branch, or of the reference that is looked at."""

    repository: Repository
    base_sha: str
    entries: Mapping[str, Entry]
    """What is at each path that exists. A path that was asked for and is not a key does not exist.
    """
    branches: Mapping[str, BranchState] = MappingProxyType({})
    """How names of the working branch stand, those that were read."""
    heads: Mapping[str, str] | None = None
    """Commits of all branches whose names begin with that of the working branch; ``None``: they
    were not listed."""
    directories: Directories = MappingProxyType({})
    owner: OwnerFiles | None = None
    """``None`` if nothing is inherited from the owner, or it was not looked for."""
    pull_requests_error: Failure | None = None
    """Why the pull requests could not be read."""
    before: "RepositoryState | None" = None
    """The same if the commit has left the base branch, if it was asked for."""
