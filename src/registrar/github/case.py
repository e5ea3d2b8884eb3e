"""A row of the table of `classify`, and what it is matched against."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from registrar.failure import Kind
from registrar.github.explain import Context
from registrar.github.fields import UnusableAnswer
from registrar.github.request import GRAPHQL, Request
from registrar.github.response import GraphQLError, Response

INACCESSIBLE = "not accessible by"
_UNRESOLVED = re.compile("global id of '([^']*)'")
_PULL_REQUEST_IDS = ("PR_", "MDExOlB1bGxSZXF1ZXN0")
"""How the ids of pull requests begin, in the new form and in the old
(https://docs.github.com/en/graphql/guides/migrating-graphql-global-node-ids)."""


class Case(NamedTuple):
    """A request, its answer, and whether "not there" may be lag."""

    request: Request[object]
    response: Response
    context: Context
    may_lag: bool

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """Names in lower case."""
        return self.response.headers

    @property
    def message(self) -> str:
        """GitHub's message with the details of its ``errors``."""
        return self.response.message

    @property
    def errors(self) -> tuple[GraphQLError, ...]:
        return self.response.graphql_errors if self.is_graphql else ()

    @property
    def types(self) -> frozenset[str]:
        return frozenset(error.type for error in self.errors)

    @property
    def names_saml(self) -> bool:
        """Whether an error of GraphQL is that an organisation wants single sign-on."""
        return any(error.names_saml for error in self.errors)

    @property
    def is_graphql(self) -> bool:
        """Whether it is GraphQL, which answers 200 to what it refuses, too."""
        return self.request.target == GRAPHQL

    @property
    def refused(self) -> bool:
        """Whether nothing was done, or the question was not answered."""
        if not self.is_graphql or self.status != 200:
            return self.status >= 400
        if self.response.did_something:
            return not self.request.writes and not all(map(self.request.tolerates, self.errors))
        return bool(self.message)

    def says(self, *phrases: str) -> bool:
        return any(phrase in self.message for phrase in phrases)

    @property
    def message_field(self) -> str:
        data = self.response.data
        message = data.get("message") if isinstance(data, dict) else None
        return message if isinstance(message, str) else ""

    @property
    def used_up(self) -> bool:
        """Whether no request is left until the rate limit's reset."""
        return self.headers.get("x-ratelimit-remaining") == "0"

    def refers_to(self, *pages: str) -> bool:
        """Whether the address of the documentation contains one of these."""
        return any(page in self.response.documentation for page in pages)

    def posts(self, what: str) -> bool:
        """Whether the request is a POST to an address that ends with ``what``."""
        return self.request.method == "POST" and self.request.target.endswith(f"/{what}")

    def names(self, code: str, field: str) -> bool:
        return any(
            isinstance(e, dict) and e.get("field") == field and e.get("code") == code
            for e in self.response.details
        )

    @property
    def has_no_details(self) -> bool:
        """Whether GitHub does not say which value it refuses."""
        return self.message == "Validation Failed"

    @property
    def misses_pull_request(self) -> bool:
        """Whether the id that GitHub does not find is one of a pull request."""
        matched = _UNRESOLVED.search(self.message)
        return matched is not None and matched[1].startswith(_PULL_REQUEST_IDS)

    @property
    def wants_single_sign_on(self) -> bool:
        """Whether the token must be authorised first.

        ``partial-results; …`` in the same header says that a list lacks something
        (https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api).
        """
        return self.headers.get("x-github-sso", "").startswith("required")

    @property
    def repository_is_missing(self) -> bool:
        """Whether a repository is missing, and nothing else is wrong."""
        return bool(self.errors) and all(
            error.type == "NOT_FOUND" and len(error.path) == 1 for error in self.errors
        )

    @property
    def says_absent(self) -> bool:
        """Whether a success says that what the request is about is not there."""
        try:
            return self.request.says_absent(self.response)
        except UnusableAnswer:
            return False


def _always(_: Case) -> bool:
    return True


class Row(NamedTuple):
    """One row of the table: when it applies, what that means, what to do about it."""

    kind: Kind
    text: str
    """Key of the explanation in the catalogue."""
    status: tuple[int, ...] = ()
    """Any refusal when empty."""
    says: tuple[str, ...] = ()
    """GitHub's message contains one of these."""
    when: Callable[[Case], bool] = _always
    tries: int = 1
    may_have_been_applied: bool = False
    """Whether a write that met this may have been done."""
    at_least_a_minute: bool = False
    gave_up: str = ""
    """Key of the text when all tries have failed, where it is not the usual one."""

    @property
    def name(self) -> str:
        """The same for every answer that this row, or one that says the same, applies to."""
        return f"{self.kind.name} {self.text}"

    def holds(self, case: Case) -> bool:
        return (
            (case.status in self.status if self.status else case.refused)
            and (not self.says or case.says(*self.says))
            and self.when(case)
        )
