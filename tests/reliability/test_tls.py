"""Encrypted connections: they work, and what is wrong with them is said with its remedy."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakehub import StandInHost
from tests.fakehub.tls import Authority
from tests.harness import STRATEGIES, TARGET, Action, Run

AUTHORITY = Authority()


def run(
    tmp_path: Path, context: ssl.SSLContext, bundle: Path | str | None, strategy: str = "per-file"
) -> Run:
    """Run in a process of its own, which reads the environment as users set it."""
    (tmp_path / "workspace").mkdir()
    with StandInHost(tls=context) as host:
        host.create_repository(TARGET, {"README.md": b"x"})
        action = Action(host, tmp_path, host.create_token())
        environ = action.environment({"language": "en", "commit_strategy": strategy})
        named = {"REQUESTS_CA_BUNDLE": str(bundle)} if bundle else {}
        ended = action.process({**environ, **named})
        assert host.url.startswith("https://")
    return ended


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_certificate_of_an_authority_that_is_named(tmp_path: Path, strategy: str) -> None:
    bundle = AUTHORITY.bundle(tmp_path / "ca.pem")
    ended = run(tmp_path, AUTHORITY.good(), bundle, strategy)
    assert ended.exit_code == 0, ended.text
    assert ended.outputs["created"] == "28"


@pytest.mark.parametrize(
    ("certificate", "named", "texts"),
    [
        (Authority.expired, True, ("is not valid today", "certificate has expired", "clock")),
        (Authority.wrong_name, True, ("belongs to another name", "Check api_url")),
        (
            Authority.good,
            False,
            ("not issued by an authority", "REQUESTS_CA_BUNDLE"),
        ),
    ],
    ids=["expired", "another name", "nobody trusts it"],
)
def test_a_certificate_that_does_not_fit(
    tmp_path: Path,
    certificate: Callable[[Authority], ssl.SSLContext],
    named: bool,
    texts: tuple[str, ...],
) -> None:
    bundle = AUTHORITY.bundle(tmp_path / "ca.pem") if named else None
    ended = run(tmp_path, certificate(AUTHORITY), bundle)
    assert ended.exit_code == 1
    for text in ("127.0.0.1:", *texts):
        assert text in ended.stderr
    assert "Unexpected" not in ended.text
    assert "Waiting" not in ended.stdout


def test_a_file_of_certificates_that_is_not_there(tmp_path: Path) -> None:
    ended = run(tmp_path, AUTHORITY.good(), "/etc/company/ca.pem")
    assert ended.exit_code == 1
    assert "REQUESTS_CA_BUNDLE=/etc/company/ca.pem" in ended.stderr
    assert "/github/workspace" in ended.stderr
    assert "Unexpected" not in ended.text
