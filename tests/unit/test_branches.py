"""Which names a run may write to, and which pull request of a branch counts."""

from __future__ import annotations

from itertools import islice

import pytest

from registrar.errors import Refused, RegistrarError
from registrar.models.branch import Declined
from registrar.models.files import FileDefinition
from registrar.models.plan import Plan
from registrar.models.repository import BranchState, PullRequest, Repository, RepositoryState
from registrar.models.spec import RegistrationSpec
from registrar.registration import branches
from registrar.registration.mark import CLOSED_BY_US
from registrar.registration.plan import make_plan

HEAD = "1" * 40


def plan(branch: str, default: str) -> Plan:
    repository = Repository("octo/example", default, "https://github.com/octo/example")
    spec = RegistrationSpec("octo/example", (FileDefinition("a"),), branch)
    return make_plan(spec, RepositoryState(repository, HEAD, {}))


@pytest.mark.parametrize(
    ("branch", "default", "first"),
    [
        ("work", "main", ["work", "work-2", "work-3"]),
        ("work", "work-2", ["work", "work-3", "work-4"]),
        ("work", "heads/work-2", ["work", "work-3", "work-4"]),
        ("work", "Work", ["work", "work-2", "work-3"]),
        ("a/work", "work", ["a/work", "a/work-2", "a/work-3"]),
    ],
)
def test_the_default_branch_is_passed_over(branch: str, default: str, first: list[str]) -> None:
    assert list(islice(branches.names(plan(branch, default)), 3)) == first


@pytest.mark.parametrize(
    ("branch", "default"),
    [
        ("main", "main"),
        ("heads/main", "main"),
        ("refs/heads/main", "main"),
        ("heads/refs/heads/main", "main"),
        ("main", "heads/main"),
    ],
)
def test_a_working_branch_that_is_the_default_branch_is_refused(branch: str, default: str) -> None:
    with pytest.raises(Refused) as refused:
        next(branches.names(plan(branch, default)))
    assert refused.value.message.key == "preflight.branch_is_default"


def test_the_names_end() -> None:
    names = branches.names(plan("work", "main"))
    assert list(islice(names, branches.LAST_SUFFIX))[-1] == f"work-{branches.LAST_SUFFIX}"
    with pytest.raises(RegistrarError):
        next(names)


def pull(number: int, **changes: object) -> PullRequest:
    values = {"url": "", "head_sha": HEAD, "base_branch": "main", "is_open": False, **changes}
    return PullRequest(number, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pulls", "found"),
    [
        ([], None),
        ([pull(1, is_open=True)], 1),
        ([pull(1, is_open=True, base_branch="develop")], None),
        ([pull(2), pull(1, is_open=True)], 1),
        ([pull(1)], -1),
        ([pull(1, merged=True)], None),
        ([pull(1, head_sha="2" * 40)], None),
        ([pull(1, base_branch="develop")], None),
        ([pull(1, body=CLOSED_BY_US)], None),
        ([pull(3, body=CLOSED_BY_US), pull(2, head_sha="2" * 40), pull(1)], -1),
    ],
)
def test_the_pull_request_that_counts(pulls: list[PullRequest], found: int | None) -> None:
    """A negative number: it was closed unmerged from the branch's commit, which is a "no"."""
    state = BranchState("work", HEAD, tuple(pulls))
    proposed = branches.proposed(state, plan("work", "main"))
    if isinstance(proposed, Declined):
        assert (proposed.name, -proposed.pull_request.number) == ("work", found)
    else:
        assert (proposed and proposed.number) == found
