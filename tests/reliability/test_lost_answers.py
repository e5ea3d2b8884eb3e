"""If the answer to a write was lost, a run finds that it was applied, and does not repeat it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from registrar.registration.mark import BEGIN, EMPTY_MARK, END
from tests.fakehub import Fault, FaultKind, Lag, Refusal, Repository, Request, StandInHost, Symptom
from tests.harness import (
    LIST_BRANCH,
    SINGLE,
    STRATEGIES,
    Action,
    Run,
    calls,
    inject_fault,
    is_read,
    meanwhile,
    refuse,
    shortened,
)

PATHS = ("a.md", "b.md", "c.md")
WRITES = ("POST git/refs", "PUT contents/b.md", "POST pulls")
REFUSALS = {404: "Not Found", 401: "Bad credentials", 403: "Forbidden", 429: "Slow down."}
LOST = (FaultKind.ERROR_502_HTML, FaultKind.CLOSED, FaultKind.EMPTY_200)


def run(action: Action, paths: Sequence[str] = PATHS, /, **inputs: str) -> Run:
    """Run the action with a list of these files; by default there are three."""
    listed = action.listing(*paths)
    return action({"language": "en", "definitions": listed, **inputs})


def creates(path: str) -> str:
    return f"PUT contents/{path}"


def is_call(call: str) -> Callable[[Request], bool]:
    return lambda request: shortened(request) == call


def reads(request: Request) -> bool:
    return request.method == "GET"


def reads_branch(request: Request) -> bool:
    return is_read(request) and "/git/ref" in request.path


def puts(request: Request) -> bool:
    return request.method == "PUT"


def commits(request: Request) -> bool:
    """Return whether a request can write a commit or create a branch, but not a description."""
    return not is_read(request) and request.method == "POST"


def anything(_: Request) -> bool:
    return True


def then_refuse(
    host: StandInHost,
    lost: Fault,
    which: Callable[[Request], bool],
    status: int,
    times: int | None = None,
    **more: Any,
) -> Fault:
    """Let the host refuse such requests once it has lost an answer."""
    more |= {"status": status, "message": REFUSALS.get(status, "No."), "times": times}
    return host.faults.add(
        Fault(FaultKind.CUSTOM, match=lambda each: bool(lost.hits) and which(each), **more)
    )


def is_only_of_branch(request: Request) -> bool:
    """Return whether a request asks for the pull requests of one branch."""
    return shortened(request) == "GET pulls" and "head=" in request.raw_target


def states(ended: Run) -> list[str]:
    """Return the outcome of each file."""
    return [file["done"] for file in ended.registration["files"]]


def created_once(repository: Repository) -> None:
    """Assert that one pull request adds each file, and that each was committed once."""
    assert [c.paths for c in repository.log(LIST_BRANCH)[:-1]] == [(p,) for p in PATHS[::-1]]
    assert [pull.head for pull in repository.pull_requests] == [LIST_BRANCH]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_branch_of_ones_own_name_whose_making_was_lost_is_used(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    """Only the lost answer shows that the branch without commits is ours."""
    host.refused_mutations = {"createRef": Refusal(422, "Not now", kind="UNPROCESSABLE")}
    lost = inject_fault(host, "POST git/refs", FaultKind.ERROR_500, times=None, when="after")
    ended = run(action, branch="own", commit_strategy=strategy)
    assert lost.hits
    assert (ended.exit_code, ended.outputs["created"]) == (0, "3"), ended.text
    assert repository.branches == ["main", "own"]


@pytest.mark.parametrize(
    ("content", "is_lost", "created"),
    [(b"somebody's own\n", True, "2"), (b"\n", True, "3"), (b"\n", False, "2")],
    ids=["another", "the same", "the same, and no answer was lost"],
)
def test_who_came_first_is_decided_by_the_content(
    action: Action,
    host: StandInHost,
    repository: Repository,
    content: bytes,
    is_lost: bool,
    created: str,
) -> None:
    come_first = partial(repository.person.commit, {"b.md": content}, branch=LIST_BRANCH)
    meanwhile(host, is_call(creates("b.md")), come_first)
    if is_lost:
        inject_fault(host, creates("b.md"), FaultKind.CLOSED)
    ended = run(action).or_fail()
    assert repository.files(LIST_BRANCH)["b.md"] == content
    skipped = str(len(PATHS) - int(created))
    assert (ended.outputs["created"], ended.outputs["skipped"]) == (created, skipped)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("theirs", [b"mine\n", None], ids=["edited", "deleted"])
def test_a_file_that_somebody_changes_before_the_branch_is_read_again_is_theirs(
    action: Action, host: StandInHost, repository: Repository, strategy: str, theirs: bytes | None
) -> None:
    """The run has skipped the file already, when the branch still had it as listed."""
    run(action, PATHS[:1], commit_strategy=strategy)
    request = commits if strategy == SINGLE else is_call(creates("c.md"))
    lost = host.faults.add(Fault(FaultKind.CLOSED, match=request, when="after", times=1))
    change = partial(repository.person.commit, {"a.md": theirs}, branch=LIST_BRANCH)
    meanwhile(host, lambda _: bool(lost.hits), change)
    ended = run(action, commit_strategy=strategy)
    assert (ended.exit_code, len(lost.hits)) == (0, 1), ended.text
    [first] = (each for each in ended.registration["files"] if each["path"] == "a.md")
    # With `per-file`, only the file of the lost answer is looked at again
    is_seen_again = strategy == SINGLE and theirs is None
    standing = "declined" if is_seen_again else "proposed"
    assert (first["done"], first["standing"]) == ("skipped", standing), ended.text
    listed = action.listing_of(dict.fromkeys(PATHS, "changed\n"))
    action({"language": "en", "definitions": listed, "commit_strategy": strategy}).or_fail()
    files = repository.files(LIST_BRANCH)
    assert (files.get("a.md"), files["b.md"]) == (theirs, b"changed\n")


@pytest.mark.parametrize(
    ("call", "times", "refused", "status", "expected"),
    [
        *((call, None, None, 0, "created created created") for call in WRITES),
        # Only the whole list shows the pull request
        ("POST pulls", 1, is_only_of_branch, 200, "created created created"),
        # Nothing can be read back
        (creates("b.md"), 1, reads, 451, "created unknown created"),
        # Nothing is sent any more when the token is rejected
        (creates("b.md"), 1, anything, 401, "created unknown pending"),
    ],
)
def test_a_write_whose_answer_is_lost_is_looked_for(
    action: Action,
    host: StandInHost,
    repository: Repository,
    call: str,
    times: int | None,
    refused: Callable[[Request], bool] | None,
    status: int,
    expected: str,
) -> None:
    """It is lost so many times. From then on GitHub gives some requests another answer."""
    lost = inject_fault(host, call, FaultKind.ERROR_500, times=times, when="after")
    if refused:
        then_refuse(host, lost, refused, status, body=[] if status == 200 else None)
    ended = run(action)
    assert states(ended) == expected.split(), ended.text
    operation = "none" if "pending" in expected else "created"
    assert ended.exit_code == ("unknown" in expected)
    assert ended.outputs["pull_request_operation"] == operation
    assert (len(lost.hits) > 3) is (times is None)
    host.faults.clear()
    run(action).or_fail()
    created_once(repository)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_note_is_not_repeated_when_the_branch_is_read_again(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    run(action, PATHS[:2], commit_strategy=strategy)
    repository.person.commit({"a.md": b"mine\n"}, branch=LIST_BRANCH)
    repository.person.commit({"b.md": b"others\n"})
    request = commits if strategy == SINGLE else is_call(creates("c.md"))
    lost = host.faults.add(Fault(FaultKind.CLOSED, match=request, when="after", times=1))
    given = {"definitions": action.listing_of({"a.md": "A\n", "b.md": "B\n", "c.md": "C\n"})}
    ended = action(given, language="en", commit_strategy=strategy).or_fail()
    assert lost.hits
    for note in ("Not updated in #1", "Conflict: #1"):
        assert ended.console.count(note) == 1, ended.console
        assert sum(note in each for each in ended.registration["notes"]) == 1


def test_answers_that_are_lost_for_one_file_after_the_other_are_headway(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    paths = [f"{name}.md" for name in "abcdefghij"]
    lost = host.faults.add(Fault(FaultKind.CLOSED, match=puts, when="after", times=None))
    ended = run(action, paths).or_fail()
    assert (ended.outputs["created"], len(lost.hits) > 9) == ("10", True), ended.text
    assert repository.files(LIST_BRANCH).keys() > set(paths)


def test_after_a_path_was_looked_at_alone_the_branch_is_not_read_again(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    inject_fault(host, creates("b.md"), FaultKind.ERROR_500, when="after")
    refuse(host, creates("c.md"), 403, message="No")
    ended = run(action)
    assert (ended.outputs["created"], ended.outputs["failed"]) == ("2", "1"), ended.text
    since = calls(host)[calls(host).index(creates("c.md")) + 1 :]
    assert [each for each in since if each.startswith("GET")] == []
    assert len(repository.pull_requests) == 1


def test_a_pull_request_of_somebody_faster_is_not_taken_for_our_own(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """The request with the lost answer was not applied, so this run does not request a review."""

    come_first = partial(repository.person.open_pull_request, head=LIST_BRANCH, body="Theirs")
    meanwhile(host, is_call("POST pulls"), come_first)
    inject_fault(host, "POST pulls", FaultKind.CLOSED)
    ended = run(action, reviewers="monalisa").or_fail()
    assert ended.outputs["pull_request_operation"] == "updated"
    [pull] = repository.pull_requests
    assert pull.reviewers == []


def test_a_pull_request_of_another_list_that_exists_already_stays_as_it_is(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    theirs = f"{BEGIN}\n{EMPTY_MARK.naming('profile other', {}).text}\n{END}"

    come_first = partial(repository.person.open_pull_request, head=LIST_BRANCH, body=theirs)
    meanwhile(host, is_call("POST pulls"), come_first)
    ended = run(action)
    assert (ended.exit_code, ended.outputs["created"]) == (1, "3"), ended.text
    assert [pull.body for pull in repository.pull_requests] == [theirs]


@pytest.mark.parametrize(
    ("lost", "refused", "earlier", "expected"),
    [
        # That GitHub refuses to read the branch does not show that nothing was written
        *(
            ({"kind": kind}, [(anything, status, None)], "", "unknown unknown unknown")
            for kind, status in zip((*LOST, LOST[0]), REFUSALS, strict=True)
        ),
        # If the branch cannot be read, each file is tried alone
        *(
            ({"at": 3}, [(reads, 403, None), (puts, status, None)], "", "unknown unknown unknown")
            for status in (403, 429)
        ),
        # Right after a write, "Not Found" can be lag, which cannot be told from a missing write
        ({"when": "before"}, [(is_call("POST git/refs"), 403, 1)], "", "unknown unknown unknown"),
        (
            {},
            [(reads_branch, 404, None), (is_call("POST git/refs"), 403, 1)],
            "",
            "unknown unknown unknown",
        ),
        # A file of an earlier run is known to exist, and counts as in any other second run
        *(
            ({}, [(reads, 403, None), (puts, status, None)], earlier, expected)
            for status, earlier, expected in (
                (403, "a.md", "skipped unknown unknown"),
                (403, "b.md", "unknown skipped unknown"),
                (429, "a.md", "skipped unknown unknown"),
                (429, "b.md", "unknown pending unknown"),
            )
        ),
        # If GitHub refuses the single files, they are looked for on the branch. The reads that fail
        # are the last one before the commit is repeated, and the one after it
        *(
            ({}, [(reads, 403, times), (puts, 403, None)], f"{earlier}.md", expected)
            for times in (0, 1)
            for earlier, expected in (
                ("a", "skipped created created"),
                ("b", "created skipped created"),
            )
        ),
        ({}, [(reads, 403, 2), (puts, 403, None)], "a.md", "skipped created created"),
        # The branch was read again since, so a file that it lacks has failed
        (
            {"when": "before"},
            [(commits, 403, None), (is_call(creates("b.md")), 403, None)],
            "a.md",
            "skipped failed created",
        ),
    ],
)
def test_what_becomes_of_one_commit_whose_answer_is_lost(
    action: Action,
    host: StandInHost,
    repository: Repository,
    lost: Mapping[str, Any],
    refused: Sequence[tuple[Callable[[Request], bool], int, int | None]],
    earlier: str,
    expected: str,
) -> None:
    """From the lost answer on, GitHub refuses some requests so many times (None: always)."""
    if earlier:
        run(action, [earlier], commit_strategy=SINGLE).or_fail()
    if "at" in lost:
        host.quirks.lag = Lag(answers=1, symptoms=(Symptom.COMMIT_STALE,))
    usual: dict[str, Any] = {"kind": FaultKind.CLOSED, "match": commits, "when": "after"}
    first = host.faults.add(Fault(**{**usual, **lost}))
    unread, *_ = [then_refuse(host, first, *each) for each in refused]
    ended = run(action, commit_strategy=SINGLE, max_wait_minutes="0.5")
    assert states(ended) == expected.split(), ended.text
    assert ended.exit_code == ("unknown" in expected or "failed" in expected)
    assert ended.outputs["branch"] == LIST_BRANCH
    assert "GitHub has refused every commit" not in ended.text
    assert unread.hits if unread.times is None else len(unread.hits) == unread.times

    host.faults.clear()
    run(action, commit_strategy=SINGLE).or_fail()
    assert repository.files(LIST_BRANCH).keys() == {*repository.files(), *PATHS}
    assert len(repository.pull_requests) == 1
