"""The selection of the repositories of a run over many."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from registrar.models.conditions import has_property, matches
from registrar.models.repository import Repository

VISIBILITIES = ("public", "internal", "private")
"""The visibilities of a repository: the first one lets most people see it."""
TOPIC = re.compile(r"[a-z0-9-]+")
"""A topic:
https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/classifying-your-repository-with-topics"""


class Exclusion(StrEnum):
    """Why a repository that was found is left out."""

    ARCHIVED = "archived"
    DISABLED = "disabled"
    LOCKED = "locked"
    EMPTY = "empty"
    NO_BASE = "no_base"
    """The repository has no branch with the name that the input ``base`` gives."""
    FORK = "fork"
    NO_PULL_REQUESTS = "no_pull_requests"
    """Pull requests are switched off in the repository."""
    NOT_MEANT = "excluded"
    """No name or pattern matches the repository, or a qualifier excludes it."""
    MORE_PRIVATE = "more_private"
    """Not everybody who can read the log of the run may see the repository, so it is not named."""


class NamePattern(NamedTuple):
    """A name or a pattern for repositories. If several match, the last one decides."""

    owner: str
    """The owner in lower case; it cannot be a pattern."""
    name: str
    """The name or pattern in lower case; ``*`` stands for any characters."""
    includes: bool = True
    """Whether matching repositories are selected; false for a pattern that begins with ``!``."""

    @property
    def is_literal(self) -> bool:
        return "*" not in self.name

    def __str__(self) -> str:
        return f"{'' if self.includes else '!'}{self.owner}/{self.name}"

    def matches(self, full_name: str) -> bool:
        """Whether the pattern matches ``full_name`` (``owner/repo``, in any letter case)."""
        owner, _, repo = full_name.lower().partition("/")
        return owner == self.owner and matches(self.name, repo)


Properties = Mapping[str, frozenset[str]]
"""Values of custom properties by their names, all in lower case."""


class Selection(NamedTuple):
    """The input ``target_repos``: which repositories a run is about."""

    patterns: tuple[NamePattern, ...]
    """The names and patterns, in the order of the input."""
    literals: tuple[str, ...] = ()
    """Names of repositories as written in the input, without those that a later pattern excludes.
    """
    topics: frozenset[str] = frozenset()
    """A repository must have all of these topics."""
    excluded_topics: frozenset[str] = frozenset()
    """A repository must have none of these topics."""
    visibilities: frozenset[str] = frozenset()
    """A repository must have one of these visibilities; empty if any is accepted."""
    languages: frozenset[str] = frozenset()
    """The main language of a repository must be one of these (in lower case); empty if any is
    accepted."""
    created_from: str = ""
    """The first day (ISO 8601, UTC) on which a repository may have been created; empty if there is
    no such limit."""
    created_until: str = ""
    """The last day (ISO 8601, UTC) on which a repository may have been created; empty if there is
    no such limit."""
    forks: bool = False
    """Whether forks are selected, too."""
    properties: Properties = MappingProxyType({})
    """Custom properties that a repository must have with one of the values; an empty set accepts
    any value."""
    excluded_properties: Properties = MappingProxyType({})
    """Custom properties that a repository must not have with one of the values; an empty set
    excludes every value."""
    most_private: str = VISIBILITIES[-1]
    """The visibility of the repository with the workflow, which decides who can read the log. More
    private repositories are left out."""
    with_properties: bool = False
    """Whether the custom properties of repositories must be read, because the selection, a list or
    a text depends on them."""

    @property
    def property_names(self) -> frozenset[str]:
        """Names of the custom properties on which the selection depends."""
        return frozenset({*self.properties, *self.excluded_properties})

    @property
    def owners(self) -> tuple[str, ...]:
        """Owners whose repositories have to be listed because of a pattern, in the input's order.

        They are in lower case.
        """
        included = (p for p in self.patterns if p.includes and not p.is_literal)
        return tuple(dict.fromkeys(pattern.owner for pattern in included))

    @property
    def all_owners(self) -> tuple[str, ...]:
        """Every owner of a repository that may be selected, in lower case."""
        return tuple(dict.fromkeys(p.owner for p in self.patterns if p.includes))

    def matches(self, *names: str) -> bool:
        """Whether the names and patterns select a repository with these names (``owner/repo``)."""
        decide = (p.includes for p in reversed(self.patterns) if any(map(p.matches, names)))
        return next(decide, False)

    def names(self, full_name: str) -> bool:
        """Whether the input has this name itself, and not only a pattern that matches it."""
        return full_name.lower() in map(str.lower, self.literals)

    def without_effect(self, found: Sequence[tuple[Repository, str]]) -> Iterator[str]:
        """Yield the entries that leave out none of the repositories that were found.

        Such an entry may be misspelled (sourcegraph/sourcegraph-public-snapshot#55096), or stand
        before one that selects the same repositories. Each repository comes with the name in the
        input by which it was found; empty if there is none.
        """
        names = [(each.full_name, named) for each, named in found]
        # The names in the input that a later pattern excludes were not looked up
        names += [(str(each), "") for each in self.patterns if each.includes and each.is_literal]
        left_out = [each for both in names if not self.matches(*both) for each in both]
        for pattern in self.patterns:
            if not pattern.includes and not any(map(pattern.matches, left_out)):
                yield str(pattern)
        topics = frozenset[str]().union(*(each.topics for each, _ in found))
        yield from (f"-topic:{each}" for each in sorted(self.excluded_topics - topics))
        for name, values in self.excluded_properties.items():
            for value in [frozenset({each}) for each in sorted(values)] or [values]:
                if not any(has_property(each, name, value) for each, _ in found):
                    yield "=".join((f"-property:{name}", *value))

    def is_too_private(self, repository: Repository) -> bool:
        """Whether somebody who can read the log of the run may not see a repository.

        A repository counts as private if GitHub does not say its visibility.
        """
        visibility = repository.visibility if repository.visibility in VISIBILITIES else "private"
        return VISIBILITIES.index(visibility) > VISIBILITIES.index(self.most_private)

    def exclusion(self, repository: Repository, named: str = "") -> Exclusion | None:
        """Return the reason to leave a repository out; ``None`` if it is selected.

        A listing does not show whether a repository is empty or locked, so these reasons are found
        later. ``named`` is the name in the input by which the repository was found. It may have
        been renamed since, so both names count. A repository that is too private has no other
        reason, because other reasons come with its name.
        """
        reasons = (
            (Exclusion.NOT_MEANT, not self.matches(repository.full_name, named)),
            (Exclusion.MORE_PRIVATE, self.is_too_private(repository)),
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
