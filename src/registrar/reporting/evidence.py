"""The table (CSV): a row with the state of each listed path in each repository."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from registrar.models.paths import Done
from registrar.models.record import Record, Status
from registrar.texts import escaping

_FORMULA = re.compile(r"(^|;)(?=[\t\r]|[\s\"]*[=+\-@＝＋－＠])")
"""The beginning of a text that a spreadsheet takes for a formula. It may stand after a semicolon,
because some spreadsheets begin a new cell there.

https://owasp.org/www-community/attacks/CSV_Injection
"""


class Evidence(NamedTuple):
    """The state of one listed path in one repository: a row of the table.

    Values that are not known are empty.
    """

    repository: str = ""
    """``owner/repo``."""
    id: str = ""
    """The repository's number."""
    visibility: str = ""
    default_branch: str = ""
    base_branch: str = ""
    """The branch into which pull requests are to be merged."""
    commit: str = ""
    """The commit that was read."""
    list: str = ""
    """Name of the list."""
    path: str = ""
    standing: str = ""
    """The state of the path (a `Standing`), or ``excluded: <reason>``."""
    found_path: str = ""
    """The path of the file that makes the listed path present; empty if it is the same path."""
    blob: str = ""
    """Id of the blob of that file."""
    pull_request: str = ""
    """Address of the pull request that proposes the path, or in which it was declined."""
    pull_request_age_days: str = ""
    """Whole days since the open pull request was opened."""
    declined_since: str = ""
    """Day on which the pull request was closed in which the path was declined (ISO 8601)."""
    list_digest: str = ""
    """SHA-256 over the paths and contents of the list; equal in two tables if their lists are."""
    read_at: str = ""
    """Moment of the reading (ISO 8601, UTC)."""
    rule: str = ""
    """Number of the list's rule that added the path."""
    parts: str = ""
    """Numbers of the parts that the content of the file consists of."""
    update: str = ""
    """``to update`` or ``updated``, if the list has changed the file since it was proposed."""
    outcome: str = ""
    """The state of the repository for the list after a run over many, as in the report. For a run
    over one repository it is ``failed`` or empty."""
    reason: str = ""
    """Why the registration or one of its files failed; empty if nothing did."""
    conflicts_with: str = ""
    """Address of the open pull request that adds another file at the path."""
    properties: tuple[str, ...] = ()
    """Values of the custom properties that the list or the selection names, in their order."""


def header(property_names: Sequence[str]) -> str:
    """Return the first line of the table."""
    columns = Evidence._fields[:-1]
    return _csv([[*columns, *(f"property:{name}" for name in property_names)]])


def lines(rows: Iterable[Evidence], shown: Callable[[str], str] = str) -> str:
    """Return rows of the table as CSV (RFC 4180).

    An apostrophe stands before a text that a spreadsheet would take for a formula. Invisible
    characters, for example those that turn the direction of a text, are escaped. ``shown`` removes
    the parts of a text that must not be published.
    """

    # Cached, because most rows of a repository have the same cells; typed, because `shown` also
    # looks at the type of a text
    @lru_cache(maxsize=None, typed=True)
    def cell(text: str) -> str:
        return escaping.show_control_characters(_FORMULA.sub(r"\1'", shown(text)))

    return _csv(map(cell, (*row[:-1], *row.properties)) for row in rows)


def outcome_of(result: Record) -> str:
    """Return the state of a repository for a list; empty if the repository is excluded.

    In a run over one repository, it only says whether the list failed there.
    """
    if result.exclusion:
        return ""
    if not result.spec.policy.tells_paths:
        return result.status
    has_failed = result.failure or (result.failed and not result.has_written)
    return Status.FAILED if has_failed else ""


def rows_of(result: Record, read_at: str, reason: str = "") -> Iterator[Evidence]:
    """Yield a row for each listed path; ``read_at`` is the moment of the run (ISO 8601, UTC).

    ``reason`` says why the registration failed, if it did.
    """
    repository, outcome, properties = result.repository, outcome_of(result), properties_of(result)
    for file in result.files:
        present, pull = file.present, result.pull_request_of(file)
        yield Evidence(
            repository=repository.full_name,
            id=str(repository.id or ""),
            visibility=repository.visibility,
            default_branch=repository.default_branch,
            base_branch=result.base_branch,
            commit=result.commit,
            list=result.spec.file_list.label,
            path=file.path,
            standing=f"excluded: {result.exclusion}" if result.exclusion else file.standing,
            found_path=present.path if present and present.path != file.path else "",
            blob=present.blob if present else "",
            pull_request=pull.url if pull else "",
            pull_request_age_days=str(days(pull.created_at, read_at))
            if pull and pull.is_open and pull.created_at
            else "",
            declined_since=file.declined_in.closed_at[:10] if file.declined_in else "",
            list_digest=result.spec.file_list.digest,
            read_at=read_at,
            rule=str(file.definition.rule or ""),
            parts=" ".join(map(str, file.definition.parts)),
            update=file.done if file.done in {Done.UPDATED, Done.TO_UPDATE} else "",
            outcome=outcome,
            reason=reason,
            conflicts_with=file.conflicts_with.url if file.conflicts_with else "",
            properties=properties,
        )


def properties_of(result: Record) -> tuple[str, ...]:
    """Return the values of the properties by which results are grouped."""
    values = result.repository.properties or result.spec.repository.properties or {}
    return tuple(", ".join(values.get(name, ())) for name in result.spec.grouped_by)


def days(since: str, until: str) -> int:
    """Return the whole days between two moments (ISO 8601).

    ``0`` if ``since`` is later than ``until``: this run opened the pull request after it had begun.
    """
    return max((datetime.fromisoformat(until) - datetime.fromisoformat(since)).days, 0)


def _csv(rows: Iterable[Iterable[str]]) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerows(rows)
    return written.getvalue()
