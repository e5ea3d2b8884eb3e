"""Answer clones and pushes with git's own `http-backend`."""

from __future__ import annotations

import base64
import binascii
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from .answer import Response
from .journal import Actor
from .refusals import Refusal
from .repository import Repository
from .request import Request
from .tokens import Token

if TYPE_CHECKING:
    from .host import StandInHost

PUSH = "git-receive-pack"
ADDRESS = re.compile(r"/([^/]+/[^/]+?)(?:\.git)?/(info/refs|git-upload-pack|git-receive-pack)")


def respond(host: StandInHost, record: Request, address: re.Match[str], body: bytes) -> Response:
    """Answer a request of a git client.

    It is 401 if the credentials do not suffice, and also if there is no such repository.
    """
    full_name, rest = address.groups()
    pushing = PUSH in {rest, record.query.get("service")}
    try:
        repository, _ = host.find_repository(full_name)
        check(repository, host.find_token(password(record)), pushing=pushing)
    except Refusal:
        challenge = {"WWW-Authenticate": 'Basic realm="GitHub"'}
        return Response(401, b"Repository not found.\n", challenge)
    with repository.lock:
        before = repository.heads()
        answer = backend(record, repository.path, rest, body)
        if rest == PUSH:
            repository.by(Actor("tool", record.token)).push(repository.heads(), before)
    return answer


def check(repository: Repository, token: Token | None, *, pushing: bool) -> None:
    """Raise `Refusal` if the token does not suffice. Anybody may read a public repository."""
    if token is not None:
        token.require(repository, "contents=write" if pushing else "contents=read")
    elif pushing or repository.private:
        raise Refusal(401, "Requires authentication")


def password(record: Request) -> str:
    """Return the token, which git sends as the password or the user name; empty if it has none."""
    kind, _, encoded = record.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        user, _, secret = base64.b64decode(encoded).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return secret or user


def backend(record: Request, path: Path, rest: str, body: bytes) -> Response:
    """Return the answer of `git http-backend`, a CGI program, which is run for this request."""
    headers = record.headers
    environ = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROJECT_ROOT": str(path.parent),
        "GIT_PROTOCOL": headers.get("git-protocol", ""),
        "PATH_INFO": f"/{path.name}/{rest}",
        "QUERY_STRING": record.raw_target.partition("?")[2],
        "REMOTE_USER": "git",
        "REQUEST_METHOD": record.method,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
    }
    done = subprocess.run(
        ["git", "http-backend"], input=body, env=environ, capture_output=True, check=True
    )
    head, _, payload = done.stdout.partition(b"\r\n\r\n")
    sent = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    status = int(sent.pop("Status", "200").partition(" ")[0])
    return Response(status, payload, sent)
