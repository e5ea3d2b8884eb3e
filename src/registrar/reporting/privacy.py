"""Names of private repositories are kept out of what a public workflow publishes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from registrar.models.selection import ListedRepository

_NAME = r"[A-Za-z0-9._-]+"


class HiddenNames:
    """Replaces names (``owner/repo``) by the repositories' numbers, wherever they stand in a text.

    Those who may see the repository find it by the number: ``GET /repositories/{id}``.
    """

    def __init__(self) -> None:
        """Nothing is hidden yet."""
        self._shown: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def hide(self, repositories: Iterable[ListedRepository]) -> None:
        """From now on hide the names of those that are private or internal."""
        for each in repositories:
            if each.visibility != "public":
                owner = each.full_name.partition("/")[0]
                self._shown[each.full_name.lower()] = f"{owner}/(id {each.id})"
        self._look_for_owners()

    def renamed(self, old: str, new: str) -> None:
        """Hide the new name of a repository whose old one is hidden."""
        if shown := self._shown.get(old.lower()):
            self._shown[new.lower()] = shown
            self._look_for_owners()

    def _look_for_owners(self) -> None:
        owners = sorted({re.escape(name.partition("/")[0]) for name in self._shown})
        if owners:
            # An escaped slash: the name may be a part of an address
            self._pattern = re.compile(
                rf"(?<![A-Za-z0-9_-])({'|'.join(owners)})(?:/|%2F)({_NAME})", re.IGNORECASE
            )

    def __call__(self, text: str) -> str:
        """Give back ``text`` without any hidden name."""
        return self._pattern.sub(self._replacement, text) if self._pattern else text

    def _replacement(self, found: re.Match[str]) -> str:
        owner, name = found[1].lower(), found[2]
        # The end of a sentence, and that of an address for git, are no part of a name
        for ending in ("", ".git", "."):
            short = name.removesuffix(ending) if ending != "." else name.rstrip(".")
            if shown := self._shown.get(f"{owner}/{short.lower()}"):
                return shown + name[len(short) :]
        return found[0]
