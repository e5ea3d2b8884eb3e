"""`scripts/try-on-github`: against the stand-in, which answers as recorded, it is green."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.lib.trial.__main__ import EXIT_AS_EXPECTED, EXIT_REFUSED, main
from scripts.lib.trial.answers import NEW, OK, WRONG, Names, rows
from scripts.lib.trial.recorder import Exchange
from tests.clocks import FakeClock
from tests.fakehub import Repository, StandInHost
from tests.harness import only_reads
from tests.recordings import Recording, recordings
from tests.recordings.calls import CALLS

PERMISSIONS = {"contents": "write", "pull_requests": "write", "issues": "write"}


def try_on(host: StandInHost, *arguments: str, token: str) -> tuple[int, str]:
    lines: list[str] = []
    given = [*arguments, "--api-url", host.url]
    code = main(given, {"HOST_TOKEN": token}, lines.append, FakeClock())
    return code, "\n".join(lines)


@pytest.mark.large
@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        ("octocat", "classic"),
        pytest.param("some-company", "installation", marks=pytest.mark.matrix),
        pytest.param("some-company", "fine-grained", marks=pytest.mark.matrix),
    ],
)
def test_it_is_green(host: StandInHost, tmp_path: Path, owner: str, kind: str) -> None:
    for name in ("playground", "playground-2"):
        host.create_repository(f"{owner}/{name}", empty=True)
    login = "octocat" if kind == "fine-grained" else None
    token = host.create_token(kind, permissions=PERMISSIONS, login=login)  # type: ignore[arg-type]
    saved = tmp_path / "answers.json"
    code, shown = try_on(host, f"{owner}/playground", "--save", str(saved), token=token)
    assert "0 not as expected" in shown, shown
    assert code == EXIT_AS_EXPECTED
    assert f"gh repo delete {owner}/playground-2" in shown

    # What is saved can be attached to an issue, and becomes recordings
    text = saved.read_text("utf-8")
    assert not any(secret in text for secret in (token, owner, "playground", host.url))
    kept = [Recording(**entry) for entry in json.loads(text)]
    listings = {name for name in CALLS if name.endswith("/repos") or "installation" in name}
    same = {"GET contents of a directory", "GET commits of a reference"}  # as GET contents, commits
    not_tried = {n for n in CALLS if "properties" in n or "codeowners" in n or "facts" in n}
    by_number = {name for name in CALLS if name.endswith("by number")}
    left_out = listings | same | not_tried | by_number
    assert {each.request for each in kept} | left_out == set(CALLS)


@pytest.fixture
def scratch(host: StandInHost) -> Repository:
    host.create_repository("octocat/scratch-2", empty=True)
    return host.create_repository("octocat/scratch", empty=True)


def with_commit(repository: Repository) -> None:
    repository.commit({"README.md": b"mine\n"})


def archived(repository: Repository) -> None:
    repository.archived = True


def forked(repository: Repository) -> None:
    repository.parent = "other/scratch"


@pytest.mark.parametrize(
    ("change", "reason"),
    [(with_commit, "has commits"), (archived, "is archived"), (forked, "is a fork")],
)
@pytest.mark.parametrize("name", ["scratch", "scratch-2"])
def test_what_looks_used_is_not_written_to(
    host: StandInHost,
    scratch: Repository,
    change: Callable[[Repository], None],
    reason: str,
    name: str,
) -> None:
    change(next(each for each in host.repositories if each.name == name))
    code, shown = try_on(host, "octocat/scratch", token=host.create_token())
    assert code == EXIT_REFUSED
    assert f"octocat/{name} looks used: it {reason}." in shown
    assert only_reads(host)


@pytest.mark.parametrize(
    ("arguments", "token", "said"),
    [
        (["octocat/scratch"], "", "HOST_TOKEN is empty"),
        (["octocat/scratch"], "ghp_wrong", "GitHub does not accept the token"),
        (["scratch"], "good", "'scratch' is not of the form OWNER/REPOSITORY"),
        (["octocat/none"], "good", "There is no repository octocat/none that the token may see"),
        (["octocat/scratch", "octocat/SCRATCH"], "good", "are the same one"),
    ],
)
def test_what_cannot_be_tried(
    host: StandInHost, scratch: Repository, arguments: list[str], token: str, said: str
) -> None:
    token = host.create_token() if token == "good" else token
    code, shown = try_on(host, *arguments, token=token)
    assert (code, said in shown) == (EXIT_REFUSED, True), shown
    assert only_reads(host)


def exchange(name: str, **changes: object) -> Exchange:
    """An exchange that is as recorded, but for this."""
    recording = recordings()[name]
    target = "/repos/octo/example/contents/x"
    made = Exchange("GET", target, None, recording.status, recording.headers, recording.body)
    return made._replace(**changes)  # type: ignore[arg-type]


def test_an_answer_is_held_against_what_is_expected() -> None:
    there, missing = "GET contents: a file is there", "GET contents: nothing is there"
    unconfirmed = "GET contents: a part of the path is a file"

    def verdicts(*expected: str, found: list[Exchange]) -> list[str]:
        return [row.verdict for row in rows("step", expected, found, of_run=False)]

    assert verdicts(there, missing, found=[exchange(there), exchange(missing)]) == [OK, OK]
    assert verdicts(missing, found=[]) == [WRONG]
    assert verdicts(missing, found=[exchange(missing), exchange(there)]) == [OK, WRONG]
    assert verdicts(missing, found=[exchange(missing, status=403)]) == [WRONG]
    assert verdicts(missing, found=[exchange(missing, body={"message": "Gone"})]) == [WRONG]
    assert verdicts(unconfirmed, found=[exchange(unconfirmed)]) == [NEW]
    assert verdicts(unconfirmed, found=[exchange(there)]) == [NEW]


def test_names_are_replaced_by_ours() -> None:
    names = Names(["ghp_x"], {"me/mine": "octo/example", "me": "octo"})
    body = {
        "message": "ME/mine of me, not of mean: ghp_x",
        "name": "mine",
        "words": "mine is a word",
        "id": 7,
        "email": "me@company.example",
        "list": [{"full_name": "me/private"}, {"full_name": "me/mine"}],
    }
    assert names.short(names.data(body)) == {
        "message": "octo/example of octo, not of mean: ***",
        "name": "example",
        "words": "mine is a word",
        "id": 1,
        "email": "somebody@example.com",
        "list": [{"full_name": "octo/example"}],
    }
