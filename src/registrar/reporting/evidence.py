"""How each listed path stands in a repository, as rows of the table (CSV)."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from registrar.models.paths import Done
from registrar.models.record import Record, Status
from registrar.texts import escaping

_FORMULA = re.compile(r"(^|;)(?=[\t\r]|[\s\"]*[=+\-@＝＋－＠])")
"""A spreadsheet takes a text that begins like this for a formula, and begins one at a semicolon
where that separates cells.

https://owasp.org/www-community/attacks/CSV_Injection
"""


class Evidence(NamedTuple):
    """How one listed path stands in one repository: a row of the table.

    Texts that are not known are empty.
    """

    repository: str = ""
    """``owner/repo``."""
    id: str = ""
    """The repository's number."""
    visibility: str = ""
    default_branch: str = ""
    base_branch: str = ""
    """The branch that pull requests go to."""
    commit: str = ""
    """The commit that was read."""
    list: str = ""
    """Name of the list."""
    path: str = ""
    standing: str = ""
    """A `Standing`, or ``excluded: <reason>``."""
    found_path: str = ""
    """The path that counts, if it is another one than the listed one."""
    blob: str = ""
    """Id of the file that was found."""
    pull_request: str = ""
    """Address of the pull request that proposes the path, or in which it was declined."""
    pull_request_age_days: str = ""
    """Whole days since the open pull request was opened."""
    declined_since: str = ""
    """Day on which the pull request was closed (ISO 8601)."""
    list_digest: str = ""
    """SHA-256 over the paths and contents of the list: tells whether two tables have one list."""
    read_at: str = ""
    """Moment of the reading (ISO 8601, UTC)."""
    rule: str = ""
    """Number of the list's rule that the path is from."""
    parts: str = ""
    """Numbers of the parts that the file is put together from."""
    update: str = ""
    """``to update`` or ``updated``, where the open pull request follows the list."""
    outcome: str = ""
    """How the list stands in the repository after a run over many, as the report calls it, or
    ``failed``."""
    reason: str = ""
    """Why it failed."""
    conflicts_with: str = ""
    """Address of the open pull request that adds another file at the path."""
    properties: tuple[str, ...] = ()
    """Values of the custom properties that the list or the selection names, in their order."""


NOT_NAMED = "not public: {}"
"""In the place of a name, how many repositories stand like that and are not named."""


def counted(counts: Mapping[Evidence, int], property_names: Sequence[str]) -> Iterator[Evidence]:
    """Give a row for so many repositories with the same list, path and state."""
    for row, count in counts.items():
        name = NOT_NAMED.format(count)
        yield row._replace(repository=name, properties=("",) * len(property_names))


def without_repository(row: Evidence) -> Evidence:
    """Give what a row says of the list's path alone: its state."""
    return Evidence(
        list=row.list,
        path=row.path,
        standing=row.standing,
        outcome=row.outcome,
        reason=row.reason,
        list_digest=row.list_digest,
        read_at=row.read_at,
    )


def header(property_names: Sequence[str]) -> str:
    """The first line of the table."""
    columns = Evidence._fields[:-1]
    return _csv([[*columns, *(f"property:{name}" for name in property_names)]])


def lines(rows: Iterable[Evidence], shown: Callable[[str], str] = str) -> str:
    """Rows of the table (RFC 4180), with an apostrophe before what a spreadsheet would compute.

    Characters that nobody sees, such as those that turn the direction of a text, are escaped.
    ``shown`` takes out of a text what must not be published.
    """

    # Most cells of a repository's rows hold the same. `shown` also looks at a text's type
    @lru_cache(maxsize=None, typed=True)
    def cell(text: str) -> str:
        return escaping.show_control_characters(_FORMULA.sub(r"\1'", shown(text)))

    return _csv(map(cell, (*row[:-1], *row.properties)) for row in rows)


def outcome_of(result: Record) -> str:
    """How a list stands in a repository; of a single one only whether it failed."""
    if result.exclusion:
        return ""
    if not result.spec.policy.tells_paths:
        return result.status
    has_failed = result.failure or (result.failed and not result.has_written)
    return Status.FAILED if has_failed else ""


def rows_of(result: Record, read_at: str, reason: str = "") -> Iterator[Evidence]:
    """Give a row for each listed path; ``read_at`` is the moment of the run (ISO 8601, UTC).

    ``reason`` says why the registration failed, if it did.
    """
    repository, outcome, properties = result.repository, outcome_of(result), properties_of(result)
    for file in result.files:
        present, pull = file.present, result.pull_request_of(file)
        is_open = bool(pull and pull.is_open)
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
            if pull and is_open and pull.created_at
            else "",
            declined_since=pull.closed_at[:10] if file.declined_in and pull and not is_open else "",
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
    """Give the values of the properties by which results are grouped."""
    values = result.repository.properties or result.spec.repository.properties or {}
    return tuple(", ".join(values.get(name, ())) for name in result.spec.grouped_by)


def days(since: str, until: str) -> int:
    """Give the whole days between two moments (ISO 8601).

    ``0`` if ``since`` is later than ``until``: this run opened the pull request after it had begun.
    """
    return max((datetime.fromisoformat(until) - datetime.fromisoformat(since)).days, 0)


def _csv(rows: Iterable[Iterable[str]]) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerows(rows)
    return written.getvalue()
