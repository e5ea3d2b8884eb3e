"""Which files of a list a repository gets."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from registrar.models.conditions import Condition
from registrar.models.files import FileDefinition, parents
from registrar.models.repository import Repository
from registrar.texts.messages import Message, msg


class Rule(NamedTuple):
    """Files for the repositories that meet a condition."""

    number: int
    """Its place in the list, from 1."""
    condition: Condition
    definitions: tuple[FileDefinition, ...]

    @property
    def described(self) -> Message:
        """Its number, and what it asks for."""
        reason = self.condition.described
        return msg("state.with_reason", state=place_of(self.number), reason=reason)


def place_of(rule: int) -> Message:
    """Say where in a list an entry stands; 0: in no rule."""
    return msg("label.rule", number=rule) if rule else msg("label.no_rule")


def origin_of(definition: FileDefinition) -> tuple[Message, ...]:
    """Say which rule a file is from, and which parts it is put together from, if any."""
    numbers = tuple(part.number for part in definition.parts)
    return (
        *([place_of(definition.rule)] if definition.rule else []),
        *([msg("label.parts", numbers=numbers)] if numbers else []),
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


class LeftOut(NamedTuple):
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
    left_out: tuple[LeftOut, ...] = ()
    """Files of which no part applies."""

    @property
    def below(self) -> Iterator[tuple[FileDefinition, FileDefinition]]:
        """Each file that lies below another one, and that other one: one cannot have both."""
        paths = {definition.path: definition for definition in self.definitions}
        for definition in self.definitions:
            for above in parents(definition.path):
                if above in paths:
                    yield definition, paths[above]


def listed_for(
    definitions: tuple[FileDefinition, ...],
    rules: Sequence[Rule],
    repository: Repository,
    has: Callable[[str], bool],
) -> Listed:
    """Give the files of one repository, with their parts for it.

    They are those of the list, and those of each rule that fits.
    """
    if not rules and not any(definition.parts for definition in definitions):
        return Listed(definitions)
    files = {definition.path: definition for definition in definitions}
    unfit: list[int] = []
    replaced: list[Replaced] = []
    for rule in rules:
        if not rule.condition.holds(repository, has):
            unfit.append(rule.number)
            continue
        for definition in rule.definitions:
            if earlier := files.get(definition.path):
                replaced.append(Replaced(definition.path, earlier.rule, rule.number))
            files[definition.path] = definition
    composed = {path: each.composed_for(repository, has) for path, each in files.items()}
    left_out = tuple(LeftOut(path) for path, each in composed.items() if each is None)
    definitions = tuple(each for each in composed.values() if each)
    return Listed(definitions, tuple(unfit), tuple(replaced), left_out)
