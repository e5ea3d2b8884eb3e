"""The rules of a list, and the choice of the files that one repository gets."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from registrar.models.conditions import Condition
from registrar.models.files import FileDefinition, ListEntry, parents
from registrar.models.repository import Repository
from registrar.texts.messages import Message, msg


class Rule(NamedTuple):
    """Files for the repositories for which a condition holds."""

    number: int
    """Number of the rule in the list, from 1."""
    condition: Condition
    files: tuple[ListEntry, ...]

    @property
    def described(self) -> Message:
        """The number of the rule with its condition, in words for people."""
        reason = self.condition.described
        return msg("state.with_reason", state=place_of(self.number), reason=reason)


def place_of(rule: int) -> Message:
    """Name the place of an entry in a list: the rule with this number, or no rule if it is 0."""
    return msg("label.rule", number=rule) if rule else msg("label.no_rule")


def origin_of(definition: FileDefinition) -> tuple[Message, ...]:
    """Name the rule that adds a file, and the parts of the file.

    The result is empty for a file without a rule and without parts.
    """
    parts = definition.parts
    return (
        *([place_of(definition.rule)] if definition.rule else []),
        *([msg("label.parts", numbers=parts)] if parts else []),
    )


class Replaced(NamedTuple):
    """Two entries with the same path. The later entry replaces the earlier one."""

    path: str
    earlier: int
    """Number of the rule that has the replaced entry; 0 if that is in no rule."""
    later: int
    """Number of the rule that has the entry which is used."""

    @property
    def shown(self) -> Message:
        """The path and the places of both entries, in words for people."""
        earlier, later = place_of(self.earlier), place_of(self.later)
        return msg("label.replaced", path=self.path, earlier=earlier, later=later)


class UnusedParts(NamedTuple):
    """The parts of a file that a repository does not get."""

    path: str
    numbers: tuple[int, ...] = ()
    """Numbers of the parts that name an unset custom property. Empty if no part applies, so that
    the repository does not get the file."""

    @property
    def described(self) -> Message:
        if not self.numbers:
            return msg("progress.without_part", path=self.path)
        return msg("progress.parts_left_out", path=self.path, numbers=self.numbers)


class ChosenFiles(NamedTuple):
    """The files that one repository gets from a list."""

    definitions: tuple[FileDefinition, ...]
    not_applying: tuple[int, ...] = ()
    """Numbers of the rules that do not apply."""
    replaced: tuple[Replaced, ...] = ()
    unused_parts: tuple[UnusedParts, ...] = ()
    """The parts that are not used, and the files without a part that applies."""

    @property
    def below(self) -> Iterator[tuple[FileDefinition, FileDefinition]]:
        """Pairs of listed files that git cannot both have: a file, and the file above it.

        The path of the second file is a directory of the first one.
        """
        paths = {definition.path: definition for definition in self.definitions}
        for definition in self.definitions:
            for above in parents(definition.path):
                if above in paths:
                    yield definition, paths[above]


def listed_for(
    files: Sequence[ListEntry],
    rules: Sequence[Rule],
    repository: Repository,
    has: Callable[[str], bool],
) -> ChosenFiles:
    """Choose the files of one repository: all files outside rules, and those of the rules that
    apply.

    If several entries have the same path, the last one counts. ``has`` says whether a path exists
    in the repository.
    """
    entries = {each.path: each for each in files}
    not_applying: list[int] = []
    replaced: list[Replaced] = []
    for rule in rules:
        if not rule.condition.holds(repository, has):
            not_applying.append(rule.number)
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
    return ChosenFiles(
        tuple(definitions), tuple(not_applying), tuple(replaced), tuple(unused_parts)
    )
