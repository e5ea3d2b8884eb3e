"""Releases."""

from __future__ import annotations

from tests.fakehub.answer import Response
from tests.fakehub.refusals import not_found

from .call import RepositoryCall, operation


@operation("GET /repos/{owner}/{repo}/releases/tags/{tag}", "contents=read")
def get_release(call: RepositoryCall) -> Response:
    release = call.repository.releases.get(call.parameters["tag"])
    if release is None:
        raise not_found()
    return Response(200, call.show.release(call.repository, release))


@operation("POST /repos/{owner}/{repo}/releases", "contents=write")
def create_release(call: RepositoryCall) -> Response:
    body = call.body
    release = call.repository.publish(
        body["tag_name"],
        body.get("name", ""),
        body.get("body", ""),
        call.token.login,
        prerelease=body.get("prerelease", False),
    )
    shown = call.show.release(call.repository, release)
    return Response(201, shown, {"Location": shown["url"]})
