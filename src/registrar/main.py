"""The course of one run, from its inputs to its exit code.

settings -> target and list -> state of the repository -> task -> record -> report -> exit code
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TextIO

from registrar.errors import (
    EXIT_DONE,
    Cancelled,
    Diagnostic,
    Failure,
    Refused,
    RegistrarError,
)
from registrar.inputs import cli, environment
from registrar.inputs.lists import load as load_lists
from registrar.inputs.lists import note_files
from registrar.inputs.reader import read as read_settings
from registrar.models.run_result import RunResult
from registrar.models.settings import Mode, Settings
from registrar.models.spec import FileList
from registrar.privacy import Privacy
from registrar.reporting.reporter import Reporter
from registrar.reporting.runner import Console
from registrar.runtime.cancellation import Cancellation
from registrar.runtime.terminal import is_attended, says_yes
from registrar.texts.messages import Catalogue, msg


def main(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    stdout: TextIO,
    stderr: TextIO,
    cancellation: Cancellation,
) -> int:
    """Run registrar once and return its exit code.

    ``arguments`` are those of the command line, without the program's name. ``cancellation`` has
    the clock, and knows of signals if the entry point has installed it.
    """
    command_line = cli.parse(arguments, environ)
    environ = {**environ, **command_line.variables}
    languages = environment.languages(environ, is_contracts=bool(command_line.command))
    in_place_of_words = Catalogue(languages.reader).text(msg("label.words_not_shown"))
    # The token is kept out of every text, even if the inputs turn out to be invalid
    privacy = Privacy(environment.value_of(environ, "host_token"), in_place_of_words)
    now = datetime.fromtimestamp(cancellation.clock.time(), UTC).isoformat(timespec="seconds")
    console = Console(
        environ,
        stdout,
        stderr,
        privacy.without_token,
        is_quiet=cli.QUIET in command_line.switches,
        prints_report=command_line.prints_report,
    )
    reporter = Reporter(console, languages, privacy, now)
    if command_line.question not in cli.FOR_PROGRAMS:
        reporter.begin()

    result = RunResult()
    try:
        if command_line.question:
            for line in command_line.answer(reporter.catalogue):
                console.result(line)
            return EXIT_DONE
        unwritable = console.files.ask_for(command_line.files, (stdout, stderr))
        note = console.files.note_input
        try:
            settings = read_settings(
                environ,
                [*command_line.errors, *unwritable],
                in_workspace=not command_line.names_list,
            )
        except RegistrarError:
            # No output of this run may replace them
            note_files(environ, command_line.lists, note)
            raise
        reporter.inputs_are_read()
        for warning in settings.warnings:
            reporter.warn(Diagnostic(warning))
        lists = load_lists(settings, reporter.warn, command_line.lists, note)
        console.files.require_no_input()
        if settings.mode is Mode.VALIDATE:
            reporter.report_lists(lists)
            result.valid_lists = lists
            if cli.STRICT in command_line.switches:
                _refuse_warnings(reporter.warnings)
        else:
            is_alone = environment.is_unattended(environ) and not is_attended()
            if not (cli.YES in command_line.switches or is_alone):
                reporter.asks = lambda question: says_yes(question, cancellation)
            _execute(settings, lists, reporter, cancellation, result)
        cancellation.only_report_left()
    except (Exception, Cancelled) as error:  # noqa: BLE001 (described, with its exit code)
        cancellation.only_report_left()
        result.end_with(error)
    reporter.report_run(result)
    return result.exit_code


def _refuse_warnings(count: int) -> None:
    if count:
        raise RegistrarError(Failure.of(msg("definitions.strict", count=count)))


def _execute(
    settings: Settings,
    lists: Sequence[FileList],
    reporter: Reporter,
    cancellation: Cancellation,
    result: RunResult,
) -> None:
    try:
        # Imported here, because it takes most of the start-up time, and a run with invalid inputs
        # does not need it
        from registrar import execution  # noqa: PLC0415
    except ImportError as error:
        raise Refused(msg("run.package_missing", name=error.name or str(error))) from error
    execution.execute(settings, lists, reporter, cancellation, result)
