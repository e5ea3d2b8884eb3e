"""A stand-in for GitHub on loopback, over real git repositories.

    with StandInHost() as host:
        repository = host.create_repository("octo/example")
        token = host.create_token()
        ...  # run a client against host.url
        assert "docs/guide.md" in repository.files("main")

Requests and answers are compared with GitHub's published descriptions. Leaving the block raises
AssertionError if one of them does not match.
"""

from .acts import Acts
from .faults import Fault, FaultKind, Faults
from .host import StandInHost
from .journal import Act, Actor, Journal, Write
from .limits import Pace, RateLimit
from .quirks import Lag, Quirks, Symptom
from .refusals import Refusal
from .repository import Changes, PullRequest, Repository
from .request import Request
from .store import Commit, Content, Executable, Person, Submodule, Symlink

__all__ = [
    "Act",
    "Actor",
    "Acts",
    "Changes",
    "Commit",
    "Content",
    "Executable",
    "Fault",
    "FaultKind",
    "Faults",
    "Journal",
    "Lag",
    "Pace",
    "Person",
    "PullRequest",
    "Quirks",
    "RateLimit",
    "Refusal",
    "Repository",
    "Request",
    "StandInHost",
    "Submodule",
    "Symlink",
    "Symptom",
    "Write",
]
