"""The hidden mark of what a pull request proposes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registrar.registration.mark import BEGIN, END, MOST_PATHS, NO_MARK, WITHDRAWN, Mark

PATHS = st.lists(st.text(min_size=1), unique=True, max_size=20)
COMMIT = "1" * 40
BLOB, OTHER = "2" * 40, "3" * 40


@given(PATHS, PATHS)
def test_a_mark_names_its_paths_and_no_other(proposed: list[str], others: list[str]) -> None:
    mark = Mark.of(f"Before\r\n{NO_MARK.proposing(dict.fromkeys(proposed, BLOB)).text}\r\nAfter")
    assert mark
    held = {path for path in [*proposed, *others] if mark.holds(path)}
    assert held == {*proposed, *(others if not proposed else [])}


@given(PATHS, PATHS, st.text())
def test_a_mark_is_read_as_it_was_written(paths: list[str], gone: list[str], list_id: str) -> None:
    begun = Mark.begin(list_id, COMMIT, NO_MARK.proposing(dict.fromkeys(gone, BLOB)).at(()))
    mark = begun.proposing(dict.fromkeys([*paths, "one"], BLOB))
    assert Mark.of(mark.text) == mark
    assert mark.is_of(list_id)
    assert not mark.is_of(f"{list_id}?")
    assert [mark.was_removed(path) for path in gone] == [
        path not in [*paths, "one"] for path in gone
    ]


def test_what_does_not_fit_stands_for_every_path() -> None:
    many = [str(number) for number in range(MOST_PATHS + 1)]
    text = NO_MARK.proposing(dict.fromkeys(many, BLOB)).text
    assert len(text) < 100
    found = Mark.of(text)
    assert found
    assert found.paths is None
    assert found.holds("anything")
    assert len(NO_MARK.proposing(dict.fromkeys(many[:-1], BLOB)).text) < 23_000


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


def test_what_was_written_is_told_from_what_was_not() -> None:
    begun = Mark.begin("list", COMMIT).proposing({"one": BLOB, "two": BLOB})
    mark = Mark.of(begun.proposing({"one": OTHER, "two": BLOB}).text)
    assert mark
    assert mark.has_written("one", OTHER)
    assert mark.has_written("one", BLOB)
    assert mark.has_written("two", BLOB)
    assert not mark.has_written("two", OTHER)
    assert not mark.has_written("three", BLOB)
    assert mark.is_current("one", OTHER)
    assert not mark.is_current("one", BLOB)
    again = mark.proposing({"one": BLOB, "two": BLOB})
    assert again.is_current("one", BLOB)
    assert not again.is_current("one", OTHER)
    assert again.has_written("one", OTHER)
    assert again.proposing({"one": BLOB, "two": BLOB}) == again


@pytest.mark.parametrize(
    "more", [Mark.begin("list", "4" * 40).text, Mark.begin("other", COMMIT).text]
)
def test_a_mark_put_together_from_two_knows_nothing_that_was_written(more: str) -> None:
    text = Mark.begin("list", COMMIT).proposing({"one": BLOB}).text
    mark, mixed = Mark.of(text), Mark.of(f"{text}\n{more}")
    assert mark
    assert mixed
    assert mark.has_written("one", BLOB)
    assert not mixed.has_written("one", BLOB)


def test_a_mark_knows_nothing_that_another_pull_request_wrote() -> None:
    one = Mark.begin("list", COMMIT).proposing({"one": BLOB})
    assert not one._replace(commit="4" * 40).has_written("one", BLOB)
    assert not one._replace(list="0123456789").has_written("one", BLOB)


def test_a_withdrawn_pull_request_says_so_until_it_is_wanted_again() -> None:
    mark = Mark.begin("list", COMMIT).proposing({"one": BLOB})
    text = mark._replace(is_withdrawn=True).text
    assert mark.text + f"\n{WITHDRAWN}" == text
    found = Mark.of(text)
    assert found
    assert found.is_withdrawn
    assert Mark.begin("list", COMMIT, found).text == mark.text
