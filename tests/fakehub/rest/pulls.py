"""The operations on pull requests, their labels, assignees and reviewers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fakehub.acts import Edit, check_body, custom
from tests.fakehub.answer import Response
from tests.fakehub.quirks import Symptom
from tests.fakehub.refusals import Refusal, invalid, not_found
from tests.fakehub.repository import PullRequest
from tests.fakehub.representations import node_id
from tests.fakehub.tokens import BOT, Token

from .call import RepositoryCall, operation

if TYPE_CHECKING:
    from tests.fakehub.host import StandInHost


@operation("GET /repos/{owner}/{repo}/pulls", "pull_requests=read")
def list_pulls(call: RepositoryCall) -> Response:
    state, head, base = (call.query.get(name) for name in ("state", "head", "base"))
    owner, separator, branch = (head or "").partition(":")
    found = [
        each
        for each in call.repository.pull_requests
        if (state or "open") in {each.state, "all"}
        and each.number not in call.host.quirks.unlisted_pull_requests
        and (base is None or each.base == base)
        # GitHub ignores a head without an owner (docs of "List pull requests")
        and (not separator or has_head(call, each, owner, branch))
    ]
    newest = call.query.get("sort", "created") == "created"
    found.sort(key=lambda each: each.number if newest else each.updated_at)
    default = "desc" if newest and "sort" not in call.query else "asc"
    if call.query.get("direction", default) == "desc":
        found.reverse()
    shown = call.page(found)
    headers = call.links(f"{call.show.root(call.repository)}/pulls", len(found))
    body = [call.show.pull_request_simple(call.repository, each, call.token) for each in shown]
    return Response(200, body, headers)


def has_head(call: RepositoryCall, pull_request: PullRequest, owner: str, branch: str) -> bool:
    """Return whether `head=owner:branch` finds a pull request.

    A fork whose parent has the same owner never finds one (peter-evans/create-pull-request#4064).
    """
    repository = call.repository
    if repository.parent and repository.parent.partition("/")[0] == repository.owner:
        return False
    same_branch = pull_request.head == branch or (
        call.host.quirks.heads_by_commit and pull_request.head_sha == repository.find_head(branch)
    )
    return same_branch and pull_request.head_repository.partition("/")[0].lower() == owner.lower()


@operation("POST /repos/{owner}/{repo}/pulls", "pull_requests=write")
def create_pull(call: RepositoryCall) -> Response:
    body = call.body
    refuse_actions(call.host, call.token)
    if call.host.quirks.vague_pulls:
        call.host.quirks.vague_pulls -= 1
        raise Refusal(422, "Validation Failed")
    for name in ("title", "head", "base"):
        if not body.get(name):
            raise invalid("PullRequest", name, "missing_field")
    check_seen(call, body["head"], body["base"])
    pull_request = call.acts.request_pull(
        head=body["head"],
        base=body["base"],
        title=body["title"],
        body=body.get("body"),
        draft=body.get("draft", False),
        author=call.token.login,
        maintainer_can_modify=body.get("maintainer_can_modify", False),
    )
    shown = call.show.pull_request(call.repository, pull_request, call.token)
    return Response(201, shown, {"Location": shown["url"]})


def check_seen(call: RepositoryCall, head: str, base: str) -> None:
    """Raise a `Refusal` if GitHub does not know the last commit of the head yet."""
    branch = head.rpartition(":")[2]
    blank = [
        {"resource": "PullRequest", "code": "missing_field", "field": "head_sha"},
        {"resource": "PullRequest", "code": "missing_field", "field": "base_sha"},
    ]
    none_between = custom(f"No commits between {base} and {branch}")
    match call.symptom(
        f"head {branch}",
        Symptom.PULL_NO_COMMITS,
        Symptom.PULL_BLANK_SHA,
        Symptom.PULL_BAD_HEAD,
        Symptom.PULL_NOT_FOUND,
    ):
        case Symptom.PULL_NO_COMMITS:
            raise none_between
        case Symptom.PULL_BLANK_SHA:
            raise Refusal(422, none_between.message, errors=[*blank, *none_between.errors])
        case Symptom.PULL_BAD_HEAD:
            raise invalid("PullRequest", "head")
        case Symptom.PULL_NOT_FOUND:
            raise not_found()


def refuse_actions(host: StandInHost, token: Token) -> None:
    if token.login == BOT and not host.actions_may_create_pull_requests:
        raise Refusal(403, "GitHub Actions is not permitted to create or approve pull requests.")


@operation("GET /repos/{owner}/{repo}/pulls/{pull_number}", "pull_requests=read")
def get_pull(call: RepositoryCall) -> Response:
    shown = call.show.pull_request(call.repository, call.number(), call.token)
    return Response(200, shown)


@operation("PATCH /repos/{owner}/{repo}/pulls/{pull_number}", "pull_requests=write")
def update_pull(call: RepositoryCall) -> Response:
    pull_request = call.number()
    check_body(call.body.get("body"))
    state = call.body.get("state", pull_request.state)
    if state != pull_request.state:
        change = call.acts.reopen if state == "open" else call.acts.close
        change(pull_request.number)
    given: Edit = {"updated_at": call.host.now()}
    for name in ("title", "body", "base", "maintainer_can_modify"):
        if name in call.body:
            given[name] = call.body[name]
    call.acts.edit(pull_request.number, **given)
    return Response(200, call.show.pull_request(call.repository, pull_request, call.token))


@operation(
    "POST /repos/{owner}/{repo}/issues/{issue_number}/labels",
    "issues=write",
    "pull_requests=write",
)
def add_labels(call: RepositoryCall) -> Response:
    """Add labels, and create the ones that do not exist (fotingo#5).

    Since April 2025 a token needs `issues=write` to create labels (actions/labeler#870).
    """
    repository, pull_request = call.repository, call.number()
    match call.symptom(
        f"pull request {pull_request.number}", Symptom.LABELS, Symptom.LABELS_NO_ISSUE
    ):
        case Symptom.LABELS:
            node = node_id("PR", repository.id, pull_request.number)
            message = f"Could not resolve to a node with the global id of '{node}'."
            raise invalid("Label", "data", "unprocessable", message=message)
        case Symptom.LABELS_NO_ISSUE:
            raise invalid("Label", "data", "unprocessable", message="Issue not found")
    given = call.body.get("labels", []) if isinstance(call.body, dict) else call.body
    names = [item if isinstance(item, str) else item["name"] for item in given]
    existing = {name.lower() for name in repository.labels}
    if not {name.lower() for name in names} <= existing:
        if not call.token.may_create_labels:
            error = {"resource": "Repository", "field": "label", "code": "unauthorized"}
            message = "You do not have permission to create labels on this repository."
            raise Refusal(403, message, errors=[error])
        if call.host.quirks.label_races:
            call.host.quirks.label_races -= 1
            raise invalid("Label", "name", "already_exists")
    new = {name for name in names if name.lower() not in existing}
    call.acts.change(labels=repository.labels | new)
    more = [name for name in names if name not in pull_request.labels]
    call.acts.edit(pull_request.number, labels=[*pull_request.labels, *more])
    shown = [call.show.label(repository, name) for name in pull_request.labels]
    return Response(200, shown)


@operation(
    "POST /repos/{owner}/{repo}/issues/{issue_number}/assignees",
    "issues=write",
    "pull_requests=write",
)
def add_assignees(call: RepositoryCall) -> Response:
    """Assign people, without the ones who cannot be assigned (auto-assign-issue#148).

    The login of a bot gets a 404 (wow-actions/auto-assign#8).
    """
    pull_request = call.number()
    items = call.body.get("assignees", [])
    logins = [item if isinstance(item, str) else item["login"] for item in items]
    if any(login.endswith("[bot]") for login in logins) or call.symptom(
        f"pull request {pull_request.number}", Symptom.ASSIGNEES
    ):
        raise not_found()
    now = list(pull_request.assignees)
    now += [each for each in logins if each in call.repository.collaborators and each not in now]
    call.acts.edit(pull_request.number, assignees=now)
    return Response(201, call.show.issue(call.repository, pull_request))


@operation(
    "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers", "pull_requests=write"
)
def request_reviewers(call: RepositoryCall) -> Response:
    """Request reviews. If one reviewer is not possible, all are refused (pr-helper#55).

    The refusal shows the id of a team that the token may not see (PyGithub/PyGithub#1499).
    """
    repository, pull_request = call.repository, call.number()
    people, teams = call.body.get("reviewers", []), call.body.get("team_reviewers", [])
    if unseen := set(teams) & (repository.hidden_teams if call.token.sees_teams() else set(teams)):
        node = node_id("T", repository.id, len(min(unseen)))
        message = f"Could not resolve to a node with the global id of '{node}'."
        raise Refusal(422, "Validation Failed", errors=[message])
    if pull_request.author in people:
        raise Refusal(422, "Review cannot be requested from pull request author.")
    if set(people) - repository.collaborators or set(teams) - repository.teams:
        raise Refusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams "
            f"you specified is not a collaborator of the {repository.full_name} repository.",
        )
    asked, of_teams = pull_request.reviewers, pull_request.team_reviewers
    call.acts.edit(
        pull_request.number,
        reviewers=[*asked, *(each for each in people if each not in asked)],
        team_reviewers=[*of_teams, *(each for each in teams if each not in of_teams)],
    )
    return Response(201, call.show.pull_request_simple(repository, pull_request, call.token))
