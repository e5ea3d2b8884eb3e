"""How the stand-in comes to give each recorded answer: what is so at it before the request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from registrar.github.case import API_VERSION
from tests.fakehub import (
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
    """A stand-in that remembers its answers."""

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
    """The stand-in, a repository on it, and what the request will be about."""

    host: Watched
    repository: Repository
    given: Given
    token: dict[str, Any] = field(default_factory=dict)
    """What the token is created with."""

    def branch(self, files: Mapping[str, bytes] | None = None) -> None:
        """Let the branch be there, with a commit that adds files."""
        self.repository.create_branch(BRANCH)
        if files:
            self.repository.commit(files, branch=BRANCH)
        self.given = replace(self.given, head=self.repository.head(BRANCH))

    def pull_request(self, **more: Any) -> None:
        """Let the pull request be there, from a branch with a commit."""
        if BRANCH not in self.repository.branches:
            self.branch({"docs/new.md": b"\n"})
        self.repository.open_pull_request(head=BRANCH, **{"body": "", **more})

    def fault(self, kind: FaultKind, **more: Any) -> None:
        """Put a fault in the way of every request."""
        self.host.faults.add(Fault(kind, times=None, **more))

    def lag(self, *symptoms: Symptom) -> None:
        """Let what the run makes stay unknown."""
        self.host.quirks.lag = Lag(seconds=3600, symptoms=symptoms)

    def empty(self) -> None:
        """Let the repository have no commit."""
        for name in self.repository.branches:
            self.repository.delete_branch(name)


def renamed(scene: Scene) -> None:
    scene.repository.rename("octo/renamed")


def holds(content: Content, path: str = "docs/guide.md") -> Callable[[Scene], None]:
    def commit(scene: Scene) -> None:
        scene.given = replace(scene.given, base=scene.repository.commit({path: content}))

    return commit


def unrelated(scene: Scene) -> None:
    git = scene.repository.own()
    person = Person("Somebody", "somebody@example.com").signature()
    commit = git.create_commit(None, person, person, "Begin", git.TreeBuilder().write(), [])
    scene.given = replace(scene.given, head=str(commit))


def of_another_branch(scene: Scene) -> None:
    scene.branch({"docs/new.md": b"\n"})
    scene.repository.create_branch("other", BRANCH)
    scene.repository.open_pull_request(head="other", body="")
    scene.host.quirks.heads_by_commit = True


def hidden_by_sso(scene: Scene) -> None:
    scene.host.create_repository("octocat/other")
    scene.token["hidden_by_sso"] = ["octo"]


def owned(scene: Scene) -> None:
    scene.host.create_repository("octocat/example")


def many(scene: Scene) -> None:
    for number in range(100):
        scene.host.create_repository(f"octo/r{number}")


def unknown_commit(scene: Scene) -> None:
    scene.given = replace(scene.given, base="0" * 40)


def unreadable(scene: Scene) -> None:
    scene.repository.private = True
    scene.token["permissions"] = {"metadata": "read"}


def without_version(scene: Scene) -> None:
    scene.host.quirks.gone_api_versions = frozenset({API_VERSION})


def without_limits(scene: Scene) -> None:
    scene.host.rate_limit = None


def used_up(scene: Scene) -> None:
    scene.host.rate_limit = RateLimit(remaining=0)


def too_fast(scene: Scene) -> None:
    scene.branch()
    scene.host.pace = Pace(per_minute=1)
    scene.host.pace.spend(scene.host.clock.monotonic())


def may_not(**more: Any) -> Callable[[Scene], None]:
    return lambda scene: scene.token.update(more)


def protected(kind: Any) -> Callable[[Scene], None]:
    def protect(scene: Scene) -> None:
        if kind == "classic":
            scene.branch()
        scene.repository.protect("chore/*", kind)

    return protect


def protected_later(scene: Scene) -> None:
    scene.branch()
    scene.repository.protect("chore/*", "ruleset")


def with_branch(scene: Scene) -> None:
    scene.branch()


def with_branch_above(scene: Scene) -> None:
    scene.repository.create_branch("chore")


def with_closed_pull_request(scene: Scene) -> None:
    scene.pull_request()
    scene.repository.close(1)


def with_folder_link(scene: Scene) -> None:
    scene.repository.commit({"folder": Symlink("docs")})
    scene.branch()


def with_many(scene: Scene) -> None:
    files = {f"many/{number:04}.md": b"" for number in range(1001)}
    scene.given = replace(scene.given, base=scene.repository.commit(files))


def with_commit(scene: Scene) -> None:
    scene.branch({"docs/new.md": b"\n"})


def with_pull_request(scene: Scene) -> None:
    scene.pull_request()


def with_long_body(scene: Scene) -> None:
    scene.pull_request()
    scene.given = replace(scene.given, body="x" * 65_537)


def of_deleted_fork(scene: Scene) -> None:
    scene.pull_request(head_repository="octocat/example")
    scene.repository.pull_requests[0].is_fork_deleted = True


def cut(scene: Scene) -> None:
    scene.host.quirks.most_in_tree = 3


def unresolved(how: Unresolved) -> Callable[[Scene], None]:
    def answer(scene: Scene) -> None:
        scene.host.quirks.missing = how

    return answer


def with_hidden_directories(scene: Scene) -> None:
    scene.host.quirks.hidden_directories = Unresolved.NOT_FOUND


def without_pull_requests(scene: Scene) -> None:
    scene.host.quirks.pull_requests_need_permission = True
    scene.token["permissions"] = {"contents": "write"}


def with_hidden_pull_request(scene: Scene) -> None:
    scene.pull_request()
    scene.host.quirks.hidden_pull_requests = frozenset({1})


def out_of_time(scene: Scene) -> None:
    scene.host.quirks.timeout_above = 0


def with_hidden_contents(scene: Scene) -> None:
    scene.host.quirks.hidden_contents = frozenset({FULL_NAME})


def stale_in_other_words(scene: Scene) -> None:
    scene.branch({"docs/new.md": b"\n"})
    scene.host.quirks.stale_in_other_words = True


def with_empty_payload(scene: Scene) -> None:
    scene.branch()
    scene.host.quirks.empty_payloads = True
    scene.host.refused_mutations = {"createCommitOnBranch": Refusal(422, "Not this one")}


def too_much(scene: Scene) -> None:
    scene.host.quirks.partial_above = 0


def with_owner_files(scene: Scene) -> None:
    scene.host.create_repository("octo/.github", FILES)


def without_pulls(scene: Scene) -> None:
    scene.branch({"docs/new.md": b"\n"})
    scene.repository.has_pull_requests = False


def over_the_limit(scene: Scene) -> None:
    scene.given = replace(
        scene.given, base=scene.repository.commit({"docs/guide.md": b"x" * 1_048_577})
    )
    scene.host.quirks.most_shown = 1 << 20


def with_secret(scene: Scene) -> None:
    scene.branch()
    scene.repository.secrets = {b"\n"}


def vague(scene: Scene) -> None:
    scene.branch({"docs/new.md": b"\n"})
    scene.host.quirks.vague_pulls = 2


def with_label_race(scene: Scene) -> None:
    scene.pull_request()
    scene.host.quirks.label_races = 9


def with_hidden_team(scene: Scene) -> None:
    scene.pull_request()
    scene.repository.hidden_teams = {"secret"}


def flaky(scene: Scene) -> None:
    scene.host.quirks.flaky_references = [502] * 6


def forbidden_to_workflows(scene: Scene) -> None:
    scene.branch({"docs/new.md": b"\n"})
    scene.host.actions_may_create_pull_requests = False


def without_drafts(scene: Scene) -> None:
    scene.branch({"docs/new.md": b"\n"})
    scene.repository.has_drafts = False


def lags(*symptoms: Symptom) -> Callable[[Scene], None]:
    return lambda scene: scene.lag(*symptoms)


def meets(kind: FaultKind, **more: Any) -> Callable[[Scene], None]:
    return lambda scene: scene.fault(kind, **more)


def archived(scene: Scene) -> None:
    scene.branch()
    scene.repository.archived = True


SCENES: dict[str, Callable[[Scene], None]] = {
    "GET rate_limit: the token is accepted": lambda _: None,
    "GET rate_limit: the token is wrong, or has ended": may_not(requests=0),
    "GET rate_limit: an App's token that was made a moment ago": may_not(unknown_for=3600),
    "GET rate_limit: an Enterprise Server without limits": without_limits,
    "GET repo: it is there": lambda _: None,
    "GET repo: an App's token asks": lambda _: None,
    "GET repo: there is none that the token may see": lambda scene: scene.repository.delete(),
    "GET repo: it was renamed": renamed,
    "GET repo: the organisation wants single sign-on first": may_not(sso=True),
    "GET repo: the hourly limit is used up": used_up,
    "GET repo: too many requests in a short time": meets(FaultKind.SECONDARY_403_RETRY_AFTER),
    "GET repo: too many requests in a short time, with the other status": meets(
        FaultKind.SECONDARY_429_RETRY_AFTER
    ),
    "GET repo: GitHub is down": meets(FaultKind.ERROR_503),
    "GET repo: this version of the API has ended": without_version,
    "GET repo: pull requests are switched off": without_pulls,
    "GET git/ref: the branch is there": with_branch,
    "GET git/ref: there is no such branch": lambda _: None,
    "GET git/ref: the branch was made a moment ago": lags(Symptom.REFERENCE),
    "GET git/ref: the repository has no commit": Scene.empty,
    "GET contents: a file is there": lambda _: None,
    "GET contents: a file of more than 1 MB is there": holds(b"x" * 1_048_577),
    "GET contents: a file over the limit is there": over_the_limit,
    "GET contents: a directory is there": lambda _: None,
    "GET contents: a link to a file is there": lambda _: None,
    "GET contents: a link to a directory is there": holds(Symlink("docs"), "link"),
    "GET contents: a submodule is there": lambda _: None,
    "GET contents: nothing is there": lambda _: None,
    "GET contents: a part of the path is a file": lambda _: None,
    "GET contents: a part of the path is a link": holds(Symlink("docs"), "folder"),
    "GET contents: a part of the path is a submodule": lambda _: None,
    "GET contents: the commit is unknown": unknown_commit,
    "GET contents: the token may not read files": unreadable,
    "GET contents: the repository has no commit": Scene.empty,
    "GET contents: the path has an empty part": lambda _: None,
    "GET contents of a directory: it is there": lambda _: None,
    "GET contents of a directory: it has more than 1,000 entries": with_many,
    "GET contents of a directory: a file is there": lambda _: None,
    "GET contents of a directory: nothing is there": lambda _: None,
    "GET contents of a directory: its address ends in a slash": lambda _: None,
    "GET git/trees: the whole tree": lambda _: None,
    "GET git/trees: the tree is too large, and cut": cut,
    "GET git/trees: the commit is unknown": unknown_commit,
    "GET compare: the two have no commit in common": unrelated,
    "GET compare: one file was added": with_commit,
    "GET git/matching-refs: branches with names that begin like this are there": with_branch,
    "GET git/matching-refs: there is none": lambda _: None,
    "GET commits: one changed the path": with_pull_request,
    "GET commits: none changed the path": with_branch,
    "GET pulls: one is open": with_pull_request,
    "GET pulls: one was closed without a merge": with_closed_pull_request,
    "GET pulls: one is of another branch at the same commit": of_another_branch,
    "GET pulls: the token may not read them": unreadable,
    "GET pulls: there is none": lambda _: None,
    "GET pulls: pull requests are switched off": without_pulls,
    "GET pulls: the fork that one came from was deleted": of_deleted_fork,
    "GET pulls/N: it is there": with_pull_request,
    "GET pulls/N: there is no such pull request": lambda _: None,
    "POST git/refs: the branch is made": lambda _: None,
    "POST git/refs: the name is taken": with_branch,
    "POST git/refs: a ruleset forbids it": protected("ruleset"),
    "POST git/refs: there is a branch above or below it": with_branch_above,
    "POST git/refs: a repository with many workflows, now and then": flaky,
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
    "PUT contents: there is no such branch": lambda _: None,
    "PUT contents: a branch protection forbids it": protected("classic"),
    "PUT contents: push protection finds a secret": with_secret,
    "PUT contents: a ruleset forbids it": protected_later,
    "PUT contents: a part of the path is a file": with_branch,
    "PUT contents: a part of the path is a link": with_folder_link,
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
    "POST pulls: nothing says why": vague,
    "POST pulls: pull requests are switched off": without_pulls,
    "POST pulls: there is no such branch": lambda _: None,
    "POST pulls: the setting does not let workflows open any": forbidden_to_workflows,
    "POST pulls: the plan has no drafts": without_drafts,
    "POST pulls: an App lacks the permission": may_not(permissions={"contents": "write"}),
    "POST pulls: too many in a short time, in other words": meets(FaultKind.TOO_QUICKLY_422),
    "PATCH pulls/N: it is changed": with_pull_request,
    "PATCH pulls/N: the body is too long": with_long_body,
    "POST labels: the labels are there": with_pull_request,
    "POST labels: the pull request was opened a moment ago": lags(Symptom.LABELS),
    "POST labels: the pull request was opened a moment ago, in other words": lags(
        Symptom.LABELS_NO_ISSUE
    ),
    "POST labels: one does not exist, and the token may not make it": with_pull_request,
    "POST labels: somebody made one at the same moment": with_label_race,
    "POST assignees: the pull request was opened a moment ago": lags(Symptom.ASSIGNEES),
    "POST assignees: a login is no person's": with_pull_request,
    "POST requested_reviewers: the token may not see a team": with_hidden_team,
    "POST assignees: the people are assigned": with_pull_request,
    "POST assignees: a person cannot be assigned": with_pull_request,
    "POST requested_reviewers: the people are asked": with_pull_request,
    "POST requested_reviewers: a person is no collaborator": with_pull_request,
    "GET installation/repositories: a list": lambda _: None,
    "GET installation/repositories: a token that is no App's": lambda _: None,
    "GET orgs/ORG/repos: a list": lambda _: None,
    "GET orgs/ORG/repos: the first of two pages": many,
    "GET orgs/ORG/repos: organisations that want single sign-on are left out": hidden_by_sso,
    "GET orgs/ORG/repos: the owner is a person": lambda _: None,
    "GET users/USER/repos: a list": owned,
    "GET user/repos: a list": owned,
    "GET users/USER/repos: there is nobody of that name": lambda _: None,
}

SCENES |= {
    "query repository: it is there, with the directory": lambda _: None,
    "query repository: the branch and its pull request are there": with_pull_request,
    "query repository: an App's token asks": lambda _: None,
    "query repository: a directory is missing": lambda _: None,
    "query repository: a directory is missing, and no error says so": unresolved(Unresolved.NULL),
    "query repository: a directory is missing, and the error has no type": unresolved(
        Unresolved.WITHOUT_TYPE
    ),
    "query repository: a file is at the path of a directory": lambda _: None,
    "query repository: a file of more than 10 MB is at the path of a directory": holds(
        b"x" * (11 << 20), "README.md"
    ),
    "query repository: a submodule is at the path of a directory": lambda _: None,
    "query repository: a link is at the path of a directory": lambda _: None,
    "query repository: a directory has more than 1,000 entries": lambda _: None,
    "query repository: a part of the path is a file": lambda _: None,
    "query repository: a part of the path is a link": lambda _: None,
    "query repository: a part of the path is a submodule": lambda _: None,
    "query repository: a directory is refused that the root lists": with_hidden_directories,
    "query repository: there is none that the token may see": lambda s: s.repository.delete(),
    "query repository: it has no commit": Scene.empty,
    "query repository: the organisation wants single sign-on first": may_not(sso=True),
    "query repository: the token may not read pull requests": without_pull_requests,
    "query repository: the token is wrong, or has ended": may_not(requests=0),
    "query repository: one pull request is hidden, as another organisation's behind single "
    "sign-on": with_hidden_pull_request,
    "query repository: it took too long, or failed": out_of_time,
    "query repository: too much was asked": too_much,
    "query repository: it took too long, with a page of HTML": meets(FaultKind.ERROR_502_HTML),
    "query repository: the hourly limit is used up": meets(FaultKind.GRAPHQL_RATE_LIMITED),
    "query repository: too many requests in a short time": meets(
        FaultKind.GRAPHQL_SECONDARY_MESSAGE
    ),
    "query object: the directory is there": lambda _: None,
    "query object: a directory is missing": lambda _: None,
    "query nodes: it is there, with the directory": lambda _: None,
    "query nodes: a directory is missing": lambda _: None,
    "query nodes: one was deleted, or the token may not see it": lambda s: s.repository.delete(),
    "query nodes: the organisation of one wants single sign-on first": may_not(sso=True),
    "query nodes: the token may not read the contents of one": with_hidden_contents,
    "query .github: it is there, with the directory": with_owner_files,
    "query .github: a directory is missing": with_owner_files,
    "query .github: the owner has none": lambda _: None,
    "mutation createRef, createCommitOnBranch, createPullRequest: all three are done": (
        lambda _: None
    ),
    "mutation createRef, createCommitOnBranch, createPullRequest: "
    "the branch exists, at another commit": with_pull_request,
    "mutation createRef, createCommitOnBranch, createPullRequest: "
    "there is a branch above or below it": with_branch_above,
    "mutation createCommitOnBranch: the commit is made": with_branch,
    "mutation createCommitOnBranch: another write to the branch came first": with_commit,
    "mutation createCommitOnBranch: another write to the branch came first, in other words": (
        stale_in_other_words
    ),
    "mutation createCommitOnBranch: a branch protection forbids it": protected("classic"),
    "mutation createCommitOnBranch: a ruleset forbids it": protected_later,
    "mutation createCommitOnBranch: it is refused, and the answer is an object that holds null": (
        with_empty_payload
    ),
    "mutation createCommitOnBranch: the branch was made a moment ago": lags(Symptom.COMMIT_STALE),
}

NOT_AT_THE_STAND_IN: Mapping[str, str] = {
    "GET rate_limit: an old Enterprise Server without limits": "as the one without, but for words",
    "GET repo: it was taken down": "nothing can be done there",
    "PUT contents: another write to the branch came first, in other words": "as the other words",
    "query nodes: too many ids": "we ask for 100 at most",
    "query repository: it took too long to validate": "as the one that failed, but for words",
    "query repository: it took too long, in one word": "as the one that failed, but for words",
    "query repository: a fine-grained token, at an Enterprise Server before 3.10": (
        "nothing can be done there"
    ),
}
"""What the stand-in does not answer, and why that is no loss."""


def scene(host: Watched, given: Given) -> Scene:
    """The stand-in with a repository."""
    repository = host.create_repository(FULL_NAME, FILES)
    return Scene(host, repository, replace(given, base=repository.head()))
