"""The REST API: one request for each step of a decision, in the order of docs/design.md."""

from collections.abc import Sequence
from functools import partial

from registrar.errors import GitHubError, Kind, RegistrarError
from registrar.github.limits import Resource
from registrar.models.files import FileDefinition
from registrar.models.paths import Done, PathOutcome
from registrar.models.record import PullRequestOperation
from registrar.models.repository import Entry, PullRequest
from registrar.models.standing import Standing
from registrar.models.task import Change, NewCommit
from registrar.registration import pull_requests
from registrar.registration.decision import Branch, Decision, Write
from registrar.registration.preflight import lacking_scope, require_writable, scope_failure
from registrar.registration.sent import Close, Commit, MakeBranch
from registrar.registration.work import Work
from registrar.texts.messages import msg

_OUT_OF_REACH = frozenset({Kind.NOT_FOUND, Kind.UNUSABLE, Kind.TRANSIENT})
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
        self._decided: Write | None = None
        self._begun: Write | None = None

    def tell(self, decision: Decision) -> None:
        self._progress.tell(decision)

    def close(self, step: Close) -> PullRequest | None:
        (pull, mark), progress = step, self._progress
        ended: PullRequest | None = None

        def change(now: PullRequest) -> Change | None:
            nonlocal ended
            if step.is_own_mistake:
                return Change(step.closed.body, closes=True)
            if not now.is_open:
                ended = now
                return None
            is_here = (now.head_sha, now.base_branch) == (pull.head_sha, pull.base_branch)
            if not (is_here and now.has_body(pull.body)):
                progress.note("progress.left_open_moved", pull_request=pull.link)
                return None
            return Change(self._work.proposal.closed(now.body, mark), closes=True)

        now = self._client.rest.update_pull_request(self._task.repository, pull, change)
        if now and step.is_own_mistake:
            values = {"pull_request": pull.link, "branch": pull.head_branch}
            progress.warn("progress.closed_again", about=pull.url, **values)
        elif now:
            operation = "CLOSED" if mark.is_needless else "WITHDRAWN"
            progress.keep_pull_request(now, PullRequestOperation[operation])
        return now or ended

    def write(self, write: Write) -> None:
        if write is not self._decided:
            # If the branch could not be read again, the same order comes twice and is continued
            self._decided, self._begun = write, self._begin_to(write)
        if begun := self._begun:
            if not begun.is_done:
                self._commit(begun.branch)
            pull_requests.publish(self._work, begun)

    # --- Before the first commit ----------------------------------------------------------------

    def _begin_to(self, write: Write) -> Write | None:
        """Do the steps before the first commit. Return ``None`` if the pull request is to be left
        unchanged, so that no other step follows.
        """
        work, progress, name = self._work, self._progress, write.branch.name
        if not work.sent.branches:
            self._require(write)
        if write.is_new:
            write = self._make_branch(write)
        progress.keep_branch(name)
        if write.is_bare and not self._task.spec.uses_profile_branch:
            progress.note("progress.found_branch", branch=name)
        if write.leaves_pull_request and write.pull_request:
            self._leave(write)
            progress.keep_proposed(write.pull_request)
            return None
        return write if write.is_done else pull_requests.prepare(work, write)

    def _require(self, write: Write) -> None:
        """Raise an error before the first write if it is known that the writing fails.

        Over many repositories, files that the token may not write fail alone, and the others are
        written.
        """
        work, scopes = self._work, self._client.limits.scopes
        files = [each for each in work.pending() if write.is_to_write(each.path)]
        if self._task.spec.policy.fails_refused_files:
            refused = lacking_scope(files, scopes)
            failure = scope_failure(scopes)
            outcomes = (work.failed(write.branch, each, failure) for each in refused)
            self._progress.record_and_print(*outcomes)
            files = [each for each in files if each not in refused]
        require_writable(self._task, files, scopes)
        self._require_rate_limit(files)
        if write.is_new and not files:
            raise RegistrarError(scope_failure(scopes))

    def _require_rate_limit(self, files: Sequence[FileDefinition]) -> None:
        """Require a request for the branch, one for each file, and one for the pull request.

        Raises an error if GitHub's rate limit leaves fewer.
        """
        self._client.limits.require(Resource.REST, len(files) + 2)

    def _leave(self, write: Write) -> None:
        """Keep the states of the files if the pull request is to be left unchanged."""
        for each in self._work.pending():
            standing = Standing.PROPOSED if write.brings(each.path) else Standing.TO_CREATE
            why = msg("reason.no_update")
            outcome = PathOutcome(each.path, Done.SKIPPED, reason=why, standing=standing)
            self._progress.record(outcome)

    # --- Branch and files -----------------------------------------------------------------------

    def _make_branch(self, write: Write) -> Write:
        """Make the branch at the commit that was read."""
        name, base = write.branch.name, self._task.state.base_sha
        create = partial(self._client.rest.create_branch, self._task.repository, name, base)
        self._work.sent.send(MakeBranch(name), create)
        return write._replace(is_new=False)

    def _commit(self, branch: Branch) -> None:
        """Update the files that the branch has; then create the others with one commit for each."""
        work, progress = self._work, self._progress
        self._correct(branch)
        todo = work.pending()
        if not todo:
            return
        message_of = work.proposal.commit_messages(progress.result())
        with progress.group("group.create", count=len(todo), branch=branch.name):
            for number, file in enumerate(todo, start=1):
                outcome = self._create(branch, file, message_of(file))
                progress.record_and_print(outcome, first=number, total=len(todo))

    def _look_again(self) -> None:
        """Raise an error if the pull request was closed while a commit waited."""
        if self._begun and (pull := self._begun.pull_request):
            now = self._client.rest.pull_request(self._task.repository, pull.number)
            pull_requests.require_open(self._work, now)

    def _create(self, branch: Branch, file: FileDefinition, message: str) -> PathOutcome:
        work, repository = self._work, self._task.repository
        if there := branch.holds(file.path):
            return work.there(branch, file, there.sha)
        step = Commit.of(branch.name, "", [file])
        create = partial(
            self._client.rest.create_file,
            repository,
            file,
            branch=branch.name,
            message=message,
            look_again=self._look_again,
        )
        try:
            return work.written(branch, file, work.sent.send(step, create))
        except GitHubError as error:
            if error.already_exists and (now := self._entry(branch, file)):
                return work.there(branch, file, now.sha)
            failed = work.failed(branch, file, error.failure)
            is_unread = work.sent.is_unread(branch.name, file)
            return failed._replace(done=Done.UNKNOWN) if is_unread else failed

    def _entry(self, branch: Branch, file: FileDefinition) -> Entry | None:
        """Read a path that the branch has, as GitHub has just said; `None` if this fails."""
        repository = self._task.repository
        try:
            return self._client.rest.entry(repository, file.path, branch.name, may_lag=True)
        except GitHubError:
            return None

    def _correct(self, branch: Branch) -> None:
        """Update the files of the branch for which the list has other content now.

        If GitHub refuses that, they have failed. If the GraphQL API cannot be reached, and the
        branch is unchanged, they are only skipped.
        """
        work = self._work
        outdated = [each for each in work.pending() if branch.is_outdated(each.path)]
        if not outdated:
            return
        try:
            self._commit_together(branch, outdated)
        except GitHubError as error:
            outcomes = [
                work.failed(branch, each, error.failure)
                for each in self._progress.pending(outdated)
            ]
            if error.kind in _OUT_OF_REACH and self._is_as_read(branch):
                why = msg("reason.not_corrected", reason=error.message)
                outcomes = [
                    each._replace(done=Done.SKIPPED, reason=why, failure=None) for each in outcomes
                ]
            self._progress.record_and_print(*outcomes)

    def _is_as_read(self, branch: Branch) -> bool:
        try:
            head = self._client.rest.branch_head(self._task.repository, branch.name)
        except GitHubError:
            return False
        return head == (self._work.sent.head(branch.name) or branch.head)

    def _commit_together(self, branch: Branch, files: Sequence[FileDefinition]) -> None:
        """Commit files to a branch with one commit.

        Raises `GitHubError` if GitHub refuses the commit, for example because the branch has moved
        on.
        """
        work, progress, repository = self._work, self._progress, self._task.repository
        head = work.sent.head(branch.name) or branch.head
        corrects = all(branch.is_outdated(each.path) for each in files)
        message = work.proposal.commit_message(progress.result(), files, corrects=corrects)
        new = NewCommit(branch.name, head, *message, files)
        commit = work.sent.send(
            Commit.of(branch.name, head, files),
            partial(self._client.graphql.create_commit, repository, new, self._look_again),
        )
        with progress.group("group.create", count=len(files), branch=branch.name):
            progress.record_and_print(*(work.written(branch, each, commit) for each in files))
