"""Encrypted connections work, and an error about one names a remedy."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import certifi
import pytest

from registrar.github.transport import CA_VARIABLES
from tests.fakehub import StandInHost
from tests.fakehub.proxy import Proxy
from tests.fakehub.tls import Authority
from tests.harness import PER_FILE, SINGLE, TARGET, Action, Run
from tests.texts import pattern_of

AUTHORITY = Authority()
API = "https://github.example/api/v3"
"""An address that only a proxy can resolve."""
CONTAINER = "/github/workspace"
"""The path of the workspace in a container of a workflow."""
Environment = pytest.MonkeyPatch


def action_on(host: StandInHost, directory: Path) -> Action:
    """Return an action with a repository that has one of the 29 files."""
    (directory / "workspace").mkdir()
    host.create_repository(TARGET, {"README.md": b"x"})
    return Action(host, directory, host.create_token())


def run(directory: Path, context: ssl.SSLContext, **inputs: str) -> Run:
    """Run the action against a host that shows the certificate of ``context``."""
    with StandInHost(tls=context) as host:
        assert host.url.startswith("https://127.0.0.1:")
        return action_on(host, directory)({"language": "en", **inputs})


def run_through(
    proxy: Proxy, host: StandInHost, directory: Path, *, scheme: str = "http", **inputs: str
) -> Run:
    """Run the action against a host through ``proxy``, whose address has this ``scheme``."""
    with pytest.MonkeyPatch.context() as patch, proxy:
        # In an address, `@` and `:` of a user or a password are written with their codes
        patch.setenv("HTTPS_PROXY", f"{scheme}://some%40body:secret%3Aword@{proxy.name}")
        ended = action_on(host, directory)({"api_url": API, "language": "en", **inputs})
    assert set(proxy.asked) <= {"github.example:443"}
    assert set(proxy.logins) <= {"some@body:secret:word"}
    assert "secret" not in ended.text
    return ended


def fails(ended: Run, key: str, *texts: str) -> None:
    """Assert that the only error is this one, with these texts, and that the run did not wait."""
    assert ended.exit_code == 1
    assert pattern_of(key).search(ended.stderr), ended.stderr
    for text in (*texts, "certificates-and-proxies"):
        assert text in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not [line for line in ended.lines if "Waiting" in line]


def test_a_process_trusts_the_authority_that_is_named(tmp_path: Path) -> None:
    with StandInHost(tls=AUTHORITY.good()) as host:
        action = action_on(host, tmp_path)
        environ = action.environment({"commit_strategy": SINGLE})
        bundle = AUTHORITY.bundle(tmp_path / "ca.pem")
        ended = action.process({**environ, "REQUESTS_CA_BUNDLE": str(bundle)})
    assert ended.exit_code == 0, ended.text
    assert ended.outputs["created"] == "28"


@pytest.mark.parametrize(
    ("variable", "kind"),
    [
        *((variable, kind) for variable in CA_VARIABLES for kind in ("alone", "with the usual")),
        # OpenSSL looks there for a file whose name is a hash of the authority's name
        ("REQUESTS_CA_BUNDLE", "a directory"),
    ],
)
def test_an_authority_of_ones_own(
    tmp_path: Path, monkeypatch: Environment, variable: str, kind: str
) -> None:
    bundle = AUTHORITY.bundle(tmp_path / f"{AUTHORITY.hashed_name}.0")
    if kind == "with the usual":
        bundle.write_bytes(Path(certifi.where()).read_bytes() + bundle.read_bytes())
    monkeypatch.setenv(variable, str(tmp_path if kind == "a directory" else bundle))
    ended = run(tmp_path, AUTHORITY.good(), profile="health", commit_strategy="single").or_fail()
    assert ended.outputs["created"] == "7"


@pytest.mark.parametrize(
    ("certificate", "trusted", "key"),
    [
        (Authority.expired, AUTHORITY, "host.certificate_expired"),
        (Authority.wrong_name, AUTHORITY, "host.certificate_name"),
        # Only the usual authorities, or another one
        (Authority.good, None, "host.certificate_issuer"),
        (Authority.good, Authority(), "host.certificate_issuer"),
    ],
)
def test_a_certificate_that_does_not_fit(
    tmp_path: Path,
    monkeypatch: Environment,
    certificate: Callable[[Authority], ssl.SSLContext],
    trusted: Authority | None,
    key: str,
) -> None:
    if trusted:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(trusted.bundle(tmp_path / "ca.pem")))
    fails(run(tmp_path, certificate(AUTHORITY)), key, "127.0.0.1:")


@pytest.mark.parametrize(
    ("workspace", "key"),
    [(CONTAINER, "host.ca_bundle_in_container"), ("/home/somebody", "host.ca_bundle")],
)
def test_a_file_of_certificates_that_is_not_there(
    tmp_path: Path, monkeypatch: Environment, workspace: str, key: str
) -> None:
    """The action in a container names the path of the workspace there, and only this one."""
    monkeypatch.setenv("GITHUB_WORKSPACE", workspace)
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/company/ca.pem")
    fails(run(tmp_path, AUTHORITY.good()), key, "SSL_CERT_FILE=/etc/company/ca.pem")


def test_a_host_that_does_not_encrypt(host: StandInHost, tmp_path: Path) -> None:
    name = host.url.removeprefix("http://")
    ended = action_on(host, tmp_path)(language="en", api_url=f"https://{name}")
    fails(ended, "host.tls", f"{name} ([SSL")
    assert not host.requests


# --- A proxy that decrypts connections ------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "variable", "scheme", "dropped"),
    [
        (PER_FILE, "REQUESTS_CA_BUNDLE", "http", 0),
        (SINGLE, "SSL_CERT_FILE", "http", 0),
        (SINGLE, "REQUESTS_CA_BUNDLE", "https", 0),
        # A connection that is dropped while it is encrypted is tried again
        (SINGLE, "REQUESTS_CA_BUNDLE", "https", 2),
    ],
)
def test_the_authority_of_a_proxy_is_trusted_when_it_is_named(
    host: StandInHost,
    tmp_path: Path,
    monkeypatch: Environment,
    strategy: str,
    variable: str,
    scheme: str,
    dropped: int,
) -> None:
    monkeypatch.setenv(variable, str(AUTHORITY.bundle(tmp_path / "ca.pem")))
    tls = AUTHORITY.good() if scheme == "https" else None
    proxy = Proxy(host, AUTHORITY, tls=tls, closes=dropped)
    run_through(proxy, host, tmp_path, scheme=scheme, commit_strategy=strategy).or_fail()
    assert proxy.asked
    assert proxy.closes == 0


def test_a_proxy_whose_authority_nobody_named(host: StandInHost, tmp_path: Path) -> None:
    proxy = Proxy(host, AUTHORITY)
    ended = run_through(proxy, host, tmp_path, commit_strategy=SINGLE)
    fails(ended, "host.certificate_issuer", f"github.example (through the proxy {proxy.name})")
    assert len(proxy.asked) == 1
    assert not host.requests


def test_a_proxy_that_drops_every_connection_while_it_is_encrypted(
    host: StandInHost, tmp_path: Path
) -> None:
    """A proxy without TLS does this if its address begins with https://.

    So the error names the variable that has the address.
    """
    proxy = Proxy(host, AUTHORITY, closes=100)
    ended = run_through(proxy, host, tmp_path, scheme="https")
    assert ended.exit_code == 1
    # The message depends on the versions of OpenSSL and Python, but it always has "EOF"
    for text in (proxy.name, "EOF", "HTTPS_PROXY"):
        assert text in ended.stderr
    assert proxy.closes < 99
    assert proxy.asked == []


@pytest.mark.parametrize("certificate", ["good", "expired", "wrong_name", ""])
def test_the_connection_to_a_proxy_is_told_from_the_one_through_it(
    host: StandInHost, tmp_path: Path, monkeypatch: Environment, certificate: str
) -> None:
    """The proxy's certificate is from an unknown authority, not valid, or missing."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(AUTHORITY.bundle(tmp_path / "ca.pem")))
    own = Authority() if certificate == "good" else AUTHORITY
    proxy = Proxy(host, AUTHORITY, tls=getattr(own, certificate)() if certificate else None)
    ended = run_through(proxy, host, tmp_path, scheme="https")
    fails(ended, "host.proxy_tls", f"github.example (through the proxy {proxy.name})")
    assert proxy.asked == []
    assert host.requests == []
