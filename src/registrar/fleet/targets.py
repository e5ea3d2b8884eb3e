"""A list in a repository: what was read about it, and what is left to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from registrar.failure import Failure
from registrar.models.fleet import FleetRow, FleetState, PullState
from registrar.models.result import FileResult, RegistrationResult, State
from registrar.models.selection import Exclusion, ListedRepository
from registrar.models.spec import Chosen, RegistrationSpec
from registrar.reporting.records import Rows
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.file_lists import FileList


class Target(NamedTuple):
    """One list in one repository."""

    repository: ListedRepository
    files: FileList

    @property
    def spec(self) -> RegistrationSpec:
        """Ask for a registration under the listed name."""
        return self.files.spec(self.repository.full_name)

    @property
    def nothing_yet(self) -> RegistrationResult:
        """The result of a registration in which nothing has been done."""
        return self.files.nothing_yet(self.spec)

    @property
    def unread(self) -> RegistrationResult:
        """The result where nothing of the repository was read."""
        repository = self.repository
        return self.nothing_yet._replace(
            html_url=repository.html_url,
            repository_id=repository.id,
            visibility=repository.visibility,
            files=tuple(FileResult(each, State.PENDING) for each in self.files.definitions),
        )

    @property
    def chosen(self) -> Chosen:
        """The repository that a registration must find under its name."""
        return Chosen(self.repository.id, self.repository.node_id, self._may_be_called)

    def _may_be_called(self, full_name: str) -> bool:
        """Whether the repository is selected by the name that it has by now."""
        selection = self.files.settings.selection
        is_unchanged = full_name.lower() == self.repository.full_name.lower()
        return is_unchanged or bool(selection and selection.takes(full_name))

    def row(self, result: RegistrationResult, state: FleetState) -> FleetRow:
        """Give the row of the result."""
        return FleetRow(
            self.repository.full_name,
            self.files.profile.name,
            self.files.list_name,
            state,
            url=self.repository.html_url,
            missing=result.missing,
            notable=result.notable,
            failure=failure_of(result) if state is FleetState.FAILED else None,
            pull_request=result.pull_request or result.declined_in,
        )


_STATES = {
    None: FleetState.MISSING,
    PullState.TO_OPEN: FleetState.MISSING,
    PullState.TO_UPDATE: FleetState.MISSING,
    PullState.WAITING: FleetState.WAITING,
    PullState.DECLINED: FleetState.DECLINED,
}
"""How a repository with missing files stands, when nothing is written."""


class Reading(NamedTuple):
    """What was read about a list in a repository."""

    target: Target
    result: RegistrationResult
    """What a registration would do."""
    row: FleetRow
    """How the repository stands when nothing is going to be written."""
    pull_state: PullState | None = None
    """What is left to do; ``None`` where no file is missing that could be created."""
    exclusion: Exclusion | None = None
    """Why the repository is not worked on, after all."""
    is_known: bool = True
    """Whether it is known that there is a pull request, or none."""
    asks_more: bool = False
    """Whether only questions about this repository alone tell what a registration would do."""
    evidence: Rows | None = None
    """How its paths stood when they were read, where that is recorded."""

    def without_files(self, evidence: Rows | None) -> Reading:
        """Give the same, for later: the files of thousands of repositories fill the memory."""
        return self._replace(result=self.result._replace(files=()), evidence=evidence)


def reading_of(
    target: Target,
    result: RegistrationResult,
    *,
    exclusion: Exclusion | None = None,
    is_known: bool = True,
    asks_more: bool = False,
) -> Reading:
    """Give what was read, and what is left to do, by the ``result`` of a preview."""
    pull_state, state = pull_state_of(result), FleetState.COMPLETE
    if result.failure or result.failed:
        state = FleetState.FAILED
    elif asks_more:
        state = FleetState.UNREAD
    elif result.missing:
        state = _STATES[pull_state]
    row = target.row(result, state)
    return Reading(target, result, row, pull_state, exclusion, is_known, asks_more)


def pull_state_of(result: RegistrationResult) -> PullState | None:
    """Say what is left to do about the pull request, by a preview."""
    to_create = result.to_create
    if not to_create:
        return PullState.DECLINED if result.declined_in else None
    if result.pull_request is None:
        return PullState.TO_OPEN
    proposes_all = all(file.on_branch for file in to_create)
    return PullState.WAITING if proposes_all else PullState.TO_UPDATE


def failure_of(result: RegistrationResult) -> Failure | None:
    """What ended a registration, or why a file of it failed; ``None`` where all is well."""
    if result.failure:
        return result.failure
    failed = next(((file, file.failure) for file in result.files if file.failure), None)
    if failed is None:
        return None
    file, failure = failed
    message = msg("cause.one_failed", path=file.definition.path, reason=failure.message)
    return failure._replace(message=message)
