"""What a registration has done so far: each step is said as it happens, and kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from registrar import escaping
from registrar.messages import Catalogue, Message, say
from registrar.models import (
    FileDefinition,
    FileResult,
    Operation,
    Plan,
    PullRequest,
    Registration,
    Repository,
    State,
)
from registrar.workflow import Workflow


class Progress:
    """The growing account of one registration.

    The only value of a run that changes: whatever ends the run, what was done until then is here.
    """

    def __init__(self, profile: str, target: str, workflow: Workflow, catalogue: Catalogue) -> None:
        """``target`` is shown until the host tells the repository's own name."""
        self._profile = profile
        self._repository = target
        self._workflow = workflow
        self._catalogue = catalogue
        self._definitions: tuple[FileDefinition, ...] = ()
        self._results: dict[str, FileResult] = {}
        self._base_branch = ""
        self.branch = ""
        """Working branch, as soon as there is one."""
        self._pull_request: PullRequest | None = None
        self._operation = Operation.NONE
        self._notes: list[Message] = []

    def say(self, key: str, **values: object) -> None:
        """Print a line."""
        self._workflow.line(self._catalogue.text(say(key, **values), escaping.visible))

    @contextmanager
    def group(self, key: str, **values: object) -> Iterator[None]:
        """Print what is inside under a heading that the runner can fold."""
        with self._workflow.group(self._catalogue.text(say(key, **values), escaping.visible)):
            yield

    def path(self, number: int, total: int, path: str, state: Message) -> None:
        """Print the line of one path with its number of all."""
        width = len(str(total))
        self.say("progress.path", number=f"{number:>{width}}", total=total, path=path, state=state)

    def found(self, repository: Repository) -> None:
        """Take over the host's own name of the repository, and say when it was renamed."""
        if repository.full_name.lower() != self._repository.lower():
            self.note("progress.renamed", old=self._repository, new=repository.full_name)
        self._repository = repository.full_name
        self._base_branch = repository.default_branch

    def planned(self, plan: Plan) -> None:
        """Take over what is to be done; whatever is present is skipped already."""
        self._definitions = plan.definitions
        missing = {definition.path for definition in plan.missing}
        for definition in plan.definitions:
            if parent := plan.blocked.get(definition.path):
                reason = say("reason.blocked", parent=parent)
                self.record(FileResult(definition, State.FAILED, reason))
            elif definition.path not in missing:
                reason = say("reason.exists", branch=self._base_branch)
                self.record(FileResult(definition, State.SKIPPED, reason))

    def pending(self, definitions: Sequence[FileDefinition]) -> list[FileDefinition]:
        """Those of ``definitions`` that have no outcome yet."""
        return [d for d in definitions if d.path not in self._results]

    def record(self, result: FileResult) -> None:
        """Keep the outcome of one path."""
        self._results[result.definition.path] = result

    def note(self, key: str, **values: object) -> None:
        """Print a line that also belongs into the report."""
        self._notes.append(say(key, **values))
        self.say(key, **values)

    def on_branch(self, name: str) -> None:
        """Tell the working branch."""
        self.branch = name

    def pull_request(self, pull_request: PullRequest, operation: Operation) -> None:
        """Tell the pull request, and what was done about it."""
        self._pull_request = pull_request
        self._operation = operation
        self.say(f"progress.pull_request_{operation}", url=pull_request.url)

    def registration(
        self,
        *,
        exit_code: int = 0,
        error: Message | None = None,
        assuming: Sequence[FileResult] = (),
    ) -> Registration:
        """Give the account as it stands now, or would stand with some more results."""
        results = self._results | {result.definition.path: result for result in assuming}
        return Registration(
            profile=self._profile,
            repository=self._repository,
            files=tuple(
                results.get(d.path) or FileResult(d, State.PENDING) for d in self._definitions
            ),
            branch=self.branch,
            base_branch=self._base_branch,
            pull_request=self._pull_request,
            operation=self._operation,
            exit_code=exit_code,
            error=error,
            notes=tuple(self._notes),
        )
