"""The verbs of everybody who changes a repository. Each act stands in the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import pygit2

from .journal import Actor
from .refusals import Refusal, invalid
from .store import SOMEBODY, Content, Person

if TYPE_CHECKING:
    from .repository import Changes, Protection, PullRequest, Repository

MAX_BODY = 65_536


class Edit(TypedDict, total=False):
    """Attributes of a pull request that `Acts.edit` changes.

    On GitHub nobody can change those from `author` on. With them a test puts a pull request of
    somebody else, or of another time, in the place of one that exists.
    """

    title: str
    body: str | None
    base: str
    draft: bool
    maintainer_can_modify: bool
    labels: Sequence[str]
    assignees: Sequence[str]
    reviewers: Sequence[str]
    team_reviewers: Sequence[str]
    author: str
    head_repository: str
    head_sha: str
    created_at: float
    updated_at: float
    closed_at: float | None
    merged_at: float | None
    merge_commit_sha: str | None
    is_fork_deleted: bool


@dataclass(frozen=True, slots=True)
class Acts:
    """What somebody does to a repository: ``repository.person.close(1)``.

    `Repository.person` acts for people, and `Repository.as_registrar` for an earlier run. The first
    group of verbs checks no rule. The second one answers clients, with all checks.
    """

    repository: Repository
    actor: Actor

    # Commits and references

    def commit(
        self,
        changes: Mapping[str, Content | None],
        *,
        branch: str | None = None,
        message: str = "Change by somebody else",
        author: Person | tuple[str, str] = SOMEBODY,
    ) -> str:
        """Commit to a branch, and return the id of the commit.

        A branch that does not exist is created at the default branch. None in `changes` deletes
        the path.
        """
        it = self.repository
        with it.lock:
            branch = branch or it.default_branch
            parent = it.find_head(branch)
            if parent is None and (begin := it.find_head(it.default_branch)):
                self._point(f"refs/heads/{branch}", parent := begin)
            person = Person(*author)
            sha = it.build_commit(parent, changes, message, person, person)
            self._point(f"refs/heads/{branch}", sha)
            return sha

    def amend(self, branch: str, changes: Mapping[str, Content | None]) -> str:
        """Replace the last commit of a branch by one with these changes; return its id."""
        it = self.repository
        with it.lock:
            head, person = it.commit_at(it.head(branch)), Person(*SOMEBODY)
            changed = it.build_commit(str(head.id), changes, "", person, person)
            sign, tree = person.signature(it.now()), it.commit_at(changed).tree_id
            message, parents = f"{head.message}, amended", head.parent_ids
            amended = it.own().create_commit(None, sign, sign, message, tree, parents)
            self._point(f"refs/heads/{branch}", str(amended))
            return str(amended)

    def merge_into(self, branch: str, commit: str, changes: Mapping[str, Content | None]) -> str:
        """Merge a commit into a branch, with changes in the merge commit itself; return its id.

        The history of a path does not show such changes, because ``git log`` simplifies it.
        """
        it = self.repository
        with it.lock:
            merged = it.test_merge(branch, commit)
            person = Person(*SOMEBODY)
            changed = it.build_commit(merged, changes, "", person, person)
            tree = it.commit_at(changed).tree_id
            parents = it.commit_at(merged).parent_ids
            message, sign = f"Merge {commit} into {branch}", person.signature(it.now())
            amended = it.own().create_commit(None, sign, sign, message, tree, parents)
            self._point(f"refs/heads/{branch}", str(amended))
            return str(amended)

    def keep_ours(self, branch: str, ours: str, theirs: str) -> str:
        """Point a branch at a merge of two commits with the files of the first; return its id.

        ``git merge -s ours`` makes such a merge.
        """
        it = self.repository
        with it.lock:
            sign, tree = Person(*SOMEBODY).signature(it.now()), it.commit_at(ours).tree_id
            parents = [pygit2.Oid(hex=ours), pygit2.Oid(hex=theirs)]
            merged = it.own().create_commit(None, sign, sign, f"Merge {theirs}", tree, parents)
            self._point(f"refs/heads/{branch}", str(merged))
            return str(merged)

    def create_branch(self, name: str, at: str | None = None) -> str:
        """Create or move a branch, and return the id of its commit.

        `at` is a commit, a branch or a tag; by default it is the default branch.
        """
        it = self.repository
        with it.lock:
            commit = it.resolve(at or it.default_branch)
            if commit is None:
                raise KeyError(at)
            self._point(f"refs/heads/{name}", str(commit.id))
            return str(commit.id)

    def delete_branch(self, name: str) -> None:
        """Delete a branch, which closes the open pull requests from it and into it.

        Nobody can reopen the latter, or change their base, before the branch exists again
        (isaacs/github#1557, MithrilJS/mithril.js#2862).
        """
        it = self.repository
        with it.lock:
            it.journal.write(self.actor, it, f"refs/heads/{name}", it.head(name), None)
            it.own().references.delete(f"refs/heads/{name}")
            for pull_request in it.pull_requests:
                is_about = it.is_head(pull_request, name) or pull_request.base == name
                if pull_request.state == "open" and is_about:
                    self.close(pull_request.number)

    def point(self, name: str, sha: str) -> None:
        """Point a reference with its full name, such as ``refs/tags/v1``, at an object."""
        with self.repository.lock:
            self._point(name, sha)

    def push(self, then: Mapping[str, str], before: Mapping[str, str]) -> None:
        """Note that git itself has changed the branches; both arguments have their commits."""
        it = self.repository
        for name in sorted(then.keys() | before.keys()):
            if then.get(name) != before.get(name):
                it.journal.write(
                    self.actor, it, f"refs/heads/{name}", before.get(name), then.get(name)
                )
        it.pushed()

    def _point(self, name: str, sha: str) -> None:
        it = self.repository
        before = it.own().references.get(name)
        old = None if before is None else str(before.target)
        it._point(name, sha)
        it.journal.write(self.actor, it, name, old, sha)
        it.pushed()

    # Pull requests

    def open_pull_request(
        self,
        *,
        head: str,
        base: str | None = None,
        title: str = "A pull request by somebody else",
        body: str | None = None,
        draft: bool = False,
        author: str = "somebody",
        head_repository: str | None = None,
        maintainer_can_modify: bool = False,
    ) -> PullRequest:
        """Open a pull request.

        With `head_repository` it comes from a branch of that fork. The branch is at the same commit
        as the branch of the same name here or, if there is none, at the commit of the base. The
        stand-in does not serve the fork itself.
        """
        it = self.repository
        with it.lock:
            base = base or it.default_branch
            base_sha = it.head(base)
            head_sha = it.find_head(head)
            if head_sha is None:
                if head_repository is None:
                    raise KeyError(head)
                head_sha = base_sha
            opened = it.add_pull_request(
                title=title,
                body=body,
                head=head,
                base=base,
                head_repository=head_repository or it.full_name,
                head_sha=head_sha,
                base_sha=base_sha,
                author=author,
                draft=draft,
                maintainer_can_modify=maintainer_can_modify,
            )
            told = {"head": head, "base": base, "title": title, "body": body, "author": author}
            it.journal.act(self.actor, it, "open", opened.number, after=told)
            return opened

    def edit(self, number: int, **attributes: Unpack[Edit]) -> None:
        """Change attributes of a pull request: ``person.edit(1, body="mine")``."""
        self._change_pull("edit", number, dict(attributes))

    def close(self, number: int) -> None:
        """Close a pull request without merging it."""
        now = self.repository.now()
        closed = {"state": "closed", "closed_at": now, "updated_at": now}
        self._change_pull("close", number, closed)

    def reopen(self, number: int) -> None:
        """Open a closed pull request again.

        Raises `Refusal` 422 if it is merged, if its branch has been deleted or no longer contains
        the last commit of the pull request (pytorch/pytorch#114423, cilium/cilium#47088), or if its
        base has been deleted. The words for a deleted base are not confirmed.
        """
        it = self.repository
        with it.lock:
            pull_request = it.pull_request(number)
            branch, why = pull_request.head, ""
            head, then = it.find_head(branch), pull_request.head_sha
            if pull_request.merged:
                why = "The pull request has been merged."
            elif head is None:
                why = f"The {branch} branch has been deleted."
            elif it.find_head(pull_request.base) is None:
                why = f"The {pull_request.base} branch has been deleted."
            elif (base := it.merge_base(head, then)) is None or str(base.id) != then:
                why = f"The {branch} branch was force-pushed or recreated."
            if why or head is None:
                message = f"state cannot be changed. {why}"
                raise invalid("PullRequest", "state", "custom", message=message)
            again = {"state": "open", "closed_at": None, "head_sha": head}
            self._change_pull("reopen", number, again)

    def merge(self, number: int) -> str:
        """Merge a pull request with a merge commit, and return the id of the commit.

        Raises `Refusal` 405 if git finds a conflict
        (https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request).
        """
        it = self.repository
        with it.lock:
            pull_request = it.pull_request(number)
            if not it.is_mergeable(number):
                raise Refusal(405, "Pull Request is not mergeable")
            merged = it.test_merge(pull_request.base, pull_request.head_sha)
            self._point(f"refs/heads/{pull_request.base}", merged)
            now = it.now()
            done = {"state": "closed", "closed_at": now, "updated_at": now, "merged_at": now}
            self._change_pull("merge", number, {**done, "merge_commit_sha": merged})
            return merged

    def _change_pull(self, verb: str, number: int, after: Mapping[str, Any]) -> None:
        it = self.repository
        with it.lock:
            before = it.change_pull_request(number, after)
            it.journal.act(self.actor, it, verb, number, before=before, after=after)

    # The repository itself

    def change(self, **attributes: Unpack[Changes]) -> None:
        """Change attributes of the repository: ``person.change(private=True)``."""
        self._change("change", dict(attributes))

    def archive(self) -> None:
        """Archive the repository, which can only be read from then on."""
        self.change(archived=True)

    def protect(self, branch_pattern: str, kind: Protection = "classic") -> None:
        """Refuse direct writes to the branches of a pattern.

        A ruleset also refuses to create such branches.
        """
        self.change(protections=(*self.repository.protections, (branch_pattern, kind)))

    def unprotect(self) -> None:
        """Remove all rules of `protect`."""
        self.change(protections=())

    def rename(self, full_name: str) -> None:
        """Give the repository another name. Requests with the old name are redirected."""
        it = self.repository
        for each in it.pull_requests:
            after = {"html_url": f"{it.web}/{full_name}/pull/{each.number}"}
            if each.head_repository == it.full_name:
                after["head_repository"] = full_name
            it.change_pull_request(each.number, after)
        names = (*it.former_names, it.full_name)
        self._change("rename", {"full_name": full_name, "former_names": names})

    def swap_names(self, other: Repository) -> None:
        """Exchange the names of this repository and another one."""
        ours, theirs = self.repository.full_name, other.full_name
        other.by(self.actor).rename(f"{theirs}-in-between")
        self.rename(theirs)
        other.by(self.actor).rename(ours)

    def delete(self) -> None:
        """Delete the repository. Requests for it are answered 404 from now on."""
        self._change("delete", {"deleted": True})

    def _change(self, verb: str, after: Mapping[str, Any]) -> None:
        it = self.repository
        with it.lock:
            before = {name: getattr(it, name) for name in after}
            it.put(**after)
            it.journal.act(self.actor, it, verb, before=before, after=after)

    # What clients ask for

    def advance(self, branch: str, expected: str | None, new: str) -> None:
        """Move a branch from the commit `expected` (None: no such branch) to the commit `new`.

        Raises `Refusal` 409 if the branch is no longer at `expected` (PyGithub/PyGithub#1787).
        """
        it = self.repository
        with it.lock:
            current = it.find_head(branch)
            if current != expected:
                raise Refusal(409, f"is at {current} but expected {expected}")
            self._point(f"refs/heads/{branch}", new)
            it.written.note(f"head {branch}")

    def create_reference(self, name: str, sha: str) -> None:
        """Create a reference for a client, with all checks.

        Raises `Refusal` 422: `Reference already exists` (renovatebot/renovate#20281); `Reference
        update failed` if the name is below or above another reference, or if a ruleset forbids it
        (actions/github-script#455); other words for a name or a commit that is not valid.
        """
        it = self.repository
        with it.lock:
            if not name.startswith("refs/") or name.count("/") < 2:
                raise Refusal(
                    422, "Reference name must start with 'refs/' and have at least two slashes."
                )
            if not pygit2.reference_is_valid_name(name):
                raise Refusal(422, f"{name} is not a valid ref name.")
            if len(sha) != 40 or sha not in it.git:
                raise Refusal(422, "Object does not exist")
            if name in it.git.references:
                raise Refusal(422, "Reference already exists")
            if any(
                other.startswith(f"{name}/") or name.startswith(f"{other}/")
                for other in it.git.references
            ) or "ruleset" in it.protections_of(name.removeprefix("refs/heads/")):
                raise Refusal(422, "Reference update failed")
            self._point(name, sha)
            branch = name.removeprefix("refs/heads/")
            it.written.note(f"branch {branch}", f"head {branch}")

    def request_pull(
        self,
        *,
        head: str,
        base: str,
        title: str,
        body: str | None,
        draft: bool,
        author: str,
        maintainer_can_modify: bool,
    ) -> PullRequest:
        """Open a pull request for a client, with all checks.

        Raises `Refusal` 422, in most cases with the reason in `errors[].message`, as recorded by
        hub4j/github-api and others.
        """
        it = self.repository
        with it.lock:
            owner, separator, branch = head.rpartition(":")
            base_sha, head_sha = it.find_head(base), it.find_head(branch)
            if base_sha is None:
                raise invalid("PullRequest", "base")
            if head_sha is None or (separator and owner.lower() != it.owner.lower()):
                raise invalid("PullRequest", "head")
            check_body(body)
            if draft and not it.has_drafts:
                # SWE-agent/SWE-agent#179
                raise Refusal(422, "Draft pull requests are not supported in this repository.")
            if any(
                each.state == "open" and it.is_head(each, branch) and each.base == base
                for each in it.pull_requests
            ):
                raise custom(f"A pull request already exists for {it.owner}:{branch}.")
            if it.merge_base(base_sha, head_sha) is None:
                raise custom(f"The {branch} branch has no history in common with {base}")
            if not it.ahead_behind(head_sha, base_sha)[0]:
                raise custom(f"No commits between {base} and {branch}")
            opened = self.open_pull_request(
                head=branch,
                base=base,
                title=title,
                body=body,
                draft=draft,
                author=author,
                maintainer_can_modify=maintainer_can_modify,
            )
            it.written.note(f"pull request {opened.number}")
            return opened


def custom(message: str) -> Refusal:
    error = {"resource": "PullRequest", "code": "custom", "message": message}
    return Refusal(422, "Validation Failed", errors=[error])


def check_body(body: str | None) -> None:
    """Raise `Refusal` 422 if the body of a pull request is too long (github/issue-metrics#258)."""
    if body is not None and len(body) > MAX_BODY:
        message = f"body is too long (maximum is {MAX_BODY} characters)"
        raise invalid("PullRequest", "body", "custom", message=message)
