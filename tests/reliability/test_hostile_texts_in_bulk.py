"""No text from outside becomes a command, to the runner or to GitHub, in whatever size.

What single texts do is in `tests.contract.test_hostile_texts`; here they all come at once, from
every place where a host can put one, and in quantities that are too large.
"""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from registrar.texts import escaping
from tests.contract.test_hostile_texts import HOSTILE, check_plain
from tests.fakehub import Repository, StandInHost
from tests.gfm import only_ours
from tests.harness import LIST_BRANCH, TARGET, Action, Run, inject_fault

TEXTS = (
    *HOSTILE,
    "::error::x",
    "%0A::error::x",
    "a\r::error::x\r\n::warning::y\n::debug::z",
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07x\x1b]8;;\x07 \x9b1m",
    "##[set-output name=x]y",
    "lone ' and lone \"",
    "`` ` ```",
    "a|b\\|c||",
    "--> <!-- registrar:end --> <!-- registrar:begin -->",
    "registrar_0123456789abcdef\ncreated<<x\n99\nx",
    "closes https://github.com/octo/example/issues/1",
)
CALLS = (
    "GET /rate_limit",
    "GET",
    "GET git/ref/heads/main",
    "GET contents/a.md",
    "POST git/refs",
    "PUT contents/a.md",
    "POST pulls",
)
OUTPUTS = {
    *("created", "skipped", "failed", "missing", "branch", "report", "report_path"),
    *(f"pull_request_{name}" for name in ("number", "url", "operation")),
    *("repositories", "incomplete", "failed_repositories", "deferred"),
    *("blank", "invalid", "differing", "declined", "unset", "removed", "table_path", "page_path"),
}
SUMMARY_BYTES = 1024 * 1024
BODY_CHARACTERS = 65_536


def as_path(text: str) -> str:
    """A path that says the text, as far as a path may."""
    shown = "".join(char for char in text if char.isprintable() or char in "\u202e\u2066")
    return shown.replace("/", "∕").replace("\\", "＼").strip() or "x"


def run(action: Action, entries: list[dict[str, str]], **more: Any) -> Run:
    """Run on a runner with these entries."""
    listed = action.write("list.json", json.dumps(entries))
    return action(language="en", definitions=listed, runner=True, **more)


def ours(body: str | None) -> str:
    """Our part of a pull request's body."""
    return (body or "").partition("<!-- registrar:begin -->")[2].partition("<!-- reg")[0]


def silent(ended: Run, annotations: int) -> None:
    """The runner finds exactly our own commands, and exactly our own outputs."""
    counted = [command.name for command in ended.commands]
    assert counted.count("error") + counted.count("warning") == annotations, ended.text
    assert counted.count("group") == counted.count("endgroup")
    assert not re.search(r"[^\x20-\x7e\n\u00a0-\uffff]", ended.stdout + ended.stderr)
    assert not re.search(r"[\x9b\u200e\u200f\u202a-\u202e\u2066-\u2069]", ended.stdout)
    assert set(ended.outputs) <= OUTPUTS
    assert ended.outputs["branch"] in {"", LIST_BRANCH}
    only_ours(ended.summary)


def test_all_at_once_in_paths_and_descriptions(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    entries = [
        {"path": f"{number} {as_path(text)}", "description": text}
        for number, text in enumerate(TEXTS)
    ]
    entries += [{"path": as_path(text)} for text in TEXTS]
    entries = list({entry["path"]: entry for entry in entries}.values())
    ended = run(action, entries)
    assert ended.exit_code == 0, ended.text
    # Warnings about paths that look like patterns
    silent(ended, annotations=10)
    assert ended.outputs["created"] == str(len(entries))

    [pull] = repository.pull_requests
    body = pull.body or ""
    assert (body.count("registrar:begin"), body.count("registrar:end")) == (1, 1)
    for markdown in (body, ended.summary):
        table = only_ours(markdown).paths
        assert len({len(cells) for cells in table.values()}) == 1
        expected = {escaping.show_control_characters(entry["path"]) for entry in entries}
        assert {path.replace("\u200b", "") for path in table} == expected
    check_plain(pull.title)
    for commit in repository.log(LIST_BRANCH)[:-1]:
        check_plain(commit.message)

    again = run(action, entries)
    assert again.exit_code == 0, again.text
    assert again.outputs["pull_request_operation"] == "none"
    assert repository.pull_requests[0].body == body


# --- Table and page -------------------------------------------------------------------------

FORMULAS = ("=1+1", "+1", "-1", "@x", "=cmd|' ∕C calc'!A0")
OF_FILES = (
    *FORMULAS,
    '"quoted" and \'',
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><!--",
    "x\u202egpj.exe",
    "\u2066=1",
)
TAGS = {
    *("html", "head", "meta", "title", "link", "style", "body", "header", "main", "script"),
    *("h1", "h2", "h3", "section", "details", "summary", "pre", "p", "ul", "li", "strong"),
    *("span", "div", "code", "a", "svg", "rect"),
    *("table", "thead", "tbody", "tr", "th", "td", "form", "label", "input", "select", "option"),
}


class Seen(HTMLParser):
    """The elements of a page as a browser finds them, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def check_files(ended: Run, folder: Path, paths: list[str], urls: tuple[str, ...]) -> None:
    """Nothing in table and page computes, runs or misleads; every path is there to be read."""
    table, page = (
        (folder / ended.outputs[name]).read_bytes().decode() for name in ("table_path", "page_path")
    )
    for text in (table, page):
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)
        assert not re.search(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]", text)
    rows = list(csv.reader(io.StringIO(table, newline="")))
    assert {len(row) for row in rows} == {20}
    assert not [cell for row in rows for cell in row if re.match("[=+@\t\r-]", cell)]
    shown = {escaping.show_control_characters(path) for path in paths}
    assert {row[6].removeprefix("'") for row in rows[1:]} == {
        path.removeprefix("'") for path in shown
    }

    seen = Seen(page)
    assert set(seen.tags) <= TAGS
    assert seen.tags.count("script") == 1
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name == "src"]
    links = [value or "" for name, value in seen.attributes if name == "href"]
    assert all(link.startswith(urls) for link in links if link != "data:,")
    assert [path for path in shown if path not in seen.text] == []


@pytest.mark.parametrize("there", [None, b"\n"], ids=["missing", "blank"])
def test_table_and_page_of_one(
    action: Action, host: StandInHost, tmp_path: Path, there: bytes | None
) -> None:
    paths = list(dict.fromkeys([*OF_FILES, *map(as_path, TEXTS)]))
    present = {} if there is None else dict.fromkeys(paths, there)
    repository = host.create_repository(TARGET, {"README.md": b"x\n", **present})
    entries = [{"path": path, "description": path} for path in paths]
    ended = run(action, entries, mode="plan", env={"RUNNER_TEMP": str(tmp_path)})
    assert ended.exit_code == 0, ended.text
    check_files(ended, tmp_path, paths, (repository.html_url,))


def test_table_and_page_of_many(action: Action, host: StandInHost, tmp_path: Path) -> None:
    paths = list(dict.fromkeys([*OF_FILES, *map(as_path, TEXTS)]))
    lacks = host.create_repository("octo-org/lacks", {"README.md": b"x\n"})
    host.create_repository("octo-org/blank", dict.fromkeys(paths, b"\n"))
    ended = run(
        action,
        [{"path": path} for path in paths],
        env={"RUNNER_TEMP": str(tmp_path)},
        target_repo=None,
        target_repos="octo-org/*",
    )
    assert ended.exit_code == 0, ended.text
    check_files(ended, tmp_path, paths, (lacks.html_url.rpartition("/")[0],))


@pytest.mark.parametrize("call", CALLS)
def test_everything_hostile_at_once_in_the_answers(
    action: Action, host: StandInHost, repository: Repository, call: str
) -> None:
    inject_fault(host, call, times=None, status=418, message="\n".join(TEXTS))
    ended = run(action, [{"path": "a.md"}, {"path": "b.md"}])
    assert ended.exit_code in {1, 2}, ended.text
    silent(ended, annotations=1)
    [annotation] = ended.annotations()
    assert annotation.properties == {}
    assert "HTTP 418" in annotation.data
    for pull in repository.pull_requests:
        assert {len(cells) for cells in only_ours(ours(pull.body)).paths.values()} == {3}


def test_a_hostile_name_of_the_default_branch(action: Action, host: StandInHost) -> None:
    name = "main/%0A@everyone#1`|<b>::x&!(y)"
    with_name = host.create_repository(TARGET, default_branch=name.replace(":", ";"))
    ended = run(action, [{"path": "a.md"}, {"path": "README.md"}])
    assert ended.exit_code == 0, ended.text
    silent(ended, annotations=0)
    assert {len(cells) for cells in only_ours(ended.summary).paths.values()} == {2}
    [pull] = with_name.pull_requests
    assert {len(cells) for cells in only_ours(ours(pull.body)).paths.values()} == {3}
    assert pull.base == with_name.default_branch


@pytest.mark.parametrize("text", ["javascript:alert(1)", "https://e.example/) ::x\n::error::y", ""])
def test_a_hostile_address_of_the_pull_request(
    action: Action, host: StandInHost, repository: Repository, text: str
) -> None:
    reference: dict[str, Any] = {"ref": "x", "sha": "x", "repo": {"full_name": TARGET}}
    inject_fault(
        host,
        "POST pulls",
        times=None,
        status=201,
        body={
            "number": 1,
            "html_url": text,
            "state": "open",
            "head": reference,
            "base": reference,
        },
    )
    ended = run(action, [{"path": "a.md"}])
    assert {command.name for command in ended.commands} <= {"group", "endgroup", "error"}
    assert "javascript:" not in ended.summary
    assert not re.search(r"\]\([^)]*\s", ended.summary)
    assert set(ended.outputs) <= OUTPUTS


@pytest.mark.large
def test_too_much_for_a_summary_and_a_pull_request(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    count, there = 1100, 1095
    paths = [f"docs/{'x' * 200}/{number}.md" for number in range(count)]
    repository.commit(dict.fromkeys(paths[:there], b"\n"))
    ended = run(action, [{"path": path, "description": "`|" * 100} for path in paths])
    assert ended.exit_code == 0, ended.text
    size = len(ended.summary.encode())
    assert SUMMARY_BYTES - 4096 < size <= SUMMARY_BYTES
    assert "(The rest was cut: the summary was too large.)" in ended.summary[-200:]
    assert f"| Created | {count - there} |" in ended.summary
    assert f"| Skipped | {there} |" in ended.summary
    assert {len(cells) for cells in only_ours(ended.summary).paths.values()} == {2}
    assert len(ended.outputs["created"]) == 1
    [pull] = repository.pull_requests
    body = pull.body or ""
    assert BODY_CHARACTERS - 2048 < len(body.encode("utf-16-le")) // 2 <= BODY_CHARACTERS
    shown = only_ours(body).paths
    assert f"and {count - len(shown)} more" in body
    assert body.count("| added |") == count - there
    assert body.rstrip().endswith("<!-- registrar:end -->")
