"""The states of the stand-in in which it gives each recorded answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from registrar.github.case import API_VERSION
from tests.fakehub import (
    Changes,
    Fault,
    FaultKind,
    Lag,
    Pace,
    Person,
    RateLimit,
    Refusal,
    Repository,
    Request,
    StandInHost,
    Submodule,
    Symlink,
    Symptom,
)
from tests.fakehub.answer import Answer, Response
from tests.fakehub.quirks import Unresolved
from tests.fakehub.store import Content
from tests.recordings import recordings
from tests.recordings.calls import BRANCH, FULL_NAME, Given

GUIDE = b"guide\n"
FILES: Mapping[str, Content] = {
    "README.md": b"# Example\n",
    "docs/guide.md": GUIDE,
    "docs/more/more.md": b"more\n",
    "link": Symlink("docs/guide.md"),
    "module": Submodule("a" * 40),
}


class Watched(StandInHost):
    """A stand-in that remembers its answers, each with its request."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[tuple[Request, Response]] = []

    def respond(self, record: Request, prefix: str, raw_path: str, body: bytes) -> Answer:
        answer = super().respond(record, prefix, raw_path, body)
        assert isinstance(answer, Response)
        self.answers.append((record, answer))
        return answer


@dataclass
class Scene:
    """The stand-in, a repository on it, and the values of the request that will be sent."""

    host: Watched
    repository: Repository
    given: Given
    token: dict[str, Any] = field(default_factory=dict)
    """The arguments with which the token is created (`StandInHost.create_token`)."""

    def branch(self, files: Mapping[str, bytes] | None = None) -> None:
        """Create the branch, with a commit that adds files if some are given."""
        self.repository.person.create_branch(BRANCH)
        if files:
            self.repository.person.commit(files, branch=BRANCH)
        self.given = replace(self.given, head=self.repository.head(BRANCH))

    def pull_request(self, **more: Any) -> None:
        """Open the pull request, from a branch with a commit."""
        if BRANCH not in self.repository.branches:
            self.branch({"docs/new.md": b"\n"})
        self.repository.person.open_pull_request(head=BRANCH, **{"body": "", **more})

    def empty(self) -> None:
        """Delete all branches, so that the repository has no commit."""
        for name in self.repository.branches:
            self.repository.person.delete_branch(name)


Make = Callable[[Scene], None]


def then(*made: Make) -> Make:
    """Return a function that makes these changes to a scene, one after the other."""

    def make(scene: Scene) -> None:
        for each in made:
            each(scene)

    return make


def quirk(**values: object) -> Make:
    return lambda scene: change(scene.host.quirks, values)


def of_host(**values: object) -> Make:
    return lambda scene: change(scene.host, values)


def of_repository(**values: Unpack[Changes]) -> Make:
    return lambda scene: scene.repository.person.change(**values)


def change(what: object, values: Mapping[str, object]) -> None:
    for name, value in values.items():
        setattr(what, name, value)


def given(**values: Any) -> Make:
    """Return a function that changes values of the request."""

    def make(scene: Scene) -> None:
        scene.given = replace(scene.given, **values)

    return make


def renamed(scene: Scene) -> None:
    scene.repository.person.rename("octo/renamed")


def holds(content: Content, path: str = "docs/guide.md") -> Make:
    def commit(scene: Scene) -> None:
        scene.given = replace(scene.given, base=scene.repository.person.commit({path: content}))

    return commit


def unrelated(scene: Scene) -> None:
    git = scene.repository.own()
    person = Person("Somebody", "somebody@example.com").signature(scene.repository.now())
    commit = git.create_commit(None, person, person, "Begin", git.TreeBuilder().write(), [])
    scene.given = replace(scene.given, head=str(commit))


def of_another_branch(scene: Scene) -> None:
    scene.branch({"docs/new.md": b"\n"})
    scene.repository.person.create_branch("other", BRANCH)
    scene.repository.person.open_pull_request(head="other", body="")
    scene.host.quirks.heads_by_commit = True


def hidden_by_sso(scene: Scene) -> None:
    scene.host.create_repository("octocat/other")
    scene.token["hidden_by_sso"] = ["octo"]


def owned(scene: Scene) -> None:
    scene.host.create_repository("octocat/example")


def many(scene: Scene) -> None:
    for number in range(100):
        scene.host.create_repository(f"octo/r{number}")


def too_fast(scene: Scene) -> None:
    scene.branch()
    scene.host.pace = Pace(per_minute=1)
    scene.host.pace.spend(scene.host.clock.monotonic())


def may_not(**more: Any) -> Make:
    return lambda scene: scene.token.update(more)


def protected(kind: Any) -> Make:
    return lambda scene: scene.repository.person.protect("chore/*", kind)


def with_branch_above(scene: Scene) -> None:
    scene.repository.person.create_branch("chore")


def with_closed_pull_request(scene: Scene) -> None:
    scene.pull_request()
    scene.repository.person.close(1)


def with_many(scene: Scene) -> None:
    files = {f"many/{number:04}.md": b"" for number in range(1001)}
    scene.given = replace(scene.given, base=scene.repository.person.commit(files))


def with_commit(scene: Scene) -> None:
    scene.branch({"docs/new.md": b"\n"})


def rewritten(scene: Scene) -> None:
    """Close the pull request, and create its branch again with another commit."""
    scene.repository.person.close(1)
    scene.repository.person.create_branch(scene.given.branch)
    scene.repository.person.commit({"other.md": b""}, branch=scene.given.branch)


def of_deleted_fork(scene: Scene) -> None:
    scene.pull_request(head_repository="octocat/example")
    scene.repository.person.edit(1, is_fork_deleted=True)


def with_empty_payload(scene: Scene) -> None:
    scene.branch()
    scene.host.quirks.empty_payloads = True
    scene.host.refused_mutations = {"createCommitOnBranch": Refusal(422, "Not this one")}


def policy(name: str) -> Make:
    """Return a function that lets the organisation refuse the token in a recording's words."""
    body: Any = recordings()[name].body
    words = body["message"] if "message" in body else body["errors"][0]["message"]
    return of_repository(policy=Refusal(403, words, extensions={"saml_failure": False}))


def with_owner_files(scene: Scene) -> None:
    scene.host.create_repository("octo/.github", FILES)


def lags(*symptoms: Symptom) -> Make:
    """Return a function that lets answers not know the changes that a run has just made."""
    return quirk(lag=Lag(seconds=3600, symptoms=symptoms))


def meets(kind: FaultKind, **more: Any) -> Make:
    """Return a function that lets every request get a fault."""

    def make(scene: Scene) -> None:
        scene.host.faults.add(Fault(kind, times=None, **more))

    return make


with_branch, with_pull_request = Scene.branch, Scene.pull_request
without_pulls = then(with_commit, of_repository(has_pull_requests=False))
unreadable = then(of_repository(private=True), may_not(permissions={"metadata": "read"}))
archived = then(with_branch, of_repository(archived=True))
protected_later = then(with_branch, protected("ruleset"))
LINE_FEED = "8b137891791fe96927ad78e64b0aad7bded08bdc"
"""The id of a blob that contains only a line feed."""
SCENES: dict[str, Make] = {
    "GET rate_limit: the token is wrong, or has ended": may_not(requests=0),
    "GET rate_limit: an App's token that was made a moment ago": may_not(unknown_for=3600),
    "GET rate_limit: an Enterprise Server without limits": of_host(rate_limit=None),
    "GET repo: there is none that the token may see": lambda scene: (
        scene.repository.person.delete()
    ),
    "GET repo: it was renamed": renamed,
    "GET repo: the organisation wants single sign-on first": may_not(sso=True),
    **{
        name: policy(name)
        for name in (
            "GET repo: the organisation wants single sign-on, and an OAuth app made the token",
            "GET repo: a fine-grained token lives longer than the organisation permits",
            "GET repo: the organisation forbids classic tokens",
            "GET repo: the organisation forbids fine-grained tokens",
            "GET repo: the organisation has an IP allow list",
            "GET repo: the organisation restricts OAuth apps",
            "GET repo: the App's installation is suspended",
            "GET repo: the token's account is suspended",
            "POST git/refs: the token's account has no verified email address",
            "query repository: a fine-grained token lives longer than the organisation permits",
            "query repository: the organisation forbids classic tokens",
        )
    },
    "GET repo: the hourly limit is used up": of_host(rate_limit=RateLimit(remaining=0)),
    "GET repo: too many requests in a short time": meets(FaultKind.SECONDARY_403_RETRY_AFTER),
    "GET repo: too many requests in a short time, with the other status": meets(
        FaultKind.SECONDARY_429_RETRY_AFTER
    ),
    "GET repo: several tokens were wrong a moment ago": then(
        may_not(requests=0), quirk(most_wrong_tokens=0)
    ),
    "GET repo: a good token, now and then": meets(
        FaultKind.CUSTOM,
        match=lambda request: request.path != "/rate_limit",
        status=401,
        message="Bad credentials",
        headers={"x-ratelimit-limit": "60"},
    ),
    "GET repo: GitHub is down": meets(FaultKind.ERROR_503),
    "GET repo: this version of the API has ended": quirk(
        gone_api_versions=frozenset({API_VERSION})
    ),
    "GET repo: pull requests are switched off": without_pulls,
    "GET git/ref: the branch is there": with_branch,
    "GET git/ref: the branch was made a moment ago": lags(Symptom.REFERENCE),
    "GET git/ref: the repository has no commit": Scene.empty,
    "GET contents: a file of more than 1 MB is there": holds(b"x" * 1_048_577),
    "GET contents: a file over the limit is there": then(
        holds(b"x" * 1_048_577), quirk(most_shown=1 << 20)
    ),
    "GET contents: a link to a directory is there": holds(Symlink("docs"), "link"),
    "GET contents: a part of the path is a link": holds(Symlink("docs"), "folder"),
    "GET contents: the commit is unknown": given(base="0" * 40),
    "GET contents: the token may not read files": unreadable,
    "GET contents: the repository has no commit": Scene.empty,
    "GET contents of a directory: it has more than 1,000 entries": with_many,
    "GET git/trees: the tree is too large, and cut": quirk(most_in_tree=3),
    "GET git/trees: the commit is unknown": given(base="0" * 40),
    "GET git/matching-refs: the repository has no commit": Scene.empty,
    "GET compare: the two have no commit in common": unrelated,
    "GET compare: one file was added": with_commit,
    "GET commits of a reference: it names none": given(base="nowhere"),
    "query commits: both are there, with the directory": with_commit,
    "query commits: a directory is missing": with_commit,
    "query commits: one is unknown": given(head="0" * 40),
    "GET git/matching-refs: branches with names that begin like this are there": with_branch,
    "GET pulls: one is open": with_pull_request,
    "GET pulls: one was closed without a merge": with_closed_pull_request,
    "GET pulls: one is of another branch at the same commit": of_another_branch,
    "GET pulls: the token may not read them": unreadable,
    "GET pulls: pull requests are switched off": without_pulls,
    "GET pulls: the fork that one came from was deleted": of_deleted_fork,
    "GET pulls/N: it is there": with_pull_request,
    "POST git/refs: the name is taken": with_branch,
    "POST git/refs: a ruleset forbids it": protected("ruleset"),
    "POST git/refs: there is a branch above or below it": with_branch_above,
    "POST git/refs: a repository with many workflows, now and then": quirk(
        flaky_references=[502] * 6
    ),
    "POST git/refs: the repository has no commit": Scene.empty,
    "POST git/refs: a classic token may not write here": may_not(push=False),
    "POST git/refs: an App lacks the permission": may_not(permissions={"contents": "read"}),
    "POST git/refs: a fine-grained token lacks the permission": may_not(
        permissions={"contents": "read"}
    ),
    "POST git/refs: the repository is archived": archived,
    "POST git/refs: it was renamed": renamed,
    "PUT contents: the file is made": with_branch,
    "PUT contents: the path exists": with_branch,
    "PUT contents: a directory is at the path": with_branch,
    "PUT contents: another write to the branch came first": meets(FaultKind.CONFLICT_409),
    "PUT contents: the branch was made a moment ago": lags(Symptom.CONTENTS),
    "PUT contents: a branch protection forbids it": then(with_branch, protected("classic")),
    "PUT contents: push protection finds a secret": then(
        with_branch, of_repository(secrets={b"\n"})
    ),
    "PUT contents: a ruleset forbids it": protected_later,
    "PUT contents: a ruleset takes signed commits only, and the token is a person's": then(
        with_branch, of_repository(wants_signatures=True)
    ),
    "PUT contents: a part of the path is a file": with_branch,
    "PUT contents: a part of the path is a link": then(
        holds(Symlink("docs"), "folder"), with_branch
    ),
    "PUT contents: a part of the path is a submodule": with_branch,
    "PUT contents: the path has an empty part": with_branch,
    "PUT contents: a workflow, and a classic token without that scope": with_branch,
    "PUT contents: a workflow, and an App without that permission": with_branch,
    "PUT contents: the repository was archived meanwhile": archived,
    "PUT contents: too many writes in a short time": too_fast,
    "POST pulls: it is opened": with_commit,
    "POST pulls: one is open already": with_pull_request,
    "POST pulls: nothing is between the branches": with_branch,
    "POST pulls: the last commit was made a moment ago": lags(Symptom.PULL_NO_COMMITS),
    "POST pulls: the last commit was made a moment ago, and both commits are blank": lags(
        Symptom.PULL_BLANK_SHA
    ),
    "POST pulls: the last commit was made a moment ago, and the branch is unknown": lags(
        Symptom.PULL_BAD_HEAD
    ),
    "POST pulls: nothing says why": then(with_commit, quirk(vague_pulls=2)),
    "POST pulls: pull requests are switched off": without_pulls,
    "POST pulls: the setting does not let workflows open any": then(
        with_commit, of_host(actions_may_create_pull_requests=False)
    ),
    "POST pulls: the plan has no drafts": then(with_commit, of_repository(has_drafts=False)),
    "POST pulls: an App lacks the permission": may_not(permissions={"contents": "write"}),
    "POST pulls: too many in a short time, in other words": meets(FaultKind.TOO_QUICKLY_422),
    "PATCH pulls/N: it is changed": with_pull_request,
    "PATCH pulls/N: it is to be opened again, and its branch was deleted": then(
        with_pull_request, lambda scene: scene.repository.person.delete_branch(scene.given.branch)
    ),
    "PATCH pulls/N: it is to be opened again, and its branch was rewritten": then(
        with_pull_request, rewritten
    ),
    "PATCH pulls/N: the body is too long": then(with_pull_request, given(body="x" * 65_537)),
    "POST labels: the labels are there": with_pull_request,
    "POST labels: the pull request was opened a moment ago": lags(Symptom.LABELS),
    "POST labels: the pull request was opened a moment ago, in other words": lags(
        Symptom.LABELS_NO_ISSUE
    ),
    "POST labels: one does not exist, and the token may not make it": with_pull_request,
    "POST labels: somebody made one at the same moment": then(
        with_pull_request, quirk(label_races=9)
    ),
    "POST assignees: the pull request was opened a moment ago": lags(Symptom.ASSIGNEES),
    "POST assignees: a login is no person's": with_pull_request,
    "POST requested_reviewers: the token may not see a team": then(
        with_pull_request, of_repository(hidden_teams={"secret"})
    ),
    "POST assignees: the people are assigned": with_pull_request,
    "POST assignees: a person cannot be assigned": with_pull_request,
    "POST requested_reviewers: the people are asked": with_pull_request,
    "POST requested_reviewers: a person is no collaborator": with_pull_request,
    "GET orgs/ORG/repos: the first of two pages": many,
    "GET orgs/ORG/repos: organisations that want single sign-on are left out": hidden_by_sso,
    "GET users/USER/repos: a list": owned,
    "GET user/repos: a list": owned,
    "GET properties/values: some are set": of_repository(properties={"tier": "gold"}),
    "GET properties/values: there is no such page": lambda scene: scene.repository.person.delete(),
    "GET orgs/ORG/properties/values: a list": of_repository(properties={"tier": "gold"}),
    "GET orgs/ORG/properties/values: the token may not read it": may_not(
        permissions={"contents": "read"}
    ),
    "GET collaborators/permission: the token's user may not push": of_repository(read_only=True),
    "GET git/blobs: it is there": then(with_commit, given(blob=LINE_FEED)),
    "GET collaborators/permission: it is a mannequin, or has become an organisation": of_repository(
        mannequins={"octocat"}
    ),
    "GET collaborators/permission: there is nobody of that name": quirk(hides_permissions=True),
    "query repository with facts: it is there": of_repository(
        language="Python", topics=["service"]
    ),
    "query repository: the branch and its pull request are there": with_pull_request,
    "query repository: the branches with this part in their names": with_pull_request,
    "query repository: a directory is missing, and no error says so": quirk(
        missing=Unresolved.NULL
    ),
    "query repository: a directory is missing, and the error has no type": quirk(
        missing=Unresolved.WITHOUT_TYPE
    ),
    "query repository: a file of more than 10 MB is at the path of a directory": holds(
        b"x" * (11 << 20), "README.md"
    ),
    "query repository: a directory is refused that the root lists": quirk(
        hidden_directories=Unresolved.NOT_FOUND
    ),
    "query repository: there is none that the token may see": lambda s: (
        s.repository.person.delete()
    ),
    "query repository: it has no commit": Scene.empty,
    "query repository: the organisation wants single sign-on first": may_not(sso=True),
    "query repository: the token may not read pull requests": then(
        quirk(pull_requests_need_permission=True), may_not(permissions={"contents": "write"})
    ),
    "query repository: the token is wrong, or has ended": may_not(requests=0),
    "query repository: one pull request is hidden, as another organisation's behind single "
    "sign-on": then(with_pull_request, quirk(hidden_pull_requests=frozenset({1}))),
    "query repository: it took too long, or failed": quirk(timeout_above=0),
    "query repository: an error of an unknown type stands beside the data": quirk(odd_errors=6),
    "query repository: too much was asked": quirk(partial_above=0),
    "query repository: it took too long, with a page of HTML": meets(FaultKind.ERROR_502_HTML),
    "query repository: the hourly limit is used up": meets(FaultKind.GRAPHQL_RATE_LIMITED),
    "query repository: too many requests in a short time": meets(
        FaultKind.GRAPHQL_SECONDARY_MESSAGE
    ),
    "query nodes: one was deleted, or the token may not see it": lambda s: (
        s.repository.person.delete()
    ),
    "query nodes: the organisation of one wants single sign-on first": may_not(sso=True),
    "query nodes: the token may not read the contents of one": quirk(
        hidden_contents=frozenset({FULL_NAME})
    ),
    "query .github: it is there, with the directory": with_owner_files,
    "query .github: a directory is missing": with_owner_files,
    "mutation createRef, createCommitOnBranch, createPullRequest: "
    "the branch exists, at another commit": with_pull_request,
    "mutation createRef, createCommitOnBranch, createPullRequest: "
    "there is a branch above or below it": with_branch_above,
    "mutation createRef, createCommitOnBranch, createPullRequest: "
    "the branch that it made is not known yet": lags(Symptom.COMMIT_NO_BRANCH),
    "mutation createRef, createCommitOnBranch, createPullRequest: "
    "the branch that it made is at another commit for a moment": lags(Symptom.COMMIT_STALE),
    "mutation createRef, createCommitOnBranch, createPullRequest: "
    "the commit that it made is not known yet": lags(Symptom.PULL_BLANK_SHA),
    "mutation createCommitOnBranch: the commit is made": with_branch,
    "mutation createCommitOnBranch: another write to the branch came first": with_commit,
    "mutation createCommitOnBranch: another write to the branch came first, in other words": (
        then(with_commit, quirk(stale_in_other_words=True))
    ),
    "mutation createCommitOnBranch: a branch protection forbids it": then(
        with_branch, protected("classic")
    ),
    "mutation createCommitOnBranch: a ruleset forbids it": protected_later,
    "mutation createCommitOnBranch: it is refused, and the answer is an object that holds null": (
        with_empty_payload
    ),
    "mutation createCommitOnBranch: the branch was made a moment ago": lags(Symptom.COMMIT_STALE),
    "mutation createCommitOnBranch: the branch was made a moment ago, in other words": lags(
        Symptom.COMMIT_NO_BRANCH
    ),
}
"""The changes at the stand-in before it gives a recorded answer, if it needs any; by the names of
the answers."""
SCENES |= {
    name.replace(":", " by number:", 1): make
    for name, make in SCENES.items()
    if name.replace(":", " by number:", 1) in recordings()
}

NOT_AT_THE_STAND_IN: Mapping[str, str] = {
    "GET rate_limit: an old Enterprise Server without limits": "as the one without, but for words",
    "GET repo: it was taken down": "nothing can be done there",
    "GET repo: it was taken down for legal reasons": "nothing can be done there",
    "PUT contents: another write to the branch came first, in other words": "as the other words",
    "PUT contents: a push ruleset restricts the path": "as another ruleset, but for words",
    "PUT contents: the token may not write workflows, in the words of other requests": (
        "nobody has seen it"
    ),
    "POST pulls: only collaborators may open one": "our token may always push",
    "POST requested_reviewers: the person opened the pull request": (
        "as a person who is no collaborator, but for words"
    ),
    "mutation createCommitOnBranch: the token may not write workflows, in the words for another "
    "mutation": "nobody has seen it",
    "mutation createCommitOnBranch: the user may not write, in the words for another mutation": (
        "nobody has seen it"
    ),
    "query nodes: too many ids": "we ask for 100 at most",
    "query repository: the branches with this part in their names do not have the one that is "
    "there": "nobody has seen it",
    "query repository: it took too long to validate": "as the one that failed, but for words",
    "query repository: it took too long, in one word": "as the one that failed, but for words",
    "query repository: a fine-grained token, at an Enterprise Server before 3.10": (
        "nothing can be done there"
    ),
}
"""The recorded answers that the stand-in does not give, each with the reason."""


def scene(host: Watched, given: Given) -> Scene:
    """Return a scene with a new repository on the stand-in."""
    repository = host.create_repository(FULL_NAME, FILES)
    return Scene(host, repository, replace(given, base=repository.head()))
