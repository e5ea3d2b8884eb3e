"""The course of a run over many repositories: list them, read them, report the budget, write to one
after the other.

The budget is the plan that a run shows before it writes: the number of pull requests and requests.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from registrar.errors import Diagnostic, Refused
from registrar.github.limits import Resource
from registrar.many import notes, writing
from registrar.many.listing import FoundRepositories, find_repositories
from registrar.many.many_listener import ManyListener
from registrar.many.reading import Reader, unread
from registrar.models.paths import ListedPath
from registrar.models.record import Record
from registrar.models.repository import Repository
from registrar.models.run_result import Budget, ManyResult, RunResult
from registrar.models.selection import Exclusion, Selection
from registrar.models.settings import FailOn, Mode, Settings
from registrar.models.spec import ONE_OF_MANY, FileList, RegistrationSpec
from registrar.models.status import Status
from registrar.presence.tasks import require_known_properties
from registrar.registration.preflight import require_scope
from registrar.registration.run import register
from registrar.registration.work import read_blobs
from registrar.rendering.states import exclusions
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.bulk import BulkClient
    from registrar.github.client import GitHub

_ABSENT = (FailOn.MISSING, FailOn.DECLINED, FailOn.UNSET)


@dataclass
class ManyRun:
    """One run over many repositories. Its result grows while it goes on, so that the result is
    complete even if the run ends early.
    """

    github: "GitHub"
    settings: Settings
    lists: Sequence[FileList]
    listener: ManyListener
    cancellation: Cancellation
    run_result: RunResult

    def __post_init__(self) -> None:
        self._silent = ManyListener(self.listener.texts)
        self.result = self.run_result.many = ManyResult(self.settings)
        self.registrations = self.run_result.registrations
        """The results of all registrations, and of the previews that have something to report."""
        self._end = self.cancellation.clock.monotonic() + self.settings.max_seconds
        """Moment (monotonic) of the run's end."""
        self.github.limits.pace.end = self._end
        self._todo: list[Record] = []
        """The results of the reading for each list in a repository that has something to do."""
        self._without_row: dict[tuple[int | str, str], Record] = {}
        """The lists in repositories that have no row of the report yet, each with its present
        record."""

    def run(self, selection: Selection) -> None:
        """List the repositories, read them, report the budget, and write.

        Raises `Refused` if no repository is selected.
        """
        self.github.check_token()
        client = self.github.many(self._require_time)
        with self.listener.group("many.group_list"):
            found = self._list(client, selection)
        if found.without_effect:
            note = msg("many.without_effect", entries=found.without_effect)
            self.result.notes.append(note)
            self.listener.warn(Diagnostic(note))
        count = len(found.selected) + found.excluded.total() + len(found.not_found)
        self._note_selected(count, found)
        reader = Reader(self.github, client, self.cancellation, self._silent, self._end)
        try:
            self._read_and_write(reader, found, count)
        finally:
            # The timer of a signal must not end this: with thousands of rows it takes longer
            self.cancellation.only_report_left()
            # If the run has ended early, these lists have not had their turn
            for row in [*self._without_row.values()]:
                self._keep(row)

    def _read_and_write(self, reader: Reader, found: FoundRepositories, count: int) -> None:
        result, listener = self.result, self.listener
        with listener.group("many.group_read", count=len(found.selected)):
            self._read(reader, found)
        # Only the reading shows which repositories are empty or locked
        self._note_selected(count, found)
        todo = writing.in_order(self._todo)
        of_reading = Budget(
            found.excluded,
            len(found.not_found),
            reader.queries,
            self.github.limits.remaining(Resource.GRAPHQL),
            result.reading,
            guessed=sum(each.is_guess for each in todo),
        )
        result.budget = writing.with_writing(of_reading, self.settings, todo)
        result.next = result.budget.next
        listener.budget_known(result.budget, self.settings)
        if self.settings.mode is Mode.PLAN:
            self._warn_of_refusal(todo)
        if not self.settings.mode.only_reads:
            self._require_writable(todo)
            left = self._confirmed_and_written(reader, todo, result.budget)
            result.next = tuple(writing.next_ones(writing.in_order(left), self.settings))
        replaced = {each.replaces: each.of for each in result.contents.values() if each.replaces}
        result.note_blobs(read_blobs(self.github.client, replaced))
        listener.many_done(self.run_result)

    # --- Listing --------------------------------------------------------------------------------

    def _list(self, client: "BulkClient", selection: Selection) -> FoundRepositories:
        of_lists = (files.property_names for files in self.lists)
        asked = selection.property_names.union(self.settings.property_names, *of_lists)
        selection = selection._replace(with_properties=bool(asked))
        found = find_repositories(client, selection, self.settings)
        self.settings = self.settings._replace(selection=found.selection)
        hides = found.selection.is_too_private
        listed = [each for each in found.by_id.values() if not hides(each)]
        require_known_properties(asked, listed)
        for name, failure in found.not_found.items():
            for spec in self._specs([Repository(name)]):
                not_found = replace(unread(spec), failure=failure)
                self.result.reading.add(not_found)
                self._add(not_found)
        if asked and (persons := {each.owner for each in listed if each.of_person}):
            self._note(msg("progress.no_properties", owners=sorted(persons)))
        for repository, reason in found.excluded_repositories:
            for spec in self._specs([repository]):
                self._leave_out(replace(unread(spec), exclusion=reason))
        return found

    def _require_time(self) -> None:
        if self.cancellation.clock.monotonic() >= self._end:
            minutes = self.settings.max_seconds / 60
            raise Refused(msg("many.listing_took_too_long", minutes=minutes))

    def _specs(self, repositories: Iterable[Repository]) -> list[RegistrationSpec]:
        return [
            RegistrationSpec(self.settings, files, repository, policy=ONE_OF_MANY)
            for repository in repositories
            for files in self.lists
        ]

    def _note_selected(self, count: int, found: FoundRepositories) -> None:
        """Keep the number of selected repositories; raise `Refused` if there is none.

        ``count`` includes the names that were not found.
        """
        self.result.repositories = count - found.excluded.total()
        if self.result.repositories:
            return
        if not count:
            raise Refused(msg("many.nothing_found"))
        parts = exclusions(found.excluded)
        raise Refused(msg("many.nothing_selected", found=count, parts=parts))

    # --- Reading --------------------------------------------------------------------------------

    def _read(self, reader: Reader, found: FoundRepositories) -> None:
        specs = self._specs(found.selected)
        reader.require_enough(specs)
        for spec in specs:
            self._without_row[_key(spec)] = Record(spec, spec.repository)
        alone: list[Record] = []
        result = self.result
        result.rules.update({(f.label, r.number): 0 for f in self.lists for r in f.rules})
        for previewed in reader.read(specs):
            with self.cancellation.whole_step():
                if reason := previewed.exclusion:
                    self._exclude(previewed, reason, found)
                elif previewed.status is Status.UNREAD:
                    alone.append(previewed)
                else:
                    self._sort_in(previewed)
        if alone:
            self.listener.line(msg("many.alone", count=len(alone)))
        for previewed in reader.read_alone(alone):
            with self.cancellation.whole_step():
                self._sort_in(previewed)
        for note in notes.of_rules(result, self.lists):
            self._note(note)

    def _exclude(self, previewed: Record, reason: Exclusion, found: FoundRepositories) -> None:
        # With several lists, it comes once for each list, but counts as one repository
        if _key(previewed.spec)[0] not in self.result.end.excluded:
            found.excluded[reason] += 1
            # Counted at once, because the run may end before all repositories are read
            self.result.repositories -= 1
        for spec in self._specs([previewed.spec.repository]):
            self._without_row.pop(_key(spec), None)
        self._leave_out(previewed)

    def _sort_in(self, previewed: Record) -> None:
        """Count the result of the reading. If this run has something to write, put the result aside
        until its turn comes; otherwise make it a row of the report. A plan does both, because it
        shows the order of the writing.
        """
        waits = previewed.need is not None and previewed.need.only_waits
        if not previewed.failure:
            self.result.note_read(previewed)
        self.result.reading.add(previewed)
        # The pull request may lack only files that the token may not write
        lacks_only_refused = previewed.is_refused and waits
        mode, is_known = self.settings.mode, not (previewed.is_guess or previewed.to_describe)
        registers = mode is Mode.REGISTER and not (lacks_only_refused or (waits and is_known))
        if (registers and waits) or (not mode.only_reads and previewed.work):
            self._todo.append(previewed)
            self._without_row[_key(previewed.spec)] = writing.left_alone(previewed)
            return
        if mode is Mode.PLAN and (previewed.work or previewed.to_describe):
            self._todo.append(previewed)
        is_noted = previewed.told.to_close or previewed.notes or any(previewed.found_of(_ABSENT))
        # The state does not say that a declined pull request cannot be reopened
        tells_more = any(map(_lost_base, previewed.files)) if registers else is_noted
        if previewed.failed or tells_more:
            self.registrations.append(previewed)
        self._add(previewed)

    def _note(self, note: Message) -> None:
        self.result.notes.append(note)
        self.listener.line(note)

    # --- Writing --------------------------------------------------------------------------------

    def _warn_of_refusal(self, todo: Sequence[Record]) -> None:
        """Warn if a run with the same token would be refused before its first write."""
        try:
            self._require_writable(todo)
        except Refused as refused:
            warning = msg("progress.register_fails", reason=refused.failure.message)
            self.result.notes.append(warning)
            self.listener.warn(Diagnostic(warning))

    def _require_writable(self, todo: Sequence[Record]) -> None:
        """Raise `Refused` if something is to be done, and the token may do it nowhere."""
        count = self.result.reading.needed[Status.NOT_WRITABLE]
        if count and not self.result.reading.writable:
            raise Refused(msg("many.none_writable", count=count))
        not_named = self.result.reading.needed[Status.NOT_NAMED]
        if not_named and not_named == self.result.reading.needed.total():
            self.listener.warn(Diagnostic(msg("many.not_named", count=not_named)))
        if todo:
            require_scope(self.github.limits.scopes)

    def _confirmed_and_written(
        self, reader: Reader, todo: Sequence[Record], budget: Budget
    ) -> list[Record]:
        """Write if nobody says no, and return the records that the next run has to do.

        After a no, the result is empty, because the question has named the next ones.
        """
        if not budget.writes or self._is_confirmed(budget):
            return self._write(reader, todo, budget.writes) if todo else []
        self.result.stopped = msg("many.not_confirmed")
        for each in todo:
            self._keep(writing.left_alone(each))
        self._note_end(self.result.stopped)
        return []

    def _is_confirmed(self, budget: Budget) -> bool:
        """Ask for confirmation if there is a terminal. The time until the answer does not count for
        ``max_minutes``.
        """
        asked = self.cancellation.clock.monotonic()
        is_confirmed = self.listener.agrees(budget, self.settings)
        self._end += self.cancellation.clock.monotonic() - asked
        self.github.limits.pace.end = self._end
        return is_confirmed

    def _write(self, reader: Reader, todo: Sequence[Record], expected: int) -> list[Record]:
        """Do the registrations of ``todo`` one after the other, until something ends the writing.

        Return those that the next run has to do. ``expected`` is the number of writing requests
        that all of them need.
        """
        not_done: list[Record] = []
        withdraws = self.settings.mode is Mode.WITHDRAW
        heading = "many.group_withdraw" if withdraws else "many.group_write"
        with self.listener.group(heading, count=len(todo)):
            if self.result.budget:
                # Also a run that is killed while it writes has named every repository
                self.listener.begins_to_write(self.result.budget.next)
            gate = writing.Gate(self.settings, self.github.limits.pace, self.cancellation)
            writes_each = writing.writes_of(self.settings.pull_request)
            left = expected
            self._set_pace(expected, 0)
            turns = [*todo]
            for number in range(1, len(todo) + 1):
                previewed, place = gate.next_of(turns), (number, len(todo))
                has_room = gate.has_room_for(previewed)
                if has_room and not (self.result.stopped or gate.has_time):
                    minutes = self.settings.max_seconds / 60
                    self.result.stopped = msg("many.out_of_minutes", minutes=minutes)
                if self.result.stopped:
                    # All of these are reported by one line with their number
                    not_done.append(previewed)
                    self._keep(writing.left_alone(previewed))
                    continue
                if not has_room:
                    previewed = self._looked_at(reader, previewed)
                    not_done.append(previewed)
                    self._add(writing.left_alone(previewed), place)
                    continue
                registered, row = self._register(previewed, gate)
                done = previewed.told.to_close + writes_each.get(previewed.work, 0)
                done += previewed.to_describe
                left = max(left - done, 0)
                self._add(row, place, self._set_pace(left, expected - left))
                if row.status in {Status.FAILED, Status.DEFERRED}:
                    interrupted = previewed.interrupted or bool(registered.left_branch)
                    not_done.append(replace(previewed, interrupted=interrupted))
                if reason := writing.why_stop(registered, gate):
                    self.result.stop(reason, registered.exit_code)
        if self.result.stopped:
            self._note_end(self.result.stopped)
        return not_done

    def _note_end(self, reason: Message) -> None:
        """Report why the run ended early, and how many lists are left for the next run."""
        if left := self.result.end.states[Status.DEFERRED]:
            self.result.stopped = msg("many.ended_early", left=left, reason=reason)
            self.listener.warn(Diagnostic(self.result.stopped))

    def _looked_at(self, reader: Reader, previewed: Record) -> Record:
        """Return the result for a repository that is left for the next run.

        If it is a guess, the repository is read alone, because people may have changed its pull
        request. If that fails, the guess is returned.
        """
        if not previewed.is_guess:
            return previewed
        alone = next(iter(reader.read_alone([previewed])))
        return previewed if alone.failure or alone.need is None else alone

    def _set_pace(self, left: int, done: int) -> float:
        """Set the pace for the rest of the writing, and return how many seconds it takes.

        ``left`` and ``done`` are the expected numbers of requests, for the rest and until now.
        """
        pace = self.github.limits.pace
        left = writing.writes_left(left, done=done, made=pace.writes)
        pace.expect(pace.writes + left, end=self._end)
        return pace.seconds_for(left)

    def _register(self, previewed: Record, gate: writing.Gate) -> tuple[Record, Record]:
        """Do one registration, which reads the repository again first.

        Return its result, and the row of the report.
        """
        writes_before = self.github.limits.pace.writes
        client, spec = self.github.client(previewed.spec.target), previewed.spec
        is_announced = bool(previewed.work or previewed.to_describe)
        policy = spec.policy._replace(describes=is_announced)
        registered = register(client, spec._replace(policy=policy), self._silent)
        registered = replace(registered, spec=spec)
        self.cancellation.stop_timer()
        self.registrations.append(registered)
        row = writing.ended(previewed, registered, wrote=client.session.wrote)
        wrote = writing.may_have_written(previewed, registered, client)
        writes = self.github.limits.pace.writes - writes_before
        changed = len(registered.closed) + int(previewed.to_describe and writes > 0)
        gate.note(previewed, row, writes=writes, wrote=wrote, changed=changed)
        return registered, row

    def _add(
        self,
        row: Record,
        place: tuple[int, int] | None = None,
        seconds_left: float = 0.0,
    ) -> None:
        """Keep a row of the report, and print it unless the repository is complete.

        ``place`` is its number and the number of all rows, if these are known. ``seconds_left`` is
        the time that the other rows take; 0 if it is not known.
        """
        row, names_list = self._keep(row), len(self.lists) > 1
        if row.status is not Status.COMPLETE:
            self.listener.repository_done(row, place, seconds_left, names_list=names_list)

    def _keep(self, row: Record) -> Record:
        """Put the final row of a list in a repository into the result, the table and the page.

        If nothing of the repository was read, all its paths are shown as not read.
        """
        row = row if row.files else replace(row, paths=unread(row.spec).paths)
        with self.cancellation.whole_step():
            self._without_row.pop(_key(row.spec), None)
            self.result.add(row)
            self.listener.record(row, self.result.end)
        return row

    def _leave_out(self, row: Record) -> None:
        self.result.end.add(row)
        if row.exclusion is not Exclusion.MORE_PRIVATE:
            self.listener.record(row, self.result.end)


def _lost_base(file: ListedPath) -> bool:
    return file.declined_in is not None and file.declined_in.base_is_gone


def _key(spec: RegistrationSpec) -> tuple[int | str, str]:
    return spec.repository.counted_as, spec.file_list.label
