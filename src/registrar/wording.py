"""What a registration says at the host: its commits and its pull request."""

from __future__ import annotations

from dataclasses import dataclass

from registrar import escaping, report
from registrar.messages import Catalogue
from registrar.models import Registration

BODY_CHARACTERS = 65_536
"""The host takes no longer body (github/issue-metrics#258)."""
_BEGIN = "<!-- registrar:begin -->"
_END = "<!-- registrar:end -->"


@dataclass(frozen=True, slots=True)
class Wording:
    """What a registration says at the host: its commits and its pull request."""

    title: str
    commit_message: str
    """Of one file, with the placeholder ``{path}``."""
    catalogue: Catalogue

    def body(self, account: Registration, current: str = "") -> str:
        """Put our part between its marks; what a reviewer wrote outside of them stays."""
        before, _, rest = current.partition(_BEGIN)
        _, ended, after = rest.partition(_END)
        if not ended:
            before, after = (f"{current}\n\n" if current.strip() else ""), ""
        frame = f"{before}{_BEGIN}\n\n{_END}{after}"
        room = BODY_CHARACTERS - escaping.characters(frame)
        ours = report.pull_request_body(account, self.catalogue, room)
        return f"{before}{_BEGIN}\n{ours}\n{_END}{after}"
