"""One request, and the outcome of its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from registrar.failure import Kind
from registrar.github.response import GraphQLError, Response
from registrar.texts.messages import Message

Model = TypeVar("Model")
Model_co = TypeVar("Model_co", covariant=True)
GRAPHQL = "graphql"
"""Target of a GraphQL request; its address is another one on an Enterprise Server."""


def _never(_: object) -> bool:
    return False


class Request(NamedTuple, Generic[Model_co]):
    """One request, with what is needed to understand its answer."""

    method: str
    target: str
    """A path below the address of the API, with its query, or `GRAPHQL`."""
    operation: Message
    """Describes it for people."""
    read: Callable[[Response], Model_co]
    """Builds our model of a success; raises `UnusableAnswer` where that has another shape.

    It is not called for an answer that was refused, nor for a query's with an error that is not
    tolerated: what could not be read must not be taken for missing."""
    body: Mapping[str, object] | None = None
    writes: bool = False
    asks_less_after: frozenset[Kind] = frozenset()
    """Failures that may pass, after which it is sent only once more: then the caller asks for
    less."""
    idempotent: bool = True
    """Whether it may be sent again when it may have been applied."""
    may_lag: bool = False
    """Whether it is about what this run has made, or GitHub has said to exist: right after that,
    "not there" may mean "not known everywhere yet"."""
    says_absent: Callable[[Response], bool] = _never
    """Whether a success says that this is not there (a list without it); may raise
    `UnusableAnswer`, as ``read`` does."""
    tolerates: Callable[[GraphQLError], bool] = _never
    """Whether a query may have this error beside its data."""


class Outcome(NamedTuple, Generic[Model_co]):
    """What an answer means, and what to do about it."""

    kind: Kind
    reason: Message
    cause: str = ""
    """The same for answers that differ only in names, numbers or addresses."""
    tries: int = 1
    """How often the request may be sent in all; limits and lag have their own bounds."""
    pause: float | None = None
    """Seconds that GitHub asks to wait; ``None``: we choose."""
    at_least_a_minute: bool = False
    may_have_been_applied: bool = False
    """Whether a write that met it may have been done."""
    gave_up: str = ""
    """Key of the text when all tries have failed."""
    model: Model_co | None = None
