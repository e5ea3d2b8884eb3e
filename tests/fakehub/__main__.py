"""Serve an example repository until interrupted (`python -m tests.fakehub`)."""

from __future__ import annotations

import argparse
import contextlib
import threading
from pathlib import Path

from . import StandInHost


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fakehub", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--root", type=Path, help="keep the repositories in this directory")
    parser.add_argument("--repository", default="octo/example")
    given = parser.parse_args()
    with StandInHost(root=given.root, port=given.port) as host:
        repository = host.create_repository(given.repository)
        print(f"HOST_API_URL={host.url}")
        print(f"HOST_TOKEN={host.create_token()}")
        print(f"TARGET_REPO={repository.full_name}")
        print(f"git -C {repository.path} log --all --stat", flush=True)
        host.on_request = lambda request: print(request.method, request.raw_target, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
