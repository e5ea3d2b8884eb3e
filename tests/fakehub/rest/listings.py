"""The operations that list repositories."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.fakehub.answer import Response
from tests.fakehub.refusals import Refusal, not_found
from tests.fakehub.repository import Repository
from tests.fakehub.representations import user_id
from tests.fakehub.rest.call import LISTINGS, Call

NO_INSTALLATION = (
    "You must authenticate with an installation access token in order to list repositories for "
    "an installation."
)
Listing = Callable[[Call], Response]


def listing(name: str) -> Callable[[Listing], Listing]:
    def register(handler: Listing) -> Listing:
        LISTINGS[name] = handler
        return handler

    return register


@listing("GET /installation/repositories")
def of_installation(call: Call) -> Response:
    """List the repositories on which the App of a token is installed."""
    if call.token.kind != "installation":
        raise Refusal(403, NO_INSTALLATION)
    found = [each for each in call.host.repositories if call.token.covers(each)]
    answer = page_of(call, found, "installation/repositories")
    answer.body = {"total_count": len(live(found)), "repositories": answer.body}
    return answer


@listing("GET /orgs/{org}/properties/values")
def properties_of_organization(call: Call) -> Response:
    """List the custom properties of an organisation's repositories."""
    owner = call.parameters["org"].lower()
    if owner in call.host.users:
        raise not_found()
    call.token.require_of_organization("organization_custom_properties=read")
    found = [
        each
        for each in live(call.host.repositories)
        if each.owner.lower() == owner and call.token.sees(each)
    ]
    headers = call.links(
        f"{call.show.api}/organizations/{user_id(owner)}/properties/values", len(found)
    )
    body = [
        {
            "repository_id": each.id,
            "repository_name": each.name,
            "repository_full_name": each.full_name,
            "properties": call.show.property_values(each),
        }
        for each in call.page(found)
    ]
    return Response(200, body, headers)


@listing("GET /orgs/{org}/repos")
def of_organization(call: Call) -> Response:
    """List the repositories of an organisation that a token sees.

    The token of an App also sees public ones (hub4j#628).
    """
    owner = call.parameters["org"].lower()
    if owner in call.host.users:
        raise not_found()
    return of_owner(call, owner, "organizations", private=True)


@listing("GET /users/{username}/repos")
def of_user(call: Call) -> Response:
    """List the public repositories of a user or an organisation."""
    return of_owner(call, call.parameters["username"].lower(), "user", private=False)


@listing("GET /user/repos")
def of_authenticated_user(call: Call) -> Response:
    """List the repositories that a user's token sees.

    With `affiliation=owner` or `type=owner` these are only the user's own.
    """
    if call.token.bot:
        raise call.token.refusal("metadata=read")
    own = call.query.get("affiliation") == "owner" or call.query.get("type") == "owner"
    found = [
        each
        for each in call.host.repositories
        if call.token.sees(each) and (not own or each.owner.lower() == call.token.login.lower())
    ]
    answer = page_of(call, found, "user/repos")
    if call.token.hidden_by_sso:
        # GitHub sends it even if the query asks only for the user's own repositories
        answer.headers["X-GitHub-SSO"] = partial(call.token.hidden_by_sso)
    return answer


def of_owner(call: Call, owner: str, kind: str, *, private: bool) -> Response:
    owned = [each for each in call.host.repositories if each.owner.lower() == owner]
    if not owned and owner not in call.host.users:
        raise not_found()
    found = [each for each in owned if (call.token.sees(each) if private else not each.private)]
    # The links give the number of the owner, not the name
    return page_of(call, found, f"{kind}/{user_id(owner)}/repos")


def live(found: Iterable[Repository]) -> list[Repository]:
    return [each for each in found if not each.deleted]


def page_of(call: Call, found: Iterable[Repository], target: str) -> Response:
    """Return a page of repositories, in the order of their names or of their age.

    The repositories of organisations that require single sign-on are left out, and a header says so
    (docs: "Authenticating with SAML single sign-on"). `target` is the path of the other pages.
    """
    hidden = {each.lower() for each in call.token.hidden_by_sso}
    found = live(found)
    left = [each for each in found if each.owner.lower() not in hidden]
    if call.query.get("sort", "full_name") == "full_name":
        left.sort(key=lambda each: each.full_name.lower())
    else:
        left.sort(key=lambda each: each.created_at)
    if call.query.get("direction") == "desc":
        left.reverse()
    headers = call.links(f"{call.show.api}/{target}", len(left))
    if len(left) < len(found):
        headers["X-GitHub-SSO"] = partial(hidden)
    body = [call.show.repository(each, call.token) for each in call.page(left)]
    return Response(200, body, headers)


def partial(owners: Iterable[str]) -> str:
    """Return the header with the numbers of the owners whose repositories are left out."""
    numbers = ",".join(str(user_id(each.lower())) for each in sorted(owners))
    return f"partial-results; organizations={numbers}"
