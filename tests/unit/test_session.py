"""A session sends a request until its outcome is final, with further tries, waits and lag."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from registrar.errors import Cancelled, GitHubError, Kind, OutOfTime
from registrar.github.answer import UnexpectedRequest
from registrar.github.case import Context
from registrar.github.fields import Absent, Fields
from registrar.github.graphql import GraphQL
from registrar.github.limits import RetryPolicy, TokenLimits
from registrar.github.queries import Query
from registrar.github.rest import Rest
from registrar.github.session import Request, Session
from registrar.github.transport import Attempt, Transport
from registrar.models.repository import PullRequest, Repository
from registrar.models.task import Change
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Message, msg
from tests.clocks import FakeClock

OK = (200, {"id": "x"})
BROKEN = (500, {"message": "oops"})
ABSENT = (404, {"message": "Not Found"})
LIMITED = (403, {"message": "You have exceeded a secondary rate limit."})
REPOSITORY = Repository("octo/example", "main", "https://github.com/octo/example")
EXISTS = (422, {"message": "Reference already exists"})


class Scripted:
    """A host that gives its answers in order, and the last one again and again, with a session."""

    def __init__(self, minutes: float = 15) -> None:
        self.answers: list[tuple[int, Any]] = [OK]
        self.seen: list[str] = []
        self.clock = FakeClock()
        self.said: list[Message] = []
        host = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                host.seen.append(f"{self.command} {self.path}")
                more = len(host.answers) > 1
                status, data = host.answers.pop(0) if more else host.answers[0]
                body = json.dumps(data).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_PATCH = answer  # noqa: N815 (the names of http.server)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        token = "ghp_" + "a" * 36
        self.cancellation = Cancellation(self.clock)
        policy = RetryPolicy(
            max_seconds=minutes * 60, announce=self.said.append, cancellation=self.cancellation
        )
        transport = Transport(token=token, api_url=f"http://127.0.0.1:{self.server.server_port}")
        context = Context(transport.host, "octo/example", "", "")
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.session = Session(transport, TokenLimits(token, self.clock), policy, context)

    def send(self, method: str = "PUT", **more: Any) -> str:
        """Send one request, and return the `id` in its answer."""

        def call(attempt: Attempt) -> str:
            _, data = attempt.github.requester.requestJsonAndCheck(method, "/x")
            if data == []:
                raise Absent("an empty list")
            return Fields(data).text("id")

        return self.session.request(
            Request(msg("operation.token"), call, writes=method != "GET", **more)
        )

    def failure(self, method: str = "PUT", **more: Any) -> GitHubError:
        """Send one request, which must fail, and return the error."""
        with pytest.raises(GitHubError) as failed:
            self.send(method, **more)
        return failed.value

    def ask(self, text: str = "query { x }", **more: Any) -> str:
        """Send one request to GraphQL, and return the `id` in its answer."""
        graphql = GraphQL(self.session, Rest(self.session))
        operation = msg("operation.token")
        return graphql.ask(operation, Query(text, {}), lambda data, _: data.text("id"), **more)

    @property
    def waited(self) -> float:
        """The seconds that have been waited."""
        return self.clock.now - FakeClock().now


def reason_of(error: GitHubError) -> Message:
    """Return the reason of an error."""
    reason = error.message.values["reason"]
    assert isinstance(reason, Message)
    return reason


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[Scripted]:
    scripted = Scripted(*getattr(request, "param", ()))
    yield scripted
    scripted.server.shutdown()
    scripted.server.server_close()


def test_a_passing_failure_is_tried_again(host: Scripted) -> None:
    host.answers = [BROKEN, BROKEN, OK]
    assert host.send() == "x"
    assert host.session.wrote
    assert len(host.seen) == 3
    assert 1.5 <= host.waited <= 1.9
    assert [m.key for m in host.said] == ["wait.pause", "wait.pause"]


def test_a_failure_that_lasts_is_an_error_that_says_how_often(host: Scripted) -> None:
    host.answers = [BROKEN]
    error = host.failure()
    assert (error.kind, error.may_have_been_applied) == (Kind.TRANSIENT, True)
    reason = reason_of(error)
    assert (reason.key, reason.values["count"]) == ("host.gave_up", 6)
    assert len(host.seen) == 6
    assert not host.session.wrote
    assert not host.failure("GET").may_have_been_applied


def test_the_pause_after_a_limit_does_not_depend_on_other_failures(host: Scripted) -> None:
    host.answers = [BROKEN, BROKEN, BROKEN, BROKEN, LIMITED, OK]
    assert host.send() == "x"
    assert 67.5 <= host.waited <= 84.4


def listed(number: int, branch: str, body: str = "") -> dict[str, Any]:
    """Return an open pull request as GitHub lists it."""
    repo = {"id": 1, "full_name": "octo/example"}
    return {
        "number": number,
        "html_url": f"https://github.com/octo/example/pull/{number}",
        "body": body,
        "state": "open",
        "user": None,
        "author_association": "NONE",
        "head": {"ref": branch, "sha": "1" * 40, "repo": repo},
        "base": {"ref": "main", "repo": repo},
        "labels": [],
        "assignees": [],
        "created_at": "2026-01-01T00:00:00Z",
        "closed_at": None,
        "merged_at": None,
        "merge_commit_sha": None,
    }


@pytest.mark.parametrize("number", [1, 101])
def test_a_list_says_that_a_pull_request_is_absent_on_its_last_page_only(
    host: Scripted, number: int
) -> None:
    pulls = [listed(n, "x" if n == number else "theirs") for n in range(1, 102)]
    host.answers = [(200, pulls[:100]), (200, pulls[100:])]
    host.session.note_made()
    found = Rest(host.session).open_pull_requests(REPOSITORY, "x")
    assert [pull.number for pull in found] == [number]
    assert host.waited == 0


def test_pull_requests_of_another_repository_that_has_the_name_by_now_are_not_used(
    host: Scripted,
) -> None:
    rest = Rest(host.session)
    host.answers = [(200, [listed(7, "x")])]
    [pull] = rest.pull_requests(REPOSITORY._replace(id=1), "x")
    assert pull.number == 7
    with pytest.raises(GitHubError) as failed:
        rest.pull_requests(REPOSITORY._replace(id=2), "x")
    assert failed.value.kind is Kind.UNUSABLE


def test_a_pull_request_that_is_open_again_was_not_closed_by_the_lost_request(
    host: Scripted,
) -> None:
    pull = listed(7, "x", "new")
    closed = pull | {"state": "closed"}
    host.answers = [(200, pull), BROKEN, (200, pull), (200, closed)]
    rest, given = Rest(host.session), PullRequest(7, pull["html_url"])
    found = rest.update_pull_request(REPOSITORY, given, lambda _: Change("new", closes=True))
    assert found
    assert not found.is_open
    assert [call.split()[0] for call in host.seen] == ["GET", "PATCH", "GET", "PATCH"]


def test_the_beginning_of_a_branch_is_escaped_in_the_address(host: Scripted) -> None:
    host.answers = [(200, [])]
    assert Rest(host.session).branches_from(REPOSITORY, "add/50%#1") == {}
    [call] = host.seen
    assert call.endswith("/octo/example/git/matching-refs/heads/add/50%25%231")


def test_without_a_list_of_branches_no_name_is_suggested(host: Scripted) -> None:
    host.answers = [ABSENT]
    error = Rest(host.session).no_branch_error(REPOSITORY, "develop")
    assert error.message.key == "preflight.base_missing"


@pytest.mark.parametrize("error", ["boom", None, {}])
def test_a_query_with_any_error_beside_its_data_is_no_success(host: Scripted, error: Any) -> None:
    host.answers = [(200, {"data": {"id": "x"}, "errors": [error]})]
    with pytest.raises(GitHubError):
        host.ask(tolerates=lambda error: bool(error.path))


@pytest.mark.parametrize("body", [{"data": None}, {"data": {}}, {"data": "<html>"}, {}, [], None])
def test_an_answer_to_a_query_without_what_was_asked_for_is_no_success(
    host: Scripted, body: Any
) -> None:
    host.answers = [(200, body)]
    with pytest.raises(GitHubError) as failed:
        host.ask()
    assert failed.value.kind is Kind.UNUSABLE


def test_only_a_limit_doubles_the_interval_between_writes_and_once_for_a_request(
    host: Scripted,
) -> None:
    pace = host.session.limits.pace
    pace.expect(1, end=host.clock.now + 10_000)
    intervals = []
    for failures in ([BROKEN, BROKEN], [LIMITED, BROKEN, LIMITED], [LIMITED]):
        host.answers = [*failures, OK]
        assert host.send() == "x"
        intervals.append(pace.interval)
    assert intervals == [1, 2, 4]


def test_limits_take_no_tries_from_other_failures(host: Scripted) -> None:
    host.answers = [LIMITED, LIMITED, LIMITED, BROKEN, BROKEN, BROKEN, BROKEN, BROKEN, OK]
    assert host.send() == "x"


@pytest.mark.parametrize("host", [(0,)], indirect=True, ids=["no waiting is allowed"])
def test_a_success_stands_even_where_the_pause_that_it_asks_for_is_too_long(
    host: Scripted,
) -> None:
    read = {"data": {"id": "x"}, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit"}]}
    host.answers = [(200, read)]
    assert host.ask("mutation { x }", writes=True) == "x"
    with pytest.raises(OutOfTime):
        host.send("GET")
    assert len(host.seen) == 1


def test_what_is_not_idempotent_is_not_sent_again_when_it_may_have_been_applied(
    host: Scripted,
) -> None:
    host.answers = [BROKEN, OK]
    assert host.failure(idempotent=False).may_have_been_applied
    assert len(host.seen) == 1
    host.answers = [LIMITED, OK]
    assert host.send(idempotent=False) == "x"


def test_a_refusal_after_a_lost_answer_says_that_it_may_be_ours(host: Scripted) -> None:
    host.answers = [BROKEN, EXISTS]
    error = host.failure()
    assert (error.already_exists, error.nothing_done) == (True, False)
    assert error.may_have_been_applied
    host.answers = [EXISTS]
    assert not host.failure().may_have_been_applied


def test_a_limit_has_done_nothing_however_long_it_lasts(host: Scripted) -> None:
    host.answers = [LIMITED]
    with pytest.raises(OutOfTime) as ended:
        host.send()
    assert not host.session.may_have_been_applied
    assert ended.value.message.key == "limit.out_of_time"
    assert host.waited <= 15 * 60


def test_a_limit_after_a_lost_answer_may_have_been_applied(host: Scripted) -> None:
    host.answers = [BROKEN, LIMITED]
    with pytest.raises(OutOfTime):
        host.send()
    assert host.session.may_have_been_applied


@pytest.mark.parametrize("lost", [False, True])
def test_a_signal_while_waiting(
    host: Scripted, monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    host.answers = [BROKEN if lost else LIMITED]
    monkeypatch.setattr(host.clock, "sleep", lambda _: host.cancellation._on_signal(2, None))
    try:
        with pytest.raises(Cancelled):
            host.send()
    finally:
        host.cancellation.stop_timer()
    assert host.session.may_have_been_applied is lost


# --- Lag ----------------------------------------------------------------------------------------


def test_what_this_run_has_made_is_waited_for(host: Scripted) -> None:
    host.session.note_made()
    host.answers = [ABSENT] * 4 + [OK]
    # It is asked once if the waiting makes sense, because the answer may take a request
    answers = [True]
    assert host.send("GET", may_lag=True, is_worth_waiting=answers.pop) == "x"
    assert len(host.seen) == 5
    assert 3.75 <= host.waited <= 4.8
    assert [m.key for m in host.said] == ["wait.lag"]
    host.answers = [ABSENT, OK]
    assert host.send("GET", may_lag=True) == "x"
    assert [m.key for m in host.said] == ["wait.lag"]


def test_it_is_waited_for_ten_seconds_and_not_longer(host: Scripted) -> None:
    host.session.note_made()
    host.answers = [ABSENT]
    error = host.failure("GET", may_lag=True)
    assert (error.kind, reason_of(error).key) == (Kind.LAG, "host.lag")
    assert 10 <= host.waited < 11
    sent = len(host.seen)
    # A lag that lasts shows neither a missing permission nor that the object never existed
    assert host.failure("GET", may_lag=True).kind is Kind.LAG
    assert len(host.seen) == sent + 1
    host.session.note_made()
    host.clock.sleep(10)
    assert host.failure("GET", may_lag=True).kind is Kind.LAG
    assert len(host.seen) == sent + 2


def test_what_this_run_has_not_made_is_not_waited_for(host: Scripted) -> None:
    host.answers = [ABSENT]
    assert (host.failure("GET", may_lag=True).kind, host.waited) == (Kind.NOT_FOUND, 0)
    host.session.note_made()
    assert (host.failure("GET").kind, host.waited) == (Kind.NOT_FOUND, 0)


def test_a_branch_that_was_not_said_to_exist_is_not_waited_for(host: Scripted) -> None:
    rest = Rest(host.session)
    host.session.note_branch("x")
    assert host.session.branches == {"x": ""}
    host.answers = [ABSENT]
    assert rest.branch_head(REPOSITORY, "x-2") is None
    assert host.waited == 0
    host.answers = [ABSENT, (200, {"object": {"sha": "1" * 40}})]
    assert rest.branch_head(REPOSITORY, "x") == "1" * 40
    assert host.waited > 0


def test_what_is_not_on_a_commit_that_was_read_is_not_waited_for(host: Scripted) -> None:
    host.session.note_made()
    host.answers = [ABSENT]
    assert Rest(host.session).entry(REPOSITORY, "a.md", "1" * 40) is None
    assert host.waited == 0


def test_what_github_has_just_said_to_exist_is_waited_for(host: Scripted) -> None:
    host.answers = [EXISTS]
    host.failure("POST")
    host.answers = [ABSENT, OK]
    assert host.send("GET", may_lag=True) == "x"


def test_a_success_that_says_nothing_is_there(host: Scripted) -> None:
    host.session.note_made()
    host.answers = [(200, []), OK]
    assert host.send("GET", may_lag=True) == "x"


def test_a_list_that_lacks_it_for_ten_seconds_is_believed(host: Scripted) -> None:
    host.session.note_made()
    host.answers = [(200, [])]
    assert Rest(host.session).open_pull_requests(REPOSITORY, "x") == ()
    assert 10 <= host.waited < 11


# --- One request for each attempt ---------------------------------------------------------------


def incomplete(host: Scripted, address: str) -> GitHubError:
    """Read a list of pull requests without titles, and return the error.

    PyGithub would send a request to ``address`` to complete them, and this must not happen.
    """

    def call(attempt: Attempt) -> str:
        [pull] = attempt.github.get_repo("octo/example").get_pulls().get_page(0)
        return pull.title

    host.answers = [(200, [{"number": 1, "url": address}])]
    with pytest.raises(GitHubError) as failed:
        host.session.request(Request(msg("operation.token"), call))
    assert set(host.seen) == {"GET /repos/octo/example/pulls?per_page=100"}
    return failed.value


def test_an_attempt_sends_no_second_request(host: Scripted) -> None:
    error = incomplete(host, "https://api.example/repos/octo/example/pulls/1")
    assert error.kind is Kind.UNUSABLE


def test_a_second_request_is_named_by_its_address(host: Scripted) -> None:
    address = f"{host.url}/repos/octo/example/pulls/1"
    inner = reason_of(incomplete(host, address)).values["reason"]
    assert isinstance(inner, Message)
    assert (inner.key, inner.values["address"]) == ("fault.unexpected_request", f"GET {address}")


def test_nothing_is_sent_outside_an_attempt(host: Scripted) -> None:
    kept: list[Attempt] = []

    def call(attempt: Attempt) -> str:
        kept.append(attempt)
        _, data = attempt.github.requester.requestJsonAndCheck("GET", "/x")
        return Fields(data).text("id")

    host.session.request(Request(msg("operation.token"), call))
    with pytest.raises(UnexpectedRequest, match="GET http://"):
        kept[0].github.requester.requestJsonAndCheck("GET", "/y")
    assert host.seen == ["GET /x"]


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/x", "http://evil.localhost/x"])
def test_nothing_is_sent_to_another_origin(host: Scripted, address: str) -> None:
    """PyGithub would send the token to subdomains of a host."""
    port = host.server.server_port
    url = f"http://localhost:{port}" if "localhost" in address else f"http://127.0.0.1:{port}"
    transport = Transport(token="ghp_" + "a" * 36, api_url=url)
    session = Session(
        transport,
        host.session.limits,
        RetryPolicy(max_seconds=0, announce=host.said.append, cancellation=host.cancellation),
        host.session.context,
    )
    with pytest.raises((UnexpectedRequest, AssertionError)):
        session.request(
            Request(
                msg("operation.token"),
                lambda attempt: attempt.github.requester.requestJsonAndCheck("GET", address)[1],
            )
        )
    assert host.seen == []


def test_a_reference_that_is_refused_is_asked_for_twice_more(host: Scripted) -> None:
    host.answers = [(422, {"message": "Reference update failed"})]
    assert host.failure("POST").nothing_done
    assert len(host.seen) == 3
