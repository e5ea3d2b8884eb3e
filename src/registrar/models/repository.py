"""The data of GitHub that registrar reads: a repository, its branches, files, pull requests."""

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import NamedTuple

from registrar.errors import Failure
from registrar.texts.escaping import Link


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


Values = Mapping[str, tuple[str, ...]]
"""Values of custom properties by their names in lower case; an unset one has no values."""


class Unknown(Enum):
    """Why it is not known what exists. It stands in the place of a list, so that nobody takes it
    for an empty one."""

    NOT_ASKED = auto()
    """GitHub was not asked."""
    NOT_SHOWN = auto()
    """The answer does not show all of it."""
    NOT_PROVED = auto()
    """The answer may lack something without saying so."""


class Repository(NamedTuple):
    """A repository, with the data that an answer of GitHub has of it."""

    full_name: str
    """``owner/repo`` in GitHub's spelling; the new name if the repository was renamed."""
    default_branch: str = ""
    html_url: str = ""
    id: int = 0
    """The number of the repository, which a new name does not change; 0 if it is not known."""
    node_id: str = ""
    """The id of the repository in GraphQL; empty if it is not known."""
    visibility: str = ""
    """``public``, ``private`` or ``internal``; empty if GitHub does not say."""
    archived: bool = False
    disabled: bool = False
    is_fork: bool = False
    can_push: bool | None = None
    """Whether the token's user may push; ``None`` if GitHub does not say."""
    takes_pull_requests: bool = True
    """False if pull requests are switched off. GitHub then answers 404 to all requests about them.
    """
    of_person: bool = False
    """Whether the owner is a person, so that the repository cannot have custom properties."""
    language: str = ""
    """The main language; empty if GitHub found none."""
    topics: frozenset[str] = frozenset()
    properties: Values | None = None
    """The custom properties; ``None`` if they were not read."""
    created_at: str = ""
    """When the repository was created (ISO 8601); empty if it is not known."""
    goes_by_id: bool = False
    """Whether requests name the repository by its number, so that a new name does not matter."""

    @property
    def address(self) -> str:
        """The path of the repository in the REST API.

        GitHub's description of the API has only paths with names. But the old name of a renamed
        repository redirects to the path with the number, and bors-ng/bors-ng uses only that path.
        """
        return f"/repositories/{self.id}" if self.goes_by_id else f"/repos/{self.full_name}"

    @property
    def counted_as(self) -> int | str:
        """The number of the repository, because a name can pass to another repository; the name in
        lower case if the number is not known.
        """
        return self.id or self.full_name.lower()

    @property
    def owner(self) -> str:
        """The part before the slash."""
        return self.full_name.partition("/")[0]

    @property
    def has_defaults(self) -> bool:
        """Whether GitHub uses files of this repository in the other repositories of its owner.

        https://docs.github.com/en/communities/setting-up-your-project-for-healthy-contributions/creating-a-default-community-health-file
        """
        return self.full_name.lower().endswith("/.github")

    @property
    def hands_down(self) -> bool:
        """Whether other repositories inherit its files now; files of a private one they do not."""
        return self.has_defaults and self.visibility != "private"

    @property
    def link(self) -> str:
        """The name, as a link if the address is known."""
        return Link(self.full_name, self.html_url) if self.html_url else self.full_name

    @property
    def is_public(self) -> bool:
        """Whether the repository is public, so that everybody may know its name."""
        return self.visibility == "public"

    def described_by(self, other: "Repository") -> "Repository":
        """Return the repository with those values of ``other`` on which conditions depend."""
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
    """Whether it is known, without a request, that the author may write to the repository."""
    is_by_member: bool = False
    """Whether GitHub calls the author a member or a collaborator. Such people may have read access
    only."""
    head_branch: str = ""
    head_sha: str = ""
    head_repository: str = ""
    base_branch: str = ""
    merge_commit: str = ""
    """Id of the commit that merged it; empty if GitHub does not say."""
    labels: frozenset[str] = frozenset()
    """Names in lower case, because GitHub ignores the case of labels and of logins."""
    assignees: frozenset[str] = frozenset()
    """Logins in lower case."""
    created_at: str = ""
    """When it was opened (ISO 8601); empty if GitHub does not say."""
    closed_at: str = ""
    """When it was closed (ISO 8601); empty while it is open."""

    of: Repository | None = None
    """The repository of the pull request; ``None`` if the answer does not describe it."""
    is_withdrawn: bool = False
    """Whether registrar has withdrawn it, so that only files that people deleted from its branch
    are declined. False when it was read: the planning sets this for a pull request in which a path
    was declined."""
    base_is_gone: bool = False
    """Whether its base branch does not exist any more, so that it cannot be reopened. GitHub has
    closed it if somebody deleted the branch while it was open (jaraco/inflect#123). The planning
    sets this, too."""

    def at(self, repository: Repository) -> "PullRequest":
        """Return the pull request with an address that has the name by which ``repository`` is
        known.

        GitHub redirects it to a newer name. If the repository has become private since it was read,
        nobody but GitHub should tell its new name.
        """
        url = f"{repository.html_url}/pull/{self.number}" if repository.html_url else self.url
        return self._replace(url=url)

    @property
    def was_closed(self) -> bool:
        """Whether it was closed without being merged."""
        return not self.is_open and not self.merged

    @property
    def was_declined(self) -> bool:
        """Whether somebody else than registrar has closed it without a merge, and so has declined
        all its files. The one who closed it may also be a bot.

        True also for one that registrar has withdrawn, unless the planning has set `is_withdrawn`.
        """
        return self.was_closed and not self.is_withdrawn

    @property
    def brief(self) -> "PullRequest":
        """The pull request without its description, which is too large to be kept by a result."""
        return self._replace(body="")

    def has_body(self, text: str) -> bool:
        """Whether the description is ``text``.

        Line ends, and white space around the text, do not count: GitHub's editor writes CRLF.
        """
        return _lines(self.body) == _lines(text)

    @property
    def link(self) -> Link:
        """A link to the pull request, with ``#`` and its number as the text."""
        return Link(f"#{self.number}", self.url)


class Comparison(NamedTuple):
    """The changes from the merge base of two commits to the second one."""

    merge_base: str
    """Id of the best common ancestor; empty if there is none."""
    added: Mapping[str, str] | None
    """Blob ids of the added files by path; ``None`` if other changes were made too, or if there are
    more files than GitHub shows."""


class BranchState(NamedTuple):
    """The name of a branch, with the commit of the branch and the pull requests from it."""

    name: str
    head: str | None
    """Id of the commit; ``None`` if there is no such branch."""
    pull_requests: tuple[PullRequest, ...] = ()
    """The pull requests from this branch, without those from forks; the newest first."""
    has_more: bool = False
    """Whether GitHub has more pull requests from branches of this name than its answer."""
    is_default: bool = False
    """Whether the branch has become the default branch since the repository was read."""
    entries: Mapping[str, "Entry"] | Unknown = Unknown.NOT_ASKED
    """The entries of the directories of the listed paths, and of the directories above them, at the
    commit of the branch."""

    @property
    def is_used(self) -> bool:
        """Whether the branch exists, or once existed and had a pull request."""
        return self.head is not None or bool(self.pull_requests)

    def with_pull_request(self, now: PullRequest) -> "BranchState":
        """Return the state with the present state of one of its pull requests."""
        pulls = (now if each.number == now.number else each for each in self.pull_requests)
        return self._replace(pull_requests=tuple(pulls))


class Entry(NamedTuple):
    """A file, a link, a directory or a submodule at a path of a commit."""

    type: str
    """``blob`` (a file or a link), ``tree`` (a directory) or ``commit`` (a submodule)."""
    mode: str
    """Git's mode, six octal digits (``100644`` …); empty if GitHub does not say."""
    sha: str
    """Id of the object. It is empty for a directory whose entries GitHub gave instead, and for a
    file that was too large to be shown."""

    @property
    def is_file(self) -> bool:
        """Whether the entry is a file, not a directory, a link or a submodule."""
        return self.type == "blob" and self.mode != "120000"


Tree = Mapping[str, Entry]
"""Every entry of a commit by its path, without the directories."""

Directories = Mapping[str, Mapping[str, Entry]]
"""The entries of some directories: by the path of the directory (the root is empty), then by the
name of the entry."""

MOST_LISTED = 1000
"""The largest number of names that ``GET contents`` lists of a directory. A list of this length may
be cut (https://docs.github.com/en/rest/repos/contents#get-repository-content)."""


def entries_in(directory: str, tree: Tree) -> Mapping[str, Entry]:
    """Return the entries of a directory of a commit by their names; the root is empty."""
    prefix = f"{directory}/" if directory else ""
    entries: dict[str, Entry] = {}
    for path, entry in tree.items():
        if path.startswith(prefix):
            name, slash, _ = path.removeprefix(prefix).partition("/")
            entries[name] = Entry("tree", "040000", "") if slash else entry
    return entries


class OwnerFiles(NamedTuple):
    """The files in the ``.github`` repository of the owner that the target may inherit."""

    directories: Directories
    is_public: bool
    """Whether that repository is public. Otherwise it is internal, because the files of a private
    one are not inherited."""


class RepositoryState(NamedTuple):
    """A repository as it was read at one commit, with the branches of the list."""

    repository: Repository
    base_sha: str
    """Id of the commit that was read: the head of the base branch, or the one of `Settings.ref`."""
    entries: Mapping[str, Entry]
    """The entry at each path that exists. A path that was read and is not a key does not exist."""
    branches: Mapping[str, BranchState] = MappingProxyType({})
    """The working branches that were read, by name. A key may be a name without a branch."""
    heads: Mapping[str, str] | Unknown = Unknown.NOT_ASKED
    """Commits of all branches whose names begin with the name of the working branch."""
    directories: Directories = MappingProxyType({})
    """The directories that were read at the commit."""
    owner: OwnerFiles | Unknown | None = Unknown.NOT_ASKED
    """``None`` if nothing is inherited from the owner."""
    pull_requests_error: Failure | None = None
    """Why the pull requests could not be read; ``None`` if they were read, or not asked for."""
    before: "RepositoryState | None" = None
    """The same repository at the merge base, for `FailOn.REMOVED`; ``None`` if it was not read."""
