"""Faults: wrong, late and missing answers that a test can have any request get."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from .answer import Answer, Change, Drop, Raw, Response, Script, error_body
from .graphql import halved, timed_out
from .limits import BEST_PRACTICES, DOCUMENTATION, TOO_QUICKLY, too_quickly
from .raw import broken_chunks

if TYPE_CHECKING:
    from .request import Request

DOCS = "https://docs.github.com/rest"
SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)
LIMITED = "API rate limit exceeded for user ID 1."
VAGUE = "Please wait a few minutes before you try again."
HTML = b"<html><head><title>Oops</title></head><body><h1>Unicorn!</h1></body></html>"


class FaultKind(StrEnum):
    """Every kind of fault; `can_happen_after` says if it can follow a write that was applied.

    The kinds of GraphQL have status 200, with `errors` (renovatebot/renovate#21861,
    yanyongyu/githubkit#271, cli/cli#4801) or only a `message`. Only GraphQL answers errors in this
    way. `PARTIAL_200` lacks the second half of the fields of the query, and `TIMEOUT_200` has no
    data.
    """

    PRIMARY_403 = "primary-403"
    PRIMARY_429 = "primary-429"
    SECONDARY_403 = "secondary-403"
    SECONDARY_429 = "secondary-429"
    SECONDARY_403_RETRY_AFTER = "secondary-403-retry-after"
    SECONDARY_429_RETRY_AFTER = "secondary-429-retry-after"
    SECONDARY_HEADER = "secondary-header"
    SECONDARY_URL = "secondary-url"
    ERROR_500 = "error-500"
    ERROR_502_HTML = "error-502-html"
    ERROR_503 = "error-503"
    ERROR_504 = "error-504"
    RESET = "reset"
    CLOSED = "closed"
    TIMEOUT = "timeout"
    HTML_200 = "html-200"
    CUT_JSON = "cut-json"
    SHORT_BODY = "short-body"
    EMPTY_200 = "empty-200"
    WRONG_LIST = "wrong-list"
    WRONG_OBJECT = "wrong-object"
    ERROR_LIST = "error-list"
    CONFLICT_409 = "conflict-409"
    REDIRECT_301 = "redirect-301"
    REDIRECT_302 = "redirect-302"
    REDIRECT_307 = "redirect-307"
    GRAPHQL_RATE_LIMITED = "graphql-rate-limited"
    GRAPHQL_RATE_LIMIT = "graphql-rate-limit"
    GRAPHQL_SECONDARY = "graphql-secondary"
    GRAPHQL_SECONDARY_MESSAGE = "graphql-secondary-message"
    GRAPHQL_TOO_QUICKLY = "graphql-too-quickly"
    TOO_QUICKLY_403 = "too-quickly-403"
    TOO_QUICKLY_422 = "too-quickly-422"
    PARTIAL_200 = "partial-200"
    TIMEOUT_200 = "timeout-200"
    RAW = "raw"
    CHANGED = "changed"
    CUSTOM = "custom"

    @property
    def can_happen_after(self) -> bool:
        """False for refusals and rate limits, because GitHub then has not applied the request."""
        return self not in REFUSALS


REFUSALS = frozenset(
    kind
    for kind in FaultKind
    if kind.startswith(("primary", "secondary", "redirect", "conflict", "graphql", "too-quickly"))
)
GRAPHQL_BODIES: dict[FaultKind, Any] = {
    FaultKind.GRAPHQL_RATE_LIMITED: {"errors": [{"type": "RATE_LIMITED", "message": LIMITED}]},
    FaultKind.GRAPHQL_RATE_LIMIT: {"errors": [{"type": "RATE_LIMIT", "message": LIMITED}]},
    FaultKind.GRAPHQL_SECONDARY: {"errors": [{"type": "RATE_LIMITED", "message": SECONDARY}]},
    FaultKind.GRAPHQL_SECONDARY_MESSAGE: {"message": SECONDARY},
    FaultKind.GRAPHQL_TOO_QUICKLY: {
        "data": {"createPullRequest": None},
        "errors": [
            {"type": "UNPROCESSABLE", "path": ["createPullRequest"], "message": TOO_QUICKLY}
        ],
    },
}
BODIES: dict[FaultKind, Any] = {
    FaultKind.ERROR_502_HTML: HTML,
    FaultKind.ERROR_503: HTML,
    FaultKind.HTML_200: HTML,
    FaultKind.EMPTY_200: b"",
    FaultKind.WRONG_LIST: [1, "two", None],
    FaultKind.WRONG_OBJECT: {"unexpected": True},
    FaultKind.ERROR_LIST: ["something", "went wrong"],
}


@dataclass(slots=True)
class Fault:
    """A fault and the requests it hits.

    It hits the first `times` requests (all if None) that `match` accepts, beginning with request
    number `at` (1-based, any if None). With `when="before"` the request is not applied; with
    `"after"` it is applied and then answered wrongly. `retry_after`, `reset_in` and `seconds` (how
    long TIMEOUT holds the answer) are in seconds. `location` is the root that a redirect leads to.
    CUSTOM answers with `status` and `message`, or with `body`; CHANGED answers with the result of
    `change` for the right answer; RAW sends `script` (`tests.fakehub.raw`). `headers` are added to
    every kind. `hits` has the numbers of the requests that were hit. Raises ValueError if `when` is
    `"after"` and the kind cannot follow a request that was applied.
    """

    kind: FaultKind
    at: int | None = None
    match: Callable[[Request], bool] | None = None
    times: int | None = 1
    when: Literal["before", "after"] = "before"
    retry_after: int = 1
    reset_in: int = 1
    seconds: float = 1.0
    location: str | None = None
    status: int = 422
    message: str = "Something went wrong"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    change: Change = lambda _request, right: right
    script: Script = field(default_factory=broken_chunks)
    hits: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.when == "after" and not self.kind.can_happen_after:
            raise ValueError(f"{self.kind} is a refusal: it cannot follow an applied request")

    def accepts(self, request: Request) -> bool:
        return (
            (self.at is None or request.number >= self.at)
            and (self.times is None or len(self.hits) < self.times)
            and (self.match is None or self.match(request))
        )

    def answer(self, request: Request, real: Response | None, elsewhere: str, now: float) -> Answer:
        """Return the wrong answer.

        `real` is the right answer to a request that was applied, and None for other requests.
        `elsewhere` is the root that redirects lead to by default, and `now` is in seconds since
        the epoch.
        """
        refusal = self.kind in REFUSALS
        answer = self._refusal(request, elsewhere, now) if refusal else self._failure(request, real)
        if isinstance(answer, Response):
            answer.headers.update(self.headers)
        return answer

    def _refusal(self, request: Request, elsewhere: str, now: float) -> Response:
        headers: dict[str, str] = {}
        message, documentation = SECONDARY, BEST_PRACTICES
        match self.kind.partition("-")[0], self.kind:
            case "graphql", _:
                return Response(200, GRAPHQL_BODIES[self.kind])
            case "too", _:
                refusal = too_quickly(self._status())
                body = error_body(refusal.status, refusal.message, DOCS, refusal.errors)
                return Response(refusal.status, body)
            case "redirect", _:
                target = (self.location or elsewhere) + request.raw_target
                return Response(self._status(), {"message": "Moved"}, {"Location": target})
            case "primary", _:
                message, documentation = LIMITED, DOCUMENTATION
                headers["x-ratelimit-remaining"] = "0"
                headers["x-ratelimit-reset"] = str(int(now) + self.reset_in)
            case "conflict", _:
                message, documentation = f"is at {'1' * 40} but expected {'2' * 40}", DOCS
            case _, FaultKind.SECONDARY_HEADER:
                message, documentation = VAGUE, DOCS
                headers["gh-limited-by"] = "search-elapsed-time-shared-grouped"
            case _, FaultKind.SECONDARY_URL:
                message, documentation = VAGUE, f"{DOCS}/overview/secondary-rate-limits"
            case _, FaultKind.SECONDARY_403_RETRY_AFTER | FaultKind.SECONDARY_429_RETRY_AFTER:
                headers["Retry-After"] = str(self.retry_after)
        body = error_body(self._status(), message, documentation)
        return Response(self._status(), body, headers)

    def _failure(self, request: Request, real: Response | None) -> Answer:
        right = real or Response(200, {"id": 1, "name": "cut off", "url": "https://example.com"})
        payload, status = right.payload(), self._status()
        body = BODIES.get(self.kind, error_body(status, "Server Error", DOCS))
        answer: Answer = Response(status, body)
        match self.kind:
            case FaultKind.RESET | FaultKind.CLOSED:
                answer = Drop(reset=self.kind is FaultKind.RESET)
            case FaultKind.TIMEOUT:
                time.sleep(self.seconds)
                answer = real or Drop(reset=False)
            case FaultKind.CUT_JSON:
                answer = Response(right.status, payload[: len(payload) // 2], json=True)
            case FaultKind.SHORT_BODY:
                answer = Response(right.status, payload, json=True, cut=True)
            case FaultKind.WRONG_LIST | FaultKind.WRONG_OBJECT:
                answer = Response(right.status, body)
            case FaultKind.RAW:
                answer = Raw(self.script)
            case FaultKind.CHANGED:
                answer = self.change(request, right)
            case FaultKind.TIMEOUT_200:
                answer = Response(200, {"data": None, "errors": [timed_out()]})
            case FaultKind.PARTIAL_200:
                answer = Response(200, halved(request.json, right.body))
            case FaultKind.CUSTOM:
                body = error_body(self.status, self.message, DOCS)
                answer = Response(self.status, body if self.body is None else self.body)
        return answer

    def _status(self) -> int:
        """Return the status in the name of the kind; by default 403 for refusals and 500 else."""
        numbers = [int(part) for part in self.kind.split("-") if part.isdigit()]
        return numbers[0] if numbers else 403 if self.kind in REFUSALS else 500


class Faults:
    """The faults in force; a request gets the first one, in the order of `add`, that hits it."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self.are_random = False
        """Whether answers may say anything. Runs then rightly believe what nobody has done."""
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> Fault:
        with self._lock:
            self._faults.append(fault)
        return fault

    def change(self, how: Change, match: Callable[[Request], bool] | None = None) -> Fault:
        """Change the right answers to all requests, or to the requests that `match` accepts."""
        kind = FaultKind.CHANGED
        return self.add(Fault(kind, match=match, times=None, when="after", change=how))

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()

    @property
    def have_lied(self) -> bool:
        """Whether a good answer has shown something that is not there."""
        return any(
            each.hits
            and (
                each.kind in {FaultKind.CHANGED, FaultKind.RAW}
                or (each.kind is FaultKind.CUSTOM and each.status < HTTPStatus.MULTIPLE_CHOICES)
            )
            for each in self._faults
        )

    def take(self, request: Request) -> Fault | None:
        """Return the fault that hits a request, and count the hit; None if there is none."""
        with self._lock:
            for fault in self._faults:
                if fault.accepts(request):
                    fault.hits.append(request.number)
                    return fault
        return None
