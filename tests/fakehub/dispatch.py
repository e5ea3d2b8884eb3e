"""Answer requests: check them against the description, the token and the limits, add faults."""

from __future__ import annotations

import re
import secrets
import threading
from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING

from . import descriptions, git_http, graphql
from .answer import Answer, Response, error_body
from .limits import RateLimit
from .refusals import Refusal, not_found
from .repository import Repository
from .representations import Representations, user_id
from .request import Request
from .rest import LISTINGS, ROUTES, Call
from .tokens import Token

if TYPE_CHECKING:
    from .host import StandInHost

DOCS = "https://docs.github.com/rest"
GRAPHQL_DOCS = "https://docs.github.com/graphql"
GRAPHQL = ("/graphql", "/api/graphql")
ROOT_CONTENTS = re.compile("/repos/[^/]+/[^/]+/contents")
NUMBERED = {"organizations": "orgs", "user": "users"}


class Dispatcher:
    """Answers the requests to a stand-in; it keeps count of the uses of each token."""

    def __init__(self, host: StandInHost) -> None:
        self._host = host
        self._lock = threading.Lock()
        self._bad_credentials = 0
        self._uses: Counter[str] = Counter()

    def respond(self, record: Request, prefix: str, raw_path: str, body: bytes) -> Answer:
        """Return the answer to a request, or the answer of the fault that replaces it."""
        if self._host.on_request is not None:
            self._host.on_request(record)
        to_graphql = record.method == "POST" and raw_path in GRAPHQL
        to_git = git_http.ADDRESS.fullmatch(raw_path)
        fault = self._host.faults.take(record)
        if fault is not None and fault.when == "before":
            self._host.spend_latency()
            if not to_graphql and not to_git:
                self._describe(record, raw_path, bool(body))
            return fault.answer(record, None, self._host.elsewhere, self._host.now())
        if to_graphql:
            answer = self._answer_graphql(record)
        elif to_git:
            self._host.spend_latency()
            answer = git_http.respond(self._host, record, to_git, body)
        else:
            answer = self._answer(record, prefix, raw_path, bool(body))
        if fault is None:
            return answer
        return fault.answer(record, answer, self._host.elsewhere, self._host.now())

    def _describe(
        self, record: Request, raw_path: str, given: bool
    ) -> tuple[descriptions.Operation, dict[str, str]] | None:
        """Return the operation of a request, and its path parameters; None if there is none.

        Every part of the request that the description does not allow is recorded as a mismatch.
        """
        found = descriptions.find(record.method, self._by_name(raw_path))
        if found is None:
            self._mismatch(record, "no such operation in the description")
        else:
            for error in found[0].request_errors(record.query, record.json, given):
                self._mismatch(record, error)
        return found

    def _by_name(self, raw_path: str) -> str:
        """Return the path with names if it gives a repository or an owner by its number.

        The description has only paths with names.
        """
        _, kind, number, *rest = [*raw_path.split("/", 3), "", ""]
        rest = [each for each in rest if each]
        if kind == "repositories":
            repository = self._host.repository_by_id(number)
            # No repository has this name, so the request is answered with 404
            name = repository.full_name if repository else f"gone/{number}"
            if number.isdecimal():
                raw_path = "/".join(["/repos", name, *rest])
        elif kind in NUMBERED and rest == ["repos"]:
            for repository in self._host.repositories:
                if str(user_id(repository.owner.lower())) == number:
                    return f"/{NUMBERED[kind]}/{repository.owner}/repos"
        # The description has a path with `/contents/`, but none for the root of a repository
        return f"{raw_path}/" if ROOT_CONTENTS.fullmatch(raw_path) else raw_path

    def _answer(self, record: Request, prefix: str, raw_path: str, given: bool) -> Response:
        found = self._describe(record, raw_path, given)
        if found is None:
            return Response(404, error_body(404, "Not Found", DOCS))
        operation, parameters = found
        overlapping = operation.name in ROUTES and not ROUTES[operation.name].locked
        if not overlapping:
            self._host.spend_latency()
        token = None
        try:
            self._check_version(record)
            token = self._authenticate(record)
            answer = self._perform(record, prefix, operation, parameters, token)
        except Refusal as refusal:
            documentation = refusal.documentation_url or operation.documentation_url
            body = error_body(refusal.status, refusal.message, documentation, refusal.errors)
            answer = Response(refusal.status, body, dict(refusal.headers))
        self._check(record, operation, answer)
        answer.headers |= self._usual_headers(token, self._host.rate_limit, "core")
        return answer

    def _answer_graphql(self, record: Request) -> Response:
        """Return the answer of GraphQL, which has status 200 for most errors as well."""
        self._host.spend_latency()
        token = None
        try:
            token = self._authenticate(record)
            answer = self._execute(record, token)
        except Refusal as refusal:
            documentation = refusal.documentation_url or GRAPHQL_DOCS
            body = error_body(refusal.status, refusal.message, documentation, refusal.errors)
            answer = Response(refusal.status, body, dict(refusal.headers))
        answer.headers |= self._usual_headers(token, self._host.graphql_rate_limit, "graphql")
        return answer

    def _execute(self, record: Request, token: Token) -> Response:
        if self._host.graphql_rate_limit is not None:
            try:
                points = graphql.points(record.json)
                with self._lock:
                    self._host.graphql_rate_limit.spend(token.login, self._host.now(), points)
            except Refusal as refusal:
                error = {"type": "RATE_LIMITED", "message": refusal.message}
                return Response(200, {"errors": [error]})
        answer, mismatches = graphql.respond(self._host, token, record.json)
        for mismatch in mismatches:
            self._mismatch(record, mismatch)
        return answer

    def _check_version(self, record: Request) -> None:
        """Raise `Refusal` 410 if GitHub no longer supports the API version.

        The words are those of the 400 for an unknown version (expipiplus1/update-nix-fetchgit#79);
        nobody has confirmed them for a version that is no longer supported.
        """
        version = record.headers.get("x-github-api-version")
        if version in self._host.quirks.gone_api_versions:
            raise Refusal(
                410,
                f'The version you specified in the "X-GitHub-API-Version" request header, '
                f'"{version}", is not a supported version.',
                documentation_url=f"{DOCS}/about-the-rest-api/api-versions",
            )

    def _authenticate(self, record: Request) -> Token:
        """Return the token of a request.

        Raise `Refusal` 401 if there is none or it is not valid, and 403 after many wrong tokens in
        a row (`Quirks.most_wrong_tokens`).
        """
        if record.token is None:
            raise Refusal(401, "Requires authentication")
        token = self._host.find_token(record.token)
        with self._lock:
            self._uses[record.token] += 1
            died = (
                token and token.requests is not None and self._uses[record.token] > token.requests
            )
        if token is None or died or self._host.now() < token.known_from:
            self._bad_credentials += 1
            if self._bad_credentials > self._host.quirks.most_wrong_tokens:
                message = "Maximum number of login attempts exceeded. Please try again later."
                raise Refusal(403, message, documentation_url=DOCS)
            raise Refusal(401, "Bad credentials", documentation_url=DOCS)
        self._bad_credentials = 0
        return token

    def _perform(
        self,
        record: Request,
        prefix: str,
        operation: descriptions.Operation,
        parameters: dict[str, str],
        token: Token,
    ) -> Response:
        if operation.name == "GET /rate_limit":
            return self._show_rate_limit()
        with self._lock:
            if self._host.rate_limit is not None:
                self._host.rate_limit.spend(token.login, self._host.now())
        root = self._host.url + prefix
        show = Representations(
            root,
            self._host.url,
            people=self._host.users,
            old_ids=self._host.quirks.old_ids,
            with_properties=not self._host.quirks.without_properties,
            empty_properties=self._host.quirks.empty_properties,
        )
        call = Call(self._host, token, show, parameters, dict(record.query))
        if operation.name in LISTINGS:
            return LISTINGS[operation.name](call)
        full_name = f"{parameters.pop('owner')}/{parameters.pop('repo')}"
        repository, moved = self._host.find_repository(full_name)
        if moved:
            return redirect(record, root, repository)
        if record.method == "GET" and record.path.endswith("/") and "path" in parameters:
            # The address lacks the query: octokit/octokit.js#1660, PyGithub/PyGithub#2125
            place = f"{root}/repositories/{repository.id}/contents/{parameters['path']}"
            return Response(302, None, {"Location": place.rstrip("/")})
        route = ROUTES[operation.name]
        token.require(repository, *route.needs)
        if not repository.has_pull_requests and "/pulls" in operation.name:
            # augurlabs/augur#3731 shows it for a read; nobody has confirmed it for a write
            raise not_found()
        if record.method != "GET":
            if repository.disabled:
                raise Refusal(403, "Repository access blocked")
            if self._host.pace is not None:
                self._host.pace.spend(self._host.clock.monotonic())
        body = {} if record.json is None else record.json
        repository_call = call.to(repository, body)
        if not route.locked:
            return route.handler(repository_call)
        with repository.lock:
            return route.handler(repository_call)

    def _show_rate_limit(self) -> Response:
        if self._host.rate_limit is None:
            raise Refusal(404, "Rate limiting is not enabled.")
        core = self._host.rate_limit.state(self._host.now())
        full = {"used": 0, "reset": core["reset"]}
        resources = {"core": core, "search": {"limit": 30, "remaining": 30, **full}}
        if self._host.graphql_rate_limit is not None:
            resources["graphql"] = self._host.graphql_rate_limit.state(self._host.now())
        return Response(200, {"resources": resources, "rate": core})

    def _usual_headers(
        self, token: Token | None, limit: RateLimit | None, resource: str
    ) -> dict[str, str]:
        headers = {"X-GitHub-Request-Id": secrets.token_hex(8).upper()}
        if token is not None and token.kind == "classic":
            headers["X-OAuth-Scopes"] = ", ".join(token.scopes)
        if limit is not None:
            shown = limit.state(self._host.now())
            headers |= {f"x-ratelimit-{name}": str(value) for name, value in shown.items()}
            headers["x-ratelimit-resource"] = resource
        return headers

    def _check(self, record: Request, operation: descriptions.Operation, answer: Response) -> None:
        if answer.status not in operation.responses:
            warning = f"{operation.name} does not document {answer.status}"
            if warning not in self._host.warnings:
                self._host.warnings.append(warning)
        for error in operation.answer_errors(answer.status, answer.body):
            self._mismatch(record, error)

    def _mismatch(self, record: Request, error: str) -> None:
        self._host.mismatches.append(
            f"#{record.number} {record.method} {record.raw_target}: {error}"
        )


def redirect(record: Request, root: str, repository: Repository) -> Response:
    """Return the redirect from a former name of a repository: 301 to a GET, 307 to a write.

    Both have the same message (octokit/fixtures, rename-repository).
    """
    status = HTTPStatus.MOVED_PERMANENTLY
    if record.method != "GET":
        status = HTTPStatus.TEMPORARY_REDIRECT
    rest = record.raw_target.partition("/repos/")[2].split("/", 2)[2:]
    query = "?" + record.raw_target.partition("?")[2] if "?" in record.raw_target else ""
    target = "/".join([f"{root}/repositories/{repository.id}", *rest])
    if query and not target.endswith(query):
        target += query
    body = {"message": "Moved Permanently", "url": target, "documentation_url": DOCS}
    return Response(status, body, {"Location": target})
