"""The ids of git prove that a listing is complete, in a chain from the tree of the commit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pygit2
import pytest
from pygit2.enums import FileMode

from registrar.github.fields import Contradiction
from registrar.github.parse import git_tree
from registrar.github.trees import (
    DirectoryAnswer,
    GitDirectory,
    NoListing,
    ProvedDirectories,
    to_ask,
    tree_id,
)
from registrar.models.repository import Entry, Unknown

SOMETHING = "1" * 40
NAMES = [*(f"{number:04}.md" for number in range(1_500)), "a", "a-b", "a.b", "ab", "日本語.md"]


@pytest.fixture
def listing(tmp_path: Path) -> GitDirectory:
    """Return the listing of a root directory that git has written, with 1,507 entries."""
    git = pygit2.init_repository(tmp_path, bare=True)
    blob = git.create_blob(b"x\n")
    below = git.TreeBuilder()
    below.insert("x", blob, FileMode.BLOB)
    builder = git.TreeBuilder()
    for name in NAMES:
        builder.insert(name, blob, FileMode.BLOB)
    builder.insert("a", below.write(), FileMode.TREE)
    builder.insert("link", git.create_blob(b"a"), FileMode.LINK)
    builder.insert("module", pygit2.Oid(hex=SOMETHING), FileMode.COMMIT)
    tree = git[builder.write()]
    assert isinstance(tree, pygit2.Tree)
    return GitDirectory(str(tree.id), {(each.name or "").encode(): entry_of(each) for each in tree})


def entry_of(found: pygit2.Object) -> Entry:
    kinds = {FileMode.TREE: "tree", FileMode.COMMIT: "commit"}
    mode = FileMode(found.filemode)
    return Entry(kinds.get(mode, "blob"), f"{mode:06o}", str(found.id))


def first_of(listing: GitDirectory, count: int) -> GitDirectory:
    """Return the same listing, cut after so many entries."""
    return GitDirectory(listing.sha, dict(list(listing.entries.items())[:count]))


def test_a_listing_of_any_entries_in_any_order_is_proved(listing: GitDirectory) -> None:
    assert len(listing.entries) == 1_507
    assert listing.is_proved
    assert GitDirectory(listing.sha, dict(reversed([*listing.entries.items()]))).is_proved
    known = NOTHING.learn({"": listing}).proved[""]
    assert known["日本語.md"].mode == "100644"
    assert [known[name].type for name in ("a", "link", "module", "ab")] == [
        "tree",
        "blob",
        "commit",
        "blob",
    ]


@pytest.mark.parametrize("most", [0, 1, 300, 1_000, 1_506])
def test_a_listing_that_was_cut_is_noticed(listing: GitDirectory, most: int) -> None:
    assert not first_of(listing, most).is_proved


@pytest.mark.parametrize(
    "changed",
    [
        lambda name, entry: (name, entry._replace(mode="100755")),
        lambda _, entry: (b"other", entry),
        lambda name, entry: (name, entry._replace(sha="2" * 40)),
        lambda name, entry: (name, entry._replace(type="tree")),
    ],
    ids=["mode", "name", "id", "type"],
)
def test_a_listing_with_anything_else_is_noticed(
    listing: GitDirectory, changed: Callable[[bytes, Entry], tuple[bytes, Entry]]
) -> None:
    first, *rest = listing.entries.items()
    assert not GitDirectory(listing.sha, dict([changed(*first), *rest])).is_proved


def test_a_listing_is_cut_only_if_it_cannot_be_proved() -> None:
    entries = [{"path": name.decode(), **entry._asdict()} for name, entry in ROOT.entries.items()]
    for truncated in (True, False):
        answer = {"sha": ROOT.sha, "truncated": truncated, "tree": entries}
        assert git_tree(answer) == ROOT
        assert git_tree(answer | {"tree": entries[1:]}) == (
            None
            if truncated
            else first_of(ROOT, 0)._replace(entries=dict([*ROOT.entries.items()][1:]))
        )


def test_an_id_of_64_digits_is_sha_256() -> None:
    """git computes the same id in a repository with ``--object-format=sha256``."""
    empty = hashlib.sha256(b"tree 0\0").hexdigest()
    assert (
        tree_id({}, 64)
        == empty
        == "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    )
    assert tree_id({}, 40) == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_what_proves_a_directory_is_asked_for_before_it() -> None:
    assert to_ask(["b/c/d", "a"]) == ["", "a", "b", "b/c", "b/c/d"]
    assert to_ask([]) == [""]


# --- The chain ----------------------------------------------------------------------------

FILE = Entry("blob", "100644", "a" * 40)


def listed(entries: Mapping[bytes, Entry], sha: str = "") -> GitDirectory:
    """Return a listing with the right id for its entries, or with another one."""
    return GitDirectory(sha or tree_id(entries, 40), entries)


NOTHING = ProvedDirectories("octo/example", SOMETHING)
EMPTY = listed({})
FULL = listed({b"file": FILE})
ROOT = listed(
    {
        b"file": FILE,
        b"full": Entry("tree", "040000", FULL.sha),
        b"module": Entry("commit", "160000", SOMETHING),
    }
)
CUT = listed({b"file": FILE}, sha=ROOT.sha)
ABSENT, UNCLEAR = NoListing


@pytest.mark.parametrize(
    ("answers", "known"),
    [
        ({"full": FULL}, {"", "full"}),
        ({"none": ABSENT}, {""}),
        ({"none": ABSENT, "none/deep": ABSENT}, {""}),
        # Answers below a file, a link or a submodule do not mean anything
        ({"file": UNCLEAR}, {""}),
        ({"file": ABSENT, "file/deep": UNCLEAR}, {""}),
        ({"module": FULL}, {""}),
    ],
)
def test_what_is_known(answers: dict[str, DirectoryAnswer], known: Iterable[str]) -> None:
    found = NOTHING.learn({"": ROOT, **answers})
    assert found.directories == found.proved
    assert found.proved.keys() == set(known)


@pytest.mark.parametrize(
    "answers",
    [
        {"": UNCLEAR},
        {"": ABSENT},
        {"": ROOT, "full": ABSENT},
        {"": ROOT, "full": UNCLEAR},
        {"": ROOT, "full": EMPTY},
        {"": ROOT, "none": FULL},
        {"": ROOT, "none": UNCLEAR},
        {"": ROOT, "none": ABSENT, "none/deep": UNCLEAR},
    ],
)
def test_contradictions_and_unclear_answers_are_no_answers(
    answers: dict[str, DirectoryAnswer],
) -> None:
    with pytest.raises(Contradiction):
        NOTHING.learn(answers)


def test_nothing_is_known_below_a_listing_that_is_not_proved() -> None:
    found = NOTHING.learn({"": CUT, "full": FULL, "none": ABSENT})
    assert found.directories is Unknown.NOT_PROVED
    assert set(found.unproved) == {""}
    whole = found.complete("", ROOT)
    assert whole.directories == whole.proved
    assert whole.proved.keys() == {"", "full"}


@pytest.mark.parametrize(
    "answers", [{"full": ABSENT}, {"none": FULL}], ids=["listed", "not listed"]
)
def test_a_complete_listing_is_held_against_the_answers_below_it(
    answers: dict[str, DirectoryAnswer],
) -> None:
    found = NOTHING.learn({"": CUT, **answers})
    with pytest.raises(Contradiction):
        found.complete("", ROOT)


@pytest.mark.parametrize("other", [FULL, listed({}, sha=ROOT.sha)], ids=["another one", "fewer"])
def test_a_listing_of_something_else_completes_nothing(other: GitDirectory) -> None:
    with pytest.raises(Contradiction):
        NOTHING.learn({"": CUT}).complete("", other)


def test_listings_below_each_other_are_completed_one_after_the_other() -> None:
    cut = listed({}, sha=FULL.sha)
    found = NOTHING.learn({"": CUT, "full": cut, "full/none": ABSENT})
    found = found.complete("", ROOT)
    assert found.unproved.keys() == {"full"}
    assert found.complete("full", FULL).proved.keys() == {"", "full"}
