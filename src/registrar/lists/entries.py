"""The entries of a list -> `FileDefinition`, one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

import yaml

from registrar.errors import Diagnostic, Refused
from registrar.lists import constraints, syntax
from registrar.models.files import EMPTY_FILE, TEMPLATE_NAMES, FileDefinition
from registrar.presence.special_files import WORKFLOW_FILES
from registrar.runtime.workspace import Folder, Unreadable
from registrar.texts import templates
from registrar.texts.escaping import SECRET_CHARACTERS
from registrar.texts.messages import Excerpt, Message, msg

FIELDS = (
    "path",
    "description",
    "content",
    "content_file",
    "template",
    "alternatives",
    "may_be_blank",
)
_MOST_OF_ONE_KIND = 10
"""How many diagnostics of one kind are listed; the last of them says how many follow."""
_SHOWN_ENTRIES = 20
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LONGEST_NAME = 255
"""Bytes of the longest owner, repository or branch that a placeholder may stand for."""


class Place(NamedTuple):
    """A place in the file: a line, and the entry in it. Both count from 1."""

    line: int | None = None
    entry: int | None = None


class Diagnostics:
    """The errors, or the warnings, of one file."""

    def __init__(self, name: str) -> None:
        """``name`` is the file's name in the diagnostics."""
        self._name = name
        self._kinds: dict[str, list[tuple[Message, Place]]] = {}
        self.count = 0

    def add(self, place: Place, *messages: Message) -> None:
        for message in messages:
            self.count += 1
            self._kinds.setdefault(message.sentence, []).append((message, place))

    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics in the order of the lines; of many of one kind the rest is counted."""
        listed = list[Diagnostic]()
        for same in self._kinds.values():
            *first, (last, place) = same[:_MOST_OF_ONE_KIND]
            listed += [self._diagnostic(*each) for each in first]
            if rest := same[_MOST_OF_ONE_KIND:]:
                numbers = tuple(where.entry or where.line for _, where in rest[:_SHOWN_ENTRIES])
                more = ("…",) if len(rest) > _SHOWN_ENTRIES else ()
                values = {"diagnostic": last, "count": len(rest), "entries": (*numbers, *more)}
                last = msg("definitions.repeated", **values)
            listed.append(self._diagnostic(last, place))
        return sorted(listed, key=lambda diagnostic: diagnostic.line or 0)

    def _diagnostic(self, message: Message, place: Place) -> Diagnostic:
        values = {"file": self._name, "line": place.line, "diagnostic": message}
        if place.entry is not None:
            message = msg("definitions.at", entry=place.entry, **values)
        elif place.line is not None:
            message = msg("definitions.at_line", **values)
        return Diagnostic(message, self._name, place.line)


class EntryReader:
    """Reads the nodes of one list and notes what is wrong with them."""

    def __init__(self, folder: Folder, name: str, secret: str) -> None:
        """``name`` is the list's own file in ``folder``; ``secret`` must not be in it."""
        self._folder = folder
        self._beside = PurePosixPath(name).parent
        self._secret = secret if len(secret) >= SECRET_CHARACTERS else ""
        self._room = constraints.ALL_BYTES
        self._files = 0
        """Files of all entries so far, those below folders included."""
        self._number: int | None = None
        """Number of the entry that is being read."""
        self.errors = Diagnostics(name)
        self.warnings = Diagnostics(name)

    def error(self, node: yaml.Node, *messages: Message) -> None:
        self.errors.add(self._place(node), *messages)

    def warn(self, node: yaml.Node, message: Message) -> None:
        self.warnings.add(self._place(node), message)

    def _place(self, node: yaml.Node) -> Place:
        return Place(int(node.start_mark.line) + 1, self._number)

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
            self._number = number
            before = self.errors.count
            for definition in self._definitions(node, content_allowed=content_allowed):
                path = definition.path
                self._files += 1
                if self._files > constraints.MOST_FILES:
                    # Read no more: one folder may be listed very often
                    break
                if other := numbers.get(path):
                    message = msg("definitions.path_twice", path=Excerpt(path), other=other)
                    self.error(node, message)
                if path:
                    numbers.setdefault(path, number)
                if self.errors.count == before:
                    entries[path], places[path] = definition, self._place(node)
            if self._files > constraints.MOST_FILES:
                most = constraints.MOST_FILES
                self.error(node, msg("definitions.too_many_files", most=most))
                break
        self._number = None
        return entries, places

    def keys(self, node: yaml.MappingNode, known: Sequence[str] = ()) -> dict[str, yaml.Node]:
        """Values of the known keys (of all, where none is); a key that is there twice has none."""
        given: dict[str, list[tuple[yaml.Node, yaml.Node]]] = {}
        for key, value in node.value:
            given.setdefault(syntax.text_of(key) or "?", []).append((key, value))
        unknown = [name for name in given if known and name not in known]
        for name in unknown:
            key, _ = given[name][-1]
            self.error(key, msg("definitions.unknown_key", key=Excerpt(name), known=known))
        for name, [*earlier, (key, _)] in given.items():
            if earlier:
                self.error(key, msg("definitions.duplicate_key", key=Excerpt(name)))
        return {
            name: pairs[0][1]
            for name, pairs in given.items()
            if len(pairs) == 1 and name not in unknown
        }

    def string(self, node: yaml.Node | None, key: str, *, is_item: bool = False) -> str | None:
        """Value of a key, or item of its array; ``None`` where there is none, or no usable one."""
        if node is None:
            return None
        value = syntax.text_of(node)
        if value is None:
            wrong = "definitions.item_not_a_string" if is_item else "definitions.not_a_string"
            self.error(node, msg(wrong, key=key))
        elif _SURROGATE.search(value):
            self.error(node, msg("definitions.surrogate", key=key))
        elif self._secret and self._secret in value:
            self.error(node, msg("definitions.holds_token", key=key))
        else:
            return value
        return None

    def items(self, node: yaml.Node | None, key: str) -> Sequence[yaml.Node]:
        """Elements of a key's array; none where there is none."""
        if node is None:
            return ()
        if syntax.is_sequence(node):
            return list(node.value)
        self.error(node, msg("definitions.not_an_array", key=key))
        return ()

    def boolean(self, node: yaml.Node | None, key: str) -> bool | None:
        """Value of a key; ``None`` where there is none."""
        if node is None:
            return None
        value = node.value.lower() if node.tag == syntax.BOOLEAN else ""
        if value not in {"true", "false"}:
            self.error(node, msg("definitions.not_a_boolean", key=key))
        return bool(value == "true")

    def _definitions(self, node: yaml.Node, *, content_allowed: bool) -> Iterator[FileDefinition]:
        """The files of one entry: more than one where it is a folder."""
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
            yield from self._folder_of_files(definition, file, node)
        else:
            if path is not None:
                self.error(node, *constraints.path_diagnostics(path))
            content = self._content(text, file, node, template=template, allowed=content_allowed)
            definition = definition._replace(template=template and content is not None)
            yield self._with_source(definition, EMPTY_FILE if content is None else content, node)

    def _keys_of_entry(self, node: yaml.Node) -> Mapping[str, yaml.Node]:
        """The keys of an entry, which may be a path alone."""
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
        """What the file will hold; ``None`` where it is empty."""
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
            files = self._folder.files_below(str(self._beside / name), most=constraints.MOST_PATHS)
        except Unreadable as error:
            self.error(node, error.message)
            return
        if not files:
            self.error(node, msg("definitions.folder_empty", folder=Excerpt(name)))
        # The root of the repository is written as `/`
        above = folder.path if folder.path != "/" else ""
        for file in files:
            path = f"{above}{file}"
            if self._secret and self._secret in path:
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
            if self._secret and self._secret.encode() in content:
                raise Refused(msg("definitions.holds_token", key="content_file"))
        size = len(content)
        self._room -= size
        if template:
            try:
                template_text = content.decode()
            except UnicodeDecodeError as error:
                raise Refused(msg("definitions.template_binary")) from error
            if message := templates.diagnostic("template", template_text, TEMPLATE_NAMES):
                raise Refused(message)
            filled_in = _LONGEST_NAME * templates.placeholders(template_text)
            size += filled_in
            self._room -= filled_in
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
