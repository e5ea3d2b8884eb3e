"""The part of a run that needs GitHub: every profile in one repository, or in many.

Imported once the input is known to be good: with it comes PyGithub, most of the start-up time.
"""

from __future__ import annotations

from collections.abc import Sequence

from registrar.cancellation import Cancellation
from registrar.errors import EXIT_CANCELLED
from registrar.file_lists import FileList
from registrar.github.client import GitHub
from registrar.github.retry import RetryPolicy
from registrar.github.transport import Transport
from registrar.inputs.settings import Settings
from registrar.models.fleet import FleetResult
from registrar.models.run import RunResult
from registrar.models.selection import Selection
from registrar.registration.progress import Progress
from registrar.registration.run import STRATEGIES, register
from registrar.reporting.reporter import Reporter


class Execution:
    """The work of a run, once its input is known to be good."""

    def __init__(
        self,
        settings: Settings,
        lists: Sequence[FileList],
        reporter: Reporter,
        cancellation: Cancellation,
    ) -> None:
        """Nothing is sent before `run`."""
        self.settings = settings
        self.lists = lists
        self.reporter = reporter
        self.cancellation = cancellation

    def run(self, result: RunResult) -> None:
        """Do the work; ``result`` grows while it goes on, whatever ends it.

        Raises:
            RegistrarError: what cannot be done for any repository.
            Cancelled: a signal arrived.
        """
        # Only this module imports the transport. Imported from further down, PyGithub's imports
        # nest so deeply that Python 3.11 and 3.12 lose time there (python/cpython#142183).
        transport = Transport(token=self.settings.token, api_url=self.settings.api_url)
        try:
            github = self._connect(transport)
            if self.settings.selection:
                self._register_in_many(github, self.settings.selection, result)
            else:
                self._register_in_one(github, result)
        finally:
            # A process that may open only a few files needs them for summary and outputs now
            transport.close()

    def _connect(self, transport: Transport) -> GitHub:
        """Connect with the token, which is checked first where the strategy wants that."""
        token = self.settings.token
        github = GitHub(
            transport,
            token=token,
            workflow_repository=self.settings.workflow_repository,
            policy=RetryPolicy(
                max_seconds=self.settings.max_wait_seconds,
                announce=self.reporter.line,
                cancellation=self.cancellation,
            ),
            saw=lambda known_as, name, is_private: self.reporter.hidden_names.seen(
                known_as, name, is_private=is_private
            ),
        )
        if STRATEGIES[self.settings.commit_strategy].checks_token_first:
            github.check_token()
        return github

    def _register_in_one(self, github: GitHub, result: RunResult) -> None:
        for file_list in self.lists:
            self.cancellation.check()
            spec = file_list.spec(self.settings.target)
            progress = Progress(file_list.nothing_yet(spec), self.reporter)
            client = github.client(spec.target)
            done = register(client, spec, file_list.proposal, progress)
            self.cancellation.stop_timer()
            self.reporter.registration(done)
            result.registrations.append(done)
            if done.exit_code > EXIT_CANCELLED:
                return

    def _register_in_many(self, github: GitHub, selection: Selection, result: RunResult) -> None:
        from registrar.fleet.rows import Rows  # noqa: PLC0415 (as below)
        from registrar.fleet.run import Fleet  # noqa: PLC0415 (one repository does not need it)

        result.fleet = FleetResult(self.settings.mode, self.settings.fail_on)
        rows = Rows(result.fleet, result.registrations, self.reporter, lists=len(self.lists))
        Fleet(github, self.settings, self.lists, rows, self.cancellation).run(selection)
