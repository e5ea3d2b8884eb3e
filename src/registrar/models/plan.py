"""What a registration has to do, and what it asks GitHub to create."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from registrar.models.files import FileDefinition
from registrar.models.repository import PullRequest, Repository, RepositoryState
from registrar.models.rules import LeftOut, Replaced
from registrar.models.settings import FailOn, PullRequestOptions
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import CODEOWNERS, CodeownersError, PresentFile, Standing
from registrar.texts.messages import Message


class Plan(NamedTuple):
    """What a registration has to do."""

    spec: RegistrationSpec
    state: RepositoryState
    definitions: tuple[FileDefinition, ...]
    """The list, its templates filled in for this repository."""
    missing: tuple[FileDefinition, ...]
    """What is to be created, in the order of the list."""
    unfit: tuple[int, ...] = ()
    """Numbers of the rules that do not apply."""
    replaced: tuple[Replaced, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    """Which parts of files are not used."""
    blocked: Mapping[str, str] = MappingProxyType({})
    """Missing paths below something that is not a directory, and what that is."""
    satisfied: Mapping[str, Message] = MappingProxyType({})
    """Paths that are not there, and why that is all right."""
    unset: Mapping[str, str] = MappingProxyType({})
    """Those of them whose templates name a custom property that is not set, and its name."""
    present: Mapping[str, PresentFile] = MappingProxyType({})
    """Listed paths that are present, or for which another file counts, and what is there."""
    other_case: Mapping[str, str] = MappingProxyType({})
    """Missing paths, and what exists that differs in letter case only."""
    hides: Mapping[str, str] = MappingProxyType({})
    """Missing paths, and the file that GitHub uses today and would then not use any more."""
    removed: tuple[str, ...] = ()
    """Listed paths that `RepositoryState.before` has, and the repository has no more."""
    codeowners: tuple[CodeownersError, ...] | None = ()
    """What GitHub finds wrong in a listed ``CODEOWNERS``, where it was asked; ``None``: it does not
    say."""

    @property
    def fitting(self) -> frozenset[int]:
        """Numbers of the rules that apply."""
        return frozenset(rule.number for rule in self.spec.files.rules).difference(self.unfit)

    @property
    def repository(self) -> Repository:
        return self.state.repository

    @property
    def codeowners_paths(self) -> frozenset[str]:
        """Where a listed ``CODEOWNERS`` is, or one that counts as it."""
        return frozenset(each.path for each in self.present.values()) & CODEOWNERS

    @property
    def asks_for_codeowners(self) -> bool:
        """Whether GitHub is asked what is wrong in these."""
        settings = self.spec.settings
        asks = FailOn.INVALID in settings.fail_on and settings.mode.only_reads
        return asks and bool(self.codeowners_paths)

    def with_codeowners(self, errors: Sequence[CodeownersError] | None) -> "Plan":
        """Add what GitHub finds wrong; ``None``: it does not say."""
        if errors is None:
            return self._replace(codeowners=None)
        paths = self.codeowners_paths
        return self._replace(codeowners=tuple(each for each in errors if each.path in paths))

    def standing(self, path: str) -> Standing:
        if present := self.present.get(path):
            return present.standing
        if path in self.unset:
            return Standing.UNSET
        return Standing.BLOCKED if path in self.blocked else Standing.MISSING


class NewCommit(NamedTuple):
    """A commit to be made: it adds files to a branch that is at the commit ``parent``."""

    branch: str
    parent: str
    headline: str
    body: str
    files: Sequence[FileDefinition]


class NewPullRequest(NamedTuple):
    """A pull request to be opened, from ``branch`` to the default branch."""

    branch: str
    title: str
    body: str
    options: PullRequestOptions


class Created(NamedTuple):
    """What became of a request for a branch, a commit and a pull request."""

    branch_id: str
    """What GraphQL calls the branch; empty when it was refused."""
    commit: str
    """Id of the commit; empty when it was refused."""
    pull_request: PullRequest | None
