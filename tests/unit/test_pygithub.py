"""PyGithub reads every answer, and our models are made from its objects."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import github.GithubObject
import github.Requester
import pytest

from registrar.errors import GitHubError, RegistrarError
from tests.fakehub import Fault, FaultKind, StandInHost
from tests.recordings.calls import CALLS, FULL_NAME, Caller, Given
from tests.unit.test_recordings import serve, successes

NOTHING_READ = {"POST labels"}
"""Calls whose answer is not used."""
WITHOUT_OBJECTS = {
    # The top of `github/rest.py` explains why these are read without an object
    "POST requested_reviewers",
    "GET git/trees",
    "GET git/matching-refs",
    "GET commits of a reference",
}
PLAIN_VALUES = {"GET collaborators/permission", "GET properties/values"}
"""Calls whose method of PyGithub returns a text or a mapping."""
LOGS = {"GET user/repos", "GET users/USER/repos"}
"""Lists that are read only if GitHub has refused another list."""
REST = sorted(
    name for name in CALLS if name.split()[0] not in {"query", "mutation"} and name not in LOGS
)


class Unread(Exception):
    """Raised when PyGithub is about to build an object."""


def succeeds(host: StandInHost, name: str, token: str) -> bool:
    """Return whether a call succeeds if GitHub gives the recorded answer."""
    recording = successes(name)
    serve(host, recording)
    try:
        CALLS[name].send(Caller(host.url, token), Given(**recording.given))
    except (RegistrarError, Unread):
        return False
    return True


@pytest.mark.parametrize("name", sorted({*CALLS} - LOGS))
def test_what_pygithub_cannot_read_nobody_else_reads(
    host: StandInHost, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.create_repository(FULL_NAME)
    token = host.create_token("classic")
    without: Any = SimpleNamespace(loads=lambda _: None, dumps=json.dumps)
    monkeypatch.setattr(github.Requester, "json", without)
    assert succeeds(host, name, token) is (name.removesuffix(" by number") in NOTHING_READ)


@pytest.mark.parametrize("name", REST)
def test_our_models_are_made_of_its_objects(
    host: StandInHost, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This includes lists of repositories and root directories, for which it has no method."""
    host.create_repository(FULL_NAME)
    token = host.create_token("classic")
    real = github.GithubObject.GithubObject._storeAndUseAttributes

    def store(self: Any, headers: Any, attributes: Any) -> None:
        if set(attributes) - {"url", "ref"}:
            raise Unread
        real(self, headers, attributes)

    monkeypatch.setattr(github.GithubObject.GithubObject, "_storeAndUseAttributes", store)
    plain = name.removesuffix(" by number")
    expected = plain in WITHOUT_OBJECTS | PLAIN_VALUES | NOTHING_READ
    assert succeeds(host, name, token) is expected


def test_its_own_waits_and_retries_are_off(host: StandInHost) -> None:
    run = Caller(host.url, host.create_token("classic"))
    host.create_repository(FULL_NAME)
    host.faults.add(
        Fault(FaultKind.CUSTOM, match=lambda _: True, status=422, body=b'{"message":"x"}')
    )
    with pytest.raises(GitHubError):
        run.rest.repository(FULL_NAME)
    assert len(host.requests) == 1
