"""The one projection of a listed path in a repository, which report, table and page print."""

from typing import NamedTuple

from registrar.models.paths import Done, ListedPath
from registrar.models.record import Record
from registrar.models.repository import PullRequest
from registrar.models.standing import Standing
from registrar.rendering.states import explanation, warnings
from registrar.texts.messages import Message


class Row(NamedTuple):
    """The result for one listed path in one repository. Values that are not known are empty."""

    path: str
    standing: Standing
    done: Done
    reason: Message | None
    commit: str
    """Id of the commit that created or updated the file."""
    hides: str
    """The existing file that GitHub would no longer use if this path existed."""
    rule: int
    """Number of the list's rule that added the path; 0 if no rule did."""
    parts: tuple[int, ...]
    """Numbers of the parts that the content of the file consists of."""
    found_path: str
    """The path of the file that makes the listed path present; empty if it is the same path."""
    blob: str
    """Id of the blob of that file."""
    pull_request: PullRequest | None
    """The pull request that proposes the path, or in which it was declined."""
    declined_since: str
    """Day on which the pull request was closed in which the path was declined (ISO 8601)."""
    conflicts_with: str
    """Address of the open pull request that adds another file at the path."""
    warnings: tuple[tuple[str, Message], ...]
    """Warnings for those who merge a pull request that adds the path (`rendering.states`)."""


def rows_of(record: Record) -> list[Row]:
    """Return a row for each listed path, in the order of the list."""
    return [_row(file, record.pull_request_of(file)) for file in record.files]


def _row(file: ListedPath, pull: PullRequest | None) -> Row:
    (standing, done), present = file.state, file.present
    return Row(
        path=file.path,
        standing=standing,
        done=done,
        reason=explanation(file),
        commit=file.commit,
        hides=file.hides,
        rule=file.definition.rule,
        parts=file.definition.parts,
        found_path=present.path if present and present.path != file.path else "",
        blob=present.blob if present else "",
        pull_request=pull,
        declined_since=file.declined_in.closed_at[:10] if file.declined_in else "",
        conflicts_with=file.conflicts_with.url if file.conflicts_with else "",
        warnings=tuple(warnings(file)),
    )
