"""The REST operations: from a described request to an answer."""

from . import contents, git, pulls
from .call import ROUTES, Call
from .pulls import refuse_actions

__all__ = ["ROUTES", "Call", "contents", "git", "pulls", "refuse_actions"]
