"""A run warns of probable mistakes in a list before it writes to any repository."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import TARGET, Action


class Doubt(NamedTuple):
    """A list that earns a warning, and a list like it that does not."""

    earns: str
    words: str
    earn_not: str
    where: str = "entry 1, line 1"


def entry(**keys: object) -> str:
    """A list of one entry with the path ``a``."""
    given = {key: value for key, value in keys.items() if value is not None}
    return f"- {json.dumps({'path': 'a', **given})}\n"


NO_TEMPLATE = "a holds {owner}, which is not filled in, because the entry has no `template: true`"
LONG = "git on Windows cannot check out the path ddd"
OTHER = "*.txt filter=other\n"


def lfs(attributes: str) -> str:
    """A list with attributes of git, and a file."""
    return f"- {json.dumps({'path': '.gitattributes', 'content': attributes})}\n- a.png\n"


DOUBTS = {
    "too long for Windows": Doubt(
        f"- {'d' * 200}/{'a' * 59}\n",
        LONG,
        f"- path: {'d' * 200}/{'a' * 58}\n  alternatives: [{'d' * 200}/{'b' * 59}]\n",
    ),
    "too long for Windows, with a character that no font has": Doubt(
        f"- {'d' * 200}/\ue000{'a' * 58}\n", LONG, f"- {'d' * 200}/\ue000{'a' * 57}\n"
    ),
    "a comment before a line break of Windows": Doubt(
        "- path: docs/C #.md\r\n",
        "#.md behind the path docs/C is a comment of YAML",
        "- path: docs/C # .md\r\n",
    ),
    # More patterns, or longer ones, would take too long
    **{
        f"{name} for LFS": Doubt(
            lfs(f"{short}*.png filter=lfs"),
            "a.png matches an LFS pattern of",
            lfs(f"{long}*.png filter=lfs"),
            where="entry 2, line 2",
        )
        for name, short, long in (
            ("patterns", OTHER * 299, OTHER * 300),
            ("a pattern", "*" * 995, "*" * 996),
        )
    },
}


def warnings_of(action: Action, text: str) -> list[str]:
    """The warnings about a list."""
    name = action.write("list.yml", text)
    run = action(definitions=name, mode="validate", language="en", runner=True).or_fail()
    warnings = run.annotations("warning")
    for each in warnings:
        assert each.properties["file"] == name
        assert f"line {each.properties['line']}:" in each.data
    return [each.data for each in warnings]


@pytest.mark.parametrize("doubt", DOUBTS.values(), ids=DOUBTS)
def test_a_doubtful_list_is_warned_of_at_its_place(action: Action, doubt: Doubt) -> None:
    """The other ones are documents: tests/lists/warnings.md."""
    [warning] = warnings_of(action, doubt.earns)
    assert warning.startswith(f"list.yml, {doubt.where}: {doubt.words}")
    assert warnings_of(action, doubt.earn_not) == []


@pytest.mark.parametrize(
    ("content", "template", "expected"),
    [
        ("${{HOME}}/{repo}", True, "${HOME}/example"),
        ("${{user.name}} {{owner}}", True, "${user.name} {owner}"),
        ("${{{{ secrets.X }}}} {owner}", True, "${{ secrets.X }} octo"),
        ("${{ secrets.X }}", False, "${{ secrets.X }}"),
    ],
)
def test_what_a_template_may_hold_stays_right(
    action: Action, repository: Repository, content: str, template: bool, expected: str
) -> None:
    listed = action.write("list.yml", entry(path="new", content=content, template=template))
    run = action(definitions=listed, language="en", commit_strategy="single").or_fail()
    assert "Warning" not in run.text
    [branch] = [each for each in repository.branches if each != "main"]
    assert repository.files(branch)["new"] == expected.encode()


def test_what_is_wrong_is_told_at_once_with_what_may_be(action: Action, host: StandInHost) -> None:
    """In two entries, twice in one text, and warnings beside errors."""
    contents = ("{year}", "${{ x }}", "${{ secrets.A }} {month} {day", "{{ owner }}")
    listed = [
        {"path": path, "content": text, "template": True}
        for path, text in zip("abcd", contents, strict=True)
    ]
    name = action.write("list.json", json.dumps([*listed, "*"]))
    run = action(definitions=name, mode="validate", language="en", host_token="", target_repo="")
    assert (run.exit_code, host.requests) == (2, [])
    found = [
        (matched[1], matched[2])
        for line in run.stderr.splitlines()
        if (matched := re.match(r"(Error|Warning): list\.json, (entry \d).*", line))
    ]
    assert found == [
        ("Warning", "entry 4"),
        ("Warning", "entry 5"),
        ("Error", "entry 1"),
        ("Error", "entry 2"),
        ("Error", "entry 3"),
        ("Error", "entry 3"),
        ("Error", "entry 3"),
    ]
    for word in ("{year}", "{month}", "${{ x }}", "${{ secrets.A }}", "unmatched brace"):
        assert word in run.stderr


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"title": "a {{ repo }}"}, "title holds {{ repo }}, which is not filled in. Write {repo}"),
        ({"body": "{{owner }}"}, "body holds {{owner }}, which is not filled in. Write {owner}"),
        ({"labels": "{{ property:team }}"}, "labels holds {{ property:team }}, which"),
        ({"title": "a {{repo}} {{ other }}", "labels": "[bug], {other}, {{ other }}"}, ""),
        *(
            ({"target_repos": f"octo/*, {entry}"}, f"target_repos: {words}")
            for entry, words in (
                ("-property:tier=bron*", "property compares whole values: in tier=bron*, `*`"),
                ("property:tier=a|b", "property compares whole values: in tier=a|b, `*`"),
                ("-property:tier={owner}", "property compares with the value as it is written"),
                ("language:golang", "golang is not among the languages that GitHub recognises"),
            )
        ),
        ({"target_repos": "octo/*, -property:tier=a-b & c, language:c++, -topic:x"}, ""),
    ],
)
def test_inputs_warn_of_probable_mistakes(
    action: Action, inputs: dict[str, str], words: str
) -> None:
    run = action(inputs, definitions=action.listing("a"), language="en", mode="validate")
    assert run.exit_code == 0
    assert (f"Warning: {words}" in run.stderr) if words else run.stderr == ""


@pytest.mark.parametrize("mode", ["plan", "check", "register"])
@pytest.mark.parametrize("targets", ["", "octo/*"], ids=["one", "many"])
def test_every_mode_warns(action: Action, repository: Repository, mode: str, targets: str) -> None:
    name = action.write("list.yml", entry(content="{owner}"))
    run = action(definitions=name, mode=mode, target_repos=targets, language="en")
    assert f"Warning: list.yml, entry 1, line 1: {NO_TEMPLATE}" in run.console


# --- A list alone ---------------------------------------------------------------------------------


def test_a_list_is_validated_without_token_target_and_request(
    action: Action, host: StandInHost
) -> None:
    rules = "rules:\n  - when: {language: go}\n    files: [b, c]\n"
    name = action.write("list.yml", f"files: ['*', a]\n{rules}")
    run = action(definitions=name, mode="validate", language="en", host_token="", target_repo="")
    assert (run.exit_code, host.requests) == (0, [])
    said = "can be used, but has warnings (1), which are probably mistakes. Files: 4. Rules: 1."
    assert run.lines == [f"list.yml {said}"]
    assert "Warning: list.yml, entry 1, line 1: the path * is not a pattern" in run.stderr
    assert run.summary == f"## List\n\n- `list.yml` {said}\n"
    assert run.report == {"version": 1, "exit_code": 0, "errors": [], "registrations": []}


def test_built_in_lists_and_those_for_many_are_valid(action: Action, host: StandInHost) -> None:
    for inputs in ({"profile": "all"}, {"profile": "starter", "target_repos": f"{TARGET}, octo/*"}):
        run = action(inputs, mode="validate", language="en")
        assert (run.exit_code, run.stderr) == (0, "")
    assert host.requests == []


def test_files_that_are_not_missing_lead_to_sections_that_fit(action: Action) -> None:
    environ = action.environment({"definitions": action.listing("a"), "language": "en"})
    unwritable = action.start(environ, "--page", "/nonexistent/x.html")
    assert "#outputs-summary-or-report-are-missing" in unwritable.stderr
    large = action(definitions=action.write("large.yml", "#" * 2_000_001), language="en")
    assert "#definition-files" in large.stderr
    assert (unwritable.exit_code, large.exit_code) == (2, 2)
