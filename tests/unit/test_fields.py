"""Typed access to an answer: a field has its type, or the answer is unusable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from registrar.github.fields import Fields, UnusableAnswer, objects, text_or_texts

NO_URL = (
    None,
    1,
    "",
    "pull/1",
    "//example.com/",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "https://",
    "https://[::1/",
    "https://example.com/a b",
    "https://example.com/\n::error::x",
    "https://example.com/)](<img src=x>",
    "https://example.com/`x`",
)

WRONG: dict[Callable[[Fields, str], Any], tuple[Any, ...]] = {
    Fields.text: (None, 1, True, [], {}),
    Fields.number: (None, "1", "1](http://x)", 1.0, True, -1, []),
    Fields.id_number: (None, "1", 0, -1, True),
    Fields.flag: (None, 0, "true", []),
    Fields.object: (None, 0, "true", []),
    Fields.object_or_null: (0, "true", []),
    Fields.objects: (None, 0, "true", {}, [1], [None], [{}, []]),
    Fields.objects_or_null: (None, 0, "true", {}, [1], [{}, []]),
    Fields.object_id: (None, 7, "", "a" * 39, "a" * 41, "g" * 40),
    Fields.base64: (None, 7, ["YQ=="], "YQ", "é"),
    Fields.texts: (None, 7, "a", ["a", 7], {"a": "b"}),
    Fields.url: NO_URL,
    Fields.full_name: (
        *(None, 7, "", "octo", "octo/", "/x", "octo/x/y", "../x", "octo/..", "octo/."),
        *("octo/a b", "octo/x\n", "octo/日本", "1](http://evil.example)/x", "octo/x?y"),
    ),
}


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (Fields.text, "x"),
        (Fields.text, ""),
        (Fields.number, 0),
        (Fields.number, 7),
        (Fields.id_number, 1),
        (Fields.flag, False),
        (Fields.object_id, "a1" * 20),
        (Fields.object_id, "a1" * 32),
        (Fields.url, "https://github.com/octo/example/pull/1"),
        (Fields.url, "http://127.0.0.1:8080/pull/1"),
        (Fields.full_name, "Octo-Cat/ex.am_ple"),
        (Fields.full_name, "octo/..."),
        (Fields.full_name, "octo/.github"),
    ],
)
def test_a_field_of_its_type(read: Callable[[Fields, str], Any], value: Any) -> None:
    assert read(Fields({"a": value}), "a") == value


@pytest.mark.parametrize(
    ("read", "value"),
    [(read, value) for read, values in WRONG.items() for value in values],
)
def test_a_field_of_another_type(read: Callable[[Fields, str], Any], value: Any) -> None:
    with pytest.raises(UnusableAnswer, match=r"\$\.a"):
        read(Fields({"a": value}), "a")
    with pytest.raises(UnusableAnswer):
        read(Fields({}), "a")


@pytest.mark.parametrize("data", [None, 1, "x", [], [{}]])
def test_only_an_object_has_fields(data: Any) -> None:
    with pytest.raises(UnusableAnswer):
        Fields(data)


def test_what_may_be_missing() -> None:
    fields = Fields({"null": None, "a": "x", "b": {"c": "y"}})
    assert [fields.text_or(name, "-") for name in ("null", "none", "a")] == ["-", "-", "x"]
    assert fields.object_or_none("null") is None
    assert fields.object_or_none("none") is None
    inner = fields.object_or_none("b")
    assert inner
    assert inner.text("c") == "y"
    with pytest.raises(UnusableAnswer):
        fields.text_or("b", "-")
    with pytest.raises(UnusableAnswer):
        fields.object_or_none("a")


def test_a_text_or_several() -> None:
    assert list(map(text_or_texts, (None, "x", ["x", "y"]))) == [(), ("x",), ("x", "y")]
    for value in (7, ["x", 7]):
        with pytest.raises(UnusableAnswer):
            text_or_texts(value)


def test_an_array_of_objects() -> None:
    assert [each.number("n") for each in objects([{"n": 1}, {"n": 2}])] == [1, 2]
    assert [each.number("n") for each in Fields({"a": [{"n": 1}]}).objects("a")] == [1]
    with pytest.raises(UnusableAnswer):
        objects({"n": 1})
