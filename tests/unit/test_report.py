"""Texts of results that tests through the entry point cannot reach in reasonable time."""

from __future__ import annotations

import contextlib
import signal
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registrar.errors import Cancelled, Failure, Refused
from registrar.lists.profiles import SCAFFOLD
from registrar.models.files import FileDefinition
from registrar.models.paths import Done, Leave, ListedPath, Why, by_path
from registrar.models.record import Record
from registrar.models.repository import Repository
from registrar.models.run_result import RunResult
from registrar.models.standing import Standing
from registrar.registration.proposal import BODY_CHARACTERS, Proposal
from registrar.reporting.summary import cut, of_one
from registrar.texts import escaping
from registrar.texts.messages import LANGUAGES, Catalogue, msg
from tests.gfm import only_ours
from tests.values import file_of, in_state, record, spec

LIMIT = 65_536
CATALOGUES = {language: Catalogue(language) for language in LANGUAGES}


def result(path: str, done: Done = Done.CREATED, description: str = "") -> ListedPath:
    """Return the outcome of one path; a created file is on the branch."""
    definition = FileDefinition(path, description=description)
    standing = Standing.PROPOSED if done is Done.CREATED else Standing.TO_CREATE
    return in_state(definition, standing, done)


def proposal(language: str = "en") -> Proposal:
    """Return a proposal in a language, without texts of the caller."""
    return Proposal(spec(defaults=SCAFFOLD.defaults), CATALOGUES[language])


def registration(*files: ListedPath) -> Record:
    """Return the result of a registration."""
    job = spec(defaults=SCAFFOLD.defaults)
    return Record(job, Repository(job.target, "", ""), paths=by_path(files))


def rows(markdown: str) -> list[str]:
    """Return the paths of a table."""
    return list(only_ours(markdown).paths)


@pytest.mark.parametrize("count", [29, 2000])
@pytest.mark.parametrize(
    ("language", "name"),
    [("en", "docs/{}.md"), ("ja", "日本語/{}"), ("en", "😀/{}"), ("ja", "@<&|{0}" * 10)],
)
def test_a_body_is_never_longer_than_github_takes(language: str, count: int, name: str) -> None:
    files = [result(name.format(number), description="x|y" * 5) for number in range(count)]
    body = proposal(language).body(registration(*files))
    assert escaping.characters(body) <= LIMIT
    shown = len(rows(body))
    if shown < count:
        assert CATALOGUES[language].text(msg("label.more", count=count - shown)) in body
        # The text uses nearly all of the allowed length
        assert escaping.characters(body) > LIMIT - 1000
    else:
        assert shown == count


@given(st.lists(st.text(min_size=1, max_size=3000), max_size=40))
@settings(deadline=None, max_examples=40)
def test_a_body_keeps_to_the_limit_whatever_it_holds(paths: list[str]) -> None:
    body = proposal().body(registration(*map(result, paths)))
    assert escaping.characters(body) <= LIMIT == BODY_CHARACTERS
    assert body.startswith("<!-- registrar:begin -->\n")
    assert body.endswith("\n<!-- registrar:end -->")


def test_paths_are_listed_by_urgency_then_in_the_order_of_the_list() -> None:
    done = [Done.SKIPPED, Done.CREATED, Done.PENDING, Done.FAILED, Done.CREATED]
    files = [result(f"{number}-{state}", state) for number, state in enumerate(done)]
    body = proposal().body(registration(*files))
    expected = ["3-failed", "1-created", "4-created", "2-pending", "0-skipped"]
    assert rows(body) == expected
    assert rows(of_one(registration(*files), CATALOGUES["en"])) == expected


@pytest.mark.parametrize(("length", "shown"), [(300, "x" * 300), (301, f"{'x' * 300}…")])
def test_a_description_that_is_too_long_is_cut(length: int, shown: str) -> None:
    body = proposal().body(registration(result("a", description="x" * length)))
    assert f"| {shown} |" in body


def test_reasons_with_several_lines_stay_in_their_row() -> None:
    why = msg("refusal.other", words=escaping.Lines("x\n\ny"), status=422)
    file = result("a", Done.FAILED)
    file = file._replace(plan=Leave(Why.EDITED, file.done, why))
    page = only_ours(of_one(registration(file), CATALOGUES["en"]))
    assert page.paths == {"a": ["failed (xy (HTTP 422))", ""]}
    assert "`x`<br>`y`" in page.markdown


def test_a_plan_that_failed_gives_no_advice_to_run_it_for_good() -> None:
    plan = record("octo/a", {"a": Standing.TO_CREATE})
    failed = replace(plan, failure=Failure.of(msg("reason.unknown")))
    shown = ["without `mode: plan`" in of_one(each, CATALOGUES["en"]) for each in (plan, failed)]
    assert shown == [True, False]


@pytest.mark.parametrize("size", [600, 900, 1500, 3000, 10**6])
@pytest.mark.parametrize("content", [b"x\n" * 30, b"</details>\n```\n<details>\n" * 10])
def test_a_summary_that_is_cut_leaves_nothing_open(size: int, content: bytes) -> None:
    files = [
        in_state(file_of(f"docs/{number}.md", content), Standing.TO_CREATE, Done.TO_CREATE)
        for number in range(9)
    ]
    whole = of_one(registration(*files), CATALOGUES["en"])
    text = cut(whole, size, "(cut)")
    assert len(text.encode()) <= size
    assert (text == whole) is (len(whole.encode()) <= size)
    if text != whole:
        assert text.endswith("\n\n(cut)\n")
    lines = text.splitlines()
    opened = sum(line.startswith("<details") for line in lines)
    assert lines.count("</details>") == opened
    assert sum(line.startswith("```") for line in lines) % 2 == 0


@pytest.mark.parametrize(
    ("exit_codes", "error", "expected"),
    [
        ([0], None, 0),
        ([0, 0], None, 0),
        ([2, 2], None, 2),
        ([0, 2], None, 1),
        ([1, 0], None, 1),
        ([130], None, 130),
        ([0, 143], None, 143),
        ([], Refused(msg("input.token_missing")), 2),
        ([0], Refused(msg("input.token_missing")), 1),
        ([0], Cancelled(signal.SIGINT), 130),
        ([], ValueError(), 1),
    ],
)
def test_one_exit_code_for_all_registrations(
    exit_codes: list[int], error: BaseException | None, expected: int
) -> None:
    results = [replace(registration(), exit_code=code) for code in exit_codes]
    run = RunResult(results)
    if error:
        with contextlib.suppress(type(error)):
            raise error
        run.end_with(error)
    assert run.exit_code == expected
