"""Make up repositories that differ in all attributes about which a list or a selection can ask."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import yaml

from scripts.lib.scene import ROOT

REPOSITORIES = 12
"""Number of repositories for a pattern with a star."""
BUILT_IN = ROOT / "scripts/config"
PROPERTY = "property "
"""The beginning of the kind of a custom property; the name of the property follows."""
PATTERN = frozenset("*?[")


class Made(TypedDict):
    """The attributes with which a repository is created."""

    files: Mapping[str, bytes]
    private: bool
    language: str | None
    topics: Sequence[str]
    properties: Mapping[str, str]


def repository_names(target_repos: str) -> list[str]:
    """Return names that match the patterns of a selection."""
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
        """Read a list, which may be invalid, and a selection."""
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
        # Patterns are left out, because a repository has values such as `web`, but not `*`
        values = {
            kind: list(dict.fromkeys(each for each in those if not PATTERN.intersection(each)))
            for kind, those in found.items()
        }
        return cls(values, frozenset([*_texts(content), *_built_in_paths()]))

    def repository(self, number: int, files: Mapping[str, bytes]) -> Made:
        """Return the attributes of one repository; of each kind it has one of the values, or none.

        The ``number`` of the repository decides which values these are.
        """

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
        """Return a file that makes a path exist; one inside of it if the list has paths below."""
        is_folder = any(each.startswith(f"{path}/") for each in self.listed)
        return f"{path}/example" if is_folder else path


def _conditions(node: Any) -> Iterator[tuple[str, str]]:
    """Yield kinds and values of all conditions in a list."""
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
    """Yield all texts of a list, including its paths."""
    if isinstance(node, str):
        yield node
    for each in node if isinstance(node, list) else ():
        yield from _texts(each)
    for each in node.values() if isinstance(node, dict) else ():
        yield from _texts(each)


def _built_in_paths() -> Iterator[str]:
    """Yield the paths of the built-in lists, which a list may extend."""
    for file in BUILT_IN.glob("repo-*-definitions.*"):
        for entry in yaml.safe_load(file.read_text("utf-8")):
            yield entry["path"]
