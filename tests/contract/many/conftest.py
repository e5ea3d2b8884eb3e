"""Fixtures of runs over many repositories."""

from __future__ import annotations

from functools import partial

import pytest

from tests.example import PRESENT
from tests.example import SCAFFOLD as LISTED
from tests.fakehub import Repository, StandInHost
from tests.harness import Action, Start
from tests.organisation import ALL, Make


@pytest.fixture
def many(action: Action) -> Start:
    """The action on all repositories of an organisation at once, in English."""
    return partial(
        action, target_repo=None, target_repos=ALL, max_pull_requests="100", language="en"
    )


@pytest.fixture
def make(host: StandInHost) -> Make:
    """Make complete repositories, and others that lack files."""

    def made(complete: int, lacking: int, **attributes: bool) -> list[Repository]:
        first = len(host.repositories)
        return [
            host.create_repository(
                f"octo-org/r{first + number}",
                LISTED if number < complete else PRESENT,
                **attributes,  # type: ignore[arg-type]
            )
            for number in range(complete + lacking)
        ]

    return made
