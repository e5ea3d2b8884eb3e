"""Encrypted connections work, and an error about one names a remedy."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import certifi
import pytest

from registrar.github.transport import CA_VARIABLES
from registrar.texts.messages import LANGUAGES
from tests.fakehub import StandInHost
from tests.fakehub.proxy import Proxy
from tests.fakehub.tls import Authority
from tests.harness import PER_FILE, SINGLE, TARGET, Action, Run

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
        return action_on(host, directory)(inputs)


def run_through(
    proxy: Proxy, host: StandInHost, directory: Path, *, scheme: str = "http", **inputs: str
) -> Run:
    """Run the action against a host through ``proxy``, whose address has this ``scheme``."""
    with pytest.MonkeyPatch.context() as patch, proxy:
        # In an address, `@` and `:` of a user or a password are written with their codes
        patch.setenv("HTTPS_PROXY", f"{scheme}://some%40body:secret%3Aword@{proxy.name}")
        ended = action_on(host, directory)({"api_url": API, **inputs})
    assert set(proxy.asked) <= {"github.example:443"}
    assert set(proxy.logins) <= {"some@body:secret:word"}
    assert "secret" not in ended.text
    return ended


def fails(ended: Run, *texts: str) -> None:
    """Assert that the only error has these texts and a remedy, and that the run did not wait."""
    assert ended.exit_code == 1
    for text in (*texts, "certificates-and-proxies"):
        assert text in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not [line for line in ended.lines if "Waiting" in line or "待ちます" in line]


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


UNTRUSTED = {
    "en": ("not issued by an authority that this machine trusts", "REQUESTS_CA_BUNDLE"),
    "ja": ("このマシンが信頼する認証局ではありません", "REQUESTS_CA_BUNDLE"),
}
UNFIT = {
    "expired": (
        Authority.expired,
        AUTHORITY,
        {
            "en": ("is not valid today (certificate has expired)", "the clock of this machine"),
            "ja": ("現在有効ではありません（certificate has expired）", "このマシンの時計"),
        },
    ),
    "another name": (
        Authority.wrong_name,
        AUTHORITY,
        {
            "en": ("belongs to another name", "Check api_url"),
            "ja": ("別の名前のものです", "api_url を確認してください"),
        },
    ),
    "only the usual authorities": (Authority.good, None, UNTRUSTED),
    "another authority": (Authority.good, Authority(), UNTRUSTED),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("certificate", "trusted", "texts"), UNFIT.values(), ids=UNFIT)
def test_a_certificate_that_does_not_fit(
    tmp_path: Path,
    monkeypatch: Environment,
    certificate: Callable[[Authority], ssl.SSLContext],
    trusted: Authority | None,
    texts: dict[str, tuple[str, ...]],
    language: str,
) -> None:
    if trusted:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(trusted.bundle(tmp_path / "ca.pem")))
    ended = run(tmp_path, certificate(AUTHORITY), language=language)
    fails(ended, "127.0.0.1:", *texts[language])


@pytest.mark.parametrize("is_in_container", [True, False])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_of_certificates_that_is_not_there(
    tmp_path: Path, monkeypatch: Environment, language: str, is_in_container: bool
) -> None:
    """The action in a container names the path of the workspace there, and only this one."""
    monkeypatch.setenv("GITHUB_WORKSPACE", CONTAINER if is_in_container else str(tmp_path))
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/company/ca.pem")
    ended = run(tmp_path, AUTHORITY.good(), language=language)
    fails(ended, "SSL_CERT_FILE=/etc/company/ca.pem", "`env`")
    assert (CONTAINER in ended.stderr) is is_in_container


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "no encrypted connection to {} ([SSL"),
        ("ja", "{} と暗号化された接続ができません（[SSL"),
    ],
)
def test_a_host_that_does_not_encrypt(
    host: StandInHost, tmp_path: Path, language: str, text: str
) -> None:
    name = host.url.removeprefix("http://")
    ended = action_on(host, tmp_path)(language=language, api_url=f"https://{name}")
    fails(ended, text.format(name))
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_proxy_whose_authority_nobody_named(
    host: StandInHost, tmp_path: Path, language: str
) -> None:
    proxy = Proxy(host, AUTHORITY)
    ended = run_through(proxy, host, tmp_path, commit_strategy=SINGLE, language=language)
    named = {
        "en": f"github.example (through the proxy {proxy.name})",
        "ja": f"プロキシ {proxy.name} 経由の github.example の証明書",
    }
    fails(ended, named[language], "REQUESTS_CA_BUNDLE")
    assert len(proxy.asked) == 1
    assert not host.requests


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_proxy_that_drops_every_connection_while_it_is_encrypted(
    host: StandInHost, tmp_path: Path, language: str
) -> None:
    """A proxy without TLS does this if its address begins with https://.

    So the error names the variable that has the address.
    """
    proxy = Proxy(host, AUTHORITY, closes=100)
    ended = run_through(proxy, host, tmp_path, scheme="https", language=language)
    assert ended.exit_code == 1
    # The message depends on the versions of OpenSSL and Python, but it always has "EOF"
    for text in (proxy.name, "EOF", "HTTPS_PROXY"):
        assert text in ended.stderr
    assert proxy.closes < 99
    assert proxy.asked == []


@pytest.mark.parametrize("certificate", ["good", "expired", "wrong_name", ""])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_connection_to_a_proxy_is_told_from_the_one_through_it(
    host: StandInHost, tmp_path: Path, monkeypatch: Environment, language: str, certificate: str
) -> None:
    """The proxy's certificate is from an unknown authority, not valid, or missing."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(AUTHORITY.bundle(tmp_path / "ca.pem")))
    own = Authority() if certificate == "good" else AUTHORITY
    proxy = Proxy(host, AUTHORITY, tls=getattr(own, certificate)() if certificate else None)
    ended = run_through(proxy, host, tmp_path, scheme="https", language=language)
    named = {
        "en": f"no connection to github.example (through the proxy {proxy.name}): the connection "
        "to the proxy itself cannot be encrypted (",
        "ja": f"プロキシ {proxy.name} 経由の github.example に接続できません。"
        "プロキシ自身との接続を暗号化できません（",
    }
    fails(ended, named[language], "REQUESTS_CA_BUNDLE")
    assert proxy.asked == []
    assert host.requests == []
