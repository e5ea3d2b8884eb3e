"""One open pull request for what the working branch brings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from registrar.errors import Failure, GitHubError, Kind, OutOfTime, RegistrarError
from registrar.models.files import FileDefinition
from registrar.models.plan import NewPullRequest, Plan
from registrar.models.repository import PullRequest, Values
from registrar.models.result import Done, PullRequestOperation, RegistrationResult
from registrar.models.settings import PullRequestOptions
from registrar.models.spec import RegistrationSpec
from registrar.registration.decide import Write
from registrar.registration.mark import BEGIN, END, NO_MARK, Mark
from registrar.registration.progress import Progress
from registrar.reporting import pull_request_body
from registrar.texts import escaping, templates
from registrar.texts.messages import Catalogue, Message, msg

if TYPE_CHECKING:
    from registrar.github.client import Client


BODY_CHARACTERS = 65_536
"""Longest description that GitHub accepts (github/issue-metrics#258)."""
TITLE_CHARACTERS = 256
"""Longest title that GitHub accepts."""
TEXT_CHARACTERS = 30_000
"""Longest text of the caller in a description, with the values of properties."""
# Both markers on lines of their own, as we write them, with no other marker in between
_OURS = re.compile(rf"(?m)^{BEGIN}\r?\n(?P<ours>(?:(?!{BEGIN}|{END})[\s\S])*?)\r?\n{END}(?=\r?$)")


class Proposal(NamedTuple):
    """The texts of one registration, and what else the caller wants of its pull request."""

    spec: RegistrationSpec
    catalogue: Catalogue
    properties: Values = MappingProxyType({})
    """Custom properties of the repository, once it was read."""

    @property
    def options(self) -> PullRequestOptions:
        """What the caller wants of the pull request."""
        return self.spec.settings.pull_request

    def filled_in(self, properties: Values, progress: Progress) -> Proposal:
        """Give the texts for a repository with these custom properties.

        What it lacks is a warning: a name is left out, a text stays without the value.
        """
        for field, text in self.spec.settings.texts.items():
            for name in templates.properties(text):
                if why := _unusable(properties, name, lines=field == "body"):
                    about = f"{field} {name}"
                    progress.warn("pull_request.empty_value", about=about, input=field, reason=why)

        def names(field: str, listed: Sequence[str]) -> tuple[str, ...]:
            names_of = (self._filled_names(field, each, properties, progress) for each in listed)
            return tuple(dict.fromkeys(itertools.chain.from_iterable(names_of)))

        given = self.options
        options = given._replace(
            labels=names("labels", given.labels),
            assignees=names("assignees", given.assignees),
            reviewers=names("reviewers", given.reviewers),
            team_reviewers=names("team_reviewers", given.team_reviewers),
        )
        settings = self.spec.settings._replace(pull_request=options)
        return self._replace(properties=properties, spec=self.spec._replace(settings=settings))

    def _filled_names(
        self, field: str, template: str, properties: Values, progress: Progress
    ) -> Iterator[str]:
        """The names that one entry of a list stands for: a property may have several values."""
        if not templates.names_property(template):
            yield template
            return
        keys = templates.properties(template)
        for key in keys:
            if why := _unusable(properties, key):
                values = {"name": template, "input": field, "reason": why}
                progress.warn("pull_request.no_value", about=f"{field} {template}", **values)
                return
        for values_of_keys in itertools.product(*(properties[key] for key in keys)):
            name = templates.fill(template, {}, dict(zip(keys, values_of_keys, strict=True)))
            name = self.catalogue.shown(name, str).strip()
            if field != "labels":
                name = name.removeprefix("@")
            if name:
                yield escaping.FromProperty(name, template)

    def title(self, result: RegistrationResult) -> str:
        profile = self.spec.files.profile
        template = self.spec.settings.title or profile.title
        title = self._fill(template, result) or profile.title
        if not templates.properties(template):
            return title
        return escaping.FromProperty(_cut(title, TITLE_CHARACTERS), template)

    def commit_message(self, result: RegistrationResult, file: FileDefinition) -> str:
        path = escaping.for_commit(file.path)
        text = self._fill(self.spec.settings.commit_message, result, path=path)
        return text or self._fill(self.spec.files.profile.commit_message, result, path=path)

    def headline(self, result: RegistrationResult, files: Sequence[FileDefinition]) -> str:
        """First line of the commit that creates several files."""
        paths = self.catalogue.text(msg("commit.files", count=len(files)))
        if len(files) == 1:
            paths = escaping.for_commit(files[0].path)
        return self._fill(self.spec.settings.commit_message, result, path=paths) or self.title(
            result
        )

    def body(
        self, result: RegistrationResult, current: str | None = None, *, mark: Mark = NO_MARK
    ) -> str:
        """Put our part between its markers; nothing outside changes.

        ``mark`` is the one for the branch before this run wrote to it. ``current`` is the body as
        it stands; ``None``: a new one, which begins with the caller's own text. One that has no
        room left for our part stays as it is.
        """
        if current is None:
            text = self._fill(self.options.body, result, escape=escaping.for_markdown)
            current = _cut(text, TEXT_CHARACTERS) if self.properties else text
        if part := _OURS.search(current):
            before, ours, after = current[: part.start()], part["ours"], current[part.end() :]
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
        url, files = self.spec.settings.action_url, self.spec.files
        action = escaping.Link("registrar", url) if url else "registrar"
        # In another repository the path would say nothing to a reader
        path = files.path if self._is_own(result) else ""
        if files.name and path:
            listed = msg("body.list_name_path", name=files.name, path=path)
        elif files.name:
            listed = msg("body.list_name", name=files.name)
        else:
            listed = msg("body.list_path", path=path) if path else msg("body.list_elsewhere")
        change = "body.change_the_file" if files.path else "body.change_the_set"
        return pull_request_body.Frame(
            msg("body.introduction", action=action, list=listed), msg(change)
        )

    def _is_own(self, result: RegistrationResult) -> bool:
        """Whether the workflow that runs us is in the very repository."""
        own = self.spec.settings.workflow_repository
        return own.lower() == result.repository.full_name.lower()

    def _fill(
        self,
        template: str,
        result: RegistrationResult,
        *,
        escape: Callable[[str], str] = escaping.for_commit,
        **more: str,
    ) -> str:
        owner, _, repo = result.repository.full_name.partition("/")
        # A link to a run of another, perhaps private, repository would name that repository
        own = self._is_own(result)
        values = {
            "profile": self.spec.files.profile.name,
            "count": str(sum(f.on_branch or f.done is not Done.SKIPPED for f in result.files)),
            "owner": self.catalogue.shown(owner, str),
            "repo": self.catalogue.shown(repo, str),
            "run_url": self.spec.settings.run_url if own else "",
        }
        lines = escape is escaping.for_markdown
        properties = {
            name: ""
            if _unusable(self.properties, name, lines=lines)
            else self.catalogue.shown(", ".join(self.properties[name]), escape)
            for name in templates.properties(template)
        }
        text = templates.fill(template, values | more, properties)
        if not (lines or all(properties.values())):
            text = " ".join(text.split())
        # The value `skip ci` in the brackets of a template would be an instruction
        breaks = bool(properties) and not escaping.skips_checks(template)
        return escaping.no_skip(text) if breaks else text


def _unusable(properties: Values, name: str, *, lines: bool = False) -> Message | None:
    """Say why a property is not filled in; ``lines``: where several lines may stand."""
    values = properties.get(name)
    if not values:
        return msg("reason.no_property", name=name)
    if not lines and any(value.splitlines() != [value] for value in values):
        return msg("reason.property_lines", name=name)
    return None


def _cut(text: str, most: int) -> str:
    """Shorten a text to ``most`` characters, as GitHub counts."""
    while (over := escaping.characters(text) - most) > 0:
        text = f"{text[: -over - 1]}…"
    return text


_ABOUT_ONE_NAME = frozenset({Kind.VALIDATION, Kind.LAG})
"""What may be wrong with one of several names only; lag that lasts is about a name, too."""


class NotOpened(RegistrarError):
    """The files are on the branch, but the pull request could not be opened."""

    nothing_done = False


def publish(
    client: Client, plan: Plan, write: Write, proposal: Proposal, progress: Progress
) -> None:
    """Open the pull request of a branch, or bring the one that is open up to date.

    It gets its labels, assignees and reviewers. There is none for a branch that brings no file.
    """
    if not any(file.on_branch for file in progress.result().files):
        return
    pull, operation = write.pull_request, PullRequestOperation.CREATED
    if pull is None or not write.is_done:
        pull, operation = _open_or_update(client, plan, write, proposal, progress)
    progress.pull_request(pull, operation)
    if operation is PullRequestOperation.NONE and plan.spec.is_one_of_many:
        return
    options = proposal.options
    if operation is not PullRequestOperation.CREATED:
        # Asked once only: GitHub forgets whom it asked as soon as they have answered
        options = options._replace(reviewers=(), team_reviewers=())
        if options.labels or options.assignees:
            pull = client.rest.pull_request(plan.repository, pull.number)
    _set_options(client, plan, pull, options, progress)


def _open_or_update(
    client: Client, plan: Plan, write: Write, proposal: Proposal, progress: Progress
) -> tuple[PullRequest, PullRequestOperation]:
    result = progress.result()
    result = result._replace(unlisted=_unlisted(plan, write))
    mark = Mark.begin(plan.spec.files.id, write.before, write.mark)
    if pull := write.pull_request:
        if plan.spec.is_one_of_many and _proposes_all(write.mark, result):
            return pull, PullRequestOperation.NONE
        operation = _update(
            client, plan, pull, proposal.body(result, pull.body, mark=mark), progress
        )
        return pull, PullRequestOperation.CREATED if write.opened_by_claim else operation
    body = proposal.body(result, mark=mark)
    new = NewPullRequest(write.branch.name, proposal.title(result), body, proposal.options.draft)
    try:
        pull, is_new = _open_or_find(client, plan, new, progress)
    except OutOfTime as ended:
        raise OutOfTime(_by_hand(plan, new, ended.failure), ended.waits_for) from ended
    if is_new:
        return pull, PullRequestOperation.CREATED
    body = proposal.body(result, pull.body, mark=mark)
    return pull, _update(client, plan, pull, body, progress)


def _open_or_find(
    client: Client, plan: Plan, new: NewPullRequest, progress: Progress
) -> tuple[PullRequest, bool]:
    """Open a pull request, or find the one that is open, and say whether it is a new one."""
    try:
        return _open(client, plan, new, progress), True
    except GitHubError as error:
        pull = None
        if error.already_exists or error.may_have_been_applied:
            try:
                pull = _find_open(client, plan, new.branch)
            except GitHubError as unread:
                raise NotOpened(_by_hand(plan, new, unread.failure)) from unread
        if pull is None:
            raise NotOpened(_why_not_opened(client, plan, new, error.failure)) from error
        return pull, error.may_have_been_applied and pull.has_body(new.body)


def _proposes_all(mark: Mark | None, result: RegistrationResult) -> bool:
    """Whether a pull request with this mark proposed all that its branch brings before the run."""
    paths = [file.definition.path for file in result.files if file.on_branch]
    return mark is not None and not result.created and all(map(mark.holds, paths))


def _unlisted(plan: Plan, write: Write) -> tuple[str, ...]:
    """Find the paths of a continued branch that its mark names, and the list does not."""
    mark = write.mark
    if mark is None or mark.paths is None:
        return ()
    listed = {definition.path for definition in plan.definitions}
    return tuple(
        path for path in write.branch.tree or () if path not in listed and mark.holds(path)
    )


def _set_options(
    client: Client,
    plan: Plan,
    pull: PullRequest,
    options: PullRequestOptions,
    progress: Progress,
) -> None:
    """Label the pull request, assign people, ask for reviews; who is not taken is named.

    What it has already stays, and is not asked for again.
    """
    repository, number = plan.repository, pull.number

    def label(names: Sequence[str]) -> None:
        client.rest.add_labels(repository, number, names)

    def assign(names: Sequence[str]) -> None:
        taken = client.rest.add_assignees(repository, number, names)
        for name in names:
            if name.lower() not in taken:
                progress.warn("pull_request.assignee_not_taken", about=name, name=name)

    def ask(names: Sequence[str]) -> None:
        client.rest.request_reviewers(repository, number, names, [])

    def ask_teams(names: Sequence[str]) -> None:
        client.rest.request_reviewers(repository, number, [], names)

    _one_by_one([n for n in options.labels if n.lower() not in pull.labels], label, progress)
    _one_by_one([n for n in options.assignees if n.lower() not in pull.assignees], assign, progress)
    _one_by_one(options.reviewers, ask, progress)
    _one_by_one(options.team_reviewers, ask_teams, progress)


def _one_by_one(
    names: Sequence[str], give: Callable[[Sequence[str]], None], progress: Progress
) -> None:
    """Give all names in one request; when GitHub refuses a name, one after the other."""
    if not names:
        return
    try:
        give(names)
    except GitHubError as error:
        if len(names) == 1 or error.kind not in _ABOUT_ONE_NAME:
            # Whatever else is wrong, a missing permission for example, is wrong for all names
            about = f"{names} {error.failure.cause.identity}"
            progress.warn(
                "pull_request.option_refused",
                about=about,
                name=tuple(names),
                reason=error.message,
            )
            return
        for name in names:
            _one_by_one([name], give, progress)


def _open(client: Client, plan: Plan, new: NewPullRequest, progress: Progress) -> PullRequest:
    try:
        return client.rest.create_pull_request(plan.repository, new)
    except GitHubError as error:
        if error.kind is not Kind.NO_DRAFTS:
            raise
        # Plans of GitHub without drafts refuse them
        progress.warn("pull_request.no_drafts")
        return client.rest.create_pull_request(plan.repository, new._replace(draft=False))


def _why_not_opened(client: Client, plan: Plan, new: NewPullRequest, why: Failure) -> Failure:
    """Explain a refusal: GraphQL does not tell before whether pull requests are switched off."""
    target = plan.repository.full_name
    with suppress(RegistrarError):
        if not client.rest.again(plan.repository).takes_pull_requests:
            message = msg("pull_request.switched_off", target=target, branch=new.branch)
            return Failure.of(message, Kind.REFUSED)
    return _by_hand(plan, new, why)


def _by_hand(plan: Plan, new: NewPullRequest, why: Failure) -> Failure:
    """Add where the files are, and how to open the pull request."""
    link = compare_link(plan, new)
    message = msg("pull_request.not_opened", reason=why.message, branch=new.branch, link=link)
    return why._replace(message=message)


def compare_link(plan: Plan, new: NewPullRequest) -> escaping.Link:
    """Address of GitHub's own form, filled in, to open the pull request by hand."""
    base, head = quote(plan.repository.default_branch), quote(new.branch)
    query = "quick_pull=1"
    if not isinstance(new.title, escaping.FromProperty):
        query += f"&title={quote(new.title)}"
    return escaping.Link(f"{plan.repository.html_url}/compare/{base}...{head}?{query}")


def _find_open(client: Client, plan: Plan, branch: str) -> PullRequest | None:
    """Find the open pull request of this list, where GitHub says that there is one."""
    for find in (client.rest.pull_requests, client.rest.open_pull_requests):
        for pull in find(plan.repository, branch):
            mark = Mark.of(pull.body)
            is_ours = mark is None or mark.is_of(plan.spec.files.id)
            if pull.is_open and is_ours and pull.base_branch == plan.repository.default_branch:
                return pull
    return None


def _update(
    client: Client, plan: Plan, pull: PullRequest, body: str, progress: Progress
) -> PullRequestOperation:
    """Bring the body of an open pull request up to date, and say what that amounts to."""
    outdated = not pull.has_body(body)
    if outdated:
        client.rest.update_pull_request(plan.repository, pull, body=body)
    updated = outdated or progress.result().created > 0
    return PullRequestOperation.UPDATED if updated else PullRequestOperation.NONE
