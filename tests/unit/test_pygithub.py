"""PyGithub is the engine: it reads every answer, and our models are made of its objects."""

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
"""Calls whose answer says nothing that is used."""
WITHOUT_OBJECTS = {
    # Why each of them is read without an object stands at the top of `github/rest.py`
    "POST requested_reviewers",
    "GET git/trees",
    "GET git/matching-refs",
    "GET commits of a reference",
}
PLAIN_VALUES = {"GET collaborators/permission", "GET properties/values"}
"""Calls whose method gives a text or a mapping."""
LOGS = {"GET user/repos", "GET users/USER/repos"}
"""Lists that are only read after another one was refused."""
REST = sorted(
    name for name in CALLS if name.split()[0] not in {"query", "mutation"} and name not in LOGS
)


class Unread(Exception):
    """PyGithub was to build an object."""


def succeeds(host: StandInHost, name: str, token: str) -> bool:
    """Whether a call is a success where GitHub answers as it was recorded to."""
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
    """Also where PyGithub has no method: the lists of repositories, and the root directory."""
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
