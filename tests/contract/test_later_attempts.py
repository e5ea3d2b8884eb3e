"""A later attempt of a workflow run has the list of the first one, and sets no file back to it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from itertools import cycle

import pytest

from tests.example import MANY, WAYS
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, TARGET, Action, Run, refuse

OWN = "octo/lists"
LIST = "config/list.yml"
LISTED = "- {path: a, content_file: texts/a}\n"
LEFT = "This is a later attempt of a workflow run, which has the list of the first attempt"

UNLISTED = "no longer listed"


@dataclass
class Workflow:
    """Runs of a workflow in the repository `OWN`, which has the list."""

    action: Action
    own: Repository
    given: dict[str, str]

    def check_out(self, text: str, more: str = "") -> None:
        """Commit a version of the list, and check it out."""
        files = {LIST: f"{LISTED}{more}", "config/texts/a": text}
        commit = self.own.person.commit({path: each.encode() for path, each in files.items()})
        self.go_back(commit, files)

    def go_back(self, commit: str, files: dict[str, str]) -> None:
        for path, each in files.items():
            self.action.write(path, each)
        git = self.action.workspace / ".git"
        shutil.rmtree(git, ignore_errors=True)
        for arguments in (["init", "-q"], ["add", "--all"]):
            subprocess.run(["git", "-C", str(self.action.workspace), *arguments], check=True)
        (git / "HEAD").write_text(f"{commit}\n")

    def run(self, attempt: str = "", reference: str = "refs/heads/main", **more: str) -> Run:
        env = {
            "GITHUB_REPOSITORY": OWN,
            "GITHUB_REF": reference,
            "GITHUB_RUN_ATTEMPT": attempt,
        }
        given = {"definitions": LIST, "workflow_visibility": "private", **self.given, **more}
        return self.action(given, env=env, runner=True, language="en").or_fail()


@pytest.fixture(params=WAYS)
def workflow(request: pytest.FixtureRequest, action: Action, host: StandInHost) -> Workflow:
    way = {"commit_strategy": request.param}
    if request.param == MANY:
        way = {"target_repos": f"{TARGET}, octo/*, !{OWN}"}
    return Workflow(action, host.create_repository(OWN, {"x": b""}), way)


def compared(host: StandInHost) -> int:
    return sum(f"/repos/{OWN}/compare/" in each.path for each in host.requests)


@pytest.mark.usefixtures("repository")
def test_a_later_attempt_leaves_files_of_a_newer_list_and_creates_the_others(
    workflow: Workflow, repository: Repository, host: StandInHost
) -> None:
    workflow.check_out("old\n")
    workflow.run("1").or_fail()
    first = workflow.own.head()
    workflow.check_out("new\n", "- c\n")
    workflow.run("1")
    assert repository.files(LIST_BRANCH)["a"] == b"new\n"
    workflow.go_back(first, {LIST: f"{LISTED}- b\n", "config/texts/a": "old\n"})
    host.requests.clear()
    for mode in ("plan", "register", "register"):
        run = workflow.run("2", mode=mode)
        assert LEFT in run.console, run.console
        assert LEFT in run.summary, run.summary
    assert compared(host) == 3
    files = repository.files(LIST_BRANCH)
    assert (files["a"], files["b"]) == (b"new\n", b"\n")
    [pull] = repository.pull_requests
    assert all(f"| `{path}` |" in (pull.body or "") for path in "abc")
    assert UNLISTED not in (pull.body or "")
    # Only the description would change
    workflow.go_back(first, {LIST: f"{LISTED}- b\n", "config/texts/a": "new\n"})
    for mode in ("plan", "register"):
        run = workflow.run("2", mode=mode)
        assert f"{LEFT}, and the branch main may have a newer version" in run.console, run.console
        assert "will update the description" not in run.text
    assert repository.pull_requests == [pull]


MAY_BE_OLDER: tuple[tuple[dict[str, bytes | None], str, str, int, str], ...] = (
    ({}, "2", "refs/heads/main", 0, "newer\n"),
    ({"other": b""}, "2", "refs/heads/main", 0, "newer\n"),
    ({LIST: b"- a\n"}, "1", "refs/heads/main", 0, "newer\n"),
    ({LIST: b"- a\n"}, "", "refs/heads/main", 0, "newer\n"),
    ({LIST: b"- a\n"}, "2", "refs/tags/v1", 0, "newer\n"),
    ({LIST: b"- a\n"}, "3", "refs/heads/main", 0, "new\n"),
    ({"config/texts/a": b"z"}, "2", "refs/heads/main", 0, "new\n"),
    ({LIST: None, "moved.yml": LISTED.encode()}, "2", "refs/heads/main", 0, "new\n"),
    # It is not known
    ({}, "2", "refs/heads/main", 404, "new\n"),
    ({}, "2", "refs/heads/main", 403, "new\n"),
    ({}, "2", "refs/heads/gone", 0, "new\n"),
)


@pytest.mark.parametrize(
    ("workflow", "changed", "attempt", "reference", "status", "text"),
    [(way, *row) for way, row in zip(cycle(WAYS), MAY_BE_OLDER, strict=False)],
    indirect=["workflow"],
)
def test_only_a_list_that_may_be_older_leaves_a_file_as_it_is(
    workflow: Workflow,
    repository: Repository,
    host: StandInHost,
    changed: dict[str, bytes | None],
    attempt: str,
    reference: str,
    status: int,
    text: str,
) -> None:
    """All ways decide with one function, so each row takes the next way."""
    workflow.check_out("new\n", "- c\n")
    workflow.run("2")
    assert compared(host) == 0
    workflow.check_out("newer\n")
    if changed:
        workflow.own.person.commit(changed)
    if status:
        refuse(host, lambda request: "/compare/" in request.path, status)
    run = workflow.run(attempt, reference)
    assert repository.files(LIST_BRANCH)["a"] == text.encode(), run.text
    assert (LEFT in run.text) is (text == "new\n")
    assert (UNLISTED in (repository.pull_requests[0].body or "")) is (text == "newer\n")
    assert compared(host) == (attempt in {"2", "3"} and "heads" in reference)
