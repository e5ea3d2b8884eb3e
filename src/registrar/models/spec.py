"""What one registration is asked to do."""

from collections.abc import Iterator
from typing import NamedTuple

from registrar.errors import Diagnostic
from registrar.models.conditions import Condition
from registrar.models.files import FileDefinition, ListedFile
from registrar.models.repository import Repository
from registrar.models.rules import Rule
from registrar.models.settings import Defaults, Mode, Settings
from registrar.texts import templates


class FileList(NamedTuple):
    """A list as it was loaded, the same for every repository."""

    defaults: Defaults
    files: tuple[ListedFile, ...]
    """Files for every repository."""
    rules: tuple[Rule, ...] = ()
    """Files for some repositories only."""
    name: str = ""
    """Empty where the caller's own list gives none."""
    path: str = ""
    """Path of the caller's own list in its repository; empty for a built-in one."""
    blob_id: str = ""
    """The id under which git stores the file of the list."""
    commit: str = ""
    """The commit that its checkout is at, if git tracks it there; empty: that is not known."""
    digest: str = ""
    """SHA-256 over the paths and contents of the list."""
    warnings: tuple[Diagnostic, ...] = ()
    """What its file has and does not use."""

    @property
    def label(self) -> str:
        """What people call the list: its name, or its file if it has none."""
        return self.name or self.path

    @property
    def id(self) -> str:
        """What distinguishes the list from others, in the mark of a pull request."""
        kind = "profile" if not self.path else "list" if self.name else "file"
        return f"{kind} {self.label}"

    @property
    def possible(self) -> tuple[FileDefinition, ...]:
        """The files of the list, and of all its rules, as they are listed."""
        return tuple(each.file for each in self._entries)

    @property
    def _entries(self) -> Iterator[ListedFile]:
        """The entries of the list, and of all its rules."""
        yield from self.files
        yield from (each for rule in self.rules for each in rule.files)

    @property
    def _conditions(self) -> Iterator[Condition]:
        """The conditions of rules, and of parts of files."""
        yield from (rule.condition for rule in self.rules)
        yield from self._conditions_of_parts

    @property
    def _conditions_of_parts(self) -> Iterator[Condition]:
        yield from (asked for each in self._entries for asked in each.conditions if asked)

    @property
    def paths(self) -> frozenset[str]:
        """Every path that the list names."""
        listed = (path for each in self.possible for path in (each.path, *each.alternatives))
        return frozenset(listed).union(self.asked_paths)

    @property
    def asked_paths(self) -> tuple[str, ...]:
        """Paths that rules, and parts of files, ask about."""
        return tuple(dict.fromkeys(path for each in self._conditions for path in each.paths))

    @property
    def asks_in_parts(self) -> bool:
        """Whether what a file holds depends on which other files a repository has."""
        return any(asked.paths for asked in self._conditions_of_parts)

    @property
    def has_conditions(self) -> bool:
        """Whether the files, or what they hold, depend on the repository."""
        return any(self._conditions)

    @property
    def property_names(self) -> frozenset[str]:
        """Custom properties that rules or parts ask about, or templates name."""
        asked = (each.property_names for each in self._conditions)
        return frozenset[str]().union(*asked, *(each.named_properties for each in self.possible))


class Policy(NamedTuple):
    """How a registration in one repository and one of many differ; the defaults are of one."""

    tells_paths: bool = True
    """Whether people read what is said of each path, and not only how the repository stands."""
    fails_refused_files: bool = False
    """Whether a file that the token is known not to write fails alone; otherwise nothing begins."""
    falls_back: bool = True
    """Whether files are created one by one if GitHub refuses one commit with all of them."""
    refreshes: bool = True
    """Whether an open pull request that holds everything gets its text, labels and people anew."""
    asks_owner: bool = False
    """Whether a run that writes also finds out what the owner hands down: one request for all."""


ONE_OF_MANY = Policy(
    tells_paths=False,
    fails_refused_files=True,
    falls_back=False,
    refreshes=False,
    asks_owner=True,
)


class RegistrationSpec(NamedTuple):
    """One registration to be done: a list in a repository."""

    settings: Settings
    file_list: FileList
    repository: Repository
    """Its name alone, as it was given; in a run over many the very repository that was listed:
    another one may have its name by now."""

    is_preview: bool = False
    """Whether it only shows what would be done, in any mode."""
    policy: Policy = Policy()

    @property
    def target(self) -> str:
        """``owner/repo``, as it was given or listed."""
        return self.repository.full_name

    @property
    def writes(self) -> bool:
        """Whether it creates what is missing."""
        return self.settings.mode is Mode.REGISTER and not self.is_preview

    @property
    def withdraws(self) -> bool:
        """Whether it closes open pull requests of the list."""
        return self.settings.mode is Mode.WITHDRAW and not self.is_preview

    @property
    def proposes(self) -> bool:
        """Whether it is about what is created: not at a reference, nor if it is withdrawn."""
        return not (self.settings.ref or self.settings.mode is Mode.WITHDRAW)

    @property
    def tells_what_is_lost(self) -> bool:
        """Whether it says what the owner hands down, and new files would keep from being used."""
        mode, settings = self.settings.mode, self.settings
        is_asked = mode is Mode.PLAN or (mode is Mode.REGISTER and self.policy.asks_owner)
        return is_asked and not (settings.ref or settings.respect_alternatives)

    @property
    def branch(self) -> str:
        """Name of the working branch, as far as it is free."""
        owner, _, repo = self.target.partition("/")
        repo = templates.for_branch(repo)
        names = {"profile": self.file_list.defaults.name, "owner": owner, "repo": repo}
        return templates.fill(self.settings.branch, names) or self._default_branch_name

    @property
    def uses_profile_branch(self) -> bool:
        """Whether the working branch has the name that the list comes with.

        Nobody else is likely to choose that one.
        """
        return self.branch == self._default_branch_name

    @property
    def _default_branch_name(self) -> str:
        name, base = self.file_list.defaults.branch, self.settings.base
        return f"{name}-to-{base}" if base else name

    def base_of(self, repository: Repository) -> str:
        """Name of the branch that paths are looked up on, and that pull requests go to."""
        return self.settings.base or repository.default_branch

    def list_id(self, repository: Repository) -> str:
        """What distinguishes the list from others, in the mark of a pull request.

        A base other than the default branch is a part of it. Otherwise it is the same whatever the
        default branch is called, so that a "no" outlives its name.
        """
        base = self.base_of(repository)
        is_default = base == repository.default_branch
        return self.file_list.id if is_default else f"base {base} {self.file_list.id}"

    @property
    def was_listed(self) -> bool:
        """Whether GitHub has listed the repository, so that its facts and its id are known."""
        return bool(self.repository.node_id)

    def may_be_called(self, full_name: str) -> bool:
        """Whether the listed repository is selected by the name that it has by now."""
        selection = self.settings.selection
        is_unchanged = full_name.lower() == self.target.lower()
        return is_unchanged or bool(selection and selection.matches(full_name))

    @property
    def property_names(self) -> frozenset[str]:
        """Custom properties that rules ask about, or that templates or texts name."""
        return self.settings.property_names | self.file_list.property_names

    @property
    def grouped_by(self) -> tuple[str, ...]:
        """Custom properties by which results are grouped: these, and those that select."""
        selection = self.settings.selection
        selecting = selection.property_names if selection else frozenset[str]()
        return tuple(sorted(self.property_names | selecting))
