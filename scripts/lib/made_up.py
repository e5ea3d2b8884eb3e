"""Make up repositories that differ in everything a list or a selection can ask about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import yaml

from scripts.lib.scene import ROOT

REPOSITORIES = 12
"""Repositories that a pattern with a star names."""
BUILT_IN = ROOT / "scripts/config"
PROPERTY = "property "
"""Begins the kind of a custom property; its name follows."""
PATTERN = frozenset("*?[")


class Made(TypedDict):
    """The attributes with which a repository is created."""

    files: Mapping[str, bytes]
    private: bool
    language: str | None
    topics: Sequence[str]
    properties: Mapping[str, str]


def repository_names(target_repos: str) -> list[str]:
    """Names that the patterns of a selection fit."""
    entries = [each.strip() for each in re.split(r"[,\n]", target_repos)]
    patterns = [each for each in entries if re.fullmatch(r"[\w-]+/[\w.*-]+", each)]
    names = [
        pattern.replace("*", f"service-{number:02}")
        for pattern in patterns
        for number in range(REPOSITORIES if "*" in pattern else 1)
    ]
    return list(dict.fromkeys(names))


@dataclass(frozen=True)
class Asked:
    """The attributes that a list and a selection ask about, and the paths of the list itself."""

    values: Mapping[str, Sequence[str]]
    """Values by kind: ``language``, ``topic``, ``exists``, and each custom property."""
    listed: frozenset[str]

    @classmethod
    def by(cls, text: str, target_repos: str) -> Asked:
        """Read a list, also one that is not valid, and a selection."""
        found: dict[str, list[str]] = defaultdict(list)
        for name in re.findall(r"\{property:([^}\s]+)\}", text):
            found[PROPERTY + name].append("example")
        qualifier = r"(?m)(?:^|,)\s*(property|topic|language):([^,\n]+)"
        for kind, value in re.findall(qualifier, target_repos):
            name, _, wanted = value.strip().partition("=")
            if kind == "property":
                found[PROPERTY + name].append(wanted or "example")
            else:
                found[kind].append(name)
        try:
            content = yaml.safe_load(text)
        except yaml.YAMLError:
            content = None
        for kind, value in _conditions(content):
            found[kind].append(value)
        # Values cannot be patterns: nobody has a team that is called *
        values = {
            kind: list(dict.fromkeys(each for each in those if not PATTERN.intersection(each)))
            for kind, those in found.items()
        }
        return cls(values, frozenset([*_texts(content), *_built_in_paths()]))

    def repository(self, number: int, files: Mapping[str, bytes]) -> Made:
        """One of several repositories: of each kind of value it has one, or none, in turn."""

        def turn(kind: str) -> str | None:
            possible: list[str | None] = [*self.values.get(kind, ()), None]
            return possible[number % len(possible)]

        there, topic = turn("exists"), turn("topic")
        properties = {
            kind.removeprefix(PROPERTY): value
            for kind in self.values
            if kind.startswith(PROPERTY) and (value := turn(kind))
        }
        return Made(
            files={
                **{self._file(path): content for path, content in files.items()},
                **({self._file(there): b"# There already\n"} if there else {}),
            },
            private=number % 2 == 1,
            language=turn("language"),
            topics=[topic] if topic else [],
            properties=properties,
        )

    def _file(self, path: str) -> str:
        """A file that makes a path exist; one in it where the list has others below it."""
        is_folder = any(each.startswith(f"{path}/") for each in self.listed)
        return f"{path}/example" if is_folder else path


def _conditions(node: Any) -> Iterator[tuple[str, str]]:
    """Kinds and values of all conditions in a list."""
    if isinstance(node, list):
        for each in node:
            yield from _conditions(each)
    for key, value in node.items() if isinstance(node, dict) else ():
        if key == "property" and isinstance(value, dict):
            for name, wanted in value.items():
                for each in wanted if isinstance(wanted, list) else [wanted]:
                    yield f"{PROPERTY}{name}", str(each)
        elif key in {"topic", "language", "exists"}:
            for each in value if isinstance(value, list) else [value]:
                yield key, str(each)
        yield from _conditions(value)


def _texts(node: Any) -> Iterator[str]:
    """All texts of a list, the paths among them."""
    if isinstance(node, str):
        yield node
    for each in node if isinstance(node, list) else ():
        yield from _texts(each)
    for each in node.values() if isinstance(node, dict) else ():
        yield from _texts(each)


def _built_in_paths() -> Iterator[str]:
    """Paths that a list may extend."""
    for file in BUILT_IN.glob("repo-*-definitions.*"):
        for entry in yaml.safe_load(file.read_text("utf-8")):
            yield entry["path"]
