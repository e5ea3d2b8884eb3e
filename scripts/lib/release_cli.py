"""Prepare a release (`scripts/release`), or do a step of the workflow `release.yml`."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from scripts.lib import release, release_host  # noqa: E402 (found there only now)

COMMANDS = {
    "prepare": "make the release's commit; pushes nothing",
    "check": "verify that changelog, version and tags agree",
    "begin": "the same on GitHub; prints the digest that an earlier run has tagged, or nothing",
    "tag": "tag a commit whose action.yml names the image, and print it",
    "publish": "move the major tag, and publish the release",
}


def main() -> str:
    """Do what the command line says, and give what is to be printed."""
    parser = argparse.ArgumentParser(prog="scripts/release", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        command.add_argument("version")
        if name in {"tag", "publish"}:
            command.add_argument("--image", required=True, help="NAME@sha256:…")
    given = parser.parse_args()
    version, project = release.Version.parse(given.version), release.Project(ROOT)
    match given.command:
        case "prepare":
            return release.prepare(project, version, datetime.now(UTC).date().isoformat())
        case "check":
            release.check(project, version)
            return f"{version.text}: changelog, version and tags agree."
        case "begin":
            if os.environ["GITHUB_REF"] != f"refs/heads/{release.BRANCH}":
                raise release.Refused(f"A release is made from {release.BRANCH}.")
            digest = release_host.begun(host(), version, commit())
            release.check(project, version, tagged=bool(digest))
            if not digest:
                remedy = "Start a new release from main."
                release_host.require_current_workflows(host(), commit(), remedy)
            return digest
        case "tag":
            action_yml = release.released_action_yml(ROOT, given.image)
            return release_host.tag(host(), version, commit(), action_yml)
        case _:
            notes = f"{project.changelog.entries(version.text)}\n\nImage: {given.image}\n"
            return release_host.publish(host(), version, notes)


def host() -> release_host.Host:
    """GitHub, as the runner names it."""
    environ = os.environ
    return release_host.Host(
        environ["GITHUB_API_URL"], environ["GITHUB_REPOSITORY"], environ["TOKEN"]
    )


def commit() -> str:
    """The commit that is released."""
    return os.environ["GITHUB_SHA"]


if __name__ == "__main__":
    try:
        print(main())
    except release.Refused as refused:
        if os.environ.get("GITHUB_ACTIONS") == "true":
            print(
                *(f"::error::{line}" for line in str(refused).splitlines()),
                sep="\n",
                file=sys.stderr,
            )
            sys.exit(1)
        sys.exit(f"Refused.\n{refused}")
