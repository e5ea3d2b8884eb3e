"""What one registration is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from registrar.models.facts import Facts
from registrar.models.files import FileDefinition
from registrar.models.rules import Rule


class Mode(StrEnum):
    """What a run does with what is missing."""

    REGISTER = "register"
    PLAN = "plan"
    """Reads only, and shows what would be done."""
    CHECK = "check"
    """Like `PLAN`; what `FailOn` names is a failure."""


class FailOn(StrEnum):
    """What makes `Mode.CHECK` a failure."""

    MISSING = "missing"
    BLANK = "blank"
    DIFFERS = "differs"
    INVALID = "invalid"
    """No file where one is listed, or a ``CODEOWNERS`` in which GitHub finds mistakes."""

    @property
    def notable(self) -> tuple[str, ...]:
        """What it is about among the files that are there, as in `evidence.notable`."""
        return ("not_a_file", "codeowners") if self is FailOn.INVALID else (self.value,)


class CommitStrategy(StrEnum):
    """How missing files are written."""

    PER_FILE = "per-file"
    SINGLE = "single"


class PullRequestOptions(NamedTuple):
    """What the caller wants of the pull request, apart from its title."""

    body: str = ""
    """Template of the text at the top of the description."""
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    team_reviewers: tuple[str, ...] = ()
    draft: bool = False


class Chosen(NamedTuple):
    """A repository that was chosen from a list: another one may have its name by now."""

    id: int
    node_id: str
    """What GraphQL calls it."""
    may_be_called: Callable[[str], bool]
    """Whether it is still chosen under a name (``owner/repo``)."""


class RegistrationSpec(NamedTuple):
    """One registration to be done."""

    target: str
    """``owner/repo``, as it was given."""
    definitions: tuple[FileDefinition, ...]
    branch: str
    """Name of the working branch, as far as it is free."""
    rules: tuple[Rule, ...] = ()
    """Files for some repositories only."""
    facts: Facts | None = None
    """What is known of the repository beforehand, for its rules."""
    texts_name_properties: bool = False
    """Whether a text of commit or pull request names a custom property."""
    list_id: str = ""
    """What tells the list from others, in the mark of a pull request."""
    uses_profile_branch: bool = True
    """Whether it is the profile's own name, which nobody else is likely to choose."""
    respect_alternatives: bool = False
    """Whether a path counts as present when GitHub would use another file in its place."""
    mode: Mode = Mode.REGISTER
    fail_on: frozenset[FailOn] = frozenset({FailOn.MISSING})
    """What fails `Mode.CHECK`."""
    strategy: CommitStrategy = CommitStrategy.PER_FILE
    chosen: Chosen | None = None
    """The repository that ``target`` must be; ``None``: whichever has the name."""

    @property
    def is_one_of_many(self) -> bool:
        """Whether it is written to in a run over many repositories.

        Then nothing is created file by file where one commit is refused, and an open pull request
        that holds everything keeps its text, and gets no labels or assignees.
        """
        return self.chosen is not None

    @property
    def possible(self) -> tuple[FileDefinition, ...]:
        """The files of the list, and of all its rules."""
        return (*self.definitions, *(each for rule in self.rules for each in rule.definitions))

    @property
    def asked_paths(self) -> tuple[str, ...]:
        """Paths that rules ask about."""
        return tuple(dict.fromkeys(path for rule in self.rules for path in rule.condition.paths))

    @property
    def asks_for_properties(self) -> bool:
        """Whether a rule asks about custom properties, or a template or a text names some."""
        asks = self.texts_name_properties or any(
            rule.condition.asks_for_properties for rule in self.rules
        )
        return asks or any(definition.properties for definition in self.possible)
