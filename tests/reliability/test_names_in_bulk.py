"""A public log has no private name, even if repositories change during a run.

Repositories are renamed, transferred, swapped, made private or deleted at any request of a run over
three of them. Refusals name private ones, answers are lost, GitHub lags, and a second run takes
place meanwhile. Files, branches, owners and properties of a private repository have private names,
too.
"""

from __future__ import annotations

import json
import random

import pytest

from tests.example import PRESENT
from tests.example import SCAFFOLD as LISTED
from tests.fakehub import Fault, FaultKind, Lag, Repository, Request, StandInHost
from tests.fakehub.repository import PullRequest
from tests.harness import SCAFFOLD_BRANCH, Action, Run, only_reads
from tests.turns import another

RUNS = 600
LOST = (FaultKind.RESET, FaultKind.CLOSED, FaultKind.ERROR_502_HTML, FaultKind.CUT_JSON)
WORKFLOW = "octo-org/workflows"
STRANGER = "stranger/alpha"


def words(repository: Repository, rng: random.Random) -> str:
    """Return a message that a server might send, with the name of a repository in it."""
    form = rng.choice(("{0.full_name}", "{0.name}", "https://github.com/{0.full_name}/rules"))
    return f"Sorry: {form.format(repository)} cannot be used"


def ours(repository: Repository) -> list[PullRequest]:
    """Return the pull requests that no stranger has opened."""
    return [pull for pull in repository.pull_requests if pull.head_repository != STRANGER]


def asks_by_ids(request: Request) -> bool:
    """Return whether a request is a query for several repositories by their ids."""
    return "nodes(ids:" in str(request.fields.get("query"))


@pytest.mark.matrix
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.chosen] if n < 4 else []) for n in range(RUNS)]
)
def test_no_private_name_is_published_and_nothing_is_written_elsewhere(  # noqa: C901, PLR0912, PLR0915
    action: Action, host: StandInHost, number: int, seed: int
) -> None:
    rng = random.Random(f"{seed} {number}")
    host.create_repository(WORKFLOW, LISTED)
    public = host.create_repository("octo-org/alpha", PRESENT)
    held = PRESENT | ({"secret-LICENSE": b"x\n"} if rng.random() < 0.5 else {})
    secret = host.create_repository(
        "octo-org/secret-app",
        held,
        private=True,
        default_branch=rng.choice(("main", "secret-main")),
        properties={"team": [f"secret-{number}" for number in range(rng.choice((1, 30)))]},
    )
    if rng.random() < 0.3:
        # No branch can have this name. If the repository is private, no file is inherited from it.
        host.create_repository("octo-org/.github", PRESENT, private=rng.random() < 0.5)
    frozen = host.create_repository("octo-org/beta", PRESENT, topics=["frozen"])
    three = [public, secret, frozen]
    if rng.random() < 0.5:
        # If GitHub showed it instead of another repository, that would count as complete
        frozen.person.commit(dict(LISTED))

    def rename() -> None:
        public.person.rename("octo-org/hidden-name")
        public.person.change(private=True)

    def transfer() -> None:
        rng.choice(three).person.rename("customer/secret-place")
        for each in three:
            each.person.change(private=each.private or each.owner == "customer")

    def swap() -> None:
        one, other = rng.sample(three, 2)
        names = one.full_name, other.full_name
        one.person.rename("octo-org/secret-meanwhile")
        other.person.rename(names[0])
        one.person.rename(names[1])
        for each in (one, other):
            each.person.change(private=True)

    def hide() -> None:
        rng.choice(three).person.change(private=True)

    def delete() -> None:
        rng.choice(three).person.delete()

    events = rng.sample((rename, transfer, swap, hide, delete), rng.choice((0, 1, 1, 2)))
    # If a repository is gone before it is listed, the run cannot know its name
    goes = {delete, transfer}
    moments = {rng.randrange(3 if event in goes else 1, 14): event for event in events}

    runs: list[Run] = []
    other_at = rng.randrange(2, 14) if rng.random() < 0.4 and goes.isdisjoint(events) else 0

    def meanwhile(request: Request) -> None:
        if event := moments.pop(request.number, None):
            if event in goes and request.path.endswith("/repos"):
                # The run has requested the list again
                moments[request.number + 1] = event
            else:
                event()
        if request.number == other_at:
            runs.append(another(action)(given, target_repo=None, env=env, runner=True))

    host.on_request = meanwhile
    if rng.random() < 0.3:
        host.quirks.lag = Lag(seconds=rng.choice((0.8, 3.0, 8.0)))
    if rng.random() < 0.2:
        # One answer does not show all of them, and another repository may have the same numbers
        for _ in range(101):
            public.person.open_pull_request(
                head=SCAFFOLD_BRANCH, head_repository=STRANGER, body="Mine"
            )
    if rng.random() < 0.4:
        # The run then reads each repository by its name
        host.faults.add(Fault(FaultKind.ERROR_502_HTML, match=asks_by_ids, times=None))
    if rng.random() < 0.4:
        kind = rng.choice(LOST)
        host.faults.add(
            Fault(kind, at=rng.randrange(1, 14), times=rng.choice((1, 3)), when="after")
        )
    for _ in range(rng.choice((0, 1, 2))):
        status = rng.choice((401, 403, 404, 409, 422, 302, 500))
        location = {"Location": f"https://sso.example/?to={words(secret, rng)}"}
        host.faults.add(
            Fault(
                FaultKind.CUSTOM,
                at=rng.randrange(1, 12),
                times=rng.choice((1, 2, None)),
                status=status,
                message=words(secret, rng),
                headers=location if status == 302 else {},
            )
        )
    temporary = action.directory / "temp"
    temporary.mkdir()
    env = {"GITHUB_REPOSITORY": WORKFLOW, "RUNNER_TEMP": str(temporary)}
    if rng.random() < 0.7:
        payload = {"repository": {"private": False, "visibility": "public"}}
        path = action.workspace / action.write("event.json", json.dumps(payload))
        env["GITHUB_EVENT_PATH"] = str(path)
    given = {
        "target_repos": "octo-org/*, -topic:frozen",
        "labels": rng.choice(("", "docs", "{property:team}")),
        "branch": rng.choice(("", "add/{repo}")),
        "max_wait_minutes": "1",
        "language": rng.choice(("en", "ja")),
        "mode": rng.choice(("register", "register", "register", "plan", "check")),
        "max_pull_requests": rng.choice(("", "", "1")),
        "respect_alternatives": rng.choice(("", "true")),
        "fail_on": rng.choice(("", "missing, differs, invalid")),
    }
    if rng.random() < 0.5:
        contents = {path: content.decode() for path, content in LISTED.items()}
        elsewhere = {"LICENSE": None}
        given |= {"definitions": action.listing_of(contents | elsewhere), "profile": ""}
    runs.append(action(given, target_repo=None, env=env, runner=True))
    opened = [len(ours(each)) for each in three]
    if given["max_pull_requests"]:
        assert sum(opened) <= len(runs)
    if given["mode"] != "register":
        assert only_reads(host)
        many = runs[-1].report.get("many") or {"states": {}}
        assert many["states"].get("complete", 0) <= 1  # the repository of the workflow
    host.faults.clear()
    host.on_request = None
    runs.append(action(given, target_repo=None, env=env, runner=True))
    for run in runs:
        assert run.exit_code in {0, 1, 2}, run.text
        # These are the report, the table and the page
        shown = "\n".join([run.text, *(each.read_text("utf-8") for each in temporary.iterdir())])
        shown = shown.lower()
        assert not any(each in shown for each in ("secret", "hidden-name", f"id {secret.id}")), (
            shown
        )
    assert (frozen.branches, frozen.pull_requests) == (["main"], [])
    assert not ours(secret)
    for each in (public, secret):
        # The name of the branch contains the name of the repository, so a renamed one gets another
        assert len(ours(each)) <= (len(runs) if given["branch"] else 1)
    strangers = [pull for pull in public.pull_requests if pull.head_repository == STRANGER]
    assert {(pull.body, *pull.labels) for pull in strangers} <= {("Mine",)}
