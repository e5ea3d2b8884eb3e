"""Switches for the behaviour of GitHub that its description lacks. All are off by default."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Symptom(StrEnum):
    """An answer by which a write is seen to be not known everywhere yet."""

    CONTENTS = "PUT contents: the branch just made is not found"
    """github/branch-deploy#180."""
    REFERENCE = "GET git/ref and git/matching-refs: the branch just made is not there"
    """PyGithub/PyGithub#2759."""
    GRAPHQL_REFERENCE = "GraphQL ref: the branch just made is null"
    """Taken to be the same in GraphQL, which nobody has confirmed."""
    COMMIT_NO_BRANCH = "createCommitOnBranch: the branch just made is not found"
    """github/gh-aw#22564."""
    COMMIT_STALE = "createCommitOnBranch: STALE_DATA on the branch just made"
    """ministryofjustice/modernisation-platform#11985."""
    PULL_NO_COMMITS = "a new pull request: No commits between"
    """octokit/octokit.rb#622; until some seconds after the branch's last commit."""
    PULL_BLANK_SHA = "a new pull request: Head sha can't be blank"
    """REST: octokit/octokit.net#879; GraphQL: cli/cli#2691."""
    PULL_BAD_HEAD = "a new pull request: the head is invalid, Head ref must be a branch"
    PULL_NOT_FOUND = "POST pulls: Not Found"
    LABELS = "labels on the pull request just opened: Could not resolve to a node"
    """peter-evans/create-pull-request#4321; trstringer/manual-approval#208 has the whole text."""
    LABELS_NO_ISSUE = "labels on the pull request just opened: Issue not found"
    """googleapis/release-please#2754, googleapis/release-please#2782."""
    ASSIGNEES = "assignees of the pull request just opened: Not Found"
    """renovatebot/renovate#42548."""


@dataclass(frozen=True, slots=True)
class Lag:
    """How long a write through the API stays unknown to other calls.

    For `seconds` after the write by the stand-in's clock, and for the first `answers` that it
    would change, whichever is longer. Where several `symptoms` fit they take turns. What a test
    sets up itself (`Repository.commit`, `create_branch`, `open_pull_request`) is known at once.
    """

    seconds: float = 0.0
    answers: int = 0
    symptoms: Sequence[Symptom] = tuple(Symptom)


class Unresolved(StrEnum):
    """How GraphQL says that it gives nothing for a path."""

    NOT_FOUND = "null and an error of the type NOT_FOUND"
    """changesets/ghcommit, its integration tests."""
    WITHOUT_TYPE = "null and an error without a type"
    NULL = "null without an error"


class AfterRefusal(StrEnum):
    """The effect on the other mutations of a request if one of them is refused."""

    RUN = "those behind it run all the same"
    """As the GraphQL specification says, of fields that may be null."""
    STOP = "those behind it are null, without an error"
    UNDONE = "none of them is done, and there is one error"


@dataclass(slots=True)
class Quirks:
    """The switches.

    A query's size is the number of its aliased fields, each counted once per id where it stands
    below `nodes(ids:)`.
    """

    lag: Lag | None = None
    hides_permissions: bool = False
    """Whether nobody is told what others may do. Nobody has confirmed that it happens."""
    flaky_references: list[int] = field(default_factory=list)
    """Statuses that the next POSTs to git/refs answer, one each: 422 `Reference update failed`,
    500 or 502, with nothing done (github/rest-api-description#4887)."""
    vague_pulls: int = 0
    """So many of the next POSTs to pulls answer 422 `Validation Failed` and nothing else, with
    nothing done. Nobody has confirmed that the next one then succeeds."""
    label_races: int = 0
    """So many of the next POSTs of labels find that somebody has just made one of them: 422 with
    `already_exists` (docs: "Troubleshooting the REST API"), with nothing done."""
    public_repo_makes_no_branch: bool = False
    """`POST git/refs` wants the scope `repo` in public repositories too
    (WordPress/contributor-toolkit#179), in contradiction to the docs ("Scopes for OAuth apps")."""
    most_shown: int = 100_000_000
    """Bytes of a file that `GET contents` shows; of a larger one it says 403 `too_large`. Until
    2022 they were 1,048,576 (octokit/core.js#414, octokit/octokit.rb#1104)."""
    most_found: int = 10_000_000
    """Bytes of a file that GraphQL finds (sveltia/sveltia-cms#692)."""
    most_wrong_tokens: int = 10
    """So many requests in a row with a wrong token get 401, the next ones 403. The docs
    ("Authenticating to the REST API") say "several"."""
    odd_errors: int = 0
    """So many of the next queries have an error of an unknown type beside their data, which nobody
    has seen."""
    partial_above: int | None = None
    """Size above which a query gets some of its fields and an error for each of the others
    (GitHub changelog, 2025-09-01, "GraphQL API resource limits")."""
    timeout_above: int | None = None
    """Size above which a query gets no data and an error at status 200
    (gayanvoice/top-github-users#107)."""
    bad_gateway_above: int | None = None
    """Size above which a query ends in a 502 (gfazioli/octoscope#153)."""
    points_of_timeout: int = 0
    """What a query that took too long costs beside its own point (docs: "Rate limits and query
    limits for the GraphQL API")."""
    old_ids: bool = False
    """REST gives repositories ids of the old form; GraphQL takes both and answers with the new
    (docs: "Migrating GraphQL global node IDs")."""
    empty_properties: bool = False
    """Whether repositories are described with ``custom_properties`` of ``{}``, whatever they have:
    not confirmed, but plausible for an App without the permission *Custom properties*."""
    without_properties: bool = False
    """Repositories come without their custom properties, which are documented as optional."""
    limits_at_200: bool = False
    """A secondary limit on GraphQL comes with status 200 instead of 403 (docs: "Rate limits and
    query limits for the GraphQL API")."""
    heads_by_commit: bool = False
    """`pulls?head=` also finds another branch's pull request at the same commit
    (octokit/octokit.js#2056)."""
    pull_requests_need_permission: bool = False
    """GraphQL's lists of pull requests are FORBIDDEN without the permission `pull_requests`
    (fpicalausa/remove-stale-branches#49)."""
    most_in_tree: int = 100_000
    """Entries of a tree that GitHub lists at once (docs: "Get a tree")."""
    missing: Unresolved = Unresolved.NOT_FOUND
    """What GraphQL answers for a path that is not there; only the first has been seen."""
    hidden_pull_requests: frozenset[int] = frozenset()
    """GraphQL has null in the place of these, as for another organisation's behind single sign-on
    (jasperapp/jasper#187)."""
    unlisted_pull_requests: frozenset[int] = frozenset()
    """No list has these, though GitHub refuses another one because of them
    (repo-sync/pull-request#56)."""
    hidden_contents: frozenset[str] = frozenset()
    """Repositories whose contents the token may not read, though it sees them: GraphQL has no
    default branch (cli/cli#12798)."""
    empty_payloads: bool = False
    """A mutation that is refused is an object that holds null, not null itself
    (wso2/mi-vscode#1608)."""
    after_refusal: AfterRefusal = AfterRefusal.RUN
    """Nobody has said what GitHub does."""
    stale_in_other_words: bool = False
    """`createCommitOnBranch` says where the branch is instead of STALE_DATA
    (babarot/gh-infra#163)."""
    below_a_file: Unresolved = Unresolved.NOT_FOUND
    """What GraphQL answers for a path below a file, a link or a submodule: nobody has said."""
    hidden_directories: Unresolved | None = None
    """GraphQL gives no directory by its path, though the one above lists it: nobody has said that
    it does that."""
    most_entries: int | None = None
    """So many entries of a directory are all that GraphQL lists, without a sign that there are
    more: nobody has said whether it does that."""
    odd_modes: bool = False
    """GraphQL gives files another mode than their tree has: nobody has said that it does that."""
    raw_names_are_utf8: bool = False
    """`nameRaw` of a name that is not UTF-8 holds replacement characters: nobody has said."""
    gone_api_versions: frozenset[str] = frozenset()
    """Values of X-GitHub-Api-Version that are answered 410 (docs: "API Versions")."""

    @property
    def weighs_queries(self) -> bool:
        limits = (self.partial_above, self.timeout_above, self.bad_gateway_above)
        return limits != (None, None, None)


class Written:
    """The writes of clients in one repository, and how often an answer has not shown them since."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._written: dict[str, float] = {}
        self._unseen: Counter[tuple[str, Symptom]] = Counter()
        self._lock = threading.Lock()

    def note(self, *things: str) -> None:
        """Remember that things, such as `branch x`, were made or changed just now."""
        with self._lock:
            for thing in things:
                self._written[thing] = self._now()
                for key in [key for key in self._unseen if key[0] == thing]:
                    del self._unseen[key]

    def symptom(self, lag: Lag | None, thing: str, *possible: Symptom) -> Symptom | None:
        """How an answer shows that it does not know a thing yet; None when it does."""
        fitting = [each for each in possible if lag is not None and each in lag.symptoms]
        with self._lock:
            if lag is None or not fitting or thing not in self._written:
                return None
            count = self._unseen[thing, possible[0]]
            passed = self._now() - self._written[thing]
            if count >= lag.answers and passed >= lag.seconds:
                return None
            self._unseen[thing, possible[0]] += 1
            return fitting[count % len(fitting)]
