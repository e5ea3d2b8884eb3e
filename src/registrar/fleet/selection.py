"""The input ``target_repos``: names, patterns and qualifiers -> which repositories are meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from registrar.models import Exclusion, ListedRepository
from registrar.texts.messages import Message, msg

VISIBILITIES = ("public", "private", "internal")
QUALIFIERS = ("topic:", "-topic:", "visibility:", "language:", "fork:true")

_NAME = re.compile(r"(?P<owner>[A-Za-z0-9_-]+)/(?P<repo>[A-Za-z0-9._*-]+)")


@dataclass(frozen=True, slots=True)
class Rule:
    """A name or a pattern; of several that match, the last one decides."""

    owner: str
    """In lower case; always literal."""
    name: str
    """In lower case, without ``!``; ``*`` stands for any characters."""
    includes: bool = True

    @property
    def is_literal(self) -> bool:
        """Whether the rule names one repository."""
        return "*" not in self.name

    def matches(self, full_name: str) -> bool:
        """Whether the rule is about ``full_name`` (``owner/repo``, any letter case)."""
        owner, _, repo = full_name.lower().partition("/")
        pattern = ".*".join(map(re.escape, self.name.split("*")))
        return owner == self.owner and re.fullmatch(pattern, repo) is not None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which repositories a run is about."""

    rules: tuple[Rule, ...]
    literals: tuple[str, ...] = ()
    """Repositories that are named, as written, and that no later rule excludes."""
    topics: frozenset[str] = frozenset()
    """A repository must have all of them."""
    excluded_topics: frozenset[str] = frozenset()
    """It must have none of these."""
    visibilities: frozenset[str] = frozenset()
    """It must have one of these; empty: any."""
    languages: frozenset[str] = frozenset()
    """Its main language must be one of these (lower case); empty: any."""
    forks: bool = False

    @property
    def owners(self) -> tuple[str, ...]:
        """Owners whose repositories have to be listed, in the order of the input."""
        return tuple(dict.fromkeys(r.owner for r in self.rules if r.includes and not r.is_literal))

    @property
    def all_owners(self) -> tuple[str, ...]:
        """Every owner of whom a repository may be meant, in lower case."""
        return tuple(dict.fromkeys(rule.owner for rule in self.rules if rule.includes))

    def takes(self, full_name: str) -> bool:
        """Whether the names and patterns take ``full_name``."""
        return next((r.includes for r in reversed(self.rules) if r.matches(full_name)), False)

    def exclusion(self, repository: ListedRepository, *, named: bool = False) -> Exclusion | None:
        """Give the reason to leave a repository out; ``None`` when it is selected.

        Whether a repository is empty or locked is not known from a listing. ``named`` says that
        it was asked for by name: it may have another one by now.
        """
        reasons = (
            (Exclusion.PATTERN, not (named or self.takes(repository.full_name))),
            (Exclusion.ARCHIVED, repository.archived),
            (Exclusion.DISABLED, repository.disabled),
            (Exclusion.FORK, repository.fork and not self.forks),
            (Exclusion.PATTERN, not self._has_qualities(repository)),
        )
        return next((reason for reason, holds in reasons if holds), None)

    def _has_qualities(self, repository: ListedRepository) -> bool:
        return (
            self.topics <= repository.topics
            and not self.excluded_topics & repository.topics
            and (not self.visibilities or repository.visibility in self.visibilities)
            and (not self.languages or repository.language.lower() in self.languages)
        )


def parse(entries: Sequence[str]) -> tuple[Selection, tuple[Message, ...]]:
    """Read the entries of ``target_repos``; every mistake at once.

    Qualifiers are those of GitHub's search, with the meaning that they have there:
    https://docs.github.com/en/search-github/searching-on-github/searching-for-repositories
    """
    rules: list[Rule] = []
    named: list[str] = []
    values: dict[str, list[str]] = {"topic": [], "-topic": [], "visibility": [], "language": []}
    forks = False
    mistakes: list[Message] = []
    for entry in entries:
        key, colon, value = entry.partition(":")
        matched = _NAME.fullmatch(entry.removeprefix("!"))
        if colon and key.lower() in values and value:
            values[key.lower()].append(value.strip("\"'").lower())
        elif entry.lower() == "fork:true":
            forks = True
        elif colon:
            mistakes.append(msg("fleet.unknown_qualifier", value=entry, known=QUALIFIERS))
        elif not matched or matched["repo"] in {".", ".."}:
            mistakes.append(msg("fleet.pattern_malformed", value=entry))
        else:
            includes = not entry.startswith("!")
            rule = Rule(matched["owner"].lower(), matched["repo"].lower(), includes)
            rules.append(rule)
            if includes and rule.is_literal:
                named.append(entry)
    mistakes += _visibility_mistakes(values["visibility"])
    if not mistakes and not any(rule.includes for rule in rules):
        mistakes.append(msg("fleet.nothing_included"))
    selection = Selection(
        tuple(rules),
        topics=frozenset(values["topic"]),
        excluded_topics=frozenset(values["-topic"]),
        visibilities=frozenset(values["visibility"]),
        languages=frozenset(values["language"]),
        forks=forks,
    )
    once = {name.lower(): name for name in named}
    literals = tuple(name for name in once.values() if selection.takes(name))
    return replace(selection, literals=literals), tuple(mistakes)


def _visibility_mistakes(values: Sequence[str]) -> Iterator[Message]:
    for value in values:
        if value not in VISIBILITIES:
            yield msg("fleet.unknown_visibility", value=value, known=VISIBILITIES)
