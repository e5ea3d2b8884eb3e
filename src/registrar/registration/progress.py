"""What a registration has done so far: each step is printed as it happens, and kept."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from registrar.errors import Cause, Diagnostic, Failure
from registrar.models.files import FileDefinition
from registrar.models.plan import ListedPath, Plan
from registrar.models.repository import PullRequest, Repository
from registrar.models.result import Done, FileResult, Note, PullRequestOperation, RegistrationResult
from registrar.models.rules import origin_of
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import Standing
from registrar.registration.answers import Claim
from registrar.registration.decide import Decision
from registrar.reporting.reporter import Reporter
from registrar.reporting.runner import Tone
from registrar.texts.escaping import Link
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
    PullRequestOperation.CLOSED: "progress.pull_request_closed",
    PullRequestOperation.NONE: "progress.pull_request_none",
}
_TONES = {Done.CREATED: Tone.GOOD, Done.FAILED: Tone.BAD, Done.UNKNOWN: Tone.BAD}


def result_of(listed: ListedPath, done: Done, reason: Message | None) -> FileResult:
    """Begin the result of a path with all that is known of it."""
    return FileResult(
        listed.definition,
        listed.standing,
        done,
        reason,
        present=listed.present,
        unset=listed.unset,
        hides=listed.hides,
    )


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
        self._listed: Mapping[str, ListedPath] = {}
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
        if self._reporter:
            self._reporter.privacy.identify(repository)

    def begin(self, plan: Plan) -> None:
        """Print the state of every path, and take over what is to be done.

        The paths that are present are recorded as skipped.
        """
        self._plan = plan
        self._listed = {each.definition.path: each for each in plan.paths}
        total = len(plan.paths)
        with self.group("group.check", count=total, target=plan.repository.full_name):
            for number, listed in enumerate(plan.paths, start=1):
                self._begin_path(number, total, listed, plan)
        self._result = self._result._replace(
            commit=plan.state.base_sha,
            removed=plan.removed,
            fitting=plan.fitting,
            replaced=plan.replaced,
            left_out=plan.left_out,
        )

    def _begin_path(self, number: int, total: int, listed: ListedPath, plan: Plan) -> None:
        state, tone = msg("check.present"), Tone.PLAIN
        if listed.instead:
            state = msg("state.with_reason", state=msg("state.skipped"), reason=listed.instead)
        elif not listed.present:
            state, tone = msg("check.missing"), Tone.NOTABLE
        if origin := origin_of(listed.definition):
            state = msg("state.with_reason", state=state, reason=origin)
        if listed.below:
            reason = msg("reason.blocked", parent=listed.below)
            state = msg("state.with_reason", state=state, reason=reason)
            blocked = result_of(listed, Done.NOTHING, reason)
            if self.spec.writes:
                failure = Failure.of(reason, about=listed.below)
                blocked = blocked._replace(done=Done.FAILED, reason=None, failure=failure)
            self.record(blocked)
        elif listed.standing is not Standing.MISSING:
            at = self.spec.settings.ref or plan.repository.default_branch
            reason = listed.instead or msg("reason.exists", branch=at)
            if presence := _NOTABLE.get(listed.standing):
                reason = msg("reason.with_presence", reason=reason, presence=msg(presence))
            self.record(result_of(listed, Done.SKIPPED, reason))
        self._path(number, total, listed.definition.path, state, tone)

    def listed(self, path: str) -> ListedPath:
        """Give a listed path as it stood before anything was done."""
        return self._listed[path]

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

    def reopened(self, pull: PullRequest) -> None:
        """Keep that a pull request is open again: what was removed from it was taken out of it."""
        for path, result in self._results.items():
            if result.declined_in and result.declined_in.number == pull.number:
                self._results[path] = result._replace(declined_in=pull)

    def note(
        self, key: str, /, *, about: str = "", repeats_state: bool = False, **values: object
    ) -> None:
        """Print a line that is also in the report.

        ``about`` is what besides the sentence makes it another note: a path for example.
        """
        self.keep(msg(key, **values), about=f"{key} {about}", repeats_state=repeats_state)

    def keep(self, message: Message, *, about: str, repeats_state: bool = False) -> None:
        """Print a sentence as `note` does; ``about`` distinguishes it from every other one."""
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

    def to_close(self, pull_requests: Sequence[PullRequest]) -> None:
        """Keep and print which open pull requests have become needless."""
        if not pull_requests:
            return
        count, links = len(pull_requests), tuple(pull.link for pull in pull_requests)
        self._result = self._result._replace(to_close=count)
        if not (self._plan and self._plan.missing):
            # Otherwise the result is about the one that is to be opened
            self._result = self._result._replace(pull_request=pull_requests[0])
        self.note("progress.to_close", repeats_state=True, count=count, pull_requests=links)

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
                results.get(each.definition.path) or result_of(each, Done.PENDING, why_pending)
            )._replace(hides=each.hides, deleted_since=self._deleted.get(each.definition.path))
            for each in plan.paths
        )
        return self._result._replace(files=tuple(files))

    def _path(self, number: int, total: int, path: str, state: Message, tone: Tone) -> None:
        place = f"{number:>{len(str(total))}}"
        line = msg("progress.path", number=place, total=total, path=path, state=state)
        self._line(line, tone)

    def _line(self, message: Message, tone: Tone = Tone.PLAIN) -> None:
        if self._reporter:
            self._reporter.line(message, tone)
