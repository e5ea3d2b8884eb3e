"""One run, top to bottom.

settings -> target and list -> state of the repository -> plan -> result -> report -> exit code
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from registrar import cli, inputs, registration
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
    describe,
    exit_code,
)
from registrar.github.retry import RetryPolicy
from registrar.inputs import Inputs
from registrar.models import RegistrationResult, RegistrationSpec
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
    from registrar.github.client import GitHub


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
    results: list[RegistrationResult] = []
    diagnostics: Sequence[Diagnostic] = ()
    exit_codes: list[int] = []
    try:
        settings = inputs.read(environ, command_line.mistakes)
        jobs = [_job(profile, settings, reporter) for profile in settings.profiles]
        github = _connect(settings, reporter, cancellation)
        for spec, proposal in jobs:
            cancellation.check()
            nothing_yet = RegistrationResult(proposal.profile.name, spec.target, spec.mode)
            progress = Progress(nothing_yet, reporter.workflow, reporter.catalogue)
            result = registration.register(github.client(spec.target), spec, proposal, progress)
            cancellation.stop_timer()
            reporter.registration(result)
            results.append(result)
            exit_codes.append(result.exit_code)
            if result.exit_code > EXIT_CANCELLED:
                break
    except (Exception, Cancelled) as error:  # noqa: BLE001 (described, with its exit code)
        cancellation.stop_timer()
        exit_codes.append(exit_code(error, wrote=False))
        diagnostics = (
            error.diagnostics if isinstance(error, InvalidInput) else [Diagnostic(describe(error))]
        )
    combined = _combine_exit_codes(exit_codes)
    reporter.run(results, diagnostics, combined)
    return combined


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
    spec = RegistrationSpec(
        target=settings.target,
        definitions=listed,
        branch=branch,
        built_in=branch == profile.branch,
        mode=settings.mode,
        strategy=settings.commit_strategy,
        respect_alternatives=settings.respect_alternatives,
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
    return spec, proposal


def _connect(settings: Inputs, reporter: Reporter, cancellation: Cancellation) -> GitHub:
    try:
        # Only now: bad input is reported without it, and it is most of the start-up time
        from registrar.github.client import GitHub  # noqa: PLC0415
    except ImportError as error:
        raise Refused(msg("run.package_missing", name=error.name or str(error))) from error
    github = GitHub(
        token=settings.token,
        api_url=settings.api_url,
        workflow_repository=settings.workflow_repository,
        policy=RetryPolicy(
            max_seconds=settings.max_wait_seconds,
            announce=reporter.line,
            cancellation=cancellation,
        ),
    )
    if registration.STRATEGIES[settings.commit_strategy].checks_token_first:
        github.check_token()
    return github


def _combine_exit_codes(exit_codes: Sequence[int]) -> int:
    """One exit code for all registrations: theirs when they agree, else 1."""
    cancelled = [code for code in exit_codes if code >= EXIT_CANCELLED]
    if cancelled:
        return cancelled[0]
    return exit_codes[0] if len(set(exit_codes)) == 1 else EXIT_FAILED
