"""The runner: its workflow commands and files, and the console if there is no runner."""

import errno
import os
import re
import secrets
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from registrar.errors import Diagnostic, InvalidInput
from registrar.rendering.states import Tone
from registrar.texts import escaping
from registrar.texts.escaping import Redactor
from registrar.texts.messages import Excerpt, Message, msg

SUMMARY_BYTES = 1024 * 1024
"""The runner drops a larger step summary as a whole."""
TEMPORARY_OF_KUBERNETES = Path("/__w/_temp")
"""The path at which the runner's Kubernetes hooks mount the directory. RUNNER_TEMP has another one.
"""


class RunnerFiles:
    """Step summary, outputs and the report, each without the token."""

    def __init__(self, environ: Mapping[str, str], without_token: Redactor) -> None:
        """``environ`` has the environment variables that name the files."""
        self._without_token = without_token
        self._summary = environ.get("HOST_STEP_SUMMARY") or environ.get("GITHUB_STEP_SUMMARY")
        self._output = environ.get("GITHUB_OUTPUT")
        self._temporary = environ.get("RUNNER_TEMP")
        self._asked: dict[str, Path] = {}
        self._inputs: set[object] = set()
        """The files that the run has read, by `identity`."""

    def ask_for(self, places: Mapping[str, str], streams: Iterable[TextIO]) -> Iterator[Message]:
        """Use the files that the caller names for each kind of output. Nothing is written yet.

        Yields an error for each file that cannot be written, and for each one that is another
        output as well. ``streams`` are those that the run prints to.
        """
        taken = {identity(Path(each)) for each in (self._summary, self._output) if each}
        taken |= {_of_stream(each) for each in streams}
        for kind, path in ((kind, Path(place)) for kind, place in places.items() if place):
            try:
                _require_writable(path)
            except (OSError, RuntimeError, ValueError) as error:
                reason = getattr(error, "strerror", "") or type(error).__name__
                yield msg("file.unwritable", file=Excerpt(path), reason=reason)
                continue
            found = identity(path)
            if found in taken and found != identity(Path(os.devnull)):
                yield msg("file.two_outputs", option=f"--{kind}", file=Excerpt(path))
                continue
            taken.add(found)
            self._asked[kind] = path

    def note_input(self, found: object) -> None:
        """Note a file that was read as an input, by its `identity`."""
        self._inputs.add(found)

    def require_no_input(self) -> None:
        """Raise `InvalidInput` if a file that was asked for is an input."""
        wrong = ((k, path) for k, path in self._asked.items() if identity(path) in self._inputs)
        errors = [msg("file.is_input", option=f"--{k}", file=Excerpt(path)) for k, path in wrong]
        if errors:
            raise InvalidInput([Diagnostic(each) for each in errors])

    def summary(self, markdown: str, shorten: Callable[[str, int], str]) -> bool:
        """Append to the step summary; ``shorten`` makes it fit into a number of bytes.

        Returns whether it was written whole.
        """
        if not self._summary:
            return True
        path = Path(self._summary)
        room = SUMMARY_BYTES - (path.stat().st_size if path.is_file() else 0)
        text = self._without_token(markdown)
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
        """Write the report for later steps, and return its file name; empty if it has no place."""
        path = self.new("report", "json")
        if path is None:
            return ""
        self.append(path, text)
        return path.name

    def new(self, kind: str, ending: str, *, replaces: bool = True) -> Path | None:
        """Return the path of a file: the one that was asked for, or one below ``RUNNER_TEMP``.

        A file that was asked for is emptied. Later steps get only the name of the file, because the
        directory has different paths inside and outside of a container. ``None`` if there is no
        such directory, because the runner mounts it into containers only since 2.329.0
        (actions/runner#1984), and for a file that is an input. Also for an earlier file that a run
        without a result must not replace (``replaces``).
        """
        if path := self._asked.get(kind):
            is_kept = not replaces and path.is_file() and path.stat().st_size > 0
            if is_kept or identity(path) in self._inputs:
                return None
            _append(path, "")
            if path.is_file():
                os.truncate(path, 0)
            return path
        if not self._temporary:
            return None
        places = (Path(self._temporary), TEMPORARY_OF_KUBERNETES)
        directory = next((place for place in places if place.is_dir()), None)
        return directory and directory / f"registrar-{kind}-{secrets.token_hex(4)}.{ending}"

    def append(self, path: Path, text: str) -> None:
        """Append a text to a file whose path is from `new`."""
        _append(path, self._without_token(text))


def identity(path: Path) -> object:
    """Return a value that is the same for all names of a file: links, relative paths, ``/dev``."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return path.resolve()
    return found.st_dev, found.st_ino


def _of_stream(stream: TextIO) -> object:
    try:
        found = os.fstat(stream.fileno())
    except (OSError, ValueError):
        # It is closed, or not a file
        return None
    return found.st_dev, found.st_ino


def _require_writable(path: Path) -> None:
    """Raise `OSError` if a file cannot be written. One that does not exist is not left behind."""
    if path.exists():
        _append(path, "")
        return
    path = path.resolve()
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    path.unlink()


def _append(path: Path, text: str) -> None:
    """Append to a file; refuse a pipe or a socket, because writing to it may wait for a reader."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o666)
    with open(descriptor, "a", encoding="utf-8", errors="backslashreplace", newline="") as file:  # noqa: PTH123 (by its descriptor)
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        file.write(text)


ANNOTATIONS_PER_STEP = 10
"""The runner keeps 10 errors and 10 warnings of a step (docs/github-behaviour.md, "The runner")."""
ANNOTATION_CHARACTERS = 4096
"""The runner cuts the message of an annotation after so many characters."""
LINE_CHARACTERS = 20_000
"""A longer line is cut."""
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_REFERENCE = re.compile(r"[\w./-]+", re.ASCII)


class Console:
    """Prints texts without the token, and so that no text from outside acts as a command.

    On a runner (``GITHUB_ACTIONS=true``) it prints workflow commands to standard output. Elsewhere
    it prints headings and lines, and errors and warnings to standard error.
    """

    def __init__(  # noqa: PLR0913 (what is printed where)
        self,
        environ: Mapping[str, str],
        stdout: TextIO,
        stderr: TextIO,
        without_token: Redactor,
        *,
        is_quiet: bool = False,
        prints_report: bool = False,
    ) -> None:
        """With ``is_quiet``, it prints only results, errors and warnings.

        With ``prints_report``, standard output gets the report, and standard error all lines.
        """
        self.on_runner = environ.get("GITHUB_ACTIONS") == "true"
        self.stream = stderr if prints_report else stdout
        """The stream that people read."""
        self._for_report = stdout if prints_report else None
        self._stderr = stderr
        self._is_quiet = is_quiet
        self._redact = without_token
        # https://no-color.org
        is_terminal = self.stream.isatty() and not environ.get("NO_COLOR")
        self._coloured = not self.on_runner and is_terminal
        self.pages = address_of_pages(environ)
        """The beginning of the address of each document (`address_of_pages`)."""
        self.files = RunnerFiles(environ, without_token)
        self._annotated: dict[str, int] = {}
        self._lock = threading.Lock()

    def line(self, text: str = "", tone: Tone = Tone.PLAIN) -> None:
        """Print a line about the progress of the run, unless the caller wants only results."""
        if not self._is_quiet:
            self.result(text, tone)

    def result(self, text: str = "", tone: Tone = Tone.PLAIN) -> None:
        """Print a line, in the colour of ``tone`` if there are colours.

        ``text`` may have several lines, because a message of GitHub in it keeps its lines.
        """
        line = self.block(text)
        if self._coloured and tone is not Tone.PLAIN:
            line = f"\x1b[{tone.value}m{line}\x1b[0m"
        self._print(self.stream, line)

    def report(self, text: str) -> str:
        """Print the report if the caller wants that, and write it for later steps.

        Returns the name of its file; empty if it has none.
        """
        if self._for_report:
            # The same JSON, in which the runner finds no workflow command (`for_console`)
            self._print(self._for_report, self._redact(text).replace("##[", "##\\u005b"))
        return self.files.report(text)

    def block(self, text: str) -> str:
        """Return the printed form of a text: without the token, and with nothing that a terminal or
        the runner obeys."""
        return _block(self._redact(text))

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        """Print a heading; a runner folds everything that is printed inside the block."""
        if self._is_quiet:
            yield
            return
        safe_title = self._redact(title)
        if self.on_runner:
            self._print(self.stream, f"::group::{escaping.for_command_data(safe_title)}")
        else:
            self._print(self.stream, escaping.for_console(safe_title))
        try:
            yield
        finally:
            if self.on_runner:
                self._print(self.stream, "::endgroup::")

    def annotate(
        self, kind: str, text: str, label: str, file: str | None, line: int | None
    ) -> None:
        """Report an ``error`` or a ``warning``: an annotation, or standard error without a runner.

        ``text`` may have several lines; ``label`` is the word for the kind if no runner
        writes it; ``file`` (relative to the workspace) and ``line`` (from 1) are its place.
        """
        safe = self._redact(text)
        with self._lock:
            count = self._annotated[kind] = self._annotated.get(kind, 0) + 1
        if not self.on_runner:
            self._print(self._stderr, _block(f"{label}: {safe}"))
            return
        if count > ANNOTATIONS_PER_STEP or len(safe) > ANNOTATION_CHARACTERS:
            self._print(self.stream, _block(f"{label}: {safe}"))
            safe = f"{safe[: ANNOTATION_CHARACTERS - 1]}…"
        if count <= ANNOTATIONS_PER_STEP:
            place = ""
            if file:
                place = f" file={escaping.for_command_property(self._redact(file))}"
                place += f",line={line}" if line else ""
            self._print(self.stream, f"::{kind}{place}::{escaping.for_command_data(safe)}")

    def _print(self, stream: TextIO, text: str) -> None:
        with self._lock:
            try:
                print(text, file=stream, flush=True)
            except OSError:
                # The reader is gone or the disk is full. The run goes on, and the last flush, when
                # the process ends, must not fail either
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def address_of_pages(environ: Mapping[str, str]) -> str:
    """Return the address of the documents of the version in use; empty if it is not known.

    ``GITHUB_ACTION_REPOSITORY`` and ``GITHUB_ACTION_REF`` are empty for ``uses: ./``:
    https://docs.github.com/en/actions/reference/workflows-and-actions/variables
    """
    server = environ.get("GITHUB_SERVER_URL", "")
    repository = environ.get("GITHUB_ACTION_REPOSITORY", "")
    reference = environ.get("GITHUB_ACTION_REF", "")
    known = _REPOSITORY.fullmatch(repository) and _REFERENCE.fullmatch(reference)
    return f"{server}/{repository}/blob/{reference}/" if server and known else ""


def _block(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([_line(first), *(f"  {_line(line)}" for line in rest)])


def _line(text: str) -> str:
    line = escaping.for_console(text)
    return line if len(line) <= LINE_CHARACTERS else f"{line[:LINE_CHARACTERS]}…"
