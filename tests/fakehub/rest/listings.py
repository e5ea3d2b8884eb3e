"""Lists of repositories."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.fakehub.answer import Response
from tests.fakehub.refusals import Refusal, not_found
from tests.fakehub.repository import Repository
from tests.fakehub.representations import user_id
from tests.fakehub.rest.call import LISTINGS, Asked

NO_INSTALLATION = (
    "You must authenticate with an installation access token in order to list repositories for "
    "an installation."
)
Listing = Callable[[Asked], Response]


def listing(name: str) -> Callable[[Listing], Listing]:
    def register(handler: Listing) -> Listing:
        LISTINGS[name] = handler
        return handler

    return register


@listing("GET /installation/repositories")
def of_installation(asked: Asked) -> Response:
    """What an App's token was installed for, and nothing else."""
    if asked.token.kind != "installation":
        raise Refusal(403, NO_INSTALLATION)
    found = [each for each in asked.host.repositories if asked.token.covers(each)]
    answer = shown(asked, found, "installation/repositories")
    answer.body = {"total_count": len(live(found)), "repositories": answer.body}
    return answer


@listing("GET /orgs/{org}/repos")
def of_organization(asked: Asked) -> Response:
    """What a token may see of an organisation; an App's shows public ones too (hub4j#628)."""
    owner = asked.parameters["org"].lower()
    if owner in asked.host.users:
        raise not_found()
    return of_owner(asked, owner, "organizations", private=True)


@listing("GET /users/{username}/repos")
def of_user(asked: Asked) -> Response:
    """The public repositories of a user or an organisation."""
    return of_owner(asked, asked.parameters["username"].lower(), "user", private=False)


@listing("GET /user/repos")
def of_authenticated_user(asked: Asked) -> Response:
    """What a user's token may see; with `affiliation=owner` only their own."""
    if asked.token.bot:
        raise asked.token.refusal("metadata=read")
    own = asked.query.get("affiliation") == "owner" or asked.query.get("type") == "owner"
    found = [
        each
        for each in asked.host.repositories
        if asked.token.sees(each) and (not own or each.owner.lower() == asked.token.login.lower())
    ]
    return shown(asked, found, "user/repos")


def of_owner(asked: Asked, owner: str, kind: str, *, private: bool) -> Response:
    owned = [each for each in asked.host.repositories if each.owner.lower() == owner]
    if not owned and owner not in asked.host.users:
        raise not_found()
    found = [each for each in owned if (asked.token.sees(each) if private else not each.private)]
    # The links name the owner by number.
    return shown(asked, found, f"{kind}/{user_id(owner)}/repos")


def live(found: Iterable[Repository]) -> list[Repository]:
    return [each for each in found if not each.deleted]


def shown(asked: Asked, found: Iterable[Repository], target: str) -> Response:
    """A page of repositories, by name unless by age is asked for.

    Those of organisations that want single sign-on first are left out, and a header says so
    (docs: "Authenticating with SAML single sign-on").
    """
    hidden = {each.lower() for each in asked.token.hidden_by_sso}
    found = live(found)
    left = [each for each in found if each.owner.lower() not in hidden]
    if asked.query.get("sort", "full_name") == "full_name":
        left.sort(key=lambda each: each.full_name.lower())
    else:
        left.sort(key=lambda each: each.created_at)
    if asked.query.get("direction") == "desc":
        left.reverse()
    headers = asked.links(f"{asked.show.api}/{target}", len(left))
    if len(left) < len(found):
        numbers = ",".join(str(user_id(each)) for each in sorted(hidden))
        headers["X-GitHub-SSO"] = f"partial-results; organizations={numbers}"
    body = [asked.show.repository(each, asked.token) for each in asked.page(left)]
    return Response(200, body, headers)
