"""Put Markdown on a page that looks like GitHub's, and take a picture of the page."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import cmarkgfm
from cmarkgfm.cmark import Options
from playwright.sync_api import sync_playwright

STYLE = """
* { box-sizing: border-box; }
html { background: #f6f8fa; }
body { margin: 0; padding: 16px; display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start;
  font: 13px/1.5 "Liberation Sans", Arial, "Noto Sans CJK JP", sans-serif; color: #1f2328; }
section { background: #fff; border: 1px solid #d1d9e0; border-radius: 8px; }
section { flex: 1 0 0; min-width: 0; }
section.wide { flex-basis: 100%; }
header { padding: 8px 16px; border-bottom: 1px solid #d1d9e0; background: #f6f8fa;
  border-radius: 8px 8px 0 0; font-weight: bold; color: #59636e; }
div { padding: 2px 16px 8px; overflow-wrap: break-word; }
details { margin: 8px 0; }
pre { background: #f6f8fa; padding: 8px 0; border-radius: 6px; margin: 8px 0;
  font: 12px/1.45 "Liberation Mono", "Noto Sans Mono CJK JP", monospace; }
pre i { display: block; padding: 0 12px; font-style: normal; min-height: 1.45em; }
pre i.add { background: #dafbe1; }
pre i.remove { background: #ffebe9; }
pre i.head { color: #59636e; }
pre.log { padding: 12px; white-space: pre-wrap; }
ul { padding-left: 24px; }
li:has(input) { list-style: none; margin-left: -20px; }
blockquote { margin: 12px 0; padding: 0 12px; border-left: 4px solid #d1d9e0; color: #59636e; }
h1, h2 { font-size: 17px; margin: 16px 0 12px; line-height: 1.3; }
h2 { padding-bottom: 6px; border-bottom: 1px solid #d1d9e0; }
table { border-collapse: collapse; margin: 12px 0; }
th, td { border: 1px solid #d1d9e0; padding: 4px 10px; text-align: left; }
tr:nth-child(2n) td { background: #f6f8fa; }
code { font: 12px "Liberation Mono", "Noto Sans Mono CJK JP", monospace; background: #eff1f3;
  padding: 2px 5px; border-radius: 5px; }
a { color: #0969da; text-decoration: none; }
p.state { margin: 0 0 16px; color: #59636e; }
b { display: inline-block; background: #1a7f37; color: #fff; border-radius: 1em;
  padding: 3px 12px; margin-right: 8px; font-weight: normal; }
b.bad { background: #cf222e; }
"""


def page(*sections: str) -> str:
    """Return a page of sections; sections that are not wide stand side by side."""
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style>{"".join(sections)}'


def section(heading: str, content: str, *, wide: bool = True) -> str:
    """Return a box with a heading; heading and content are HTML."""
    kind = ' class="wide"' if wide else ""
    return f"<section{kind}><header>{heading}</header><div>{content}</div></section>"


def rendered(markdown: str) -> str:
    """Return Markdown as GitHub renders it, with the colours of diffs."""
    found = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    block = r'<pre lang="diff"><code>(.*?)\n</code></pre>'
    return re.sub(block, _coloured, found, flags=re.DOTALL)


def _coloured(diff: re.Match[str]) -> str:
    lines = diff[1].split("\n")
    kinds = ["head" if re.match(r"\+\+\+|---|@@|\\", line) else "add" for line in lines]
    shown = (f'<i class="{kind}">{line}</i>' for kind, line in zip(kinds, lines, strict=True))
    return f"<pre>{''.join(shown)}</pre>"


def photograph(html: str, target: Path, *, width: int, height: int = 0, scale: int = 1) -> None:
    """Write a page as a picture of ``width`` CSS pixels, each of ``scale`` pixels.

    Without a ``height`` the picture shows the whole page.
    """
    with sync_playwright() as playwright:
        # As root, for example in containers, Chromium runs only without its sandbox
        browser = playwright.chromium.launch(executable_path=_browser(), args=["--no-sandbox"])
        tab = browser.new_page(
            viewport={"width": width, "height": height or 100}, device_scale_factor=scale
        )
        tab.set_content(html)
        tab.screenshot(path=target, full_page=not height)
        browser.close()


def _browser() -> str:
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, filter(None, names))), None)
    return found or sys.exit("No Chromium was found. Install it, or name it in CHROMIUM.")
