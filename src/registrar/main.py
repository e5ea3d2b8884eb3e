"""One run, top to bottom. Data flows one strategy.

environment -> inputs -> definitions -> inspect -> plan -> write -> report -> exit code
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from registrar import cli, inputs
from registrar.cancellation import Cancellation
from registrar.definitions import loading
from registrar.errors import (
    EXIT_CANCELLED,
    EXIT_DONE,
    EXIT_FAILED,
    Cancelled,
    Diagnostic,
    InvalidInput,
    Refused,
    RegistrarError,
)
from registrar.github.retry import Waiting
from registrar.inputs import Inputs
from registrar.models import CommitStrategy, Mode, RegistrationResult, RegistrationSpec
from registrar.profiles import Profile
from registrar.reporting.progress import Progress
from registrar.reporting.proposal import Proposal
from registrar.reporting.reporter import Reporter
from registrar.reporting.runner import Workflow
from registrar.texts import templates
from registrar.texts.escaping import Redactor
from registrar.texts.messages import Catalogue, msg
from registrar.workspace import Folder

if TYPE_CHECKING:
    from registrar.github.client import Host


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
    redact = Redactor(inputs.token(environ))
    reporter = Reporter(
        Workflow(environ, stdout, stderr, redact), Catalogue(inputs.language(environ), redact)
    )
    if command_line.question:
        for line in command_line.answer(reporter.catalogue):
            reporter.workflow.line(line)
        return EXIT_DONE
    registrations: list[RegistrationResult] = []
    diagnostics: Sequence[Diagnostic] = ()
    exit_codes: list[int] = []
    try:
        settings = inputs.read(environ, command_line.mistakes)
        jobs = [_job(profile, settings, reporter) for profile in settings.profiles]
        host = _connect(settings, reporter, cancellation)
        for job, proposal in jobs:
            cancellation.check()
            registration = _register(host, job, proposal, reporter, cancellation)
            reporter.registration(registration)
            registrations.append(registration)
            exit_codes.append(registration.exit_code)
            if registration.exit_code > EXIT_CANCELLED:
                break
    except (Exception, Cancelled) as error:  # noqa: BLE001 (told, with its exit code)
        cancellation.stop_timer()
        exit_code, diagnostics = _describe_error(error)
        exit_codes.append(exit_code)
    exit_code = _combine_exit_codes(exit_codes)
    reporter.run(registrations, diagnostics, exit_code)
    return exit_code


def _job(
    profile: Profile, settings: Inputs, reporter: Reporter
) -> tuple[RegistrationSpec, Proposal]:
    """Load the definition file of a profile, and word its proposal."""
    own_list = bool(settings.definitions)
    listed, warnings = loading.load(
        Folder(settings.workspace if own_list else profile.definitions.parent),
        settings.definitions or profile.definitions.name,
        content_allowed=profile.content_allowed,
        secret=settings.token,
    )
    for diagnostic in warnings:
        reporter.warn(diagnostic)
    owner, _, repo = settings.target.partition("/")
    names = {"profile": profile.name, "owner": owner, "repo": repo}
    branch = templates.fill(settings.branch, names) or profile.branch
    job = RegistrationSpec(
        target=settings.target,
        definitions=listed,
        branch=branch,
        built_in=branch == profile.branch,
        mode=settings.mode,
        strategy=settings.commit_strategy,
    )
    proposal = Proposal(
        profile=profile,
        title_template=settings.title,
        commit_template=settings.commit_message,
        options=settings.pull_request,
        run_url=settings.run_url,
        workflow_repository=settings.workflow_repository,
        catalogue=reporter.catalogue,
        own_list=own_list,
    )
    return job, proposal


def _connect(settings: Inputs, reporter: Reporter, cancellation: Cancellation) -> Host:
    try:
        # Only now: bad input is told without it, and it is most of the start-up time
        from registrar.github.client import Host  # noqa: PLC0415
    except ImportError as error:
        raise Refused(msg("run.package_missing", name=error.name or str(error))) from error
    host = Host(
        token=settings.token,
        api_url=settings.api_url,
        target=settings.target,
        workflow_repository=settings.workflow_repository,
        waiting=Waiting(
            max_seconds=settings.max_wait_seconds,
            announce=reporter.line,
            cancellation=cancellation,
        ),
    )
    if settings.commit_strategy is CommitStrategy.PER_FILE:
        # The other strategy's first request reads nothing but what a valid token may see
        host.check_token()
    return host


def _register(
    host: Host,
    job: RegistrationSpec,
    proposal: Proposal,
    reporter: Reporter,
    cancellation: Cancellation,
) -> RegistrationResult:
    """Do one registration; its result is there whatever ends it."""
    from registrar import registration  # noqa: PLC0415 (as in `_connect`)

    result = RegistrationResult(proposal.profile.name, job.target, job.mode)
    progress = Progress(result, reporter.workflow, reporter.catalogue)
    try:
        if job.mode is Mode.REGISTER:
            registration.register(host, job, proposal, progress)
        else:
            registration.preview(host, job, progress)
    except (Exception, Cancelled) as error:  # noqa: BLE001 (told, with its exit code)
        cancellation.stop_timer()
        exit_code, (diagnostic, *_) = _describe_error(error, progress.branch)
        return replace(progress.registration(), exit_code=exit_code, error=diagnostic.message)
    result = progress.registration()
    failed = result.failed or (job.mode is Mode.CHECK and result.missing)
    return replace(result, exit_code=EXIT_FAILED if failed else EXIT_DONE)


def _combine_exit_codes(exit_codes: Sequence[int]) -> int:
    """One exit code for all registrations: theirs when they agree, else 1."""
    cancelled = [code for code in exit_codes if code >= EXIT_CANCELLED]
    if cancelled:
        return cancelled[0]
    return exit_codes[0] if len(set(exit_codes)) == 1 else EXIT_FAILED


def _describe_error(error: BaseException, branch: str = "") -> tuple[int, Sequence[Diagnostic]]:
    """Exit code and texts of what ended a run early."""
    if isinstance(error, InvalidInput):
        return error.exit_code, error.diagnostics
    if isinstance(error, RegistrarError):
        return error.exit_code, [Diagnostic(error.message)]
    if isinstance(error, Cancelled):
        key = "run.cancelled_on_branch" if branch else "run.cancelled"
        return error.exit_code, [Diagnostic(msg(key, signal=error.signal_name, branch=branch))]
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    message = msg("run.unexpected", error=f"{type(error).__name__}: {error}", where=where)
    return EXIT_FAILED, [Diagnostic(message)]
