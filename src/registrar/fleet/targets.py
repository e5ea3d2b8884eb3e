"""A list in a repository: what was read about it, and what is left to do."""

from __future__ import annotations

from typing import NamedTuple

from registrar.models.repository import Repository
from registrar.models.result import Done, FileResult, RegistrationResult, Status
from registrar.models.selection import Exclusion
from registrar.models.settings import Settings
from registrar.models.spec import FileList, RegistrationSpec
from registrar.models.standing import Standing
from registrar.reporting.records import Rows


class Target(NamedTuple):
    """One list in one repository."""

    settings: Settings
    files: FileList
    repository: Repository

    @property
    def spec(self) -> RegistrationSpec:
        """Ask for a registration under the listed name, in the repository that was listed."""
        listed = self.repository
        return RegistrationSpec(self.settings, self.files, listed.full_name, listed)

    @property
    def nothing_yet(self) -> RegistrationResult:
        """The result of a registration in which nothing has been done."""
        return RegistrationResult(self.spec, self.repository)

    @property
    def unread(self) -> RegistrationResult:
        """The result where nothing of the repository was read."""
        return self.nothing_yet._replace(
            files=tuple(
                FileResult(each, Standing.UNREAD, Done.PENDING) for each in self.files.definitions
            ),
        )


class Reading(NamedTuple):
    """What was read about a list in a repository."""

    target: Target
    result: RegistrationResult
    """What a registration would do, and how the repository stands when nothing is written."""
    status: Status = Status.COMPLETE
    """What is left to do about the pull request: that of ``result``, unless that has failed."""
    exclusion: Exclusion | None = None
    """Why the repository is not worked on, after all."""
    is_known: bool = True
    """Whether it is known that there is a pull request, or none."""
    evidence: Rows | None = None
    """How its paths stood when they were read, where that is recorded."""

    @property
    def is_left_to_do(self) -> bool:
        """Whether a registration may write."""
        return self.status in {Status.TO_OPEN, Status.TO_UPDATE, Status.WAITING}

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
    """Give what was read, and what is left to do, by the ``result`` of a preview.

    ``asks_more`` says that only questions about this repository alone tell that.
    """
    status = Status.UNREAD if asks_more else _left_to_do(result)
    has_failed = result.failure or result.failed
    result = result._replace(status=Status.FAILED if has_failed else status)
    return Reading(target, result, status, exclusion, is_known)


def _left_to_do(result: RegistrationResult) -> Status:
    """Say what is left to do about the pull request, by a preview."""
    if result.standing(Standing.MISSING):
        return Status.TO_UPDATE if result.pull_request else Status.TO_OPEN
    if result.standing(Standing.PROPOSED):
        return Status.WAITING
    return Status.DECLINED if result.declined_in else Status.COMPLETE
