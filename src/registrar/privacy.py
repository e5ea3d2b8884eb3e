"""Decides for every output of a run which texts and paths may be published.

No output contains the token. If people can read the log who may not see a private repository, a run
over many selects only repositories that all of them may see (`Selection.most_private`). GitHub's
own words are left out there, because they may name any repository. A repository that the workflow
itself names (``target_repo``) has its lines, but without GitHub's own words and without paths that
are not listed.
"""

from copy import copy
from dataclasses import replace

from registrar.models.paths import ListedPath, Present, by_path
from registrar.models.record import Record
from registrar.models.repository import Repository
from registrar.models.run_result import RunResult
from registrar.texts.escaping import FoundPath, Lines, Redactor

_NOT_SHOWN = "…"


class Privacy:
    """Decides which texts and paths of a run may be published."""

    def __init__(self, token: str, instead_of_words: str) -> None:
        """``instead_of_words`` is shown in the place of GitHub's own words."""
        self.without_token = Redactor(token)
        self._instead_of_words = instead_of_words
        self._hides_words = False
        self._listed: frozenset[str] | None = None
        """The only paths that may be named; ``None`` if all of them may."""

    def hide_words(self) -> None:
        """Leave out GitHub's own words from now on."""
        self._hides_words = True

    def of_one(self, listed: frozenset[str]) -> None:
        """Set the rules for a run over one repository that may be private, while others can read
        the log. `identify` ends them if the repository is public.

        ``listed`` are the paths that the lists name.
        """
        self._hides_words, self._listed = True, listed

    def identify(self, repository: Repository) -> None:
        """Take the repository of a run over one; if it is public, everything may be published."""
        if repository.is_public:
            self._hides_words, self._listed = False, None

    def text(self, text: str) -> str:
        """Return a text as it may be published."""
        if self._hides_words and isinstance(text, Lines):
            return self._instead_of_words
        if self._listed is not None and isinstance(text, FoundPath) and text not in self._listed:
            return _NOT_SHOWN
        return self.without_token(text)

    def row(self, row: Record) -> Record:
        """Return a record as it may be published."""
        if self._listed is None:
            return row
        return replace(row, paths=by_path(map(_listed_only, row.files)))

    def published(self, result: RunResult) -> RunResult:
        """Return the result of a run as it may be published."""
        published = copy(result)
        published.registrations = [*map(self.row, result.registrations)]
        return published


def _listed_only(file: ListedPath) -> ListedPath:
    """Keep the listed path only: leave out the other path where the file was found, and the file
    that it would hide.
    """
    if isinstance(file.plan, Present):
        present = file.plan.file._replace(path=file.path)
        file = file._replace(plan=file.plan._replace(file=present))
    return file._replace(hides="", used_instead="")
