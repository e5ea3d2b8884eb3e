"""Without a connection, the error names the host, the attempts, their duration, and a remedy."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import NoReturn

import pytest

from registrar.texts.messages import LANGUAGES
from tests.fakehub import StandInHost
from tests.fakehub.proxy import Proxy
from tests.fakehub.tls import Authority
from tests.harness import Action, Start

ADVICE = {
    "en": (
        "Error: (Checking the token|Reading the repository octo/example) failed: ",
        r"Tried 6 times in 1\d s\. ",
        "Check api_url, whether this machine may connect there ",
        "HTTPS_PROXY",
        "the-connection-fails",
    ),
    "ja": (
        "エラー: (トークン|リポジトリ octo/example )の(確認|読み取り)に失敗しました: ",
        r"1\d 秒間に 6 回試しました。",
        "api_url、このマシンからの接続が許されているか",
        "HTTPS_PROXY",
        "the-connection-fails",
    ),
}


@contextmanager
def unused_port() -> Iterator[str]:
    """A port on which nobody listens."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


@contextmanager
def resetting() -> Iterator[str]:
    """A host that resets every connection after the first bytes of a request."""

    def serve() -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            connection.recv(1)
            # A socket with a linger of zero sends a reset when it is closed
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


@contextmanager
def unknown() -> Iterator[str]:
    """A name that does not resolve. A real resolver would take a minute without a network."""

    def no_such_name(*_: object, **__: object) -> NoReturn:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", no_such_name)
        yield "github.invalid"


UNREACHABLE = {
    "unknown name": (
        unknown,
        {"en": "the name {} cannot be resolved", "ja": "{} という名前を解決でき"},
    ),
    "refused": (unused_port, {"en": "no connection to {} (", "ja": "{} に接続できません（"}),
    "reset": (resetting, {"en": "the connection to {} was lost", "ja": "{} との接続が切れました"}),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("place", "texts"), UNREACHABLE.values(), ids=UNREACHABLE)
def test_a_host_that_cannot_be_reached(
    single: Start,
    place: Callable[[], AbstractContextManager[str]],
    texts: dict[str, str],
    language: str,
) -> None:
    with place() as host:
        url = f"https://{host}/api/v3"
        run = single(api_url=url, language=language)
    assert run.exit_code == 1
    assert texts[language].format(host) in run.stderr
    for advice in ADVICE[language]:
        assert re.search(advice, run.stderr), advice
    assert len(run.stderr.splitlines()) == 1
    assert "ConnectionError" not in run.text


PROXIES = {
    "refuses": ("Tunnel connection failed: 403 ", True),
    # This one is not repeated, because further attempts could lock the account
    "knows no such user": ("Tunnel connection failed: 407 ", False),
    "cannot be reached": ("Connection refused", True),
    "no address": ("http://proxy.example.com:3128", False),
    "SOCKS": ("SOCKS", False),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", PROXIES)
def test_a_proxy_that_gives_no_connection(
    host: StandInHost,
    action: Action,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    language: str,
) -> None:
    text, passes = PROXIES[kind]
    refusal = 403 if kind == "refuses" else 407
    with Proxy(host, Authority(), refusal=refusal) as proxy, unused_port() as closed:
        place, url = {
            "refuses": (proxy.name, "http://somebody:secret@{}"),
            "knows no such user": (proxy.name, "http://somebody:secret@{}"),
            "cannot be reached": (closed, "http://somebody:secret@{}"),
            "no address": ("", "http://somebody:secret@[::1"),
            "SOCKS": ("", "socks5://somebody:secret@127.0.0.1:1080"),
        }[kind]
        monkeypatch.setenv("HTTPS_PROXY", url.format(place))
        run = action(api_url="https://github.example/api/v3", language=language)
    assert run.exit_code == 1
    assert "secret" not in run.text
    named = {
        "en": f"no connection to github.example (through the proxy {place}): ",
        "ja": f"プロキシ {place} 経由の github.example に接続できません",
    }
    assert text in run.stderr
    assert "certificates-and-proxies" in run.stderr
    if passes:
        assert named[language] in run.stderr
        assert re.search(ADVICE[language][1], run.stderr)
    else:
        assert not [line for line in run.lines if "Waiting" in line or "待ちます" in line]
