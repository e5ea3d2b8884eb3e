"""Which answers mean that a file exists, which mean that it is missing, and which are errors."""

from __future__ import annotations

import pytest

from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost
from tests.harness import LIST_BRANCH, TARGET, Action, calls, refuse, shortened, writes

PATH = "docs/guide.md"


def checks(request: Request) -> bool:
    """Whether this is the existence check of the one path."""
    return shortened(request) == f"GET contents/{PATH}"


@pytest.fixture
def definitions(action: Action) -> str:
    """A definition file that lists one path."""
    return action.write("list.json", f'[{{"path": "{PATH}"}}]')


def test_a_file_that_github_does_not_show_is_there(
    action: Action, host: StandInHost, repository: Repository, definitions: str
) -> None:
    """Above 100 MB, and above 1 MB in an old Enterprise Server."""
    host.quirks.most_shown = 1 << 20
    repository.commit({PATH: b"x" * 1_100_000})
    run = action(definitions=definitions, language="en").or_fail()
    assert writes(host) == []
    assert f"[1/1] {PATH}: exists" in run.lines


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (404, "No commit found for the ref main"),
        (404, "This repository is empty."),
        (404, "not found"),
        (403, "Not Found"),
        (410, "Not Found"),
        (422, "path contains a malformed path component"),
    ],
)
def test_any_other_refusal_stops_the_run_before_the_first_write(
    action: Action,
    host: StandInHost,
    repository: Repository,
    definitions: str,
    status: int,
    message: str,
) -> None:
    refuse(host, checks, status, message=message)
    run = action(definitions=definitions, language="en")
    assert run.exit_code != 0
    assert writes(host) == []
    assert PATH in run.stderr
    assert message in run.stderr
    assert run.lines[-8:][3] == f"Repository: {TARGET}"


@pytest.mark.parametrize(
    "kind",
    [
        FaultKind.HTML_200,
        FaultKind.EMPTY_200,
        FaultKind.WRONG_LIST,
        FaultKind.WRONG_OBJECT,
        FaultKind.CUT_JSON,
        FaultKind.ERROR_502_HTML,
        FaultKind.ERROR_LIST,
    ],
)
def test_an_answer_that_describes_nothing_is_asked_for_again(
    action: Action,
    host: StandInHost,
    repository: Repository,
    definitions: str,
    kind: FaultKind,
) -> None:
    host.faults.add(Fault(kind, match=checks))
    run = action(definitions=definitions, language="en").or_fail()
    assert calls(host).count(f"GET contents/{PATH}") == 2
    assert PATH in repository.files(LIST_BRANCH)
    assert "Waiting 1 s: " in run.stdout


def test_a_proxy_that_answers_everything_makes_no_file_present(
    action: Action, host: StandInHost, repository: Repository, definitions: str
) -> None:
    host.faults.add(Fault(FaultKind.HTML_200, match=checks, times=None))
    run = action(definitions=definitions, language="en")
    assert run.exit_code == 1
    assert writes(host) == []
    assert "a proxy may have given it" in run.stderr
    assert run.outputs["skipped"] == "0"
