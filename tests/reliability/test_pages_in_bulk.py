"""Every run ends, even if the pages of a list repeat, bring nothing new, are cut, or never end.

The lists are the repositories of an organisation, a person or an App, custom properties, and pull
requests.
"""

from __future__ import annotations

import copy
import random
from typing import Any, cast

import pytest

from tests.example import PRESENT
from tests.example import SCAFFOLD as LISTED
from tests.fakehub import Fault, FaultKind, Request, StandInHost
from tests.fakehub.answer import Response
from tests.harness import Action, only_reads

RUNS = 300
MOST_REQUESTS = 400
"""The most requests that a run over these few repositories may send."""
NEXT = '<https://example.com/?page=9>; rel="next"'
FULL = 100
"""The number of items of a full page."""
LISTS = ("/repos", "/repositories", "/values", "/pulls")
WAYS = ("same", "empty", "nothing new", "loop", "cut", "cut short", "twice", "endless", "slow")


def is_list(request: Request) -> bool:
    of_one = request.path.startswith("/repositories/") and request.path.endswith("/values")
    return request.method == "GET" and request.path.endswith(LISTS) and not of_one


class Pages:
    """Changes the right pages of lists in one way; ``seen`` has the pages that were sent before."""

    def __init__(self, way: str, rng: random.Random) -> None:
        self.way = way
        self.rng = rng
        self.seen: dict[str, list[Response]] = {}

    def __call__(self, request: Request, right: Response) -> Response:
        if right.status != 200:
            return right
        answer = Response(200, copy.deepcopy(right.body), dict(right.headers))
        items = answer.body["repositories"] if isinstance(answer.body, dict) else answer.body
        seen = self.seen.setdefault(request.path, [])
        is_pulls = request.path.endswith("/pulls")
        if is_pulls and items:
            items += more_pulls(items[-1], FULL - len(items), len(seen))
        before = [*seen, answer]
        seen.append(answer)
        headers = answer.headers
        match self.way:
            case "same":
                return Response(200, before[0].body, before[0].headers | {"Link": NEXT})
            case "loop":
                return Response(200, self.rng.choice(before[:3]).body, headers | {"Link": NEXT})
            case "nothing new" if len(before) > 1:
                return Response(200, before[-2].body, headers | {"Link": NEXT})
            case "empty" if self.rng.random() < 0.5:
                items.clear()
                headers["Link"] = NEXT
            case "cut":
                del items[self.rng.randrange(len(items) + 1) :]
            case "cut short":
                headers.pop("Link", None)
            case "twice":
                items += items
            case "endless" if items and not is_pulls:
                items.append(another(items[-1], 10_000 + len(before)))
                headers["Link"] = NEXT
        return answer


def more_pulls(pull: Any, count: int, pages: int) -> list[Any]:
    """Return pull requests from forks of strangers that are older than ``pull``, to fill a page."""
    found = []
    for number in range(count):
        other = copy.deepcopy(pull)
        other["number"] = 1_000_000 - pages * FULL - number
        other["head"]["ref"] = "theirs"
        found.append(other)
    return found


def another(item: Any, number: int) -> Any:
    """Return a copy of a repository, or of its custom properties, with another number."""
    other = copy.deepcopy(item)
    other["repository_id" if "repository_id" in item else "id"] = number
    return other


@pytest.mark.matrix
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.chosen] if n < 9 else []) for n in range(RUNS)]
)
def test_whatever_pages_bring(action: Action, host: StandInHost, number: int, seed: int) -> None:
    rng = random.Random(f"{seed} {number}")
    way = WAYS[number % len(WAYS)]
    kind = rng.choice(("organisation", "installation", "person"))
    owner = "octocat" if kind == "person" else "octo-org"
    selected = [
        host.create_repository(f"{owner}/r{n}", PRESENT, properties={"team": "a"}) for n in range(5)
    ]
    selected[0].person.change(parent="octo-parent/r0")
    for each in selected[:2]:
        each.person.open_pull_request(head="theirs", head_repository=f"stranger/{each.name}")
    left_out = [
        host.create_repository(f"{owner}/frozen", PRESENT, properties={"frozen": "yes"}),
        host.create_repository(f"other/{owner}", PRESENT),
    ]
    host.quirks.without_properties = rng.random() < 0.8
    asks = "" if kind == "person" else ", -property:frozen=yes"
    size = str(rng.choice((1, 2, 3, 100)))

    def meanwhile(request: Request) -> None:
        if is_list(request):
            cast("dict[str, str]", request.query)["per_page"] = size
            action.clock.sleep(20 if way == "slow" else 3 if way == "endless" else 0)

    host.on_request = meanwhile
    unwanted = host.faults.add(Fault(FaultKind.CUSTOM, at=MOST_REQUESTS, times=None, status=401))
    lists = tuple(rng.sample(LISTS, rng.choice((1, 2, 4))))
    pages = Pages(way, rng)
    host.faults.change(pages, lambda each: is_list(each) and each.path.endswith(lists))
    given = {
        "target_repos": f"{owner}/*, fork:true{asks or f', !{owner}/frozen'}",
        "host_token": host.create_token("installation" if kind == "installation" else "classic"),
        "max_minutes": "2",
        "max_wait_minutes": "1",
        "language": rng.choice(("en", "ja")),
        "mode": rng.choice(("register", "register", "plan", "check")),
    }
    run = action(given, target_repo=None, runner=rng.random() < 0.5)
    assert not unwanted.hits, "the run does not end"
    assert run.exit_code in {0, 1, 2}, run.text
    if run.exit_code == 2 or given["mode"] != "register":
        assert only_reads(host)

    host.faults.clear()
    host.on_request = None
    again = action(given | {"mode": "register", "max_minutes": "50"}, target_repo=None).or_fail()
    for each in selected:
        ours = [p for p in each.pull_requests if p.head_repository == each.full_name]
        assert [each.files(pull.head).keys() for pull in ours] == [LISTED.keys()], again.text
    for each in left_out:
        assert (each.branches, each.pull_requests) == (["main"], [])
