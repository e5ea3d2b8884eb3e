"""`scripts/picture`: step summary and pull request of a real run, as a picture."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

from scripts.lib.example import ROOT, documented_list, example
from scripts.lib.github_page import page, photograph, rendered, section

TARGET = ROOT / "docs/images/result.png"
WIDTH = 860
"""Pixels at which GitHub shows the picture in the README; it has twice as many, to stay sharp."""
FILES = {"README.md": b"# Example\n"}
INPUTS = {"definitions": ".github/registrar.yml"}


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
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
