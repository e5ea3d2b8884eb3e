"""The hidden mark of what a pull request proposes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registrar.registration import mark

PATHS = st.lists(st.text(min_size=1), unique=True, max_size=20)


@given(PATHS, PATHS)
def test_a_mark_names_its_paths_and_no_other(proposed: list[str], others: list[str]) -> None:
    body = f"Before\r\n{mark.of_paths(proposed)}\r\nAfter"
    found = mark.proposed(body, [*proposed, *others])
    assert found == frozenset([*proposed, *(others if not proposed else [])])


def test_what_does_not_fit_stands_for_every_path() -> None:
    many = [str(number) for number in range(mark.MOST_PATHS + 1)]
    text = mark.of_paths(many)
    assert len(text) < 100
    assert mark.proposed(text, ["anything"]) == frozenset({"anything"})
    assert len(mark.of_paths(many[:-1])) < 12_000


@pytest.mark.parametrize(
    "body", ["", "words", "<!-- registrar:paths zz -->", "<!-- registrar:begin -->"]
)
def test_a_description_without_a_mark_says_nothing(body: str) -> None:
    assert mark.proposed(body, ["a"]) is None
