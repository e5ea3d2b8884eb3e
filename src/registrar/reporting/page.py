"""The evidence as one HTML page: no script, font or picture from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from registrar.models.evidence import Evidence, Presence
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, msg

MOST_REPOSITORIES = 2000
"""So many repositories that are not complete are shown; the rest is counted."""
BARS = ("present", "blank", "proposed", "missing", "declined", "unread")
"""What a bar shows, in this order."""
_BAR_OF = {
    Presence.SAME: "present",
    Presence.DIFFERS: "present",
    Presence.FILLED: "present",
    Presence.NOT_A_FILE: "blank",
    Presence.BLANK: "blank",
    "created": "proposed",
    "failed": "missing",
}
_COMPLETE = {Presence.SAME, Presence.DIFFERS, Presence.FILLED}
_EXCLUDED = "excluded"
_FOLDER = Path(__file__).parent


class ShownPath(NamedTuple):
    """A path of a repository that is not complete."""

    path: str
    state: str
    url: str
    """Address of what is there; empty where there is nothing, or it must not be named."""


@dataclass(slots=True)
class ShownRepository:
    """A repository that is not complete."""

    name: str
    url: str
    list_name: str
    paths: list[ShownPath]
    pull_request: str
    lacking: int
    """Number of listed paths that it lacks."""

    @property
    def number(self) -> str:
        """The pull request as people write it."""
        return f"#{self.pull_request.rpartition('/')[2]}"


@dataclass(slots=True)
class Page:
    """Grows by one repository after the other; memory is bounded by `MOST_REPOSITORIES`."""

    read_at: str
    """Moment of the run (ISO 8601)."""
    repositories: int = 0
    complete: int = 0
    excluded: int = 0
    not_shown: int = 0
    paths: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    """For each listed path, how many repositories are in which part of its bar."""
    shown: list[ShownRepository] = field(default_factory=list[ShownRepository])

    @property
    def states(self) -> list[str]:
        """The states to filter by."""
        return sorted({path.state for each in self.shown for path in each.paths})

    def total(self, bar: str) -> int:
        """Listed paths of all repositories in one part of the bars."""
        return sum(counts[bar] for counts in self.paths.values())

    def add(self, rows: Sequence[Evidence], url: str = "") -> None:
        """Take the rows of one list in one repository; ``url`` is its address for people."""
        if not rows:
            return
        if rows[0].state.startswith(_EXCLUDED):
            self.excluded += 1
            return
        self.repositories += 1
        for row in rows:
            bar = _BAR_OF.get(row.state, row.state)
            self.paths.setdefault(row.path, Counter())[bar if bar in BARS else "unread"] += 1
        lacking = [row for row in rows if row.state not in _COMPLETE]
        if not lacking:
            self.complete += 1
        elif len(self.shown) == MOST_REPOSITORIES:
            self.not_shown += 1
        else:
            self.shown.append(_repository(rows[0], lacking, url))

    def render(self, catalogue: Catalogue) -> str:
        """The page, in the catalogue's language."""
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 (only here is it needed)

        def text(key: str, **values: object) -> str:
            return catalogue.text(msg(f"page.{key}", **values))

        style = (_FOLDER / "page.css").read_text("utf-8")
        script = (_FOLDER / "page.js").read_text("utf-8")
        template = (_FOLDER / "page.html.j2").read_text("utf-8")
        environment = Environment(
            autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        return environment.from_string(template).render(
            page=self,
            bars=BARS,
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
            language=catalogue.language,
            t=text,
            shown=partial(catalogue.shown, escape=escaping.show_control_characters),
            ordered=sorted(self.shown, key=lambda each: (-each.lacking, each.name.lower())),
        )


def _repository(first: Evidence, lacking: Sequence[Evidence], url: str) -> ShownRepository:
    pull_request = next((row.pull_request for row in lacking if row.pull_request), "")
    paths = [
        ShownPath(
            row.path,
            row.state,
            f"{url}/blob/{row.commit}/{quote(row.found_path or row.path)}"
            if url and row.blob
            else "",
        )
        for row in lacking
    ]
    return ShownRepository(
        first.repository, url, first.list, paths, pull_request, lacking=len(lacking)
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
