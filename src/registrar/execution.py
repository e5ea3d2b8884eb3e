"""The part of a run that needs GitHub: the connection, and one registration after the other.

Imported once the input is known to be good: with it comes PyGithub, most of the start-up time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registrar import registration
from registrar.cancellation import Cancellation
from registrar.errors import EXIT_CANCELLED
from registrar.github.client import GitHub
from registrar.github.retry import RetryPolicy
from registrar.inputs.settings import Settings
from registrar.jobs import Job
from registrar.models.result import RegistrationResult
from registrar.reporting.progress import Progress
from registrar.reporting.reporter import Reporter


def connect(settings: Settings, reporter: Reporter, cancellation: Cancellation) -> GitHub:
    """Connect with the token of the run, which is checked first where the strategy wants that."""
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


def each(
    jobs: Sequence[Job],
    settings: Settings,
    github: GitHub,
    reporter: Reporter,
    cancellation: Cancellation,
) -> Iterator[RegistrationResult]:
    """Do every registration in one repository."""
    for job in jobs:
        cancellation.check()
        spec = job.spec(settings.target)
        nothing_yet = RegistrationResult(job.profile.name, spec.target, spec.mode)
        progress = Progress(nothing_yet, reporter.workflow, reporter.catalogue)
        result = registration.register(github.client(spec.target), spec, job.proposal, progress)
        cancellation.stop_timer()
        reporter.registration(result)
        yield result
        if result.exit_code > EXIT_CANCELLED:
            return
