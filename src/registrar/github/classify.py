"""The meaning of the answer to a failed request: one table, and one function that looks it up.

The first row that applies counts. For another answer of GitHub, add one row with its public source,
and one line in `tests/unit/test_classify.py`.
"""

from collections.abc import Callable
from functools import partial

from registrar.errors import Cause, Failure, Kind
from registrar.github.answer import GRAPHQL, NoAnswer, Response, Sent, Trouble
from registrar.github.case import (
    INACCESSIBLE,
    NOT_PERMITTED,
    OF_APP,
    UNREADABLE,
    Case,
    Context,
    Meaning,
    RefusalRow,
    cause_of,
    explanation,
)
from registrar.github.limits import asked_pause
from registrar.presence.special_files import WORKFLOW_FILES
from registrar.texts.messages import Message, msg

LEAST_AFTER_LIMIT = 60.0
"""The shortest pause, in seconds, after a limit that stopped only a part of a request."""
TRIES = 6
"""How often a request is sent if its failure may be temporary. The last try comes after about 16 s.

Two runs that create the same files meet "is at X but expected Y" at most a few times in a row: the
slower run soon finds that its file exists. Limits and lag have counters of their own.
"""
_may_pass = partial(RefusalRow, tries=TRIES, gave_up="host.gave_up")
_may_be_done = partial(_may_pass, may_have_been_applied=True)
_secondary = partial(RefusalRow, Kind.LIMIT, "fault.secondary_limit")
_primary = partial(RefusalRow, Kind.LIMIT, "fault.primary_limit")
_rejected = partial(RefusalRow, Kind.TOKEN_REJECTED)
_denied = partial(RefusalRow, Kind.PERMISSION)
_refused = partial(RefusalRow, Kind.REFUSED)
_invalid = partial(RefusalRow, Kind.VALIDATION)
_their_words = partial(RefusalRow, text="refusal.other")


def _lag(
    when: Callable[[Case], bool],
    status: tuple[int, ...],
    *says: str,
    text: str = "fault.lag",
    gave_up: str = "host.lag",
) -> RefusalRow:
    """Make a row for an answer that may be lag, and that is about something just created.

    Lag means that not all of GitHub's servers know the new thing yet.
    """
    return RefusalRow(
        Kind.LAG, text, status, says, when=lambda c: c.may_lag and when(c), gave_up=gave_up
    )


def _policy(
    kind: Kind, text: str, *says: str, when: Callable[[Case], bool] = lambda _: True
) -> RefusalRow:
    """Make a row for a policy, which applies to an answer of any status."""
    return RefusalRow(kind, text, says=says, when=when)


def _asks_too_much(case: Case) -> bool:
    says_so = case.says("Resource limits for this query exceeded")
    return case.is_graphql and (says_so or "RESOURCE_LIMITS_EXCEEDED" in case.types)


def _ran_out_of_time(case: Case) -> bool:
    phrases = (
        "Something went wrong while executing your query",
        "Timeout on validation of query",
        "timedout",
    )
    return case.is_graphql and case.says(*phrases)


def _is_query(case: Case) -> bool:
    return case.is_graphql and not case.writes


def _is_about_this_answer(case: Case) -> bool:
    is_beside_data = _is_query(case) and isinstance(case.field("data"), dict)
    return is_beside_data and not case.types <= UNREADABLE


def _is_stale(case: Case) -> bool:
    moved = case.says(" is at ") and case.says(" but expected ")
    return moved or "STALE_DATA" in case.types


def _is_new_commit(case: Case) -> bool:
    absent = "NOT_FOUND" in case.types or case.says("not found")
    return case.refused and case.writes and (absent or _is_stale(case))


def _has_sso_page(case: Case) -> bool:
    """Whether GitHub names the page on which a token is authorised for single sign-on.

    The same header says ``partial-results; …`` if a list lacks something:
    https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api
    """
    return case.headers.get("x-github-sso", "").startswith("required")


def _needs_sso(case: Case) -> bool:
    says_so = case.says("SAML enforcement") or any(error.names_saml for error in case.errors)
    return says_so or _has_sso_page(case)


def _is_forbidden(case: Case) -> bool:
    return case.status == 403 or not case.types.isdisjoint({"FORBIDDEN", "INSUFFICIENT_SCOPES"})


_LIMITED = (200, 403, 429)
"""Statuses of an answer that is a limit; 200 is one of them because of GraphQL."""
LIMITS: tuple[RefusalRow, ...] = (
    # cli/cli#4801, whatwg/spec-factory#55, Azure/azure-sdk-tools#7226
    RefusalRow(
        Kind.LIMIT,
        "fault.too_quickly",
        (200, *range(400, 500)),
        ("was submitted too quickly",),
        at_least_a_minute=True,
    ),
    # https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
    # Until 2021 GitHub called it abuse, and an old Enterprise Server still does
    # (piceaTech/node-gitlab-2-github#90, jcabi/jcabi-github#1325)
    _secondary(_LIMITED, ("secondary rate limit", "abuse detection mechanism")),
    _secondary(_LIMITED, when=lambda c: c.refers_to("secondary-rate-limits", "abuse-rate-limits")),
    _secondary(_LIMITED, when=lambda c: "gh-limited-by" in c.headers),
    # https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
    _primary((403, 429), when=lambda c: c.headers.get("x-ratelimit-remaining") == "0"),
    # renovatebot/renovate#21861, yanyongyu/githubkit#271
    _primary(_LIMITED, when=lambda c: not c.types.isdisjoint({"RATE_LIMITED", "RATE_LIMIT"})),
    _primary(_LIMITED, ("rate limit",), when=lambda c: "retry-after" not in c.headers),
    _secondary(_LIMITED, ("rate limit",)),
    _secondary((403,), when=lambda c: "retry-after" in c.headers),
    _secondary((429,)),
)
"""Answers that are a limit. GitHub did nothing; if GraphQL sends the error beside data, it did not
do a part of the request."""
UNUSABLE = _may_be_done(Kind.UNUSABLE, "fault.unusable")
"""The row for an answer that is not usable: a proxy's page, a body that was cut off, a field of
another type."""
CONTRADICTION = UNUSABLE._replace(text="fault.contradiction")
"""The row for a successful answer that contradicts itself; nothing is concluded from it."""
NOT_LISTED = RefusalRow(Kind.LAG, "fault.lag", gave_up="host.lag")
"""The row for a list that lacks something although GitHub has said that it exists."""

TABLE: tuple[RefusalRow, ...] = (
    # --- GraphQL: too much was asked at once ------------------------------------------------
    # outsourc-e/hermes-ecosystem#825
    RefusalRow(Kind.PARTIAL, "fault.partial", when=lambda c: _is_query(c) and _asks_too_much(c)),
    # cli/cli#7234, hunvreus/pagescms#423, MeltanoLabs/tap-github#466, Skydio/revup#271,
    # ossf/pvtr-github-repo-scanner#77
    _may_pass(
        Kind.TIMED_OUT,
        "fault.query_timeout",
        when=lambda c: _is_query(c) and _ran_out_of_time(c),
    ),
    # gfazioli/octoscope#153: after ten seconds
    _may_pass(Kind.TIMED_OUT, "fault.server_error", (502, 504), when=_is_query),
    # A mutation that took too long, and any other error of a server
    _may_be_done(
        Kind.TRANSIENT,
        "fault.server_error",
        when=lambda c: c.status // 100 == 5 or _asks_too_much(c) or _ran_out_of_time(c),
    ),
    # An answer without a message is not one of the API, but for example a page of a proxy
    UNUSABLE._replace(when=lambda c: not c.message),
    # --- Lag --------------------------------------------------------------------------------
    # github/branch-deploy#180: a file on a new branch. (If a permission is missing, GitHub answers
    # a plain "Not Found".)
    _lag(lambda c: c.says("not found"), (404,), "Branch "),
    # PyGithub/PyGithub#2759: reading a new branch; octokit/octokit.rb#622: its pull request
    _lag(lambda c: c.sent.method == "GET" or c.posts("pulls"), (404,)),
    # peter-evans/create-pull-request#4321: labels of a new pull request
    _lag(lambda c: c.misses_pull_request, (422,)),
    # googleapis/release-please#2754, googleapis/release-please#2782: the same in other words
    _lag(lambda c: c.posts("labels"), (422,), "Issue not found"),
    # renovatebot/renovate#42548: assignees of a new pull request. If the answer does not change,
    # GitHub cannot assign a login
    _lag(lambda c: c.posts("assignees"), (404,), text="refusal.assignee", gave_up=""),
    # octokit/octokit.rb#622, assafelovic/hive-mind#679, kdlbs/kandev#3134
    _lag(
        lambda c: c.posts("pulls"),
        (422,),
        "No commits between",
        "Head sha can't be blank",
        "Head ref must be a branch",
    ),
    _lag(lambda c: c.names("invalid", "head"), (422,)),
    # github/gh-aw#22564, ministryofjustice/modernisation-platform#11985: a commit on a new branch
    _lag(_is_new_commit, (200,)),
    # --- Failures that may pass -------------------------------------------------------------
    # https://docs.github.com/en/rest/metrics/statistics#a-word-about-caching
    _may_be_done(Kind.TRANSIENT, "fault.not_ready", (202,)),
    # PyGithub/PyGithub#1787, integrations/terraform-provider-github#2909: another write came first
    _may_pass(Kind.STALE, "fault.conflict", (409,), ("expected",), lambda c: c.says(" at ")),
    # github/rest-api-description#4887, orgs/community#121875: another try sometimes succeeds
    _refused(
        "fault.reference",
        (422,),
        ("Reference update failed",),
        tries=3,
        gave_up="refusal.reference",
    ),
    # https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api: somebody
    # made the label at the same moment
    _their_words(
        Kind.TRANSIENT,
        status=(422,),
        when=lambda c: c.posts("labels") and c.names("already_exists", "name"),
        tries=3,
    ),
    # The answer does not say why. It is not confirmed that another try can succeed
    _their_words(
        Kind.VALIDATION,
        status=(422,),
        when=lambda c: c.posts("pulls") and c.message == "Validation Failed",
        tries=2,
    ),
    # https://github.com/renovatebot/renovate/blob/main/lib/util/http/github.ts treats it as a
    # failure of GitHub if the answer has the rate limit of requests without a token
    _rejected(
        "refusal.token_rejected",
        (401,),
        ("Bad credentials",),
        lambda c: c.context.may_be_mistaken,
        tries=TRIES,
    ),
    # octokit/auth-app.js#65: GitHub may not know an App's token for its first five seconds. The
    # last try comes after about eight
    _rejected("refusal.token_rejected", (401,), when=lambda c: c.context.may_be_new, tries=5),
    # --- What exists, and what does not -----------------------------------------------------
    # renovatebot/renovate#20281; recordings of hub4j/github-api
    RefusalRow(
        Kind.ALREADY_EXISTS,
        "refusal.other",
        (422,),
        ("Reference already exists", '"sha" wasn\'t supplied', "A pull request already exists"),
    ),
    # An Enterprise Server without limits, asked for GET /rate_limit
    _their_words(Kind.NO_LIMITS, status=(404,), says=("Rate limiting is not enabled",)),
    # cli/cli#2661, Reviewable/Reviewable#804: the page of such a token has no Configure SSO
    _denied("refusal.sso_of_app", when=lambda c: _needs_sso(c) and c.context.prefix in OF_APP),
    _denied("refusal.sso", when=_has_sso_page),
    _denied("refusal.sso_without_address", when=_needs_sso),
    # --- Policies of the owner of the repository ----------------------------------------------
    # NixOS/org#247, nodejs/nodejs.org#8531: a policy of an organisation, or of its enterprise
    _policy(
        Kind.PERMISSION,
        "refusal.policy_lifetime",
        "if the token's lifetime is greater than",
    ),
    # refined-github/refined-github#6951, fullsend-ai/fullsend#3368, raycast/extensions#20898
    _policy(
        Kind.PERMISSION,
        "refusal.policy_classic",
        "forbids access via a personal access token (classic)",
    ),
    # mislav/hub#3363
    _policy(
        Kind.PERMISSION,
        "refusal.policy_fine_grained",
        "forbids access via a personal access token with fine-grained permissions",
        "forbids access via a fine-grained personal access token",
    ),
    # aquasecurity/trivy-action#573, SalesforceFoundation/NPSP#7247
    _policy(Kind.PERMISSION, "refusal.policy_address", "has an IP allow list enabled"),
    # aeonfun/aeon#1083
    _policy(
        Kind.PERMISSION, "refusal.policy_oauth_app", "has enabled OAuth App access restrictions"
    ),
    # hcengineering/platform#7639
    _policy(Kind.TOKEN_REJECTED, "refusal.suspended_app", "This installation has been suspended"),
    # sourcegraph/sourcegraph-public-snapshot#16638
    # github/site-policy#1258: the words of git, not confirmed for the API
    _policy(
        Kind.TOKEN_REJECTED,
        "refusal.suspended_account",
        "Your account was suspended",
        "Your account is suspended",
    ),
    # utterance/utterances#534
    _policy(
        Kind.PERMISSION, "refusal.unverified_account", "At least one email address must be verified"
    ),
    # PyGithub/PyGithub#1015, caarlos0/fork-cleaner#99; 451, for legal reasons:
    # github/rest-api-description#3314
    _policy(Kind.REFUSED, "refusal.taken_down", "epository access blocked"),
    # trilom/file-changes-action#138: the default branch was rewritten, or the branch has no parent
    _their_words(Kind.UNRELATED, status=(404,), says=("No common ancestor between",)),
    # https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
    _their_words(
        Kind.NOT_FOUND,
        status=(404,),
        when=lambda c: not c.writes and c.field("message") == "Not Found",
    ),
    _their_words(
        Kind.NOT_FOUND, status=(200,), when=lambda c: c.refused and c.repository_is_missing
    ),
    # anthropics/claude-code-action#1018, github/gh-aw#18556: logins of mannequins and organisations
    _their_words(
        Kind.NOT_FOUND,
        status=(404,),
        says=("is not a user",),
        when=lambda c: "/collaborators/" in c.sent.target,
    ),
    # octokit/octokit.rb#1104, octokit/core.js#414: files above 1 MB in 2021, 100 MB since then
    _their_words(
        Kind.TOO_LARGE,
        status=(403,),
        when=lambda c: c.sent.method == "GET" and c.names("too_large", "data"),
    ),
    # github/rest-api-description#385, GSA/codeinventory-github#1
    RefusalRow(
        Kind.EMPTY_REPOSITORY,
        "refusal.empty",
        says=("Git Repository is empty", "This repository is empty"),
    ),
    # --- What the token may not do ----------------------------------------------------------
    # actions/add-to-project#289: Enterprise Server before 3.10 (github/roadmap#622)
    _rejected("refusal.fine_grained_graphql", (401,), ("do not support the GraphQL API",)),
    _rejected("refusal.token_rejected", (401,)),
    # https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api: after several
    # tokens that GitHub did not accept, it takes none of the user's for a while
    # (PyGithub/PyGithub#1248, semantic-release/cli#124)
    # Not confirmed for GraphQL
    _rejected("refusal.login_attempts", says=("number of login attempts exceeded",)),
    # fulldecent/pfBlockerNG#1799
    _denied("refusal.actions_pull_requests", says=("is not permitted to create or approve",)),
    # r-universe-org/help#247
    RefusalRow(Kind.OUT_OF_REACH, "refusal.archived", says=("was archived",)),
    # cli/cli#10574, apple/pkl-project-commons#63, GD4AI/obsidian-llm-wiki#715; dmf-mxl/mxl#355 has
    # these words below "rule violations"
    _denied(
        "refusal.workflow_scope",
        says=("refusing to allow",),
        when=lambda c: c.says("workflow"),
    ),
    # octokit/octokit.rb#1184, PyGithub/PyGithub#2414, googleapis/release-please-action#704
    _denied(
        "refusal.workflow_scope",
        (403, 404),
        when=lambda c: c.writes and f"/contents/{WORKFLOW_FILES}" in c.sent.target,
    ),
    # Not confirmed for GraphQL; the second words are those for another mutation
    # (russellbanks/Komac#1726, russellbanks/Komac#1753)
    _denied(
        "refusal.workflow_scope",
        says=(INACCESSIBLE, NOT_PERMITTED),
        when=lambda c: c.commits(WORKFLOW_FILES),
    ),
    # russellbanks/Komac#1142: GitHub does not say which permission is missing
    _denied("refusal.not_permitted", says=(NOT_PERMITTED,)),
    # RoamJS/roamjs-components#31
    _denied("refusal.own_token", says=(INACCESSIBLE,), when=lambda c: c.context.is_foreign),
    # actions/github-script#42, marocchino/sticky-pull-request-comment#227
    _denied(
        "refusal.fork_token",
        says=(f"{INACCESSIBLE} integration",),
        when=lambda c: c.context.is_of_fork and c.context.is_installation,
    ),
    _denied("refusal.fine_grained_permission", says=(f"{INACCESSIBLE} personal access token",)),
    # Also for a token with which an App acts for a user (`ghu_…`)
    _denied("refusal.installation_permission", says=(INACCESSIBLE,)),
    # --- Labels and people: GitHub may refuse only one of several names ----------------------
    # actions/labeler#870, Songmu/tagpr#194: *Pull requests: write* does not suffice since 2025
    _invalid("refusal.label", (403,), ("permission to create labels",)),
    # wow-actions/auto-assign#8: a login that does not belong to a person, such as a bot's
    _invalid("refusal.assignee", (404,), when=lambda c: c.posts("assignees")),
    # vsoch/pull-request-action#29, PyGithub/PyGithub#1499, PostHog/posthog-js#2952
    _invalid(
        "refusal.team",
        (422,),
        ("Could not resolve to a node",),
        lambda c: c.posts("requested_reviewers"),
    ),
    # bkeepers/probot-owners#21; kerthcet/github-workflow-as-kube#16, mergeability/mergeable#486
    _invalid(
        "refusal.reviewer",
        (422,),
        (
            "may only be requested from collaborators",
            "cannot be requested from pull request author",
        ),
    ),
    # cli/cli#8670: opening a pull request
    _denied("refusal.collaborators_only", says=("must be a collaborator",)),
    _denied("refusal.no_place", (404,), when=lambda c: c.writes),
    # --- Other refusals ---------------------------------------------------------------------
    # https://docs.github.com/en/rest/about-the-rest-api/api-versions: GitHub supports a version for
    # 24 months, and then answers 410. A 410 also has other meanings, for example disabled issues
    # (https://docs.github.com/en/rest/issues/labels#add-labels-to-an-issue)
    RefusalRow(
        Kind.FATAL,
        "host.api_version",
        (410,),
        when=lambda c: "version" in c.message.lower() or c.refers_to("api-versions"),
    ),
    RefusalRow(Kind.FATAL, "refusal.redirect", tuple(range(300, 400))),
    # https://docs.github.com/en/code-security/secret-scanning/introduction/about-push-protection
    _refused("refusal.secret", says=("Secret detected in content",)),
    # peter-evans/create-pull-request#1936, grafana/pyroscope-dotnet#386: GitHub signs commits by
    # REST only for Apps. An Enterprise Server signs commits only if its administrator set this up
    _refused(
        "refusal.signatures_on_server",
        when=lambda c: c.lacks_only_a_signature and "x-github-enterprise-version" in c.headers,
    ),
    _refused("refusal.signatures", when=lambda c: c.lacks_only_a_signature),
    # renovatebot/renovate#42554, renovatebot/renovate#44819
    _refused("refusal.push_ruleset", says=("ile path is restricted",)),
    # https://docs.github.com/en/rest/repos/contents#create-or-update-file-contents
    _refused("refusal.ruleset", says=("rule violations found",)),
    # BobAnkh/auto-generate-changelog#78, BobAnkh/auto-generate-changelog#58
    # Thinkmill/keystatic#1598: the same in GraphQL; a ruleset has the type FORBIDDEN
    _refused(
        "refusal.branch_protection",
        when=lambda c: (
            "BRANCH_PROTECTION_RULE_VIOLATION" in c.types
            or (c.status == 409 and c.says("Could not create file", "Could not update file"))
        ),
    ),
    # microsoft/vscode-remote-repositories-github#122: the branch `a` exists and `a/b` is to be
    # created, or the other way round
    _refused(
        "fault.reference",
        (200,),
        ("Ref cannot be created",),
        lambda c: c.refused,
        gave_up="refusal.reference",
    ),
    # Molunerfinn/PicGo#955
    _refused("refusal.parent_is_file", says=("a file exists where",)),
    # decaporg/decap-cms: a path with an empty part between two slashes
    _invalid("refusal.malformed_path", (422,), ("malformed path component",)),
    # Plans without draft pull requests: https://docs.github.com/en/rest/pulls/pulls
    _their_words(Kind.NO_DRAFTS, says=("raft pull requests",)),
    # ministryofjustice/modernisation-platform#11985, babarot/gh-infra#163
    RefusalRow(Kind.STALE, "fault.conflict", when=_is_stale),
    _their_words(Kind.PERMISSION, when=_is_forbidden),
    _their_words(Kind.VALIDATION, when=lambda c: c.status == 422 or "UNPROCESSABLE" in c.types),
    # An error of an unknown type, or without one. It is not confirmed that another try can succeed
    _may_pass(Kind.TRANSIENT, "refusal.other", (200,), when=_is_about_this_answer),
    _their_words(Kind.REFUSED, status=(200, 409, 410, 451), when=lambda c: c.refused),
    _their_words(Kind.UNEXPECTED, when=lambda c: bool(c.message)),
)


def classify(case: Case, now: float, row: RefusalRow | None = None) -> Meaning:
    """Return the meaning of the answer to a failed request.

    ``now`` is the time in seconds since the epoch. ``row`` is given if the caller knows already
    which row applies.
    """
    row = row or _row_of(case) or UNUSABLE
    pause = asked_pause(case.headers, now, is_limit=row.kind is Kind.LIMIT)
    reason = explanation(row.text, case, case.context)
    return Meaning(row, reason, cause_of(row.name, case, case.sent, case.context), pause)


def limit_beside_data(answer: Response, context: Context, now: float) -> Meaning | None:
    """Return the limit that stopped a part of a GraphQL request; ``None`` if there was none.

    The other mutations of the request were done. The next request has to wait for the ``pause`` of
    the meaning. ``now`` is the time in seconds since the epoch.
    """
    limit = _limit_of(_of_graphql(answer, context, writes=True))
    if limit is None:
        return None
    asked = asked_pause(answer.headers, now, is_limit=True) or 0.0
    reason = explanation(limit.text, answer, context)
    return Meaning(limit, reason, pause=max(asked, LEAST_AFTER_LIMIT))


def failure_beside_data(answer: Response, context: Context, operation: Message) -> Failure:
    """Return the failure of a part of a GraphQL query, if the other parts of its answer are used.

    ``answer`` has only the errors about that part. ``operation`` describes it for people.
    """
    meaning = classify(_of_graphql(answer, context, writes=False), 0.0)
    message = msg("host.failed", operation=operation, reason=meaning.reason)
    return Failure(meaning.kind, message, Cause(meaning.reason, meaning.cause))


def _of_graphql(answer: Response, context: Context, *, writes: bool) -> Case:
    sent = Sent("POST", GRAPHQL)
    return Case(answer.status, answer.headers, answer.data, sent, writes, context, may_lag=False)


def classify_no_answer(answer: NoAnswer, sent: Sent, context: Context, *, writes: bool) -> Meaning:
    """Return the meaning of a failure in which no answer came to a request."""
    row = _row_without_answer(answer, is_query=sent.target == GRAPHQL and not writes)
    values = {"detail": answer.detail or "-", "seconds": round(answer.seconds)}
    return Meaning(row, msg(row.text, host=context.host, **values), row.name)


def _row_without_answer(answer: NoAnswer, *, is_query: bool) -> RefusalRow:
    if answer.trouble is Trouble.LASTING:
        return RefusalRow(Kind.FATAL, answer.text)
    if answer.trouble is Trouble.TOO_LARGE and is_query:
        # The caller can ask for less at once, so the same query is not sent again
        return RefusalRow(Kind.PARTIAL, answer.text)
    return RefusalRow(
        Kind.TRANSIENT,
        answer.text,
        tries=TRIES,
        may_have_been_applied=answer.trouble is not Trouble.NOT_SENT,
        gave_up="host.unreachable",
    )


def _row_of(case: Case) -> RefusalRow | None:
    limit = _limit_of(case) if case.refused else None
    return limit or next((row for row in TABLE if row.holds(case)), None)


def _limit_of(case: Case) -> RefusalRow | None:
    return next((row for row in LIMITS if row.holds(case)), None)
