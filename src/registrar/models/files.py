"""A file of a list: where it belongs, and its bytes."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Self

from registrar.models.conditions import Condition
from registrar.models.repository import Repository
from registrar.models.standing import blob_id
from registrar.texts import templates

TEMPLATE_NAMES = ("owner", "repo", "default_branch", templates.PROPERTY)
"""Placeholders of the content of a template."""

EMPTY_FILE = b"\n"
"""An empty file is a single line feed."""
_MAY_BE_BLANK = frozenset({".gitignore", ".gitkeep", ".keep", "__init__.py", "py.typed"})
"""Names of files that do their work without content."""


def parents(path: str) -> Iterator[str]:
    """Every directory above ``path``, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


class Part(NamedTuple):
    """A text that a file goes on with, in the repositories that meet a condition."""

    number: int
    """Its place in the entry, from 1."""
    source: bytes
    """As it is listed, placeholders and all."""
    properties: tuple[str, ...] = ()
    """Custom properties that it names, in lower case."""
    template: bool = False
    condition: Condition | None = None
    """``None``: in every repository."""


class FileDefinition(NamedTuple):
    """One file of a definition file: where it belongs, and its bytes."""

    path: str
    source: bytes = EMPTY_FILE
    """The bytes as they are listed, placeholders and all."""
    description: str = ""
    alternatives: tuple[str, ...] = ()
    """Other paths for the same file: where one of them exists, this one counts as present."""
    template: bool = False
    """Whether the content is a template, to be filled in for the repository."""
    properties: tuple[str, ...] = ()
    """Custom properties that `source` names, in lower case."""
    rule: int = 0
    """Number of the rule that it stands in; 0: in no rule."""
    repository: Repository | None = None
    """Whose values fill in the template, once it was read."""
    blank: bool | None = None
    """Whether the list says that a blank file will do; ``None``: its name decides."""
    parts: tuple[Part, ...] = ()
    """What follows `source`, in this order."""

    def filled_in(self, repository: Repository) -> Self:
        """Give the file as ``repository`` gets it.

        Depends on the repository only, so a later run recognises the file by its blob id.
        """
        has_template = any(piece.template for piece in self.pieces)
        return self._replace(repository=repository) if has_template else self

    def composed_for(self, repository: Repository, has: Callable[[str], bool]) -> Self | None:
        """Keep the parts for a repository, which ``has`` files at some paths.

        `None`: it has parts, and none of them is for this repository.
        """
        if not self.parts:
            return self
        parts = tuple(
            part
            for part in self.parts
            if part.condition is None or part.condition.holds(repository, has)
        )
        return self._replace(parts=parts) if parts else None

    @property
    def pieces(self) -> "Sequence[FileDefinition | Part]":
        """What its text is put together from, in this order."""
        return (self, *self.parts)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Those of its parts."""
        return tuple(part.condition for part in self.parts if part.condition)

    @property
    def named_properties(self) -> tuple[str, ...]:
        """Custom properties that its text names."""
        return tuple(name for piece in self.pieces for name in piece.properties)

    @property
    def content(self) -> bytes:
        """Its bytes, put together each time, because many of them fill the memory."""
        return b"".join(map(self._filled_in, self.pieces))

    def _filled_in(self, piece: "FileDefinition | Part") -> bytes:
        """Fill in a template; it stays as it is before the repository was read."""
        if self.repository is None or not piece.template:
            return piece.source
        owner, _, repo = self.repository.full_name.partition("/")
        values = (owner, repo, self.repository.default_branch)
        names = dict(zip(TEMPLATE_NAMES, values, strict=False))
        set_ones = self.repository.properties or {}
        properties = {name: "".join(set_ones.get(name, ())) for name in piece.properties}
        return templates.fill(piece.source.decode(), names, properties).encode()

    @property
    def may_be_blank(self) -> bool:
        """Whether a blank file is as good as one with content."""
        if self.blank is None:
            return self.path.rpartition("/")[2] in _MAY_BE_BLANK
        return self.blank

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it but a line break."""
        return self.content in {b"", EMPTY_FILE, b"\r\n"}

    @property
    def is_to_fill_in(self) -> bool:
        """Whether it is blank, or an empty JSON object, and does nothing before it has content."""
        return self.content.strip() in {b"", b"{}"} and not self.may_be_blank

    @property
    def blob_id(self) -> str:
        """The id under which git stores this content."""
        return blob_id(self.content)


def digest_of(definitions: Iterable[FileDefinition]) -> str:
    """SHA-256 over the paths and contents of a list, its templates not filled in."""
    digest = hashlib.sha256()
    for definition in definitions:
        texts = (piece.source for piece in definition.pieces)
        for text in (definition.path.encode(), *texts):
            digest.update(b"%d:%b" % (len(text), text))
    return digest.hexdigest()
