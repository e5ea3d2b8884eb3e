"""The GraphQL API: one request for branch, commit and pull request, or one for the commit alone.

The branch is made at the commit that was read, and the new commit names that commit as the expected
head of the branch. So no file can be overwritten. If GitHub refuses the request or a part of it,
the remaining steps are done one by one.
"""

from functools import partial

from registrar.errors import GitHubError
from registrar.models.paths import Create, ListedPath
from registrar.models.task import NewCommit, NewPullRequest
from registrar.presence.special_files import WORKFLOW_FILES
from registrar.registration.plan import Plan
from registrar.registration.rest_writer import RestWriter
from registrar.registration.sent import Commit, MakeBranch, Open, Unclear
from registrar.registration.work import failed, written


class GraphQLWriter(RestWriter):
    """Writes with the GraphQL API, with all files in one commit."""

    def _make_branch(self, plan: Plan) -> Plan:
        """Make branch, commit and pull request with one request; a run sends it only once.

        If GitHub refuses the request, only the branch is made.
        """
        work, proposal, progress = self._work, self._work.proposal, self._progress
        name, files = plan.branch, work.to_write()
        if work.sent.branches:
            return super()._make_branch(plan)
        definitions = [each.definition for each in files]
        result = progress.result(assuming={each.path: written(each) for each in files})
        message = proposal.commit_message(result, definitions)
        commit = NewCommit(name, plan.head, *message, definitions)
        title, body, base = proposal.title(result), proposal.body(result), self._task.base_branch
        pull = NewPullRequest(name, base, title, body, proposal.options)
        steps = MakeBranch(name), Commit.of(name, plan.head, definitions), Open(name, pull.body)
        sendings = [work.sent.begin(each, is_alone=False) for each in steps]
        create = self._client.graphql.create_everything
        try:
            look_again = partial(self._look_again, plan)
            made = create(self._task.repository, commit, pull, look_again)
        except GitHubError as error:
            for each in sendings:
                each.has_failed(error)
            work.sent.ask_again(error, steps[0])
            return super()._make_branch(plan)
        # If there is a commit but no branch, somebody else has made the branch at the same commit
        made_branch = made.branch_id or made.commit
        results = (made_branch, made.commit, made.pull_request)
        for each, given in zip(sendings, results, strict=True):
            if given:
                each.has_made(given)
            else:
                each.was_left_out()
        if not made_branch:
            return super()._make_branch(plan)
        progress.keep_branch(name)
        # Something else than this run's commit is on the branch, and the description already names
        # all files, so the run plans again
        if made.pull_request and not made.commit:
            raise Unclear(steps[0])
        if made.commit:
            with progress.group("group.create", count=len(files), branch=name):
                progress.record_and_print({f.path: written(f, made.commit) for f in files})
        return plan._replace(
            pull_request=made.pull_request,
            is_bare=not made.branch_id,
            is_done=bool(made.commit and made.pull_request),
        )

    def _commit(self, plan: Plan) -> None:
        """Create the files that the branch lacks, and update those that it has, with one commit.

        If GitHub refuses a commit with workflow files and other files, the workflow files fail, and
        the other files are committed without them. In one repository, files that cannot go into
        this commit get one commit each. Over many repositories, they fail.
        """
        while files := self._committable():
            try:
                self._commit_together(plan, files)
            except GitHubError as error:
                workflows = [each for each in files if each.path.startswith(WORKFLOW_FILES)]
                if error.nothing_done and 0 < len(workflows) < len(files):
                    # Many tokens may write all files except workflows
                    files = workflows
                elif self._task.spec.policy.falls_back:
                    break
                outcome = failed(error.failure)
                self._progress.record_and_print({each.path: outcome for each in files})
        super()._commit(plan)

    def _committable(self) -> list[ListedPath]:
        """Return the files that one commit can write, because nothing of others can be replaced."""
        return [
            each
            for each in self._work.to_write()
            if not isinstance(each.plan, Create) or each.plan.is_known_absent
        ]
