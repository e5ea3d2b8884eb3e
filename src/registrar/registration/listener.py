"""The interface through which a registration reports its progress."""

from contextlib import AbstractContextManager, nullcontext

from registrar.errors import Diagnostic
from registrar.models.paths import ListedPath
from registrar.models.record import PullRequestOperation
from registrar.models.repository import PullRequest, Repository
from registrar.texts.messages import Catalogue, Message


class Listener:
    """Receives the progress of a registration. This class ignores everything, which is enough for
    one of many repositories.
    """

    def __init__(self, texts: Catalogue) -> None:
        """``texts`` is the catalogue for commits and pull requests, also if lines are printed in
        another language.
        """
        self.texts = texts

    def begins(self, repository: Repository) -> None:
        """Receive the repository of the registration, as GitHub describes it."""

    def group(self, _key: str, /, **_values: object) -> AbstractContextManager[None]:
        """Begin a group of lines with this heading; it ends with the context."""
        return nullcontext()

    def line(self, message: Message) -> None:
        """Receive a sentence."""

    def warn(self, diagnostic: Diagnostic) -> None:
        """Receive a warning."""

    def path_found(self, listed: ListedPath, number: int, total: int) -> None:
        """Receive the state of a path before anything is done; it is ``number`` of ``total``."""

    def path_done(self, listed: ListedPath, number: int, total: int) -> None:
        """Receive the outcome of a path; it is ``number`` of ``total``."""

    def pull_request_done(self, pull: PullRequest, operation: PullRequestOperation) -> None:
        """Receive the pull request, and the operation that was done on it."""
