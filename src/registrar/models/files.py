"""A file of a list: where it belongs, and its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from registrar.models.repository import Repository
from registrar.texts import templates

TEMPLATE_NAMES = ("owner", "repo", "default_branch", templates.PROPERTY)
"""Placeholders of the content of a template."""

EMPTY_FILE = b"\n"
"""An empty file is a single line feed."""


def parents(path: str) -> Iterator[str]:
    """Every directory above ``path``, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


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
    """Custom properties that the template names, in lower case."""
    rule: int = 0
    """Number of the rule that it stands in; 0: in no rule."""
    repository: Repository | None = None
    """Whose values fill in the template, once it was read."""

    def filled_in(self, repository: Repository) -> FileDefinition:
        """Give the file as ``repository`` gets it.

        Depends on the repository only, so a later run recognises the file by its blob id.
        """
        return self._replace(repository=repository) if self.template else self

    @property
    def content(self) -> bytes:
        """Its bytes; a template is filled in each time, because many of them fill the memory."""
        if self.repository is None:
            return self.source
        owner, _, repo = self.repository.full_name.partition("/")
        values = (owner, repo, self.repository.default_branch)
        names = dict(zip(TEMPLATE_NAMES, values, strict=False))
        set_ones = (self.repository.facts and self.repository.facts.properties) or {}
        properties = {name: "".join(set_ones.get(name, ())) for name in self.properties}
        return templates.fill(self.source.decode(), names, properties).encode()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it but a line break."""
        return self.content in {b"", EMPTY_FILE, b"\r\n"}

    @property
    def is_placeholder(self) -> bool:
        """Whether somebody has to give it a content: it is blank, or an empty JSON object."""
        return self.content.strip() in {b"", b"{}"}

    @property
    def blob_id(self) -> str:
        """The id under which git stores this content (SHA-1 over ``blob <size>\\0<content>``)."""
        content = self.content
        header = b"blob %d\0" % len(content)
        return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
