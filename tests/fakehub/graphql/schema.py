"""GitHub's published schema for GraphQL."""

from __future__ import annotations

import base64
import binascii
import re
from functools import cache

from graphql import GraphQLError, GraphQLScalarType, GraphQLSchema, build_schema

from tests.fakehub.descriptions import FOLDER


@cache
def schema() -> GraphQLSchema:
    """Return the schema; its scalars refuse values that GitHub refuses."""
    built = build_schema((FOLDER / "graphql.graphql").read_text(encoding="utf-8"))
    for name, check in (("GitObjectID", git_object_id), ("Base64String", base64_string)):
        scalar = built.type_map[name]
        assert isinstance(scalar, GraphQLScalarType)
        scalar.parse_value = check  # type: ignore[method-assign]
    return built


def git_object_id(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{40}", value):
        raise GraphQLError(f"{value!r} is not a GitObjectID")
    return value


def base64_string(value: object) -> bytes:
    try:
        return base64.b64decode(str(value), validate=True)
    except binascii.Error as error:
        raise GraphQLError(f"not a Base64String: {error}") from None
