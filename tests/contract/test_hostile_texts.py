"""No text from outside becomes a command or markup, and the token is in no output.

That no run shows its token, and that a runner finds no command in its output but those for
groups, errors and warnings, is checked for every run of every test (`tests.harness.Action`).
"""

from __future__ import annotations

import html
import json
import re
from functools import partial

import pytest

from tests.fakehub import Fault, FaultKind, Repository, StandInHost
from tests.gfm import only_ours
from tests.harness import LIST_BRANCH, Action, inject_fault, shortened

CALLS = [
    "GET",
    "GET git/ref/heads/main",
    "GET contents/.github/SUPPORT.md",
    "POST git/refs",
    "PUT contents/.github/SUPPORT.md",
    "POST pulls",
]
HOSTILE = [
    "::error file=a.py,line=1::owned",
    "  ::set-output name=branch::owned",
    "##[error]owned",
    "a ##[set-output name=branch;]owned",
    "100%0A::error::owned",
    "@everyone and @octo/maintainers",
    "Fixes #1, closes GH-1, octo/example#2",
    "[skip ci] [ci skip] [no ci] [skip actions] [actions skip]",
    "skip-checks: true",
    "<details><summary>owned</summary><img src=x onerror=alert(1)>",
    "</code></details><script>alert(1)</script>",
    "a | b | c `code` *bold* _it_ ~~no~~ \\| &lt;b&gt;",
    "[link](https://evil.example) ![image](https://evil.example/a.png)",
    "https://evil.example www.evil.example mailto:a@evil.example",
    "\u202egnp.exe \u2066\u200b\ufeff",
    "<!-- registrar:end --> <!-- registrar:begin -->",
    "{count} %s ${{ github.token }} $(id) `id`",
    "registrar_EOF",
]
BLANK = re.compile(r"[\u200b\u202a-\u202e\u2066-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize("call", ["GET /rate_limit", *CALLS])
def test_a_host_that_echoes_the_token(
    action: Action, host: StandInHost, repository: Repository, call: str
) -> None:
    token = action.default_token
    fault = inject_fault(
        host,
        call,
        times=None,
        message=f"No: {token}, Authorization: Bearer {token}",
        headers={"Location": f"https://example.com/{token}"},
    )
    run = action(profile="health", language="en")
    assert fault.hits
    assert run.exit_code != 0
    assert "No: ***" in run.stderr


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_that_holds_the_token(
    action: Action, host: StandInHost, repository: Repository, status: int
) -> None:
    location = f"https://{action.default_token}.example.com/"
    host.faults.add(
        Fault(FaultKind.CUSTOM, at=2, times=None, status=status, headers={"Location": location})
    )
    run = action(language="en")
    assert run.exit_code != 0
    assert "another address" in run.stderr


@pytest.mark.parametrize(
    "inputs",
    [
        {"target_repo": "{token}"},
        {"target_repo": "octo/{token}"},
        {"target_repo": "{token}/example"},
        {"target_repo": "https://{token}@github.com/octo/example"},
        {"api_url": "http://{token}.example.com"},
        {"api_url": "https://x:{token}@example.com"},
        {"profile": "{token}"},
        {"language": "{token}"},
        {"definitions": "{token}.json"},
        {"definitions": "../{token}"},
    ],
)
@pytest.mark.parametrize("runner", [False, True])
def test_a_token_in_an_input(
    action: Action, host: StandInHost, repository: Repository, inputs: dict[str, str], runner: bool
) -> None:
    filled = {key: value.format(token=action.default_token) for key, value in inputs.items()}
    run = action(filled, runner=runner)
    assert run.exit_code == 2
    # That the token stands nowhere is checked for every run
    [name] = inputs
    assert name in run.stdout + run.stderr
    assert name in html.unescape(run.summary)


@pytest.mark.parametrize(
    "entry",
    [
        {"path": "docs/{token}.md"},
        {"path": "docs/guide.md", "description": "{token}"},
        {"path": "/{token}"},
        {"path": "a", "{token}": "x"},
    ],
)
def test_a_token_in_a_definition_file(
    action: Action, host: StandInHost, entry: dict[str, str]
) -> None:
    text = json.dumps([entry]).replace("{token}", action.default_token)
    run = action(definitions=action.write("list.json", text))
    assert run.exit_code == 2
    assert host.requests == []


@pytest.mark.parametrize("runner", [False, True])
def test_hostile_answers_of_github(
    action: Action, host: StandInHost, repository: Repository, runner: bool
) -> None:
    texts = [*HOSTILE, "a\n::error::owned\r\n::warning::owned\r::debug::x"]
    for number, text in enumerate(texts):
        call = f"PUT contents/{number}"
        match = partial(lambda call, request: shortened(request) == call, call)
        host.faults.add(Fault(FaultKind.CUSTOM, match=match, message=text))
    listed = [{"path": str(number)} for number in range(len(texts) + 1)]
    definitions = action.write("list.json", json.dumps(listed))
    run = action(definitions=definitions, runner=runner, language="en")
    assert run.exit_code == 1
    assert run.outputs["failed"] == str(len(texts))
    assert [dict(annotation.properties) for annotation in run.annotations()] == [{}] * (10 * runner)
    assert not BLANK.search(run.stdout)
    assert not BLANK.search(run.stderr)
    only_ours(run.summary)
    only_ours(ours(repository))
    assert run.outputs["branch"] == LIST_BRANCH


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_inputs(action: Action, host: StandInHost, text: str) -> None:
    # A list is looked for when all inputs are good
    for hostile in (
        {"target_repo": text, "profile": text, "api_url": text},
        {"definitions": f"../{text}"},
    ):
        run = action(hostile, runner=True, language="en")
        assert run.exit_code == 2
        assert len(run.annotations()) == len(hostile)
        assert not BLANK.search(run.stdout)
        only_ours(run.summary)
    assert host.requests == []


def ours(repository: Repository) -> str:
    """Our part of the pull request's body, which nothing inside may end."""
    body = repository.pull_requests[0].body or ""
    begin, end = "<!-- registrar:begin -->", "<!-- registrar:end -->"
    assert body.count(begin) == body.count(end) == 1
    return body.removeprefix(begin).removesuffix(end)


def check_plain(text: str) -> None:
    """The host finds neither mention, reference, keyword nor instruction in it."""
    assert not re.search(r"@\w", text)
    assert not re.search(r"#\d|GH-\d", text)
    assert not re.search(r"\[(skip ci|ci skip|no ci|skip actions|actions skip)\]", text)
    assert not re.search(r"^skip-checks:", text, re.MULTILINE)
    assert "\n" not in text
