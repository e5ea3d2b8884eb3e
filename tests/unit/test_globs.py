"""Patterns of paths, by a table."""

from __future__ import annotations

import pytest

from registrar.lists import globs


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("a", "a", True),
        ("a", "b/a", False),
        ("a", "a/b", False),
        ("*", "a", True),
        ("*", "a/b", False),
        ("*.md", "README.md", True),
        (".github/*", ".github/a/b", False),
        (".github/**", ".github/a/b", True),
        ("**/b", "b", True),
        ("**/b", "a/b", True),
        ("**", "a/b/c", True),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/x/y/c", True),
        ("?.md", "a.md", True),
        ("?", "/", False),
        ("[id].md", "[id].md", True),
        ("[id].md", "i.md", False),
        ("*[!a]?", "x[!a]]", True),
        ("*a*b*c", "xaybzc", True),
        ("*a*b?c", "xaybzc", True),
        ("*a*b*c", "xaybz", False),
        (f"{'*a' * 400}b", "a" * 255, False),
        ("A", "a", False),
        ("**/**/**/**/**/**/**/**/x", "a/b/c/d/e/f/g/h", False),
        ("/".join(["*/**"] * 30), "/".join("a" * 29), False),
    ],
)
def test_a_pattern_matches_whole_paths(glob: str, path: str, expected: bool) -> None:
    assert (globs.matching([path], glob) == {path}) is expected
