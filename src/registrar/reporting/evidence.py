"""The table (CSV): a row with the state of each listed path in each repository."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache

from registrar.models.paths import Done
from registrar.models.record import Record
from registrar.models.status import Status
from registrar.reporting.rows import Row
from registrar.texts import escaping
from registrar.texts.messages import Catalogue

_FORMULA = re.compile(r"(^|;)(?=[\t\r]|[\s\"]*[=+\-@＝＋－＠])")
"""The beginning of a text that a spreadsheet takes for a formula. It may stand after a semicolon,
because some spreadsheets begin a new cell there.

https://owasp.org/www-community/attacks/CSV_Injection
"""


COLUMNS = (
    *("repository", "id", "visibility", "default_branch", "base_branch", "commit", "list"),
    *("path", "standing", "found_path", "blob"),
    *("pull_request", "pull_request_age_days", "declined_since", "list_digest", "read_at"),
    *("rule", "parts", "update", "outcome", "reason", "conflicts_with", "warnings"),
)
"""The columns, which docs/reference.md describes. After them come the custom properties."""


def header(property_names: Sequence[str]) -> str:
    """Return the first line of the table."""
    return _csv([[*COLUMNS, *(f"property:{name}" for name in property_names)]])


def lines(
    record: Record,
    rows: Iterable[Row],
    read_at: str,
    catalogue: Catalogue,
    reason: str = "",
) -> str:
    """Return the ``rows`` of a record as CSV (RFC 4180).

    ``read_at`` is the moment of the run (ISO 8601, UTC). ``reason`` says why the registration
    failed, if it did. ``catalogue`` removes the parts of a text that must not be published. An
    apostrophe stands before a text that a spreadsheet would take for a formula. Invisible
    characters, for example those that turn the direction of a text, are escaped.
    """

    # Cached, because most rows of a repository have the same cells; typed, because `shown` also
    # looks at the type of a text
    @lru_cache(maxsize=None, typed=True)
    def cell(text: str) -> str:
        return escaping.show_control_characters(_FORMULA.sub(r"\1'", catalogue.shown(text, str)))

    repository, files = record.repository, record.spec.file_list
    about = {
        "repository": repository.full_name,
        "id": str(repository.id or ""),
        "visibility": repository.visibility,
        "default_branch": repository.default_branch,
        "base_branch": record.base_branch,
        "commit": record.facts.commit,
        "list": files.label,
        "list_digest": files.digest,
        "read_at": read_at,
        "outcome": outcome_of(record),
        "reason": reason,
    }
    excluded = f"excluded: {record.exclusion}" if record.exclusion else ""
    of_properties = properties_of(record)

    def cells(row: Row) -> list[str]:
        pull = row.pull_request
        is_dated = pull and pull.is_open and pull.created_at
        values = about | {
            "path": row.path,
            "standing": excluded or row.standing,
            "found_path": row.found_path,
            "blob": row.blob,
            "pull_request": pull.url if pull else "",
            "pull_request_age_days": str(days(pull.created_at, read_at))
            if pull and is_dated
            else "",
            "declined_since": row.declined_since,
            "rule": str(row.rule or ""),
            "parts": " ".join(map(str, row.parts)),
            "update": row.done if row.done in {Done.UPDATED, Done.TO_UPDATE} else "",
            "conflicts_with": row.conflicts_with,
            "warnings": "; ".join(catalogue.text(warning) for _, warning in row.warnings),
        }
        return [values[name] for name in COLUMNS]

    return _csv(map(cell, (*cells(row), *of_properties)) for row in rows)


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
