"""`single`: where queries and commits are split, and what counts as done."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registrar.github.response import Response
from registrar.models import FileDefinition, parents
from registrar.strategies import single_commit

CONTENTS = st.lists(st.binary(max_size=60), max_size=30)


def test_parents_come_nearest_first() -> None:
    assert list(parents("a/b/c.md")) == ["a/b", "a"]
    assert list(parents("c.md")) == []


@pytest.mark.parametrize("count", [1, 99, 100, 101, 200, 201])
def test_queries_ask_for_every_path_once(count: int) -> None:
    paths = [str(number) for number in range(count)]
    chunks = list(single_commit._chunks(paths))
    assert [path for chunk in chunks for path in chunk] == paths
    assert {len(chunk) for chunk in chunks[:-1]} <= {single_commit.PATHS_PER_QUERY}
    assert len(chunks) == -(-count // single_commit.PATHS_PER_QUERY)


@given(CONTENTS, st.integers(1, 7), st.integers(1, 120))
def test_commits_hold_every_file_once_and_stay_within_the_borders(
    contents: list[bytes], files: int, size: int
) -> None:
    listed = [FileDefinition(str(number), content) for number, content in enumerate(contents)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_commit, "FILES_PER_COMMIT", files)
        patch.setattr(single_commit, "BYTES_PER_COMMIT", size)
        batches = list(single_commit._batches(listed))
    assert [file for batch in batches for file in batch] == listed
    for batch in batches:
        assert 1 <= len(batch) <= files
        assert len(batch) == 1 or sum(len(file.content) for file in batch) * 4 // 3 <= size


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"data": {"create": {"it": {"oid": "1"}}}}, {"oid": "1"}),
        ({"data": {"create": {"it": {"oid": "1"}}}, "errors": [{}]}, {"oid": "1"}),
        ({"data": {"create": {"it": {}}}}, None),
        ({"data": {"create": {"it": "1"}}}, None),
        ({"data": {"create": {"it": None}}}, None),
        ({"data": {"create": None}}, None),
        ({"data": {"create": []}}, None),
        ({"data": {}}, None),
        ({"data": []}, None),
        ({"data": None}, None),
        ({"errors": []}, None),
    ],
)
def test_a_mutation_counts_as_done_when_its_payload_says_what_it_made(
    data: Any, found: dict[str, str] | None
) -> None:
    assert single_commit._part(Response(200, {}, data), "create", "it", "oid") == found
