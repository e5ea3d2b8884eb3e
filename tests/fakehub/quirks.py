"""Switches for behaviour of GitHub that is missing in its description. All are off by default."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Symptom(StrEnum):
    """An answer that shows that GitHub does not know a write everywhere yet."""

    CONTENTS = "PUT contents: the branch just made is not found"
    """github/branch-deploy#180."""
    REFERENCE = "GET git/ref and git/matching-refs: the branch just made is not there"
    """PyGithub/PyGithub#2759."""
    GRAPHQL_REFERENCE = "GraphQL ref: the branch just made is null"
    """Nobody has confirmed this; it is assumed to be the same as in REST."""
    COMMIT_NO_BRANCH = "createCommitOnBranch: the branch just made is not found"
    """github/gh-aw#22564."""
    COMMIT_STALE = "createCommitOnBranch: STALE_DATA on the branch just made"
    """ministryofjustice/modernisation-platform#11985."""
    PULL_NO_COMMITS = "a new pull request: No commits between"
    """octokit/octokit.rb#622 shows it for some seconds after the last commit of the branch."""
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
    """How long other calls do not know a write through the API.

    They do not know it until `seconds` have passed since the write (by the stand-in's clock), and
    until `answers` answers have not shown it. If several `symptoms` fit an answer, they take turns.
    Changes that a test makes itself (`Acts.commit`, `create_branch`, `open_pull_request`) are
    known at once.
    """

    seconds: float = 0.0
    answers: int = 0
    symptoms: Sequence[Symptom] = tuple(Symptom)


class Unresolved(StrEnum):
    """The ways in which GraphQL may answer for a path without giving an object."""

    NOT_FOUND = "null and an error of the type NOT_FOUND"
    """The integration tests of changesets/ghcommit show it."""
    WITHOUT_TYPE = "null and an error without a type"
    NULL = "null without an error"


class AfterRefusal(StrEnum):
    """The effect on the other mutations of a request if one of them is refused."""

    RUN = "those behind it run all the same"
    """The GraphQL specification says so for fields that may be null."""
    STOP = "those behind it are null, without an error"
    UNDONE = "none of them is done, and there is one error"


@dataclass(slots=True)
class Quirks:
    """The switches.

    The size of a query is the number of its aliased fields. A field below `nodes(ids:)` counts once
    for each id.
    """

    lag: Lag | None = None
    role: str = "WRITE"
    """The role of everybody who may push: `WRITE`, `MAINTAIN` or `ADMIN`."""
    hides_permissions: bool = False
    """The token may not read the permissions of other accounts. Nobody has confirmed this."""
    flaky_references: list[int] = field(default_factory=list)
    """Statuses of the answers to the next POSTs to git/refs, one for each request: 422 `Reference
    update failed`, 500 or 502. The reference is not created (github/rest-api-description#4887)."""
    vague_pulls: int = 0
    """The number of next POSTs to pulls that are answered 422 `Validation Failed` without a reason;
    no pull request is opened. Nobody has confirmed that a later request succeeds."""
    label_races: int = 0
    """The number of next POSTs of labels that are answered 422 with `already_exists`, because
    somebody has just created one of the labels (docs: "Troubleshooting the REST API")."""
    public_repo_makes_no_branch: bool = False
    """`POST git/refs` requires the scope `repo` in public repositories, too
    (WordPress/contributor-toolkit#179). The docs ("Scopes for OAuth apps") say otherwise."""
    most_shown: int = 100_000_000
    """The size in bytes of the largest file that `GET contents` shows; for a larger file it answers
    403 `too_large`. Until 2022 the limit was 1,048,576 (octokit/core.js#414,
    octokit/octokit.rb#1104)."""
    most_found: int = 10_000_000
    """The size in bytes of the largest file that GraphQL finds (sveltia/sveltia-cms#692)."""
    most_wrong_tokens: int = 10
    """The number of requests in a row with a wrong token that get 401; the next ones get 403. The
    docs ("Authenticating to the REST API") say "several"."""
    odd_errors: int = 0
    """The number of next queries whose answer has its data and an error of an unknown type. Nobody
    has seen this."""
    partial_above: int | None = None
    """Size above which a query gets some of its fields and an error for each of the others
    (GitHub changelog, 2025-09-01, "GraphQL API resource limits")."""
    timeout_above: int | None = None
    """Size above which a query gets no data and an error at status 200
    (gayanvoice/top-github-users#107)."""
    bad_gateway_above: int | None = None
    """Size above which a query ends in a 502 (gfazioli/octoscope#153)."""
    points_of_timeout: int = 0
    """The points that a query that took too long costs in addition to its own (docs: "Rate limits
    and query limits for the GraphQL API")."""
    old_ids: bool = False
    """REST gives the old form of the ids of repositories. GraphQL takes both forms and answers with
    the new one (docs: "Migrating GraphQL global node IDs")."""
    empty_properties: bool = False
    """Repositories are shown with ``custom_properties`` of ``{}``, even if they have values. This
    is not confirmed, but plausible for an App without the permission *Custom properties*."""
    without_properties: bool = False
    """Repositories are shown without ``custom_properties``, which the description allows."""
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
    """The number of entries of a tree that GitHub lists in one answer (docs: "Get a tree")."""
    missing: Unresolved = Unresolved.NOT_FOUND
    """The answer of GraphQL for a path that does not exist. Only `NOT_FOUND` has been seen."""
    hidden_pull_requests: frozenset[int] = frozenset()
    """GraphQL shows null instead of the pull requests with these numbers, as it does for an
    organisation that requires single sign-on (jasperapp/jasper#187)."""
    unlisted_pull_requests: frozenset[int] = frozenset()
    """No list shows the pull requests with these numbers. GitHub still refuses another pull request
    for the same branches (repo-sync/pull-request#56)."""
    hidden_contents: frozenset[str] = frozenset()
    """Repositories that the token sees, but whose contents it may not read. GraphQL shows null as
    their default branch (cli/cli#12798)."""
    empty_payloads: bool = False
    """The result of a refused mutation is an object whose fields are null, not null itself
    (wso2/mi-vscode#1608)."""
    after_refusal: AfterRefusal = AfterRefusal.RUN
    """Nobody has confirmed which of them GitHub does."""
    stale_in_other_words: bool = False
    """`createCommitOnBranch` answers with the commit of the branch instead of STALE_DATA
    (babarot/gh-infra#163)."""
    below_a_file: Unresolved = Unresolved.NOT_FOUND
    """The answer of GraphQL for a path below a file, a link or a submodule. It is not confirmed."""
    hidden_directories: Unresolved | None = None
    """The answer of GraphQL for the path of a directory, although the directory above lists it;
    None if GraphQL shows directories. Nobody has seen this."""
    most_entries: int | None = None
    """The number of entries of a directory that GraphQL lists, without a sign that there are more;
    None if it lists all. Nobody has seen this."""
    odd_modes: bool = False
    """GraphQL shows another mode of a file than its tree has. Nobody has seen this."""
    raw_names_are_utf8: bool = False
    """`nameRaw` has replacement characters if a name is not UTF-8. This is not confirmed."""
    gone_api_versions: frozenset[str] = frozenset()
    """The values of X-GitHub-Api-Version that GitHub answers with 410 (docs: "API Versions")."""

    @property
    def weighs_queries(self) -> bool:
        limits = (self.partial_above, self.timeout_above, self.bad_gateway_above)
        return limits != (None, None, None)


class Written:
    """The writes of clients in one repository, and the number of answers that did not show them."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._written: dict[str, float] = {}
        self._unseen: Counter[tuple[str, Symptom]] = Counter()
        self._lock = threading.Lock()

    def note(self, *things: str) -> None:
        """Remember that things, such as `branch x`, have just been created or changed."""
        with self._lock:
            for thing in things:
                self._written[thing] = self._now()
                for key in [key for key in self._unseen if key[0] == thing]:
                    del self._unseen[key]

    def symptom(self, lag: Lag | None, thing: str, *possible: Symptom) -> Symptom | None:
        """Return how an answer shows that it does not know a thing yet; None if it knows it.

        `possible` has the symptoms that this kind of answer can show.
        """
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
