"""Many repositories: which ones a run selects, and when it refuses to begin."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.example import LISTED, PRESENT
from tests.fakehub import Request, StandInHost
from tests.fakehub.answer import Response
from tests.fakehub.limits import RateLimit
from tests.fakehub.tokens import Kind
from tests.harness import Action, Start, meanwhile, only_reads, refuse
from tests.organisation import ALL, Make, asked, opened, rows, states


def test_names_alone_need_no_list(many: Start, make: Make, host: StandInHost) -> None:
    make(1, 2)
    [closed] = make(0, 1)
    closed.person.change(sso=True)
    run = many(target_repos=f"octo-org/r1, Octo-Org/R2, octo-org/gone, {closed.full_name}")
    assert run.exit_code == 1
    assert "single sign-on" in run.summary
    assert rows(run) == {
        "octo-org/gone": "failed",
        closed.full_name: "failed",
        "octo-org/r1": "opened",
        "octo-org/r2": "opened",
    }
    assert not any("/orgs/" in each or "/users/" in each for each in asked(host))


@pytest.mark.parametrize(
    ("targets", "left_out"),
    [
        ("octo-org/fork", "(1), none is selected. Left out: forks 1."),
        ("octo-org/empty", "(1), none is selected. Left out: empty 1."),
        (ALL, "(4), none is selected. Left out: forks 1, archived 1, empty 1, locked 1."),
    ],
)
@pytest.mark.parametrize("mode", ["plan", "register"])
def test_an_empty_selection_is_refused_with_each_reason(
    many: Start, host: StandInHost, targets: str, left_out: str, mode: str
) -> None:
    """Also where only reading tells that nothing is left."""
    host.create_repository("octo-org/fork", PRESENT, parent="other/fork")
    host.create_repository("octo-org/empty", empty=True)
    host.create_repository("octo-org/old", archived=True)
    host.create_repository("octo-org/locked", locked=True)
    run = many(target_repos=targets, mode=mode)
    assert run.exit_code == 2
    assert f"Of the repositories that were found {left_out}" in run.stderr


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
    many: Start, make: Make, host: StandInHost, entries: str, without_effect: str
) -> None:
    make(0, 2)
    gold = {"tier": "gold"}
    host.create_repository("octo-org/r2", PRESENT, topics=["frozen"], properties=gold)
    host.create_repository("octo-org/old", PRESENT, archived=True)
    said = f"Entries of target_repos that leave no repository out: {without_effect}. "
    # A run that reads nothing after the listing says it, too
    refuse(host, lambda request: request.path == "/graphql", 401, message="Bad credentials")
    run = many(target_repos=f"{ALL}, {entries}")
    assert only_reads(host)
    assert (f"Warning: {said}" in run.stderr) is bool(without_effect), run.stderr
    assert (said in run.summary.replace("`", "")) is bool(without_effect), run.summary


@pytest.mark.parametrize("status", [451, 502], ids=["blocked for legal reasons", "server error"])
def test_a_name_that_cannot_be_looked_up_does_not_stop_the_others(
    many: Start, make: Make, host: StandInHost, status: int
) -> None:
    make(0, 3)
    refuse(host, lambda request: request.path == "/repos/octo-org/r1", status)
    run = many(target_repos="octo-org/r0, octo-org/r1, octo-org/r2")
    assert run.exit_code == 1
    assert states(run) == {"failed": 1, "opened": 2}
    assert rows(run)["octo-org/r1"] == "failed"


def test_a_token_that_is_rejected_while_names_are_looked_up_ends_the_run(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 2)
    r0 = "/repos/octo-org/r0"
    refuse(host, lambda request: request.path == r0, 401, message="Bad credentials")
    run = many(target_repos="octo-org/r0, octo-org/r1")
    assert (run.exit_code, "nodes" in asked(host)) == (2, False)
    assert "GET /repos/octo-org/r1" not in asked(host)


def test_a_renamed_repository_is_found_under_its_old_name(
    many: Start, make: Make, host: StandInHost
) -> None:
    """It stays the same name if its letter case changes during the run."""
    [repository] = make(0, 1)
    repository.person.rename("octo-org/New-name")
    renamed = "octo-org/new-NAME"
    meanwhile(
        host, lambda request: request.path == "/graphql", lambda: repository.person.rename(renamed)
    )
    assert rows(many(target_repos="octo-org/r0")) == {"octo-org/new-NAME": "opened"}


@pytest.mark.parametrize("kind", ["classic", "installation"])
def test_names_in_another_letter_case_are_the_same_names(
    many: Start, host: StandInHost, kind: Kind
) -> None:
    """They cost no requests of their own, as the name of the workflow's repository does not."""
    host.create_repository("Octo-Org/Workflows", PRESENT)
    host.create_repository("Octo-Org/API", PRESENT, properties={"tier": "gold"})
    run = many(
        host_token=host.create_token(kind),
        target_repos="octo-org/*, octo-org/api, property:tier=gold",
        mode="plan",
        env={"GITHUB_REPOSITORY": "octo-org/WORKFLOWS"},
        runner=True,
    )
    assert rows(run) == {"Octo-Org/API": "to open"}, run.console
    assert not any("/repos/" in each or "/properties/" in each for each in asked(host))


@pytest.mark.parametrize(
    ("name", "state"), [("octo-org/new-name", "opened"), ("elsewhere/name", "not writable")]
)
def test_a_repository_that_is_renamed_during_the_run_is_written_to_if_its_name_is_selected(
    many: Start, make: Make, host: StandInHost, name: str, state: str
) -> None:
    [repository] = make(0, 1)
    meanwhile(
        host, lambda request: request.path == "/graphql", lambda: repository.person.rename(name)
    )
    run = many()
    assert states(run) == {state: 1}, run.text
    # It is not deferred because of a cap
    assert "max_pull_requests" not in run.text


@pytest.mark.parametrize("order", ["octo-org/r0, !octo-org/old-*", "!octo-org/old-*, octo-org/r0"])
def test_a_renamed_repository_may_be_excluded_under_its_new_name(
    many: Start, make: Make, order: str
) -> None:
    """As for all names, the last pattern decides."""
    one, _ = make(0, 2)
    one.person.rename("octo-org/old-r0")
    run = many(target_repos=f"{order}, octo-org/r1")
    named_last = order.endswith("r0")
    assert rows(run) == {"octo-org/r1": "opened"} | (
        {"octo-org/old-r0": "opened"} if named_last else {}
    )
    assert run.report["many"]["budget"]["excluded"] == ({} if named_last else {"excluded": 1})


def test_two_repositories_that_had_one_name_during_the_listing_are_two(
    many: Start, make: Make, host: StandInHost
) -> None:
    repositories = make(0, 101)

    def pass_the_name_on() -> None:
        repositories[0].person.rename("octo-org/renamed")
        host.create_repository("octo-org/r0", PRESENT)

    meanwhile(host, lambda request: request.query.get("page") == "2", pass_the_name_on)
    run = many(target_repos="octo-org/*", mode="plan").or_fail()
    assert run.report["many"]["budget"]["found"] == 102
    assert states(run) == {"to open": 102}


def test_repositories_of_the_tokens_own_account_are_not_found_where_another_persons_are_meant(
    many: Start, host: StandInHost
) -> None:
    """Only the list of the token's account has a person's private repositories."""
    host.users.update({"octocat", "somebody"})
    for name in ("octocat/mine", "somebody/theirs"):
        host.create_repository(name, PRESENT)
    token = host.create_token(login="octocat")
    run = many(host_token=token, target_repos="somebody/*")
    assert set(rows(run)) == {"somebody/theirs"}
    assert run.report["many"]["budget"]["found"] == 1, run.console


def test_an_apps_token_lists_what_it_is_installed_for(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 3)
    token = host.create_token("installation", repositories=["octo-org/r1", "octo-org/r2"])
    run = many(host_token=token, mode="plan")
    assert set(rows(run)) == {"octo-org/r1", "octo-org/r2"}
    assert "GET /installation/repositories" in asked(host)


@pytest.mark.parametrize("targets", ["other-org/*", "octo-org/*, Other-Org/api-*"])
def test_an_owner_of_whom_an_apps_token_sees_nothing_is_an_error_and_not_a_short_list(
    many: Start, make: Make, host: StandInHost, targets: str
) -> None:
    make(1, 1)
    host.create_repository("other-org/api-x", PRESENT, private=True)
    token = host.create_token("installation", repositories=["octo-org/r0", "octo-org/r1"])
    run = many(host_token=token, target_repos=targets, mode="plan")
    assert (run.exit_code, len(host.requests)) == (2, 2)
    assert "The App's token sees no repository of other-org" in run.stderr


def test_a_persons_private_repositories_are_found(many: Start, host: StandInHost) -> None:
    host.create_repository("octocat/open", PRESENT)
    host.create_repository("octocat/secret", PRESENT, private=True)
    run = many(target_repos="octocat/*", mode="plan")
    for name in ("octocat/open", "octocat/secret"):
        assert f"{name}: missing files: 4" in run.stdout


def test_a_failure_does_not_say_that_there_is_no_such_owner(many: Start, host: StandInHost) -> None:
    host.create_repository("octocat/open", PRESENT)
    refuse(host, lambda request: request.path == "/users/octocat/repos", 403, message="No")
    run = many(target_repos="octocat/*")
    assert (run.exit_code, only_reads(host)) == (2, True)
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
def test_what_cannot_be_begun_is_refused(
    many: Start, make: Make, host: StandInHost, inputs: dict[str, str], part: str
) -> None:
    make(1, 1)
    run = many(**inputs)
    assert run.exit_code == 2
    assert part in run.console
    assert only_reads(host)


@pytest.mark.parametrize("kind", ["classic", "installation"])
def test_repositories_may_be_chosen_by_the_day_on_which_they_were_created(
    many: Start, make: Make, host: StandInHost, kind: Kind
) -> None:
    """From the list that is read anyway; one that is named is looked at, too."""
    for day, repository in enumerate(make(0, 4), start=1):
        repository.person.change(created_at=datetime(2026, 1, day, 23, 59, tzinfo=UTC).timestamp())
    inputs = {"host_token": host.create_token(kind), "mode": "plan"}
    assert len(rows(many(inputs))) == 4
    requests = asked(host)
    host.requests.clear()
    days = "created:>=2026-01-02, created:<=2026-01-03"
    run = many(inputs, target_repos=f"octo-org/*, octo-org/r3, {days}")
    assert set(rows(run)) == {"octo-org/r1", "octo-org/r2"}
    assert asked(host) == requests


def test_a_list_that_is_known_to_be_incomplete_is_an_error(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(1, 1)
    run = many(host_token=host.create_token(hidden_by_sso=["octo-org"]))
    assert (run.exit_code, only_reads(host)) == (2, True)
    assert "single sign-on" in run.console


def test_a_persons_own_list_lacks_organisations_that_have_nothing_to_do_with_it(
    many: Start, host: StandInHost
) -> None:
    repository = host.create_repository("octocat/notes", private=True)
    token = host.create_token(hidden_by_sso=["octo-org"])
    many(target_repos="octocat/*", host_token=token).or_fail()
    assert len(repository.pull_requests) == 1


@pytest.mark.parametrize("kind", ["classic", "installation"])
@pytest.mark.parametrize("max_minutes", ["360", "0.05"])
def test_a_list_whose_pages_repeat_ends_with_an_error(
    many: Start, make: Make, host: StandInHost, kind: Kind, max_minutes: str
) -> None:
    """As behind a gateway that drops `page`."""
    make(103, 0)
    sent = list[Response]()

    def first_again(_request: Request, page: Response) -> Response:
        sent.append(page)
        return sent[0]

    host.faults.change(first_again, lambda request: "per_page" in request.query)
    run = many(host_token=host.create_token(kind), max_minutes=max_minutes)
    assert run.exit_code == 2
    assert "list of repositories does not end: page 2 has nothing new" in run.stderr
    assert len(host.requests) == 3


@pytest.mark.parametrize(
    ("kind", "cut"), [("classic", 0), ("installation", 0), ("installation", 1)]
)
def test_a_full_page_without_a_link_is_followed_by_the_next_one(
    many: Start, make: Make, host: StandInHost, kind: Kind, cut: int
) -> None:
    """As behind a gateway that drops the header.

    The next one is asked for even if this one is not full, where GitHub says how many there are.
    """
    made = make(100, 1)

    def without_link(request: Request, page: Response) -> Response:
        page.headers.pop("Link", None)
        if request.query.get("page") == "1" and cut:
            del page.body["repositories"][:cut]
        return page

    host.faults.change(without_link)
    run = many(host_token=host.create_token(kind), mode="check")
    assert (run.exit_code, run.outputs["repositories"]) == (1, str(len(made) - cut))
    pages = [request.query["page"] for request in host.requests if "page" in request.query]
    assert pages == ["1", "2", "3"][: 2 + cut]


@pytest.mark.parametrize("kind", ["classic", "installation"])
def test_three_pages_are_asked_for_at_once(
    many: Start, make: Make, host: StandInHost, kind: Kind
) -> None:
    """From the second one on: then their number is known. They are read in their order."""
    made = make(601, 0)
    together, pages = threading.Barrier(3), list[str]()

    def meet(request: Request) -> None:
        if "page" in request.query:
            pages.append(request.query["page"])
            if pages[-1] != "1":
                together.wait(timeout=60)

    host.on_request = meet
    run = many(host_token=host.create_token(kind), mode="plan")
    assert run.outputs["repositories"] == str(len(made))
    assert pages[0] == "1"
    assert sorted(pages) == list("1234567")


def test_pages_that_a_link_only_promises_take_no_memory_and_end(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(103, 0)

    def far_away(_request: Request, page: Response) -> Response:
        last = r'\bpage=\d+(?=[^<>]*>; rel="last")'
        page.headers["Link"] = re.sub(last, "page=999999999", page.headers["Link"])
        return page

    host.faults.change(far_away, lambda request: "page" in request.query).times = 1
    run = many(mode="plan")
    assert (run.exit_code, run.outputs["repositories"]) == (0, str(len(made)))
    assert len(host.requests) < 20


@pytest.mark.parametrize("listed", ["classic", "installation", "properties"])
def test_the_time_of_a_run_ends_while_repositories_are_listed(
    many: Start, make: Make, host: StandInHost, action: Action, listed: Any
) -> None:
    """Or their properties."""
    is_properties = listed == "properties"
    make(450, 0)
    host.quirks.without_properties = is_properties
    pages = ("/values",) if is_properties else ("/repos", "/repositories")
    asked_for = list[str]()

    def slow(request: Request) -> None:
        if request.path.endswith(pages):
            asked_for.append(request.path)
            action.clock.sleep(31)

    host.on_request = slow
    token = host.create_token("classic" if is_properties else listed)
    targets = f"{ALL}, -property:tier=bronze" if is_properties else ALL
    run = many(host_token=token, target_repos=targets, max_minutes="1")
    assert run.exit_code == 2
    assert "max_minutes (1 min) was over before all repositories were listed" in run.stderr
    # The first page, and those that are asked for at the same time
    assert 2 <= len(asked_for) <= 4


def test_a_repository_that_a_list_of_properties_lacks_is_asked_for_by_itself(
    many: Start, make: Make, host: StandInHost
) -> None:
    """If a repository of an earlier page is deleted, the first one of the next page moves there.

    If that one is gone, too, the others are still asked for.
    """
    made = make(100, 3)
    frozen = made[100]
    frozen.person.change(properties={"tier": "bronze"})
    host.quirks.without_properties = True

    def delete(request: Request) -> None:
        if request.path.endswith("/values") and request.query.get("page") == "2":
            made[0].person.delete()
            made[102].person.delete()

    host.on_request = delete
    run = many(target_repos=f"{ALL}, -property:tier=bronze")
    gone = {made[0].full_name: "failed", made[102].full_name: "failed"}
    assert rows(run) == {**gone, made[101].full_name: "opened"}
    assert opened([frozen, made[101]]) == [0, 1]


def test_a_list_that_gives_no_property_does_not_say_that_there_is_none(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(0, 2)
    made[0].person.change(properties={"tier": "gold"})
    host.quirks.empty_properties = True
    permissions = {"contents": "write", "pull_requests": "write"}
    token = host.create_token("installation", permissions=permissions)
    run = many(host_token=token, target_repos=f"{ALL}, property:tier=gold")
    assert rows(run) == {made[0].full_name: "opened"}


@pytest.mark.parametrize(
    ("count", "left", "said"),
    [
        (4, 5000, ""),
        (4, 4, "Requests needed: 3, left: 2"),
        pytest.param(
            1002, 5000, "Give the token *Custom properties: read*", marks=pytest.mark.large
        ),
    ],
)
def test_where_the_list_of_properties_is_refused_each_repository_is_asked(
    many: Start, make: Make, host: StandInHost, count: int, left: int, said: str
) -> None:
    """Those that are meant, and no more than can be asked."""
    made = make(0, count)
    made[0].person.change(properties={"tier": "gold"})
    made[1].person.archive()
    host.quirks.without_properties = True
    host.rate_limit = RateLimit(remaining=left)
    permissions = {"contents": "write", "pull_requests": "write"}
    token = host.create_token("installation", permissions=permissions)
    run = many(host_token=token, target_repos=f"{ALL}, property:tier=gold")
    alone = [each for each in host.requests if re.fullmatch(r"/repositories/\d+/.+", each.path)]
    if said:
        assert (run.exit_code, alone, only_reads(host)) == (2, [], True)
        assert said in run.stderr
    else:
        assert (rows(run), len(alone)) == ({made[0].full_name: "opened"}, 3)


def test_an_error_for_the_list_of_properties_does_not_lead_to_each_repository(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 1)
    host.quirks.without_properties = True
    refuse(host, lambda request: request.path.endswith("/properties/values"), 502)
    run = many(target_repos=f"{ALL}, property:tier=gold")
    assert "Reading custom properties of octo-org failed" in run.stderr
    assert not any(each.startswith("GET /repositories/") for each in asked(host))


def test_a_name_that_somebody_chose_makes_no_pattern_slow(many: Start, host: StandInHost) -> None:
    host.create_repository("octo-org/" + "-" * 100, LISTED)
    run = many(target_repos=f"octo-org/{'*-' * 30}x, octo-org/r*", mode="plan")
    assert run.exit_code == 2
    assert "Of the repositories that were found (1), none is selected" in run.stderr


@pytest.mark.parametrize(
    ("name", "own"), [("octo-org/r0", "octo-org/r0"), ("Me/tools", "me/Tools")]
)
def test_a_workflows_own_token_is_recognised(
    many: Start, make: Make, host: StandInHost, name: str, own: str
) -> None:
    make(1, 1)
    host.create_repository("Me/tools")
    token = host.create_token("installation", repositories=[name])
    run = many(host_token=token, env={"GITHUB_REPOSITORY": own})
    assert run.exit_code == 2
    assert f"A workflow's own token sees only {own}" in run.console


def test_an_app_that_may_not_list_repositories_lacks_a_permission(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(1, 1)
    no, needed = "Resource not accessible by integration", "X-Accepted-GitHub-Permissions"
    listed = "GET /installation/repositories"
    refuse(host, listed, 403, message=no, headers={needed: "metadata=read"})
    run = many(host_token=host.create_token("installation"), env={"GITHUB_REPOSITORY": "a/b"})
    assert run.exit_code == 2
    assert "The token lacks a permission; GitHub asks for: metadata=read." in run.console
