"""`scripts/picture`: step summary and pull request of a real run, as a picture."""

from __future__ import annotations

import html
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.lib.example import ROOT, example

README = (ROOT / "README.md").read_text("utf-8")
TARGET = ROOT / "docs/images/result.png"
WIDTH = 860
"""Pixels at which GitHub shows the picture in the README; it has twice as many, to stay sharp."""
FILES = {"README.md": b"# Example\n"}
INPUTS = {"definitions": ".github/registrar.yml"}
STYLE = """
* { box-sizing: border-box; }
html { background: #f6f8fa; }
body { margin: 0; padding: 16px; display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start;
  font: 13px/1.5 "Liberation Sans", Arial, Helvetica, sans-serif; color: #1f2328; }
section { background: #fff; border: 1px solid #d1d9e0; border-radius: 8px; }
section { flex: 1 0 0; min-width: 0; }
section.plan { flex-basis: 100%; }
header { padding: 8px 16px; border-bottom: 1px solid #d1d9e0; background: #f6f8fa;
  border-radius: 8px 8px 0 0; font-weight: bold; color: #59636e; }
div { padding: 2px 16px 8px; }
details { margin: 8px 0; }
pre { background: #f6f8fa; padding: 8px 0; border-radius: 6px; margin: 8px 0;
  font: 12px/1.45 "Liberation Mono", Menlo, Consolas, monospace; }
pre i { display: block; padding: 0 12px; font-style: normal; min-height: 1.45em; }
pre i.add { background: #dafbe1; }
pre i.head { color: #59636e; }
blockquote { margin: 12px 0; padding: 0 12px; border-left: 4px solid #d1d9e0; color: #59636e; }
h1, h2 { font-size: 17px; margin: 16px 0 12px; line-height: 1.3; }
h2 { padding-bottom: 6px; border-bottom: 1px solid #d1d9e0; }
table { border-collapse: collapse; margin: 12px 0; }
th, td { border: 1px solid #d1d9e0; padding: 4px 10px; text-align: left; }
tr:nth-child(2n) td { background: #f6f8fa; }
code { font: 12px "Liberation Mono", Menlo, Consolas, monospace; background: #eff1f3;
  padding: 2px 5px; border-radius: 5px; }
a { color: #0969da; text-decoration: none; }
p.state { margin: 0 0 16px; color: #59636e; }
b { display: inline-block; background: #1a7f37; color: #fff; border-radius: 1em;
  padding: 3px 12px; margin-right: 8px; font-weight: normal; }
"""


def start_list() -> str:
    """The list that the README starts with."""
    found = re.search(
        r"^```yaml\n(# .github/registrar.yml\n.*?)^```$", README, re.DOTALL | re.MULTILINE
    )
    return found[1] if found else sys.exit("The README has no list.")


def page() -> str:
    """The page that is to be photographed, made from what two runs left behind."""
    with example(FILES) as scene:
        listing = Path(scene.workspace, INPUTS["definitions"])
        listing.parent.mkdir()
        listing.write_text(start_list(), "utf-8")
        plan, run = (
            scene.run("scaffold", "en", lambda line: print(line, file=sys.stderr), **inputs)
            for inputs in ({**INPUTS, "mode": "plan"}, INPUTS)
        )
        if plan.exit_code or run.exit_code:
            sys.exit("A run failed: see the reason above.")
        pull = scene.repository.pull_requests[0]
    body = re.sub("<!--.*?-->", "", pull.body or "")
    return f"""<!doctype html><meta charset="utf-8"><style>{STYLE}</style>
<section class="plan"><header>What <code>mode: plan</code> shows</header>
<div>{rendered(diff_of(plan.summary))}</div></section>
<section><header>Step summary of the run</header><div>{rendered(run.summary)}</div></section>
<section><header>Pull request</header>
<div><h1>{html.escape(pull.title)} #{pull.number}</h1>
<p class="state"><b>Open</b> into <code>{pull.base}</code> from <code>{pull.head}</code></p>
{rendered(body)}</div></section>
<script>document.body.dataset.height = document.body.getBoundingClientRect().height</script>"""


def rendered(markdown: str) -> str:
    """Markdown as HTML, with the paths folded and a diff in its colours."""
    reader = importlib.import_module("markdown_it").MarkdownIt("commonmark").enable("table")
    found = str(reader.render(markdown)).replace("<details open>", "<details>")
    block = r'<pre><code class="language-diff">(.*?)\n</code></pre>'
    return re.sub(block, coloured, found, flags=re.DOTALL)


def coloured(diff: re.Match[str]) -> str:
    lines = diff[1].split("\n")
    kinds = ["head" if re.match(r"\+\+\+|---|@@|\\", line) else "add" for line in lines]
    shown = (f'<i class="{kind}">{line}</i>' for kind, line in zip(kinds, lines, strict=True))
    return f"<pre>{''.join(shown)}</pre>"


def diff_of(summary: str) -> str:
    """The sentence at the top of a summary, and the diff; counts and paths are left out."""
    sentence = summary.split("\n\n")[1]
    diff = re.findall(r"^```diff\n.*?^```$", summary, re.MULTILINE | re.DOTALL)
    return "\n\n".join([sentence, *diff])


def browser() -> str:
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, filter(None, names))), None)
    return found or sys.exit("No Chromium was found. Install it, or name it in CHROMIUM.")


def main() -> None:
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += ["--force-device-scale-factor=2"]
    with tempfile.TemporaryDirectory(prefix="registrar-picture-") as directory:
        file = Path(directory, "page.html")
        file.write_text(page(), "utf-8")
        command += [f"--user-data-dir={directory}/profile", f"--window-size={WIDTH},2000"]
        seen = subprocess.run(
            [*command, "--dump-dom", file.as_uri()], check=True, capture_output=True, text=True
        )
        height = re.search(r'data-height="(\d+)', seen.stdout)
        if not height:
            sys.exit("The page was not laid out.")
        subprocess.run(
            [
                *command[:-1],
                f"--window-size={WIDTH},{height[1]}",
                f"--screenshot={directory}/page.png",
                file.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(directory, "page.png"), TARGET)
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
