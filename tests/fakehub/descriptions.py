"""Find the operation of a REST request, and validate requests and answers.

GitHub's published REST description is in `descriptions/rest.json`, which
`scripts/extract-host-descriptions` writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jsonschema_rs import Draft202012Validator

FOLDER = Path(__file__).parent / "descriptions"
PUT_CONTENTS = "PUT /repos/{owner}/{repo}/contents/{path}"
POST_LABELS = "POST /repos/{owner}/{repo}/issues/{issue_number}/labels"


@dataclass(frozen=True, slots=True)
class Operation:
    """One documented operation, such as `GET /repos/{owner}/{repo}`."""

    name: str
    documentation_url: str
    pattern: re.Pattern[str]
    query: Mapping[str, tuple[Mapping[str, Any], Draft202012Validator]]
    body: Mapping[str, Any] | None
    body_checker: Draft202012Validator | None
    body_required: bool
    responses: Mapping[int, Draft202012Validator | None]

    def request_errors(self, query: Mapping[str, str], body: Any, given: bool) -> Iterator[str]:
        """Yield a message for each part of a request that the description does not allow.

        `given` says whether the request has a body.
        """
        for name, value in query.items():
            if name not in self.query:
                yield f"undocumented query parameter {name!r}"
                continue
            schema, checker = self.query[name]
            typed = int(value) if schema["type"] == "integer" and value.isdigit() else value
            yield from errors(checker, typed, f"query parameter {name}")
        if self.body is None or self.body_checker is None:
            if given:
                yield "undocumented body"
        elif given:
            yield from errors(self.body_checker, body, "body")
            yield from undocumented(self.body, body, "body")
        elif self.body_required:
            yield "the body is missing"

    def answer_errors(self, status: int, body: Any) -> Iterator[str]:
        """Yield a message for each part of an answer that the description does not allow.

        A status without a description is allowed; from 400 on, its body must be a basic error.
        """
        checker = self.responses.get(status, basic_error() if status >= 400 else None)
        if checker is not None:
            yield from errors(checker, body, f"answer {status}")


@cache
def document() -> dict[str, Any]:
    """Load the description, with corrections for known differences between it and GitHub."""
    loaded: dict[str, Any] = json.loads((FOLDER / "rest.json").read_text(encoding="utf-8"))
    operations = loaded["operations"]
    # No real 409 passes the `oneOf`, because a rule violation is also a basic error.
    conflict = operations[PUT_CONTENTS]["responses"]["409"]["schema"]
    conflict["anyOf"] = conflict.pop("oneOf")
    # The prose allows the bare array that the schema leaves out.
    labels = operations[POST_LABELS]["body"]["schema"]["oneOf"]
    labels.append({"type": "array", "items": {"type": "string"}, "minItems": 1})
    # The head of a deleted fork has no repository (github/rest-api-description#1811). A label may
    # have no description, as the schema of a single pull request says.
    listed = loaded["components"]["schemas"]["pull-request-simple"]["properties"]
    head, label = listed["head"]["properties"], listed["labels"]["items"]["properties"]
    head["repo"] = {"nullable": True, "allOf": [head["repo"]]}
    label["description"]["nullable"] = True
    return loaded


def compiled(schema: Any) -> Any:
    """Return an OpenAPI 3.0 schema as a JSON Schema, without `$ref` and `nullable`."""
    if isinstance(schema, list):
        return [compiled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return component(schema["$ref"].rpartition("/")[2])
    result = {
        key: {name: compiled(item) for name, item in value.items()}
        if key == "properties"
        else value
        if key in {"enum", "required", "default"}
        else compiled(value)
        for key, value in schema.items()
        if key != "nullable"
    }
    return {"anyOf": [{"type": "null"}, result]} if schema.get("nullable") else result


@cache
def component(name: str) -> Any:
    return compiled(document()["components"]["schemas"][name])


def validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    return Draft202012Validator(dict(schema), validate_formats=True)


@cache
def basic_error() -> Draft202012Validator:
    return validator(component("basic-error"))


@cache
def operations() -> tuple[Operation, ...]:
    """Return every operation of the description."""
    return tuple(
        Operation(
            name=name,
            documentation_url=described["documentation_url"],
            pattern=pattern(name, described["parameters"]),
            query={
                parameter["name"]: (schema := compiled(parameter["schema"]), validator(schema))
                for parameter in described["parameters"]
                if parameter["in"] == "query"
            },
            body=(body := compiled(described["body"]["schema"]) if "body" in described else None),
            body_checker=None if body is None else validator(body),
            body_required=described.get("body", {}).get("required", False),
            responses={
                int(status): validator(compiled(response["schema"])) if response else None
                for status, response in described["responses"].items()
            },
        )
        for name, described in document()["operations"].items()
    )


def pattern(name: str, parameters: list[dict[str, Any]]) -> re.Pattern[str]:
    """Return a regular expression for the method and the raw path of an operation.

    `name` is, for example, `GET /repos/{owner}/{repo}`.
    """
    several = {each["name"] for each in parameters if each.get("x-multi-segment")}

    def group(match: re.Match[str]) -> str:
        return f"(?P<{match[1]}>{'.*' if match[1] in several else '[^/]+'})"

    return re.compile(re.sub(r"\{(\w+)\}", group, name))


def find(method: str, raw_path: str) -> tuple[Operation, dict[str, str]] | None:
    """Return the operation of a request and its decoded path parameters; None if there is none."""
    for operation in operations():
        if match := operation.pattern.fullmatch(f"{method} {raw_path}"):
            return operation, {name: unquote(value) for name, value in match.groupdict().items()}
    return None


def errors(checker: Draft202012Validator, value: Any, where: str) -> Iterator[str]:
    if not checker.is_valid(value):
        for error in checker.iter_errors(value):
            yield f"{where}: {error.instance_path}: {error.message[:300]}"


def undocumented(schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    """Yield a message for each property of a body that its schema does not name.

    An object whose schema names no properties may have any.
    """
    branches = [schema, *schema.get("oneOf", ()), *schema.get("anyOf", ())]
    if isinstance(value, dict):
        known = {
            name: item for each in branches for name, item in each.get("properties", {}).items()
        }
        for name, item in value.items():
            if name in known:
                yield from undocumented(known[name], item, f"{where}.{name}")
            elif known:
                yield f"undocumented property {where}.{name}"
    elif isinstance(value, list):
        for each in branches:
            for item in value:
                yield from undocumented(each.get("items", {}), item, f"{where}[]")
