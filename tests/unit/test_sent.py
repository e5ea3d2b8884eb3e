"""The questions of a plan about the steps that a run has sent."""

from __future__ import annotations

import pytest

from registrar.errors import Failure, GitHubError, Kind
from registrar.models.repository import PullRequest
from registrar.registration.sent import Commit, Open, Sending, SentSteps
from registrar.texts.messages import msg
from tests.values import file_of

BRANCH, OTHER = "work", "work-2"
FILE, EDITED = file_of("a", b"ours\n"), file_of("a", b"other\n")
LOST = Failure.of(msg("fault.connection_lost"))._replace(may_have_been_applied=True)
REFUSED = Failure.of(msg("refusal.other"), Kind.VALIDATION)


def answered(step: Sending, how: str) -> None:
    """Give a step the answer that the word says; ``under way`` has none yet."""
    match how:
        case "done":
            step.has_made(PullRequest(1, ""))
        case "lost" | "refused":
            step.has_failed(GitHubError(LOST if how == "lost" else REFUSED))
        case "left out":
            step.was_left_out()


@pytest.mark.parametrize("how", ["under way", "lost", "refused", "done"])
def test_a_file_may_be_ours_only_on_its_branch_with_its_content_if_the_answer_is_unclear(
    how: str,
) -> None:
    sent = SentSteps()
    answered(sent.begin(Commit.of(BRANCH, "", [FILE])), how)
    is_unclear = how in {"under way", "lost"}
    assert sent.may_have_written(BRANCH, FILE) is is_unclear
    assert not sent.may_have_written(OTHER, FILE)
    assert not sent.may_have_written(BRANCH, EDITED)


@pytest.mark.parametrize(
    ("how", "is_alone", "may_be_there"),
    [
        ("lost", True, True),
        # GitHub may refuse a second pull request before it lists the first one
        ("refused", True, True),
        ("done", True, False),
        # With the branch it would be seen by its name; waiting for it would be in vain
        ("lost", False, False),
        ("left out", False, False),
    ],
)
def test_a_pull_request_that_no_list_shows_may_be_there_after_a_request_for_it_alone(
    how: str, is_alone: bool, may_be_there: bool
) -> None:
    sent = SentSteps()
    answered(sent.begin(Open(BRANCH, "x"), is_alone=is_alone), how)
    assert sent.may_have_opened(BRANCH) is may_be_there
    assert not sent.may_have_opened(OTHER)
