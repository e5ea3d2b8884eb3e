"""What a registration proposes: its commits and its pull request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from registrar.models.files import FileDefinition
from registrar.models.result import RegistrationResult, State
from registrar.models.spec import PullRequestOptions
from registrar.profiles import Profile
from registrar.registration.mark import BEGIN, END, NO_MARK, Mark
from registrar.reporting import pull_request_body
from registrar.texts import escaping, templates
from registrar.texts.messages import Catalogue, msg

BODY_CHARACTERS = 65_536
"""Longest description that GitHub accepts (github/issue-metrics#258)."""
# Both markers on lines of their own, as we write them, with no other marker in between
_OURS = re.compile(rf"(?m)^{BEGIN}\r?\n(?P<ours>(?:(?!{BEGIN}|{END})[\s\S])*?)\r?\n{END}(?=\r?$)")


class Proposal(NamedTuple):
    """The texts of one registration, and what else the caller wants of its pull request."""

    profile: Profile
    list_name: str
    """Empty where the caller's own list gives none."""
    list_path: str
    """Path of the caller's own list in the workspace; empty for a built-in one."""
    title_template: str
    """Empty: the profile's own."""
    commit_template: str
    """Empty: the profile's own."""
    options: PullRequestOptions
    run_url: str
    action_url: str
    """Address of the action's repository; empty where it is not known."""
    workflow_repository: str
    catalogue: Catalogue

    def title(self, result: RegistrationResult) -> str:
        """Title of the pull request."""
        return self._fill(self.title_template or self.profile.title, result)

    def commit_message(self, result: RegistrationResult, file: FileDefinition) -> str:
        """Message of the commit that creates one file."""
        template = self.commit_template or self.profile.commit_message
        return self._fill(template, result, path=escaping.for_commit(file.path))

    def headline(self, result: RegistrationResult, files: Sequence[FileDefinition]) -> str:
        """First line of the commit that creates several files."""
        if not self.commit_template:
            return self.title(result)
        paths = self.catalogue.text(msg("commit.files", count=len(files)))
        if len(files) == 1:
            paths = escaping.for_commit(files[0].path)
        return self._fill(self.commit_template, result, path=paths)

    def body(
        self, result: RegistrationResult, current: str | None = None, *, mark: Mark = NO_MARK
    ) -> str:
        """Put our part between its markers; nothing outside of them changes.

        ``mark`` is the one for the branch before this run wrote to it. ``current`` is the body as
        it stands; ``None``: a new one, which begins with the caller's own text. One that has no
        room left for our part stays as it is.
        """
        if current is None:
            current = self._fill(self.options.body, result)
        if found := _OURS.search(current):
            before, ours, after = current[: found.start()], found["ours"], current[found.end() :]
        else:
            before, ours, after = (f"{current}\n\n" if current else ""), "", ""
        room = BODY_CHARACTERS - escaping.characters(f"{before}{BEGIN}\n\n{END}{after}")
        hidden = mark.proposing(f.definition.path for f in result.files if f.on_branch).text
        room -= escaping.characters(hidden) + 1
        ours = pull_request_body.render(result, self._frame(result), self.catalogue, room, ours)
        body = f"{before}{BEGIN}\n{ours}\n{hidden}\n{END}{after}"
        return body if escaping.characters(body) <= BODY_CHARACTERS else current

    def _frame(self, result: RegistrationResult) -> pull_request_body.Frame:
        """Say who opened the pull request, for which list, and how to say no to it."""
        action = escaping.Link("registrar", self.action_url) if self.action_url else "registrar"
        # In another repository the path would say nothing to a reader
        path = self.list_path if self._is_own(result) else ""
        values = {n: v for n, v in (("name", self.list_name), ("path", path)) if v}
        listed = msg(f"body.list_{'_'.join(values) or 'elsewhere'}", **values)
        change = "body.change_the_file" if self.list_path else "body.change_the_set"
        return pull_request_body.Frame(
            msg("body.introduction", action=action, list=listed), msg(change)
        )

    def _is_own(self, result: RegistrationResult) -> bool:
        """Whether the workflow that runs us is in the very repository."""
        return self.workflow_repository.lower() == result.repository.lower()

    def _fill(self, template: str, result: RegistrationResult, **more: str) -> str:
        owner, _, repo = result.repository.partition("/")
        # A link to a run of another, perhaps private, repository would name that repository
        own = self._is_own(result)
        values = {
            "profile": self.profile.name,
            "count": str(sum(f.on_branch or f.state is not State.SKIPPED for f in result.files)),
            "owner": self.catalogue.shown(owner, str),
            "repo": self.catalogue.shown(repo, str),
            "run_url": self.run_url if own else "",
        }
        return templates.fill(template, values | more)
