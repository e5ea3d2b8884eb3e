"""The evidence as CSV: one row for each listed path of each repository."""

from __future__ import annotations

import csv
import io

from registrar.models.evidence import Evidence
from registrar.texts import escaping

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a text that begins with one of these for a formula.

https://owasp.org/www-community/attacks/CSV_Injection
"""


def header() -> str:
    """The first line."""
    return _line(Evidence._fields)


def line(evidence: Evidence) -> str:
    """One row (RFC 4180), with an apostrophe before what a spreadsheet would compute.

    Characters that nobody sees, such as those that turn the direction of a text, are escaped.
    """
    cells = tuple(f"'{text}" if text.startswith(_FORMULA) else text for text in evidence)
    return _line(tuple(map(escaping.show_control_characters, cells)))


def _line(cells: tuple[str, ...]) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\r\n").writerow(cells)
    return written.getvalue()
