"""One run, top to bottom.

settings -> target and list -> state of the repository -> plan -> result -> report -> exit code
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TextIO

from registrar.errors import EXIT_DONE, Cancelled, Diagnostic, Refused
from registrar.file_lists import load as load_list
from registrar.inputs import cli, environment
from registrar.inputs.reader import read as read_settings
from registrar.models.run_result import RunResult
from registrar.reporting.privacy import Redaction
from registrar.reporting.reporter import Reporter
from registrar.reporting.runner import Console
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Catalogue, msg


def main(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    stdout: TextIO,
    stderr: TextIO,
    cancellation: Cancellation | None = None,
) -> int:
    """Run the action once and give its exit code.

    ``arguments`` are those of the command line, without the program's name. ``cancellation`` holds
    the clock, and knows of signals where the entry point installed it.
    """
    cancellation = cancellation or Cancellation()
    command_line = cli.parse(arguments)
    environ = {**environ, **command_line.variables}
    language = environment.language(environ)
    not_shown = Catalogue(language).text(msg("label.words_not_shown"))
    # Valid or not, the token is kept out of every text
    redaction = Redaction(environment.value_of(environ, "host_token"), not_shown)
    now = datetime.fromtimestamp(cancellation.clock.time(), UTC).isoformat(timespec="seconds")
    reporter = Reporter(Console(environ, stdout, stderr, redaction), language, redaction, now)
    if command_line.question:
        for line in command_line.answer(reporter.catalogue):
            reporter.console.line(line)
        return EXIT_DONE

    result = RunResult()
    try:
        settings = read_settings(environ, command_line.errors)
        for warning in settings.warnings:
            reporter.warn(Diagnostic(warning))
        reporter.console.files.ask_for(command_line.files)
        lists = [load_list(profile, settings, reporter) for profile in settings.profiles]
        try:
            # Only now: bad input is reported without it, and it is most of the start-up time
            from registrar import execution  # noqa: PLC0415
        except ImportError as error:
            raise Refused(msg("run.package_missing", name=error.name or str(error))) from error
        execution.execute(settings, lists, reporter, cancellation, result)
        cancellation.only_report_left()
    except (Exception, Cancelled) as error:  # noqa: BLE001 (described, with its exit code)
        cancellation.only_report_left()
        result.end_with(error)
    reporter.run(result)
    return result.exit_code
