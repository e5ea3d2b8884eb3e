"""The cost and the size of a query, and the fields that are left out of a large answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    is_non_null_type,
    visit,
)

from tests.fakehub.graphql.schema import schema

NODES = "nodes"
KIND = "RESOURCE_LIMITS_EXCEEDED"
EXCEEDED = "Resource limits for this query exceeded."


def points(document: DocumentNode, variables: Mapping[str, Any]) -> int:
    """Return the points that a query costs: a hundredth for each connection of each parent.

    A connection counts as having `first` items (docs: "Rate limits and query limits for the GraphQL
    API"). `nodes(ids:)` is not a connection, but each of its ids counts as one parent.
    """

    def connections(node: Any, parents: int) -> int:
        found = 0
        for each in node.selection_set.selections if node.selection_set else ():
            given = {a.name.value: a.value for a in getattr(each, "arguments", ())}
            ids = variables.get(given["ids"].name.value) or () if "ids" in given else (1,)
            below = parents * len(ids)
            if "first" in given:
                found, below = found + parents, below * int(given["first"].value)
            found += connections(each, below)
        return found

    whole = sum(connections(each, 1) for each in document.definitions)
    return max((whole + 50) // 100, 1)


def aliases(document: DocumentNode) -> frozenset[str]:
    """Return the aliases of the fields that may be null, so that an answer can leave them out."""
    types = TypeInfo(schema())
    found: set[str] = set()

    class Aliases(Visitor):
        def enter_field(self, node: FieldNode, *_: Any) -> None:
            if node.alias is not None and not is_non_null_type(types.get_type()):
                found.add(node.alias.value)

    visit(document, TypeInfoVisitor(types, Aliases()))
    return frozenset(found)


def fields(data: Any, counted: frozenset[str]) -> Iterator[tuple[Any, Any, list[str | int]]]:
    """Yield the fields of an answer whose alias is in `counted`, and each of its `nodes`.

    Each comes as the object or list that has it, its key there, and its path in the answer. If the
    caller sets a field to None, the fields below it are not yielded.
    """
    for index, _ in enumerate(data.get(NODES) or ()):
        yield data[NODES], index, [NODES, index]
    pending: list[tuple[Any, list[str | int]]] = [(data, [])]
    while pending:
        holder, path = pending.pop()
        pairs = list(holder.items() if isinstance(holder, dict) else enumerate(holder))
        for key, _ in pairs:
            if key in counted:
                yield holder, key, [*path, key]
        below = [(holder[key], [*path, key]) for key, _ in pairs]
        pending += [each for each in reversed(below) if isinstance(each[0], (dict, list))]


def size(data: Any, counted: frozenset[str]) -> int:
    return sum(1 for _ in fields(data, counted))


def cut(data: Any, counted: frozenset[str], limit: int) -> list[dict[str, Any]]:
    """Set the fields beyond the first `limit` ones to None, and return an error for each."""
    errors = []
    for index, (holder, key, path) in enumerate(fields(data, counted)):
        if index >= limit:
            holder[key] = None
            errors.append({"type": KIND, "path": path, "message": EXCEEDED})
    return errors
