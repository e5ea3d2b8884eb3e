"""The entries of a list -> `FileDefinition`, one by one."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import yaml

from registrar.errors import Refused
from registrar.lists import constraints, syntax, when
from registrar.lists.nodes import NodeReader, Place
from registrar.models.files import EMPTY_FILE, TEMPLATE_NAMES, FileDefinition, Part
from registrar.presence.special_files import WORKFLOW_FILES
from registrar.runtime.workspace import Folder, Unreadable
from registrar.texts import templates
from registrar.texts.messages import Excerpt, msg

FIELDS = (
    "path",
    "description",
    "content",
    "content_file",
    "template",
    "parts",
    "alternatives",
    "may_be_blank",
)
PART_FIELDS = ("when", "content", "content_file", "template")
_LONGEST_NAME = 255
"""Bytes of the longest owner, repository or branch that a placeholder may stand for."""


class EntryReader(NodeReader):
    """Reads the entries of one list."""

    def __init__(self, folder: Folder, name: str, secret: str) -> None:
        """``name`` is the list's own file in ``folder``; ``secret`` must not be in it."""
        super().__init__(name, secret)
        self._folder = folder
        self._beside = PurePosixPath(name).parent
        self._room = constraints.ALL_BYTES

    def entries(
        self, nodes: Sequence[yaml.Node], *, content_allowed: bool
    ) -> tuple[dict[str, FileDefinition], dict[str, Place]]:
        """Give the valid entries by their paths, in their order, and their places."""
        if len(nodes) > constraints.MOST_PATHS:
            most = constraints.MOST_PATHS
            message = msg("definitions.too_many_entries", count=len(nodes), most=most)
            self.error(nodes[0], message)
            return {}, {}
        numbers: dict[str, int] = {}
        entries: dict[str, FileDefinition] = {}
        places: dict[str, Place] = {}
        for number, node in enumerate(nodes, start=1):
            self.number = number
            before = self.errors.count
            for definition in self._definitions(node, content_allowed=content_allowed):
                path = definition.path
                if path and (other := numbers.setdefault(path, number)) != number:
                    self.error(node, msg("definitions.path_twice", path=Excerpt(path), other=other))
                if self.errors.count == before:
                    entries[path], places[path] = definition, self.place(node)
        self.number = None
        return entries, places

    def _definitions(self, node: yaml.Node, *, content_allowed: bool) -> Iterator[FileDefinition]:
        keys = self._keys_of_entry(node)
        path = self.string(keys.get("path"), "path")
        description = self.string(keys.get("description"), "description") or ""
        if len(description) > constraints.DESCRIPTION_CHARACTERS:
            length, most = len(description), constraints.DESCRIPTION_CHARACTERS
            self.error(node, msg("definitions.description_too_long", length=length, most=most))
        template = bool(self.boolean(keys.get("template"), "template"))
        definition = FileDefinition(
            path=path or "",
            description=description,
            alternatives=self._alternatives(keys.get("alternatives"), node),
            template=template,
            blank=self.boolean(keys.get("may_be_blank"), "may_be_blank"),
        )
        text = self.string(keys.get("content"), "content")
        file = self.string(keys.get("content_file"), "content_file")
        if text is not None and file is not None:
            self.error(node, msg("definitions.two_contents"))
        elif content_allowed and path and file and "/" in {path[-1], file[-1]}:
            if "parts" in keys:
                self.error(node, msg("definitions.folder_parts"))
            yield from self._folder_of_files(definition, file, node)
        else:
            if path is not None:
                self.error(node, *constraints.path_diagnostics(path))
            content = self._content(text, file, node, template=template, allowed=content_allowed)
            definition = definition._replace(template=template and content is not None)
            if content_allowed and (of_parts := keys.get("parts")):
                parts = tuple(self._parts(of_parts, definition, content or b""))
                definition = definition._replace(parts=parts)
            if content is None:
                content = b"" if definition.parts else EMPTY_FILE
            yield self._with_source(definition, content, node)

    def _parts(self, node: yaml.Node, definition: FileDefinition, before: bytes) -> Iterator[Part]:
        items = self.items(node, "parts")
        if not items:
            self.error(node, msg("definitions.no_parts"))
        if len(items) > constraints.MOST_PARTS:
            most = constraints.MOST_PARTS
            self.error(node, msg("definitions.too_many_parts", count=len(items), most=most))
            return
        size = _most_bytes(before, template=definition.template)
        for number, item in enumerate(items, start=1):
            if before and not before.endswith(b"\n"):
                self.error(item, msg("definitions.part_runs_on", number=number))
            part = self._part(number, item, definition)
            before = part.source if part else b""
            if part:
                size += _most_bytes(before, template=part.template)
                yield part
        if size > constraints.CONTENT_BYTES:
            self.error(node, msg("definitions.content_too_large", most=constraints.CONTENT_BYTES))

    def _part(self, number: int, node: yaml.Node, definition: FileDefinition) -> Part | None:
        if not syntax.is_mapping(node):
            self.error(node, msg("definitions.part_no_object", number=number))
            return None
        keys = self.keys(node, PART_FIELDS)
        text = self.string(keys.get("content"), "content")
        file = self.string(keys.get("content_file"), "content_file")
        template = bool(self.boolean(keys.get("template"), "template"))
        if (text is None) == (file is None):
            self.error(node, msg("definitions.part_content", number=number))
            return None
        content = self._content(text, file, node, template=template, allowed=True)
        condition = when.condition(self, keys["when"], node) if "when" in keys else None
        if content is None:
            return None
        filled = self._with_source(definition._replace(template=template), content, node)
        return Part(number, content, filled.properties, template, condition)

    def _keys_of_entry(self, node: yaml.Node) -> Mapping[str, yaml.Node]:
        if syntax.is_mapping(node):
            if not any(syntax.text_of(key) == "path" for key, _ in node.value):
                self.error(node, msg("definitions.path_missing"))
            return self.keys(node, FIELDS)
        text = syntax.text_of(node)
        if text is None:
            self.error(node, msg("definitions.entry_no_object"))
        elif (key := text.partition(":")[0]) in FIELDS:
            # `path:README.md` is a text in YAML, and hardly the name of a file
            self.error(node, msg("definitions.no_blank_after_key", key=key))
        else:
            return {"path": node}
        return {}

    def _content(
        self, text: str | None, file: str | None, node: yaml.Node, *, template: bool, allowed: bool
    ) -> bytes | None:
        if text is None and file is None:
            return None
        if not allowed:
            self.warn(node, msg("definitions.content_ignored"))
            return None
        try:
            return self._checked(text, file or "", template=template)
        except Refused as error:
            self.error(node, error.message)
            return None

    def _folder_of_files(
        self, folder: FileDefinition, name: str, node: yaml.Node
    ) -> Iterator[FileDefinition]:
        """A definition for each file below the folder ``name``; ``folder`` is the entry itself."""
        if not (folder.path.endswith("/") and name.endswith("/")):
            self.error(node, msg("definitions.folder_slashes"))
            return
        if folder.alternatives:
            self.error(node, msg("definitions.folder_alternatives"))
        try:
            most, in_all = constraints.MOST_PATHS, constraints.MOST_IN_FOLDERS
            files = self._folder.files_below(str(self._beside / name), most=most, in_all=in_all)
        except Unreadable as error:
            self.error(node, error.message)
            return
        if not files:
            self.error(node, msg("definitions.folder_empty", folder=Excerpt(name)))
        # The root of the repository is written as `/`
        above = folder.path if folder.path != "/" else ""
        for file in files:
            path = f"{above}{file}"
            if self.secret and self.secret in path:
                self.error(node, msg("definitions.holds_token", key="path"))
                continue
            self.error(node, *constraints.path_diagnostics(path))
            try:
                content = self._checked(None, f"{name}{file}", template=folder.template)
            except Refused as error:
                values = {"file": Excerpt(file), "diagnostic": error.message}
                self.error(node, msg("definitions.in_folder", **values))
            else:
                yield self._with_source(folder._replace(path=path), content, node)

    def _with_source(
        self, definition: FileDefinition, source: bytes, node: yaml.Node
    ) -> FileDefinition:
        """Give a file its content, and the custom properties that are named in it.

        Admins of a repository may set them, so none becomes a part of a workflow, which runs with
        the secrets of the repository.
        """
        names = templates.properties(source.decode()) if definition.template else ()
        if names and definition.path.startswith(WORKFLOW_FILES):
            self.error(node, msg("definitions.property_in_workflow", path=Excerpt(definition.path)))
        return definition._replace(source=source, properties=names)

    def _checked(self, text: str | None, file: str, *, template: bool) -> bytes:
        """Give a text, or what a file holds; it is refused where it cannot be written."""
        no_room = Refused(msg("definitions.all_too_large", most=constraints.ALL_BYTES))
        if self._room < 0:
            # Read no more of a list that is refused: perhaps it holds one large file very often
            raise no_room
        if text is not None:
            content = text.encode()
        else:
            content = self._folder.read(str(self._beside / file), most=constraints.CONTENT_BYTES)
            if self.secret and self.secret.encode() in content:
                raise Refused(msg("definitions.holds_token", key="content_file"))
        self._room -= len(content)
        if template:
            try:
                text = content.decode()
            except UnicodeDecodeError as error:
                raise Refused(msg("definitions.template_binary")) from error
            if message := templates.diagnostic("template", text, TEMPLATE_NAMES):
                raise Refused(message)
        size = _most_bytes(content, template=template)
        self._room -= size - len(content)
        if size > constraints.CONTENT_BYTES:
            raise Refused(msg("definitions.content_too_large", most=constraints.CONTENT_BYTES))
        if self._room < 0:
            raise no_room
        return content

    def _alternatives(self, node: yaml.Node | None, entry: yaml.Node) -> tuple[str, ...]:
        items = self.items(node, "alternatives")
        if len(items) > constraints.MOST_ALTERNATIVES:
            most = constraints.MOST_ALTERNATIVES
            self.error(entry, msg("definitions.too_many_alternatives", most=most))
            return ()
        paths = [self.string(item, "alternatives", is_item=True) for item in items]
        known = tuple(dict.fromkeys(path for path in paths if path is not None))
        for path in known:
            self.error(entry, *constraints.path_diagnostics(path))
        return known


def _most_bytes(content: bytes, *, template: bool) -> int:
    """Bytes that a text, whose template has no mistake, may have when it is filled in."""
    if not template:
        return len(content)
    return len(content) + _LONGEST_NAME * templates.placeholders(content.decode())
