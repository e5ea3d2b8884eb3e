"""Declined files are not proposed again, until people want them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from registrar.lists.constraints import MOST_PATHS
from registrar.registration.mark import BEGIN, END, Mark, hashed
from tests.example import Example
from tests.fakehub import FaultKind, Person
from tests.harness import LIST_BRANCH, SINGLE, Action, Run
from tests.stories.story import *

AB, ABC, ABCD = "a.md b.md", "a.md b.md c.md", "a.md b.md c.md d.md"
NO = "a.md b.md declined in #1"
FAILED = "a.md b.md to create; exit 2"
NAMES = ("1", "-2", "-3", "-4", "-5")


TAKEN = [
    each
    for number, name in enumerate(NAMES, 1)
    for each in (branch(name, "mine.md"), opens(name), close(number))
]
"""Somebody's own work has had the first names, each with a closed pull request."""
IN_OTHER_CASE = only("sm", says("progress.letter_case"))
"""`per-file` reads no directories."""
HELD = only("ps", says("progress.from_base", paths="a.md"))
CROWD = "".join(
    f"#{number} open from theirs of stranger/example by somebody; " for number in range(2, 102)
)


@step
def lost(world: World, status: int, words: str) -> None:
    """GitHub does not give the commit of the first pull request any more."""
    refusing(world.repository.pull_requests[0].head_sha, status, words)(world)


@step
def defaults(world: World, name: str) -> None:
    """Somebody makes a branch the default branch."""
    world.person.change(default_branch=name)


def has_one_part(world: World) -> None:
    """The description has one part of registrar, and nothing of an edit is left before it."""
    body = world.repository.pull_request(1).body or ""
    assert body.count("registrar:wrote") == 1, body
    assert not body.startswith((" ", ">")), body


one_part = does("the description has one part of registrar", has_one_part)


@step
def replaces_history(world: World) -> None:
    """The branch gets a commit without a parent and without a file."""
    git, now = world.repository.own(), world.repository.now()
    person = Person("Somebody", "somebody@example.com").signature(now)
    commit = git.create_commit(None, person, person, "Begin", git.TreeBuilder().write(), [])
    world.person.create_branch(LIST_BRANCH, str(commit))


test_a_closed_pull_request = told(
    story(
        "a branch without a common commit is left alone",
        *(replaces_history(), run(AB)),
        "#1 open from -2: a.md b.md; branch 1",
    ),
    story(
        "a pull request whose history was replaced is left alone, and not closed as needless",
        *(run(AB), replaces_history(), run()),
        f"#1 open: ; {NO}",
        *(push(AB, to="main"), run(), only("sm", says("progress.left_open"))),
        only("p", never("progress.left_open")),
        "#1 open: ",
    ),
    story(
        "a pull request of another branch at the same commit is not the one of the list",
        *(quirk(heads_by_commit=True), branch("other", "a.md"), opens("other"), close(1)),
        *(branch("1", at="other"), run(AB)),
        "#1 closed from other by somebody: a.md; #2 open: a.md b.md",
    ),
    story(
        "a declined pull request that is not shown is not proposed again",
        *(run(AB), close(1), delete(), quirk(hidden_pull_requests=frozenset({1})), run()),
        says("refusal.sso_without_address"),
        f"#1 closed; {FAILED}",
        ways="s",
    ),
    story(
        "an existing file in other letter case is a warning only as long as the path is wanted",
        *(push("A.md", to="main"), run("a.md"), IN_OTHER_CASE),
        *(withdraw(), never("progress.letter_case"), run(), IN_OTHER_CASE),
        *(close(2), plan(), never("progress.letter_case"), run(), never("progress.letter_case")),
        "#1 withdrawn; #2 closed: a.md; a.md declined in #2",
    ),
    story(
        "a closed pull request counts after its branch is deleted, in every way",
        *(run(AB), close(1), delete(), run().otherwise),
        f"#1 closed; {NO}",
        run(),
        only("ps", says("progress.declined", count=2, pull_requests="#1")),
        only("ps", says("reason.declined", in_="summary", pull_request="#1")),
        f"#1 closed; {NO}",
    ),
    story(
        "a pull request counts if its name is behind names that have pull requests only",
        *(*TAKEN, run(AB), close(6), delete("-6"), *map(delete, NAMES), run()),
        "#1 closed by somebody; "
        + "".join(f"#{-int(n)} closed from {n} by somebody; " for n in NAMES[1:])
        + "#6 closed from -6; a.md b.md declined in #6",
    ),
    story(
        "a list that has grown proposes only the new file",
        *(run(AB), close(1), delete(), run(ABC), says("body.declined", in_="#2", count=2)),
        f"#1 closed; #2 open: c.md; {NO}",
        *(close(2), delete(), run(ABCD)),
        f"#1 closed; #2 closed; #3 open: d.md; {NO}; c.md declined in #2",
    ),
    story(
        "the branch of a declined pull request is left alone when somebody works on it",
        *(run(AB), close(1), push("mine.txt"), run()),
        f"#1 closed: a.md b.md mine.txt; {NO}",
    ),
    story(
        "declined files are known where issues are switched off",
        *(run(AB), push("-b.md"), refusing("/issues/", 410, "Issues are disabled for this repo")),
        run(),
        "#1 open: a.md; b.md declined in #1",
        *(close(1), delete(), run()),
        f"#1 closed; {NO}",
        run(ABC),
        f"#1 closed; #2 open: c.md; {NO}",
    ),
    story(
        "a pull request whose base branch was deleted has a way out",
        *(run(AB), branch("trunk"), defaults("trunk"), close(1), run()),
        *(never("progress.base_gone"), reopen(1), delete("main"), run()),
        says("progress.base_gone", in_="summary", bases="main", base="trunk"),
        says("progress.base_gone", in_="log", bases="main", base="trunk"),
        says("reason.base_gone", in_="table", base="main"),
        *(plan(), says("progress.base_gone", bases="main", base="trunk")),
        *(branch("main"), reopen(1), change(1, base="trunk"), delete("main"), run(ABC)),
        "#1 open: a.md b.md c.md",
    ),
    story(
        "another name of the branch proposes the files again",
        *(run(AB), close(1), run(branch="another")),
        "#1 closed: a.md b.md; #2 open from another: a.md b.md",
    ),
    story(
        "files of a merged pull request that are deleted later are not declined",
        *(run(AB), merge(1), plan(ABC), hides("#1")),
        *(push("-a.md -b.md", to="main"), delete(), run(AB)),
        "#1 merged; #2 open: a.md b.md",
    ),
    story(
        "a closed pull request of a fork declines nothing",
        *(run(AB), change(1, head_repository="somebody/example"), close(1), delete(), run()),
        "#1 closed of somebody/example; #2 open: a.md b.md",
    ),
    story(
        "a description without a record declines what its branch adds",
        *(run(AB), describe(1, "Rewritten"), close(1), run(ABC)),
        f"#1 closed: a.md b.md; #2 open from -2: c.md; {NO}",
        *(close(2), delete("-2"), delete(), run()),
        f"#1 closed; #2 closed from -2; {NO}; c.md declined in #2",
    ),
    story(
        "a request for the branch that is lost forgets no closed pull request",
        *(run(AB), describe(1, "Rewritten"), close(1), delete()),
        run(ABC).waiting("the branch", kind=FaultKind.CLOSED),
        f"#1 closed; #2 open: c.md; {NO}",
    ),
    *in_turn(
        story(
            f"a closed pull request declines more than its record names: {what}{then}",
            *(run("a.md"), *more, close(1), *gone, plan(ABC)),
            f"#1 closed{'' if then else there}; {found}; {left} to create",
            run(),
            f"#1 closed{'' if then else there}; #2 open{name}: {left}; {found}",
        )
        for then, gone, name in (("", (), " from -2"), (", deleted", (delete(),), ""))
        for what, more, there, found, left in (
            ("as listed", (leaves("b.md"),), ": a.md b.md", NO, "c.md"),
            (
                "beside other work",
                (push("b.md mine.md README.md=mine"),),
                ": README.md=mine a.md b.md mine.md",
                NO,
                "c.md",
            ),
            (
                "with another content",
                (push("b.md=mine"),),
                ": a.md b.md=mine",
                "a.md declined in #1",
                "b.md c.md",
            ),
            (
                "only from its base branch",
                (push("b.md", to="main"), update_branch(), push("-b.md", to="main")),
                ": a.md",
                "a.md declined in #1",
                "b.md c.md",
            ),
        )
    ),
    story(
        "a closed pull request without a record declines nothing if it led elsewhere",
        *(branch("docs"), run(AB, base="docs"), describe(1, "Rewritten"), close(1), plan()),
        f"#1 closed into docs: a.md b.md; {NO}",
        *(change(1, base="main"), plan()),
        "#1 closed: a.md b.md; branch docs; a.md b.md to create",
        *(describe(1, f"{BEGIN}\nwords\n{END}"), plan()),
        "#1 closed: a.md b.md; branch docs; a.md b.md to create",
    ),
    story(
        "files that a pull request proposes are not declined by an older one that was merged",
        *(run(AB), branch("docs"), change(1, base="docs"), push("x.md", to="main"), run()),
        "#1 open into docs: a.md b.md; #2 open from -2: a.md b.md",
        *(push("-b.md"), change(1, base="main"), merge(1), run()),
        "#1 merged; #2 open from -2: a.md b.md; branch docs",
    ),
    *(
        story(
            f"of the closed pull requests without a record, the ten newest count ({more} newer)",
            *(run(AB), describe(1, "Rewritten"), close(1), push("-a.md -b.md")),
            *(
                each
                for number in range(2, 2 + more)
                for each in (push(f"{number}.md"), opens("1", body="Mine"), close(number))
            ),
            plan(),
            "#1 closed; "
            + "".join(f"#{number} closed by somebody; " for number in range(2, 1 + more))
            + f"#{1 + more} closed by somebody: "
            + " ".join(sorted(f"{number}.md" for number in range(2, 2 + more)))
            + f"; {found}",
            ways="s",
        )
        for more, found in ((9, NO), (10, "a.md b.md to create"))
    ),
    *(
        story(
            f"a pull request that was {how}, and whose commit GitHub does not give: {words}",
            *(run(AB), *leave),
            delete(),
            lost(status, words),
            plan(),
            f"{there}{planned}",
            run(),
            f"{there}{done}",
            ways="s",
            but="limit-record" if (how, status) == ("closed", 404) else "",
        )
        for how, leave, there in (
            ("withdrawn", (withdraw(),), "#1 withdrawn; "),
            ("closed", (describe(1, "Rewritten"), close(1)), "#1 closed; "),
        )
        for status, words, planned, done in (
            (404, "Not Found", "a.md b.md to create", "#2 open: a.md b.md"),
            (403, "Resource not accessible by integration", "a.md b.md to create", FAILED),
            (422, "Server Error: Sorry, this diff is unavailable.", FAILED, FAILED),
        )
    ),
    story(
        "plan and check show what was declined, and what registering would create",
        *(run(AB), close(1), delete(), plan(ABC)),
        f"#1 closed; {NO}; c.md to create",
        only("ps", says("progress.declined", count=2, pull_requests="#1")),
        check(),
        only("ps", says("progress.declined", count=2, pull_requests="#1")),
        f"#1 closed; {NO}; c.md to create; exit 1",
    ),
    story(
        "a check is green after everything was declined, and advises nothing",
        *(run(AB), close(1), delete(), check(fail_on="missing")),
        only("ps", says("advice.declined", in_="summary")),
        never("advice.register"),
        f"#1 closed; {NO}",
    ),
    story(
        "a check fails because of declined files if it is told to",
        *(run(AB), close(1), delete(), check(fail_on="declined, unset")),
        says("check.fails_declined", count=2),
        never("advice.register"),
        f"#1 closed; {NO}; exit 1",
    ),
)


test_a_deleted_file = told(
    story(
        "a file that was deleted from the branch is declined until it is put back",
        *(run(AB), push("-b.md"), run()),
        "#1 open: a.md; b.md declined in #1",
        *(push("b.md=back"), run()),
        "#1 open: a.md b.md=back",
        *(merge(1), push("-b.md", to="main"), plan()),
        only("ps", says("progress.deleted", count=1)),
        only("ps", says("reason.deleted", in_="summary", pull_request="#1")),
        run(),
        says("reason.deleted", in_="#2", pull_request="#1"),
        "#1 merged; #2 open from -2: b.md",
    ),
    *(
        story(
            f"a file deleted before the merge is declined, one deleted later is not{cut}",
            *(run(AB), push("-b.md"), merge(1), push("-a.md", to="main"), *more, plan()),
            "#1 merged; a.md to create; b.md declined in #1",
            ways="p",
        )
        for cut, more in (("", ()), (" if GitHub lists no merge", (quirk(most_in_tree=1),)))
    ),
    story(
        "the next commit says in the description which file was deleted",
        *(run(AB), push("-b.md"), run(ABC)),
        says("body.removed", in_="#1", count=1),
        "#1 open: a.md c.md; b.md declined in #1",
        *(merge(1), run()),
        "#1 merged; b.md declined in #1",
    ),
    story(
        "a branch that somebody moves to other work declines nothing",
        *(run(AB), branch("1", "theirs.md"), run()),
        "#1 open: a.md b.md theirs.md",
        but="limit-reset",
    ),
    story(
        "a file that the branch has only from its beginning is not proposed by its merge",
        *(push("a.md", to="main"), run(AB), push("-a.md", to="main"), plan(), HELD),
        "#1 open: b.md; a.md to create",
        *(check(), HELD),
        "#1 open: b.md; a.md to create; exit 1",
        *(run(), HELD),
        only("ps", says("reason.from_base")),
        "#1 open: b.md; a.md to create",
        run("a.md=new b.md"),
        HELD,
        "#1 open: b.md; a.md to create",
        *(merge(1), delete(), run()),
        "#1 merged; #2 open: a.md=new",
    ),
    story(
        "a pull request that brings no listed file is named all the same",
        *(push("a.md", to="main"), run(AB), push("-a.md", to="main"), run("a.md")),
        reports(number=1),
        "#1 open: b.md; a.md to create",
    ),
    *in_turn(
        story(
            f"a file that an update of the branch removes is not declined ({how})",
            *(push("a.md", to="main"), run(AB), push("-a.md", to="main"), *between),
            *(update_branch(), run()),
            f"{there}: a.md b.md",
        )
        for how, between, there in (
            ("before a run", (), "#1 open"),
            ("withdrawn", (withdraw(),), "#1 withdrawn; #2 open"),
            ("after a run", (run(),), "#1 open"),
        )
    ),
    story(
        "a branch that a stopped run left proposes only the files that it adds",
        *(push("a.md", to="main"), leaves("b.md"), push("-a.md", to="main"), plan(AB)),
        "branch 1: b.md; a.md b.md to create",
        run(),
        "#1 open: b.md; a.md to create",
    ),
)


# --- Descriptions that somebody edits ---------------------------------------------------------


def without(name: str, body: str) -> str:
    """Return a description without one of registrar's comments."""
    return re.sub(rf"<!-- registrar:{name}.*-->\n?", "", body)


def beside(pattern: str, text: str) -> Callable[[str], str]:
    """Return an edit that writes a text at the beginning or at the end of each line."""
    return lambda body: re.sub(f"(?m){pattern}", text, body)


EDITS: dict[str, str | Callable[[str], str]] = {
    **{f"without {name}": partial(without, name) for name in ("begin", "end", "wrote", "list")},
    "indented": beside("^", "   "),
    "quoted": beside("^", "> "),
    "with text behind each line": beside("$", " Beside"),
    "with text before each line": beside("^", "Before "),
    "replaced": "My own words.",
}
FORGETS = {"without wrote", "replaced"}
"""Edits after which nothing tells which files a run has written."""

test_a_description_that_somebody_edits = told(
    *in_turn(
        story(
            f"a closed pull request counts after an edit of its description: {how}",
            *(run(AB), describe(1, edit), close(1), delete(), run()),
            f"#1 closed; {NO}",
        )
        for how, edit in EDITS.items()
    ),
    *in_turn(
        story(
            f"a deleted file stays away after an edit of the description: {how}",
            *(run(AB), push("-a.md"), describe(1, edit)),
            # Nothing is left that tells: the file comes once more
            *((run(), "#1 open: a.md b.md", push("-a.md")) if how in FORGETS else ()),
            *(run(ABC), one_part),
            "#1 open: b.md c.md; a.md declined in #1",
            *(close(1), delete(), run()),
            "#1 closed; a.md b.md c.md declined in #1",
            but="limit-record" if how in FORGETS else "",
        )
        for how, edit in EDITS.items()
    ),
    story(
        "all parts of a description count, and one is left",
        *(run(AB), copy := Copied(), run(ABC), describe(1, copy.above), run(ABCD), one_part),
        *(describe(1, copy.above), close(1), delete(), run()),
        "#1 closed; a.md b.md c.md d.md declined in #1",
        ways="s",
    ),
)

test_many_pull_requests = told(
    story(
        "in a fork, closed pull requests behind a hundred others count",
        *(sets(parent="octo/parent"), run(AB), close(1), delete()),
        *(opens("theirs", head_repository="stranger/example") for _ in range(100)),
        *(run(ABC), close(102), delete(), run()),
        f"#1 closed; {CROWD}#102 closed; {NO}; c.md declined in #102",
    ),
    story(
        "where GitHub lists no branches, each is asked for",
        *(refusing("/git/matching-refs/", 404, "Not Found"), run(AB), run()),
        "#1 open: a.md b.md",
        *(close(1), delete(), run()),
        f"#1 closed; {NO}",
        *(branch("1", "theirs.md"), plan("c.md"), never("wait.lag"), run()),
        "#1 closed: theirs.md; #2 open from -2: c.md",
        ways="p",
    ),
)

test_the_file_of_a_list = told(
    story(
        "a list without a name whose file was moved is a new list, and this is said",
        *(run(AB, file="old.json"), close(1), plan(file="config/new.json", branch=LIST_BRANCH)),
        only("ps", says("progress.moved", pull_requests="#1")),
        "#1 closed: a.md b.md; a.md b.md to create",
    ),
    *(
        story(
            f"a list is not called moved: {why}",
            *(first, *then, second, never("progress.moved")),
            state,
            ways="s",
        )
        for why, first, then, second, state in (
            (
                "it is in its place",
                run(AB, file="old.json"),
                (close(1),),
                plan(),
                f"#1 closed: a.md b.md; {NO}",
            ),
            (
                "it has a name",
                run(AB, file="old.json", called="named"),
                (close(1),),
                plan(file="config/new.json"),
                f"#1 closed from chore/add-named-files: a.md b.md; {NO}",
            ),
            (
                "its pull request was merged",
                run(AB, file="old.json"),
                (merge(1), push("-a.md -b.md", to="main")),
                plan(file="config/new.json"),
                "#1 merged; a.md b.md to create",
            ),
            (
                "the pull request also has other files",
                run(ABC, file="old.json"),
                (close(1),),
                plan(AB, file="config/new.json"),
                "#1 closed: a.md b.md c.md; a.md b.md to create",
            ),
            (
                "the pull request had another base branch",
                run(AB, file="old.json"),
                (close(1), branch("docs"), change(1, base="docs")),
                plan(file="config/new.json"),
                "#1 closed into docs: a.md b.md; a.md b.md to create",
            ),
        )
    ),
)


# --- Lists with thousands of files, whose names no row could show ---------------------------------

VERSIONS = [[f"v{version}/{number}.md" for number in range(MOST_PATHS)] for version in range(4)]
"""Versions of a list that have no path in common."""


def ask(example: Example, *paths: str, **inputs: str) -> Run:
    """Run with a list of these paths."""
    return example.run(definitions=example.action.listing(*paths), **inputs).or_fail()


def named(body: str | None) -> set[str]:
    """Return the hashes of the paths that a description names."""
    mark = Mark.of(body or "")
    return {*((mark and mark.wrote) or ())}


@pytest.fixture
def grown(action: Action) -> Example:
    """An open pull request whose description names the files of the first three versions."""
    example = Example(action, SINGLE)
    for version in VERSIONS[:3]:
        assert ask(example, *version).outputs["created"] == str(MOST_PATHS)
    assert named(example.body) == {hashed(path) for each in VERSIONS[:3] for path in each}
    return example


@pytest.mark.large
def test_each_of_several_thousand_files_that_somebody_deletes_is_declined(grown: Example) -> None:
    """A row would have to name the files."""
    removed = [version[0] for version in VERSIONS[:3]]
    grown.repository.person.commit(dict.fromkeys(removed), branch=LIST_BRANCH)
    for version in VERSIONS[:3]:
        assert ask(grown, *version).outputs["declined"] == "1"
    run = grown.run_with(dict.fromkeys(VERSIONS[2], "x\n"))
    assert run.outcomes[VERSIONS[2][1]] == "updated"
    grown.repository.person.close(1)
    grown.repository.person.delete_branch(LIST_BRANCH)
    run = ask(grown, *VERSIONS[0][:-1], "a.md")
    assert (run.outputs["declined"], run.outputs["created"]) == (str(MOST_PATHS - 1), "1")


@pytest.mark.large
def test_nothing_more_is_written_when_the_names_fill_the_description(grown: Example) -> None:
    """A row would have to name the files. A new pull request from the branch names its own."""
    head, body = grown.repository.head(LIST_BRANCH), grown.body
    for _ in range(2):
        run = ask(grown, *VERSIONS[3])
        assert (grown.repository.head(LIST_BRANCH), grown.body) == (head, body)
        assert "that description has reached GitHub's limit" in run.text
        assert (run.outputs["created"], run.outputs["declined"]) == ("0", "0")
    run = ask(grown, *VERSIONS[2], mode="withdraw")
    assert run.registration["pull_request"]["operation"] == "withdrawn", run.console
    for created_now in (str(MOST_PATHS), "0"):
        assert ask(grown, *VERSIONS[3]).outputs["created"] == created_now
    second = grown.repository.pull_requests[-1]
    assert (second.number, second.head) == (2, LIST_BRANCH)
    assert named(second.body) == {*map(hashed, VERSIONS[3])}
