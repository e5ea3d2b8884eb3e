"""What is at a path, by its blob id; the rows of the table."""

from __future__ import annotations

import csv
import io
import random
import subprocess
from collections import Counter

import pytest

from registrar.models.settings import Mode
from registrar.models.standing import Standing, blob_id, is_blank, standing_of
from registrar.reporting import evidence as table
from registrar.reporting.evidence import Evidence
from registrar.reporting.page import MOST_CELLS, MOST_EXCLUDED, Page
from registrar.texts.messages import Catalogue


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n", b"{}", b"{}\n", b"[]", b"---", b"---\n"])
def test_blank_is_what_holds_nothing(content: bytes) -> None:
    assert is_blank(blob_id(content))
    assert is_blank(blob_id(content, like="f" * 64))


@pytest.mark.parametrize("content", [b"8", b" ", b"\n\n", b"{ }", b"--", b"null"])
def test_nothing_else_is_blank_however_short(content: bytes) -> None:
    assert not is_blank(blob_id(content))


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


def evidence(*properties: str, **values: str) -> Evidence:
    empty = Evidence("octo/one", "7", "public", "main", "", "", "", "", properties=properties)
    return empty._replace(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["=1+1", "+a", "-a", "@a", "＝1", "＋a", "－a", "＠a"])
def test_a_spreadsheet_computes_nothing(path: str) -> None:
    written = table.header(()) + table.line(evidence(path=path))
    rows = list(csv.DictReader(io.StringIO(written, newline="")))
    assert [row["path"] for row in rows] == [f"'{path}"]


@pytest.mark.parametrize("path", ["x;=1+1", 'x;"=1+1";y', "x; =1", "x;＝1"])
def test_where_a_semicolon_separates_a_spreadsheet_computes_nothing_either(path: str) -> None:
    written = table.line(evidence(path=path))
    [row] = csv.reader(io.StringIO(written, newline=""), delimiter=";")
    assert not any(cell.lstrip(' "').startswith(("=", "＝")) for cell in row)
    assert written.startswith('"octo/one","7",')


@pytest.mark.parametrize(
    ("path", "shown"), [("\ta", "'\\ta"), ("\ra", "'\\ra"), ("x\u202ey", "x\\u202ey")]
)
def test_what_nobody_sees_is_escaped(path: str, shown: str) -> None:
    written = table.header(()) + table.line(evidence(path=path))
    assert [row["path"] for row in csv.DictReader(io.StringIO(written, newline=""))] == [shown]


@pytest.mark.parametrize("path", ['a"b', "a,b", "</script>", "a;b"])
def test_any_path_survives_the_table(path: str) -> None:
    written = table.header(()) + table.line(evidence(path=path))
    assert [row["path"] for row in csv.DictReader(io.StringIO(written, newline=""))] == [path]
    assert written.endswith("\r\n")


def test_of_a_repository_that_is_not_named_the_path_and_its_state_are_left() -> None:
    whole = evidence("gold", **{name: f"{name}!" for name in Evidence._fields[:-1]})
    left = table.without_repository(whole)
    assert {name: value for name, value in left._asdict().items() if value} == {
        "list": "list!",
        "path": "path!",
        "state": "state!",
        "list_digest": "list_digest!",
        "read_at": "read_at!",
        "outcome": "outcome!",
        "reason": "reason!",
    }
    [counted] = table.counted({left: 7}, ("tier",))
    assert (counted.repository, counted.properties) == ("not public: 7", ("",))


def test_the_page_counts_what_it_does_not_name() -> None:
    page = Page(MOMENT, Mode.PLAN)
    page.add([evidence(repository="octo/one", path="a", state="same")])
    for state in ("missing", "same"):
        page.count([evidence(id="7", path="a", state=state)])
    page.count([evidence(id="8", path="a", state="blank")])
    page.count([evidence(id="10", path="a", state="declined")])
    page.count([evidence(id="9", path="a", state="excluded: archived")])
    assert (page.reach("COMPLETE"), page.reach("DONE"), page.read) == (2, 3, 4)
    assert (page.reach("COMPLETE", hidden=True), page.reach("DONE", hidden=True)) == (1, 2)
    assert page.paths["a"] == {"present": 2, "missing": 1, "blank": 1, "declined": 1}
    assert page.excluded_by_reason == {"archived": ([], 1)}
    assert [row.name for row in page.rows] == ["octo/one"]


MOMENT = "2026-11-22T00:00:00+00:00"


def test_the_page_counts_a_repository_once_whatever_the_number_of_lists() -> None:
    page = Page(MOMENT, Mode.PLAN)
    for state in ("same", "missing"):
        page.add([evidence(repository="octo/one", state=state)])
        page.add([evidence(repository="octo/two", state="blank")])
        page.add([evidence(repository="octo/old", state="excluded: archived")])
    assert (len(page.names), page.reach("COMPLETE"), len(page.excluded)) == (2, 1, 1)


@pytest.mark.parametrize(
    "mode", sorted(set(Mode) - {Mode.VALIDATE})
)  # which looks at no repository
def test_the_page_says_what_it_is_about(mode: Mode) -> None:
    page = Page(MOMENT, mode)
    page.add([evidence(list="owners", path="a", state="same")])
    words = {"register": "Run", "plan": "Plan", "check": "Check", "withdraw": "Withdrawal"}
    for more, target in {"octo/one": "octo/one", "octo/2": "octo", "x/x": "octo, x"}.items():
        page.add([evidence(repository=more, list="owners", path="a", state="excluded: fork")])
        text = "".join(page.render(Catalogue("en")))
        assert f"<h1>{target}: owners</h1>" in text
        assert f"{words[mode]} of 2026-11-22 00:00 UTC." in text
        assert f"<li>{more}</li>" in text.partition("forks ")[2]


def test_the_bars_of_a_page_add_up_whatever_the_states() -> None:
    rng, counts = random.Random(5), Counter[str]()
    page = Page(MOMENT, Mode.PLAN, ("team",))
    for number in range(200):
        state = rng.choice(list(Standing))
        counts[state] += 1
        path = rng.choice(("a", "b"))
        page.add([evidence("x", repository=f"octo/{number}", path=path, state=state)])
    assert page.totals.total() == counts.total() == 200
    assert page.totals["present"] == counts["same"] + counts["filled"]
    quiet = Counter(same=counts["same"], filled=counts["filled"])
    others = {each: each.replace(" ", "_") for each in counts - quiet}
    assert {each: page.totals[bar] for each, bar in others.items()} == dict(counts - quiet)
    [[group]] = page.groups.values()
    is_there = ("same", "filled", "blank", "differs", "not a file")
    complete = sum(counts[each] for each in is_there)
    done = complete + counts["declined"]
    assert group.counts == {
        "present": complete,
        "declined": counts["declined"],
        "missing": counts.total() - done,
    }
    assert (page.reach("COMPLETE"), page.reach("DONE"), group.done) == (complete, done, done)
    assert page.tiles["present"] == complete
    "".join(page.render(Catalogue("ja")))


def test_the_page_shows_so_many_repositories_and_counts_the_rest() -> None:
    page, paths = Page(MOMENT, Mode.PLAN), [f"{number}.md" for number in range(MOST_CELLS // 10)]
    for number in range(13):
        page.add([evidence(repository=f"octo/r{number}", path=p, state="same") for p in paths])
    text = "".join(page.render(Catalogue("en")))
    assert text.count("<tr data-name=") == 10
    assert "… and 3 more, which the table (CSV) has." in text
    assert "<strong>13 / 13</strong>" in text


def test_the_page_names_so_many_that_were_left_out_and_counts_the_rest() -> None:
    page = Page(MOMENT, Mode.PLAN)
    for number in range(MOST_EXCLUDED + 2):
        page.add([evidence(repository=f"octo/r{number}", state="excluded: excluded")])
    text = "".join(page.render(Catalogue("en")))
    assert text.count("<li>octo/r") == MOST_EXCLUDED
    assert f"excluded {MOST_EXCLUDED + 2}</summary>" in text
    assert "<li>… and 2 more</li>" in text
