"""The next run finishes the work of an earlier run, however that ended."""

from __future__ import annotations

import pytest

from tests.example import BRANCH, EXPECTED, LISTED, MISSING, PRESENT, Example
from tests.fakehub import Content, Executable, Refusal, Symlink
from tests.harness import refuse

SECOND = f"{BRANCH}-2"
SOME = dict(list(MISSING.items())[:2])


def leave(example: Example, files: dict[str, bytes], branch: str = BRANCH) -> None:
    """Create the branch of an interrupted run: one commit for each file, and no pull request."""
    example.repository.create_branch(branch)
    for path, content in files.items():
        example.repository.commit({path: content}, branch=branch, message=f"chore: add {path}")


@pytest.mark.parametrize("files", [{}, SOME, MISSING], ids=["empty", "some", "all"])
def test_a_leftover_branch_is_finished(example: Example, files: dict[str, bytes]) -> None:
    leave(example, files)
    run = example.run()
    assert (run.exit_code, example.wrong()) == (0, []), run.console
    assert f"Created: {len(MISSING) - len(files)}" in run.console
    assert f"Skipped: {len(PRESENT) + len(files)}" in run.console
    assert run.console.count("already on the working branch") == len(files)


def test_a_leftover_branch_is_finished_when_the_default_branch_moved_on(example: Example) -> None:
    leave(example, SOME)
    example.repository.commit({"src/main.py": b"pass\n"}, branch="main")
    example.run().or_fail()
    assert example.repository.files(BRANCH) == EXPECTED
    assert [pull.head for pull in example.repository.pull_requests] == [BRANCH]


def test_what_a_reviewer_wrote_around_our_part_survives_an_update(example: Example) -> None:
    example.host.refused_mutations = {"createCommitOnBranch": Refusal(422, "Not as a whole")}
    refuse(example.host, "PUT contents/AGENTS.md")
    assert example.run().exit_code == 1
    pull = example.repository.pull_requests[0]
    assert "| failed " in (pull.body or "")
    pull.body = f"Before.\r\n{(pull.body or '').replace(chr(10), chr(13) + chr(10))}\r\nAfter."
    example.host.faults.clear()
    example.host.refused_mutations = {}

    run = example.run()
    assert (run.exit_code, example.wrong()) == (0, []), run.console
    body = example.repository.pull_requests[0].body or ""
    assert body.startswith("Before.\r\n<!-- registrar:begin -->")
    assert body.endswith("<!-- registrar:end -->\r\nAfter.")
    assert "| failed " not in body


def test_a_branch_that_moved_on_after_it_was_declined_stays_declined(example: Example) -> None:
    example.run()
    example.repository.close(1)
    head = example.repository.commit({"mine.txt": b"mine\n"}, branch=BRANCH)
    run = example.run().or_fail()
    assert sorted(example.repository.branches) == [BRANCH, "main"]
    assert example.repository.head(BRANCH) == head
    assert f"Skipped: {len(LISTED)}" in run.console


@pytest.mark.parametrize(
    "own_work",
    [
        {"mine.txt": b"mine\n"},
        {"AGENTS.md": b"# Somebody's own words\n"},
        {"README.md": b"# Changed\n"},
        {"README.md": None},
        {"AGENTS.md": Symlink("\n")},
        {"AGENTS.md": Executable(b"\n")},
    ],
    ids=["another file", "another content", "a change", "a deletion", "a link", "executable"],
)
def test_a_branch_with_somebodys_own_work_is_left_alone(
    example: Example, own_work: dict[str, Content | None]
) -> None:
    leave(example, SOME)
    example.repository.commit(dict(own_work), branch=BRANCH, author=("A", "a@example.com"))
    assert_second_branch(example)


def test_a_branch_with_a_listed_file_that_the_default_branch_has_by_now(example: Example) -> None:
    leave(example, SOME)
    path = next(iter(SOME))
    example.repository.commit({path: b"their own\n"}, branch="main")
    example.run().or_fail()
    assert SECOND in example.repository.branches
    assert example.repository.files(SECOND)[path] == b"their own\n"


def assert_second_branch(example: Example) -> None:
    head = example.repository.head(BRANCH)
    example.run().or_fail()
    assert example.repository.head(BRANCH) == head
    assert example.repository.files(SECOND) == EXPECTED
    assert [p.head for p in example.repository.pull_requests if p.state == "open"][-1] == SECOND
