"""No text from outside becomes a command or markup, and the token is in no output.

That no run shows its token, and that a runner finds no command in its output but those for
groups, errors and warnings, is checked for every run of every test (`tests.harness.Action`).
"""

from __future__ import annotations

import csv
import html
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from registrar.texts import escaping
from tests.fakehub import Repository, StandInHost
from tests.gfm import only_ours
from tests.harness import (
    LIST_BRANCH,
    PER_FILE,
    SINGLE,
    TARGET,
    Action,
    Run,
    inject_fault,
    refuse,
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
HOSTILE = [
    "::error file=a.py,line=1::owned",
    "  ::set-output name=branch::owned",
    "##[error]owned",
    "a ##[set-output name=branch;]owned",
    "100%0A::error::owned",
    "@everyone and @octo/maintainers",
    "Fixes #1, closes GH-1, octo/example#2",
    "[skip ci] [ci skip] [no ci] [skip actions] [actions skip]",
    "skip-checks: true",
    "<details><summary>owned</summary><img src=x onerror=alert(1)>",
    "</code></details><script>alert(1)</script>",
    "a | b | c `code` *bold* _it_ ~~no~~ \\| &lt;b&gt;",
    "[link](https://evil.example) ![image](https://evil.example/a.png)",
    "https://evil.example www.evil.example mailto:a@evil.example",
    "\u202egnp.exe \u2066\u200b\ufeff",
    "<!-- registrar:end --> <!-- registrar:begin -->",
    "{count} %s ${{ github.token }} $(id) `id`",
    "registrar_EOF",
]
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
BLANK = re.compile(r"[\u200b\u202a-\u202e\u2066-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f-\x9f]")
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
    given = {"language": "en", "commit_strategy": SINGLE, **more}
    return action(definitions=action.listing(*entries), runner=True, **given)


def ours(repository: Repository) -> str:
    """Our part of the pull request's body, which nothing inside may end."""
    body = repository.pull_requests[0].body or ""
    begin, end = "<!-- registrar:begin -->", "<!-- registrar:end -->"
    assert body.count(begin) == body.count(end) == 1
    return body.removeprefix(begin).removesuffix(end)


def check_plain(text: str) -> None:
    """The host finds neither mention, reference, keyword nor instruction in it."""
    assert not re.search(r"@\w", text)
    assert not re.search(r"#\d|GH-\d", text)
    assert not re.search(r"\[(skip ci|ci skip|no ci|skip actions|actions skip)\]", text)
    assert not re.search(r"^skip-checks:", text, re.MULTILINE)
    assert "\n" not in text


def silent(ended: Run, annotations: int) -> None:
    """The runner finds exactly our own commands, and exactly our own outputs."""
    counted = [command.name for command in ended.commands]
    assert counted.count("error") + counted.count("warning") == annotations, ended.text
    assert counted.count("group") == counted.count("endgroup")
    assert set(ended.outputs) <= OUTPUTS
    assert ended.outputs["branch"] in {"", LIST_BRANCH}
    only_ours(ended.summary)


# --- Answers of GitHub ----------------------------------------------------------------------


@pytest.mark.parametrize("call", CALLS)
def test_everything_hostile_at_once_and_the_token_in_an_answer(
    action: Action, host: StandInHost, repository: Repository, call: str
) -> None:
    token = action.default_token
    fault = inject_fault(
        host,
        call,
        times=None,
        status=418,
        message="\n".join([f"No: {token}, Authorization: Bearer {token}", *TEXTS]),
        headers={"Location": f"https://example.com/{token}"},
    )
    ended = run(action, [{"path": "a.md"}, {"path": "b.md"}], commit_strategy=PER_FILE)
    assert fault.hits
    assert ended.exit_code in {1, 2}, ended.text
    silent(ended, annotations=1)
    [annotation] = ended.annotations()
    assert annotation.properties == {}
    assert "HTTP 418" in annotation.data
    # Until the repository is read it may be a private one, and others may read the log of a runner
    assert ("No: ***" in annotation.data) == (call not in CALLS[:2])
    if repository.pull_requests:
        only_ours(ours(repository))
    if call in CALLS[:2]:
        in_a_shell = action(definitions="list.json", language="en")
        assert "No: ***" in in_a_shell.stderr


def test_a_hostile_name_of_the_default_branch(action: Action, host: StandInHost) -> None:
    name = "main/%0A@everyone#1`|<b>::x&!(y)"
    with_name = host.create_repository(TARGET, default_branch=name.replace(":", ";"))
    ended = run(action, [{"path": "a.md"}, {"path": "README.md"}]).or_fail()
    silent(ended, annotations=0)
    assert {len(cells) for cells in only_ours(ended.summary).paths.values()} == {2}
    [pull] = with_name.pull_requests
    assert len({len(cells) for cells in only_ours(ours(with_name)).paths.values()}) == 1
    assert pull.base == with_name.default_branch


# --- Inputs and lists ------------------------------------------------------------


@pytest.mark.parametrize("runner", [False, True])
def test_a_token_in_an_input(action: Action, repository: Repository, runner: bool) -> None:
    """That the token stands nowhere is checked for every run."""
    for name, value in (
        ("target_repo", "{}"),
        ("target_repo", "octo/{}"),
        ("target_repo", "{}/example"),
        ("target_repo", "https://{}@github.com/octo/example"),
        ("api_url", "http://{}.example.com"),
        ("api_url", "https://x:{}@example.com"),
        ("profile", "{}"),
        ("language", "{}"),
        ("definitions", "{}.json"),
        ("definitions", "../{}"),
    ):
        run = action({name: value.format(action.default_token)}, runner=runner)
        assert run.exit_code == 2
        assert name in run.stdout + run.stderr
        assert name in html.unescape(run.summary)


def test_hostile_inputs(action: Action, host: StandInHost) -> None:
    # A list is looked for when all inputs are good
    for hostile in (
        inputs
        for text in HOSTILE
        for inputs in (
            {"target_repo": text, "profile": text, "api_url": text},
            {"definitions": f"../{text}"},
        )
    ):
        run = action(hostile, runner=True, language="en")
        assert run.exit_code == 2
        assert len(run.annotations()) == len(hostile)
        assert not BLANK.search(run.stdout)
        only_ours(run.summary)
    assert host.requests == []


def test_all_at_once_in_paths_and_descriptions(
    action: Action, repository: Repository, strategy: str
) -> None:
    entries = [
        {"path": f"{number} {as_path(text)}", "description": text}
        for number, text in enumerate(TEXTS)
    ]
    entries += [{"path": as_path(text)} for text in TEXTS]
    entries = list({entry["path"]: entry for entry in entries}.values())
    ended = run(action, entries, commit_strategy=strategy).or_fail()
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
        lines = commit.message.splitlines()
        assert len(lines) == (1 if strategy == PER_FILE else 2 + len(entries))
        for line in lines:
            check_plain(line)

    again = run(action, entries, commit_strategy=strategy).or_fail()
    assert again.outputs["pull_request_operation"] == "none"
    assert repository.pull_requests[0].body == body


@pytest.mark.large
def test_too_much_for_a_summary_and_a_pull_request(action: Action, repository: Repository) -> None:
    count, there = 200, 195
    folder = "/".join(["x" * 200] * 18)
    paths = [f"{folder}/{number}.md" for number in range(count)]
    repository.person.commit(dict.fromkeys(paths[:there], b"\n"))
    ended = run(action, [{"path": path, "description": "`|" * 500} for path in paths]).or_fail()
    size = len(ended.summary.encode())
    assert SUMMARY_BYTES - 8192 < size <= SUMMARY_BYTES
    assert "(The rest was cut: the summary was too large.)" in ended.summary[-200:]
    assert f"| Created | {count - there} |" in ended.summary
    assert f"| Skipped | {there} |" in ended.summary
    assert {len(cells) for cells in only_ours(ended.summary).paths.values()} == {2}
    assert len(ended.outputs["created"]) == 1
    [pull] = repository.pull_requests
    body = pull.body or ""
    assert BODY_CHARACTERS - 8192 < len(body.encode("utf-16-le")) // 2 <= BODY_CHARACTERS
    shown = only_ours(body).paths
    assert f"and {count - len(shown)} more" in body
    assert body.count("| added |") == count - there
    assert body.rstrip().endswith("<!-- registrar:end -->")


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
    *("span", "div", "code", "a", "svg", "rect", "button"),
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
    names, *rows = csv.reader(io.StringIO(table.removeprefix("\ufeff"), newline=""))
    assert {len(row) for row in rows} == {len(names)}
    assert not [cell for row in rows for cell in row if re.match("[=+@\t\r-]", cell)]
    shown = {escaping.show_control_characters(path) for path in paths}
    place = names.index("path")
    assert {row[place].removeprefix("'") for row in rows} == {
        path.removeprefix("'") for path in shown
    }

    seen = Seen(page)
    assert set(seen.tags) <= TAGS
    assert seen.tags.count("script") == 1
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name == "src"]
    links = [value or "" for name, value in seen.attributes if name == "href"]
    assert all(link.startswith((*urls, "#")) for link in links if link != "data:,")
    assert [path for path in shown if path not in seen.text] == []


def test_table_and_page_of_one(action: Action, host: StandInHost, tmp_path: Path) -> None:
    paths = list(dict.fromkeys([*OF_FILES, *map(as_path, TEXTS)]))
    repository = host.create_repository(TARGET, dict.fromkeys(paths[::2], b"\n"))
    entries = [{"path": path, "description": path} for path in paths]
    ended = run(action, entries, mode="plan", env={"RUNNER_TEMP": str(tmp_path)}).or_fail()
    check_files(ended, tmp_path, paths, (repository.html_url,))


def test_a_message_of_github_turns_nothing_in_the_page(
    action: Action, host: StandInHost, repository: Repository, tmp_path: Path
) -> None:
    """It is the reason why the run has failed."""
    words = "".join(map(chr, (*range(32), *range(0x7F, 0xA0), *range(0x200B, 0x2070), 0xFEFF)))
    refuse(host, "GET git/ref/heads/main", 422, message=f"Words {words}.")
    more = {"commit_strategy": PER_FILE, "env": {"RUNNER_TEMP": str(tmp_path)}}
    ended = run(action, [{"path": "a.md"}], **more)
    page = (tmp_path / ended.outputs["page_path"]).read_bytes().decode()
    assert "Words" in page
    assert not re.search(r"[\u200b-\u200d\u2028\u2029\u2060-\u2064\u206a-\u206f\ufeff]", page)


def test_table_and_page_of_many(action: Action, host: StandInHost, tmp_path: Path) -> None:
    paths = list(dict.fromkeys([*OF_FILES, *map(as_path, TEXTS)]))
    lacks = host.create_repository("octo-org/lacks", {"README.md": b"x\n"})
    host.create_repository("octo-org/blank", dict.fromkeys(paths, b"\n"))
    ended = run(
        action,
        [{"path": path} for path in paths],
        env={"RUNNER_TEMP": str(tmp_path)},
        target_repos="octo-org/*",
    ).or_fail()
    check_files(ended, tmp_path, paths, (lacks.html_url.rpartition("/")[0],))
