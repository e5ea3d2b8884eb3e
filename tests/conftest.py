"""Fixtures of all tests: the stand-in, a repository on it, and the action."""

from __future__ import annotations

import gc
import math
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from registrar.github.transport import CA_VARIABLES
from registrar.reporting import page
from tests import promises, states_of_paths
from tests.example import LIST, WAYS, Example, Way, write_list
from tests.fakehub import Repository, StandInHost
from tests.harness import ENDED, SINGLE, STRATEGIES, TARGET, Action, Run, Start
from tests.organisation import ALL, Org

Item = TypeVar("Item")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
MACHINES_OWN = (*PROXIES, *CA_VARIABLES)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose a part of the large matrices (see `scripts/test-faults`)."""
    group = parser.getgroup("matrices")
    group.addoption("--matrix", choices=("chosen", "tenth", "all"), default="chosen")
    group.addoption(
        "--matrix-seed", type=int, default=0, help="which tenth, and where fuzzers begin"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Configure property tests. If all matrices run, they get more, and random, examples."""
    # There is no deadline, because the time of an example depends mostly on the machine
    settings.register_profile(
        "registrar",
        deadline=None,
        max_examples=100 if config.getoption("matrix") == "all" else 25,
        database=None,
        derandomize=config.getoption("matrix") != "all",
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("registrar")


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Name the run and its text that lacks some words, and show its nearest line first."""
    if op != "in" or not (isinstance(left, str) and isinstance(right, str) and "\n" in right):
        return None
    lines = right.splitlines()
    near = max(lines, key=lambda line: SequenceMatcher(None, left, line, autojunk=False).ratio())
    names = (run.name_of(right) for run in reversed(ENDED))
    name = next(filter(None, names), "a text that was made from others")
    return [f"{left!r} is not in it: {name}", f"nearest line: {near}", *lines]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the requested part of the tests marked ``matrix``, and put the longest tests first."""
    part = config.getoption("matrix")
    matrix = [item for item in items if item.get_closest_marker("matrix")]
    others = [item for item in items if not item.get_closest_marker("matrix")]
    large = [item for item in others if item.get_closest_marker("large")]
    small = [item for item in others if not item.get_closest_marker("large")]
    if part == "chosen":
        kept = [item for item in matrix if item.get_closest_marker("chosen")]
    else:
        # The order is random, because tests that wait long are side by side, and would all wait at
        # the same time
        rng = random.Random(config.getoption("matrix_seed"))
        kept = rng.sample(matrix, len(matrix) // (10 if part == "tenth" else 1))
    dropped = {*matrix} - {*kept}
    items[:] = spread([*large, *kept], small)
    config.hook.pytest_deselected(items=list(dropped))


def spread(long: Sequence[Item], short: Sequence[Item]) -> list[Item]:
    """Return the tests in an order in which each worker begins with long ones.

    A worker begins with its own part of the list. When it has finished that, it takes tests from
    the end of another worker's part. So no long tests are left when the others have finished.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    size = math.ceil((len(long) + len(short)) / workers)
    left, order = iter(short), list[Item]()
    for worker in range(workers):
        first = long[worker::workers]
        order += [*first, *islice(left, max(size - len(first), 0))]
    return [*order, *left]


_SEEN = pytest.StashKey[set[states_of_paths.Combination]]()
"""The combinations that the workers of this process have seen."""


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collect the states of paths that a worker has seen."""
    seen = node.config.stash.setdefault(_SEEN, set())
    seen.update(map(tuple, getattr(node, "workeroutput", {}).get("seen", ())))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """After a run of all tests, look whether each state of a path was seen (`states_of_paths`)."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["seen"] = [*map(list, states_of_paths.seen)]
        return
    is_whole = config.args == config.getini("testpaths") and not config.option.keyword
    if not is_whole or config.option.markexpr != "not large":
        return
    if missing := list(states_of_paths.missing(config.stash.get(_SEEN, states_of_paths.seen))):
        print(f"\nNo test has these states of paths any more: {missing}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection, which would take 6 % of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture(scope="session", autouse=True)
def _nothing_of_the_machine() -> Iterator[None]:
    """Hide the proxy and the certificates of the machine from runs in this process."""
    with pytest.MonkeyPatch.context() as patch:
        for name in MACHINES_OWN:
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiled_template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compile the template of the page once, as for the image; processes compile it themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "COMPILED", tmp_path_factory.mktemp("compiled"))
        page.compile_template()
        yield


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The number with which a fuzzer begins; `scripts/test-faults` prints it."""
    return int(request.config.getoption("matrix_seed"))


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[StandInHost]:
    """The stand-in; the test fails if a request or an answer does not match the description.

    It also fails if registrar breaks a promise (`tests.promises`), unless the test is marked `but`
    with the anchor of the known limit that it is about.
    """
    limit = request.node.get_closest_marker("but")
    with StandInHost() as host, promises.kept(host, *(limit.args if limit else ())):
        yield host


@pytest.fixture
def repository(host: StandInHost) -> Repository:
    """The target, which has two of the 29 scaffold files and none of the health files."""
    files = {"README.md": b"# Example\n", ".gitignore": b"*.log\n", "src/main.c": b"int x;\n"}
    return host.create_repository(TARGET, files)


@pytest.fixture
def action(host: StandInHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Action:
    """The action with a good token for every repository of the host."""
    action = Action(host, tmp_path, host.create_token())
    # A checkout has this directory
    (action.workspace / ".git").mkdir(parents=True)
    monkeypatch.chdir(action.workspace)
    host.clock = action.clock
    return action


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> str:
    """Each commit strategy."""
    return str(request.param)


@pytest.fixture
def start(action: Action, strategy: str) -> Start:
    """The action with each commit strategy, in English."""
    return partial(action, commit_strategy=strategy, language="en")


@pytest.fixture
def single(action: Action) -> Start:
    """The action with one commit for all files, in English."""
    return partial(action, commit_strategy=SINGLE, language="en")


@pytest.fixture
def example(action: Action, strategy: str) -> Example:
    """The example repository, and runs on it with each commit strategy."""
    return Example(action, strategy)


@pytest.fixture
def in_single(action: Action) -> Example:
    """The example repository, and runs on it with one commit for all files."""
    return Example(action, SINGLE)


@pytest.fixture(params=WAYS)
def each_way(request: pytest.FixtureRequest, action: Action) -> Way:
    """Gives the same repository with each strategy, and as the only one of a run over many."""
    return Way(action, request.param)


@pytest.fixture
def many(action: Action) -> Start:
    """The action on all repositories of an organisation at once, in English.

    Its list has six files, unless a test gives a `profile`.
    """
    write_list(action)
    given = {"target_repos": ALL, "language": "en"}

    def run(inputs: Mapping[str, str] | None = None, /, **more: Any) -> Run:
        listed = "" if more.get("profile") else LIST
        of_many = {"max_pull_requests": "100"} if more.get("target_repos", ALL) else {}
        return action({**given, **of_many, "definitions": listed, **(inputs or {})}, **more)

    return run


@pytest.fixture
def org(action: Action, many: Start) -> Org:
    """An organisation without a repository, and runs over all that it gets."""
    return Org(action, many)
