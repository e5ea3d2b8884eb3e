"""A file of a list: its path and its bytes.

An entry of a list becomes a file of a repository in three steps. `ListEntry` is the entry as the
list has it. `ListEntry.composed_for` chooses the parts that apply to the repository.
`FileDefinition.filled_in` fills in the values of the repository.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Self

from registrar.models.conditions import Condition
from registrar.models.repository import Repository
from registrar.models.standing import blob_id
from registrar.texts import templates

TEMPLATE_NAMES = ("owner", "repo", "default_branch", templates.PROPERTY)
"""Names of the placeholders that a template of a list may have."""

EMPTY_FILE = b"\n"
"""The content of a file for which the list gives none: a single line feed."""
_MAY_BE_BLANK = frozenset({".gitignore", ".gitkeep", ".keep", "__init__.py", "py.typed"})
"""Names of files that need no content."""


def parents(path: str) -> Iterator[str]:
    """Every directory above ``path``, the nearest first, without the root."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


class Text(NamedTuple):
    """A text as the list has it. A file consists of one text or of several."""

    source: bytes = EMPTY_FILE
    """The bytes, with the placeholders."""
    template: bool = False
    """Whether the placeholders are filled in."""
    properties: tuple[str, ...] = ()
    """Custom properties whose values a template needs, in lower case."""
    part: int = 0
    """Number of the part of the entry, from 1; 0 for the entry's own text."""

    def filled_in(self, repository: Repository) -> bytes:
        """Return the bytes with the values of ``repository``.

        The placeholder of a custom property without a value becomes empty.
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
    """A file as a repository gets it: its path and its bytes."""

    path: str
    texts: tuple[Text, ...] = (Text(),)
    """The texts that the file consists of, in this order."""
    description: str = ""
    alternatives: tuple[str, ...] = ()
    """Other paths for the same file: if one of them exists, the file counts as present."""
    rule: int = 0
    """Number of the rule that has the entry; 0 if the entry is in no rule."""
    blank: bool | None = None
    """Whether the list accepts a blank file; ``None`` if the name of the file decides."""
    repository: Repository | None = None
    """The repository whose values fill in the templates; ``None`` if the file has no template, or
    if its placeholders are kept."""

    def filled_in(self, repository: Repository) -> Self:
        """Return the file with the values of ``repository``.

        Parts that name an unset custom property are left out. If no part would remain, all are
        kept. The result depends only on the repository, so that a later run recognises the file by
        its blob id.
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
        """Numbers of the parts of the entry that the file consists of."""
        return tuple(each.part for each in self.texts if each.part)

    @property
    def named_properties(self) -> tuple[str, ...]:
        """Custom properties whose values the texts need, in lower case."""
        return tuple(name for each in self.texts for name in each.properties)

    @property
    def unset_properties(self) -> tuple[str, ...]:
        """The names in `named_properties` for which the repository has no value."""
        values = (self.repository and self.repository.properties) or {}
        return tuple(name for name in self.named_properties if not values.get(name))

    @property
    def content(self) -> bytes:
        """The bytes of the file. They are not kept, because many files would fill the memory."""
        repository = self.repository
        if repository is None:
            return b"".join(each.source for each in self.texts)
        return b"".join(each.filled_in(repository) for each in self.texts)

    @property
    def may_be_blank(self) -> bool:
        """Whether the file needs no content."""
        if self.blank is None:
            return self.path.rpartition("/")[2] in _MAY_BE_BLANK
        return self.blank

    @property
    def is_empty(self) -> bool:
        """Whether the file has no content, or only line breaks."""
        return not self.content.strip(b"\r\n")

    @property
    def is_to_fill_in(self) -> bool:
        """Whether a person has to add the content.

        True if the file has only white space or an empty JSON object, and may not be blank.
        """
        return self.content.strip() in {b"", b"{}"} and not self.may_be_blank

    @property
    def blob_id(self) -> str:
        """The id under which git stores the content of the file (SHA-1)."""
        return blob_id(self.content)


class ListEntry(NamedTuple):
    """An entry of a list, the same for every repository."""

    file: FileDefinition
    """The file with every text of the entry; the placeholders are not filled in."""
    conditions: tuple[Condition | None, ...] = ()
    """The condition of each text of the file, ``None`` for a text without one. Empty if the entry
    has no parts."""

    @property
    def path(self) -> str:
        return self.file.path

    def in_rule(self, number: int) -> Self:
        """Return the entry as an entry of the rule ``number``."""
        return self._replace(file=self.file._replace(rule=number))

    def composed_for(
        self, repository: Repository, has: Callable[[str], bool]
    ) -> FileDefinition | None:
        """Choose the texts whose conditions hold for a repository.

        ``has`` says whether a path exists in the repository. Return ``None`` if the entry has
        parts, and no part applies to the repository.
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
    """Return a SHA-256 of the paths and texts of a list, in hexadecimal digits.

    The texts are hashed as the list has them, with their placeholders.
    """
    digest = hashlib.sha256()
    for definition in definitions:
        for text in (definition.path.encode(), *(each.source for each in definition.texts)):
            digest.update(b"%d:%b" % (len(text), text))
    return digest.hexdigest()
