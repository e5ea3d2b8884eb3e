"""The files for the runner in which a step writes its summary and its outputs."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

SUMMARY_BYTES = 1024 * 1024
"""A larger step summary is dropped as a whole by the runner."""
TEMPORARY_OF_KUBERNETES = Path("/__w/_temp")
"""Where the runner's Kubernetes hooks mount what RUNNER_TEMP names by another path."""


class RunnerFiles:
    """Step summary, outputs and the report, each without the token."""

    def __init__(
        self,
        environ: Mapping[str, str],
        redact: Callable[[str], str],
        without_token: Callable[[str], str],
        kubernetes: Path = TEMPORARY_OF_KUBERNETES,
    ) -> None:
        """``environ`` names the files; ``redact`` makes the summary fit for who reads the log.

        ``without_token`` takes only the token out, of outputs and report: names are hidden in each
        text before, because JSON has other parts, too. ``kubernetes`` is the temporary directory
        where the one that ``environ`` names is not there.
        """
        self._redact = redact
        self._without_token = without_token
        self._summary = environ.get("HOST_STEP_SUMMARY") or environ.get("GITHUB_STEP_SUMMARY")
        self._output = environ.get("GITHUB_OUTPUT")
        self._temporary = environ.get("RUNNER_TEMP")
        self._kubernetes = kubernetes

    def summary(self, markdown: str, shorten: Callable[[str, int], str]) -> bool:
        """Append to the step summary; ``shorten`` makes it fit into a number of bytes.

        Returns whether it was written whole.
        """
        if not self._summary:
            return True
        path = Path(self._summary)
        room = SUMMARY_BYTES - (path.stat().st_size if path.is_file() else 0)
        text = self._redact(markdown)
        shown = shorten(text, max(room, 0))
        _append(path, shown)
        return shown == text

    def outputs(self, values: Mapping[str, str]) -> None:
        """Write the outputs of the step.

        The delimiter is random, so that no value can contain it and begin another output.
        """
        if not self._output:
            return
        lines = []
        for name, value in values.items():
            shown = self._without_token(value)
            delimiter = f"registrar_{secrets.token_hex(16)}"
            lines.append(f"{name}<<{delimiter}\n{shown}\n{delimiter}\n")
        _append(Path(self._output), "".join(lines))

    def report(self, text: str) -> str:
        """Write the report for later steps; its name below ``RUNNER_TEMP``, as of `new`."""
        path = self.new("report", "json")
        if path is None:
            return ""
        self.append(path, text)
        return path.name

    def new(self, kind: str, ending: str) -> Path | None:
        """A name for a file that later steps find below ``RUNNER_TEMP``.

        They are told its name, not its whole path: inside and outside of a container that directory
        has other names. ``None`` where there is no such directory: the runner mounts it into
        containers only since 2.329.0 (actions/runner#1984).
        """
        if not self._temporary:
            return None
        places = (Path(self._temporary), self._kubernetes)
        directory = next((place for place in places if place.is_dir()), None)
        return directory and directory / f"registrar-{kind}-{secrets.token_hex(4)}.{ending}"

    def append(self, path: Path, text: str) -> None:
        """Add to a file that `new` has named."""
        _append(path, self._without_token(text))


def _append(path: Path, text: str) -> None:
    """Append to a file. A pipe or a socket is refused: writing to it may wait for a reader."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o666)
    with open(descriptor, "a", encoding="utf-8", errors="backslashreplace", newline="") as file:  # noqa: PTH123 (by its descriptor)
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        file.write(text)
