"""One answer of GitHub, or the reason why there is none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple, Self, TypeAlias

from registrar.texts.escaping import Lines

GRAPHQL = "graphql"
"""Target of a GraphQL request; its address is another one on an Enterprise Server."""


class Sent(NamedTuple):
    """A request as PyGithub composed it."""

    method: str
    target: str
    """A path below the address of the API, with its query, or `GRAPHQL`."""
    body: bytes = b""


class Trouble(Enum):
    """What a missing answer means for the request that was sent."""

    NOT_SENT = auto()
    """Nothing was sent, and the next time something may be."""
    LOST = auto()
    """The request may have been done all the same."""
    TOO_LARGE = auto()
    """The request may have been done; the answer to a request for less would be smaller."""
    LASTING = auto()
    """Nothing was sent, and trying again does not mend it."""


class NoAnswer(NamedTuple):
    """Why a request has no answer."""

    trouble: Trouble
    text: str
    """Key of the text that says what happened."""
    detail: str = ""
    """The library's message."""
    seconds: float = 0.0
    """The time limit of the request."""


class Unanswered(Exception):
    """No answer came to a request; ``why`` says what happened."""

    def __init__(self, why: NoAnswer) -> None:
        super().__init__(why.text)
        self.why = why


class UnexpectedRequest(Exception):
    """PyGithub was about to send a request that nobody asked for; its text names the address."""


Path: TypeAlias = tuple[str | int, ...]
"""Where a field is in an answer of GraphQL."""


class GraphQLError(NamedTuple):
    """One of the errors of a GraphQL answer; ``path`` is the field that it is about."""

    type: str
    message: str
    path: Path = ()
    names_saml: bool = False
    """Whether an organisation wants single sign-on (``extensions.saml_failure``)."""


@dataclass(frozen=True)
class Response:
    """Status, headers (names in lower case), and what PyGithub has read of the body.

    ``data`` is ``None`` if that is nothing.
    """

    status: int
    headers: Mapping[str, str]
    data: object

    def field(self, name: str) -> object:
        """A value of the body; ``None`` if there is none."""
        return self.data.get(name) if isinstance(self.data, dict) else None

    @property
    def message(self) -> str:
        """GitHub's message, with what its ``errors`` say; may be empty."""
        texts = [self.field("message"), *map(_detail, self.details)]
        return Lines("; ".join(dict.fromkeys(t for t in texts if isinstance(t, str) and t)))

    @property
    def details(self) -> list[object]:
        """The items of ``errors``, most of them objects or texts.

        A single text may stand there without a list around it (r-lib/gh#229); a single object is
        read in the same way, which nobody has confirmed.
        """
        errors = self.field("errors")
        if isinstance(errors, list):
            return errors
        return [errors] if isinstance(errors, (str, dict)) else []

    @cached_property
    def graphql_errors(self) -> tuple[GraphQLError, ...]:
        """The errors of a GraphQL answer, in the order of the answer."""
        return tuple(map(_graphql_error, self.details))

    def with_errors(self, keep: Callable[[GraphQLError], bool]) -> Self:
        """The same GraphQL answer with only the errors that ``keep`` accepts."""
        if not isinstance(self.data, dict) or not self.graphql_errors:
            return self
        parts = zip(self.details, self.graphql_errors, strict=True)
        kept = [each for each, error in parts if keep(error)]
        return replace(self, data={**self.data, "errors": kept})

    @cached_property
    def errors_by_path(self) -> Mapping[Path, Sequence[GraphQLError]]:
        """The errors of a GraphQL answer by the fields that they are about."""
        of_path: dict[Path, list[GraphQLError]] = {}
        for error in self.graphql_errors:
            of_path.setdefault(error.path, []).append(error)
        return of_path

    @property
    def did_something(self) -> bool:
        """Whether a GraphQL answer holds any data: at status 200 every mutation may have failed.

        A mutation that was refused is null, or has only null (wso2/mi-vscode#1608).
        """
        data = self.field("data")
        return isinstance(data, dict) and any(map(_holds_anything, data.values()))


def _graphql_error(error: object) -> GraphQLError:
    if not isinstance(error, dict):
        # Not confirmed that GitHub sends one; beside data it leaves something unread, too
        return GraphQLError("", error if isinstance(error, str) else "")
    kind, message, path = (error.get(name) for name in ("type", "message", "path"))
    more = error.get("extensions")
    return GraphQLError(
        kind if isinstance(kind, str) else "",
        message if isinstance(message, str) else "",
        tuple(s for s in path if isinstance(s, (str, int))) if isinstance(path, list) else (),
        isinstance(more, dict) and more.get("saml_failure") is True,
    )


def _holds_anything(field: object) -> bool:
    return any(v is not None for v in field.values()) if isinstance(field, dict) else bool(field)


def _detail(error: object) -> object:
    """The message of one of the ``errors``; many have none, but name a field and a code
    (https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed).
    """
    if not isinstance(error, dict):
        return error
    field, code = error.get("field"), error.get("code")
    named = isinstance(field, str) and isinstance(code, str)
    return error.get("message") or (f"{field}: {code}" if named else "")
