"""The state of a path follows from its blob id, and the table has a row for each path."""

from __future__ import annotations

import csv
import io
import itertools
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from registrar.errors import Failure
from registrar.models.files import FileDefinition
from registrar.models.paths import Done, Leave, ListedPath, Present, Why, by_path
from registrar.models.record import PullRequestOperation, Record
from registrar.models.repository import PullRequest, Repository
from registrar.models.selection import Exclusion
from registrar.models.settings import Mode
from registrar.models.spec import ONE_OF_MANY
from registrar.models.standing import PresentFile, Standing, blob_id, is_blank, standing_of
from registrar.models.status import Status
from registrar.reporting import evidence as table
from registrar.reporting import page as page_of_html
from registrar.reporting.page import MOST_EXCLUDED, Page
from registrar.reporting.rows import rows_of
from registrar.texts.escaping import FoundPath
from registrar.texts.messages import Catalogue, msg
from tests.promises import filters_of
from tests.values import in_state, record, with_status


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ([b"", b"\n", b"\r\n", b"{}", b"{}\n", b"[]", b"---", b"---\n"], True),
        ([b"8", b" ", b"\n\n", b"{ }", b"--", b"null"], False),
    ],
)
def test_blank_is_what_holds_nothing_and_nothing_else(
    contents: list[bytes], expected: bool
) -> None:
    for content in contents:
        assert is_blank(blob_id(content)) is expected, content
        assert is_blank(blob_id(content, like="f" * 64)) is expected, content


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_ids_are_those_of_git(form: str, tmp_path: object) -> None:
    subprocess.run(["git", "init", "-q", f"--object-format={form}", str(tmp_path)], check=True)
    done = subprocess.run(
        ["git", "-C", str(tmp_path), "hash-object", "--stdin"],
        input=b"hello\n",
        capture_output=True,
        check=True,
    )
    found = done.stdout.decode().strip()
    assert blob_id(b"hello\n", like=found) == found


@pytest.mark.parametrize(
    ("listed", "there", "may_be_blank", "expected"),
    [
        (b"a\n", b"a\n", False, Standing.SAME),
        (b"a\n", b"b\n", False, Standing.DIFFERS),
        (b"a\n", b"\n", False, Standing.BLANK),
        (b"\n", b"\n", False, Standing.BLANK),
        (b"\n", b"\n", True, Standing.SAME),
        (b"\n", b"", True, Standing.SAME),
        (b"a\n", b"\n", True, Standing.DIFFERS),
        (b"\n", b"a\n", False, Standing.FILLED),
        (b"{}\n", b"{}", False, Standing.BLANK),
        (b"8\n", b"8", False, Standing.DIFFERS),
    ],
)
def test_how_a_present_file_stands(
    listed: bytes, there: bytes, may_be_blank: bool, expected: Standing
) -> None:
    for like in ("", "f" * 64):
        blob = blob_id(there, like=like)
        assert standing_of(listed, blob, is_file=True, may_be_blank=may_be_blank) is expected


def test_a_directory_a_link_or_a_submodule_is_no_file() -> None:
    found = standing_of(b"\n", blob_id(b"\n"), is_file=False, may_be_blank=True)
    assert found is Standing.NO_FILE


def lines(made: Record, shown: Callable[[str], str] = str) -> str:
    return table.lines(made, rows_of(made), MOMENT, Catalogue("en", shown))


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        *((path, f"'{path}") for path in ("=1+1", "+a", "-a", "@a", "＝1", "＋a", "－a", "＠a")),
        # Invisible characters are escaped
        *(("\ta", "'\\ta"), ("\ra", "'\\ra"), ("x\u202ey", "x\\u202ey")),
        *((path, path) for path in ('a"b', "a,b", "</script>", "a;b")),
    ],
)
def test_any_path_survives_the_table_and_a_spreadsheet_computes_nothing(
    path: str, shown: str
) -> None:
    written = table.header(()) + lines(record("octo/one", {path: Standing.SAME}))
    assert [row["path"] for row in csv.DictReader(io.StringIO(written, newline=""))] == [shown]
    assert written.endswith("\r\n")


@pytest.mark.parametrize("path", ["x;=1+1", 'x;"=1+1";y', "x; =1", "x;＝1"])
def test_where_a_semicolon_separates_a_spreadsheet_computes_nothing_either(path: str) -> None:
    written = lines(record("octo/one", {path: Standing.SAME}))
    [row] = csv.reader(io.StringIO(written, newline=""), delimiter=";")
    assert not any(cell.lstrip(' "').startswith(("=", "＝")) for cell in row)
    assert written.startswith('"octo/one","",')


def test_a_text_is_shown_by_what_it_is_also_where_another_cell_holds_the_same() -> None:
    there = PresentFile(Standing.SAME, FoundPath("a"), "b10b")
    files = (FileDefinition("a"), FileDefinition("b"))
    paths = by_path(ListedPath(each, Present(there, msg("reason.same"))) for each in files)
    made = replace(record("octo/one", {}), paths=paths)
    written = table.header(()) + lines(
        made, lambda text: "…" if isinstance(text, FoundPath) else text
    )
    rows = csv.DictReader(io.StringIO(written, newline=""))
    assert [(each["path"], each["found_path"]) for each in rows] == [("a", ""), ("b", "…")]


def test_a_repository_that_could_not_be_read_has_the_properties_with_which_it_was_listed() -> None:
    read = record("octo/one", {"a": Standing.SAME}, team="red")
    failed = replace(read, repository=Repository("octo/one"))
    assert table.properties_of(failed) == table.properties_of(read) == ("red",)


@pytest.mark.parametrize(
    ("facts", "warning", "kind"),
    [
        ({"hides": "b"}, "GitHub uses it instead of your b", "instead of existing ones"),
        ({"used_instead": "b"}, "has no effect, because GitHub uses your b", "without effect"),
        ({"hides_inherited": True}, "GitHub uses it instead of an inherited file", "inherited"),
        ({"other_case": "A"}, "differs from A in letter case only", "in letter case only"),
        ({"other_case": "e\u0301"}, "e\u0301 exists in another Unicode form", "Unicode form"),
    ],
)
def test_a_warning_about_a_path_is_in_the_table_and_on_the_page(
    facts: dict[str, Any], warning: str, kind: str
) -> None:
    listed = "\u00e9" if kind == "Unicode form" else "a"
    path = in_state(FileDefinition(listed), Standing.TO_CREATE)._replace(**facts)
    made = replace(record("octo/one", {}), paths=by_path([path]))
    [row] = csv.DictReader(io.StringIO(table.header(()) + lines(made), newline=""))
    assert row["warnings"] == warning
    shown = Shown()
    shown.add("octo/two", a=Standing.TO_CREATE)
    assert 'id="warnings"' not in shown.render()
    shown.page.counted.add(made)
    shown.take(made)
    part = shown.render().partition('id="warnings"')[2].partition("<h2")[0]
    assert part.count("<li>") == 1
    assert ">octo/one</a>" in part
    assert kind in part
    assert warning in re.sub("</?code>", "", part)


@pytest.mark.parametrize("done", Done)
def test_the_table_says_which_files_the_list_has_changed_since(done: Done) -> None:
    path = in_state(FileDefinition("a"), Standing.PROPOSED, done)
    written = lines(replace(record("octo/one", {}), paths=by_path([path])))
    [row] = csv.DictReader(io.StringIO(table.header(()) + written, newline=""))
    assert row["update"] == (done if done in {Done.UPDATED, Done.TO_UPDATE} else "")


@pytest.mark.parametrize("is_of_many", [False, True])
@pytest.mark.parametrize("operation", PullRequestOperation)
def test_the_page_shows_a_pull_request_that_the_run_closed(
    operation: PullRequestOperation, is_of_many: bool
) -> None:
    """An open one is shown only if it proposes a path."""
    made = record("octo/one", {"a": Standing.TO_CREATE})
    pull = PullRequest(1, "https://example.com/1")
    shown = Shown()
    shown.page.is_of_many = is_of_many
    shown.take(replace(made, is_ended=True, operation=operation, pull_request=pull))
    [row] = shown.page.rows
    keys = {"withdrawn": "page.pull_request_withdrawn", "closed": "page.pull_request_closed"}
    assert row.pull_request == (pull.url if operation in keys else "")
    assert row.remark == (keys.get(operation, "") if is_of_many else "")


def test_each_path_links_to_the_pull_request_in_which_it_was_declined() -> None:
    pulls = [PullRequest(n, f"https://example.com/{n}", is_open=False) for n in (1, 2)]
    left = (Leave(Why.DECLINED, Done.SKIPPED, None, each) for each in pulls)
    paths = by_path(map(ListedPath, (FileDefinition("a"), FileDefinition("b")), left))
    shown, made = Shown(), replace(record("octo/one", {}), paths=paths)
    shown.page.counted.add(made)
    shown.take(made)
    links = dict(re.findall(r'<a href="([^"]+)"><code>(\w)</code>', shown.render()))
    assert links == {pulls[0].url: "a", pulls[1].url: "b"}


MOMENT = "2026-11-22T00:00:00+00:00"


class Shown:
    """A page and its tally. As in a run, each record is first counted and then taken."""

    def __init__(self, mode: Mode = Mode.PLAN, names: tuple[str, ...] = ()) -> None:
        self.page = Page(MOMENT, mode, names)

    def take(self, made: Record, reason: str = "") -> None:
        self.page.add(made, rows_of(made), reason=reason)

    def add(self, name: str = "octo/one", /, **paths: Standing) -> None:
        self.take(self._counted(name, paths))

    def leave_out(self, name: str, why: Exclusion, *, is_named: bool = True) -> None:
        made = self._counted(name, {}, why)
        if is_named:
            self.take(made)

    def _counted(
        self, name: str, paths: Mapping[str, Standing], exclusion: Exclusion | None = None
    ) -> Record:
        made = replace(record(name, paths), exclusion=exclusion)
        self.page.counted.add(made)
        return made

    def render(self, language: str = "en") -> str:
        return "".join(self.page.render(Catalogue(language)))


def test_the_page_counts_repositories_that_are_too_private_to_be_named() -> None:
    shown = Shown()
    shown.add("octo/one", a=Standing.SAME)
    shown.leave_out("octo/9", Exclusion.MORE_PRIVATE, is_named=False)
    assert shown.page.excluded_by_reason == {Exclusion.MORE_PRIVATE: ([], 1)}
    assert "<p>more private than this workflow 1</p>" in shown.render()


def test_the_page_counts_a_repository_once_whatever_the_number_of_lists() -> None:
    shown = Shown()
    for standing in (Standing.SAME, Standing.TO_CREATE):
        shown.add("octo/one", a=standing)
        shown.add("octo/two", a=Standing.BLANK)
        shown.leave_out("octo/old", Exclusion.ARCHIVED)
    page = shown.page
    assert (len(page.names), page.reach("COMPLETE"), len(page.excluded)) == (2, 1, 1)


@pytest.mark.parametrize(
    "mode", sorted(set(Mode) - {Mode.VALIDATE})
)  # `validate` reads no repository, so it has no page
def test_the_page_says_what_it_is_about(mode: Mode) -> None:
    shown = Shown(mode)
    shown.add(a=Standing.SAME)
    words = {"register": "Run", "plan": "Plan", "check": "Check", "withdraw": "Withdrawal"}
    for more, target in {"octo/one": "octo/one", "octo/2": "octo", "x/x": "octo, x"}.items():
        shown.leave_out(more, Exclusion.FORK)
        text = shown.render()
        assert f"<h1>{target}: scaffold</h1>" in text
        assert f"{words[mode]} of 2026-11-22 00:00 UTC." in text
        assert f"<li>{more}</li>" in text.partition("forks ")[2]


def test_for_a_value_of_a_property_declined_files_are_done_and_not_complete() -> None:
    shown = Shown(names=("team",))
    for number, standing in enumerate(Standing):
        shown.add(f"octo/{number}", a=standing)
    [[group]] = shown.page.groups.values()
    there = sum(standing.is_present for standing in Standing)
    assert group.counts == {"present": there, "declined": 1, "to_create": len(Standing) - there - 1}
    assert (shown.page.reach("COMPLETE"), shown.page.reach("DONE")) == (there, there + 1)
    assert group.done == there + 1


def rows_of_list(text: str) -> list[str]:
    listed = text.partition('id="list"')[2].partition("</table")[0]
    return re.findall("<tr data-.*?</tr>", listed, re.DOTALL)


def test_each_number_of_an_outcome_has_so_many_rows_to_filter() -> None:
    """Also of repositories that have every file, which stand behind one click."""
    shown, there = Shown(), (Standing.SAME, Standing.DIFFERS, Standing.TO_CREATE)
    shown.page.is_of_many = True
    for number, (status, standing) in enumerate(itertools.product(Status, there)):
        made = record(f"octo/{number}", {"a": standing})
        made = with_status(replace(made, spec=made.spec._replace(policy=ONE_OF_MANY)), status)
        shown.page.counted.add(made)
        shown.take(made)
    text = shown.render()
    options = re.findall(r'<option value="([a-z ]+)">\D*(\d+)', text.partition('name="outcome"')[2])
    found = Counter(re.findall('data-outcome="([^"]*)"', "".join(rows_of_list(text))))
    assert {name: int(count) for name, count in options if name in found} == found
    assert len(found) > 10
    assert [*filters_of(text)] == []
    hidden = [" hidden" in row.partition(">")[0] for row in rows_of_list(text)]
    assert 0 < sum(hidden) < len(hidden)
    assert f"every listed file ({text.count('data-quiet') // 2})" in text


def test_the_page_does_not_count_what_was_not_read_as_absent() -> None:
    shown = Shown()
    shown.add("octo/one", a=Standing.UNREAD, b=Standing.UNREAD)
    shown.add("octo/two", a=Standing.TO_CREATE, b=Standing.SAME)
    numbers = re.findall('class="number">([^<]*)<', "".join(rows_of_list(shown.render())))
    assert numbers == ["?", "1"]


def test_rows_are_in_the_order_of_what_is_to_do_then_of_the_names_in_any_case() -> None:
    shown, missing = Shown(), Standing.TO_CREATE
    shown.add("octo/B", a=missing, b=Standing.SAME)
    shown.add("octo/a", a=missing, b=Standing.SAME)
    shown.add("octo/c", a=missing, b=missing)
    failed = record("octo/d", {"a": Standing.SAME, "b": Standing.SAME})
    failed = replace(failed, failure=Failure.of(msg("reason.unknown")))
    shown.page.counted.add(failed)
    shown.take(failed, reason="x")
    names = re.findall('<tr data-name="octo/(.)"', shown.render())
    assert names[:4] == ["d", "c", "a", "B"]


@pytest.mark.parametrize(
    ("complete", "shown"),
    [(0, "0"), (1, "&lt;\u00a01"), (2, "1"), (200, "&gt;\u00a099"), (201, "100")],
)
def test_a_share_is_told_as_nothing_or_all_only_if_it_is(complete: int, shown: str) -> None:
    page = Shown()
    for number in range(201):
        there = Standing.SAME if number < complete else Standing.TO_CREATE
        page.add(f"octo/{number}", a=there)
    assert f"Repositories: complete ({shown}\u00a0%)" in page.render()


def test_the_page_shows_so_many_repositories_and_counts_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most_cells = 100
    monkeypatch.setattr(page_of_html, "MOST_CELLS", most_cells)
    shown = Shown()
    paths = {f"{number}.md": Standing.SAME for number in range(most_cells // 10)}
    for number in range(13):
        shown.add(f"octo/r{number}", **paths)
    text = shown.render()
    assert len(rows_of_list(text)) == 10
    assert 'data-rest="3"' in text
    assert "… and 3 more, which are in the table (CSV)." in text
    assert ">13</a> / 13</strong>" in text


def test_the_page_names_so_many_that_were_left_out_and_counts_the_rest() -> None:
    shown = Shown()
    for number in range(MOST_EXCLUDED + 2):
        shown.leave_out(f"octo/r{number}", Exclusion.NOT_MEANT)
    text = shown.render()
    assert text.count("<li>octo/r") == MOST_EXCLUDED
    assert f"not selected by target_repos {MOST_EXCLUDED + 2}</summary>" in text
    assert "<li>… and 2 more</li>" in text
