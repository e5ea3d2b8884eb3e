"""What a registration has done so far: each step is printed as it happens, and kept."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from registrar.errors import Cause, Diagnostic, Failure
from registrar.models.files import FileDefinition
from registrar.models.plan import Plan
from registrar.models.repository import PullRequest, Repository
from registrar.models.result import Done, FileResult, Note, PullRequestOperation, RegistrationResult
from registrar.models.rules import origin_of
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import Standing
from registrar.registration.answers import Claim
from registrar.registration.decide import Decision
from registrar.reporting.reporter import Reporter
from registrar.reporting.runner import Tone
from registrar.texts.escaping import Link, Open
from registrar.texts.messages import Message, msg

_NOTABLE = {
    Standing.BLANK: "presence.blank",
    Standing.DIFFERS: "presence.differs",
    Standing.NO_FILE: "presence.not_a_file",
}
_OPERATIONS = {
    PullRequestOperation.CREATED: "progress.pull_request_created",
    PullRequestOperation.UPDATED: "progress.pull_request_updated",
    PullRequestOperation.REOPENED: "progress.pull_request_reopened",
    PullRequestOperation.WITHDRAWN: "progress.pull_request_withdrawn",
    PullRequestOperation.NONE: "progress.pull_request_none",
}
_TONES = {Done.CREATED: Tone.GOOD, Done.FAILED: Tone.BAD, Done.UNKNOWN: Tone.BAD}


class Progress:
    """The growing result of one registration, so that what was done is known however it ends."""

    def __init__(self, spec: RegistrationSpec, reporter: Reporter) -> None:
        """Begin with nothing done. Of one of many nothing is printed: its result is enough."""
        self.spec = spec
        self.texts = reporter.texts
        """Those of commits and pull requests."""
        self._reporter = None if spec.is_one_of_many else reporter
        self._result = RegistrationResult(spec, spec.repository)
        self._plan: Plan | None = None
        self._results: dict[str, FileResult] = {}
        self._deleted: Mapping[str, PullRequest] = {}
        self._last_failure: tuple[Done, Cause] | None = None

    def group(self, key: str, /, **values: object) -> AbstractContextManager[None]:
        """Print what is inside under a heading that the runner can fold."""
        return self._reporter.group(key, **values) if self._reporter else nullcontext()

    def record_and_print(self, number: int, total: int, result: FileResult) -> None:
        """Keep and print the outcome of one path, which has a ``number`` of ``total``."""
        self.record(result)
        tone = _TONES.get(result.done, Tone.PLAIN)
        described = result.described
        if result.failure:
            failed = (result.done, result.failure.cause)
            if failed == self._last_failure:
                described = result.described_again
            self._last_failure = failed
        self._path(number, total, result.definition.path, described, tone)

    def identify(self, repository: Repository) -> None:
        """Take over GitHub's own name of the repository, and report if it was renamed."""
        old = self._result.repository.full_name
        if repository.full_name.lower() != old.lower():
            self.note("progress.renamed", about=old, old=old, new=repository.full_name)
        self._result = self._result._replace(repository=repository)

    def begin(self, plan: Plan) -> None:
        """Print the state of every path, and take over what is to be done.

        The paths that are present are recorded as skipped.
        """
        self._plan = plan
        total, missing = len(plan.definitions), {each.path for each in plan.missing}
        with self.group("group.check", count=total, target=plan.repository.full_name):
            for number, definition in enumerate(plan.definitions, start=1):
                state, tone = msg("check.present"), Tone.PLAIN
                if satisfied := plan.satisfied.get(definition.path):
                    skipped = msg("state.skipped")
                    state = msg("state.with_reason", state=skipped, reason=satisfied)
                elif definition.path not in plan.state.entries:
                    state, tone = msg("check.missing"), Tone.NOTABLE
                if origin := origin_of(definition):
                    state = msg("state.with_reason", state=state, reason=origin)
                if parent := plan.blocked.get(definition.path):
                    reason = msg("reason.blocked", parent=Open(parent))
                    state = msg("state.with_reason", state=state, reason=reason)
                    blocked = FileResult(definition, Standing.BLOCKED, Done.NOTHING, reason)
                    if self.spec.writes:
                        failure = Failure.of(reason, about=parent)
                        blocked = blocked._replace(done=Done.FAILED, reason=None, failure=failure)
                    self.record(blocked)
                elif definition.path not in missing:
                    at = self.spec.settings.ref or plan.repository.default_branch
                    exists = msg("reason.exists", branch=at)
                    self._present(definition, satisfied or exists, plan)
                self._path(number, total, definition.path, state, tone)
        self._result = self._result._replace(
            commit=plan.state.base_sha,
            removed=plan.removed,
            codeowners=plan.codeowners or (),
            fitting=plan.fitting,
            replaced=plan.replaced,
            left_out=plan.left_out,
        )
        if plan.codeowners is None:
            self.note("progress.codeowners_unread")

    def _present(self, definition: FileDefinition, reason: Message, plan: Plan) -> None:
        standing = plan.standing(definition.path)
        if presence := _NOTABLE.get(standing):
            reason = msg("reason.with_presence", reason=reason, presence=msg(presence))
        self.record(
            FileResult(
                definition,
                standing,
                Done.SKIPPED,
                reason,
                present=plan.present.get(definition.path),
                unset=plan.unset.get(definition.path, ""),
            )
        )

    def pending(self, definitions: Iterable[FileDefinition]) -> list[FileDefinition]:
        """The files of ``definitions`` that have no result yet."""
        return [d for d in definitions if d.path not in self._results]

    def record(self, result: FileResult) -> None:
        """Keep the outcome of one path."""
        self._results[result.definition.path] = result

    def leave_out(self, chosen: Claim | Decision) -> None:
        """Keep which paths were declined, and so are skipped, and what else was found out."""
        self._deleted = chosen.deleted
        self._result = self._result._replace(beside=chosen.beside)
        for definition in self._plan.missing if self._plan else ():
            if pull := chosen.declined.get(definition.path):
                reason = msg("reason.declined", pull_request=pull.link)
                standing, done = Standing.DECLINED, Done.SKIPPED
                self.record(FileResult(definition, standing, done, reason, declined_in=pull))

    def leave_alone(self, definitions: Sequence[FileDefinition], pull: PullRequest) -> None:
        """Keep that nothing is done about a pull request in this run."""
        self._result = self._result._replace(pull_request=pull)
        for definition in definitions:
            reason = msg("reason.left_alone", pull_request=pull.link)
            self.record(FileResult(definition, Standing.PROPOSED, Done.SKIPPED, reason))

    def note(
        self, key: str, /, *, about: str = "", repeats_state: bool = False, **values: object
    ) -> None:
        """Print a line that is also in the report.

        ``about`` is what besides the sentence makes it another note: a path for example.
        """
        self.keep(msg(key, **values), about=f"{key} {about}", repeats_state=repeats_state)

    def keep(self, message: Message, *, about: str, repeats_state: bool = False) -> None:
        """Print a sentence as `note` does; ``about`` tells it from every other one."""
        self._keep(Note(message, about, repeats_state))
        self._line(message)

    def warn(self, key: str, /, *, about: str = "", **values: object) -> None:
        """Print a warning that is also in the report; ``about`` is as in `note`."""
        message = msg(key, **values)
        self._keep(Note(message, f"{key} {about}"))
        if self._reporter:
            self._reporter.warn(Diagnostic(message))

    def _keep(self, note: Note) -> None:
        self._result = self._result._replace(notes=(*self._result.notes, note))

    def withdrawable(self, count: int) -> None:
        """Keep how many of its pull requests could be withdrawn, at most."""
        self._result = self._result._replace(withdrawable=count)

    def on_branch(self, name: str) -> None:
        """Keep the name of the working branch."""
        self._result = self._result._replace(branch=name)

    def pull_request(self, pull_request: PullRequest, operation: PullRequestOperation) -> None:
        """Keep and print the pull request, and what was done with it."""
        repository = self._result.repository
        if (now := pull_request.of) and now.visibility:
            repository = repository._replace(full_name=now.full_name, visibility=now.visibility)
        self._result = self._result._replace(
            repository=repository, pull_request=pull_request, operation=operation
        )
        self._line(msg(_OPERATIONS[operation], url=Link(pull_request.url)))

    def pull_requests_unread(self, failure: Failure) -> None:
        """Keep why the token may not read the pull requests."""
        self._result = self._result._replace(knows_pull_requests=False)
        about, reason = failure.cause.identity, failure.message
        self.note("progress.pull_requests_unread", about=about, reason=reason)

    def proposed(self, pull_request: PullRequest) -> None:
        """Keep and print the open pull request that a preview found."""
        if self._result.operation is PullRequestOperation.NONE:
            self._result = self._result._replace(pull_request=pull_request)
        self._line(msg("progress.proposed", url=Link(pull_request.url)))

    def result(
        self, *, assuming: Sequence[FileResult] = (), why_pending: Message | None = None
    ) -> RegistrationResult:
        """Give the result as it stands now, or would stand with some more results.

        ``why_pending`` says why the rest has none.
        """
        plan, results = self._plan, self._results
        if plan is None:
            return self._result
        results = results | {result.definition.path: result for result in assuming}
        files = (
            (
                results.get(d.path)
                or FileResult(d, plan.standing(d.path), Done.PENDING, why_pending)
            )._replace(hides=plan.hides.get(d.path, ""), deleted_since=self._deleted.get(d.path))
            for d in plan.definitions
        )
        return self._result._replace(files=tuple(files))

    def _path(self, number: int, total: int, path: str, state: Message, tone: Tone) -> None:
        place = f"{number:>{len(str(total))}}"
        line = msg("progress.path", number=place, total=total, path=path, state=state)
        self._line(line, tone)

    def _line(self, message: Message, tone: Tone = Tone.PLAIN) -> None:
        if self._reporter:
            self._reporter.line(message, tone)
