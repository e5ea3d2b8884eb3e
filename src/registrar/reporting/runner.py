"""The runner: its workflow commands, and the console where there is no runner."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import TextIO

from registrar.reporting import troubleshooting
from registrar.reporting.privacy import Redaction
from registrar.reporting.runner_files import RunnerFiles
from registrar.texts import escaping

ANNOTATIONS_PER_STEP = 10
"""The runner keeps 10 errors and 10 warnings of a step (docs/github-behaviour.md, "The runner")."""
ANNOTATION_CHARACTERS = 4096
"""The runner cuts the message of an annotation there."""
LINE_CHARACTERS = 20_000
"""A longer line is cut."""


class Tone(Enum):
    """What a line is about; the value is its colour on a terminal (SGR parameter)."""

    PLAIN = ""
    GOOD = "32"
    NOTABLE = "33"
    BAD = "31"


class Console:
    """Prints everything, without the token, and so that nothing from outside acts as a command.

    On a runner (``GITHUB_ACTIONS=true``) it prints workflow commands to standard output;
    elsewhere headings and lines, with errors and warnings on standard error.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        stdout: TextIO,
        stderr: TextIO,
        redaction: Redaction,
    ) -> None:
        self.on_runner = environ.get("GITHUB_ACTIONS") == "true"
        self._stdout = stdout
        self._stderr = stderr
        self._redact = redaction.for_log
        # https://no-color.org
        self._coloured = not self.on_runner and stdout.isatty() and not environ.get("NO_COLOR")
        self.help_page = troubleshooting.page(environ)
        """Address or path of the page that explains errors."""
        self.files = RunnerFiles(environ, redaction.for_log, redaction.without_token)
        self._annotated: dict[str, int] = {}
        self._lock = threading.Lock()

    def line(self, text: str = "", tone: Tone = Tone.PLAIN) -> None:
        """Print a line, in the colour of ``tone`` where there are colours.

        ``text`` may have several lines: a message of GitHub in it keeps its own.
        """
        line = _block(self._redact(text))
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
        writes it; ``file`` (relative to the workspace) and ``line`` (from 1, 0 unknown)
        are its place.
        """
        self._annotate("error", text, label, file, line)

    def warning(self, text: str, *, label: str, file: str | None = None, line: int = 0) -> None:
        """Report a warning, like `error`."""
        self._annotate("warning", text, label, file, line)

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
                # The reader is gone or the disk is full: the run goes on, and the last flush,
                # when the process ends, must not fail either
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _block(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([_line(first), *(f"  {_line(line)}" for line in rest)])


def _line(text: str) -> str:
    line = escaping.for_console(text)
    return line if len(line) <= LINE_CHARACTERS else f"{line[:LINE_CHARACTERS]}…"
