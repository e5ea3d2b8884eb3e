"""A world of a golden file: a stand-in, the runs on it in one language, and their whole texts."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from types import MappingProxyType
from typing import Any

from registrar.models.standing import blob_id
from tests.fakehub import Repository, StandInHost
from tests.harness import SINGLE, TARGET, Action, Run

LANGUAGES = ("en", "ja")
LOG_AND_SUMMARY = ("log", "summary")
_IDS = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_OF_FILES = re.compile(r"\b(registrar-[a-z]+)-[\w.]+?\.(json|csv|html)\b")


class Scene:
    """A stand-in with runs in one language, and what these runs have told."""

    def __init__(self, host: StandInHost, directory: Path, language: str) -> None:
        self.host = host
        self.language = language
        self.action = Action(host, directory, host.create_token())
        (self.action.workspace / ".git").mkdir(parents=True)
        host.clock = self.action.clock
        self.told = list[list[str]]()
        """The heading of each text, and its lines."""

    def repository(self, *present: str) -> Repository:
        """Create a repository with a README and these files, which have some content."""
        files = dict.fromkeys(("README.md", *present), b"theirs\n")
        return self.host.create_repository(TARGET, files)

    def run(
        self,
        title: str,
        *listed: Any,
        show: Sequence[str] = LOG_AND_SUMMARY,
        runner: bool = False,
        given: Mapping[str, str] = MappingProxyType({}),
        **more: str,
    ) -> Run:
        """Run with a list of these paths, unless an input names a list, and note the texts."""
        inputs = {"commit_strategy": SINGLE, "language": self.language, **given, **more}
        if listed:
            inputs["definitions"] = self.action.listing(*listed)
        if "target_repos" in inputs:
            del inputs["commit_strategy"]
        run = self.action(inputs, runner=runner, env=self.action.keeping)
        self.told.append([f"# {title}: exit code {run.exit_code}"])
        for part in show:
            if lines := [*self._lines(part, run)]:
                text = self._stable("\n".join(lines)).rstrip("\n")
                self.told.append([f"## {part}", *text.split("\n")])
        return run

    def _lines(self, part: str, run: Run) -> Iterator[str]:
        if part == "log":
            yield from run.stdout.splitlines()
            if run.stderr:
                yield "(standard error)"
                yield from run.stderr.splitlines()
        elif part == "stderr":
            yield from run.stderr.splitlines()
        elif part == "summary":
            yield from run.summary.splitlines()
        elif part == "outputs":
            told = run.outputs.items()
            yield from (f"{name}={value}" for name, value in told if name != "report")
        elif part == "report":
            yield from json.dumps(run.report, ensure_ascii=False, indent=1).splitlines()
        elif part == "description":
            yield from (self.host.repositories[0].pull_requests[-1].body or "").splitlines()
        elif part == "table":
            yield from self.action.kept(run, "table").splitlines()
        else:
            page = Shown()
            page.feed(self.action.kept(run, "page"))
            yield from page.lines

    def _stable(self, line: str) -> str:
        """Replace the parts of a line that differ from run to run, and ids by what they are of."""
        line = line.replace(self.host.url, "https://github.test")
        line = line.replace(str(self.action.directory), "/tmp")
        line = _OF_FILES.sub(r"\1.\2", line)
        return _IDS.sub(lambda found: self._names.get(found[0], "<id>"), line)

    @property
    def _names(self) -> dict[str, str]:
        """The names of commits and files by their ids."""
        names = dict[str, str]()
        for each in self.host.repositories:
            for branch in [each.default_branch, *each.branches]:
                for number, commit in enumerate(each.log(branch)):
                    names.setdefault(commit.sha, f"<{each.name} {branch}~{number}>")
                for path, content in each.files(branch).items():
                    if isinstance(content, bytes):
                        names.setdefault(blob_id(content), f"<{each.name} {branch}:{path}>")
        return names


class Shown(HTMLParser):
    """The text of a page as a reader sees it, with the address behind each link."""

    BLOCKS = frozenset(
        ("h1", "h2", "h3", "p", "li", "tr", "summary", "legend", "dt", "label", "button", "select")
    )

    def __init__(self) -> None:
        super().__init__()
        self._text, self._hidden = "", 0
        self._links = list[str]()

    @property
    def lines(self) -> list[str]:
        """The lines that have a text."""
        lines = (re.sub(r"[ \n]+", " ", line).strip() for line in self._text.split("\r"))
        return [line for line in lines if line]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"style", "script"}:
            self._hidden += 1
        elif tag in self.BLOCKS:
            self._text += "\r"
        elif tag in {"td", "th"}:
            self._text += " | "
        elif tag == "a":
            self._links.append(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"style", "script"}:
            self._hidden -= 1
        elif tag in self.BLOCKS:
            self._text += "\r"
        elif tag == "a":
            # A link to the page itself is a filter
            link = self._links.pop()
            self._text += "" if link.startswith("#") else f" <{link}>"

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._text += data


def side_by_side(english: Scene, japanese: Scene) -> str:
    """Return the texts of two scenes: each line that both have once, the others with a label."""
    lines = list[str]()
    for first, second in zip(english.told, japanese.told, strict=True):
        lines += ["", first[0]]
        for one, other in itertools.zip_longest(first[1:], second[1:], fillvalue=""):
            if one == other:
                lines.append(f"   {one}".rstrip())
            else:
                lines += [
                    f"{label} {line}".rstrip()
                    for label, line in zip(LANGUAGES, (one, other), strict=True)
                ]
    return "\n".join(lines).strip("\n") + "\n"
