"""`scripts/look` renders the texts of a run as GitHub does, and makes the pictures in docs."""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import yaml

from scripts.lib.github_page import page, photograph, rendered, section
from scripts.lib.scene import ROOT, Scene, documented_list, stage
from tests.fakehub import Fault, FaultKind

TARGET = ROOT / ".tools/look"
RULE = "Repository rule violations found\n\n- Changes must be made through a pull request.\n\n"
WRONG_LIST = [{"path": "/a"}, {"path": "docs//b", "content": 1}, {"description": "no path"}]

IMAGES = ROOT / "docs/images"
README = {"en": ("README.md", ""), "ja": ("README.ja.md", ".ja")}
"""For each language the name of its README, and the last part of its pictures' names."""
HEADINGS = {
    "en": {
        "plan": "What <code>mode: plan</code> shows",
        "run": "Step summary of the run",
        "pull": "Pull request",
        "files": "Files changed: <code>SECURITY.md</code>",
        "check": "Step summary of the check",
    },
    "ja": {
        "plan": "<code>mode: plan</code> の表示",
        "run": "実行のステップサマリー",
        "pull": "プルリクエスト",
        "files": "変更されたファイル: <code>SECURITY.md</code>",
        "check": "チェックのステップサマリー",
    },
}
WIDTH = 860
"""Width in pixels at which GitHub shows the picture in the README. The picture itself has twice as
many, to stay sharp."""
FILES = {"README.md": b"# Example\n"}
INPUTS = {"definitions": ".github/registrar.yml"}
PAGE_SIZE = (1100, 1240)
STARTER = ROOT / "scripts/config/repo-starter-definitions.yml"
REPOSITORIES = 60

Prepare = Callable[[Scene], dict[str, str]]


def _refused(scene: Scene, call: str, status: int, message: str) -> None:
    scene.host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=lambda request: request.method == "PUT" and call in request.path,
            times=None,
            status=status,
            message=message,
        )
    )


def _part_failed(scene: Scene) -> dict[str, str]:
    _refused(scene, "AGENTS.md", 422, "path is not allowed here")
    _refused(scene, ".claude", 409, RULE)
    return {}


def _all_refused(scene: Scene) -> dict[str, str]:
    _refused(scene, "contents", 409, RULE)
    return {}


def _declined(scene: Scene) -> dict[str, str]:
    scene.run("scaffold", "en", commit_strategy="single")
    scene.repository.person.close(1)
    return {"commit_strategy": "single"}


def _proposed(scene: Scene) -> dict[str, str]:
    scene.run("scaffold", "en", commit_strategy="single")
    return {"mode": "check"}


def _nothing_missing(scene: Scene) -> dict[str, str]:
    scene.run("health", "en", commit_strategy="single")
    scene.repository.person.merge(1)
    return {"profile": "health"}


def _bad_token(_scene: Scene) -> dict[str, str]:
    return {"host_token": "ghp_expired"}


def _three_mistakes(scene: Scene) -> dict[str, str]:
    Path(scene.workspace, "list.json").write_text(json.dumps(WRONG_LIST, indent=1))
    return {"profile": "", "definitions": "list.json"}


def _own_list(scene: Scene) -> dict[str, str]:
    text = "name: our-files\nfiles:\n- LICENSE\n- path: SECURITY.md\n  content: Write to us.\n"
    Path(scene.workspace, "list.yml").write_text(text)
    return {"profile": "", "definitions": "list.yml", "commit_strategy": "single"}


def _has_its_own_policy(scene: Scene) -> dict[str, str]:
    scene.repository.person.commit({"SECURITY.md": b"Write to us.\n"})
    return {"profile": "health", "commit_strategy": "single"}


def _archived(scene: Scene) -> dict[str, str]:
    scene.repository.person.archive()
    return {"profile": "starter", "mode": "plan"}


def _many(scene: Scene) -> dict[str, str]:
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
    """Run registrar in a state, and write its summary, pull requests and log as a picture."""
    with stage() as scene:
        inputs = STATES[state](scene)
        before = len(scene.repository.pull_requests)
        run = scene.run(inputs.pop("profile", "scaffold"), language, **inputs)
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


def result(language: str) -> str:
    """Return a page with plan, step summary and pull request of two real runs."""
    with stage(FILES) as scene:
        _documented(scene, language)
        plan, run = (
            scene.run("", language, **inputs) for inputs in ({**INPUTS, "mode": "plan"}, INPUTS)
        )
        if plan.exit_code or run.exit_code:
            sys.exit("A run failed: see the reason above.")
        pull = scene.repository.pull_requests[0]
    state = f"""<h1>{html.escape(pull.title)} #{pull.number}</h1>
<p class="state"><b>Open</b> into <code>{pull.base}</code> from <code>{pull.head}</code></p>"""
    headings = HEADINGS[language]
    return page(
        section(headings["plan"], rendered(diff_of(plan.summary))),
        section(headings["run"], rendered(folded(run.summary)), wide=False),
        section(headings["pull"], state + rendered(pull.body or ""), wide=False),
    )


def gate(language: str) -> str:
    """Return a page with the output of a check for a pull request that removes a listed file."""
    listed = yaml.safe_load(documented_list(README[language][0], INPUTS["definitions"]))
    [policy] = (each["content"] for each in listed if each["path"] == "SECURITY.md")
    with stage({**FILES, "SECURITY.md": policy.encode()}) as scene:
        _documented(scene, language)
        head = scene.repository.person.commit({"SECURITY.md": None}, branch="tidy-up")
        given = {**INPUTS, "mode": "check", "fail_on": "removed"}
        run = scene.run(
            "",
            language,
            ref=scene.repository.test_merge("main", head),
            **given,
        )
    [error] = re.findall(r"^(?:Error|エラー): (.*?) → ", run.output, re.MULTILINE)
    lines = [f'<i class="remove">-{html.escape(line)}</i>' for line in policy.splitlines()]
    changed = f'<pre>{"".join(lines)}</pre><p><b class="bad">Error</b>{html.escape(error)}</p>'
    return page(
        section(HEADINGS[language]["files"], changed),
        section(HEADINGS[language]["check"], rendered(folded(run.summary))),
    )


def _documented(scene: Scene, language: str) -> None:
    """Write the list of the README into the workspace, as if that were a checkout."""
    listing = Path(scene.workspace, INPUTS["definitions"])
    listing.parent.mkdir()
    listing.write_text(documented_list(README[language][0], INPUTS["definitions"]), "utf-8")


def page_of_many(language: str) -> str:
    """Return the page of a plan over an organisation in which an earlier run has proposed files."""
    entries = yaml.safe_load(STARTER.read_text("utf-8"))
    listed = {each["path"]: str(each.get("content", "")).encode() for each in entries}
    paths = [*listed]
    with stage() as scene:
        for number in range(REPOSITORIES):
            lacking = paths[number % 8 :: 3] if number % 8 == 0 else []
            files = {path: text for path, text in listed.items() if path not in lacking}
            if number % 5 == 0:
                files[paths[number % 10]] = b"Ours\n"
            if number % 7 == 0:
                files[paths[number % 10]] = b"\n"
            files["LICENSE"] = b"Ours\n"
            scene.host.create_repository(f"octo-org/service-{number:03}", files)
        scene.host.create_repository("octo-org/before", archived=True)
        given = {"target_repos": "octo-org/*", "max_pull_requests": "5"}
        scene.run("starter", language, **given)
        proposed = [each for each in scene.host.repositories if each.pull_requests]
        for repository in proposed[:2]:
            repository.person.close(1)
        run = scene.run("starter", language, mode="plan", **given)
        return (scene.temporary / run.outputs["page_path"]).read_text("utf-8")


def folded(markdown: str) -> str:
    """Return Markdown in which all sections are folded."""
    return markdown.replace("<details open>", "<details>")


def diff_of(summary: str) -> str:
    """Return the first sentence of a summary, its diffs and the next step."""
    _, sentence, _, step, *_ = summary.split("\n\n")
    diff = re.findall(r"^```diff\n.*?^```$", summary, re.MULTILINE | re.DOTALL)
    return "\n\n".join([sentence, *diff, step])


def main() -> None:
    states = sys.argv[1:]
    if states == ["docs"]:
        for language, (_, ending) in README.items():
            targets = [IMAGES / f"{name}{ending}.png" for name in ("result", "gate", "page")]
            photograph(result(language), targets[0], width=WIDTH, scale=2)
            photograph(gate(language), targets[1], width=WIDTH, scale=2)
            photograph(page_of_many(language), targets[2], width=PAGE_SIZE[0], height=PAGE_SIZE[1])
            for target in targets:
                print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1024} KiB")
        return
    if any(state not in STATES for state in states):
        sys.exit(f"Usage: scripts/look [docs | STATE ...]\nStates: {', '.join(STATES)}")
    for state in states or STATES:
        for language in ("en", "ja"):
            print(look(state, language).relative_to(ROOT))


if __name__ == "__main__":
    main()
