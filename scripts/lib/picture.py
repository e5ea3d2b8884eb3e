"""`scripts/picture`: step summary, pull request and page of real runs, as pictures."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import yaml

from scripts.lib.example import ROOT, documented_list, example
from scripts.lib.github_page import page, photograph, rendered, section

TARGET, PAGE = (ROOT / "docs/images" / name for name in ("result.png", "page.png"))
WIDTH = 860
"""Pixels at which GitHub shows the picture in the README; it has twice as many, to stay sharp."""
FILES = {"README.md": b"# Example\n"}
INPUTS = {"definitions": ".github/registrar.yml"}
PAGE_SIZE = (1100, 1240)
STARTER = ROOT / "scripts/config/repo-starter-definitions.yml"
REPOSITORIES = 60


def picture() -> str:
    """The page that is to be photographed, made from what two runs left behind."""
    with example(FILES) as scene:
        listing = Path(scene.workspace, INPUTS["definitions"])
        listing.parent.mkdir()
        listing.write_text(documented_list("README.md", ".github/registrar.yml"), "utf-8")
        plan, run = (
            scene.run("", "en", lambda line: print(line, file=sys.stderr), **inputs)
            for inputs in ({**INPUTS, "mode": "plan"}, INPUTS)
        )
        if plan.exit_code or run.exit_code:
            sys.exit("A run failed: see the reason above.")
        pull = scene.repository.pull_requests[0]
    state = f"""<h1>{html.escape(pull.title)} #{pull.number}</h1>
<p class="state"><b>Open</b> into <code>{pull.base}</code> from <code>{pull.head}</code></p>"""
    return page(
        section("What <code>mode: plan</code> shows", rendered(diff_of(plan.summary))),
        section("Step summary of the run", rendered(folded(run.summary)), wide=False),
        section("Pull request", state + rendered(pull.body or ""), wide=False),
    )


def page_of_many() -> str:
    """The page of a plan over an organisation that was registered in before."""
    listed = [each["path"] for each in yaml.safe_load(STARTER.read_text("utf-8"))]
    with example() as scene:
        for number in range(REPOSITORIES):
            lacking = listed[number % 8 :: 3] if number % 4 == 0 else []
            files = {path: b"Ours\n" for path in ["LICENSE", *listed] if path not in lacking}
            if number % 7 == 0:
                files[listed[number % 10]] = b"\n"
            scene.host.create_repository(f"octo-org/service-{number:03}", files)
        scene.host.create_repository("octo-org/before", archived=True)
        given = {"target_repos": "octo-org/*", "max_pull_requests": "5"}
        scene.run("starter", "en", lambda line: print(line, file=sys.stderr), **given)
        proposed = [each for each in scene.host.repositories if each.pull_requests]
        for repository in proposed[:2]:
            repository.close(1)
        run = scene.run("starter", "en", lambda _: None, mode="plan", **given)
        return (scene.temporary / run.outputs["page_path"]).read_text("utf-8")


def folded(markdown: str) -> str:
    """Markdown without what is open of itself."""
    return markdown.replace("<details open>", "<details>")


def diff_of(summary: str) -> str:
    """The sentence at the top of a summary, the diff and the next step."""
    _, sentence, _, step, *_ = summary.split("\n\n")
    diff = re.findall(r"^```diff\n.*?^```$", summary, re.MULTILINE | re.DOTALL)
    return "\n\n".join([sentence, *diff, step])


def main() -> None:
    photograph(picture(), TARGET, width=WIDTH, scale=2)
    photograph(page_of_many(), PAGE, width=PAGE_SIZE[0], height=PAGE_SIZE[1])
    for target in (TARGET, PAGE):
        print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
