"""One run, top to bottom. Data flows one way.

environment -> inputs -> definitions -> survey -> plan -> write -> report -> exit code
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from registrar import definitions, escaping, inputs, report, templates
from registrar.cancellation import Cancellation
from registrar.errors import (
    EXIT_CANCELLED,
    EXIT_DONE,
    EXIT_FAILED,
    Cancelled,
    InvalidInput,
    Mistake,
    Refused,
    RegistrarError,
)
from registrar.inputs import Inputs
from registrar.messages import Catalogue, Message, say
from registrar.models import FAILED_STATES, Job, Registration, State
from registrar.profiles import Profile
from registrar.progress import Progress
from registrar.proposal import Proposal
from registrar.waiting import Waiting
from registrar.workflow import Workflow

if TYPE_CHECKING:
    from registrar.host import Host


@dataclass(frozen=True, slots=True)
class Session:
    """What every step of a run may use; nothing of it changes."""

    workflow: Workflow
    catalogue: Catalogue
    cancellation: Cancellation

    def line(self, message: Message) -> None:
        """Print one line."""
        self.workflow.line(self._text(message))

    def fail(self, mistake: Mistake) -> None:
        """Tell an error."""
        label = self._text(say("label.error"))
        text = self._text(mistake.message)
        self.workflow.error(text, label=label, file=mistake.file, line=mistake.line or 0)

    def warn(self, mistake: Mistake) -> None:
        """Tell a warning."""
        label = self._text(say("label.warning"))
        text = self._text(mistake.message)
        self.workflow.warning(text, label=label, file=mistake.file, line=mistake.line or 0)

    def _text(self, message: Message) -> str:
        return self.catalogue.text(message, escaping.visible)


def main(environ: Mapping[str, str], stdout: TextIO, stderr: TextIO) -> int:
    """Run the action once and give its exit code (design §2)."""
    cancellation = Cancellation()
    cancellation.install()
    redact = escaping.Redactor(inputs.token(environ))
    session = Session(
        Workflow(environ, stdout, stderr, redact),
        Catalogue(inputs.language(environ), redact),
        cancellation,
    )
    registrations: list[Registration] = []
    ended_by: BaseException | None = None
    try:
        settings = inputs.read(environ)
        for warning in settings.warnings:
            session.warn(Mistake(warning))
        jobs = [(profile, _job(profile, settings, session)) for profile in settings.profiles]
        host = _connect(settings, session)
        for profile, job in jobs:
            cancellation.check()
            registrations.append(_register(host, settings, profile, job, session))
            if registrations[-1].exit_code > EXIT_CANCELLED:
                break
    except (Exception, Cancelled) as error:  # noqa: BLE001 (told, with its exit code)
        cancellation.settle()
        ended_by = error
    return _finish(registrations, ended_by, session)


def _job(profile: Profile, settings: Inputs, session: Session) -> Job:
    """Load the definition file of a profile."""
    listed, warnings = definitions.load(
        settings.definitions or profile.definitions,
        shown_as=settings.definitions_name or profile.definitions.name,
        content_allowed=profile.content_allowed,
    )
    for mistake in warnings:
        session.warn(mistake)
    secret = settings.token
    leaks = [d for d in listed if secret in d.path + d.description or secret.encode() in d.content]
    if leaks:
        name = settings.definitions_name or profile.definitions.name
        raise InvalidInput(
            [Mistake(say("definitions.holds_token", file=name, path=d.path), name) for d in leaks]
        )
    owner, _, repo = settings.target.partition("/")
    own = {"profile": profile.name, "owner": owner, "repo": repo}
    branch = templates.fill(settings.branch, own) or profile.branch
    return Job(settings.target, listed, branch, built_in=branch == profile.branch)


def _connect(settings: Inputs, session: Session) -> Host:
    try:
        # Only now: bad input is told without it, and it is most of the start-up time
        from registrar.host import Host  # noqa: PLC0415
    except ImportError as error:
        raise Refused(say("run.package_missing", name=error.name or str(error))) from error
    host = Host(
        token=settings.token,
        api_url=settings.api_url,
        target=settings.target,
        workflow_repository=settings.workflow_repository,
        waiting=Waiting(
            max_seconds=settings.max_wait_seconds,
            announce=session.line,
            cancellation=session.cancellation,
        ),
    )
    if settings.commit_strategy == inputs.PER_FILE:
        # The other strategy's first request reads nothing but what a valid token may see
        host.check_token()
    return host


def _register(
    host: Host, settings: Inputs, profile: Profile, job: Job, session: Session
) -> Registration:
    """Do one registration, and print its summary whatever ends it."""
    from registrar.registration import preview, register  # noqa: PLC0415 (as in `_connect`)

    progress = Progress(
        Registration(profile.name, job.target, settings.mode), session.workflow, session.catalogue
    )
    proposal = Proposal(
        profile,
        settings.title,
        settings.commit_message,
        settings.pull_request,
        settings.run_url,
        settings.workflow_repository,
        session.catalogue,
    )
    exit_code, error = EXIT_DONE, None
    try:
        if settings.mode == inputs.REGISTER:
            register(host, settings.commit_strategy, job, proposal, progress)
        else:
            preview(host, settings.commit_strategy, job, progress)
    except (Exception, Cancelled) as ended_by:  # noqa: BLE001 (told, with its exit code)
        session.cancellation.settle()
        exit_code, (mistake, *_) = _told(ended_by, progress.branch)
        error = mistake.message
    registration = progress.registration(exit_code=exit_code, error=error)
    if settings.mode != inputs.REGISTER and registration.lacking:
        with progress.group("group.diff", count=registration.lacking):
            for line in report.console_diff(registration):
                session.workflow.line(session.catalogue.shown(line, escaping.visible))
    for file in registration.files:
        if file.state in FAILED_STATES:
            failed = say("progress.failed", path=file.definition.path, reason=file.reason)
            session.fail(Mistake(failed))
    if error:
        session.fail(Mistake(error))
    elif registration.failed:
        registration = progress.registration(exit_code=EXIT_FAILED)
    elif settings.mode == inputs.CHECK and registration.lacking:
        missing = [f.definition.path for f in registration.files if f.state is State.MISSING]
        total = len(registration.files)
        lacks = say("progress.missing", count=len(missing), total=total, paths=missing)
        session.fail(Mistake(lacks))
        registration = progress.registration(exit_code=EXIT_FAILED)
    for line in report.console_summary(registration, session.catalogue):
        session.workflow.line(line)
    return registration


def _finish(
    registrations: Sequence[Registration], ended_by: BaseException | None, session: Session
) -> int:
    """Write step summary and outputs, and settle the exit code."""
    exit_codes = [registration.exit_code for registration in registrations]
    texts = [report.step_summary(r, session.catalogue) for r in registrations]
    mistakes: Sequence[Mistake] = ()
    if ended_by is not None:
        exit_code, mistakes = _told(ended_by)
        exit_codes.append(exit_code)
        for mistake in mistakes:
            session.fail(mistake)
        texts.append(report.error_summary([m.message for m in mistakes], session.catalogue))
    cut_note = session.catalogue.text(say("summary.cut"))
    exit_code = _settled(exit_codes)
    errors = [mistake.message for mistake in mistakes]
    document = report.report_json(registrations, errors, exit_code, session.catalogue)
    path = ""
    try:
        path = session.workflow.file("registrar-report", "json", document)
    except OSError as error:
        session.warn(Mistake(say("run.unwritable", reason=str(error))))
    writers: tuple[Callable[[], None], ...] = (
        lambda: session.workflow.summary("\n".join(texts), cut_note=cut_note),
        lambda: session.workflow.outputs(report.outputs(registrations, document, path)),
    )
    for write in writers:
        try:
            write()
        except OSError as error:
            session.warn(Mistake(say("run.unwritable", reason=str(error))))
    return exit_code


def _settled(exit_codes: Sequence[int]) -> int:
    """One exit code for all registrations: theirs when they agree (design §2, "profile")."""
    cancelled = [code for code in exit_codes if code >= EXIT_CANCELLED]
    if cancelled:
        return cancelled[0]
    return exit_codes[0] if len(set(exit_codes)) == 1 else EXIT_FAILED


def _told(error: BaseException, branch: str = "") -> tuple[int, Sequence[Mistake]]:
    """Exit code and texts of what ended a run early."""
    if isinstance(error, InvalidInput):
        return error.exit_code, error.mistakes
    if isinstance(error, RegistrarError):
        return error.exit_code, [Mistake(error.message)]
    if isinstance(error, Cancelled):
        key = "run.cancelled_on_branch" if branch else "run.cancelled"
        return error.exit_code, [Mistake(say(key, signal=error.signal_name, branch=branch))]
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    message = say("run.unexpected", error=f"{type(error).__name__}: {error}", where=where)
    return EXIT_FAILED, [Mistake(message)]
