"""Our code makes the right model or error of every answer in `tests/recordings`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from enum import Enum
from typing import Any

import pytest

from registrar.errors import RegistrarError
from registrar.texts.messages import Message
from tests.fakehub import Fault, FaultKind, StandInHost
from tests.harness import ROOT
from tests.recordings import Recording, recordings
from tests.recordings.calls import CALLS, FULL_NAME, Caller, Given
from tests.recordings.table import PAGE, page

WORDS_ABOUT_WAITING = {
    "host.failed",
    "host.gave_up",
    "host.lag",
    "host.unreachable",
    "limit.out_of_time",
}
"""The messages that contain the explanation of an answer."""


def successes(request: str) -> Recording:
    """Return the first successful answer to a kind of request."""
    return next(
        each for each in recordings().values() if each.request == request and each.status < 300
    )


def serve(host: StandInHost, recording: Recording, times: int | None = None) -> Fault:
    """Let the host answer requests of the recording's kind with it, ``times`` times (None: all)."""
    headers = {
        name: value.replace("https://api.github.com", host.url)
        for name, value in recording.headers.items()
    }
    return host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=CALLS[recording.request].is_it,
            times=times,
            status=recording.status,
            headers=headers,
            body=recording.body if recording.body is not None else b"",
        )
    )


def plain(value: object) -> Any:
    """Return a model as plain data."""
    if isinstance(value, Message | Enum):
        return value.key if isinstance(value, Message) else value.name
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(each) for each in value]
    return value


def part_of(expected: Any, found: Any) -> Any:
    """Return ``found`` without the fields that ``expected`` does not have."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return {name: part_of(expected[name], found.get(name)) for name in expected}
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [part_of(*pair) for pair in zip(expected, found, strict=True)]
    return found


def explanation(message: Message) -> str:
    """Return the key of the innermost explanation in a message."""
    while message.key in WORDS_ABOUT_WAITING:
        inner = message.values["reason"]
        assert isinstance(inner, Message)
        message = inner
    return message.key


@pytest.mark.parametrize("name", recordings())
def test_what_our_code_makes_of_an_answer(host: StandInHost, name: str) -> None:
    recording = recordings()[name]
    host.create_repository(FULL_NAME)
    run = Caller(host.url, host.create_token(recording.token))  # type: ignore[arg-type]
    given = Given(**recording.given)
    for request in recording.after:
        serve(host, successes(request), times=1)
        CALLS[request].send(run, given)
    served = serve(host, recording, times=1 if recording.then else None)
    if recording.then:
        serve(host, recordings()[f"{recording.request}: {recording.then}"])
    fails, gives = None, None
    try:
        gives = plain(CALLS[recording.request].send(run, given))
    except RegistrarError as error:
        fails = {"kind": error.kind.name, "text": explanation(error.message)}
    assert fails == recording.fails
    assert part_of(recording.gives, gives) == recording.gives
    assert (len(served.hits) > 1) == recording.again


def test_the_page_of_the_documentation_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tests.recordings`"


def test_the_source_of_a_row_stands_with_the_recordings_or_on_the_page() -> None:
    rows = (ROOT / "src/registrar/github/classify.py").read_text("utf-8")
    pages = [file.read_text("utf-8") for file in (PAGE, ROOT / "docs/github-behaviour.md")]
    sources = re.findall(r"[\w.-]+/[\w.-]+#\d+", rows)
    assert len(sources) > 30
    assert [source for source in sources if not any(f"[{source}]" in page for page in pages)] == []


def test_every_kind_of_request_has_its_answers() -> None:
    """Each kind of request has a successful answer."""
    assert {each.request for each in recordings().values() if each.status < 300} == set(CALLS)
