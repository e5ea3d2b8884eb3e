"""The stand-in gives the recorded answers, with the same status, keys, types and messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from registrar.errors import RegistrarError
from tests.recordings import recordings
from tests.recordings.calls import CALLS, Caller, Given
from tests.recordings.compare import unlike
from tests.recordings.scenes import NOT_AT_THE_STAND_IN, SCENES, Watched, scene


@pytest.fixture
def host() -> Iterator[Watched]:
    with Watched() as host:
        yield host


@pytest.mark.parametrize("name", sorted(recordings().keys() - NOT_AT_THE_STAND_IN.keys()))
def test_the_stand_in_answers_as_recorded(host: Watched, name: str) -> None:
    recording = recordings()[name]
    made = scene(host, Given(**recording.given))
    if name in SCENES:
        SCENES[name](made)
    token = host.create_token(recording.token, **made.token)  # type: ignore[arg-type]
    run, call = Caller(host.url, token), CALLS[recording.request]
    for request in recording.after:
        CALLS[request].send(run, made.given)
    host.answers.clear()
    # Another test checks the result of our code
    with suppress(RegistrarError):
        call.send(run, made.given)
    answer = next(answer for request, answer in host.answers if call.is_it(request))
    body = None if isinstance(answer.body, bytes) else answer.body
    assert unlike(recording, answer.status, answer.headers, body) == []


def test_every_scene_and_every_exception_is_about_an_answer() -> None:
    assert SCENES.keys() | NOT_AT_THE_STAND_IN.keys() <= recordings().keys()
    assert not SCENES.keys() & NOT_AT_THE_STAND_IN.keys()
