"""Who hears of a registration while it goes on, and what each of them is told."""

from contextlib import AbstractContextManager, nullcontext

from registrar.errors import Diagnostic
from registrar.models.paths import ListedPath
from registrar.models.record import PullRequestOperation
from registrar.models.repository import PullRequest, Repository
from registrar.texts.messages import Catalogue, Message


class Listener:
    """Hears of a registration while it goes on; this one does nothing with it.

    That is enough for one of many repositories.
    """

    def __init__(self, texts: Catalogue) -> None:
        """``texts`` is the catalogue of commits and pull requests, whatever is printed."""
        self.texts = texts

    def begins(self, repository: Repository) -> None:
        """Hear that the registration is about this repository, as GitHub describes it."""

    def group(self, _key: str, /, **_values: object) -> AbstractContextManager[None]:
        """Hear that what is told inside belongs together, under this heading."""
        return nullcontext()

    def line(self, message: Message) -> None:
        """Hear a sentence."""

    def warn(self, diagnostic: Diagnostic) -> None:
        """Hear a warning."""

    def path_found(self, listed: ListedPath, number: int, total: int) -> None:
        """Hear how a path stands before anything is done; it has a ``number`` of ``total``."""

    def path_done(self, listed: ListedPath, number: int, total: int) -> None:
        """Hear what was done about a path, which has a ``number`` of ``total``."""

    def pull_request_done(self, pull: PullRequest, operation: PullRequestOperation) -> None:
        """Hear what was done about the pull request."""
