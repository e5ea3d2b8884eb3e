"""One open pull request for what the working branch brings."""

from __future__ import annotations

from urllib.parse import quote

from registrar import escaping
from registrar.branches import Branch
from registrar.connection import HostError
from registrar.errors import RegistrarError
from registrar.host import Host
from registrar.messages import say
from registrar.models import Operation, Plan, PullRequest
from registrar.progress import Progress
from registrar.wording import Wording


class NotOpened(RegistrarError):
    """The files are on the branch, but the pull request could not be opened."""


def publish(host: Host, plan: Plan, branch: Branch, wording: Wording, progress: Progress) -> None:
    """Open the pull request of ``branch``, or bring the one that is open up to date.

    There is none for a branch that brings no file (contract, "What the service does", rule 3).

    Raises:
        NotOpened: with a link to open it by hand.
        HostError: the open one could not be updated.
    """
    account = progress.registration()
    if not any(file.on_branch for file in account.files):
        return
    if branch.pull_request:
        _update(host, plan, branch.pull_request, wording, progress)
        return
    body = wording.body(account)
    try:
        pull = host.create_pull_request(
            plan.repository, branch=branch.name, title=wording.title, body=body
        )
        progress.pull_request(pull, Operation.CREATED)
    except HostError as error:
        found = None
        if error.already_there or error.uncertain:
            found = _open_one(host, plan, branch)
        if found is None:
            link = compare_link(plan, branch, wording.title)
            raise NotOpened(
                say("pull_request.not_opened", reason=error.message, branch=branch.name, link=link)
            ) from error
        if error.uncertain and _is_same(found.body, body):
            progress.pull_request(found, Operation.CREATED)
        else:
            _update(host, plan, found, wording, progress)


def compare_link(plan: Plan, branch: Branch, title: str) -> escaping.Url:
    """Address of the host's own form, filled in, to open the pull request by hand."""
    base, head = quote(plan.repository.default_branch), quote(branch.name)
    return escaping.Url(
        f"{plan.repository.html_url}/compare/{base}...{head}?quick_pull=1&title={quote(title)}"
    )


def _open_one(host: Host, plan: Plan, branch: Branch) -> PullRequest | None:
    for pull in host.pull_requests(plan.repository, branch.name):
        if pull.is_open and pull.base_branch == plan.repository.default_branch:
            return pull
    return None


def _update(
    host: Host, plan: Plan, pull: PullRequest, wording: Wording, progress: Progress
) -> None:
    account = progress.registration()
    body = wording.body(account, pull.body)
    outdated = not _is_same(pull.body, body)
    if outdated:
        host.update_pull_request(plan.repository, pull, body=body)
    updated = outdated or account.created > 0
    progress.pull_request(pull, Operation.UPDATED if updated else Operation.NONE)


def _is_same(one: str, other: str) -> bool:
    # The host's own editor ends lines with CRLF
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
