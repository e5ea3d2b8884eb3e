"""The REST API: one request for each step of a plan, in the order of docs/design.md."""

from collections.abc import Sequence
from functools import partial

from registrar.errors import ENDS_THE_WRITING, GitHubError, Kind
from registrar.models.files import FileDefinition
from registrar.models.paths import ListedPath, Outcome, Result, Update
from registrar.models.record import PullRequestOperation
from registrar.models.repository import Entry, PullRequest
from registrar.models.task import Change, NewCommit
from registrar.registration import pull_requests
from registrar.registration.plan import Plan
from registrar.registration.sent import Close, Commit, MakeBranch
from registrar.registration.work import Work, failed, written
from registrar.texts.messages import msg

_LARGEST_OF_CONTRACT = 29
"""The files of the longest built-in list. A run that creates so many sends no other request between
its commits."""
_FILES_BETWEEN_LOOKS = 10
"""After so many further commits the run looks again whether it may go on writing to the branch."""
_OUT_OF_REACH = frozenset({Kind.UNUSABLE, Kind.TRANSIENT})
"""The kinds of failure of a GraphQL request in a network that lets only the REST API through."""


class RestWriter:
    """Writes with the REST API: one commit for each file.

    Existing files of the branch are updated with GraphQL, because REST needs a ``sha`` to replace a
    file, and registrar never sends one.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._client = work.client
        self._task = work.task
        self._progress = work.progress
        self._planned: Plan | None = None
        self._begun: Plan | None = None
        self._commits_left = _LARGEST_OF_CONTRACT
        """How many commits may still be made before the next look."""

    def tell(self, plan: Plan) -> None:
        self._progress.tell(plan)

    def close(self, step: Close) -> PullRequest:
        (pull, mark), progress = step, self._progress
        left = pull

        def change(now: PullRequest) -> Change | None:
            nonlocal left
            if step.is_own_mistake:
                return Change(step.closed.body, closes=True)
            if not now.is_open:
                left = now
                return None
            is_here = (now.head_sha, now.base_branch) == (pull.head_sha, pull.base_branch)
            if not (is_here and now.has_body(pull.body)):
                progress.note("progress.left_open_moved", pull_request=pull.link)
                return None
            return Change(self._work.proposal.closed(now.body, mark), closes=True)

        try:
            now = self._client.rest.update_pull_request(self._task.repository, pull, change)
        except GitHubError as error:
            is_final = not error.nothing_done or error.kind in ENDS_THE_WRITING
            if is_final or not mark.is_needless:
                raise
            reason = error.failure.cause.message
            progress.note("progress.left_open_refused", pull_request=pull.link, reason=reason)
            # The branch may conflict with the base branch by now, so nothing must be added to it.
            # With this mark it is left alone, like one that a person has reopened
            return pull._replace(body=mark.text)
        if now and step.is_own_mistake:
            values = {"pull_request": pull.link, "branch": pull.head_branch}
            progress.warn("progress.closed_again", about=pull.url, **values)
        elif now:
            operation = "CLOSED" if mark.is_needless else "WITHDRAWN"
            progress.keep_pull_request(now, PullRequestOperation[operation])
        if self._task.missing and mark.is_needless and step.is_done_by(now or left):
            # The result will be about the pull request that is opened next, so this one gets a note
            progress.note("progress.closed", pull_request=pull.link)
        return now or left

    def write(self, plan: Plan) -> None:
        if plan is not self._planned:
            # If the branch could not be read again, the same plan comes twice and is continued
            self._planned, self._begun = plan, self._begin_to(plan)
        if begun := self._begun:
            if not begun.is_done:
                self._commit(begun)
            pull_requests.publish(self._work, begun)

    # --- Before the first commit ----------------------------------------------------------------

    def _begin_to(self, plan: Plan) -> Plan | None:
        """Do the steps before the first commit. Return ``None`` if the pull request is to be left
        unchanged, so that no other step follows.
        """
        work, progress, name = self._work, self._progress, plan.branch
        if plan.is_new:
            plan = self._make_branch(plan)
        progress.keep_branch(name)
        if plan.is_bare and not self._task.spec.uses_profile_branch:
            progress.note("progress.found_branch", branch=name)
        if plan.leaves_pull_request and plan.pull_request:
            progress.keep_proposed(plan.pull_request)
            return None
        return plan if plan.is_done else pull_requests.prepare(work, plan)

    # --- Branch and files -----------------------------------------------------------------------

    def _make_branch(self, plan: Plan) -> Plan:
        """Make the branch at the commit that was read."""
        create = partial(
            self._client.rest.create_branch, self._task.repository, plan.branch, plan.head
        )
        self._work.sent.send(MakeBranch(plan.branch), create)
        return plan

    def _commit(self, plan: Plan) -> None:
        """Update the files that the branch has; then create the others with one commit for each."""
        work, progress = self._work, self._progress
        self._correct(plan)
        todo = work.pending()
        if not todo:
            return
        message_of = work.proposal.commit_messages(progress.result())
        with progress.group("group.create", count=len(todo), branch=plan.branch):
            for number, listed in enumerate(todo, start=1):
                if listed.is_to_write:
                    if not self._commits_left:
                        self._look_again(plan)
                    self._commits_left -= 1
                    outcome = self._create(plan, listed, message_of(listed.definition))
                else:
                    outcome = Outcome(Result.FOUND, listed.reason, is_as_listed=listed.is_as_listed)
                progress.record_and_print({listed.path: outcome}, first=number, total=len(todo))

    def _look_again(self, plan: Plan) -> None:
        """Raise an error if nothing more may be written to the branch, because its pull request was
        closed, or because it is the default branch by now.

        This is for a run that has waited, or that has made many commits.
        """
        rest, work, repository = self._client.rest, self._work, self._task.repository
        if pull := plan.pull_request:
            pull_requests.require_open(work, rest.pull_request(repository, pull.number))
        else:
            default = rest.again(repository).default_branch
            pull_requests.require_not_default(work.sent, plan.branch, default)
        work.sent.note_look()
        self._commits_left = _FILES_BETWEEN_LOOKS

    def _create(self, plan: Plan, listed: ListedPath, message: str) -> Outcome:
        work, repository, file = self._work, self._task.repository, listed.definition
        create = partial(
            self._client.rest.create_file,
            repository,
            file,
            branch=plan.branch,
            message=message,
            look_again=partial(self._look_again, plan),
        )
        try:
            commit = work.sent.send(Commit.of(plan.branch, "", [file]), create)
        except GitHubError as error:
            if error.already_exists and (now := self._entry(plan.branch, file)):
                return self._found(plan, listed, now)
            outcome = failed(error.failure)
            is_unread = work.sent.is_unread(plan.branch, file)
            return outcome._replace(result=Result.UNKNOWN) if is_unread else outcome
        return written(listed, commit)

    def _entry(self, branch: str, file: FileDefinition) -> Entry | None:
        """Read a path that the branch has, as GitHub has just said; `None` if this fails."""
        repository = self._task.repository
        try:
            return self._client.rest.entry(repository, file.path, branch, may_lag=True)
        except GitHubError:
            return None

    def _found(self, plan: Plan, listed: ListedPath, now: Entry) -> Outcome:
        """Return the outcome of a file that the branch has got since it was read.

        Either another run or a person was faster, or this run has written it and the answer was
        lost.
        """
        is_same = now.sha == listed.definition.blob_id
        if is_same and self._work.sent.may_have_written(plan.branch, listed.definition):
            return written(listed)
        reason = msg("reason.on_branch" if is_same else "reason.edited")
        return Outcome(Result.FOUND, reason, is_as_listed=is_same)

    def _correct(self, plan: Plan) -> None:
        """Update the files of the branch for which the list has other content now.

        If GitHub refuses that, they have failed. If the GraphQL API cannot be reached, and the
        branch is unchanged, they are only skipped.
        """
        outdated = [each for each in self._work.to_write() if isinstance(each.plan, Update)]
        if not outdated:
            return
        try:
            self._commit_together(plan, outdated)
        except GitHubError as error:
            outcome = failed(error.failure)
            if error.kind in _OUT_OF_REACH and self._is_as_read(plan):
                outcome = Outcome(Result.LEFT, msg("reason.not_corrected", reason=error.message))
            self._progress.record_and_print({each.path: outcome for each in outdated})

    def _is_as_read(self, plan: Plan) -> bool:
        try:
            head = self._client.rest.branch_head(self._task.repository, plan.branch)
        except GitHubError:
            return False
        return head == plan.head

    def _commit_together(self, plan: Plan, files: Sequence[ListedPath]) -> None:
        """Commit files to the branch with one commit.

        Raises `GitHubError` if GitHub refuses the commit, for example because the branch has moved
        on.
        """
        work, progress, repository = self._work, self._progress, self._task.repository
        branch, head = plan.branch, plan.head
        definitions = [each.definition for each in files]
        corrects = all(isinstance(each.plan, Update) for each in files)
        message = work.proposal.commit_message(progress.result(), definitions, corrects=corrects)
        new = NewCommit(branch, head, *message, definitions)
        commit = work.sent.send(
            Commit.of(branch, head, definitions),
            partial(
                self._client.graphql.create_commit,
                repository,
                new,
                partial(self._look_again, plan),
            ),
        )
        with progress.group("group.create", count=len(files), branch=branch):
            progress.record_and_print({each.path: written(each, commit) for each in files})
