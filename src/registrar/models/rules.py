"""Which files of a list a repository gets."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from registrar.models.conditions import Condition
from registrar.models.files import FileDefinition, ListedFile, parents
from registrar.models.repository import Repository
from registrar.texts.messages import Message, msg


class Rule(NamedTuple):
    """Files for the repositories that meet a condition."""

    number: int
    """Place of the rule in the list, from 1."""
    condition: Condition
    files: tuple[ListedFile, ...]

    @property
    def described(self) -> Message:
        """The number of the rule, and what it asks for, for people."""
        reason = self.condition.described
        return msg("state.with_reason", state=place_of(self.number), reason=reason)


def place_of(rule: int) -> Message:
    """Say where in a list an entry stands; 0: in no rule."""
    return msg("label.rule", number=rule) if rule else msg("label.no_rule")


def origin_of(definition: FileDefinition) -> tuple[Message, ...]:
    """Say which rule a file is from, and which parts it is put together from, if any."""
    parts = definition.parts
    return (
        *([place_of(definition.rule)] if definition.rule else []),
        *([msg("label.parts", numbers=parts)] if parts else []),
    )


class Replaced(NamedTuple):
    """Two entries with one path: the later one counts."""

    path: str
    earlier: int
    """Number of its rule; 0: in no rule."""
    later: int

    @property
    def shown(self) -> Message:
        """The path, and the places of both."""
        earlier, later = place_of(self.earlier), place_of(self.later)
        return msg("label.replaced", path=self.path, earlier=earlier, later=later)


class UnusedParts(NamedTuple):
    """What is not used of the parts of a file."""

    path: str
    numbers: tuple[int, ...] = ()
    """Of the parts that name a custom property which is not set; none: no part applies, so that
    the file is not listed."""

    @property
    def described(self) -> Message:
        if not self.numbers:
            return msg("progress.without_part", path=self.path)
        return msg("progress.parts_left_out", path=self.path, numbers=self.numbers)


class Listed(NamedTuple):
    """What a list has for one repository."""

    definitions: tuple[FileDefinition, ...]
    unfit: tuple[int, ...] = ()
    """Numbers of the rules that do not apply."""
    replaced: tuple[Replaced, ...] = ()
    unused_parts: tuple[UnusedParts, ...] = ()
    """Parts that are not used, and files of which no part applies."""

    @property
    def below(self) -> Iterator[tuple[FileDefinition, FileDefinition]]:
        """Each file that lies below another one, and that other one: one cannot have both."""
        paths = {definition.path: definition for definition in self.definitions}
        for definition in self.definitions:
            for above in parents(definition.path):
                if above in paths:
                    yield definition, paths[above]


def listed_for(
    files: Sequence[ListedFile],
    rules: Sequence[Rule],
    repository: Repository,
    has: Callable[[str], bool],
) -> Listed:
    """Give the files of one repository: those of the list, and those of each rule that fits.

    ``has`` says whether the repository has a file at a path that a condition asks about.
    """
    entries = {each.path: each for each in files}
    unfit: list[int] = []
    replaced: list[Replaced] = []
    for rule in rules:
        if not rule.condition.holds(repository, has):
            unfit.append(rule.number)
            continue
        for entry in rule.files:
            if earlier := entries.get(entry.path):
                replaced.append(Replaced(entry.path, earlier.file.rule, rule.number))
            entries[entry.path] = entry
    definitions: list[FileDefinition] = []
    unused_parts: list[UnusedParts] = []
    for entry in entries.values():
        composed = entry.composed_for(repository, has)
        if composed is None:
            unused_parts.append(UnusedParts(entry.path))
            continue
        filled_in = composed.filled_in(repository)
        if unused := tuple(each for each in composed.parts if each not in filled_in.parts):
            unused_parts.append(UnusedParts(entry.path, unused))
        definitions.append(filled_in)
    return Listed(tuple(definitions), tuple(unfit), tuple(replaced), tuple(unused_parts))
