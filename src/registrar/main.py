"""One run, top to bottom.

settings -> target and list -> state of the repository -> plan -> result -> report -> exit code
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from registrar import cli
from registrar.cancellation import Cancellation
from registrar.errors import (
    EXIT_CANCELLED,
    EXIT_DONE,
    EXIT_FAILED,
    Cancelled,
    Diagnostic,
    InvalidInput,
    Refused,
    describe,
    exit_code,
)
from registrar.inputs import environment, reading
from registrar.jobs import load as load_job
from registrar.models.fleet import FleetResult
from registrar.models.result import RegistrationResult
from registrar.reporting.privacy import HiddenNames
from registrar.reporting.reporter import Reporter
from registrar.reporting.runner import Workflow
from registrar.texts.escaping import Redactor
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
    redact, names = Redactor(environment.token(environ)), HiddenNames()

    def publishable(text: str) -> str:
        return names(redact(text))

    reporter = Reporter(
        Workflow(environ, stdout, stderr, publishable),
        Catalogue(environment.language(environ), publishable),
    )
    if command_line.question:
        for line in command_line.answer(reporter.catalogue):
            reporter.workflow.line(line)
        return EXIT_DONE
    results: list[RegistrationResult] = []
    fleet: FleetResult | None = None
    diagnostics: Sequence[Diagnostic] = ()
    exit_codes: list[int] = []
    try:
        settings = reading.read(environ, command_line.errors)
        texts = Catalogue(environment.language(environ), redact)
        jobs = [load_job(profile, settings, reporter, texts) for profile in settings.profiles]
        try:
            # Only now: bad input is reported without it, and it is most of the start-up time
            from registrar import execution  # noqa: PLC0415
        except ImportError as error:
            raise Refused(msg("run.package_missing", name=error.name or str(error))) from error
        github = execution.connect(settings, reporter, cancellation)
        if settings.selection:
            from registrar.fleet.run import Fleet  # noqa: PLC0415 (not needed for one repository)

            fleet = FleetResult(settings.mode)
            # What was done counts whatever ends the run
            results = fleet.registrations
            Fleet(
                github, settings, settings.selection, jobs, reporter, names, cancellation, fleet
            ).run()
            exit_codes.append(fleet.exit_code)
        else:
            for result in execution.each(jobs, settings, github, reporter, cancellation):
                results.append(result)
                exit_codes.append(result.exit_code)
    except (Exception, Cancelled) as error:  # noqa: BLE001 (described, with its exit code)
        cancellation.stop_timer()
        exit_codes.append(exit_code(error, wrote=bool(results)))
        diagnostics = (
            error.diagnostics if isinstance(error, InvalidInput) else [Diagnostic(describe(error))]
        )
    combined = _combine_exit_codes(exit_codes)
    reporter.run(results, diagnostics, combined, fleet)
    return combined


def _combine_exit_codes(exit_codes: Sequence[int]) -> int:
    """One exit code for all registrations: theirs when they agree, else 1."""
    cancelled = [code for code in exit_codes if code >= EXIT_CANCELLED]
    if cancelled:
        return cancelled[0]
    return exit_codes[0] if len(set(exit_codes)) == 1 else EXIT_FAILED
