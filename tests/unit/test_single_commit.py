"""`single`: how many files and bytes go into one commit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registrar.models.files import parents
from registrar.registration import rest_writer
from tests.values import file_of

CONTENTS = st.lists(st.binary(max_size=60), max_size=30)


def test_parents_come_nearest_first() -> None:
    assert list(parents("a/b/c.md")) == ["a/b", "a"]
    assert list(parents("c.md")) == []


@given(CONTENTS, st.integers(1, 7), st.integers(1, 120))
def test_commits_hold_every_file_once_and_stay_within_the_borders(
    contents: list[bytes], files: int, size: int
) -> None:
    listed = [file_of(str(number), content) for number, content in enumerate(contents)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rest_writer, "FILES_PER_COMMIT", files)
        patch.setattr(rest_writer, "BYTES_PER_COMMIT", size)
        batches = list(rest_writer.batches(listed))
    assert [file for batch in batches for file in batch] == listed
    for batch in batches:
        assert 1 <= len(batch) <= files
        assert len(batch) == 1 or sum(len(file.content) for file in batch) * 4 // 3 <= size
