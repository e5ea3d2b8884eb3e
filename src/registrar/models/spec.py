"""The task of one registration: a list, a repository and the settings."""

from collections.abc import Iterator
from typing import NamedTuple

from registrar.errors import Diagnostic
from registrar.models.conditions import Condition
from registrar.models.files import FileDefinition, ListEntry
from registrar.models.repository import Repository
from registrar.models.rules import Rule
from registrar.models.settings import Defaults, Mode, Settings
from registrar.texts import templates


class FileList(NamedTuple):
    """A list as it was read from its file. It is the same for every repository."""

    defaults: Defaults
    files: tuple[ListEntry, ...]
    """Files for every repository."""
    rules: tuple[Rule, ...] = ()
    """Files for some repositories only."""
    name: str = ""
    """Name of the list; empty if the caller's own list has none."""
    path: str = ""
    """Path of the caller's own list in its repository; empty for a built-in one."""
    blob_id: str = ""
    """The id under which git stores the definition file."""
    commit: str = ""
    """Id of the commit that is checked out, if it has the definition file; empty if it is not
    known."""
    sources: frozenset[str] = frozenset()
    """Paths, in the same repository, of the definition file and of the files with contents."""
    digest: str = ""
    """SHA-256 of the paths and contents of the list (`digest_of`)."""
    warnings: tuple[Diagnostic, ...] = ()
    """Warnings about the definition file."""
    has_fixed_requests: bool = False
    """Whether a run over one repository sends no more requests for a note than it ever did
    (`Profile`)."""

    @property
    def label(self) -> str:
        """The list in words for people: its name, or the path of its file if it has none."""
        return self.name or self.path

    @property
    def id(self) -> str:
        """The kind and the label of the list, which distinguish it from others in a mark."""
        kind = "profile" if not self.path else "list" if self.name else "file"
        return f"{kind} {self.label}"

    @property
    def possible(self) -> tuple[FileDefinition, ...]:
        """Every file that some repository may get, with all parts and placeholders."""
        return tuple(each.file for each in self._entries)

    @property
    def _entries(self) -> Iterator[ListEntry]:
        """The entries outside rules, then those of all rules."""
        yield from self.files
        yield from (each for rule in self.rules for each in rule.files)

    @property
    def _conditions(self) -> Iterator[Condition]:
        """The conditions of all rules, then those of all parts of files."""
        yield from (rule.condition for rule in self.rules)
        yield from (asked for each in self._entries for asked in each.conditions if asked)

    @property
    def paths(self) -> frozenset[str]:
        """Every path in the list: those of files and alternatives, and those in conditions."""
        listed = (path for each in self.possible for path in (each.path, *each.alternatives))
        return frozenset(listed).union(self.asked_paths)

    @property
    def asked_paths(self) -> tuple[str, ...]:
        """The paths on which the conditions of rules and parts depend."""
        return tuple(dict.fromkeys(path for each in self._conditions for path in each.paths))

    @property
    def has_conditions(self) -> bool:
        """Whether the files or their contents depend on the repository, because of a condition."""
        return any(self._conditions)

    @property
    def property_names(self) -> frozenset[str]:
        """Custom properties on which conditions or contents depend, in lower case."""
        asked = (each.property_names for each in self._conditions)
        return frozenset[str]().union(*asked, *(each.named_properties for each in self.possible))


class Policy(NamedTuple):
    """The differences between a run over one repository and a run over many.

    The defaults are for one repository, `ONE_OF_MANY` is for each of many.
    """

    tells_paths: bool = True
    """Whether the report describes each path, and not only the state of the repository."""
    fails_refused_files: bool = False
    """Whether a file fails alone if it is known that the token may not write it. Otherwise the run
    ends before it writes anything."""
    falls_back: bool = True
    """Whether files are created one by one if GitHub refuses one commit with all of them."""
    refreshes: bool = True
    """Whether labels and people of an open pull request are set again if it already has every
    file."""
    describes: bool = True
    """Whether the description of an open pull request may be updated although no file is. Over many
    repositories only if the run has said so before."""
    asks_owner: bool = False
    """Whether a run that writes reads every file that the owner's ``.github`` repository would give
    to the repository. Over many, one request is enough for all repositories of an owner."""


ONE_OF_MANY = Policy(
    tells_paths=False,
    fails_refused_files=True,
    falls_back=False,
    refreshes=False,
    asks_owner=True,
)


class RegistrationSpec(NamedTuple):
    """The task of one registration: a list for one repository."""

    settings: Settings
    file_list: FileList
    repository: Repository
    """The repository as GitHub listed it, in a run over many; otherwise only the given name."""

    is_preview: bool = False
    """Whether the registration writes nothing in any mode, and only shows the work to do."""
    policy: Policy = Policy()

    @property
    def target(self) -> str:
        """``owner/repo`` as the input or GitHub's listing has it."""
        return self.repository.full_name

    @property
    def writes(self) -> bool:
        """Whether the registration creates missing files."""
        return self.settings.mode is Mode.REGISTER and not self.is_preview

    @property
    def withdraws(self) -> bool:
        """Whether the registration withdraws open pull requests of the list."""
        return self.settings.mode is Mode.WITHDRAW and not self.is_preview

    @property
    def proposes(self) -> bool:
        """Whether missing files are proposed, or would be in another mode.

        False at a reference, and with `Mode.WITHDRAW`.
        """
        return not (self.settings.ref or self.settings.mode is Mode.WITHDRAW)

    @property
    def opens_nothing(self) -> bool:
        """Whether no new pull request is opened, because the repository has the defaults of its
        owner, and only a pattern selects it.
        """
        settings, repository = self.settings, self.repository
        selection = settings.selection if settings.mode in {Mode.REGISTER, Mode.PLAN} else None
        is_named = selection is None or selection.names(repository.full_name)
        return repository.has_defaults and not is_named

    @property
    def tells_what_is_lost(self) -> bool:
        """Whether to warn of inherited files that GitHub would no longer use.

        GitHub uses a file of the owner's ``.github`` repository only as long as the repository has
        none of its own.
        """
        mode, settings = self.settings.mode, self.settings
        may_ask = self.policy.asks_owner or not self.file_list.has_fixed_requests
        is_asked = mode is Mode.PLAN or (mode is Mode.REGISTER and may_ask)
        return is_asked and not (settings.ref or settings.respect_alternatives)

    @property
    def names_open_pull_requests(self) -> bool:
        """Whether to look for an open pull request although every listed file exists, so that it
        does not stay open without a word. With `CommitStrategy.SINGLE` it has been read anyway.
        """
        settings = self.settings
        is_asked = settings.mode in {Mode.PLAN, Mode.REGISTER} and not settings.ref
        return is_asked and settings.update and not self.file_list.has_fixed_requests

    @property
    def branch(self) -> str:
        """The first name for the working branch, which may already be in use."""
        owner, _, repo = self.target.partition("/")
        repo = templates.for_branch(repo)
        names = {"profile": self.file_list.defaults.name, "owner": owner, "repo": repo}
        return templates.fill(self.settings.branch, names) or self.file_list.defaults.branch

    @property
    def uses_profile_branch(self) -> bool:
        """Whether the working branch has the default name of the list.

        Nobody else is likely to choose this name.
        """
        return self.branch == self.file_list.defaults.branch

    def base_of(self, repository: Repository) -> str:
        """Return the name of the branch into which pull requests are to be merged.

        Paths are looked up on this branch, too.
        """
        return self.settings.base or repository.default_branch

    def list_id(self, repository: Repository) -> str:
        """Return the id of the list in a mark, which distinguishes it from other lists.

        The id contains the name of a base branch that is not the default branch. It does not
        contain the name of the default branch, so that declined files stay declined if that branch
        is renamed.
        """
        base = self.base_of(repository)
        return self.file_list.id if base == repository.default_branch else self.id_with_base(base)

    def id_with_base(self, base: str) -> str:
        """Return the id of the list in the mark of a pull request into another branch than the
        default one.
        """
        return f"base {base} {self.file_list.id}"

    @property
    def source(self) -> tuple[str, ...]:
        """Texts that identify the repository of a list without a name, because other repositories
        may have a list at the same path. One of two equal texts suffices, so that the repository
        may be renamed. Empty if the list has another id, or if the repository is not known.
        """
        files, settings = self.file_list, self.settings
        if files.name or not (files.path and settings.workflow_repository):
            return ()
        name, number = settings.workflow_repository.lower(), settings.workflow_repository_id
        return (f"repository {name}", *([f"repository {number}"] if number else []))

    @property
    def was_listed(self) -> bool:
        """Whether the repository is from GitHub's listing, so that its data and ids are known."""
        return bool(self.repository.node_id)

    def may_be_called(self, full_name: str) -> bool:
        """Whether ``full_name``, the present name of a listed repository, is still selected.

        True if the name has not changed.
        """
        selection = self.settings.selection
        is_unchanged = full_name.lower() == self.target.lower()
        return is_unchanged or bool(selection and selection.matches(full_name))

    def hides(self, repository: Repository) -> bool:
        """Whether somebody who can read the log of a run over many may not see a repository."""
        selection = self.settings.selection
        return bool(selection and selection.is_too_private(repository))

    @property
    def property_names(self) -> frozenset[str]:
        """Custom properties on which the list or the texts of the run depend, in lower case."""
        return self.settings.property_names | self.file_list.property_names

    @property
    def grouped_by(self) -> tuple[str, ...]:
        """Custom properties whose values the evidence shows, sorted.

        They are those in `property_names`, and those by which repositories are selected.
        """
        selection = self.settings.selection
        selecting = selection.property_names if selection else frozenset[str]()
        return tuple(sorted(self.property_names | selecting))
