"""The REST operations: each handler answers a request that matches the description."""

from . import contents, git, listings, pulls
from .call import LISTINGS, ROUTES, Call
from .pulls import refuse_actions

__all__ = [
    "LISTINGS",
    "ROUTES",
    "Call",
    "contents",
    "git",
    "listings",
    "pulls",
    "refuse_actions",
]
