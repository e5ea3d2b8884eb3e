"""Many repositories: which ones a run selects, and when it refuses to begin."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.example import LISTED, PRESENT
from tests.fakehub import Request
from tests.fakehub.answer import Response
from tests.fakehub.limits import RateLimit
from tests.fakehub.tokens import Kind
from tests.harness import meanwhile
from tests.organisation import ALL, Org, is_graphql, opened, rows

WRITES = {"contents": "write", "pull_requests": "write"}
"""Permissions of an App without those to read members and custom properties."""
KINDS: tuple[Kind, ...] = ("classic", "installation")


def test_names_alone_need_no_list(org: Org) -> None:
    org.make(1, 2)
    org.make(0, 1, sso=True)
    names = "octo-org/r1, Octo-Org/R2, octo-org/gone, octo-org/r3"
    run = org.expect("2 failed, 2 opened; exit 1", target_repos=names)
    assert "single sign-on" in run.summary
    assert {*rows(run)} == {f"octo-org/{name}" for name in ("gone", "r1", "r2", "r3")}
    assert not any("/orgs/" in each or "/users/" in each for each in org.asked)


@pytest.mark.parametrize(
    ("mode", "targets", "said"),
    [
        ("plan", "octo-org/fork", "(1), none is selected. Left out: forks 1."),
        ("register", "octo-org/empty", "(1), none is selected. Left out: empty 1."),
        ("plan", ALL, "(4), none is selected. Left out: forks 1, archived 1, empty 1, locked 1."),
    ],
)
def test_an_empty_selection_names_its_reasons(org: Org, mode: str, targets: str, said: str) -> None:
    """Also where only reading tells that nothing is left."""
    org.host.create_repository("octo-org/fork", PRESENT, parent="other/fork")
    org.host.create_repository("octo-org/empty", empty=True)
    org.host.create_repository("octo-org/old", archived=True)
    org.host.create_repository("octo-org/locked", locked=True)
    run = org(target_repos=targets, mode=mode)
    assert run.exit_code == 2
    assert f"Of the repositories that were found {said}" in run.stderr


@pytest.mark.parametrize(
    ("entries", "without_effect"),
    [
        ("!octo-org/r-0", "!octo-org/r-0"),
        ("!octo-org/legacy-*, !other/r0, !octo-org/r2", "!octo-org/legacy-*, !other/r0"),
        ("!octo-org/r0, octo-org/r*", "!octo-org/r0"),
        ("-topic:forzen, -topic:frozen", "-topic:forzen"),
        (
            "-property:tier=silver, -property:tier=gold, -property:team",
            "-property:tier=silver, -property:team",
        ),
        # One entry suffices, also for a name that is not looked up, and for an archived repository
        ("!octo-org/r2, !octo-org/r*, octo-org/r0", ""),
        ("octo-org/gone, !octo-org/gone", ""),
        ("!octo-org/old", ""),
    ],
)
def test_entries_that_leave_no_repository_out_are_named_before_anything_is_written(
    org: Org, entries: str, without_effect: str
) -> None:
    org.make(0, 2)
    gold = {"tier": "gold"}
    org.host.create_repository("octo-org/r2", PRESENT, topics=["frozen"], properties=gold)
    org.host.create_repository("octo-org/old", PRESENT, archived=True)
    said = f"Entries of target_repos that leave no repository out: {without_effect}. "
    # A run that reads nothing after the listing says it, too
    org.refuse(is_graphql, 401, message="Bad credentials")
    run = org(target_repos=f"{ALL}, {entries}")
    assert org.only_reads
    assert (f"Warning: {said}" in run.stderr) is bool(without_effect), run.stderr
    assert (said in run.summary.replace("`", "")) is bool(without_effect), run.summary


@pytest.mark.parametrize(
    ("status", "state"),
    [
        pytest.param(451, "1 failed, 2 opened; exit 1", id="blocked for legal reasons"),
        pytest.param(502, "1 failed, 2 opened; exit 1", id="server error"),
        pytest.param(401, "exit 2", id="the token is rejected"),
    ],
)
def test_only_a_rejected_token_ends_the_look_up_of_names(org: Org, status: int, state: str) -> None:
    org.make(0, 3)
    org.refuse(lambda r: r.path == "/repos/octo-org/r0", status, message="Bad credentials")
    org.expect(state, target_repos="octo-org/r0, octo-org/r1, octo-org/r2")
    assert ("GET /repos/octo-org/r1" in org.asked) == (status != 401)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("octo-org/new-name", "1 opened"),
        ("Octo-Org/R0", "1 opened"),
        ("elsewhere/name", "1 not writable"),
    ],
)
def test_a_repository_that_is_renamed_during_the_run_is_written_to_if_its_name_is_selected(
    org: Org, name: str, state: str
) -> None:
    [repository] = org.make(0, 1)
    meanwhile(org.host, is_graphql, lambda: repository.person.rename(name))
    # It is not deferred because of a cap
    assert "max_pull_requests" not in org.expect(state).text


@pytest.mark.parametrize("kind", KINDS)
def test_names_in_another_letter_case_are_the_same_names(org: Org, kind: Kind) -> None:
    """They cost no requests of their own, as the name of the workflow's repository does not."""
    org.host.create_repository("Octo-Org/Workflows", PRESENT)
    org.host.create_repository("Octo-Org/API", PRESENT, properties={"tier": "gold"})
    run = org(
        host_token=org.host.create_token(kind),
        target_repos="octo-org/*, octo-org/api, property:tier=gold",
        mode="plan",
        env={"GITHUB_REPOSITORY": "octo-org/WORKFLOWS"},
        runner=True,
    )
    assert rows(run) == {"Octo-Org/API": "to open"}, run.console
    assert not any("/repos/" in each or "/properties/" in each for each in org.asked)


@pytest.mark.parametrize("order", ["octo-org/r0, !octo-org/old-*", "!octo-org/old-*, octo-org/r0"])
def test_a_renamed_one_is_found_by_its_old_name_and_excluded_by_its_new_one(
    org: Org, order: str
) -> None:
    """As for all names, the last pattern decides."""
    one, _ = org.make(0, 2)
    one.person.rename("octo-org/old-r0")
    run = org(target_repos=f"{order}, octo-org/r1")
    is_last = order.endswith("r0")
    assert rows(run) == dict.fromkeys(["octo-org/old-r0"] * is_last + ["octo-org/r1"], "opened")
    assert run.report["many"]["budget"]["excluded"] == ({} if is_last else {"excluded": 1})


def test_two_repositories_that_had_one_name_during_the_listing_are_two(org: Org) -> None:
    repositories = org.make(0, 101)

    def pass_the_name_on() -> None:
        repositories[0].person.rename("octo-org/renamed")
        org.host.create_repository("octo-org/r0", PRESENT)

    meanwhile(org.host, lambda request: request.query.get("page") == "2", pass_the_name_on)
    org.refuse(is_graphql, 401, message="Bad credentials")
    org.expect("102 not read; exit 2", mode="plan")


def test_repositories_of_the_tokens_account_are_not_found_for_another_owner(
    org: Org,
) -> None:
    """Only the list of the token's account has a person's private repositories."""
    org.host.users.update({"octocat", "somebody"})
    for name in ("octocat/mine", "somebody/theirs"):
        org.host.create_repository(name, PRESENT)
    run = org(host_token=org.host.create_token(login="octocat"), target_repos="somebody/*")
    assert set(rows(run)) == {"somebody/theirs"}
    assert run.report["many"]["budget"]["found"] == 1, run.console


@pytest.mark.parametrize("targets", ["other-org/*", "octo-org/*, Other-Org/api-*"])
def test_an_owner_of_whom_an_apps_token_sees_nothing_is_an_error(org: Org, targets: str) -> None:
    org.make(1, 1)
    org.host.create_repository("other-org/api-x", PRESENT, private=True)
    token = org.host.create_token("installation", repositories=["octo-org/r0", "octo-org/r1"])
    run = org.expect("exit 2", host_token=token, target_repos=targets, mode="plan")
    assert len(org.asked) == 2
    assert "The App's token sees no repository of other-org" in run.stderr


def test_a_persons_private_repositories_are_found(org: Org) -> None:
    """Their list lacks no organisation whose single sign-on has nothing to do with it."""
    org.host.create_repository("octocat/open", PRESENT)
    org.host.create_repository("octocat/secret", PRESENT, private=True)
    token = org.host.create_token(hidden_by_sso=["octo-org"])
    org.expect("2 opened", target_repos="octocat/*", host_token=token)


def test_a_failure_does_not_say_that_there_is_no_such_owner(org: Org) -> None:
    org.host.create_repository("octocat/open", PRESENT)
    org.refuse(lambda request: request.path == "/users/octocat/repos", 403, message="No")
    run = org.expect("exit 2", target_repos="octocat/*")
    assert "Listing repositories (page 1) failed: No (HTTP 403)" in run.stderr
    assert "There is no organisation or user" not in run.console


@pytest.mark.parametrize(
    ("inputs", "part"),
    [
        ({"target_repos": "octo-org/none-*"}, "none is selected"),
        ({"target_repos": "nobody/*"}, "There is no organisation or user nobody"),
        ({"target_repos": "octocat/*"}, "No repository was found. Check target_repos"),
        ({"target_repos": "octo-org/*, license:mit"}, "unknown qualifier"),
        ({"target_repos": "octo-org/*, topic:"}, "topic: has nothing after its colon"),
        ({"target_repos": f"octo-org/{'a*' * 501}"}, "is longer than the 1000 characters"),
        ({"target_repos": "octo-org/*, created:2026"}, "Write `created:>=2026-01-31` or"),
        ({"target_repos": "octo-org/*, -octo-org/r0"}, "-octo-org/r0 is not written as an entry"),
        ({"target_repos": "octo-org/a?"}, "neither a repository nor a pattern"),
        ({"commit_strategy": "per-file"}, "works for one repository only"),
        ({"max_pull_requests": "many"}, "max_pull_requests is not a whole number"),
        ({"max_minutes": "-1"}, "max_minutes is not a number of minutes"),
    ],
)
def test_what_cannot_be_begun_is_refused(org: Org, inputs: dict[str, str], part: str) -> None:
    org.make(1, 1)
    assert part in org.expect("exit 2", inputs).console
    assert org.only_reads


def test_repositories_may_be_chosen_by_the_day_of_their_creation(org: Org) -> None:
    """From the list that is read anyway; one that is named is looked at, too."""
    for day, repository in enumerate(org.make(0, 4), start=1):
        repository.person.change(created_at=datetime(2026, 1, day, 23, 59, tzinfo=UTC).timestamp())
    org.expect("4 to open", mode="plan")
    requests = org.asked
    days = "created:>=2026-01-02, created:<=2026-01-03"
    run = org(mode="plan", target_repos=f"octo-org/*, octo-org/r3, {days}")
    assert set(rows(run)) == {"octo-org/r1", "octo-org/r2"}
    assert org.asked == requests


def test_a_list_that_is_known_to_be_incomplete_is_an_error(org: Org) -> None:
    org.make(1, 1)
    run = org.expect("exit 2", host_token=org.host.create_token(hidden_by_sso=["octo-org"]))
    assert (org.only_reads, "single sign-on" in run.console) == (True, True)


@pytest.mark.parametrize(("kind", "max_minutes"), [("classic", "360"), ("installation", "0.05")])
def test_a_list_whose_pages_repeat_ends_in_an_error(org: Org, kind: Kind, max_minutes: str) -> None:
    """As behind a gateway that drops `page`."""
    org.make(103, 0)
    sent = list[Response]()

    def first_again(_request: Request, page: Response) -> Response:
        sent.append(page)
        return sent[0]

    org.host.faults.change(first_again, lambda request: "per_page" in request.query)
    run = org.expect("exit 2", host_token=org.host.create_token(kind), max_minutes=max_minutes)
    assert "list of repositories does not end: page 2 has nothing new" in run.stderr
    assert len(org.asked) == 3


@pytest.mark.parametrize(
    ("kind", "cut"), [("classic", 0), ("installation", 0), ("installation", 1)]
)
def test_a_full_page_without_a_link_is_followed_by_the_next(org: Org, kind: Kind, cut: int) -> None:
    """As behind a gateway that drops the header.

    The next one is asked for even if this one is not full, where GitHub says how many there are.
    """
    made = org.make(100, 1)

    def without_link(request: Request, page: Response) -> Response:
        page.headers.pop("Link", None)
        if request.query.get("page") == "1" and cut:
            del page.body["repositories"][:cut]
        return page

    org.host.faults.change(without_link)
    org.refuse(is_graphql, 401, message="Bad credentials")
    run = org(host_token=org.host.create_token(kind), mode="check")
    assert (run.exit_code, run.outputs["repositories"]) == (1, str(len(made) - cut))
    pages = [request.query["page"] for request in org.sent if "page" in request.query]
    assert pages == ["1", "2", "3"][: 2 + cut]


def test_three_pages_are_asked_for_at_once(org: Org) -> None:
    """From the second one on: then their number is known. They are read in their order."""
    org.make(301, 0)
    org.refuse(is_graphql, 401, message="Bad credentials")
    together, pages = threading.Barrier(3), list[str]()

    def meet(request: Request) -> None:
        if "page" in request.query:
            pages.append(request.query["page"])
            if pages[-1] != "1":
                together.wait(timeout=60)

    org.host.on_request = meet
    org.expect("301 not read; exit 2", mode="plan")
    assert pages[0] == "1"
    assert sorted(pages) == list("1234")


def test_pages_that_a_link_only_promises_take_no_memory_and_end(org: Org) -> None:
    org.make(103, 0)

    def far_away(_request: Request, page: Response) -> Response:
        last = r'\bpage=\d+(?=[^<>]*>; rel="last")'
        page.headers["Link"] = re.sub(last, "page=999999999", page.headers["Link"])
        return page

    org.host.faults.change(far_away, lambda request: "page" in request.query).times = 1
    org.refuse(is_graphql, 401, message="Bad credentials")
    org.expect("103 not read; exit 2", mode="plan")
    assert len(org.asked) < 20


@pytest.mark.parametrize("listed", [*KINDS, "properties"])
def test_the_time_of_a_run_ends_while_repositories_are_listed(org: Org, listed: Any) -> None:
    """Or their properties."""
    is_properties = listed == "properties"
    org.make(450, 0)
    org.host.quirks.without_properties = is_properties
    pages = ("/values",) if is_properties else ("/repos", "/repositories")
    slow = org.slow_down(lambda request: request.path.endswith(pages), 31)
    token = org.host.create_token("classic" if is_properties else listed)
    targets = f"{ALL}, -property:tier=bronze" if is_properties else ALL
    run = org.expect("exit 2", host_token=token, target_repos=targets, max_minutes="1")
    assert "max_minutes (1 min) was over before all repositories were listed" in run.stderr
    # The first page, and those that are asked for at the same time
    assert 2 <= len(slow) <= 4


def test_a_repository_that_a_list_of_properties_lacks_is_asked_for_by_itself(org: Org) -> None:
    """If a repository of an earlier page is deleted, the first one of the next page moves there.

    If that one is gone, too, the others are still asked for.
    """
    made = org.make(100, 3)
    frozen = made[100]
    frozen.person.change(properties={"tier": "bronze"})
    org.host.quirks.without_properties = True

    def delete(request: Request) -> None:
        if request.path.endswith("/values") and request.query.get("page") == "2":
            made[0].person.delete()
            made[102].person.delete()

    org.host.on_request = delete
    run = org(target_repos=f"{ALL}, -property:tier=bronze")
    gone = {made[0].full_name: "failed", made[102].full_name: "failed"}
    assert rows(run) == {**gone, made[101].full_name: "opened"}
    assert opened([frozen]) == [0]


@pytest.mark.parametrize(
    ("quirk", "count", "left", "said"),
    [
        ("empty_properties", 4, 5000, ""),
        ("without_properties", 4, 5000, ""),
        ("without_properties", 4, 4, "Requests needed: 3, left: 2"),
        ("without_properties", 1002, 5000, "Give the token *Custom properties: read*"),
    ],
)
def test_where_the_list_of_properties_is_refused_or_empty_each_repository_is_asked(
    org: Org, quirk: str, count: int, left: int, said: str
) -> None:
    """Those that are meant, and no more than can be asked."""
    made = org.make(0, count)
    made[0].person.change(properties={"tier": "gold"})
    made[1].person.archive()
    setattr(org.host.quirks, quirk, True)
    org.host.rate_limit = RateLimit(remaining=left)
    token = org.host.create_token("installation", permissions=WRITES)
    run = org(host_token=token, target_repos=f"{ALL}, property:tier=gold")
    alone = [each for each in org.asked if re.fullmatch(r"GET /repositories/\d+/.+", each)]
    if said:
        assert (run.exit_code, alone, org.only_reads) == (2, [], True)
        assert said in run.stderr
    else:
        assert (rows(run), len(alone)) == ({made[0].full_name: "opened"}, 3)


def test_an_error_for_the_list_of_properties_does_not_lead_to_each_repository(org: Org) -> None:
    org.make(0, 1)
    org.host.quirks.without_properties = True
    org.refuse(lambda request: request.path.endswith("/properties/values"), 502)
    run = org(target_repos=f"{ALL}, property:tier=gold")
    assert "Reading custom properties of octo-org failed" in run.stderr
    assert not any(each.startswith("GET /repositories/") for each in org.asked)


def test_a_name_that_somebody_chose_makes_no_pattern_slow(org: Org) -> None:
    org.host.create_repository("octo-org/" + "-" * 100, LISTED)
    run = org.expect("exit 2", target_repos=f"octo-org/{'*-' * 30}x, octo-org/r*", mode="plan")
    assert "Of the repositories that were found (1), none is selected" in run.stderr


@pytest.mark.parametrize(
    ("name", "own"), [("octo-org/r0", "octo-org/r0"), ("Me/tools", "me/Tools")]
)
def test_a_workflows_own_token_is_recognised(org: Org, name: str, own: str) -> None:
    org.make(1, 1)
    org.host.create_repository("Me/tools")
    token = org.host.create_token("installation", repositories=[name])
    run = org.expect("exit 2", host_token=token, env={"GITHUB_REPOSITORY": own})
    assert f"A workflow's own token sees only {own}" in run.console


def test_an_app_that_may_not_list_repositories_lacks_a_permission(org: Org) -> None:
    org.make(1, 1)
    no, needed = "Resource not accessible by integration", "X-Accepted-GitHub-Permissions"
    listed = "GET /installation/repositories"
    org.refuse(listed, 403, message=no, headers={needed: "metadata=read"})
    token = org.host.create_token("installation")
    run = org.expect("exit 2", host_token=token, env={"GITHUB_REPOSITORY": "a/b"})
    assert "The token lacks a permission; GitHub asks for: metadata=read." in run.console
