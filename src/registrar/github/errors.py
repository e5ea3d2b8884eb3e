"""What a request to GitHub raises when it does not succeed."""

from __future__ import annotations

from registrar.errors import RegistrarError
from registrar.failure import Failure, Kind
from registrar.texts.messages import Message


class OutOfTime(RegistrarError):
    """Waiting any longer would exceed ``max_wait_minutes``, or the end of the run."""

    def __init__(self, failure: Failure, waits_for: Message) -> None:
        """``waits_for`` says in a few words what would have been waited for, and until when."""
        super().__init__(failure)
        self.waits_for = waits_for


class GitHubError(RegistrarError):
    """GitHub refused a request, or gave no usable answer."""

    @property
    def already_exists(self) -> bool:
        """Whether what was to be created exists."""
        return self.kind is Kind.ALREADY_EXISTS

    @property
    def may_have_been_applied(self) -> bool:
        """Whether the write may have been applied, in any of its tries."""
        return self.failure.may_have_been_applied
