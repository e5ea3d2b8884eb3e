"""One answer of GitHub, or the reason why there is none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple, Self, TypeAlias

from registrar.texts.escaping import Lines

GRAPHQL = "graphql"
"""The ``target`` of a GraphQL request, whose address is different on an Enterprise Server."""


class Sent(NamedTuple):
    """A request as PyGithub composed it."""

    method: str
    target: str
    """A path below the address of the API, with its query, or `GRAPHQL`."""
    body: bytes = b""


class Trouble(Enum):
    """The kinds of missing answers; each shows whether the request may have been applied."""

    NOT_SENT = auto()
    """Nothing was sent. Another try may succeed."""
    LOST = auto()
    """The request may have been applied."""
    TOO_LARGE = auto()
    """The request may have been applied. A request for less would get a smaller answer."""
    LASTING = auto()
    """Nothing was sent, and another try would fail in the same way."""


class NoAnswer(NamedTuple):
    """Why a request has no answer."""

    trouble: Trouble
    text: str
    """Key of the text that says what happened."""
    detail: str = ""
    """The library's message, or the name of its exception; may be empty."""
    seconds: float = 0.0
    """The time limit of the request."""


class Unanswered(Exception):
    """No answer came to a request; ``why`` says what happened."""

    def __init__(self, why: NoAnswer) -> None:
        super().__init__(why.text)
        self.why = why


class UnexpectedRequest(Exception):
    """PyGithub was about to send a request that no call asked for, or one to another host.

    The text of the exception names the method and the address.
    """


Path: TypeAlias = tuple[str | int, ...]
"""The place of a field in a GraphQL answer: names of fields, and indexes of lists."""


class GraphQLError(NamedTuple):
    """One of the errors of a GraphQL answer; ``path`` is the field that it is about."""

    type: str
    message: str
    path: Path = ()
    names_saml: bool = False
    """Whether an organisation requires single sign-on (``extensions.saml_failure``)."""


@dataclass(frozen=True)
class Response:
    """Status, headers (names in lower case), and the body as PyGithub has decoded it.

    ``data`` is ``None`` if PyGithub has decoded nothing.
    """

    status: int
    headers: Mapping[str, str]
    data: object

    def field(self, name: str) -> object:
        """Return the value of a field; ``None`` if the body is not an object or lacks the field."""
        return self.data.get(name) if isinstance(self.data, dict) else None

    @property
    def message(self) -> str:
        """GitHub's message and the messages of its ``errors``, each one once; may be empty."""
        texts = [self.field("message"), *map(_detail, self.details)]
        return Lines("; ".join(dict.fromkeys(t for t in texts if isinstance(t, str) and t)))

    @property
    def details(self) -> list[object]:
        """The items of ``errors``, most of them objects or texts.

        GitHub also sends a single text in place of the list (r-lib/gh#229). A single object is read
        in the same way, but it is not confirmed that GitHub sends one.
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
        """The errors of a GraphQL answer, grouped by the fields that they are about."""
        of_path: dict[Path, list[GraphQLError]] = {}
        for error in self.graphql_errors:
            of_path.setdefault(error.path, []).append(error)
        return of_path

    @property
    def did_something(self) -> bool:
        """Whether a GraphQL answer holds any data.

        The status does not show this, because it is 200 even if every mutation was refused. A
        refused mutation is null, or all its fields are null (wso2/mi-vscode#1608).
        """
        data = self.field("data")
        return isinstance(data, dict) and any(map(_holds_anything, data.values()))


def _graphql_error(error: object) -> GraphQLError:
    if not isinstance(error, dict):
        # It is not confirmed that GitHub sends such an error. It is kept, because beside data it,
        # too, would mean that something was not read
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
    """Return the message of one of the ``errors``, or else its field and its code.

    https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed
    """
    if not isinstance(error, dict):
        return error
    field, code = error.get("field"), error.get("code")
    named = isinstance(field, str) and isinstance(code, str)
    return error.get("message") or (f"{field}: {code}" if named else "")
