"""Which of the listed repositories a run over many of them is about."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from registrar.models.conditions import has_property, matches
from registrar.models.repository import Repository

VISIBILITIES = ("public", "private", "internal")


class Exclusion(StrEnum):
    """Why a repository that was found is not worked on."""

    ARCHIVED = "archived"
    DISABLED = "disabled"
    LOCKED = "locked"
    EMPTY = "empty"
    NO_BASE = "no_base"
    """It has no branch of the name that the input ``base`` gives."""
    FORK = "fork"
    NO_PULL_REQUESTS = "no_pull_requests"
    """Nothing can be proposed there."""
    NOT_MEANT = "excluded"
    """No name or pattern matches it, or a qualifier leaves it out."""


class NamePattern(NamedTuple):
    """A name or a pattern; of several that match, the last one decides."""

    owner: str
    """In lower case; always literal."""
    name: str
    """In lower case, without ``!``; ``*`` stands for any characters."""
    includes: bool = True

    @property
    def is_literal(self) -> bool:
        return "*" not in self.name

    def matches(self, full_name: str) -> bool:
        """Whether it is about ``full_name`` (``owner/repo``, any letter case)."""
        owner, _, repo = full_name.lower().partition("/")
        return owner == self.owner and matches(self.name, repo)


Properties = Mapping[str, frozenset[str]]
"""Values of custom properties by their names, all in lower case."""


class Selection(NamedTuple):
    """Which repositories a run is about."""

    patterns: tuple[NamePattern, ...]
    literals: tuple[str, ...] = ()
    """Repositories that are named, as written, and that no later pattern excludes."""
    topics: frozenset[str] = frozenset()
    """Topics all of which a repository must have."""
    excluded_topics: frozenset[str] = frozenset()
    """Topics of which a repository must have none."""
    visibilities: frozenset[str] = frozenset()
    """Visibilities of which a repository must have one; empty: any will do."""
    languages: frozenset[str] = frozenset()
    """Languages (lower case) of which a repository must have one as its main one; empty: any will
    do."""
    created_from: str = ""
    """The first day (ISO 8601, UTC) on which a repository may have been created; empty: any."""
    created_until: str = ""
    """The last such day; empty: any."""
    forks: bool = False
    properties: Properties = MappingProxyType({})
    """Custom properties that a repository must have, with one of these values; none: with any."""
    excluded_properties: Properties = MappingProxyType({})
    """Custom properties that a repository must not have with one of these values; none: at all."""
    with_properties: bool = False
    """Whether custom properties are asked about, here, by a list or by a text."""

    @property
    def property_names(self) -> frozenset[str]:
        """Custom properties that it asks about."""
        return frozenset({*self.properties, *self.excluded_properties})

    @property
    def owners(self) -> tuple[str, ...]:
        """Owners whose repositories have to be listed, in the order of the input."""
        included = (p for p in self.patterns if p.includes and not p.is_literal)
        return tuple(dict.fromkeys(pattern.owner for pattern in included))

    @property
    def all_owners(self) -> tuple[str, ...]:
        """Every owner of whom a repository may be meant, in lower case."""
        return tuple(dict.fromkeys(p.owner for p in self.patterns if p.includes))

    def matches(self, full_name: str) -> bool:
        """Whether the names and patterns match ``full_name``."""
        return next((p.includes for p in reversed(self.patterns) if p.matches(full_name)), False)

    def exclusion(self, repository: Repository, *, named: bool = False) -> Exclusion | None:
        """Give the reason to leave a repository out; ``None`` when it is selected.

        Whether a repository is empty or locked is not known from a listing. ``named`` says that
        it was asked for by name: it may have another one by now.
        """
        reasons = (
            (Exclusion.NOT_MEANT, not (named or self.matches(repository.full_name))),
            (Exclusion.ARCHIVED, repository.archived),
            (Exclusion.DISABLED, repository.disabled),
            (Exclusion.FORK, repository.is_fork and not self.forks),
            (Exclusion.NOT_MEANT, not self._has_qualities(repository)),
            (Exclusion.NO_PULL_REQUESTS, not repository.takes_pull_requests),
        )
        return next((reason for reason, holds in reasons if holds), None)

    def _is_of_age(self, day: str) -> bool:
        if not day:
            return not (self.created_from or self.created_until)
        return self.created_from <= day <= (self.created_until or day)

    def _has_qualities(self, repository: Repository) -> bool:
        return (
            self.topics <= repository.topics
            and not self.excluded_topics & repository.topics
            and (not self.visibilities or repository.visibility in self.visibilities)
            and (not self.languages or repository.language.lower() in self.languages)
            and self._is_of_age(repository.created_at[:10])
            and all(has_property(repository, *each) for each in self.properties.items())
            and not any(
                has_property(repository, *each) for each in self.excluded_properties.items()
            )
        )
