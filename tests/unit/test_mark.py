"""The hidden mark of what a pull request proposes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registrar.registration.mark import BEGIN, END, MOST_PATHS, NO_MARK, Mark

PATHS = st.lists(st.text(min_size=1), unique=True, max_size=20)
COMMIT = "1" * 40


@given(PATHS, PATHS)
def test_a_mark_names_its_paths_and_no_other(proposed: list[str], others: list[str]) -> None:
    mark = Mark.of(f"Before\r\n{NO_MARK.proposing(proposed).text}\r\nAfter")
    assert mark
    held = {path for path in [*proposed, *others] if mark.holds(path)}
    assert held == {*proposed, *(others if not proposed else [])}


@given(PATHS, PATHS, st.text())
def test_a_mark_is_read_as_it_was_written(paths: list[str], gone: list[str], list_id: str) -> None:
    begun = Mark.begin(list_id, COMMIT, NO_MARK.proposing(gone).at(()))
    mark = begun.proposing([*paths, "one"])
    assert Mark.of(mark.text) == mark
    assert mark.is_of(list_id)
    assert not mark.is_of(f"{list_id}?")
    assert [mark.was_removed(path) for path in gone] == [
        path not in [*paths, "one"] for path in gone
    ]


def test_what_does_not_fit_stands_for_every_path() -> None:
    many = [str(number) for number in range(MOST_PATHS + 1)]
    text = NO_MARK.proposing(many).text
    assert len(text) < 100
    found = Mark.of(text)
    assert found
    assert found.paths is None
    assert found.holds("anything")
    assert len(NO_MARK.proposing(many[:-1]).text) < 12_000


def test_a_mark_of_an_earlier_version_is_of_any_list() -> None:
    mark = Mark.of("<!-- registrar:paths 0123456789 -->")
    assert mark == Mark(frozenset({"0123456789"}))
    assert mark.is_of("any list")


def test_our_part_without_a_mark_stands_for_every_path() -> None:
    assert Mark.of(f"{BEGIN}\nwords\n{END}") == Mark(None)


@pytest.mark.parametrize(
    "body", ["", "words", "<!-- registrar:paths zz -->", "<!-- registrar:begin -->"]
)
def test_a_description_without_a_mark_says_nothing(body: str) -> None:
    assert Mark.of(body) is None
