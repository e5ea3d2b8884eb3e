"""The entries of a list -> `FileDefinition`, one by one."""

from __future__ import annotations

import re
from collections import Counter
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
        self.errors = Diagnostics(name)
        self.warnings = Diagnostics(name)

    def entries(
        self, nodes: Sequence[yaml.Node], *, content_allowed: bool
    ) -> tuple[dict[str, FileDefinition], dict[str, Place]]:
        """Give the valid entries by their paths, in their order, and their places."""
        if len(nodes) > constraints.MOST_PATHS:
            most = constraints.MOST_PATHS
            message = msg("definitions.too_many_entries", count=len(nodes), most=most)
            self.errors.add(Place(line_of(nodes[0])), message)
            return {}, {}
        numbers: dict[str, int] = {}
        entries: dict[str, FileDefinition] = {}
        places: dict[str, Place] = {}
        for number, node in enumerate(nodes, start=1):
            place = Place(line_of(node), number)
            before = self.errors.count
            for definition in self._definitions(node, place, content_allowed=content_allowed):
                path = definition.path
                if other := numbers.get(path):
                    message = msg("definitions.path_twice", path=Excerpt(path), other=other)
                    self.errors.add(place, message)
                if path:
                    numbers.setdefault(path, number)
                if self.errors.count == before:
                    entries[path], places[path] = definition, place
        return entries, places

    def keys(
        self, node: yaml.MappingNode, known: Sequence[str], place: Place
    ) -> dict[str, yaml.Node]:
        """Values of the known keys; a key that is there twice has none."""
        lines = {syntax.text_of(key) or "?": line_of(key) for key, _ in node.value}
        for key, line in lines.items():
            if key not in known:
                message = msg("definitions.unknown_key", key=Excerpt(key), known=tuple(known))
                self.errors.add(place._replace(line=line), message)
        given = self.all_keys(node, place)
        return {key: value for key, value in given.items() if key in known}

    def all_keys(self, node: yaml.MappingNode, place: Place) -> dict[str, yaml.Node]:
        """Values of all keys; a key that is there twice has none."""
        pairs = [(syntax.text_of(key) or "?", value) for key, value in node.value]
        times = Counter(key for key, _ in pairs)
        lines = {syntax.text_of(key) or "?": line_of(key) for key, _ in node.value}
        for key, count in times.items():
            if count > 1:
                message = msg("definitions.duplicate_key", key=Excerpt(key))
                self.errors.add(place._replace(line=lines[key]), message)
        return {key: value for key, value in pairs if times[key] == 1}

    def string(
        self, node: yaml.Node | None, key: str, place: Place, *, is_item: bool = False
    ) -> str | None:
        """Value of a key, or item of its array; ``None`` where there is none, or no usable one."""
        if node is None:
            return None
        value = syntax.text_of(node)
        if value is None:
            wrong = "definitions.item_not_a_string" if is_item else "definitions.not_a_string"
            message = msg(wrong, key=key)
        elif _SURROGATE.search(value):
            message = msg("definitions.surrogate", key=key)
        elif self._secret and self._secret in value:
            message = msg("definitions.holds_token", key=key)
        else:
            return value
        self.errors.add(place._replace(line=line_of(node)), message)
        return None

    def items(self, node: yaml.Node | None, key: str, place: Place) -> Sequence[yaml.Node]:
        """Elements of a key's array; none where there is none."""
        if node is None:
            return ()
        if isinstance(node, yaml.SequenceNode) and node.tag == syntax.SEQUENCE:
            return list(node.value)
        self.errors.add(
            place._replace(line=line_of(node)), msg("definitions.not_an_array", key=key)
        )
        return ()

    def _definitions(
        self, node: yaml.Node, place: Place, *, content_allowed: bool
    ) -> Iterator[FileDefinition]:
        """The files of one entry: more than one where it is a folder."""
        keys = self._keys_of_entry(node, place)
        path = self.string(keys.get("path"), "path", place)
        description = self.string(keys.get("description"), "description", place) or ""
        if len(description) > constraints.DESCRIPTION_CHARACTERS:
            length, most = len(description), constraints.DESCRIPTION_CHARACTERS
            message = msg("definitions.description_too_long", length=length, most=most)
            self.errors.add(place, message)
        template = self.boolean(keys.get("template"), "template", place)
        definition = FileDefinition(
            path=path or "",
            description=description,
            alternatives=self._alternatives(keys.get("alternatives"), place),
            template=template,
            blank=self.boolean(keys["may_be_blank"], "may_be_blank", place)
            if "may_be_blank" in keys
            else None,
        )
        text = self.string(keys.get("content"), "content", place)
        file = self.string(keys.get("content_file"), "content_file", place)
        if text is not None and file is not None:
            self.errors.add(place, msg("definitions.two_contents"))
        elif content_allowed and path and file and "/" in {path[-1], file[-1]}:
            yield from self._folder_of_files(definition, file, place)
        else:
            if path is not None:
                self.errors.add(place, *constraints.path_diagnostics(path))
            content = self._content(text, file, place, template=template, allowed=content_allowed)
            definition = definition._replace(template=template and content is not None)
            source = EMPTY_FILE if content is None else content
            yield self._with_source(definition, source, place)

    def _keys_of_entry(self, node: yaml.Node, place: Place) -> Mapping[str, yaml.Node]:
        """The keys of an entry, which may be a path alone."""
        if isinstance(node, yaml.MappingNode) and node.tag == syntax.MAPPING:
            if not any(syntax.text_of(key) == "path" for key, _ in node.value):
                self.errors.add(place, msg("definitions.path_missing"))
            return self.keys(node, FIELDS, place)
        text = syntax.text_of(node)
        if text is None:
            self.errors.add(place, msg("definitions.entry_no_object"))
        elif (key := text.partition(":")[0]) in FIELDS:
            # `path:README.md` is a text in YAML, and hardly the name of a file
            self.errors.add(place, msg("definitions.no_blank_after_key", key=key))
        else:
            return {"path": node}
        return {}

    def _content(
        self, text: str | None, file: str | None, place: Place, *, template: bool, allowed: bool
    ) -> bytes | None:
        """What the file will hold; ``None`` where it is empty."""
        if text is None and file is None:
            return None
        if not allowed:
            self.warnings.add(place, msg("definitions.content_ignored"))
            return None
        try:
            self._require_room()
            content = text.encode() if text is not None else self._file(file or "")
            return self._checked(content, template=template)
        except Refused as error:
            self.errors.add(place, error.message)
            return None

    def _folder_of_files(
        self, folder: FileDefinition, name: str, place: Place
    ) -> Iterator[FileDefinition]:
        """A definition for each file below the folder ``name``; ``folder`` is the entry itself."""
        if not (folder.path.endswith("/") and name.endswith("/")):
            self.errors.add(place, msg("definitions.folder_slashes"))
            return
        if folder.alternatives:
            self.errors.add(place, msg("definitions.folder_alternatives"))
        try:
            files = self._folder.files_below(str(self._beside / name), most=constraints.MOST_PATHS)
        except Unreadable as error:
            self.errors.add(place, error.message)
            return
        if not files:
            self.errors.add(place, msg("definitions.folder_empty", folder=Excerpt(name)))
        # The root of the repository is written as `/`
        above = folder.path if folder.path != "/" else ""
        for file in files:
            path = f"{above}{file}"
            self.errors.add(place, *constraints.path_diagnostics(path))
            try:
                self._require_room()
                content = self._checked(self._file(f"{name}{file}"), template=folder.template)
            except Refused as error:
                values = {"file": Excerpt(file), "diagnostic": error.message}
                self.errors.add(place, msg("definitions.in_folder", **values))
            else:
                yield self._with_source(folder._replace(path=path), content, place)

    def _with_source(
        self, definition: FileDefinition, source: bytes, place: Place
    ) -> FileDefinition:
        """Give a file its content, and the custom properties that are named in it.

        Admins of a repository may set them, so none becomes a part of a workflow, which runs with
        the secrets of the repository.
        """
        names = templates.properties(source.decode()) if definition.template else ()
        if names and definition.path.startswith(WORKFLOW_FILES):
            message = msg("definitions.property_in_workflow", path=Excerpt(definition.path))
            self.errors.add(place, message)
        return definition._replace(source=source, properties=names)

    def _require_room(self) -> None:
        """Read no more of a list that is refused: perhaps it holds one large file very often."""
        if self._room < 0:
            raise Refused(msg("definitions.all_too_large", most=constraints.ALL_BYTES))

    def _file(self, name: str) -> bytes:
        data = self._folder.read(str(self._beside / name), most=constraints.CONTENT_BYTES)
        if self._secret and self._secret.encode() in data:
            raise Refused(msg("definitions.holds_token", key="content_file"))
        return data

    def _checked(self, content: bytes, *, template: bool) -> bytes:
        """Check a template, and how much is written in all."""
        size = len(content)
        self._room -= size
        if template:
            try:
                text = content.decode()
            except UnicodeDecodeError as error:
                raise Refused(msg("definitions.template_binary")) from error
            if message := templates.diagnostic("template", text, TEMPLATE_NAMES):
                raise Refused(message)
            filled_in = _LONGEST_NAME * templates.placeholders(text)
            size += filled_in
            self._room -= filled_in
        if size > constraints.CONTENT_BYTES:
            raise Refused(msg("definitions.content_too_large", most=constraints.CONTENT_BYTES))
        if self._room < 0:
            raise Refused(msg("definitions.all_too_large", most=constraints.ALL_BYTES))
        return content

    def _alternatives(self, node: yaml.Node | None, place: Place) -> tuple[str, ...]:
        items = self.items(node, "alternatives", place)
        if len(items) > constraints.MOST_ALTERNATIVES:
            most = constraints.MOST_ALTERNATIVES
            self.errors.add(place, msg("definitions.too_many_alternatives", most=most))
            return ()
        paths = [self.string(item, "alternatives", place, is_item=True) for item in items]
        known = tuple(dict.fromkeys(path for path in paths if path is not None))
        for path in known:
            self.errors.add(place, *constraints.path_diagnostics(path))
        return known

    def boolean(self, node: yaml.Node | None, key: str, place: Place) -> bool:
        if node is None:
            return False
        value = node.value.lower() if node.tag == syntax.BOOLEAN else ""
        if value not in {"true", "false"}:
            at = place._replace(line=line_of(node))
            self.errors.add(at, msg("definitions.not_a_boolean", key=key))
        return bool(value == "true")


def line_of(node: yaml.Node) -> int:
    """Line where a node begins, from 1."""
    return int(node.start_mark.line) + 1
