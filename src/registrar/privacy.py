"""Decides for every output of a run which repositories, texts and paths may be published.

No output contains the token. If others can read the log of the workflow, a repository that may be
private has no line of its own in a run over many; it is only counted. A repository that the
workflow itself names (``target_repo``) has its lines, but without GitHub's own words and without
paths that are not listed.
"""

from collections import Counter
from collections.abc import Set
from copy import copy
from dataclasses import replace

from registrar.errors import Cause, Diagnostic, Failure, Kind
from registrar.models.paths import ListedPath, by_path
from registrar.models.record import Record
from registrar.models.repository import Repository
from registrar.models.run_result import Budget, ManyResult, NotNamed, RunResult
from registrar.texts.escaping import FoundPath, Lines, Redactor
from registrar.texts.messages import Message, msg

_NOT_SHOWN = "…"
_KINDS = {
    Kind.NOT_FOUND: "kind.not_found",
    Kind.EMPTY_REPOSITORY: "kind.empty",
    Kind.TOKEN_REJECTED: "kind.token",
    Kind.PERMISSION: "kind.permission",
    Kind.VALIDATION: "kind.value",
    Kind.NO_DRAFTS: "kind.value",
    Kind.STALE: "kind.moved",
    Kind.MOVED: "kind.moved",
    Kind.REFUSED: "kind.refused",
    Kind.LIMIT: "kind.limit",
    Kind.USED_UP: "kind.limit",
    Kind.OUT_OF_TIME: "kind.time",
    Kind.LAG: "kind.no_answer",
    Kind.PARTIAL: "kind.no_answer",
    Kind.TIMED_OUT: "kind.no_answer",
    Kind.TRANSIENT: "kind.no_answer",
    Kind.UNUSABLE: "kind.no_answer",
    Kind.FATAL: "kind.connection",
    Kind.NOT_BEGUN: "kind.not_begun",
    Kind.CANCELLED: "kind.cancelled",
}


def kind_in_words(kind: Kind) -> Message:
    """Return the kind of a failure in registrar's own words."""
    return msg(_KINDS.get(kind, "kind.other"))


def told(failure: Failure) -> Message:
    """Return the reason of a failure for people who may not know the name of the repository."""
    return failure.cause.told or kind_in_words(failure.kind)


class Privacy:
    """Decides which repositories of a run may be named, and which facts about them."""

    def __init__(self, token: str, instead_of_words: str) -> None:
        """``instead_of_words`` is shown in the place of GitHub's own words."""
        self.without_token = Redactor(token)
        self._instead_of_words = instead_of_words
        self.counts_private = False
        """Whether a repository that may be private is only counted."""
        self.not_public: Set[int] = frozenset()
        """Numbers of the repositories that any answer has called private or internal."""
        self._hides_words = False
        self._listed: frozenset[str] | None = None
        """The paths of the only repository that may be named; ``None`` if all of them may."""

    def of_many(self, *, others_read: bool) -> None:
        """Set the rules for a run over many repositories.

        ``others_read`` is true if others may be able to read the log of the workflow.
        """
        self.counts_private = self._hides_words = others_read

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

    def row(self, row: Record) -> Record | None:
        """Return a record as it may be published; ``None`` if the repository is only counted."""
        if self._listed is not None:
            return row._replace(paths=by_path(map(_listed_only, row.files)))
        if not self.counts_private:
            return row
        is_hidden = row.spec.repository.id in self.not_public
        if is_hidden or not all(each.is_public for each in row.known_repositories):
            return None
        if row.failure and row.repository is row.spec.repository:
            # No answer has described the repository since it was listed, so it may be private by
            # now, and the failure may name it
            why = told(row.failure)
            cause = replace(row.failure.cause, message=why)
            return row._replace(failure=row.failure._replace(message=why, cause=cause))
        return row

    def reason(self, row: Record) -> Message:
        """Return the reason why a repository failed, as it may be published."""
        shown = self.row(row)
        if shown and shown.first_failure:
            return shown.first_failure.cause.message
        return told(row.first_failure) if row.first_failure else kind_in_words(Kind.OTHER)

    def budget(self, budget: Budget) -> Budget:
        """Return the plan of the writing without the repositories that may not be named."""
        shown = [(each, self.row(each)) for each in budget.next]
        hidden = {each.spec.repository.full_name.lower() for each, row in shown if row is None}
        named = tuple(row for _, row in shown if row)
        return budget._replace(next=named, next_not_named=len(hidden))

    def published(self, result: RunResult) -> RunResult:
        """Return the result of a run as it may be published."""
        published = copy(result)
        published.registrations = [row for row in map(self.row, result.registrations) if row]
        if result.many and self.counts_private:
            published.many = self._many(result.many)
            if result.failure:
                # The full message may name a repository, because it says what the run was doing
                published.diagnostics = [Diagnostic(result.failure.cause.message)]
        return published

    def _many(self, result: ManyResult) -> ManyResult:
        published = copy(result)
        published.rows, published.not_named = [], Counter()
        published.budget = result.budget and self.budget(result.budget)
        hidden: dict[str, Record] = {}
        for row in result.rows:
            if shown := self.row(row):
                published.rows.append(shown)
            else:
                name = row.spec.repository.full_name.lower()
                other = hidden.get(name, row)
                hidden[name] = min(other, row, key=lambda each: each.status.place)
        for row in hidden.values():
            failure = row.first_failure
            why = told(failure) if failure else None
            cause = Cause(why, why.identity) if why else None
            published.not_named[NotNamed(row.status, failure and failure.kind, cause)] += 1
        published.with_finding = {
            finding: [shown for shown in map(self.row, rows) if shown]
            for finding, rows in result.with_finding.items()
        }
        published.more_with_finding = Counter()
        return published


def _listed_only(file: ListedPath) -> ListedPath:
    """Keep the listed path only: leave out the other path where the file was found, and the file
    that it would hide.
    """
    present = file.present and file.present._replace(path=file.path)
    return file._replace(present=present, hides="")
