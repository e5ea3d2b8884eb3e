"""Prepare a release (`scripts/release`), and do the steps of `release.yml` with the checkout.

It needs only the standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BRANCH = "main"
PACKAGE = "src/registrar/__init__.py"
CHANGELOG = "CHANGELOG.md"

# Build metadata (`+…`) is not allowed, because the version is also the tag of an image, and that
# cannot have a plus sign
NUMBER = r"(?:0|[1-9]\d*)"
IDENTIFIER = rf"(?:{NUMBER}|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
SEMVER = re.compile(
    rf"(?P<numbers>{NUMBER}\.{NUMBER}\.{NUMBER})(?:-(?P<pre>{IDENTIFIER}(?:\.{IDENTIFIER})*))?",
    re.ASCII,
)
OF_PACKAGES = re.compile(r"(?:alpha|beta|rc)\.\d+", re.ASCII)
"""Pre-releases that a Python package can have, and that tools for packages sort in the same order
(https://packaging.python.org/en/latest/specifications/version-specifiers/)."""
ASSIGNED = re.compile(r'^__version__ = "(.*)"$', re.MULTILINE)
EXAMPLES = ("README*.md", "docs/*.md", "workflow-templates/*.yml")
"""Files with examples. One of them, `EXPLAINS`, explains every form of a reference instead."""
EXPLAINS = "docs/upgrading.md"
REFERENCE = re.compile(r"(\bOWNER/registrar(?:/composite)?@)(main|v\d+)(?![\w.])", re.ASCII)
"""A reference that moves, as examples use it: the tag of a major version, which exists after its
first release, or the branch, which always exists."""
PINNED = re.compile(r"[a-z0-9.:/_-]+@sha256:[0-9a-f]{64}", re.ASCII)
FROM_SOURCE = "\nruns:\n  using: docker\n  image: Dockerfile\n"
ENTRYPOINT = re.compile(r"^ENTRYPOINT (\[.*\])$", re.MULTILINE)


class Refused(Exception):
    """A release that cannot be made, with all the reasons."""

    def __init__(self, *reasons: str) -> None:
        super().__init__("\n".join(reasons))


@dataclass(frozen=True)
class Version:
    """A version of Semantic Versioning 2.0.0."""

    text: str
    numbers: tuple[int, ...]
    pre: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Version:
        match = SEMVER.fullmatch(text)
        if not match:
            raise Refused(f"{text!r} is no version: write it like 1.2.3 or 1.2.3-rc.1, without v.")
        numbers = tuple(map(int, match["numbers"].split(".")))
        return cls(text, numbers, tuple(match["pre"].split(".")) if match["pre"] else ())

    @property
    def tag(self) -> str:
        return f"v{self.text}"

    @property
    def major_tag(self) -> str:
        """The tag that moves to the latest of the versions with this first number."""
        return f"v{self.numbers[0]}"

    @property
    def precedence(self) -> tuple[object, ...]:
        """The key by which versions are sorted, as Semantic Versioning says.

        In a pre-release, numbers come before words. A pre-release comes before its release.
        """
        words = tuple((0, int(each), "") if each.isdigit() else (1, 0, each) for each in self.pre)
        return (self.numbers, not self.pre, words)


@dataclass
class Changelog:
    """A changelog in the form of Keep a Changelog."""

    text: str

    def section(self, name: str) -> tuple[str, str] | None:
        """Return the heading of a section and the text below it; ``None`` if there is none."""
        heading = rf"^(## \[{re.escape(name)}\].*)\n"
        match = re.search(rf"{heading}((?:(?!## ).*\n?)*)", self.text, re.MULTILINE)
        return (match[1], match[2].strip()) if match else None

    def entries(self, name: str) -> str:
        """Return the text of a section; empty if there is no such section."""
        found = self.section(name)
        return found[1] if found else ""

    @property
    def reference(self) -> str:
        """The version for examples: the tag that the latest release moved, or the branch."""
        headings = re.findall(r"^## \[(.+)\] - ", self.text, re.MULTILINE)
        released = (Version.parse(each) for each in headings)
        return next((each.major_tag for each in released if not each.pre), BRANCH)

    def release(self, version: Version, date: str) -> Changelog:
        """Return the changelog with the unreleased changes under a version."""
        heading = "## [Unreleased]\n"
        return Changelog(
            self.text.replace(heading, f"{heading}\n## [{version.text}] - {date}\n", 1)
        )


@dataclass(frozen=True)
class Project:
    """A checkout."""

    root: Path

    @property
    def changelog(self) -> Changelog:
        return Changelog((self.root / CHANGELOG).read_text("utf-8"))

    @property
    def version(self) -> Version:
        match = ASSIGNED.search((self.root / PACKAGE).read_text("utf-8"))
        if not match:
            raise Refused(f'{PACKAGE} has no line __version__ = "…".')
        return Version.parse(match[1])

    @property
    def tags(self) -> list[Version]:
        """The versions that have a tag, without the moving tags of major versions."""
        names = self.git("tag", "--list", "v*").splitlines()
        return [Version.parse(name[1:]) for name in names if SEMVER.fullmatch(name[1:])]

    @property
    def examples(self) -> list[Path]:
        """The files whose examples use the action."""
        found = (path for pattern in EXAMPLES for path in sorted(self.root.glob(pattern)))
        return [path for path in found if path != self.root / EXPLAINS]

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.root), *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise Refused(f"git {' '.join(arguments)} failed: {ended.stderr.strip()}")
        return ended.stdout.strip()


def tag_problems(project: Project, version: Version) -> list[str]:
    """Return the reasons why the version cannot have a tag; empty if it can."""
    if version.pre and not OF_PACKAGES.fullmatch(".".join(version.pre)):
        return [f"A package cannot have the version {version.text}: end it like -rc.1 or -beta.2."]
    tags = project.tags
    if version in tags:
        return [f"The tag {version.tag} exists: a released version stays as it is, take the next."]
    newer = [each for each in tags if each.precedence > version.precedence]
    if newer:
        latest = max(newer, key=lambda each: each.precedence)
        return [f"{latest.text} is released already, and {version.text} comes before it."]
    return []


def check(project: Project, version: Version) -> None:
    """Raise Refused unless changelog, version and tags agree that this version comes next."""
    problems = tag_problems(project, version)
    if project.version != version:
        problems.append(f"{PACKAGE} says {project.version.text}, not {version.text}.")
    section = project.changelog.section(version.text)
    if not section or not section[1]:
        problems.append(f"{CHANGELOG} has no entries for {version.text}.")
    elif not re.search(r" - \d{4}-\d{2}-\d{2}$", section[0]):
        problems.append(f"{CHANGELOG} has no date for {version.text}.")
    if project.changelog.entries("Unreleased"):
        problems.append(
            f"{CHANGELOG} has entries under Unreleased: they would be released with "
            f"{version.text} and be missing in its notes."
        )
    reference = project.changelog.reference if version.pre else version.major_tag
    for path in project.examples:
        if other := {each[1] for each in REFERENCE.findall(path.read_text("utf-8"))} - {reference}:
            name = path.relative_to(project.root)
            problems.append(f"{name} uses {', '.join(sorted(other))}, not {reference}.")
    if problems:
        raise Refused(*problems)


def prepare(project: Project, version: Version, date: str) -> str:
    """Make the commit of a release, or raise Refused and change nothing."""
    problems = tag_problems(project, version)
    branch = project.git("rev-parse", "--abbrev-ref", "HEAD")
    if branch != BRANCH:
        problems.append(f"A release is prepared on {BRANCH}; this is {branch}.")
    if project.git("status", "--porcelain"):
        problems.append("There are changes that are not committed: commit or remove them.")
    if project.version.precedence > version.precedence:
        problems.append(f"{PACKAGE} says {project.version.text}, which comes after {version.text}.")

    changelog = project.changelog
    unreleased, released = changelog.entries("Unreleased"), changelog.section(version.text)
    if unreleased and released:
        problems.append(
            f"{CHANGELOG} has a section for {version.text}, and entries under Unreleased: "
            "move them into one."
        )
    elif unreleased:
        changelog = changelog.release(version, date)
    elif not released:
        problems.append(f"{CHANGELOG} has no entries under Unreleased: nothing to release.")
    if problems:
        raise Refused(*problems)

    write(project.root / CHANGELOG, changelog.text)
    package = project.root / PACKAGE
    write(package, ASSIGNED.sub(f'__version__ = "{version.text}"', package.read_text("utf-8")))
    for path in project.examples:
        text = path.read_text("utf-8")
        write(path, REFERENCE.sub(rf"\g<1>{changelog.reference}", text))
    if project.git("status", "--porcelain"):
        project.git("commit", "--quiet", "--all", "--message", f"Release {version.text}")
    check(project, version)
    return (
        f"{version.text} is prepared, nothing is pushed. Next:\n"
        f"  1. Look at it (git show), and bring it to {BRANCH} on GitHub.\n"
        f"  2. Actions > Release > Run workflow, version {version.text}."
    )


def write(path: Path, text: str) -> None:
    # In bytes, so that line endings stay as they are
    path.write_bytes(text.encode())


def action_yml(source: str, dockerfile: str, image: str) -> str:
    """Return the text of `action.yml` with an image in place of the Dockerfile.

    The entrypoint is written explicitly, because runners that use Kubernetes look for it only here.
    """
    entrypoint = ENTRYPOINT.search(dockerfile)
    if not source.endswith(FROM_SOURCE) or not entrypoint:
        raise Refused("action.yml does not end with an image that is built from the Dockerfile.")
    program, *arguments = json.loads(entrypoint[1])
    lines = [
        f"  image: docker://{image}",
        f"  entrypoint: {program}",
        "  args:",
        *(f"    - {each}" for each in arguments),
    ]
    return source.removesuffix("  image: Dockerfile\n") + "\n".join(lines) + "\n"


def pin(root: Path, image: str) -> None:
    """Write `action.yml` with this image, or raise Refused if its name has no digest."""
    if not PINNED.fullmatch(image):
        raise Refused(f"{image!r} names no digest: a release holds an image that cannot change.")
    path = root / "action.yml"
    source, dockerfile = (each.read_text("utf-8") for each in (path, root / "Dockerfile"))
    write(path, action_yml(source, dockerfile, image))


def main() -> str:
    """Carry out the command line, and return the text to print."""
    parser = argparse.ArgumentParser(prog="scripts/release", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in {
        "prepare": "make the release's commit; pushes nothing",
        "check": "verify that changelog, version and tags agree",
        "notes": "print the version's part of the changelog",
    }.items():
        commands.add_parser(name, help=text).add_argument("version")
    commands.add_parser("pin", help="let action.yml name an image").add_argument("image")
    given = parser.parse_args()
    project = Project(ROOT)
    if given.command == "pin":
        pin(ROOT, given.image)
        return f"action.yml names {given.image}."
    version = Version.parse(given.version)
    match given.command:
        case "prepare":
            return prepare(project, version, datetime.now(UTC).date().isoformat())
        case "notes":
            return project.changelog.entries(version.text)
        case _:
            check(project, version)
            return f"{version.text}: changelog, version and tags agree."


if __name__ == "__main__":
    try:
        print(main())
    except Refused as refused:
        if os.environ.get("GITHUB_ACTIONS") == "true":
            sys.exit("\n".join(f"::error::{line}" for line in str(refused).splitlines()))
        sys.exit(f"Refused.\n{refused}")
