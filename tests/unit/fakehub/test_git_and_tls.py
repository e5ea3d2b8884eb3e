"""Clone and push by git itself, and connections over TLS."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import requests

from tests.fakehub import Repository, StandInHost
from tests.fakehub.tls import Authority

from .conftest import Client


def git(*arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    environ = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        **{
            f"GIT_{who}_{what}": f"{who}@example.com"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    return subprocess.run(
        ["git", *map(str, arguments)], check=check, env=environ, capture_output=True, text=True
    )


def address(host: StandInHost, token: str | None, name: str = "octo/example") -> str:
    credentials = f"x-access-token:{token}@" if token else ""
    return f"{host.url.replace('://', f'://{credentials}')}/{name}.git"


@pytest.mark.parametrize("ending", [".git", ""])
def test_clone_and_push(
    host: StandInHost, repository: Repository, tmp_path: Path, ending: str
) -> None:
    repository.create_branch("work")
    opened = repository.open_pull_request(head="work")
    token, clone = host.create_token("installation"), tmp_path / "clone"
    url = address(host, token).removesuffix(".git") + ending
    git("clone", "--quiet", "--branch", "work", url, clone)
    assert (clone / "docs/guide.md").read_text() == "guide\n"
    (clone / "large").write_bytes(os.urandom(2_000_000))
    git("-C", clone, "add", "large")
    git("-C", clone, "commit", "--quiet", "--message", "chore: add")
    git("-C", clone, "push", "--quiet")
    assert len(str(repository.files("work")["large"])) > 2_000_000
    assert opened.head_sha == repository.head("work") != repository.head()
    moved = sum(request.received for request in host.requests)
    assert moved > 2_000_000
    assert sum(request.sent for request in host.requests) > 0


@pytest.mark.parametrize("kind", ["public", "private"])
def test_credentials(host: StandInHost, tmp_path: Path, kind: str) -> None:
    repository = host.create_repository("octo/example", private=kind == "private")
    reader = host.create_token("installation", permissions={"contents": "read"})
    for token, readable in (
        (None, kind == "public"),
        ("ghp_none", kind == "public"),
        (reader, True),
    ):
        clone = tmp_path / f"clone-{token}"
        done = git("clone", "--quiet", address(host, token), clone, check=False)
        assert (done.returncode == 0) == readable
        if readable:
            pushed = git("-C", clone, "push", "origin", "HEAD:refs/heads/new", check=False)
            assert pushed.returncode != 0
    assert repository.branches == ["main"]


def test_paths_of_the_api_are_not_gits(client: Client) -> None:
    answer = client("GET", "/repos/octo/example/contents/.git/info/refs")
    assert answer.status_code == 422


def test_tls(tmp_path: Path) -> None:
    authority = Authority()
    bundle = authority.bundle(tmp_path / "bundle.pem")
    with StandInHost(tls=authority.good()) as host:
        repository = host.create_repository("octo/example")
        client = Client(host, host.create_token())
        answer = client("GET", "/repos/octo/example", verify=str(bundle))
        client.session.close()
        assert answer.json()["url"].startswith("https://127.0.0.1:")
        clone = tmp_path / "clone"
        git("-c", f"http.sslCAInfo={bundle}", "clone", answer.json()["clone_url"], clone)
        assert git("-C", clone, "rev-parse", "HEAD").stdout.strip() == repository.head()


@pytest.mark.parametrize(
    ("certificate", "expected"),
    [
        ("expired", "certificate has expired"),
        ("wrong_name", "IP address mismatch"),
        ("stranger", "unable to get local issuer certificate"),
    ],
)
def test_bad_certificates(tmp_path: Path, certificate: str, expected: str) -> None:
    trusted = Authority()
    issuer = Authority() if certificate == "stranger" else trusted
    context = issuer.good() if certificate == "stranger" else getattr(issuer, certificate)()
    bundle = trusted.bundle(tmp_path / "bundle.pem")
    with StandInHost(tls=context) as host:
        with pytest.raises(requests.exceptions.SSLError, match=expected):
            requests.get(host.url, verify=str(bundle), timeout=5)
        assert not host.requests
