"""`scripts/look`: what people read after a run, in each state, as GitHub renders it."""

from __future__ import annotations

import html
import json
import sys
from collections.abc import Callable
from pathlib import Path

from scripts.lib.example import ROOT, Example, example
from scripts.lib.github_page import page, photograph, rendered, section
from tests.fakehub import Fault, FaultKind

TARGET = ROOT / ".tools/look"
RULE = "Repository rule violations found\n\n- Changes must be made through a pull request.\n\n"
WRONG_LIST = [{"path": "/a"}, {"path": "docs//b", "content": 1}, {"description": "no path"}]

Prepare = Callable[[Example], dict[str, str]]


def _refused(scene: Example, call: str, status: int, message: str) -> None:
    scene.host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=lambda request: request.method == "PUT" and call in request.path,
            times=None,
            status=status,
            message=message,
        )
    )


def _part_failed(scene: Example) -> dict[str, str]:
    _refused(scene, "AGENTS.md", 422, "path is not allowed here")
    _refused(scene, ".claude", 409, RULE)
    return {}


def _all_refused(scene: Example) -> dict[str, str]:
    _refused(scene, "contents", 409, RULE)
    return {}


def _declined(scene: Example) -> dict[str, str]:
    scene.run("scaffold", "en", lambda _: None, commit_strategy="single")
    scene.repository.close(1)
    return {"commit_strategy": "single"}


def _proposed(scene: Example) -> dict[str, str]:
    scene.run("scaffold", "en", lambda _: None, commit_strategy="single")
    return {"mode": "check"}


def _nothing_missing(scene: Example) -> dict[str, str]:
    scene.run("health", "en", lambda _: None, commit_strategy="single")
    scene.repository.merge(1)
    return {"profile": "health"}


def _bad_token(_scene: Example) -> dict[str, str]:
    return {"host_token": "ghp_expired"}


def _three_mistakes(scene: Example) -> dict[str, str]:
    Path(scene.workspace, "list.json").write_text(json.dumps(WRONG_LIST, indent=1))
    return {"definitions": "list.json"}


def _own_list(scene: Example) -> dict[str, str]:
    text = "name: our-files\nfiles:\n- LICENSE\n- path: SECURITY.md\n  content: Write to us.\n"
    Path(scene.workspace, "list.yml").write_text(text)
    return {"profile": "", "definitions": "list.yml", "commit_strategy": "single"}


def _has_its_own_policy(scene: Example) -> dict[str, str]:
    scene.repository.commit({"SECURITY.md": b"Write to us.\n"})
    return {"profile": "health", "commit_strategy": "single"}


def _archived(scene: Example) -> dict[str, str]:
    scene.repository.archived = True
    return {"profile": "starter", "mode": "plan"}


def _many(scene: Example) -> dict[str, str]:
    for name, policy in {"api": "SECURITY.md", "web": "docs/SECURITY.md", "app": "a"}.items():
        scene.host.create_repository(f"octo-org/{name}", {policy: b"Write to us.\n"})
    return {"profile": "health", "target_repos": "octo-org/*", "mode": "plan"}


STATES: dict[str, Prepare] = {
    "success": lambda _scene: {},
    "success-health": lambda _scene: {"profile": "health", "commit_strategy": "single"},
    "part-failed": _part_failed,
    "all-refused": _all_refused,
    "plan": lambda _scene: {"mode": "plan"},
    "check": lambda _scene: {"mode": "check"},
    "check-proposed": _proposed,
    "declined": _declined,
    "nothing-missing": _nothing_missing,
    "own-list": _own_list,
    "own-list-plan": lambda scene: {**_own_list(scene), "mode": "plan"},
    "starter": lambda _scene: {"profile": "starter", "respect_alternatives": "true"},
    "hides": _has_its_own_policy,
    "hides-plan": lambda scene: {**_has_its_own_policy(scene), "mode": "plan"},
    "archived": _archived,
    "many-plan": _many,
    "no-list": lambda _scene: {"profile": "", "target_repos": "octo-org/*"},
    "bad-token": _bad_token,
    "three-mistakes": _three_mistakes,
}


def look(state: str, language: str) -> Path:
    """Run the action in a state and show what it left."""
    with example() as scene:
        inputs = STATES[state](scene)
        before = len(scene.repository.pull_requests)
        run = scene.run(inputs.pop("profile", "scaffold"), language, lambda _: None, **inputs)
        sections = [section("Step summary", rendered(run.summary))]
        sections += [
            section(f"Pull request: {html.escape(pull.title)}", rendered(pull.body or ""))
            for pull in scene.repository.pull_requests[before:]
        ]
    sections.append(section("Log", f'<pre class="log">{html.escape(run.output)}</pre>'))
    target = TARGET / f"{state}.{language}.png"
    shown = page(*sections)
    photograph(shown, target, width=1000)
    target.with_suffix(".html").write_text(shown, "utf-8")
    return target


def main() -> None:
    unknown = [state for state in sys.argv[1:] if state not in STATES]
    if unknown:
        sys.exit(f"Usage: scripts/look [STATE ...]\nStates: {', '.join(STATES)}")
    for state in sys.argv[1:] or STATES:
        for language in ("en", "ja"):
            print(look(state, language).relative_to(ROOT))


if __name__ == "__main__":
    main()
