"""The table of the meanings of answers, row by row; nothing else decides them."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from registrar.errors import Failure, GitHubError, Kind, exit_code
from registrar.github.answer import GRAPHQL, GraphQLError, NoAnswer, Response, Sent, Trouble
from registrar.github.case import (
    Case,
    Context,
    Meaning,
    cause_of,
    explanation,
    prefix_of,
    words_alone,
)
from registrar.github.classify import (
    CONTRADICTION,
    NOT_LISTED,
    TABLE,
    UNUSABLE,
    classify,
    classify_no_answer,
    limit_beside_data,
)
from registrar.github.classify import LIMITS as LIMITED
from registrar.github.graphql import refusal
from registrar.github.parse_graphql import is_about_directory
from registrar.texts.messages import LANGUAGES, Catalogue, msg

HERE = Context("api.github.com", "octo/example", "", "")
NOW = 1_577_836_800.0


def request(call: str) -> tuple[Sent, bool]:
    """Return a request such as ``PUT contents/a``, and whether it writes.

    ``query`` is a query of GraphQL.
    """
    method, _, path = call.partition(" ")
    if method in {"query", "mutation"}:
        return Sent("POST", GRAPHQL), method == "mutation"
    return Sent(method, f"/repos/o/r/{path}"), method != "GET"


def answer(status: int, body: Any, **headers: str) -> Response:
    """Return an answer whose body is a message or JSON."""
    data = {"message": body} if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status, named, data)


def invalid(**error: str) -> Response:
    """Return the answer to a value that GitHub does not accept, with one detail."""
    return answer(422, {"message": "Validation Failed", "errors": [error]})


def errors(*types_and_messages: tuple[str, str], data: Any = None, path: Any = None) -> Any:
    """Return the body of a GraphQL answer with these errors."""
    found = [{"type": t, "message": m, "path": path} for t, m in types_and_messages]
    return {"data": data, "errors": found}


def outcome(
    call: str, found: Response | NoAnswer, *, may_lag: bool = False, context: Context = HERE
) -> Meaning:
    """Return the meaning of an answer that is not a success, or of a missing answer."""
    sent, writes = request(call)
    if isinstance(found, NoAnswer):
        return classify_no_answer(found, sent, context, writes=writes)
    case = Case(found.status, found.headers, found.data, sent, writes, context, may_lag)
    return classify(case, NOW)


SIGNED = "Commits must have verified signatures."
TOO_MUCH_SAID = "Resource limits for this query exceeded."
REFUSALS = [
    # The columns are call, status, words, kind and explanation, for REST. Published answers are in
    # tests/recordings instead; only rows about the number of tries are in both
    ("GET contents/a", 404, "not found", Kind.UNEXPECTED, "refusal.other"),
    ("POST git/refs", 422, "Reference update failed", Kind.REFUSED, "fault.reference"),
    ("PUT contents/a", 409, "x is at X but expected Y", Kind.STALE, "fault.conflict"),
    (
        "PUT contents/a",
        409,
        "Could not update file: 2 of 2 required status checks are expected.",
        Kind.REFUSED,
        "refusal.branch_protection",
    ),
    ("PUT contents/a", 422, "Secret detected in content", Kind.REFUSED, "refusal.secret"),
    ("PUT contents/a", 409, "What?", Kind.REFUSED, "refusal.other"),
    ("POST pulls", 422, "Validation Failed", Kind.VALIDATION, "refusal.other"),
    ("POST pulls", 422, "Validation Failed; base: invalid", Kind.VALIDATION, "refusal.other"),
    ("PUT contents/a", 403, "No.", Kind.PERMISSION, "refusal.other"),
    ("PUT contents/a", 403, "Could not create file: No.", Kind.PERMISSION, "refusal.other"),
    ("POST x", 410, "Issues are disabled for this repo", Kind.REFUSED, "refusal.other"),
    *[
        ("PUT contents/a", 409, words, Kind.REFUSED, f"refusal.{text}")
        for words, text in (
            (f"Repository rule violations found\n\n{SIGNED}\n\nNo more\n\n", "ruleset"),
            (f"Repository rule violations found\n\nNo merges.\n\n{SIGNED}", "ruleset"),
            (f"Could not create file: {SIGNED}", "signatures"),
            (f"Could not create file: {SIGNED} Found 1 violation: {'ab' * 20}", "signatures"),
            (f"Could not create file: {SIGNED} No merges.", "branch_protection"),
            # These are the words of git
            (
                (
                    "Repository rule violations found for refs/heads/x.\nReview all repository "
                    f"rules at https://github.com/o/r/rules?ref=x\n\n- {SIGNED}\n  Found 1 "
                    f"violation:\n\n  {'ab' * 20}\n"
                ),
                "signatures",
            ),
        )
    ],
    *[
        ("PUT contents/a", 409, words, Kind.REFUSED, f"refusal.{text}")
        for words, text in (
            ("Repository rule violations found\n\nFile path is restricted\n\n", "push_ruleset"),
            (
                "Repository rule violations found\n\nCreations are restricted.",
                "ruleset",
            ),
            ("Repository rule violations found\n\nCommit message must match a pattern", "ruleset"),
        )
    ],
    *[
        (
            call,
            status,
            f"refusing to allow {who} to create or update workflow `.github/workflows/a` {lack}",
            Kind.PERMISSION,
            "refusal.workflow_scope",
        )
        for call, status in (("POST git/refs", 422), ("PUT contents/a", 403), ("POST pulls", 422))
        for who, lack in (
            ("a GitHub App", "without `workflows` permission"),
            ("an OAuth App", "without `workflow` scope"),
        )
    ],
    (
        "POST git/refs",
        403,
        "u does not have the correct permissions to execute `CreateRef`",
        Kind.PERMISSION,
        "refusal.not_permitted",
    ),
    ("GET x", 410, "Version x is gone", Kind.FATAL, "host.api_version"),
    ("GET x", 451, "No.", Kind.REFUSED, "refusal.other"),
    ("GET x", 418, "I am a teapot", Kind.UNEXPECTED, "refusal.other"),
    ("GET x", 400, "Problems parsing JSON", Kind.UNEXPECTED, "refusal.other"),
    # The words of a query that asks too much, in an answer of REST
    ("PUT contents/timedout", 422, "timedout: is bad", Kind.VALIDATION, "refusal.other"),
    ("PUT contents/a", 409, TOO_MUCH_SAID, Kind.REFUSED, "refusal.other"),
    # The file has the name of another address
    ("PUT contents/pulls", 422, "Validation Failed", Kind.VALIDATION, "refusal.other"),
]


@pytest.mark.parametrize(("call", "status", "words", "kind", "text"), REFUSALS)
def test_refusals(call: str, status: int, words: str, kind: Kind, text: str) -> None:
    found = outcome(call, answer(status, words))
    assert (found.kind, found.reason.key) == (kind, text)
    # If GitHub gives no reason for refusing a pull request, the request is sent once more
    once_more = {"Validation Failed": 2} if call == "POST pulls" else {}
    assert found.row.tries == {"fault.conflict": 6, "fault.reference": 3, **once_more}.get(
        text if text.startswith("fault") else words, 1
    )
    assert not found.row.may_have_been_applied


POLICIES = {
    "The 'o' enterprise forbids access via a fine-grained personal access tokens if the token's "
    "lifetime is greater than 90 days. Please adjust": "policy_lifetime",
    "`o` forbids access via a personal access token (classic). Please use": "policy_classic",
    "`o` forbids access via a personal access token with fine-grained permissions. Please use a "
    "GitHub App": "policy_fine_grained",
    "the `o` organization has an IP allow list enabled, and 1.2.3.4 is not": "policy_address",
    "the `o` organization has enabled OAuth App access restrictions, meaning": "policy_oauth_app",
    "This installation has been suspended": "suspended_app",
    "Sorry. Your account was suspended.": "suspended_account",
    "Your account is suspended. Please visit https://support.github.com": "suspended_account",
    "At least one email address must be verified to do that.": "unverified_account",
}


@pytest.mark.parametrize("words", POLICIES)
def test_a_policy_is_known_by_its_words(words: str) -> None:
    """This holds for REST and GraphQL. The type of the error in GraphQL is not confirmed."""
    for call, given in (
        ("GET x", answer(403, words)),
        *(("query", answer(200, errors((kind, words)))) for kind in ("FORBIDDEN", "WHATEVER", "")),
    ):
        found = outcome(call, given)
        assert found.reason.key == f"refusal.{POLICIES[words]}"


@pytest.mark.parametrize(
    ("call", "more", "text"),
    [
        ("PUT contents/.github/workflows/a", {}, "workflow_scope"),
        ("PUT contents/a", {"token": "v1.", "own": "octo/Other"}, "own_token"),
        ("PUT contents/a", {"token": "ghu_", "own": "octo/Other"}, "installation_permission"),
        ("GET contents/.github/workflows/a", {}, "installation_permission"),
        ("PUT contents/a", {}, "installation_permission"),
        ("PUT contents/a", {"own": "octo/Other"}, "own_token"),
        ("PUT contents/a", {"own": "Octo/example"}, "installation_permission"),
        ("PUT contents/a", {"own": "o/r", "target": "o/R"}, "installation_permission"),
        ("GET a", {"own": "octo/Other", "target": ""}, "installation_permission"),
        ("POST git/refs", {"own": "octo/example", "is_of_fork": True}, "fork_token"),
        ("POST git/refs", {"token": "ghu_", "is_of_fork": True}, "installation_permission"),
    ],
)
def test_permissions_of_an_app(call: str, more: dict[str, Any], text: str) -> None:
    target, own = more.get("target", "octo/example"), more.get("own", "")
    is_of_fork = "is_of_fork" in more
    context = Context("h", target, more.get("token", "ghs_"), own, is_of_fork=is_of_fork)
    found = outcome(call, answer(403, "Resource not accessible by integration"), context=context)
    assert (found.kind, found.reason.key) == (Kind.PERMISSION, f"refusal.{text}")


@pytest.mark.parametrize(
    ("token", "named", "unnamed"),
    [
        ("ghp_x", "sso", "sso_without_address"),
        ("0123456789abcdef", "sso", "sso_without_address"),
        ("gho_x", "sso_of_app", "sso_of_app"),
        ("ghu_x", "sso_of_app", "sso_of_app"),
        ("github_pat_x", "sso", "sso_without_address"),
        ("ghs_x", "sso", "sso_without_address"),
    ],
)
def test_single_sign_on_fits_the_token(token: str, named: str, unnamed: str) -> None:
    context = Context("h", "octo/example", prefix_of(token), "")
    page = "https://github.com/orgs/octo/sso?a=b"
    with_page = {"x_github_sso": f"required; url={page}"}
    words = "Resource protected by organization SAML enforcement."
    for key, given in (
        (named, answer(403, words, **with_page)),
        (named, answer(404, "Not Found", **with_page)),
        (unnamed, answer(403, words)),
    ):
        found = outcome("GET contents/a", given, context=context)
        assert (found.kind, found.reason.key) == (Kind.PERMISSION, f"refusal.{key}")
        assert found.reason.values["url"] == (page if given.headers else "-")


@pytest.mark.parametrize("status", [403, 404])
def test_a_list_that_lacks_something_needs_no_single_sign_on(status: int) -> None:
    headers = {"x_github_sso": "partial-results; organizations=1,2"}
    found = outcome("PUT contents/a", answer(status, "No", **headers))
    assert found.reason.key != "refusal.sso"


@pytest.mark.parametrize(
    ("is_installation", "was_accepted", "rejections", "tries"),
    [
        (True, False, 0, 5),
        (True, True, 2, 1),
        (False, True, 1, 6),
        (False, False, 0, 1),
    ],
)
def test_a_token_of_an_app_may_be_too_new_and_any_may_be_rejected_by_mistake(
    is_installation: bool, was_accepted: bool, rejections: int, tries: int
) -> None:
    prefix = "ghs_" if is_installation else "ghp_"
    context = Context("h", "octo/example", prefix, "", was_accepted, rejections)
    for call in ("GET rate_limit", "query"):
        found = outcome(call, answer(401, "Bad credentials"), context=context)
        assert (found.kind, found.reason.key) == (Kind.TOKEN_REJECTED, "refusal.token_rejected")
        assert (found.row.tries, found.row.may_have_been_applied) == (tries, False)


# --- Answers of one meaning each ----------------------------------------------------------------

TOO_MUCH = (
    errors(("RESOURCE_LIMITS_EXCEEDED", "x"), data={"repository": {"p0": None}}),
    errors(("", TOO_MUCH_SAID), data={"repository": {"a": 1}}),
)
TIMEOUTS = (
    "Something went wrong while executing your query. This may be a timeout.",
    "Timeout on validation of query",
    "timedout",
)
CALLS = ("GET x", "query", "mutation")
SERVER = {"x-github-enterprise-version": "3.14.2"}
RULE = f"Repository rule violations found\n\n{SIGNED}"
API_VERSIONS = "https://docs.github.com/en/rest/about-the-rest-api/api-versions"
GONE = {"message": "Gone", "documentation_url": API_VERSIONS}
SAML = {"type": "FORBIDDEN", "message": "No", "extensions": {"saml_failure": True}}
LOGINS = "Maximum number of login attempts exceeded. Please try again later."
TOO_LARGE = {"message": "x", "errors": [{"resource": "Blob", "field": "data", "code": "too_large"}]}
EXISTS = invalid(resource="Label", code="already_exists", field="name")
EXISTS_IN_WORDS = answer(422, {"message": "Validation Failed", "errors": ["name already_exists"]})
UNREAD = NoAnswer(Trouble.TOO_LARGE, "fault.too_large")
ANSWERS = [
    # The last column has the kind, the number of tries and the explanation
    ("PUT x", answer(409, RULE, **SERVER), "REFUSED 1 refusal.signatures_on_server"),
    # The remedy is about commits by REST, and about signatures alone
    ("PUT x", answer(409, f"{RULE}\n\nNo merges.", **SERVER), "REFUSED 1 refusal.ruleset"),
    ("mutation", answer(200, errors(("FORBIDDEN", RULE)), **SERVER), "REFUSED 1 refusal.ruleset"),
    ("GET x", answer(410, GONE), "FATAL 1 host.api_version"),
    *(
        ("query", answer(200, body), "PERMISSION 1 refusal.sso_without_address")
        for body in (errors(("FORBIDDEN", "protected: SAML enforcement")), {"errors": [SAML]})
    ),
    # Nobody has confirmed how GraphQL says that there were too many wrong tokens
    *((call, answer(403, LOGINS), "TOKEN_REJECTED 1 refusal.login_attempts") for call in CALLS[:2]),
    *(
        ("query", answer(200, errors((kind, LOGINS))), "TOKEN_REJECTED 1 refusal.login_attempts")
        for kind in ("", "FORBIDDEN")
    ),
    ("GET contents/a", answer(403, TOO_LARGE), "TOO_LARGE 1 refusal.other"),
    ("PUT contents/a", answer(403, TOO_LARGE), "PERMISSION 1 refusal.other"),
    # A label may lag at the same moment
    ("POST issues/1/labels", EXISTS, "TRANSIENT 3 refusal.other"),
    ("POST pulls", EXISTS, "VALIDATION 1 refusal.other"),
    ("POST issues/1/labels", EXISTS_IN_WORDS, "VALIDATION 1 refusal.other"),
    # A part of an answer is none
    *(("query", answer(200, body), "PARTIAL 1 fault.partial") for body in TOO_MUCH),
    # A query with too large an answer asks too much, and one that a gateway cut off, too
    ("query", UNREAD, "PARTIAL 1 fault.too_large"),
    ("query", UNREAD._replace(trouble=Trouble.LOST), "TRANSIENT 6 fault.too_large"),
    ("mutation", UNREAD, "TRANSIENT 6 fault.too_large"),
    ("GET x", UNREAD, "TRANSIENT 6 fault.too_large"),
    *(
        (call, answer(status, "x"), f"{kind} 6 fault.server_error")
        for status in (502, 504)
        for call, kind in zip(CALLS, ("TRANSIENT", "TIMED_OUT", "TRANSIENT"), strict=True)
    ),
    *(
        ("mutation", answer(200, errors(("", words))), "TRANSIENT 6 fault.server_error")
        for words in (*TIMEOUTS, TOO_MUCH_SAID)
    ),
    *((call, answer(301, None), "FATAL 1 refusal.redirect") for call in CALLS),
]


@pytest.mark.parametrize(("call", "found", "expected"), ANSWERS)
def test_answers(call: str, found: Response | NoAnswer, expected: str) -> None:
    meaning = outcome(call, found)
    assert f"{meaning.kind.name} {meaning.row.tries} {meaning.reason.key}" == expected
    assert meaning.row.may_have_been_applied is expected.startswith("TRANSIENT 6")


# --- Limits -------------------------------------------------------------------------------------

QUICKLY = "was submitted too quickly"
ABUSE = "You have triggered an abuse detection mechanism. Please retry your request again later."
LIMITS = [
    ("PUT x", answer(429, "API rate limit exceeded."), "primary_limit", None),
    ("GET x", answer(403, "x", x_ratelimit_remaining="0"), "primary_limit", None),
    (
        "GET x",
        answer(429, "x", x_ratelimit_remaining="0", x_ratelimit_reset=str(NOW + 9)),
        "primary_limit",
        10.0,
    ),
    ("PUT x", answer(403, "Slow down.", retry_after="7"), "secondary_limit", 7.0),
    ("PUT x", answer(429, "Slow down."), "secondary_limit", None),
    ("PUT x", answer(403, "x", gh_limited_by="search"), "secondary_limit", None),
    (
        "PUT x",
        answer(403, {"message": "x", "documentation_url": "https://d/secondary-rate-limits"}),
        "secondary_limit",
        None,
    ),
    ("PUT x", answer(403, ABUSE), "secondary_limit", None),
    (
        "GET x",
        answer(403, {"message": "x", "documentation_url": "https://d/v3/#abuse-rate-limits"}),
        "secondary_limit",
        None,
    ),
    ("query", answer(200, errors(("RATE_LIMITED", "x"))), "primary_limit", None),
    ("query", answer(200, errors(("RATE_LIMIT", "x"))), "primary_limit", None),
    ("POST pulls", answer(403, QUICKLY), "too_quickly", None),
    ("mutation", answer(200, errors(("UNPROCESSABLE", QUICKLY))), "too_quickly", None),
]


@pytest.mark.parametrize(("call", "found", "text", "pause"), LIMITS)
def test_limits(call: str, found: Response, text: str, pause: float | None) -> None:
    meaning = outcome(call, found)
    assert (meaning.kind, meaning.reason.key) == (Kind.LIMIT, f"fault.{text}")
    assert meaning.pause == pause
    assert meaning.row.at_least_a_minute is (text == "too_quickly")
    assert not meaning.row.may_have_been_applied


def test_a_limit_that_met_only_a_part_makes_what_follows_wait() -> None:
    done = {"createRef": {"ref": {"id": "x"}}, "createPullRequest": None}
    found = answer(200, errors(("UNPROCESSABLE", QUICKLY), data=done))
    assert refusal(found, lambda _: False, writes=True) is None
    limit = limit_beside_data(found, HERE, NOW)
    assert limit
    assert limit.pause == 60.0
    longer = answer(200, found.data, retry_after="90")
    assert limit_beside_data(longer, HERE, NOW) == limit._replace(pause=90.0)
    other = answer(200, errors(("FORBIDDEN", "no"), data=done))
    assert limit_beside_data(other, HERE, NOW) is None


def test_every_row_has_all_that_its_words_take() -> None:
    found = answer(422, "x")
    for language, row in product(
        LANGUAGES, (*TABLE, *LIMITED, UNUSABLE, CONTRADICTION, NOT_LISTED)
    ):
        reason = explanation(row.text, found, HERE)
        shown = msg(row.gave_up, reason=reason, count=1, seconds=1) if row.gave_up else reason
        assert Catalogue(language).text(shown)


MAY_HAVE_WRITTEN = (
    "PARTIAL TIMED_OUT LAG LIMIT TRANSIENT UNEXPECTED UNUSABLE FATAL OUT_OF_TIME OTHER"
)


@pytest.mark.parametrize("kind", [each for each in Kind if each is not Kind.CANCELLED])
def test_a_clear_refusal_is_the_only_failure_with_exit_code_2(kind: Kind) -> None:
    error = GitHubError(Failure.of(msg("fault.lag"), kind))
    assert (exit_code(error, wrote=False) == 1) is (kind.name in MAY_HAVE_WRITTEN.split())
    assert exit_code(error, wrote=True) == 1


# --- GraphQL ------------------------------------------------------------------------------------

MOVED_ON = f"Ref refs/heads/x is at {'1' * 40} but expected {'2' * 40}"


@pytest.mark.parametrize(
    ("kind", "words", "path", "expected"),
    [
        ("NOT_FOUND", "x", ("target", "p12"), True),
        ("", "Could not resolve file over 10mb.", ("target", "p0"), True),
        ("FORBIDDEN", "Could not resolve file for path 'a'.", ("target", "p0"), False),
        ("", "x", ("target", "p0"), False),
        ("NOT_FOUND", "x", ("target", "p0", "entries"), False),
        ("NOT_FOUND", "x", (), False),
    ],
)
def test_only_an_error_that_says_so_is_about_a_missing_directory(
    kind: str, words: str, path: tuple[str, ...], expected: bool
) -> None:
    assert is_about_directory(GraphQLError(kind, words, path)) is expected


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (
            errors(("NOT_FOUND", "x"), path=["repository"], data={"repository": None}),
            Kind.NOT_FOUND,
        ),
        (errors(("NOT_FOUND", "x"), path=["repository", "ref"]), Kind.REFUSED),
        (errors(("NOT_FOUND", "x"), ("FORBIDDEN", "y"), path=["repository"]), Kind.PERMISSION),
        (errors(("FORBIDDEN", "no")), Kind.PERMISSION),
        (errors(("FORBIDDEN", "no"), data={"repository": {"id": 1}}, path=["x"]), Kind.PERMISSION),
        (errors(("WHATEVER", "no")), Kind.REFUSED),
        ({"message": "No"}, Kind.REFUSED),
        ({"data": {"repository": {"id": 1}}}, None),
        (
            errors(("FORBIDDEN", "no"), data={"repository": {"id": 1}}, path=["tolerated"]),
            None,
        ),
        ({"data": None}, None),
        ({}, None),
        ([], None),
    ],
)
def test_queries(body: Any, kind: Kind | None) -> None:
    found = refusal(answer(200, body), lambda e: e.path == ("tolerated",), writes=False)
    assert (outcome("query", found).kind if found else None) is kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (errors(("STALE_DATA", "x")), Kind.STALE),
        (errors(("UNPROCESSABLE", MOVED_ON)), Kind.STALE),
        (errors(("BRANCH_PROTECTION_RULE_VIOLATION", "x")), Kind.REFUSED),
        (errors(("FORBIDDEN", "Repository rule violations found\n\nNo")), Kind.REFUSED),
        (errors(("UNPROCESSABLE", "Ref cannot be created.")), Kind.REFUSED),
        (errors(("FORBIDDEN", "no"), data={"createRef": {"ref": None}}), Kind.PERMISSION),
        (errors(("UNPROCESSABLE", "x")), Kind.VALIDATION),
        (errors(("UNPROCESSABLE", "The file path is at fault")), Kind.VALIDATION),
        (errors(("UNPROCESSABLE", "It is x but expected y")), Kind.VALIDATION),
        # It is not sent again, because an unknown error may be about a part that was done
        (errors(("WHATEVER", "x"), data={"createRef": None}), Kind.REFUSED),
        (errors(("INSUFFICIENT_SCOPES", "x")), Kind.PERMISSION),
        (errors(("UNPROCESSABLE", "x"), data={"createRef": {"ref": {}}}), None),
    ],
)
def test_mutations(body: Any, kind: Kind | None) -> None:
    found = refusal(answer(200, body), lambda _: False, writes=True)
    assert (outcome("mutation", found).kind if found else None) is kind


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ([{"resource": "PullRequest", "field": "base", "code": "invalid"}], "base: invalid"),
        ([{"resource": "Label", "field": "name", "code": "missing_field"}], "name: missing_field"),
        ([{"code": "custom", "field": "base", "message": "No such base"}], "No such base"),
        (["One", {"message": "Two"}], "One; Two"),
        ("One", "One"),
        ({"field": "base", "code": "invalid"}, "base: invalid"),
        ({"message": "Two"}, "Two"),
        ([{"code": "invalid"}, {"field": "base"}, {"field": 1, "code": 2}, None, 3], ""),
    ],
)
def test_the_details_of_a_refused_value_are_part_of_the_words(errors: Any, words: str) -> None:
    """https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed"""
    found = answer(422, {"message": "Validation Failed", "errors": errors})
    assert found.message == "; ".join(filter(None, ["Validation Failed", words]))


def test_the_path_of_an_error_has_names_and_numbers_alone() -> None:
    found = answer(200, errors(("NOT_FOUND", "x"), path=["nodes", 1, None, {}]))
    assert found.errors_by_path.keys() == {("nodes", 1)}


# --- Lag ----------------------------------------------------------------------------------------

NO_NODE = "Could not resolve to a node with the global id of"
LAG = [
    ("PUT contents/a", answer(404, "Branch x not found")),
    ("GET git/ref/heads/x", answer(404, "Not Found")),
    ("POST pulls", answer(404, "Not Found")),
    ("POST pulls", invalid(message="No commits between main and x")),
    ("POST pulls", invalid(message="Head sha can't be blank")),
    ("POST pulls", invalid(message="Head ref must be a branch")),
    ("POST pulls", invalid(resource="PullRequest", field="head", code="invalid")),
    *[
        (
            f"POST {path}",
            answer(422, f"{NO_NODE} '{node}'"),
        )
        for path in ("issues/1/labels", "pulls/1/requested_reviewers")
        for node in ("PR_kwDOAbc", "MDExOlB1bGxSZXF1ZXN0MQ==")
    ],
    ("POST issues/1/labels", invalid(resource="Label", message="Issue not found")),
    ("mutation", answer(200, errors(("STALE_DATA", "x")))),
    ("mutation", answer(200, errors(("UNPROCESSABLE", MOVED_ON)))),
    ("mutation", answer(200, errors(("NOT_FOUND", "x")))),
    ("mutation", answer(200, errors(("UNPROCESSABLE", "Branch not found")))),
]


@pytest.mark.parametrize(("call", "found"), LAG)
def test_lag_is_about_what_this_run_has_made(call: str, found: Response) -> None:
    made = outcome(call, found, may_lag=True)
    assert (made.kind, made.row.gave_up, made.row.may_have_been_applied) == (
        Kind.LAG,
        "host.lag",
        False,
    )
    assert outcome(call, found).kind is not Kind.LAG


def test_a_login_that_is_not_found_may_be_lag() -> None:
    """If it lasts, the text is about the login."""
    found = outcome("POST issues/1/assignees", answer(404, "Not Found"), may_lag=True)
    assert (found.kind, found.reason.key, found.row.gave_up) == (Kind.LAG, "refusal.assignee", "")


TEAMS = ("T_kwDOAbc", "MDQ6VGVhbTE=", "x")
REVIEWERS = "POST pulls/1/requested_reviewers"


@pytest.mark.parametrize(
    ("call", "found", "expected"),
    [
        ("PUT contents/a", answer(404, "Not Found"), "PERMISSION refusal.no_place"),
        (
            "PUT contents/a",
            answer(403, "Resource not accessible by integration"),
            "PERMISSION refusal.installation_permission",
        ),
        ("POST issues/1/labels", answer(404, "Not Found"), "PERMISSION refusal.no_place"),
        ("POST pulls", answer(422, "Validation Failed"), "VALIDATION refusal.other"),
        (
            "POST pulls",
            invalid(resource="PullRequest", field="base", code="invalid"),
            "VALIDATION refusal.other",
        ),
        (
            "POST pulls",
            invalid(resource="PullRequest", field="head", code="missing_field"),
            "VALIDATION refusal.other",
        ),
        ("POST pulls", answer(403, "No"), "PERMISSION refusal.other"),
        ("PUT contents/a", answer(404, "Branch x has no such file"), "PERMISSION refusal.no_place"),
        ("mutation", answer(200, errors(("FORBIDDEN", "x"))), "PERMISSION refusal.other"),
        *(
            (REVIEWERS, invalid(message=f"{NO_NODE} '{node}'."), "VALIDATION refusal.team")
            for node in TEAMS
        ),
    ],
)
def test_a_missing_permission_is_no_lag(call: str, found: Response, expected: str) -> None:
    meaning = outcome(call, found, may_lag=True)
    assert f"{meaning.kind.name} {meaning.reason.key}" == expected


# --- Another time -------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [500, 502, 503, 504, 599, 202])
def test_what_may_work_another_time(status: int) -> None:
    write = outcome("PUT contents/a", answer(status, "x", retry_after="3"))
    assert (write.kind, write.row.tries, write.pause) == (Kind.TRANSIENT, 6, 3.0)
    assert write.row.may_have_been_applied


@pytest.mark.parametrize(
    "found", [answer(200, None), answer(403, {}), answer(404, [1, "x", None]), answer(403, None)]
)
def test_what_is_no_answer_of_the_api(found: Response) -> None:
    write = outcome("PUT contents/a", found)
    assert (write.kind, write.row.tries, write.row.may_have_been_applied) == (
        Kind.UNUSABLE,
        6,
        True,
    )


@pytest.mark.parametrize("trouble", list(Trouble))
def test_no_answer(trouble: Trouble) -> None:
    found = outcome("PUT contents/a", NoAnswer(trouble, "fault.timeout", "why", 20.0))
    assert found.kind is (Kind.FATAL if trouble is Trouble.LASTING else Kind.TRANSIENT)
    assert found.row.may_have_been_applied is (trouble in {Trouble.LOST, Trouble.TOO_LARGE})
    assert found.row.tries == (6 if found.kind is Kind.TRANSIENT else 1)
    assert found.reason.key == "fault.timeout"
    assert found.reason.values["host"] == "api.github.com"
    assert found.reason.values["detail"] == "why"
    without_words = outcome("PUT contents/a", NoAnswer(trouble, "fault.timeout"))
    assert without_words.reason.values["detail"] == "-"


# --- Which of GitHub's words give the same cause --------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("octo/app: refused", "octo/rule: refused"),
        ("'app' is not a branch", "'rule' is not a branch"),
        ("The branch add/app exists", "The branch add/rule exists"),
        ("See https://github.com/octo/app.", "See https://github.com/octo/rule."),
        ("See github.com/octo/app/rules now", "See github.com/octo/rule/rules now"),
        ("It is at 4c1b but expected 77aa1f", "It is at 9d but expected 0"),
        ("Request 8A1F:2B7C:77 failed", "Request 11AF:0000:9 failed"),
        ("Refused at 2026-11-22T04:05:06Z", "Refused at 2027-01-01T00:00:00Z"),
        ("Include `8fa3` when reporting", "Include `e0c1c4b2` when reporting"),
        ("(request ID 8fa3:7BC2:1A0F:e0c1c4)", "(request ID 11e4:7BC2:1A0F:00a1b2)"),
        ("See octo/app?ref=refs%2Fheads%2Fadd", "See octo/rule?ref=refs%2Fheads%2Fadd"),
        ("Repository rule violations found", "Repository rule violations found"),
        ("path '.editorconfig' is bad", "path '.github/labels.yml' is bad"),
        ("path .editorconfig: bad", "path .github/labels.yml: bad"),
        ("Repository 'app' is locked", "Repository 'rule' is locked"),
        ("No 'My app.md' here", "No 'Rules of my house.md' here"),
    ],
)
def test_names_addresses_ids_and_numbers_do_not_count(one: str, other: str) -> None:
    app = ("octo/app", "add/app", ".editorconfig", "My app.md")
    rule = ("octo/rule", "add/rule", ".github/labels.yml", "docs/Rules of my house.md")
    assert words_alone(one, *app) == words_alone(other, *rule)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Changes must be made through a pull request", "Commits must have a signature"),
        ("A rule forbids it", "A role forbids it"),
        ("Refused by a rule.", "Refused by a."),
        ("'rule of law' forbids it", "' of law' forbids it"),
    ],
)
def test_other_words_are_another_cause(one: str, other: str) -> None:
    assert words_alone(one, "octo/rule", "rule") != words_alone(other, "octo/rule", "rule")


@pytest.mark.parametrize(
    ("address", "body", "words"),
    [
        ("/repositories/1000/pulls", "", "o/{} is locked"),
        ("/repos/o/{}/pulls", "", "'{}' is locked"),
        ("/repos/o/r/contents/docs/{}.md?ref=x", "", "docs/{}.md is bad"),
        ("/repos/o/r/git/refs", '{{"ref": "refs/heads/add/{}"}}', "add/{} exists"),
    ],
)
def test_the_names_of_a_request_do_not_count(address: str, body: str, words: str) -> None:
    causes = {
        cause_of(
            "",
            answer(422, words.format(name)),
            Sent("POST", address.format(name), body.format(name).encode()),
            HERE._replace(target=f"o/{name}" if "1000" in address else "o/r"),
        )
        for name in ("app", "rule")
    }
    assert len(causes) == 1


@pytest.mark.parametrize(("length", "is_name"), [(255, True), (256, False)])
def test_a_long_value_of_a_request_is_a_text(length: int, is_name: bool) -> None:
    sent = {letter: letter * (length - 1) + "-" for letter in "ab"}
    one, other = (
        cause_of(
            "", answer(422, f"{value} is bad"), Sent("POST", "/", f'["{value}"]'.encode()), HERE
        )
        for value in sent.values()
    )
    assert (one == other) is is_name


def test_a_name_that_is_a_part_of_another_one_leaves_nothing_of_it() -> None:
    letters = "abcdefghijkl"
    names = [" ".join(letters[start:]) for start in range(11)]
    assert words_alone(f"No {names[0]} here", *names) == "no here"


@pytest.mark.parametrize("part", ["x", "x-", "x.", "a.b/ ", "x://", "- ", "'x' "])
def test_of_long_words_each_is_looked_at_once(part: str) -> None:
    """If an expression did not take linear time, the test would not end."""
    said = f"octo/app {part * (400_000 // len(part))}"
    assert "octo/app" not in words_alone(said, "octo/app")
