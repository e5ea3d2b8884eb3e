"""The states and outcomes of paths that reports have, by mode and by the way of writing.

Each run in a test is compared with `TABLE`: a combination that is not in it fails the test. After a
run of all tests, each combination must have been seen. So no change of the plan can silently give a
path another state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Combination = tuple[str, str]
"""Mode, state (`standing`) and outcome (`done`) in one text, and the way of writing."""
TABLE: Mapping[str, str] = {
    "check · blank · skipped": "psM",
    "check · blocked · nothing": "psm",
    "check · declined · skipped": "Psm",
    "check · differs · skipped": "psm",
    "check · filled · skipped": "psm",
    "check · not a file · skipped": "psM",
    "check · proposed · nothing": "psm",
    "check · proposed · to update": "psM",
    "check · same · skipped": "psm",
    "check · to create · nothing": "pS",
    "check · to create · skipped": "PsM",
    "check · to create · to create": "psm",
    "check · to create · to update": "PsM",
    "check · unset · skipped": "PSM",
    "plan · blank · skipped": "psm",
    "plan · blocked · nothing": "psm",
    "plan · declined · skipped": "psm",
    "plan · differs · skipped": "psm",
    "plan · filled · skipped": "psm",
    "plan · not a file · skipped": "PsM",
    "plan · proposed · failed": "m",
    "plan · proposed · nothing": "psm",
    "plan · proposed · to update": "psm",
    "plan · same · skipped": "psm",
    "plan · to create · failed": "m",
    "plan · to create · nothing": "ps",
    "plan · to create · skipped": "psm",
    "plan · to create · to create": "psm",
    "plan · to create · to update": "psM",
    "plan · unset · skipped": "psm",
    "register · blank · skipped": "psm",
    "register · blocked · failed": "ps",
    "register · blocked · nothing": "m",
    "register · declined · skipped": "psm",
    "register · differs · skipped": "psm",
    "register · filled · skipped": "psm",
    "register · not a file · skipped": "psm",
    "register · proposed · created": "psm",
    "register · proposed · failed": "psm",
    "register · proposed · nothing": "m",
    "register · proposed · skipped": "psm",
    "register · proposed · updated": "psm",
    "register · same · skipped": "psm",
    "register · to create · created": "psM",
    "register · to create · failed": "psm",
    "register · to create · pending": "psm",
    "register · to create · skipped": "psm",
    "register · to create · unknown": "psm",
    "register · to create · updated": "PSM",
    "register · unset · skipped": "psm",
    "withdraw · blank · skipped": "PSM",
    "withdraw · blocked · nothing": "PSM",
    "withdraw · declined · skipped": "psm",
    "withdraw · differs · skipped": "Psm",
    "withdraw · filled · skipped": "Psm",
    "withdraw · not a file · skipped": "PSM",
    "withdraw · proposed · nothing": "psm",
    "withdraw · same · skipped": "Psm",
    "withdraw · to create · nothing": "psm",
    "withdraw · to create · skipped": "PsM",
    "withdraw · unset · skipped": "PSM",
}
"""The ways that have a combination: (p)er-file, (s)ingle and (m)any. A capital letter: the way can
have the combination, but perhaps only in a test marked `large`, or in a random one."""
seen = set[Combination]()
"""The combinations of all runs in this process."""


def note(report: Any, environ: Mapping[str, str]) -> None:
    """Add the combinations in the report of a run, and check that they are in the table."""
    way = "many" if environ.get("INPUT_TARGET_REPOS") else environ.get("INPUT_COMMIT_STRATEGY")
    letter = (way or "per-file").lower()[0]
    for registration in report["registrations"]:
        for file in registration["files"]:
            states = f"{registration['mode']} · {file['standing']} · {file['done']}"
            assert letter in TABLE.get(states, "").lower(), f"not in the table: {states} ({letter})"
            seen.add((states, letter))


def missing(all_seen: set[Combination]) -> Iterator[Combination]:
    """Yield the combinations of the table that tests not marked `large` should have had."""
    for states, letters in TABLE.items():
        for letter in letters:
            if letter.islower() and (states, letter) not in all_seen:
                yield states, letter
