"""An open pull request follows its list: what is still as this action wrote it, no more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.example import Example
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import Run, is_read, shortened

OLD = {"SECURITY.md": "Write to security@example.com\n", "a.md": "A\n", "b.md": "B\n"}
NEW = OLD | {"SECURITY.md": "Write to psirt@example.com\n"}
BOTH = NEW | {"a.md": "A, too\n"}


def run(example: Example, contents: dict[str, str], **inputs: str) -> Run:
    done = example.run(definitions=example.action.listing_of(contents), **inputs)
    assert done.exit_code == 0, done.console
    return done


def content(repository: Repository, path: str = "SECURITY.md") -> str:
    written = repository.files(BRANCH)[path]
    assert isinstance(written, bytes)
    return written.decode()


def written(host: StandInHost) -> list[str]:
    return [shortened(each) for each in host.requests if not is_read(each)]


def states(done: Run) -> dict[str, str]:
    return {file["path"]: file["state"] for file in done.registration["files"]}


def test_what_the_action_wrote_gets_the_present_content(
    example: Example, host: StandInHost
) -> None:
    run(example, OLD)
    host.requests.clear()
    unchanged = run(example, OLD)
    before = len(host.requests)
    assert all(map(is_read, host.requests))
    assert unchanged.outputs["pull_request_operation"] == "none"
    host.requests.clear()
    done = run(example, NEW)
    assert content(example.repository) == NEW["SECURITY.md"]
    assert states(done) == {"SECURITY.md": "updated", "a.md": "skipped", "b.md": "skipped"}
    assert done.outputs["pull_request_operation"] == "updated"
    assert "to what the list gives now: SECURITY.md" in done.text
    assert written(host) == ["PATCH pulls/1", "POST /graphql"]
    assert len(host.requests) == before + 2
    [pull] = example.repository.pull_requests
    assert f"[corrected]({pull.html_url}/commits)" in (pull.body or "")
    host.requests.clear()
    again = run(example, NEW)
    assert all(map(is_read, host.requests))
    assert len(host.requests) == before
    assert states(again) == dict.fromkeys(NEW, "skipped")
    back = run(example, OLD)
    assert content(example.repository) == OLD["SECURITY.md"]
    assert states(back)["SECURITY.md"] == "updated"


def test_with_new_files_the_description_comes_first(example: Example, host: StandInHost) -> None:
    run(example, OLD)
    host.requests.clear()
    done = run(example, BOTH | {"c.md": "C\n"})
    assert states(done) == {
        "SECURITY.md": "updated",
        "a.md": "updated",
        "b.md": "skipped",
        "c.md": "created",
    }
    assert content(example.repository, "c.md") == "C\n"
    assert content(example.repository, "a.md") == BOTH["a.md"]
    first, *rest = written(host)
    assert first == "PATCH pulls/1"
    assert "PATCH pulls/1" not in rest
    assert "GraphQL" not in done.text
    host.requests.clear()
    run(example, BOTH | {"c.md": "C\n"})
    assert all(map(is_read, host.requests))


def _edit(repository: Repository) -> None:
    repository.commit({"SECURITY.md": b"Mine"}, branch=BRANCH)


def _edit_and_back(repository: Repository) -> None:
    _edit(repository)
    repository.commit({"SECURITY.md": OLD["SECURITY.md"].encode()}, branch=BRANCH)


def _edit_another(repository: Repository) -> None:
    repository.commit({"x": b"x"}, branch=BRANCH)


def _rewrite_description(repository: Repository) -> None:
    repository.pull_requests[0].body = "Mine\n\n<!-- registrar:paths -->"


PEOPLE: dict[str, tuple[Callable[[Repository], None], str]] = {
    "edited": (_edit, "Mine"),
    "edited and back": (_edit_and_back, NEW["SECURITY.md"]),
    "another file": (_edit_another, NEW["SECURITY.md"]),
    "description without what was written": (_rewrite_description, OLD["SECURITY.md"]),
}


@pytest.mark.parametrize("people", PEOPLE)
def test_what_people_changed_is_left_alone_and_named(example: Example, people: str) -> None:
    run(example, OLD)
    do, expected = PEOPLE[people]
    do(example.repository)
    plan = run(example, NEW, mode="plan")
    done = run(example, NEW)
    assert content(example.repository) == expected
    is_left = expected != NEW["SECURITY.md"]
    for each in (plan, done):
        assert ("Left as they are in" in each.text) == is_left
    assert states(done)["SECURITY.md"] == ("skipped" if is_left else "updated")
    assert states(plan)["SECURITY.md"] == ("missing" if is_left else "to update")


def test_update_false_leaves_the_pull_request_as_it_is(example: Example, host: StandInHost) -> None:
    run(example, OLD)
    host.requests.clear()
    done = run(example, NEW | {"c.md": "C\n"}, update="false")
    assert all(map(is_read, host.requests))
    assert states(done) == dict.fromkeys([*NEW, "c.md"], "skipped")
    assert "`update: false` leaves the open pull request as it is" in done.summary.replace("\\", "")
    plan = run(example, NEW | {"c.md": "C\n"}, update="false", mode="plan")
    assert plan.registration["standings"]["missing"] == 1
    assert "To update" not in plan.text


def test_a_plan_shows_what_would_change(example: Example, host: StandInHost) -> None:
    run(example, OLD)
    host.requests.clear()
    plan = run(example, NEW | {"c.md": "C\n"}, mode="plan")
    assert all(map(is_read, host.requests))
    for text in (plan.stdout, plan.summary):
        change = ["-Write to security@example.com", "+Write to psirt@example.com"]
        assert "\n".join(["@@ -1 +1 @@", *change]) in text
        assert text.index("What would be created (1)") < text.index("What would change in the open")
    assert len([each for each in host.requests if "/git/blobs/" in each.path]) == 1
    assert "To update in the open pull request, to what the list gives now: SECURITY" in plan.text
    check = example.run(definitions="list.json", mode="check")
    assert check.exit_code == 1
    assert "The open pull request does not hold what the list gives now." in check.text


def test_of_many_contents_only_the_paths_are_shown(example: Example, host: StandInHost) -> None:
    run(example, {f"{number}.md": f"{number}\n" for number in range(51)}, commit_strategy="single")
    host.requests.clear()
    plan = run(example, {f"{number}.md": f"New {number}\n" for number in range(51)}, mode="plan")
    assert not [each for each in host.requests if "/git/blobs/" in each.path]
    assert "0.md: to update (what it replaces was not read)" in plan.stdout
