"""A file of a list: where it belongs, and its bytes.

An entry of a list becomes a file of a repository in three steps: as it is listed (`ListedFile`),
composed of the texts that are for the repository (`ListedFile.composed_for`), and filled in with
its values (`FileDefinition.filled_in`).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
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


class Text(NamedTuple):
    """A text of a list as it stands there; a file consists of one or of several."""

    source: bytes = EMPTY_FILE
    """Its bytes, placeholders and all."""
    template: bool = False
    """Whether placeholders in it are filled in."""
    properties: tuple[str, ...] = ()
    """Custom properties that a template names, in lower case."""
    part: int = 0
    """Number of the part of the entry, from 1; 0: the entry's own text."""

    def filled_in(self, repository: Repository) -> bytes:
        """Give its bytes for a repository that has a value for each of `properties`.

        A property without a value is left out.
        """
        if not self.template:
            return self.source
        owner, _, repo = repository.full_name.partition("/")
        values = (owner, repo, repository.default_branch)
        names = dict(zip(TEMPLATE_NAMES, values, strict=False))
        set_ones = repository.properties or {}
        properties = {name: "".join(set_ones.get(name, ())) for name in self.properties}
        return templates.fill(self.source.decode(), names, properties).encode()


class FileDefinition(NamedTuple):
    """A file as a repository gets it: where it belongs, and its bytes."""

    path: str
    texts: tuple[Text, ...] = (Text(),)
    """The texts that the file consists of, in this order."""
    description: str = ""
    alternatives: tuple[str, ...] = ()
    """Other paths for the same file: if one of them exists, this one counts as present."""
    rule: int = 0
    """Number of the rule that it stands in; 0: in no rule."""
    blank: bool | None = None
    """Whether the list says that a blank file will do; ``None``: its name decides."""
    repository: Repository | None = None
    """Whose values fill in its templates; ``None``: it has none, or their placeholders stay."""

    def filled_in(self, repository: Repository) -> Self:
        """Give the file with the values of ``repository``.

        Parts that name a custom property which is not set are left out, as long as one part
        remains. Depends on the repository only, so a later run recognises the file by its blob id.
        """
        if not self.has_template:
            return self
        values = repository.properties or {}
        fitting = [each for each in self.texts if all(map(values.get, each.properties))]
        kept = tuple(each for each in self.texts if not each.part or each in fitting)
        has_part = any(each.part for each in kept)
        return self._replace(texts=kept if has_part else self.texts, repository=repository)

    @property
    def has_template(self) -> bool:
        return any(each.template for each in self.texts)

    @property
    def parts(self) -> tuple[int, ...]:
        """Numbers of the parts of the entry that it is put together from."""
        return tuple(each.part for each in self.texts if each.part)

    @property
    def named_properties(self) -> tuple[str, ...]:
        """Custom properties that its texts name, in lower case."""
        return tuple(name for each in self.texts for name in each.properties)

    @property
    def unset_properties(self) -> tuple[str, ...]:
        """Those of `named_properties` that the repository has no value for."""
        values = (self.repository and self.repository.properties) or {}
        return tuple(name for name in self.named_properties if not values.get(name))

    @property
    def content(self) -> bytes:
        """Its bytes, put together each time, because many of them fill the memory."""
        repository = self.repository
        if repository is None:
            return b"".join(each.source for each in self.texts)
        return b"".join(each.filled_in(repository) for each in self.texts)

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


class ListedFile(NamedTuple):
    """An entry of a list, the same for every repository."""

    file: FileDefinition
    """The file with every text of the entry, its placeholders not filled in."""
    conditions: tuple[Condition | None, ...] = ()
    """For each text of the file, which repositories it is for; ``None``: for all of them.
    Empty if the entry has no parts."""

    @property
    def path(self) -> str:
        return self.file.path

    def in_rule(self, number: int) -> Self:
        """Give the entry as one of the rule ``number``."""
        return self._replace(file=self.file._replace(rule=number))

    def composed_for(
        self, repository: Repository, has: Callable[[str], bool]
    ) -> FileDefinition | None:
        """Choose the texts for a repository, which ``has`` files at some paths.

        ``None``: the entry has parts, and none of them is for this repository.
        """
        if not self.conditions:
            return self.file
        texts = tuple(
            text
            for text, condition in zip(self.file.texts, self.conditions, strict=True)
            if condition is None or condition.holds(repository, has)
        )
        return self.file._replace(texts=texts) if any(each.part for each in texts) else None


def digest_of(definitions: Iterable[FileDefinition]) -> str:
    """SHA-256 over the paths and texts of a list, as they stand in it, in hexadecimal digits."""
    digest = hashlib.sha256()
    for definition in definitions:
        for text in (definition.path.encode(), *(each.source for each in definition.texts)):
            digest.update(b"%d:%b" % (len(text), text))
    return digest.hexdigest()
