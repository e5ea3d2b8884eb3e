"""The GraphQL API: one request for branch, commit and pull request, or one for the commit alone.

The branch is made at the commit that was read, and the new commit names that commit as the expected
head of the branch. So no file can be overwritten. If GitHub refuses the request or a part of it,
the remaining steps are done one by one.
"""

from registrar.errors import Failure, GitHubError
from registrar.github.limits import Resource
from registrar.models.files import FileDefinition, parents
from registrar.models.task import NewCommit, NewPullRequest
from registrar.presence.special_files import WORKFLOW_FILES
from registrar.registration.decision import Branch, Write
from registrar.registration.rest_writer import RestWriter
from registrar.registration.sent import Commit, MakeBranch, Open, Unclear
from registrar.texts.messages import msg


class GraphQLWriter(RestWriter):
    """Writes with the GraphQL API, with all files in one commit."""

    def _require_rate_limit(self, _files: object) -> None:
        """Require the point that the writing request costs."""
        self._client.limits.require(Resource.GRAPHQL, 1)

    def _make_branch(self, write: Write) -> Write:
        """Make branch, commit and pull request with one request; a run sends it only once.

        If GitHub refuses the request, only the branch is made.
        """
        work, proposal, progress = self._work, self._work.proposal, self._progress
        branch, name, files = write.branch, write.branch.name, work.pending()
        if work.sent.branches:
            return super()._make_branch(write)
        result = progress.result(assuming=[work.written(branch, each) for each in files])
        commit = NewCommit(name, branch.head, *proposal.commit_message(result, files), files)
        title, body, base = proposal.title(result), proposal.body(result), self._task.base_branch
        pull = NewPullRequest(name, base, title, body, proposal.options)
        steps = MakeBranch(name), Commit.of(name, branch.head, files), Open(name, pull.body)
        sendings = [work.sent.begin(each, is_alone=False) for each in steps]
        create = self._client.graphql.create_everything
        try:
            made = create(self._task.repository, commit, pull)
        except GitHubError as error:
            for each in sendings:
                each.has_failed(error)
            work.sent.ask_again(error, steps[0])
            return super()._make_branch(write)
        # If there is a commit but no branch, somebody else has made the branch at the same commit
        made_branch = made.branch_id or made.commit
        results = (made_branch, made.commit, made.pull_request)
        for each, given in zip(sendings, results, strict=True):
            if given:
                each.has_made(given)
            else:
                each.was_left_out()
        if not made_branch:
            return super()._make_branch(write)
        progress.keep_branch(name)
        # The pull request is from somebody else's branch, so the run decides again
        if made.pull_request and not made.commit:
            raise Unclear(steps[0])
        if made.commit:
            with progress.group("group.create", count=len(files), branch=name):
                progress.record_and_print(*(work.written(branch, d, made.commit) for d in files))
        return write._replace(
            pull_request=made.pull_request,
            is_new=False,
            is_bare=not made.branch_id,
            is_done=bool(made.commit and made.pull_request),
        )

    def _commit(self, branch: Branch) -> None:
        """Create the files that the branch lacks, and update those that it has, with one commit.

        If GitHub refuses a commit with workflow files and other files, the workflow files fail, and
        the other files are committed without them. In one repository, files that cannot go into
        this commit get one commit each. Over many repositories, they fail.
        """
        work, progress, policy = self._work, self._progress, self._task.spec.policy
        while files := self._committable(branch):
            try:
                self._commit_together(branch, files)
            except GitHubError as error:
                workflows = [each for each in files if each.path.startswith(WORKFLOW_FILES)]
                if error.nothing_done and 0 < len(workflows) < len(files):
                    # Many tokens may write all files except workflows
                    files = workflows
                elif policy.falls_back:
                    break
                failed = (work.failed(branch, each, error.failure) for each in files)
                progress.record_and_print(*failed)
        if not policy.falls_back:
            failure = Failure.of(msg("reason.not_committable"))
            rest = [each for each in work.pending() if not branch.holds(each.path)]
            progress.record_and_print(*(work.failed(branch, each, failure) for each in rest))
        super()._commit(branch)

    def _committable(self, branch: Branch) -> list[FileDefinition]:
        """Return the pending files that one commit can write without replacing anything that
        somebody else wrote. The list is empty if the tree of the branch is unknown.
        """
        tree = branch.tree
        if tree is None:
            return []
        directories = {parent for path in tree for parent in parents(path)}
        return [
            each
            for each in self._work.pending()
            if branch.is_outdated(each.path)
            or (
                not branch.holds(each.path)
                and each.path not in directories
                and not any(parent in tree for parent in parents(each.path))
            )
        ]
