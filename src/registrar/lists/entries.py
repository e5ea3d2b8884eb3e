"""Reads the entries of a list: YAML or JSON nodes -> `ListEntry`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import yaml

from registrar.errors import Diagnostic, InvalidInput, Refused
from registrar.lists import constraints, contents, syntax, when
from registrar.lists.constraints import Scope
from registrar.lists.nodes import NodeReader, Place
from registrar.models.conditions import Condition
from registrar.models.files import EMPTY_FILE, FileDefinition, ListEntry, Text
from registrar.presence.special_files import WORKFLOW_FILES
from registrar.runtime.workspace import Folder, Unreadable
from registrar.texts import templates
from registrar.texts.messages import Excerpt, Message, msg
from registrar.texts.spelling import closest

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
MOST_NAMED = 10
"""The most files of a folder that one warning names."""
PART_FIELDS = ("when", "content", "content_file", "template")
_LONGEST_NAME = 255
"""Bytes of the longest owner, repository or branch that can replace a placeholder."""


class EntryReader(NodeReader):
    """Reads the entries of one list."""

    def __init__(self, folder: Folder, name: str, secret: str) -> None:
        """``name`` is the definition file in ``folder``. A list with ``secret`` is an error."""
        super().__init__(name, secret)
        self._folder = folder
        self._beside = PurePosixPath(name).parent
        self._room = constraints.ALL_BYTES
        self.sources = set[str]()
        """The files with contents that were read."""

    def entries(
        self, nodes: Sequence[yaml.Node], *, content_allowed: bool
    ) -> tuple[dict[str, ListEntry], dict[str, Place]]:
        """Return the valid entries by their paths, in the order of the list, and their places.

        An entry for a folder becomes one entry for each of its files.
        """
        numbers: dict[str, int] = {}
        entries: dict[str, ListEntry] = {}
        places: dict[str, Place] = {}
        for number, node in enumerate(nodes, start=1):
            self.number = number
            before = self.errors.count
            for listed in self._files(node, content_allowed=content_allowed):
                path = listed.path
                if path and (other := numbers.setdefault(path, number)) != number:
                    self.error(node, msg("definitions.path_twice", path=Excerpt(path), other=other))
                if self.errors.count == before:
                    self.warn(node, *contents.blank_doubts(listed.file))
                    entries[path], places[path] = listed, self.place(node)
        self.number = None
        return entries, places

    def _files(self, node: yaml.Node, *, content_allowed: bool) -> Iterator[ListEntry]:
        keys = self._keys_of_entry(node)

        def at(*names: str) -> yaml.Node:
            """Return the place of a diagnostic about these keys: the value of the first of them."""
            return next((keys[name] for name in names if name in keys), node)

        path = self.string(keys.get("path"), "path")
        if path and (rest := syntax.comment_behind(keys["path"])):
            self.warn(
                at("path"), msg("definitions.comment", path=Excerpt(path), found=Excerpt(rest))
            )
        description = self._description(keys.get("description"), at("description"))
        template = self.boolean(keys.get("template"), "template")
        definition = FileDefinition(
            path=path or "",
            description=description,
            alternatives=self._alternatives(keys.get("alternatives"), at("alternatives"), path),
            blank=self.boolean(keys.get("may_be_blank"), "may_be_blank"),
        )
        text = self.string(keys.get("content"), "content")
        file = self.string(keys.get("content_file"), "content_file")
        if template and not {"content", "content_file"} & keys.keys():
            self.warn(at("template"), msg("definitions.template_alone"))
        if text is not None and file is not None:
            self.error(at("content_file"), msg("definitions.two_contents"))
        elif content_allowed and path and file and "/" in {path[-1], file[-1]}:
            if "parts" in keys:
                self.error(at("parts"), msg("definitions.folder_parts"))
            yield from self._folder_of_files(
                definition, file, at("content_file"), template=template
            )
        else:
            if path is not None:
                self._check(path, at("path"), Scope.TYPED, Scope.CREATED)
            of_content = at("content", "content_file")
            content = self._content(
                text, file, of_content, template=bool(template), allowed=content_allowed
            )
            parts: list[tuple[Text, Condition | None]] = []
            if content_allowed and (of_parts := keys.get("parts")):
                own = Text(content or b"", bool(template))
                parts = list(self._parts(of_parts, definition.path, own))
            if content is None:
                template, content = False, b"" if parts else EMPTY_FILE
            own = self._text(definition.path, content, of_content, template=template)
            if not parts:
                yield ListEntry(definition._replace(texts=(own,)))
                return
            texts = (own, *(text for text, _ in parts))
            conditions = (None, *(condition for _, condition in parts))
            yield ListEntry(definition._replace(texts=texts), conditions)

    def _description(self, node: yaml.Node | None, place: yaml.Node) -> str:
        description = self.string(node, "description") or ""
        if len(description) > constraints.DESCRIPTION_CHARACTERS:
            length, most = len(description), constraints.DESCRIPTION_CHARACTERS
            too_long = msg("definitions.description_too_long", length=length, most=most)
            self.error(place, too_long)
        if found := constraints.PLACEHOLDER.search(description):
            self.warn(place, msg("definitions.description_placeholder", found=Excerpt(found[0])))
        return description

    def _parts(
        self, node: yaml.Node, path: str, before: Text
    ) -> Iterator[tuple[Text, Condition | None]]:
        """Read the parts of an entry, and yield the valid ones with their conditions.

        ``before`` is the entry's own text. ``path`` is that of the file.
        """
        items = self.items(node, "parts")
        if not items:
            self.error(node, msg("definitions.no_parts"))
        if len(items) > constraints.MOST_PARTS:
            most = constraints.MOST_PARTS
            self.error(node, msg("definitions.too_many_parts", count=len(items), most=most))
            return
        size = _most_bytes(before.source, template=before.template)
        for number, item in enumerate(items, start=1):
            if before.source and not before.source.endswith(b"\n"):
                self.error(item, msg("definitions.part_runs_on", number=number))
            part = self._part(number, item, path)
            before = part[0] if part else Text(b"")
            if part:
                size += _most_bytes(before.source, template=before.template)
                yield part
        if size > constraints.CONTENT_BYTES:
            self.error(node, msg("definitions.content_too_large", most=constraints.CONTENT_BYTES))

    def _part(
        self, number: int, node: yaml.Node, path: str
    ) -> tuple[Text, Condition | None] | None:
        if not syntax.is_mapping(node):
            self.error(node, msg("definitions.part_no_object", number=number))
            return None
        keys = self.keys(node, PART_FIELDS)
        text = self.string(keys.get("content"), "content")
        file = self.string(keys.get("content_file"), "content_file")
        template = self.boolean(keys.get("template"), "template")
        if (text is None) == (file is None):
            self.error(node, msg("definitions.part_content", number=number))
            return None
        of_content = keys.get("content", keys.get("content_file", node))
        content = self._content(text, file, of_content, template=bool(template), allowed=True)
        condition = when.condition(self, keys["when"], node) if "when" in keys else None
        if content is None:
            return None
        read = self._text(path, content, of_content, template=template)
        return read._replace(part=number), condition

    def _keys_of_entry(self, node: yaml.Node) -> Mapping[str, yaml.Node]:
        if syntax.is_mapping(node):
            names = [syntax.text_of(key) or "" for key, _ in node.value]
            if not any(closest(name, FIELDS) == "path" for name in names):
                self.error(node, msg("definitions.path_missing"))
            return self.keys(node, FIELDS)
        text = syntax.text_of(node)
        if text is None:
            self.error(node, msg("definitions.entry_no_object"))
        elif (key := text.partition(":")[0]) in FIELDS:
            # `path:README.md` is a text in YAML, but probably not meant as the name of a file
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
            return self._checked(text, file or "", node, template=template)
        except Refused as error:
            self.error(node, *_messages(error))
            return None

    def _folder_of_files(
        self, folder: FileDefinition, name: str, node: yaml.Node, *, template: bool | None
    ) -> Iterator[ListEntry]:
        """Yield an entry for each file below the folder ``name``.

        ``folder`` is the entry as the list has it.
        """
        if not (folder.path.endswith("/") and name.endswith("/")):
            self.error(node, msg("definitions.folder_slashes"))
            return
        doubts = list(constraints.path_doubts(folder.path, Scope.TYPED, Scope.CREATED))
        self.warn(node, *doubts)
        if folder.alternatives:
            self.error(node, msg("definitions.folder_alternatives"))
        try:
            most, in_all = constraints.MOST_PATHS, constraints.MOST_IN_FOLDERS
            beside = str(self._beside / name)
            files = self._folder.files_below(beside, most=most, in_all=in_all)
            chosen = self._tracked(name, files, node)
        except Unreadable as error:
            self.error(node, error.message)
            return
        if not files:
            self.error(node, msg("definitions.folder_empty", folder=Excerpt(name)))
        # The root of the repository is written as `/`
        above = folder.path if folder.path != "/" else ""
        for file in chosen:
            path = f"{above}{file}"
            if self.secret and self.secret in path:
                self.error(node, msg("definitions.holds_token", key="path"))
                continue
            self.error(node, *constraints.path_diagnostics(path))
            if not doubts:
                self.warn(node, *constraints.path_doubts(path, Scope.CREATED))
            try:
                content = self._checked(None, f"{name}{file}", node, template=bool(template))
            except Refused as error:
                for each in _messages(error):
                    values = {"file": Excerpt(file), "diagnostic": each}
                    self.error(node, msg("definitions.in_folder", **values))
            else:
                text = self._text(path, content, node, template=template)
                yield ListEntry(folder._replace(path=path, texts=(text,)))

    def _tracked(self, name: str, files: Sequence[str], node: yaml.Node) -> Sequence[str]:
        """Return the files of the folder ``name`` that git tracks; all of them if git tracks none,
        because an earlier step may have made the folder, or if this is not known.
        """
        tracked = self._folder.tracked(str(self._beside / name), files)
        if tracked is None:
            self.warn(node, msg("definitions.index_unread", folder=Excerpt(name)))
        if tracked and (others := [each for each in files if each not in tracked]):
            shown = [Excerpt(each) for each in others[:MOST_NAMED]]
            values = {"folder": Excerpt(name), "count": len(others), "paths": shown}
            self.warn(node, msg("definitions.untracked", **values))
        return tracked or files

    def _text(self, path: str, source: bytes, node: yaml.Node, *, template: bool | None) -> Text:
        """Make a text of the file at ``path``, with the custom properties that it names.

        ``template`` is ``None`` if the list does not say whether the text is a template.

        A workflow with a custom property is an error, because people who set the property could
        then change a workflow, which runs with the secrets of the repository.
        """
        names = templates.properties(source.decode()) if template else ()
        is_folded = syntax.is_folded(node)
        self.warn(node, *contents.doubts(path, source, template=template, is_folded=is_folded))
        if names and path.startswith(WORKFLOW_FILES):
            self.error(node, msg("definitions.property_in_workflow", path=Excerpt(path)))
        return Text(source, bool(template), names)

    def _checked(self, text: str | None, file: str, node: yaml.Node, *, template: bool) -> bytes:
        """Return the content of ``text``, or of ``file`` if ``text`` is ``None``.

        Raises `Refused` if it cannot be read, is too large, has the secret, or is not a valid
        template.
        """
        no_room = Refused(msg("definitions.all_too_large", most=constraints.ALL_BYTES))
        if self._room < 0:
            # The list is refused anyway, and it may have the same large file very often
            raise no_room
        if text is not None:
            content = text.encode()
        else:
            name = str(self._beside / file)
            content = self._folder.read(name, most=constraints.CONTENT_BYTES)
            self.sources.add(name)
            if self._folder.is_executable(name):
                self.warn(node, msg("definitions.executable", file=Excerpt(file)))
            if self.secret and self.secret.encode() in content:
                raise Refused(msg("definitions.holds_token", key="content_file"))
        self._room -= len(content)
        if template:
            mistakes = tuple(contents.template_diagnostics(content))
            if mistakes:
                raise InvalidInput([Diagnostic(each) for each in mistakes])
        size = _most_bytes(content, template=template)
        self._room -= size - len(content)
        if size > constraints.CONTENT_BYTES:
            raise Refused(msg("definitions.content_too_large", most=constraints.CONTENT_BYTES))
        if self._room < 0:
            raise no_room
        return content

    def _alternatives(
        self, node: yaml.Node | None, entry: yaml.Node, own: str | None
    ) -> tuple[str, ...]:
        items = self.items(node, "alternatives")
        if len(items) > constraints.MOST_ALTERNATIVES:
            most = constraints.MOST_ALTERNATIVES
            self.error(entry, msg("definitions.too_many_alternatives", most=most))
            return ()
        paths = [self.string(item, "alternatives", is_item=True) for item in items]
        known = tuple(dict.fromkeys(path for path in paths if path is not None))
        for path in known:
            self._check(path, entry, Scope.TYPED)
        if own in known:
            self.warn(entry, msg("definitions.alternative_itself", path=Excerpt(own or "")))
        return known

    def _check(self, path: str, node: yaml.Node, *scopes: Scope) -> None:
        """Report the errors of a path. If it has none, warn of the first doubt."""
        if wrong := list(constraints.path_diagnostics(path)):
            self.error(node, *wrong)
        else:
            self.warn(node, *constraints.path_doubts(path, *scopes))


def _messages(error: Refused) -> Sequence[Message]:
    """Return all messages of an error."""
    if isinstance(error, InvalidInput):
        return [each.message for each in error.diagnostics]
    return [error.message]


def _most_bytes(content: bytes, *, template: bool) -> int:
    """Return the largest size, in bytes, of a text after its placeholders are filled in.

    A template must be valid.
    """
    if not template:
        return len(content)
    return len(content) + _LONGEST_NAME * templates.placeholders(content.decode())
