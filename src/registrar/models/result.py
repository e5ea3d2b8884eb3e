"""What became of one registration."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import NamedTuple

from registrar.failure import Failure
from registrar.models.evidence import CodeownersError, Found, Presence, notable
from registrar.models.files import FileDefinition
from registrar.models.repository import PullRequest
from registrar.models.rules import Replaced
from registrar.models.spec import FailOn, Mode
from registrar.texts.messages import Message, msg


class PullRequestOperation(StrEnum):
    """What a run did about its pull request."""

    CREATED = "created"
    UPDATED = "updated"
    NONE = "none"


class State(StrEnum):
    """What became of a listed path."""

    CREATED = "created"
    SKIPPED = "skipped"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """The response to the write never came. Counts as failed."""
    PENDING = "pending"
    """The run ended before it was this path's turn."""
    MISSING = "missing"
    """A run that writes nothing found it missing."""


FAILED_STATES = (State.FAILED, State.UNKNOWN)


class FileResult(NamedTuple):
    """A listed path with its state, the reason of the state, and the commit that created it."""

    definition: FileDefinition
    state: State
    reason: Message | None = None
    """Of a state that is no failure."""
    commit: str = ""
    on_branch: bool = False
    """Whether the working branch brings this path to the default branch."""
    failure: Failure | None = None
    hides: str = ""
    """The file of the repository that GitHub does not use any more once this one is there."""
    found: Found | None = None
    """What is there, where the path is present."""
    declined_in: PullRequest | None = None
    """Where somebody has declined the path."""
    unset: str = ""
    """The custom property without which the path is skipped."""

    @property
    def explanation(self) -> Message | None:
        """The reason of the state, whichever it is."""
        return self.failure.message if self.failure else self.reason

    @property
    def described(self) -> Message:
        """The state, with its reason where there is one; nothing in it names the path."""
        reasons = [self.failure.cause.message if self.failure else self.reason]
        if self.state in {State.CREATED, State.MISSING}:
            reasons += [_hides(self.hides), self.rule]
        return _with_reasons(self.state, *reasons)

    @property
    def rule(self) -> Message | None:
        """The rule of the list that it is from, if any."""
        number = self.definition.rule
        return msg("label.rule", number=number) if number else None

    @property
    def described_as_added(self) -> Message:
        """What a reviewer reads of a file that the working branch adds, whichever run did it."""
        reason = self.reason if self.state is State.CREATED else None
        return _with_reasons("added", reason, _hides(self.hides))


def _hides(other: str) -> Message | None:
    return msg("reason.hides", other=other) if other else None


def _with_reasons(state: str, *given: Message | None) -> Message:
    described = msg(f"state.{state}")
    reasons = [each for each in given if each]
    return msg("state.with_reason", state=described, reason=reasons) if reasons else described


class Note(NamedTuple):
    """Something worth knowing about a registration."""

    message: Message
    identity: str
    """The same for notes that differ only in what is a repository's own."""
    repeats_state: bool = False
    """Whether it says no more than the state of the repository."""


class RegistrationResult(NamedTuple):
    """The result of one profile: what the report is made of."""

    profile: str
    repository: str
    mode: Mode = Mode.REGISTER
    list_name: str = ""
    """What people call the list."""
    archived: bool = False
    fail_on: Collection[FailOn] = ()
    """What fails a check."""
    files: tuple[FileResult, ...] = ()
    branch: str = ""
    base_branch: str = ""
    html_url: str = ""
    """Address of the repository for people."""
    repository_id: int = 0
    visibility: str = ""
    """``public``, ``private`` or ``internal``; empty where it is not known."""
    commit: str = ""
    """The commit of the default branch that was read."""
    list_digest: str = ""
    """SHA-256 over the paths and contents of the list."""
    missing: int = 0
    """Number of listed files that the default branch lacks."""
    pull_request: PullRequest | None = None
    operation: PullRequestOperation = PullRequestOperation.NONE
    beside: tuple[PullRequest, ...] = ()
    """Open pull requests of other lists that have a name which this one would have taken."""
    unlisted: tuple[str, ...] = ()
    """Paths that earlier runs have added to the branch, and that are listed no more."""
    exit_code: int = 0
    failure: Failure | None = None
    """What ended it early."""
    notes: tuple[Note, ...] = ()
    codeowners: tuple[CodeownersError, ...] = ()
    """What GitHub finds wrong in a listed ``CODEOWNERS``."""
    fitting: frozenset[int] = frozenset()
    """Numbers of the rules that apply."""
    replaced: tuple[Replaced, ...] = ()
    """Entries of the list in whose place others stand."""

    @property
    def fails_check(self) -> bool:
        """Whether something fails a check."""
        counts = {
            FailOn.MISSING: self.missing,
            FailOn.BLANK: self.blank,
            FailOn.DIFFERS: self.differing,
            FailOn.INVALID: self.invalid,
        }
        return any(counts[each] for each in self.fail_on)

    def in_presence(self, *presences: Presence) -> list[FileResult]:
        """The present files of which one of ``presences`` holds."""
        return [file for file in self.files if file.found and file.found.presence in presences]

    @property
    def notable(self) -> Mapping[str, tuple[str, ...]]:
        """Listed paths that are there and deserve a look, by `evidence.KINDS`."""
        present = {file.definition.path: file.found for file in self.files if file.found}
        return notable(present, self.codeowners)

    @property
    def blank(self) -> int:
        """Number of files that are there and hold nothing."""
        return len(self.in_presence(Presence.BLANK))

    @property
    def differing(self) -> int:
        """Number of files that are there with another content than the list's."""
        return len(self.in_presence(Presence.DIFFERS))

    @property
    def invalid(self) -> int:
        """Number of paths with no file, and of mistakes that GitHub finds in ``CODEOWNERS``."""
        return len(self.in_presence(Presence.NOT_A_FILE)) + len(self.codeowners)

    @property
    def declined_in(self) -> PullRequest | None:
        """Where the first of the paths was declined that somebody has declined."""
        return next((file.declined_in for file in self.files if file.declined_in), None)

    @property
    def to_create(self) -> tuple[FileResult, ...]:
        """What a run that writes nothing would create: what is missing, and was not declined."""
        return tuple(f for f in self.files if f.state is State.MISSING and f.reason is None)

    def count(self, *states: State) -> int:
        """Count the paths in one of ``states``."""
        return sum(1 for file in self.files if file.state in states)

    @property
    def created(self) -> int:
        """Number of files that this run has created."""
        return self.count(State.CREATED)

    @property
    def skipped(self) -> int:
        """Number of paths that were left alone."""
        return self.count(State.SKIPPED)

    @property
    def failed(self) -> int:
        """Number of files that could not be created, or whose write was never answered."""
        return self.count(*FAILED_STATES)
