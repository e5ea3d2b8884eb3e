"""What an answer means."""

from __future__ import annotations

from registrar.github import response as http
from registrar.github.errors import Kind
from registrar.github.response import Response

_ALREADY_EXISTS = (
    "Reference already exists",
    '"sha" wasn\'t supplied',
    "A pull request already exists",
)


def refusal_kind(response: Response, *, writes: bool) -> Kind:
    """Tell what a final answer that is no success means."""
    message, status = response.message, response.status
    rules = (
        (Kind.TOKEN_REJECTED, status == http.UNAUTHORIZED),
        (Kind.PERMISSION, response.asks_for_sso),
        (Kind.NO_LIMITS, status == http.NOT_FOUND and "Rate limiting is not" in message),
        (Kind.PERMISSION, writes and status == http.NOT_FOUND),
        (Kind.NOT_FOUND, response.says_not_found),
        (
            Kind.ALREADY_EXISTS,
            status == http.UNPROCESSABLE and any(s in message for s in _ALREADY_EXISTS),
        ),
        (Kind.EMPTY_REPOSITORY, status == http.CONFLICT and "Repository is empty" in message),
        (Kind.NO_DRAFTS, "raft pull requests" in message),
        (Kind.VALIDATION, status == http.UNPROCESSABLE),
        (Kind.PERMISSION, status == http.FORBIDDEN),
        # Answered with HTTP 200 beside a part of the data (hermes-ecosystem#825)
        (Kind.PARTIAL, status == http.OK and "Resource limits" in message),
        (Kind.REFUSED, status in {http.OK, http.CONFLICT}),
    )
    return next((kind for kind, holds in rules if holds), Kind.UNUSABLE)
