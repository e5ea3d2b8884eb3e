"""A run updates the right files of a pull request: any content, kind of entry, description."""

from __future__ import annotations

import itertools

import pytest

from registrar.models.paths import Update
from registrar.models.repository import Entry
from registrar.models.standing import blob_id
from registrar.registration.mark import EMPTY_MARK, Mark, hashed
from registrar.registration.planning import make_plan
from tests.unit.test_planning import (
    BASE,
    FILES,
    LIST_ID,
    MANY,
    NAME,
    OTHER,
    ModelRun,
    Setup,
    World,
)

LISTED = FILES["a"].blob_id
OLD, OLDER, EDITED = (blob_id(text) for text in (b"old\n", b"older\n", b"edited\n"))
CONTENTS = {"as listed": LISTED, "old": OLD, "older": OLDER, "edited": EDITED}
KINDS = {
    "a file": ("blob", "100644"),
    "executable": ("blob", "100755"),
    "a link": ("blob", "120000"),
    "a submodule": ("commit", "160000"),
}
WROTE = EMPTY_MARK.naming(LIST_ID, {"a": OLDER}).naming(LIST_ID, {"a": OLD})
MARKS = {
    "whole": WROTE.text,
    "without a content": Mark({hashed("a"): ""}, hashed(LIST_ID)).text,
    "of another path": EMPTY_MARK.naming(LIST_ID, {"b": OLD}).text,
    "with another list": f"{WROTE.text}\n{EMPTY_MARK.naming(OTHER, {}).text}",
    "with another content": f"{WROTE.text}\n{EMPTY_MARK.naming(LIST_ID, {'a': OLDER}).text}",
    "of too many paths": f"{WROTE.text}\n{MANY}",
    "twice": f"{WROTE.text}\n{WROTE.text}",
    "forged": "<!-- registrar:wrote 0123456789 -->",
    "without a list": WROTE._replace(list="").text,
}
SAYS_SO = {"whole", "twice"}


class Held(World):
    """A world whose branch has the entry ``held`` at the path ``a``."""

    held = Entry("blob", "100644", LISTED)

    def tree(self, oid: str) -> dict[str, Entry]:
        tree = super().tree(oid)
        return {path: self.held if path == "a" else entry for path, entry in tree.items()}


@pytest.mark.parametrize("update", [True, False])
@pytest.mark.parametrize("strategy", ["single", "per-file"])
def test_nothing_is_replaced_but_what_this_action_wrote(strategy: str, *, update: bool) -> None:
    replaced = 0
    for (content, blob), (kind, how), (mark, text) in itertools.product(
        CONTENTS.items(), KINDS.items(), MARKS.items()
    ):
        world = Held.new("main")
        world.held = Entry(*how, blob)
        world.branches[NAME] = BASE
        world.commit(NAME, "a")
        world.open(NAME, text)
        world.setup = Setup(strategy, updates=update)
        run = ModelRun(world, mode="plan")
        plan = make_plan(run.task, run.lookups)
        listed = plan.paths[0]
        is_replaced = isinstance(listed.plan, Update)
        is_ours = content == "old" and kind == "a file" and mark in SAYS_SO
        assert is_replaced == (update and is_ours), (content, kind, mark)
        assert plan.leaves_pull_request is not update
        replaced += is_replaced
    assert replaced == (len(SAYS_SO) if update else 0)
