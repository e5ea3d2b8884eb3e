"""What a release needs from GitHub: the tag, the release, and what an earlier run has left.

Every function may be called again after it was stopped half-way.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from scripts.lib.release import BRANCH, RELEASED, Refused, Version

NOT_FOUND = 404
SECONDS = 30


@dataclass(frozen=True)
class Host:
    """GitHub's API for one repository."""

    api: str
    repository: str
    token: str

    def find(self, place: str) -> Any:
        """What there is at a place below the repository; None for a 404. Refused otherwise."""
        return self._call("GET", place, None)

    def make(self, place: str, body: Mapping[str, object]) -> Any:
        """Create something."""
        return self._call("POST", place, body)

    def change(self, place: str, body: Mapping[str, object]) -> Any:
        """Change something."""
        return self._call("PATCH", place, body)

    def _call(self, method: str, place: str, body: Mapping[str, object] | None) -> Any:
        request = urllib.request.Request(  # noqa: S310 (the runner names the address)
            f"{self.api}/repos/{self.repository}/{place}",
            None if body is None else json.dumps(body).encode(),
            {
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "User-Agent": "registrar-release",
            },
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if method == "GET" and error.code == NOT_FOUND:
                return None
            said = error.read().decode(errors="replace")
            raise Refused(f"{method} {place}: {error.code} {said}") from error
        except OSError as error:
            raise Refused(f"{method} {place}: {error}") from error

    def tagged(self, tag: str) -> str:
        """The commit of a tag, or nothing."""
        found = self.find(f"git/ref/tags/{quote(tag)}")
        return str(found["object"]["sha"]) if found else ""

    def workflows(self, name: str) -> str:
        """The tree of the workflow files at a commit or branch."""
        folder = self.find(f"contents/.github?ref={quote(name)}") or []
        return next((str(each["sha"]) for each in folder if each["name"] == "workflows"), "")


def require_current_workflows(host: Host, commit: str, remedy: str) -> None:
    """Refuse where the workflow files of main are no longer those of the commit.

    GitHub then refuses a tag with a bare 403, because it would take the permission Workflows, which
    no GITHUB_TOKEN has: https://github.com/mkb79/Audible/pull/882,
    https://github.com/DataDog/datadog-agent/issues/54090
    """
    released = host.workflows(commit)
    if not released or released != host.workflows(BRANCH):
        raise Refused(
            "Workflow files changed on main since this run began, and GITHUB_TOKEN cannot make a "
            f"tag at a commit with other workflow files than main's. {remedy}"
        )


def begun(host: Host, version: Version, commit: str) -> str:
    """The digest of the image that an earlier run has tagged for this commit; nothing for none.

    Raises:
        Refused: the version is released, or its tag belongs to another commit.
    """
    made = host.tagged(version.tag)
    if not made:
        return ""
    if host.find(f"releases/tags/{quote(version.tag)}"):
        raise Refused(
            f"{version.text} is released already: a released version stays as it is, take the next."
        )
    if parents(host, made) != [commit]:
        raise Refused(
            f"The tag {version.tag} exists, and was not made from this commit: run the jobs of its "
            "own run again, or take the next version."
        )
    released = RELEASED.search(action_yml_at(host, made))
    if not released:
        raise Refused(f"The tag {version.tag} exists, and its action.yml names no image.")
    return released[1]


def parents(host: Host, commit: str) -> list[str]:
    """The commits that a commit follows."""
    return [each["sha"] for each in host.find(f"git/commits/{commit}")["parents"]]


def action_yml_at(host: Host, commit: str) -> str:
    """The text of action.yml at a commit."""
    file = host.find(f"contents/action.yml?ref={commit}")
    return base64.b64decode(file["content"]).decode()


def tag(host: Host, version: Version, commit: str, action_yml: str) -> str:
    """Make a commit beside main with this action.yml, and the version's tag; give the commit.

    Through the API, so that GitHub signs the commit itself.
    """
    made = host.tagged(version.tag)
    if made:
        if parents(host, made) != [commit] or action_yml_at(host, made) != action_yml:
            raise Refused(f"The tag {version.tag} exists, and is not this release.")
        return made
    require_current_workflows(host, commit, "Start a new release from main.")
    file = {"path": "action.yml", "mode": "100644", "type": "blob", "content": action_yml}
    base = host.find(f"git/commits/{commit}")["tree"]["sha"]
    tree = host.make("git/trees", {"base_tree": base, "tree": [file]})["sha"]
    message = f"Release {version.text}: the image by its digest"
    given = {"message": message, "tree": tree, "parents": [commit]}
    made = str(host.make("git/commits", given)["sha"])
    host.make("git/refs", {"ref": f"refs/tags/{version.tag}", "sha": made})
    return made


def publish(host: Host, version: Version, notes: str) -> str:
    """Let the major tag follow the version, then publish the release; give its address.

    In this order: where there is a release, nothing is left to do.
    """
    made = host.tagged(version.tag)
    if not made:
        raise Refused(f"There is no tag {version.tag}.")
    if moving := version.major_tag:
        remedy = f"Move the tag by hand: git push --force origin {made}:refs/tags/{moving}"
        current = host.tagged(moving)
        if current != made:
            require_current_workflows(host, made, remedy)
        if not current:
            host.make("git/refs", {"ref": f"refs/tags/{moving}", "sha": made})
        elif current != made:
            host.change(f"git/refs/tags/{moving}", {"sha": made, "force": True})
    release = host.find(f"releases/tags/{quote(version.tag)}") or host.make(
        "releases",
        {
            "tag_name": version.tag,
            "name": version.text,
            "body": notes,
            "prerelease": bool(version.pre),
        },
    )
    return str(release["html_url"])
