"""Reads a definition file -> `FileList`, and reports every diagnostic, with its entry and line.

A list is an array of entries, or an object that may extend a built-in list.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

import yaml

from registrar.errors import Diagnostic, InvalidInput
from registrar.lists import attributes, constraints, profiles, syntax, when
from registrar.lists.entries import FIELDS, EntryReader
from registrar.lists.globs import matching
from registrar.lists.nodes import Place
from registrar.lists.syntax import Malformed
from registrar.models.conditions import PATTERN_CHARACTERS
from registrar.models.files import ListEntry, parents
from registrar.models.rules import Rule
from registrar.models.spec import FileList
from registrar.models.standing import blob_id
from registrar.presence.names import folded, forms_of
from registrar.runtime.workspace import Folder, Unreadable
from registrar.texts.messages import Excerpt, msg
from registrar.texts.spelling import closest

KEYS = ("name", "extends", "exclude", "files", "rules", "$schema")
"""Keys of a list that is an object. ``$schema`` is only for editors and has no effect."""
ANCHORS = ("x-", ".")
"""Beginnings of other keys of such a list. They have no effect, so that anchors of YAML have a
place (docker/compose#10394)."""
RULE_KEYS = ("when", "extends", "exclude", "files")
"""Keys of a rule."""


def load(folder: Folder, name: str, *, content_allowed: bool = True, secret: str = "") -> FileList:
    """Read the definition file ``name`` of ``folder`` (``.json``, ``.yml`` or ``.yaml``; UTF-8).

    The result has the default texts of a caller's own list. Without ``content_allowed``, content is
    ignored with a warning. A list with ``secret`` is an error, because the content of a list is
    published. Raises `InvalidInput` with every diagnostic.
    """
    try:
        content = folder.read(name, most=constraints.FILE_BYTES)
        root = _parse(content, name)
    except Unreadable as error:
        raise InvalidInput([Diagnostic(error.message, name)]) from error
    except Malformed as error:
        message = msg(error.key, file=name, **error.values)
        raise InvalidInput([Diagnostic(message, name, error.line)]) from error
    reader = EntryReader(folder, name, secret)
    keys = reader.keys(root, KEYS, ANCHORS) if syntax.is_mapping(root) else {"files": root}
    list_name = _name(reader, keys.get("name"))
    extended = _extended(reader, keys)
    nodes = reader.items(keys.get("files"), "files")
    rule_nodes = reader.items(keys.get("rules"), "rules")
    seen = _Seen({}, {})
    merged = _merged(reader, extended, nodes, seen, content_allowed=content_allowed)
    defaults = profiles.defaults_of(list_name or profiles.UNNAMED)
    listed_rules = tuple(_rules(reader, rule_nodes, seen))
    files = FileList(defaults, tuple(merged.values()), listed_rules, name=list_name)
    _check_size(reader, files)
    if not files.possible and not reader.errors.count:
        reader.errors.add(Place(), msg("definitions.no_entries"))
    for key, path, file in attributes.doubts(files.possible):
        message = msg(key, path=Excerpt(path), file=Excerpt(file))
        reader.warnings.add(seen.places[path], message)
    if reader.errors.count:
        raise InvalidInput(reader.errors.diagnostics(), reader.warnings.diagnostics())
    warnings = tuple(reader.warnings.diagnostics())
    sources = frozenset({name, *reader.sources})
    return files._replace(blob_id=blob_id(content), warnings=warnings, sources=sources)


class _Seen(NamedTuple):
    """The paths that were read so far, outside rules and in rules."""

    names: dict[str, str]
    """Paths and directories by their `folded` form, which is equal if Windows or macOS cannot tell
    them apart."""
    places: dict[str, Place]
    """The first place of each path."""


def _merged(
    reader: EntryReader,
    extended: Sequence[ListEntry],
    nodes: Sequence[yaml.Node],
    seen: _Seen,
    *,
    content_allowed: bool,
) -> Mapping[str, ListEntry]:
    own, places = reader.entries(nodes, content_allowed=content_allowed)
    merged = {each.path: each for each in extended} | own
    _check_tree(reader, places, merged)
    _compare_names(reader, places, merged, seen)
    return merged


def _rules(reader: EntryReader, nodes: Sequence[yaml.Node], seen: _Seen) -> Iterator[Rule]:
    if len(nodes) > constraints.MOST_RULES:
        message = msg("definitions.too_many_rules", count=len(nodes), most=constraints.MOST_RULES)
        reader.error(nodes[0], message)
        return
    for number, node in enumerate(nodes, start=1):
        reader.rule = number
        if not syntax.is_mapping(node):
            reader.error(node, msg("definitions.rule_no_object"))
            continue
        keys = reader.keys(node, RULE_KEYS)
        condition = when.condition(reader, keys.get("when"), node)
        before = reader.errors.count
        items = reader.items(keys.get("files"), "files")
        extended = _extended(reader, keys)
        merged = _merged(reader, extended, items, seen, content_allowed=True)
        if not merged and reader.errors.count == before:
            reader.error(node, msg("definitions.rule_without_files"))
        listed = tuple(each.in_rule(number) for each in merged.values())
        yield Rule(number, condition, listed)
    reader.rule = None


def _parse(data: bytes, name: str) -> yaml.CollectionNode:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in {".json", ".yml", ".yaml"}:
        raise Malformed("definitions.unknown_format")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Malformed("definitions.not_utf8", line, offset=error.start) from error
    if not text.strip():
        raise Malformed("definitions.empty")
    root = syntax.parse_json(text) if suffix == ".json" else syntax.parse_yaml(text)
    if root is None:
        raise Malformed("definitions.empty")
    if syntax.is_sequence(root):
        return root
    # An object without any of these keys is probably an entry that is not in an array
    if syntax.is_mapping(root):
        names = [syntax.text_of(key) or "" for key, _ in root.value]
        if any(closest(name, (*KEYS, *FIELDS)) in KEYS for name in names):
            return root
    raise Malformed("definitions.not_a_list", 1)


def _name(reader: EntryReader, node: yaml.Node | None) -> str:
    if node is None:
        return ""
    name = reader.string(node, "name")
    if name is None or constraints.LIST_NAME.fullmatch(name):
        return name or ""
    most = constraints.NAME_CHARACTERS
    reader.error(node, msg("definitions.name", value=Excerpt(name), most=most))
    return ""


def _extended(reader: EntryReader, keys: Mapping[str, yaml.Node]) -> Sequence[ListEntry]:
    listed: Sequence[ListEntry] = ()
    if (node := keys.get("extends")) is not None:
        name = reader.string(node, "extends")
        if name in profiles.PROFILES:
            listed = load(Folder(profiles.CONFIG), profiles.PROFILES[name].definitions).files
        elif name is not None:
            known = tuple(profiles.PROFILES)
            message = msg("definitions.extends_unknown", value=Excerpt(name), known=known)
            reader.error(node, message)
    if (node := keys.get("exclude")) is not None and "extends" not in keys:
        reader.error(node, msg("definitions.exclude_alone"))
    elif node is not None:
        excluded = _excluded(reader, node, [each.path for each in listed])
        listed = [each for each in listed if each.path not in excluded]
    return listed


def _excluded(reader: EntryReader, node: yaml.Node, paths: Sequence[str]) -> set[str]:
    globs = reader.items(node, "exclude")
    if len(globs) > constraints.MOST_GLOBS:
        reader.error(node, msg("definitions.too_many_globs", most=constraints.MOST_GLOBS))
        return set()
    excluded = set[str]()
    for each in globs:
        glob = reader.string(each, "exclude", is_item=True)
        if glob is None:
            continue
        if len(glob) > PATTERN_CHARACTERS:
            reader.error(each, msg("definitions.glob_too_long", most=PATTERN_CHARACTERS))
        elif matched := matching(paths, glob):
            excluded |= matched
        else:
            reader.warn(each, msg("definitions.exclude_unused", glob=Excerpt(glob)))
    return excluded


def _check_tree(
    reader: EntryReader, own: Mapping[str, Place], merged: Mapping[str, ListEntry]
) -> None:
    """Report each path that is below another one, because a file is not a directory."""
    for path in merged:
        parent = next((above for above in parents(path) if above in merged), None)
        if parent is None:
            continue
        values = {"path": Excerpt(path), "parent": Excerpt(parent)}
        if path in own and parent in own:
            message = msg("definitions.path_below_file", **values, other=own[parent].entry)
        else:
            message = msg("definitions.path_below_extended", **values)
        reader.errors.add(own.get(path) or own[parent], message)


def _compare_names(
    reader: EntryReader,
    own: Mapping[str, Place],
    merged: Iterable[str],
    seen: _Seen,
) -> None:
    """Warn of different paths that are the same on Windows or macOS."""
    names = seen.names
    for path in merged:
        seen.places.setdefault(path, own.get(path) or Place(rule=reader.rule))
        for name in (path, *parents(path)):
            other = names.setdefault(key := folded(name), name)
            if other == name:
                continue
            values = {"path": Excerpt(name), "other": Excerpt(other)}
            if forms := forms_of(name, other):
                message = msg("definitions.unicode_form", **values, form=forms[0], present=forms[1])
            else:
                message = msg("definitions.letter_case", **values)
            reader.warnings.add(seen.places[path], message)
            # One warning is enough for all paths in the same directory
            names[key] = name
            break


def _check_size(reader: EntryReader, files: FileList) -> None:
    """Report too many paths or directories. Of alternatives, only the directories are read."""
    listed = {each.path for each in files.possible}
    above = {parent for path in files.paths for parent in parents(path)}
    for key, count, most in (
        ("definitions.too_many_paths", len(listed), constraints.MOST_PATHS),
        ("definitions.too_many_asked", len(files.asked_paths), constraints.MOST_PATHS),
        ("definitions.too_many_directories", len(above), constraints.MOST_DIRECTORIES),
    ):
        if count > most:
            reader.errors.add(Place(), msg(key, count=count, most=most))
