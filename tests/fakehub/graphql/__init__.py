"""GraphQL for the same repositories: graphql-core executes GitHub's published schema."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    execute_sync,
    parse,
    validate,
)

from tests.fakehub.answer import Response
from tests.fakehub.graphql import cost
from tests.fakehub.graphql.mutations import Graph
from tests.fakehub.graphql.schema import schema
from tests.fakehub.quirks import AfterRefusal
from tests.fakehub.refusals import Refusal
from tests.fakehub.tokens import Token

if TYPE_CHECKING:
    from tests.fakehub.host import StandInHost

TYPES = {403: "FORBIDDEN", 404: "NOT_FOUND"}
ODD = "Something else went wrong"
TIMED_OUT = (
    "Something went wrong while executing your query. This may be the result of a timeout, or it "
    "could be a GitHub bug. Please include `{}` when reporting this issue."
)
BAD_GATEWAY = (
    "We couldn't respond to your request in time. Sorry about that. Please try resubmitting your "
    "request and contact us if the problem persists."
)


def respond(host: StandInHost, token: Token, body: Any) -> tuple[Response, list[str]]:
    """Return the answer to a GraphQL request, and its mismatches.

    A mismatch is a query that the schema does not allow, or an error in a resolver of the stand-in.
    Raises `Refusal` if the status of the answer is not 200.
    """
    given = body if isinstance(body, dict) else {}
    unknown = given.keys() - {"query", "variables", "operationName"}
    mismatches = [f"undocumented property {name}" for name in sorted(unknown)]
    document, errors = parsed(given.get("query") or "")
    if document is None:
        refused = {"errors": [formatted(error) for error in errors]}
        return Response(200, refused), [*mismatches, *map(str, errors)]
    if is_mutation(document) and host.pace is not None:
        try:
            host.pace.spend(host.clock.monotonic())
        except Refusal as refusal:
            if host.quirks.limits_at_200 or refusal.status == 422:
                return Response(200, limited(document, refusal)), mismatches
            raise
    before = state_of(host) if is_mutation(document) else {}
    noted = len(host.journal)
    result = execute_sync(
        schema(),
        document,
        Graph(host, token).root(),
        variable_values=given.get("variables"),
        operation_name=given.get("operationName"),
    )
    found = result.errors or []
    mismatches += [str(error) for error in found if not isinstance(error.original_error, Refusal)]
    reported = [formatted(error) for error in found]
    data = result.data
    if reported and is_mutation(document) and host.quirks.after_refusal is AfterRefusal.UNDONE:
        undo(host, before)
        host.journal.forget(since=noted)
        only = {key: value for key, value in reported[0].items() if key != "path"}
        return Response(200, {"data": None, "errors": [only]}), mismatches
    if data is not None and not is_mutation(document):
        data, more = within_limits(host, document, data)
        reported += more
        if host.quirks.odd_errors:
            host.quirks.odd_errors -= 1
            reported.append({"type": "INTERNAL", "path": list(data or ())[:1], "message": ODD})
    answer: dict[str, Any] = {"data": data}
    if reported:
        answer["errors"] = reported
    headers: dict[str, str] = {}
    for error in found:
        if isinstance(error.original_error, Refusal):
            headers |= error.original_error.headers
    return Response(200, answer, headers), mismatches


def points(body: Any) -> int:
    """Return how many points of the hourly rate limit a request costs."""
    given = body if isinstance(body, dict) else {}
    document, _ = parsed(given.get("query") or "")
    return cost.points(document, given.get("variables") or {}) if document else 1


def state_of(host: StandInHost) -> dict[int, tuple[dict[str, str], int]]:
    """Return the branches and the number of pull requests of each repository, for `undo`.

    Returns an empty mapping unless refused mutations are to be undone.
    """
    return {
        each.id: (
            each.heads(),
            len(each.pull_requests),
        )
        for each in host.repositories
        if host.quirks.after_refusal is AfterRefusal.UNDONE
    }


def undo(host: StandInHost, before: Mapping[int, tuple[dict[str, str], int]]) -> None:
    """Undo the mutations of a request; `before` is the state before it (`state_of`)."""
    for each in host.repositories:
        branches, pulls = before[each.id]
        each.restore(branches, pulls)


@lru_cache(maxsize=64)
def parsed(query: str) -> tuple[DocumentNode | None, list[GraphQLError]]:
    """Return the document of a query; None and its errors if the schema does not allow it."""
    try:
        document = parse(query)
    except GraphQLError as error:
        return None, [error]
    errors = validate(schema(), document)
    return (None if errors else document), errors


def within_limits(
    host: StandInHost, document: DocumentNode, data: dict[str, Any]
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Return the data within the limits, and an error for each field that is left out.

    Raises `Refusal` 502 if the query is above `Quirks.bad_gateway_above`.
    """
    quirks = host.quirks
    if not quirks.weighs_queries:
        return data, []
    counted = cost.aliases(document)
    size = cost.size(data, counted)
    limits = [each for each in (quirks.bad_gateway_above, quirks.timeout_above) if each is not None]
    if host.graphql_rate_limit is not None and any(size > limit for limit in limits):
        left = host.graphql_rate_limit.remaining
        host.graphql_rate_limit.remaining = max(left - quirks.points_of_timeout, 0)
    if quirks.bad_gateway_above is not None and size > quirks.bad_gateway_above:
        raise Refusal(502, BAD_GATEWAY)
    if quirks.timeout_above is not None and size > quirks.timeout_above:
        return None, [timed_out()]
    if quirks.partial_above is not None:
        return data, cost.cut(data, counted, quirks.partial_above)
    return data, []


def halved(request: Any, answer: Any) -> dict[str, Any]:
    """Return an answer with only the first half of its aliased fields."""
    # An answer of REST, such as a list of labels, has no such fields, so nothing of it is left
    data = answer.get("data") if isinstance(answer, dict) else None
    if data is not None:
        counted = cost.aliases(parse(request["query"]))
        if errors := cost.cut(data, counted, cost.size(data, counted) // 2):
            return {"data": data, "errors": errors}
    return {"data": None, "errors": [{"type": cost.KIND, "message": cost.EXCEEDED}]}


def timed_out() -> dict[str, Any]:
    """Return the error of a query that took too long (gayanvoice/top-github-users#107)."""
    return {"message": TIMED_OUT.format(secrets.token_hex(16).upper())}


def limited(document: DocumentNode, refusal: Refusal) -> dict[str, Any]:
    """Return the body, for status 200, of a mutation that was refused by a limit on content."""
    if refusal.status != 422:
        return {"errors": [{"type": "RATE_LIMITED", "message": refusal.message}]}
    names = [
        (field.alias or field.name).value
        for each in document.definitions
        if isinstance(each, OperationDefinitionNode)
        for field in each.selection_set.selections
        if isinstance(field, FieldNode)
    ]
    reason = message_of(refusal)
    return {
        "data": dict.fromkeys(names),
        "errors": [{"type": "UNPROCESSABLE", "path": [name], "message": reason} for name in names],
    }


def is_mutation(document: DocumentNode) -> bool:
    return any(
        isinstance(each, OperationDefinitionNode) and each.operation is OperationType.MUTATION
        for each in document.definitions
    )


def message_of(refusal: Refusal) -> str:
    details: list[str] = [
        each["message"]
        for each in refusal.errors
        if not isinstance(each, str) and "message" in each
    ]
    return details[0] if details else refusal.message


def formatted(error: GraphQLError) -> dict[str, Any]:
    """Return an error in GitHub's form; it has a `type` only if a resolver has refused."""
    found: Mapping[str, Any] = error.formatted
    refusal = error.original_error
    if isinstance(refusal, Refusal):
        kind = TYPES.get(refusal.status, "UNPROCESSABLE") if refusal.kind is None else refusal.kind
        typed = {"type": kind} if kind else {}
        more = {"extensions": refusal.extensions} if refusal.extensions else {}
        return {**typed, **found, **more, "message": message_of(refusal)}
    return dict(found)
