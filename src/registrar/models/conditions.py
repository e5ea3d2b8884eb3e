"""Conditions on a repository, under which a list has a file, or a part of a file, for it."""

import re
from collections.abc import Callable
from fnmatch import translate
from functools import cache
from typing import NamedTuple

from registrar.models.repository import Repository

PATTERN_CHARACTERS = 1_000
"""The largest number of characters in one pattern."""


def matches(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches the whole of ``text``; letter case counts.

    ``*`` stands for any characters, ``?`` for one, and any other character for itself. No text,
    for example the name of a repository, can make matching slow: since Python 3.11 `fnmatch` makes
    atomic groups, so that several stars are not tried in every combination.
    """
    return bool(_compiled(pattern).match(text))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern once. The cache of `fnmatch` is too small for tens of thousands."""
    return re.compile(translate(pattern.replace("[", "[[]")))


def has_property(repository: Repository, name: str, values: frozenset[str]) -> bool:
    """Whether a custom property has one of ``values``; without ``values``, whether it has any.

    ``name`` and ``values`` are in lower case.
    """
    given = {value.lower() for value in (repository.properties or {}).get(name, ())}
    return not given.isdisjoint(values) if values else bool(given)


class Condition(NamedTuple):
    """A condition on a repository, as in the key ``when`` of a list.

    Every given attribute must hold. Of several values of one attribute, at least one must match,
    but all of ``properties`` must. Texts are in lower case, except for paths.
    """

    languages: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    visibilities: frozenset[str] = frozenset()
    is_fork: bool | None = None
    names: tuple[str, ...] = ()
    """Patterns for the name without its owner."""
    exists: tuple[str, ...] = ()
    """At least one of these paths must exist; letter case counts."""
    missing: tuple[str, ...] = ()
    """At least one of these paths must not exist; letter case counts."""
    properties: tuple[tuple[str, frozenset[str]], ...] = ()
    """Names of custom properties, each with its accepted values; an empty set accepts any value."""
    negated: "Condition | None" = None
    """A condition that must not hold."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path on which the condition depends."""
        return (*self.exists, *self.missing, *(self.negated.paths if self.negated else ()))

    @property
    def property_names(self) -> frozenset[str]:
        """Names of the custom properties on which the condition depends."""
        negated = self.negated.property_names if self.negated else ()
        return frozenset(name for name, _ in self.properties).union(negated)

    @property
    def described(self) -> str:
        """The condition almost as in a list, for example ``language: [go, rust], fork: [true]``."""
        asked = {
            "language": sorted(self.languages),
            "topic": sorted(self.topics),
            "visibility": sorted(self.visibilities),
            "fork": [] if self.is_fork is None else [str(self.is_fork).lower()],
            "name": self.names,
            "exists": self.exists,
            "missing": self.missing,
            **{f"property {name}": sorted(values) for name, values in self.properties},
            "not": [self.negated.described] if self.negated else [],
        }
        return ", ".join(f"{key}: [{', '.join(those)}]" for key, those in asked.items() if those)

    def holds(self, repository: Repository, has: Callable[[str], bool]) -> bool:
        """Whether the condition holds for a repository.

        ``has`` says whether a path exists in the repository.
        """
        name = repository.full_name.partition("/")[2].lower()
        return (
            (not self.languages or repository.language.lower() in self.languages)
            and (not self.topics or not self.topics.isdisjoint(repository.topics))
            and (not self.visibilities or repository.visibility in self.visibilities)
            and self.is_fork in {None, repository.is_fork}
            and (not self.names or any(matches(each, name) for each in self.names))
            and (not self.exists or any(map(has, self.exists)))
            and (not self.missing or not all(map(has, self.missing)))
            and all(has_property(repository, *each) for each in self.properties)
            and not (self.negated and self.negated.holds(repository, has))
        )
