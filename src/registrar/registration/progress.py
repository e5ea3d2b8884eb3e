"""The progress of a registration: each outcome is printed at once, and kept for the result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from registrar.errors import Diagnostic
from registrar.models.paths import ListedPath, Outcome, Result, Why, by_path
from registrar.models.record import Note, PullRequestOperation, Record
from registrar.models.repository import PullRequest, Repository
from registrar.models.settings import Mode
from registrar.models.spec import RegistrationSpec
from registrar.models.task import Task
from registrar.presence.names import forms_of
from registrar.presence.special_files import is_issue_template
from registrar.registration.listener import Listener
from registrar.registration.plan import Plan
from registrar.registration.sent import Close
from registrar.rendering import states
from registrar.texts.escaping import Link
from registrar.texts.messages import Message, msg


class Progress:
    """The growing result of one registration, which is complete however the registration ends.

    Methods that begin with ``keep`` or ``record`` add to it; `result` returns the present one.
    """

    def __init__(self, spec: RegistrationSpec, listener: Listener) -> None:
        """Begin with an empty result; ``listener`` receives each step."""
        self.spec = spec
        self.listener = listener
        self._result = Record(spec, spec.repository)
        self._task: Task | None = None
        self._continues = False
        """Whether an open pull request is continued."""

    def group(self, key: str, /, **values: object) -> AbstractContextManager[None]:
        """Begin a group of lines that the runner can fold; it ends with the context."""
        return self.listener.group(key, **values)

    def identify(self, repository: Repository) -> None:
        """Take over GitHub's own name of the repository, and report if it was renamed."""
        old = self._result.repository.full_name
        if repository.full_name.lower() != old.lower():
            self.note("progress.renamed", about=old, old=old, new=repository.full_name)
        self._result = replace(self._result, repository=repository)
        self.listener.begins(repository)

    def begin(self, task: Task) -> None:
        """Print the state of every listed path, and keep the facts of the task for the result."""
        self._task = task
        total = len(task.paths)
        with self.group("group.check", count=total, target=task.repository.full_name):
            for number, listed in enumerate(task.paths, start=1):
                self.listener.path_found(listed, number, total)
        self._result = replace(
            self._result,
            paths=by_path(task.paths),
            facts=task.facts,
        )

    def record(self, outcomes: Mapping[str, Outcome]) -> None:
        """Keep outcomes of paths."""
        self._result = self._result.after(outcomes)

    def record_and_print(
        self, outcomes: Mapping[str, Outcome], *, first: int = 1, total: int = 0
    ) -> None:
        """Keep and print outcomes of paths.

        They are numbered from ``first``, out of ``total``; 0 stands for the number of outcomes.
        """
        self.record(outcomes)
        for number, path in enumerate(outcomes, start=first):
            self.listener.path_done(self._result.paths[path], number, total or len(outcomes))

    def keep_contents(self, blobs: Mapping[str, bytes]) -> None:
        """Keep the contents that updates would replace; ``blobs`` are contents by blob id."""
        files = self._result.to_update
        self._result = self._result.with_paths(
            each._replace(before=blobs.get(each.replaces)) for each in files
        )

    def tell(self, plan: Plan) -> None:
        """Keep a plan, and print its findings about paths and pull requests.

        An outcome that is this run's own stays; everything else is as in the new plan.
        """
        earlier = self._result.paths
        self._continues = plan.pull_request is not None
        paths = (each.planned_after(earlier[each.path]) for each in plan.paths)
        self._result = replace(
            self._result,
            paths=by_path(paths),
            told=plan.told,
        )
        for note in plan.notes:
            self._print(note)
        self._tell_rivals(plan)
        declined = plan.declined.values()
        closed = [pull for pull in declined if pull.was_declined]
        deleted = [each.deleted_since for each in plan.paths if each.deleted_since]
        gone = [pull for pull in closed if pull.base_is_gone]
        bases: dict[str, Any] = {"bases": sorted({pull.base_branch for pull in gone})}
        bases["base"] = self._result.base_branch
        for key, those, values in (
            ("progress.declined", [pull for pull in closed if not pull.base_is_gone], {}),
            ("progress.base_gone", gone, bases),
            ("progress.removed", [pull for pull in declined if not pull.was_declined], {}),
            ("progress.deleted", deleted, {}),
        ):
            if those:
                pulls = sorted(set(those), key=lambda pull: pull.number)
                links, count = tuple(pull.link for pull in pulls), len(those)
                self.note(key, repeats_state=not values, count=count, pull_requests=links, **values)
        if (conflicts := plan.told.conflicts) and (pull := plan.pull_request):
            about = f"{conflicts}"
            self.warn("progress.conflicts", about=about, pull_request=pull.link, paths=conflicts)
        edited = plan.left(Why.EDITED) if self.spec.proposes else []
        if edited and (pull := plan.pull_request):
            self.note("progress.edited", about=f"{edited}", pull_request=pull.link, paths=edited)
        older = [
            *plan.left(Why.OLDER_LIST),
            *(plan.told.unlisted if plan.told.may_be_listed else ()),
        ]
        if older and (pull := plan.pull_request):
            branch = self.spec.settings.attempt_of
            self.warn("progress.older_list", pull_request=pull.link, paths=older, branch=branch)
        if from_base := plan.left(Why.FROM_BASE):
            about, branch = f"{from_base}", plan.branch
            self.note("progress.from_base", about=about, branch=branch, paths=from_base)
        proposes = self.spec.proposes and self.spec.settings.mode is not Mode.CHECK
        handed_down = states.handed_down(self._result.repository) if proposes else None
        if handed_down and any(each.is_to_write for each in plan.paths):
            self.keep(handed_down, about="handed down")
        self._tell_pull_requests(plan)

    def _tell_rivals(self, plan: Plan) -> None:
        """Warn of files that exist in other letter case or form, and of those that GitHub uses at
        one place only, and has at another one.
        """
        if pairs := list(_in_other_case(plan.paths)):
            self.warn("progress.letter_case", about=str(pairs), pairs=pairs)
        if pairs := list(_in_two_forms(plan.paths)):
            self.warn("progress.unicode_form", about=str(pairs), pairs=pairs)
        hidden = [
            msg("progress.hides_pair", path=each.path, other=each.hides)
            for each in plan.paths
            if each.hides
        ]
        used_instead = [
            msg("progress.used_instead_pair", path=each.path, other=each.used_instead)
            for each in plan.paths
            if each.used_instead
        ]
        for key, pairs in (("progress.hides", hidden), ("progress.used_instead", used_instead)):
            if pairs:
                self.warn(key, about=str(pairs), pairs=pairs)
        if paths := tuple(each.path for each in plan.paths if each.hides_inherited):
            self.warn("progress.not_handed_down", about=str(paths), paths=paths)
            if any(map(is_issue_template, paths)):
                self.note("body.one_template_for_all")

    def _tell_pull_requests(self, plan: Plan) -> None:
        for other in plan.told.of_other_lists:
            about, branch = other.url, other.head_branch
            self.note("progress.beside", about=about, other=other.link, branch=branch)
        if plan.is_elsewhere and (pull := plan.pull_request):
            self.warn("progress.list_elsewhere", about=pull.url, pull_request=pull.link)
        if moved := tuple(each.link for each in plan.moved):
            self.note("progress.moved", about=moved[0].url, pull_requests=moved)
        if ignored := tuple(each.link for each in plan.ignored):
            self.note("progress.ignored", about=ignored[0].url, pull_requests=ignored)
        if not self.spec.writes:
            if plan.pull_request:
                self.keep_proposed(plan.pull_request)
            if unread := plan.told.unread:
                about, reason = unread.cause.identity, unread.message
                self.note("progress.pull_requests_unread", about=about, reason=reason)

    def note(
        self, key: str, /, *, about: str = "", repeats_state: bool = False, **values: object
    ) -> None:
        """Print a line that is also in the report.

        Two notes with the same sentence are different if their ``about`` differs, for example in a
        path.
        """
        self.keep(msg(key, **values), about=f"{key} {about}", repeats_state=repeats_state)

    def keep(self, message: Message, *, about: str, repeats_state: bool = False) -> None:
        """Print a sentence as `note` does; ``about`` distinguishes it from all other notes."""
        self._print(Note(message, about, repeats_state))

    def _print(self, note: Note) -> None:
        if self._keep(note):
            self.listener.line(note.message)

    def warn(self, key: str, /, *, about: str = "", **values: object) -> None:
        """Print a warning that is also in the report; ``about`` is as in `note`."""
        message = msg(key, **values)
        if self._keep(Note(message, f"{key} {about}")):
            self.listener.warn(Diagnostic(message))

    def _keep(self, note: Note) -> bool:
        """Keep a note, and return whether it is new, so that a second decision does not repeat it.

        Only a new note is printed.
        """
        is_new = note not in self._result.notes
        if is_new:
            self._result = replace(self._result, notes=(*self._result.notes, note))
        return is_new

    def keep_needless(self, steps: Sequence[Close]) -> None:
        """Keep and print the open pull requests that are no longer needed."""
        pull_requests = [each.pull_request for each in steps]
        if not pull_requests:
            return
        count, links = len(pull_requests), tuple(pull.link for pull in pull_requests)
        if not (self._task and self._task.missing):
            # With missing files, the result is about the pull request that is to be opened
            self._result = replace(self._result, pull_request=pull_requests[-1].brief)
        self.note("progress.to_close", repeats_state=True, count=count, pull_requests=links)

    def keep_branch(self, name: str) -> None:
        """Keep the name of the working branch."""
        self._result = replace(self._result, branch=name)

    def keep_left_branch(self, name: str) -> None:
        """Keep and print the name of a branch that is left without a commit."""
        self._result = replace(self._result, left_branch=name)
        is_used = self.spec.uses_profile_branch
        key = "progress.branch_left" if is_used else "progress.branch_left_alone"
        self.note(key, about=name, branch=name)

    def keep_pull_request(self, pull_request: PullRequest, operation: PullRequestOperation) -> None:
        """Keep and print the pull request, and the operation that was done on it."""
        closed = self._result.closed
        if operation in {PullRequestOperation.CLOSED, PullRequestOperation.WITHDRAWN}:
            closed = (*closed, pull_request.brief)
        result = replace(self._result, pull_request=pull_request.brief, operation=operation)
        self._result = replace(result, closed=closed)
        self.listener.pull_request_done(pull_request, operation)

    def keep_proposed(self, pull_request: PullRequest) -> None:
        """Keep and print an open pull request to which this run does nothing."""
        if self._result.operation is PullRequestOperation.NONE:
            self._result = replace(self._result, pull_request=pull_request.brief)
        self.listener.line(msg("progress.proposed", url=Link(pull_request.url)))

    def result(self, *, assuming: Mapping[str, Outcome] | None = None) -> Record:
        """Return the present result, as if the outcomes of ``assuming`` had been recorded."""
        return self._result.after(assuming) if assuming else self._result

    def end_early(self, reason: Message | None) -> None:
        """Keep that the paths which are still waiting will not be reached; ``reason`` says why.

        Without an open pull request, no path counts as proposed.
        """
        waiting = (
            (each for each in self._result.files if each.is_waiting) if self.spec.writes else ()
        )
        self.record({each.path: Outcome(Result.NOT_REACHED, reason) for each in waiting})
        if self.spec.writes and not (self._continues or self._result.pull_request):
            paths = (each._replace(is_unopened=True) for each in self._result.files)
            self._result = self._result.with_paths(paths)


def _in_other_case(paths: Iterable[ListedPath]) -> Iterator[Message]:
    """Yield a message for each path that exists in other letter case."""
    for each in paths:
        if (other := each.other_case) and not forms_of(each.path, other):
            yield msg("progress.letter_case_pair", path=each.path, other=other)


def _in_two_forms(paths: Iterable[ListedPath]) -> Iterator[Message]:
    """Yield a message for each path that exists in another Unicode form."""
    for each in paths:
        if each.other_case and (forms := forms_of(each.path, each.other_case)):
            form, present = forms
            yield msg("progress.unicode_form_pair", path=each.path, form=form, present=present)
