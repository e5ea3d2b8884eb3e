"""Several lists for one repository: each has a pull request of its own."""

from __future__ import annotations

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import Action, Run, Start, only_reads

UNNAMED = "chore/add-missing-files"
MANY = {"target_repo": "", "target_repos": "octo/*"}


def register(start: Start, action: Action, name: str, paths: str, **more: str | None) -> Run:
    """Run with a list in a file of this name."""
    return start(definitions=action.write(name, f"files: [{paths}]\n"), profile=None, **more)


def named(start: Start, action: Action, name: str, path: str = "list.yml", **more: str) -> None:
    """Run with a list of this name."""
    listed = action.write(path, f"name: {name}\nfiles: [a]\n")
    run = start(more, definitions=listed, profile=None)
    assert run.exit_code == 0, run.text


def shown(repository: Repository) -> list[tuple[str, str]]:
    """Branch and state of every pull request."""
    return [(pull.head, pull.state) for pull in repository.pull_requests]


def test_lists_without_names_are_told_apart_by_their_paths(
    start: Start, action: Action, repository: Repository
) -> None:
    assert register(start, action, "one.yml", "a").exit_code == 0
    [first] = repository.pull_requests
    text = first.body
    run = register(start, action, "two.yml", "b", body="Mine")
    assert (run.exit_code, run.outputs["branch"]) == (0, f"{UNNAMED}-2"), run.text
    assert shown(repository) == [(UNNAMED, "open"), (f"{UNNAMED}-2", "open")]
    assert first.body == text
    assert repository.files(UNNAMED).keys() - repository.files().keys() == {"a"}
    second = repository.pull_requests[1]
    for place in (run.stdout, run.summary, second.body or ""):
        assert "#1" in place, "that it goes around another list's"
    text_of_second = second.body
    again = register(start, action, "two.yml", "b")
    assert (again.outputs["pull_request_operation"], second.body) == ("none", text_of_second)
    assert "#1" in again.summary
    for name, paths in (("./one.yml", "a, c"), ("x/../two.yml", "b, d")):
        action.write("x/.keep", "")
        again = register(start, action, name, paths)
        assert again.exit_code == 0, again.text
    assert len(repository.pull_requests) == 2
    assert repository.files(UNNAMED).keys() - repository.files().keys() == {"a", "c"}
    assert repository.files(f"{UNNAMED}-2").keys() - repository.files().keys() == {"b", "d"}


def test_what_one_list_was_refused_another_one_may_propose(
    start: Start, action: Action, repository: Repository
) -> None:
    register(start, action, "one.yml", "a, b")
    repository.close(1)
    assert register(start, action, "one.yml", "a, b").outputs["created"] == "0"
    assert register(start, action, "two.yml", "a").outputs["created"] == "1"
    assert shown(repository) == [(UNNAMED, "closed"), (f"{UNNAMED}-2", "open")]


def test_a_list_with_another_name_starts_anew(
    start: Start, action: Action, repository: Repository
) -> None:
    for name in ("old", "new", "new"):
        named(start, action, name)
    both = ["chore/add-old-files", "chore/add-new-files"]
    assert shown(repository) == [(branch, "open") for branch in both]
    repository.close(1)
    repository.close(2)
    named(start, action, "newest")
    assert shown(repository)[-1] == ("chore/add-newest-files", "open")
    # As long as it has a name, it keeps its pull request when its file is moved
    named(start, action, "newest", ".github/other.yml")
    assert len(shown(repository)) == 3


# Without its name there, nobody knows whose it is
@pytest.mark.parametrize("given", [{}, {"branch": "service"}])
def test_a_branch_without_a_commit_is_continued_where_the_list_has_named_it(
    start: Start, action: Action, repository: Repository, given: dict[str, str]
) -> None:
    branch = given.get("branch", "chore/add-service-files")
    repository.create_branch(branch)
    named(start, action, "service", **given)
    assert shown(repository) == [(f"{branch}-2" if given else branch, "open")]


def test_a_list_of_ones_own_with_a_profile_is_not_the_built_in_one(
    start: Start, action: Action, repository: Repository
) -> None:
    assert start(profile="health").exit_code == 0
    listed = action.write("list.yml", "files: [a]\n")
    run = start(profile="health", definitions=listed)
    assert run.exit_code == 0, run.text
    branch = repository.pull_requests[0].head
    assert shown(repository) == [(branch, "open"), (f"{branch}-2", "open")]


def test_many_repositories_and_one_agree_on_which_list_it_is(
    start: Start, action: Action, repository: Repository
) -> None:
    def many(name: str, paths: str, mode: str = "register") -> Run:
        more = {**MANY, "mode": mode}
        return register(action, action, name, paths, language="en", **more)

    register(start, action, "one.yml", "a")
    assert many("one.yml", "a").outputs["created"] == "0"
    plan = many("two.yml", "b", "plan")
    assert plan.exit_code == 0, plan.text
    run = many("two.yml", "b")
    assert run.exit_code == 0, run.text
    register(start, action, "two.yml", "b, c")
    assert shown(repository) == [(UNNAMED, "open"), (f"{UNNAMED}-2", "open")]
    added = repository.files(f"{UNNAMED}-2").keys() - repository.files().keys()
    assert added == {"b", "c"}


def test_over_many_the_text_is_brought_up_to_date_only_together_with_the_branch(
    single: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    register(single, action, "list.yml", "a, old", **MANY)
    [pull] = repository.pull_requests
    text = pull.body
    host.requests.clear()
    register(single, action, "list.yml", "a", **MANY)
    assert (pull.body, only_reads(host)) == (text, True)
    register(single, action, "list.yml", "a, new", **MANY)
    assert "| `old` | added (no longer listed) |" in (pull.body or "")
    assert len(repository.pull_requests) == 1
