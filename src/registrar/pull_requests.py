"""One open pull request for what the working branch brings."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from registrar import escaping, report
from registrar.branches import Branch, Declined
from registrar.errors import RegistrarError
from registrar.host import Host, HostError
from registrar.messages import Catalogue, say
from registrar.models import Operation, Plan, PullRequest, Registration
from registrar.progress import Progress

BODY_CHARACTERS = 65_536
"""The host takes no longer body (github/issue-metrics#258)."""
_BEGIN = "<!-- registrar:begin -->"
_END = "<!-- registrar:end -->"


class NotOpened(RegistrarError):
    """The files are on the branch, but the pull request could not be opened."""


@dataclass(frozen=True, slots=True)
class Text:
    """What a pull request says."""

    title: str
    catalogue: Catalogue

    def body(self, account: Registration, current: str = "") -> str:
        """Put our part between its marks; what a reviewer wrote outside of them stays."""
        before, _, rest = current.partition(_BEGIN)
        _, ended, after = rest.partition(_END)
        if not ended:
            before, after = (f"{current}\n\n" if current.strip() else ""), ""
        frame = f"{before}{_BEGIN}\n\n{_END}{after}"
        room = BODY_CHARACTERS - escaping.characters(frame)
        ours = report.pull_request_body(account, self.catalogue, room)
        return f"{before}{_BEGIN}\n{ours}\n{_END}{after}"


def publish(
    host: Host, plan: Plan, branch: Branch | Declined, text: Text, progress: Progress
) -> None:
    """Open the pull request of ``branch``, or bring the one that is open up to date.

    There is none for a branch that brings no file (contract, "What the service does", rule 3),
    nor after a "no".

    Raises:
        NotOpened: with a link to open it by hand.
        HostError: the open one could not be updated.
    """
    account = progress.registration()
    if isinstance(branch, Declined) or not any(file.on_branch for file in account.files):
        return
    if branch.pull_request:
        _update(host, plan, branch.pull_request, text, progress)
        return
    body = text.body(account)
    try:
        pull = host.create_pull_request(
            plan.repository, branch=branch.name, title=text.title, body=body
        )
        progress.pull_request(pull, Operation.CREATED)
    except HostError as error:
        found = None
        if error.already_there or error.uncertain:
            found = _open_one(host, plan, branch)
        if found is None:
            link = compare_link(plan, branch, text.title)
            raise NotOpened(
                say("pull_request.not_opened", reason=error.message, branch=branch.name, link=link)
            ) from error
        if error.uncertain and _is_same(found.body, body):
            progress.pull_request(found, Operation.CREATED)
        else:
            _update(host, plan, found, text, progress)


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


def _update(host: Host, plan: Plan, pull: PullRequest, text: Text, progress: Progress) -> None:
    account = progress.registration()
    body = text.body(account, pull.body)
    outdated = not _is_same(pull.body, body)
    if outdated:
        host.update_pull_request(plan.repository, pull, body=body)
    updated = outdated or account.created > 0
    progress.pull_request(pull, Operation.UPDATED if updated else Operation.NONE)


def _is_same(one: str, other: str) -> bool:
    # The host's own editor ends lines with CRLF
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
