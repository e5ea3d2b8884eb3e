"""`scripts/try-on-github`: against the stand-in, which answers as recorded, it is green."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.lib.trial.__main__ import EXIT_AS_EXPECTED, EXIT_OTHERWISE, EXIT_REFUSED, main
from scripts.lib.trial.answers import NEW, OK, PASSING, WRONG, Names, Step, kept
from scripts.lib.trial.recorder import Exchange
from tests.clocks import FakeClock
from tests.fakehub import Fault, FaultKind, Lag, Repository, Request, StandInHost
from tests.fakehub.answer import Answer, Response
from tests.harness import ROOT, only_reads
from tests.recordings import Recording, recordings
from tests.recordings.calls import CALLS

PERMISSIONS = {"contents": "write", "pull_requests": "write", "issues": "write"}
OF_PERSONS = {"GET users/USER/repos", "GET user/repos"}
OF_APPS = {"GET installation/repositories"}
OF_ORGANISATIONS = {"GET orgs/ORG/properties/values"}
PERSON = {"login": "jane-doe", "name": "Jane Doe", "email": "jane@acme.example"}
FULL_OF_NAMES = PERSON | {
    "payload": "author Jane Doe <jane@acme.example> 1700000000 +0000",
    "avatar_url": "https://avatars.acme.example/u/4711",
    "node_id_of_user": "MDQ6VXNlcjQ3MTE=",
    "user_id": 4711,
    "custom_properties": {"secret-project": "moonshot"},
}
NAMES = ("jane", "acme", "4711", "mdq6vx", "secret-project", "moonshot", "plans")


class Talkative(StandInHost):
    """A stand-in whose answers are full of names."""

    def respond(self, record: Request, prefix: str, raw_path: str, body: bytes) -> Answer:
        answer = super().respond(record, prefix, raw_path, body)
        if not isinstance(answer, Response) or not isinstance(answer.body, dict):
            return answer
        more: dict[str, Any] = {"somebody": FULL_OF_NAMES}
        if answer.status == 422:
            said = "See https://acme.example/jane-doe, user ID 4711, `acme`, Jane Doe"
            more = {"message": f"{answer.body['message']} {said}"}
        return replace(answer, body=answer.body | more)


def create_scratch(host: StandInHost, owner: str, **attributes: Any) -> None:
    host.create_repository(f"{owner}/playground", empty=True, **attributes)
    host.create_repository(f"{owner}/playground-2", empty=True, **attributes)


def try_on(host: StandInHost, *arguments: str, token: str) -> tuple[int, str]:
    lines: list[str] = []
    given = [*arguments, "--api-url", host.url]
    code = main(given, {"HOST_TOKEN": token}, lines.append, FakeClock())
    return code, "\n".join(lines)


def read(saved: Path) -> list[Recording]:
    return [Recording(**entry) for entry in yaml.safe_load(saved.read_text("utf-8"))]


def with_owner_files(host: StandInHost) -> None:
    host.create_repository("octocat/.github", {"docs/a.md": b"", "SECURITY.md": b""})


def with_bad_day(host: StandInHost) -> None:
    """Lag after the push and later, one 502 and a limit for each API."""
    host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=lambda each: "/git/ref/" in each.path and bool(host.repositories[0].branches),
            times=2,
            status=409,
            message="Git Repository is empty.",
        )
    )
    for kind in (FaultKind.ERROR_502_HTML, FaultKind.SECONDARY_403_RETRY_AFTER):
        host.faults.add(Fault(kind, match=lambda each: each.path.endswith("/graphql")))
        host.faults.add(Fault(kind, match=lambda each: each.method == "PUT"))
    host.quirks.lag = Lag(answers=1)


def ordinary(_: StandInHost) -> None:
    """As it is."""


@pytest.mark.large
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("owner", "kind", "branch", "change"),
    [
        ("octocat", "classic", "main", ordinary),
        *(
            pytest.param(*values, marks=pytest.mark.matrix)
            for values in (
                ("some-company", "classic", "main", ordinary),
                ("some-company", "installation", "main", ordinary),
                ("some-company", "fine-grained", "main", ordinary),
                ("octocat", "installation", "main", ordinary),
                ("octocat", "classic", "master", with_owner_files),
                ("octocat", "classic", "main", with_bad_day),
            )
        ),
    ],
)
def test_it_is_green(
    host: StandInHost,
    tmp_path: Path,
    owner: str,
    kind: Any,
    branch: str,
    change: Callable[[StandInHost], None],
) -> None:
    # A person's are private: in no list of public ones
    create_scratch(host, owner, default_branch=branch, private=owner == "octocat")
    change(host)
    login = "octocat" if kind == "fine-grained" else None
    token = host.create_token(kind, permissions=PERMISSIONS, login=login)
    saved = tmp_path / "answers.yml"
    code, shown = try_on(host, f"{owner}/playground", "--save", str(saved), token=token)
    assert " 0 not as expected" in shown, shown
    assert code == EXIT_AS_EXPECTED
    assert f"gh repo delete {owner}/playground-2" in shown
    assert ("GitHub answered 502" in shown) == (change is with_bad_day)

    # What is saved becomes recordings, and every kind of request was tried
    assert len(read(saved)) == int(re.findall(r"(\d+) requests, ", shown)[0])
    tried = {name for name, call in CALLS.items() if any(map(call.is_it, host.requests))}
    not_here = OF_APPS if kind != "installation" else {"GET user/repos"}
    not_here = not_here | (OF_ORGANISATIONS if owner == "octocat" else OF_PERSONS)
    assert set(CALLS) - tried == not_here


def test_the_short_form_tries_both_strategies_in_one_repository(
    host: StandInHost, tmp_path: Path
) -> None:
    playground = host.create_repository("octocat/playground", empty=True)
    given = ("octocat/playground", "--short", "--save", str(tmp_path / "answers.yml"))
    code, shown = try_on(host, *given, token=host.create_token())
    assert (code, " 0 not as expected" in shown) == (EXIT_AS_EXPECTED, True), shown
    assert [pull.state for pull in playground.pull_requests] == ["closed", "closed"]
    assert int(re.findall(r"(\d+) requests, ", shown)[0]) <= 45
    for branch in ("per-file", "single"):
        assert all(f"\n{step}, {branch}\n" in shown for step in ("Plan", "Registered", "Declined"))


@pytest.mark.large
def test_what_is_saved_names_nobody(tmp_path: Path) -> None:
    with Talkative() as host:
        create_scratch(host, "acme")
        host.create_repository("acme/.github", {"plans/4711.md": b""}, private=True)
        token = host.create_token(login="jane-doe")
        saved = tmp_path / "answers.yml"
        try_on(host, "acme/playground", "--save", str(saved), token=token)
    text = saved.read_text("utf-8").lower()
    assert len(read(saved)) > 200
    found = [name for name in (*NAMES, "playground", token, host.url) if name in text]
    assert not found


@pytest.mark.large
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "requests", [3, *(pytest.param(count, marks=pytest.mark.matrix) for count in (20, 150))]
)
def test_stopped_it_leaves_its_file_and_begins_anew(
    host: StandInHost, tmp_path: Path, requests: int
) -> None:
    create_scratch(host, "octocat")
    token = host.create_token()
    saved = tmp_path / "answers.yml"
    arguments = ("octocat/playground", "--save", str(saved), "--api-url", host.url)
    command = [sys.executable, "-m", "scripts.lib.trial", *arguments]
    environ = os.environ | {"HOST_TOKEN": token, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL) as started:
        host.on_request = lambda each: started.kill() if each.number == requests + 4 else None
    assert started.returncode == -signal.SIGKILL
    host.settle()
    kept = len(read(saved))
    assert 0 < kept <= requests + 4

    code, shown = try_on(host, "octocat/playground", "--save", str(saved), token=token)
    assert (code, " 0 not as expected" in shown) == (EXIT_AS_EXPECTED, True), shown
    assert len(read(saved)) == kept
    assert len(read(tmp_path / "answers-2.yml")) > kept


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


def test_an_error_of_ours_ends_it_with_all_that_was_found(
    host: StandInHost, scratch: Repository, tmp_path: Path
) -> None:
    token, saved = host.create_token(), tmp_path / "answers.yml"
    pushes = Fault(
        FaultKind.ERROR_503, match=lambda each: "git-receive-pack" in each.path, times=None
    )
    host.faults.add(pushes)
    code, shown = try_on(host, "octocat/scratch", "--save", str(saved), token=token)
    assert code == EXIT_OTHERWISE
    assert "Stopped: The first commit could not be pushed to octocat/scratch" in shown
    assert read(saved)


def test_an_answer_is_held_against_what_is_expected() -> None:
    there, missing = "GET contents: a file is there", "GET contents: nothing is there"
    unconfirmed = "GET contents: a part of the path is a file"

    def verdicts(*expected: str, found: list[Exchange]) -> list[str]:
        return [row.verdict for row in Step("step", expected, exchanges=found).rows()]

    assert verdicts(there, missing, found=[exchange(there), exchange(missing)]) == [OK, OK]
    assert verdicts(missing, found=[]) == [WRONG]
    assert verdicts(missing, found=[exchange(missing), exchange(there)]) == [OK, WRONG]
    assert verdicts(missing, found=[exchange(missing, status=403)]) == [WRONG]
    assert verdicts(missing, found=[exchange(missing, body={"message": "Gone"})]) == [WRONG]
    assert verdicts(unconfirmed, found=[exchange(unconfirmed)]) == [NEW]
    assert verdicts(unconfirmed, found=[exchange(there)]) == [NEW]
    down = exchange("GET repo: GitHub is down")
    limit = exchange("GET repo: too many requests in a short time")
    assert verdicts(there, found=[down, limit, exchange(there)]) == [OK, PASSING, PASSING]
    # What came out as it should differs only in what the action does not look at
    body = recordings()[there].body
    for changed, verdict in ((body | {"size": None}, NEW), (body | {"type": "symlink"}, WRONG)):
        step = Step("step", [there], comes_out=True, exchanges=[exchange(there, body=changed)])
        assert [row.verdict for row in step.rows()] == [verdict]
    # What the action gets over is recorded of the same kind, and it ended as it should
    many = "mutation createRef, createCommitOnBranch, createPullRequest"
    lag = exchange(
        f"{many}: the branch that it made is not known yet",
        method="POST",
        path="/graphql",
        json={"query": "createRef("},
    )
    run = Step("step", [f"{many}: all three are done"], of_run=True, exchanges=[lag])
    assert [row.verdict for row in run.rows()] == [WRONG]
    run.comes_out = True
    assert [row.verdict for row in run.rows()] == [PASSING, PASSING]
    assert verdicts("GET contents", found=[exchange(missing)]) == [OK]
    assert verdicts("GET contents", found=[]) == [WRONG]


def test_only_words_of_github_are_kept() -> None:
    names = Names(["ghp_x"], {"me/mine": "octo/example", "me": "octo"})
    error = {
        "message": "ME/mine of me, not of mean: ghp_x. Jane Doe <jane@acme.example> at 10.1.2.3, "
        "user ID 47, `acme`, ABCD:12:34, 65536 of 123456, https://acme.example/jane",
        "errors": [{"resource": "Issue", "code": "custom", "field": "head", "value": "me"}],
        "name": "Jane Doe",
    }
    names.learn([{"name": "Jane Doe", "email": "jane@acme.example"}])
    assert kept(names.data(error), is_error=True) == {
        "message": "octo/example of octo, not of mean: ***. octocat <somebody@example.com> at …, "
        "user ID 1, …, …, 65536 of 1, https://example.com",
        "errors": [{"resource": "Issue", "code": "custom", "field": "head", "value": "text"}],
        "name": "text",
    }
    success = {"type": "file", "message": "x", "id": 7, "is": True, "list": [7, 7, 7, 7], "n": None}
    assert kept(success, is_error=False) == {
        "type": "file",
        "message": "text",
        "id": 1,
        "is": True,
        "list": [1, 1, 1],
        "n": None,
    }
