"""The texts and paths that a run may publish, if others can read its log."""

from __future__ import annotations

from typing import Any, cast

from registrar.models.files import FileDefinition
from registrar.models.paths import ListedPath, Present
from registrar.models.record import Record
from registrar.models.repository import Repository
from registrar.models.standing import PresentFile, Standing
from registrar.privacy import Privacy
from registrar.texts.escaping import FoundPath, Lines
from registrar.texts.messages import msg

INSTEAD = "(not shown)"


def test_githubs_words_are_shown_only_where_nobody_else_reads_them() -> None:
    made = Privacy("", INSTEAD)
    assert made.text(Lines("No: x")) == "No: x"
    made.hide_words()
    assert made.text(Lines("No: x")) == INSTEAD


def test_of_one_repository_only_listed_paths_are_named_until_it_is_known_to_be_public() -> None:
    made = Privacy("", INSTEAD)
    made.of_one(frozenset({"docs/SECURITY.md"}))
    texts = (FoundPath("docs/SECURITY.md"), FoundPath("acme/x"), Lines("No: x"), "acme")
    for visibility in ("", "private", "internal"):
        made.identify(Repository("o/r", visibility=visibility))
        assert [*map(made.text, texts)] == ["docs/SECURITY.md", "…", INSTEAD, "acme"]
    made.identify(Repository("o/r", visibility="public"))
    assert [*map(made.text, texts)] == [*texts]


def test_of_a_listed_path_no_other_file_is_named() -> None:
    present = PresentFile(Standing.SAME, "acme/x", "b10b")
    plan = Present(present, msg("reason.satisfied", path=FoundPath("acme/x")))
    listed = ListedPath(FileDefinition("a.md"), plan, hides="acme/y", used_instead="acme/z")
    row = Record(cast("Any", None), Repository("o/r"), paths={"a.md": listed})
    made = Privacy("", INSTEAD)
    assert made.row(row) is row
    made.of_one(frozenset({"a.md"}))
    [shown] = made.row(row).files
    assert shown == listed._replace(
        plan=plan._replace(file=present._replace(path="a.md")), hides="", used_instead=""
    )
