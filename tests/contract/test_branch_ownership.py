"""Neither the default branch nor a branch of other people is ever written to."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.example import A_AND_B, BRANCH, EXPECTED, PRESENT, Example
from tests.fakehub import (
    Refusal,
    Repository,
    Request,
    StandInHost,
)
from tests.harness import PER_FILE, SINGLE, Action, meanwhile, refuse, shortened

THEIRS = {"mine.txt": b"mine\n"}
AUTHOR = ("A", "a@example.com")


def makes_branch(request: Request, name: str = BRANCH) -> bool:
    """Whether a request asks for a new branch, by REST or GraphQL."""
    if shortened(request) == "POST git/refs":
        return bool(request.json["ref"] == f"refs/heads/{name}")
    variables = request.json and request.json.get("variables")
    return bool(variables and (variables.get("ref") or {}).get("name") == f"refs/heads/{name}")


def before_the_branch(host: StandInHost, do: Callable[[], object], name: str = BRANCH) -> None:
    """Let somebody act when the request that makes the branch has arrived and is not done yet."""
    meanwhile(host, lambda request: makes_branch(request, name), do)


def taken(repository: Repository, branch: str, at: str | None = None) -> None:
    """Somebody's own work on a branch."""
    repository.person.create_branch(branch, at)
    repository.person.commit(dict(THEIRS), branch=branch, author=AUTHOR)


# --- The default branch ---------------------------------------------------------------------


def test_a_branch_that_becomes_the_default_branch_in_between_is_not_written_to(
    host: StandInHost, example: Example
) -> None:
    """It holds only files of ours, so only its name tells whose it is."""
    example.repository.person.create_branch("docs")

    def act() -> None:
        example.repository.person.create_branch(BRANCH)
        example.repository.person.commit({"AGENTS.md": b"\n"}, branch=BRANCH)
        example.repository.person.open_pull_request(head=BRANCH, base="docs", title="Theirs")
        example.repository.person.change(default_branch=BRANCH)

    before_the_branch(host, act)
    run = example.run()
    # With one request for everything a pull request was opened, and closed again
    assert run.exit_code == (1 if example.strategy == SINGLE else 2), run.console
    assert f"The working branch {BRANCH} is the default branch" in run.console
    open_ones = [p.title for p in example.repository.pull_requests if p.state == "open"]
    assert open_ones == ["Theirs"]
    assert example.repository.files(BRANCH) == PRESENT | {"AGENTS.md": b"\n"}


# --- Branches of other people ---------------------------------------------------------------


def test_where_github_lists_no_tree_a_branch_that_also_changes_a_file_is_somebodys(
    host: StandInHost, action: Action
) -> None:
    """The comparison is all that is known of a repository that is too large to be listed."""
    example = Example(action, PER_FILE)
    cut = {"sha": "1" * 40, "url": "https://x.example", "tree": [], "truncated": True}
    refuse(host, lambda request: "/git/trees/" in request.path, 200, body=cut)
    example.repository.person.create_branch("theirs")
    example.repository.person.commit({"a.md": b"A\n", "README.md": b"Mine\n"}, branch="theirs")
    head = example.repository.head("theirs")
    example.run(branch="theirs", definitions=action.listing_of(A_AND_B)).or_fail()
    assert example.repository.head("theirs") == head
    assert [pull.head for pull in example.repository.pull_requests] == ["theirs-2"]


def test_the_branch_that_the_run_made_itself_is_not_called_found(
    host: StandInHost, example: Example
) -> None:
    host.refused_mutations = {"createCommitOnBranch": Refusal(422, "Not as a whole")}
    run = example.run(branch="theirs").or_fail()
    assert example.repository.files("theirs") == EXPECTED
    assert "existed already" not in run.console


# --- A branch that is left behind -----------------------------------------------------------


@pytest.mark.parametrize(("branch", "next_one"), [("", BRANCH), ("own#1%", "own#1%-2")])
def test_a_branch_that_a_refused_commit_leaves_is_named(
    example: Example, action: Action, branch: str, next_one: str
) -> None:
    """Of a name that people may have chosen, too, the next run takes the next one."""
    given = example.inputs | ({"branch": branch} if branch else {})
    name = branch or BRANCH
    example.repository.person.protect(name, "classic")
    refused = action(given, env=action.keeping)
    assert refused.exit_code == 1
    assert example.repository.head(name) == example.repository.head()
    left = f"the branch {name} is left without one. The next run"
    advice = "Delete the branch" if branch else "The next run uses it"
    page = action.kept(refused, "page")
    assert "that have no commit, because GitHub refused it: 1." in page
    assert f'/tree/{quote(name)}"><code>{name}</code></a>' in page
    [registration] = refused.report["registrations"]
    [note] = [each for each in registration["notes"] if left in each]
    assert advice in note
    assert note in refused.stdout
    assert left in refused.summary.replace("`", "").replace("\\", "")
    example.repository.person.unprotect()
    assert action(given).outputs["branch"] == next_one
