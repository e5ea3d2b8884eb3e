"""The runner: its workflow commands, its files, and the console where there is no runner."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TextIO

from registrar.reporting import troubleshooting
from registrar.texts import escaping

ANNOTATIONS_PER_STEP = 10
"""The runner keeps 10 errors and 10 warnings of a step (docs/github-behaviour.md, "The runner")."""
ANNOTATION_CHARACTERS = 4096
"""The runner cuts the message of an annotation there."""
SUMMARY_BYTES = 1024 * 1024
"""A larger step summary is dropped as a whole by the runner."""


class Tone(Enum):
    """What a line is about; the value is its colour on a terminal (SGR parameter)."""

    PLAIN = ""
    GOOD = "32"
    NOTABLE = "33"
    BAD = "31"


class Workflow:
    """Everything that leaves the process passes here, without the token and inert.

    On a runner (``GITHUB_ACTIONS=true``) it speaks workflow commands on standard output;
    elsewhere headings and plain lines, errors and warnings on standard error.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        stdout: TextIO,
        stderr: TextIO,
        redact: Callable[[str], str],
    ) -> None:
        """``environ`` names the runner's files; ``redact`` takes the token out of a text."""
        self.on_runner = environ.get("GITHUB_ACTIONS") == "true"
        self._stdout = stdout
        self._stderr = stderr
        self._redact = redact
        # https://no-color.org
        self._coloured = not self.on_runner and stdout.isatty() and not environ.get("NO_COLOR")
        self.help_page = troubleshooting.page(environ)
        """Address or path of the page that explains errors."""
        self._temporary = environ.get("RUNNER_TEMP")
        self._summary_file = environ.get("HOST_STEP_SUMMARY") or environ.get("GITHUB_STEP_SUMMARY")
        self._output_file = environ.get("GITHUB_OUTPUT")
        self._annotated: dict[str, int] = {}
        self._lock = threading.Lock()

    def line(self, text: str = "", tone: Tone = Tone.PLAIN) -> None:
        """Print one line, in the colour of ``tone`` where there are colours."""
        line = escaping.for_console(self._redact(text))
        if self._coloured and tone is not Tone.PLAIN:
            line = f"\x1b[{tone.value}m{line}\x1b[0m"
        self._print(self._stdout, line)

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        """Fold what is printed inside, where the runner can."""
        safe_title = self._redact(title)
        if self.on_runner:
            self._print(self._stdout, f"::group::{escaping.for_command_data(safe_title)}")
        else:
            self._print(self._stdout, escaping.for_console(safe_title))
        try:
            yield
        finally:
            if self.on_runner:
                self._print(self._stdout, "::endgroup::")

    def error(self, text: str, *, label: str, file: str | None = None, line: int = 0) -> None:
        """Report an error: an annotation on the runner, standard error elsewhere.

        ``text`` may have several lines; ``label`` is the word for "error" where no runner
        writes it; ``file`` (relative to the workspace) and ``line`` (from 1, 0 unknown) tell
        the place.
        """
        self._annotate("error", text, label, file, line)

    def warning(self, text: str, *, label: str, file: str | None = None, line: int = 0) -> None:
        """Report a warning, like `error`."""
        self._annotate("warning", text, label, file, line)

    def summary(self, markdown: str, shorten: Callable[[str, int], str]) -> None:
        """Append to the step summary; ``shorten`` makes it fit into so many bytes.

        Raises:
            OSError: the file cannot be written.
        """
        if not self._summary_file:
            return
        path = Path(self._summary_file)
        room = SUMMARY_BYTES - (path.stat().st_size if path.exists() else 0)
        text = shorten(self._redact(markdown), room)
        with path.open("a", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)

    def outputs(self, values: Mapping[str, str]) -> None:
        """Write the outputs of the step.

        The delimiter is random, so that no value can end itself and begin another output.

        Raises:
            OSError: the file cannot be written.
        """
        if not self._output_file:
            return
        with Path(self._output_file).open("a", encoding="utf-8", errors="backslashreplace") as file:
            for name, value in values.items():
                delimiter = f"registrar_{secrets.token_hex(16)}"
                file.write(f"{name}<<{delimiter}\n{self._redact(value)}\n{delimiter}\n")

    def file(self, name: str, suffix: str, text: str) -> str:
        """Write a file for later steps; its name below ``RUNNER_TEMP``, or nothing without one.

        Not its whole path: inside and outside of a container that directory has other names.

        Raises:
            OSError: the file cannot be written.
        """
        if not self._temporary:
            return ""
        path = Path(self._temporary) / f"{name}-{secrets.token_hex(4)}.{suffix}"
        path.write_text(self._redact(text), encoding="utf-8")
        return path.name

    def _annotate(self, kind: str, text: str, label: str, file: str | None, line: int) -> None:
        safe = self._redact(text)
        with self._lock:
            count = self._annotated[kind] = self._annotated.get(kind, 0) + 1
        if not self.on_runner:
            self._print(self._stderr, _block(f"{label}: {safe}"))
            return
        if count > ANNOTATIONS_PER_STEP or len(safe) > ANNOTATION_CHARACTERS:
            self._print(self._stdout, _block(f"{label}: {safe}"))
            safe = f"{safe[: ANNOTATION_CHARACTERS - 1]}…"
        if count <= ANNOTATIONS_PER_STEP:
            place = ""
            if file:
                place = f" file={escaping.for_command_property(self._redact(file))}"
                place += f",line={line}" if line else ""
            self._print(self._stdout, f"::{kind}{place}::{escaping.for_command_data(safe)}")

    def _print(self, stream: TextIO, text: str) -> None:
        with self._lock:
            try:
                print(text, file=stream, flush=True)
            except OSError:
                # The reader is gone or the disk is full: the work goes on, and the last flush,
                # when the process ends, must not fail either
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _block(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join(
        [escaping.for_console(first), *(f"  {escaping.for_console(line)}" for line in rest)]
    )
