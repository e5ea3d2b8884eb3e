"""`single`: the one commit, its message, its bytes, and where it is split."""

from __future__ import annotations

import pytest

from registrar.registration.single import FILES_PER_COMMIT
from tests.contract.test_built_in_lists import HEALTH, SCAFFOLD
from tests.fakehub import Repository, StandInHost
from tests.harness import (
    HEALTH_BRANCH,
    SCAFFOLD_BRANCH,
    STRATEGIES,
    Action,
    Start,
    calls,
    mutations,
)


def message_of(repository: Repository, branch: str) -> str:
    return repository.log(branch)[0].message


@pytest.mark.parametrize(
    ("profile", "branch", "headline", "files"),
    [
        ("scaffold", SCAFFOLD_BRANCH, "chore: add scaffold files", list(SCAFFOLD)),
        ("health", HEALTH_BRANCH, "docs: add community health files", list(HEALTH)),
    ],
)
def test_one_commit_whose_message_lists_the_paths(
    single: Start,
    host: StandInHost,
    repository: Repository,
    profile: str,
    branch: str,
    headline: str,
    files: list[str],
) -> None:
    created = [path for path in files if path not in repository.files()]
    run = single(profile=profile)
    assert run.exit_code == 0, run.text
    first, *before = repository.log(branch)
    assert [commit.sha for commit in before] == [commit.sha for commit in repository.log()]
    assert sorted(first.paths) == sorted(created)
    lines = first.message.rstrip("\n").split("\n")
    assert lines[:2] == [headline, ""]
    assert lines[2:] == [f"- {path}" for path in created]
    assert repository.pull_requests[0].title == headline


def test_no_author_is_sent_so_github_signs(
    single: Start, host: StandInHost, repository: Repository
) -> None:
    assert single().exit_code == 0
    [request] = mutations(host)
    assert set(request.json["variables"]["commit"]) == {
        "branch",
        "expectedHeadOid",
        "fileChanges",
        "message",
    }
    commit = repository.git[repository.head(SCAFFOLD_BRANCH)]
    assert commit.committer.email == "noreply@github.com"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_contents_arrive_byte_for_byte(
    action: Action, repository: Repository, strategy: str
) -> None:
    contents = {
        "utf-8": "é 日本語 😀\n",
        "crlf": "a\r\nb\r\n",
        "cr": "a\rb",
        "no line feed": "a",
        "empty": "",
        "absent": None,
        "nul": "a\0b",
        "byte order mark": "\ufeffa\n",
        "large": "0123456789" * 30_000,
    }
    run = action(commit_strategy=strategy, definitions=action.listing_of(contents))
    assert run.exit_code == 0, run.text
    expected = {k: b"\n" if v is None else v.encode() for k, v in contents.items()}
    assert repository.files(SCAFFOLD_BRANCH) == repository.files() | expected


def test_more_files_than_one_commit_takes(
    single: Start, host: StandInHost, repository: Repository, action: Action
) -> None:
    count = FILES_PER_COMMIT + 1
    run = single(definitions=action.listing_of({f"{number:04}": "x" for number in range(count)}))
    assert run.exit_code == 0, run.text
    sizes = [len(commit.paths) for commit in repository.log(SCAFFOLD_BRANCH)[:-1]]
    assert sizes == [1, FILES_PER_COMMIT]
    assert run.outputs["created"] == str(count)
    assert calls(host)[1:] == ["POST git/refs", "POST /graphql", "POST /graphql", "POST pulls"]
    assert len(repository.pull_requests) == 1
