"""The part of a run that needs GitHub: every list in one repository, or in many.

It is imported only after the inputs were found to be valid, because it imports PyGithub, which
takes most of the start-up time.
"""

from collections.abc import Sequence

# This import comes first. Imported from another module, its modules would nest so deeply that
# Python 3.11 and 3.12 lose time (python/cpython#142183)
import github as _pygithub  # noqa: F401

from registrar.errors import EXIT_CANCELLED
from registrar.github.client import GitHub
from registrar.github.limits import RetryPolicy
from registrar.github.transport import Transport
from registrar.models.repository import Repository
from registrar.models.run_result import RunResult
from registrar.models.settings import CommitStrategy, Settings
from registrar.models.spec import FileList, RegistrationSpec
from registrar.registration.run import register
from registrar.reporting.reporter import Reporter
from registrar.runtime.cancellation import Cancellation


def execute(
    settings: Settings,
    lists: Sequence[FileList],
    reporter: Reporter,
    cancellation: Cancellation,
    result: RunResult,
) -> None:
    """Do the work of a run; ``result`` grows while it goes on, so that it is complete even if the
    run ends early.
    """
    transport = Transport(token=settings.token, api_url=settings.api_url)
    try:
        github = GitHub(
            transport,
            token=settings.token,
            workflow_repository=settings.workflow_repository,
            is_of_fork=settings.is_of_fork,
            policy=RetryPolicy(
                max_seconds=settings.max_wait_seconds,
                announce=reporter.line,
                cancellation=cancellation,
            ),
        )
        if settings.selection:
            # Imported here, because a run about one repository does not need it
            from registrar.many.coordinator import ManyRun  # noqa: PLC0415

            if settings.others_read:
                reporter.privacy.hide_words()
            run = ManyRun(github, settings, lists, reporter, cancellation, result)
            run.run(settings.selection)
            return
        own = settings.workflow_repository.lower()
        # Others may read the log but not the repository, until an answer shows that it is public
        if settings.target.lower() != own and settings.others_read:
            reporter.privacy.of_one(frozenset(path for each in lists for path in each.paths))
        if settings.commit_strategy is CommitStrategy.PER_FILE:
            # With `single` the query itself fails if the token is invalid
            github.check_token()
        for file_list in lists:
            cancellation.check()
            spec = RegistrationSpec(settings, file_list, Repository(settings.target))
            done = register(github.client(spec.target), spec, reporter)
            cancellation.stop_timer()
            reporter.report_registration(done)
            result.registrations.append(done)
            if done.exit_code > EXIT_CANCELLED:
                # A signal has ended this registration, so no other list is begun
                return
    finally:
        # A process that may open only a few files needs them now for the summary and the outputs
        transport.close()
