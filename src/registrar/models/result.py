"""What became of one registration."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from registrar.models.files import FileDefinition
from registrar.models.repository import PullRequest
from registrar.models.spec import Mode
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
    commit: str = ""
    on_branch: bool = False
    """Whether the working branch brings this path to the default branch."""

    @property
    def cause(self) -> Message | None:
        """The reason as other paths may share it: nothing in it names the path."""
        if self.reason is None:
            return None
        inner = self.reason.values.get("reason")
        if self.reason.key == "host.failed" and isinstance(inner, Message):
            return inner
        return self.reason

    @property
    def described(self) -> Message:
        """The state, with its cause where there is one."""
        state = msg(f"state.{self.state}")
        return msg("state.with_reason", state=state, reason=self.cause) if self.cause else state


class RegistrationResult(NamedTuple):
    """The result of one profile: what the report is made of."""

    profile: str
    repository: str
    mode: Mode = Mode.REGISTER
    files: tuple[FileResult, ...] = ()
    branch: str = ""
    base_branch: str = ""
    html_url: str = ""
    """Address of the repository for people."""
    missing: int = 0
    """Number of listed files that the default branch lacks."""
    pull_request: PullRequest | None = None
    operation: PullRequestOperation = PullRequestOperation.NONE
    exit_code: int = 0
    error: Message | None = None
    notes: tuple[Message, ...] = ()

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
