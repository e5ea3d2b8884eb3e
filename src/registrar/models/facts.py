"""What the rules of a list may ask about a repository."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

Values = Mapping[str, tuple[str, ...]]
"""Values of custom properties by their names in lower case; one that is not set has no name."""


class Facts(NamedTuple):
    """What rules may ask about a repository, besides its files."""

    full_name: str
    visibility: str = "public"
    """``public``, ``private`` or ``internal``."""
    is_fork: bool = False
    language: str = ""
    """The main one; empty where GitHub found none."""
    topics: frozenset[str] = frozenset()
    properties: Values | None = MappingProxyType({})
    """``None`` where the answer did not have them."""
    of_person: bool = False
    """Whether it belongs to a person, so that it can have none."""
