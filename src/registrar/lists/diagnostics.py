"""What is wrong with a list, and where: collected, then sorted, repetitions counted."""

from __future__ import annotations

from typing import NamedTuple

from registrar.errors import Diagnostic
from registrar.texts.messages import Message, msg

MOST_OF_ONE_KIND = 10
"""How many diagnostics of one kind are listed; the last of them says how many follow."""
_SHOWN_ENTRIES = 20


class Place(NamedTuple):
    """A place in the file: a line, and the entry in it. Both count from 1."""

    line: int | None = None
    entry: int | None = None


class Diagnostics:
    """The errors, or the warnings, of one file."""

    def __init__(self, name: str) -> None:
        """``name`` is the file's name in the diagnostics."""
        self._name = name
        self._kinds: dict[str, list[tuple[Message, Place]]] = {}
        self.count = 0

    def add(self, place: Place, *messages: Message) -> None:
        """Add what is wrong at a place."""
        for message in messages:
            self.count += 1
            self._kinds.setdefault(message.sentence, []).append((message, place))

    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics in the order of the lines; of many of one kind the rest is counted."""
        listed = list[Diagnostic]()
        for same in self._kinds.values():
            *first, (last, place) = same[:MOST_OF_ONE_KIND]
            listed += [self._diagnostic(*each) for each in first]
            if rest := same[MOST_OF_ONE_KIND:]:
                numbers = tuple(where.entry or where.line for _, where in rest[:_SHOWN_ENTRIES])
                more = ("…",) if len(rest) > _SHOWN_ENTRIES else ()
                last = msg(
                    "definitions.repeated",
                    diagnostic=last,
                    count=len(rest),
                    entries=(*numbers, *more),
                )
            listed.append(self._diagnostic(last, place))
        return sorted(listed, key=lambda diagnostic: diagnostic.line or 0)

    def _diagnostic(self, message: Message, place: Place) -> Diagnostic:
        if place.entry is not None:
            message = msg(
                "definitions.at",
                file=self._name,
                entry=place.entry,
                line=place.line,
                diagnostic=message,
            )
        elif place.line is not None:
            message = msg(
                "definitions.at_line", file=self._name, line=place.line, diagnostic=message
            )
        return Diagnostic(message, self._name, place.line)
