"""`mode: withdraw` closes unchanged pull requests; the next run proposes their files again."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from registrar.registration.mark import BEGIN
from tests.fakehub import FaultKind
from tests.stories.story import *

ERROR = FaultKind.ERROR_503
AB, ABC, NEW = "a.md b.md", "a.md b.md c.md", "a.md=new b.md c.md"
LEFT = "progress.left_open"
MISSING = "a.md b.md to create"
NAMES = ("1", "-2", "-3", "-4")
CHANGES = {
    "a.md=mine": "a.md",
    "-a.md": "a.md",
    "c.md=mine": "c.md",
    "a.md->A": "a.md",
    "a.md*": "a.md",
    "README.md=mine": "README.md",
    "d.md README.md=mine c.md=mine b.md=mine a.md=mine": "README.md a.md b.md c.md d.md",
}
"""The files that somebody pushes to the branch of a pull request, and the paths to be named."""


MOMENTS: dict[str, Callable[[Running, Step], Running]] = {
    "at the last look": lambda run, act: run.at("the last look", act),
    "while it waits": lambda run, act: run.waiting("the description", act),
    "after an error": lambda run, act: run.waiting("the description", act, kind=ERROR),
}


def filled(body: str, less: int = 0) -> str:
    """Return a description with so much text above it that there is room for nothing more."""
    return f"{'x' * (65_536 - len(body) - 2 - less)}\n\n{body}"


def fits(opened: Copied, more: int, body: str) -> str:
    """Return a description of an open pull request that is full once it is called withdrawn."""
    return "x" * (65_536 - len(body) + more) + opened.text


def without_words(body: str) -> str:
    """Return a description of whose words of registrar only the record is left."""
    begin, record = body.index(BEGIN) + len(BEGIN), body.index("<!-- registrar:wrote")
    return f"{body[:begin]}\n{body[record:]}"


def squashed(world: World) -> None:
    """The base branch gets the files, but not the commits."""
    push(AB, to="main")(world)
    change(1, merged_at=1.0, merge_commit_sha=world.repository.head("main"))(world)


test_withdrawing = told(
    story(
        "what was withdrawn is proposed again from its branch, and can be declined then",
        *(run(AB), plan(), only("m", says("many.withdrawable", count=1))),
        *(withdraw(), sends("PATCH pulls/1"), reports(operation="withdrawn")),
        says("body.withdrawn", in_="#1"),
        f"#1 withdrawn: {AB}; {MISSING}",
        *(withdraw(), sends(), reports(number=None)),
        *(plan(), never("many.withdrawable"), run(), sends("POST pulls")),
        reports(operation="created"),
        f"#1 withdrawn; #2 open: {AB}",
        *(close(2), run()),
        f"#1 withdrawn; #2 closed: {AB}; {AB} declined in #2",
    ),
    story(
        "withdrawing again and again leaves one branch",
        *(run(AB), withdraw().losing("the description"), run(), withdraw(), run(), withdraw()),
        f"#1 withdrawn; #2 withdrawn; #3 withdrawn: {AB}; {MISSING}",
    ),
    story(
        "a withdrawal asks for nothing twice",
        *(run(AB), withdraw(), asks("/compare/", 1), asks("/git/trees/", 2)),
        f"#1 withdrawn: {AB}; {MISSING}",
    ),
    *in_turn(
        story(
            f"a pull request with a later name is withdrawn ({why})",
            *(branch(name, "mine.md") for name in NAMES),
            *(run(AB), *map(delete, gone), run(), withdraw(), sends("PATCH pulls/1")),
            f"#1 withdrawn from -5: {AB}; "
            + "".join(f"branch {name}: mine.md; " for name in NAMES if name not in gone)
            + MISSING,
        )
        for why, gone in (
            ("all names are taken", ()),
            ("the others are gone", NAMES),
            ("one is left", ("1", "-3", "-4")),
        )
    ),
    story(
        "a withdrawn list is proposed under another name once somebody has pushed",
        *(run(AB), withdraw(), push("mine.md"), run()),
        f"#1 withdrawn: {AB} mine.md; #2 open from -2: {AB}",
    ),
    *in_turn(
        story(
            f"a list that has changed meanwhile is withdrawn, too: {listed}",
            *(run(AB), withdraw(listed), run(NEW)),
            f"#1 withdrawn; #2 open: {NEW}",
            ways="pm",
        )
        for listed in ("c.md", NEW)
    ),
    story(
        "a plan says what proposing it again brings",
        *(run("a.md b.md d.md"), withdraw(), plan("a.md=new b.md c.md d.md")),
        "#1 withdrawn: a.md b.md d.md; a.md to update; b.md c.md d.md to create",
        check(fail_on="invalid"),
        "#1 withdrawn: a.md b.md d.md; a.md to update; b.md c.md d.md to create",
        run(),
        "#1 withdrawn; #2 open: a.md=new b.md c.md d.md",
    ),
    story(
        "a file that a stopped run did not record is withdrawn as well",
        *(run(AB), leaves("c.md"), withdraw(ABC)),
        "#1 withdrawn: a.md b.md c.md; a.md b.md c.md to create",
        run("a.md b.md c.md=new"),
        "#1 withdrawn; #2 open: a.md b.md c.md=new",
    ),
    story(
        "a stranger who has a pull request from its branch stops nothing",
        *(run(AB), withdraw(), opens("1", author="stranger"), refusing("PATCH", 403, "No"), run()),
        f"#1 withdrawn; #2 open by stranger: {AB}; #3 open from -2: {AB}",
    ),
    story(
        "a branch that was merged by hand is not opened again",
        *(run(AB), withdraw(), branch("main", at="1"), push("-a.md", to="main"), run()),
        "#1 withdrawn; #2 open from -2: a.md",
    ),
    story(
        "a branch that was squashed by hand is not opened again",
        *(run(AB), withdraw(), does("squashed by hand", squashed), push("-a.md", to="main"), run()),
        f"#1 merged: {AB}; #2 open from -2: a.md",
    ),
    story(
        "a withdrawal that GitHub refuses fails the run",
        *(run(AB), refusing("PATCH", 422, "Not now"), withdraw(), shows("Not now")),
        only("ps", f"#1 open: {AB}; {MISSING}; exit 2"),
        only("m", f"#1 open: {AB}; {MISSING}; exit 1"),
    ),
    story(
        "one of two pull requests of a list is continued after both were withdrawn",
        *(run("a.md"), branch("docs"), change(1, base="docs"), run("b.md"), change(1, base="main")),
        *(withdraw(AB), run(AB)),
        "#1 withdrawn; #2 withdrawn from -2: b.md; #3 open: a.md b.md; branch docs",
    ),
    story(
        "one of two withdrawn branches is continued, whatever becomes of the answer",
        *(run(AB), withdraw(), push("a.md=mine"), run(), withdraw(), reset()),
        *(run(NEW).losing("the pull request"), reports(number=3)),
        f"#1 withdrawn; #2 withdrawn from -2: {AB}; #3 open: {NEW}",
    ),
    story(
        "a withdrawn pull request that no longer names its list is continued",
        *(
            run(AB),
            withdraw(),
            describe(1, lambda b: re.sub(r"<!-- registrar:list \w+ -->", "", b)),
        ),
        run(),
        f"#1 withdrawn; #2 open: {AB}",
    ),
)

test_what_stays_open = told(
    *in_turn(
        story(
            f"a pull request stays open after somebody has pushed {files}",
            *(run(AB), push(files), withdraw(), sends(), reports(operation="none")),
            says("progress.left_open_edited", paths=paths.split()),
            f"#1 open: {there}",
        )
        for (files, paths), there in zip(
            CHANGES.items(),
            (
                "a.md=mine b.md",
                "b.md; a.md declined in #1",
                "a.md b.md c.md=mine",
                "a.md->A b.md",
                "a.md* b.md",
                "README.md=mine a.md b.md",
                "README.md=mine a.md=mine b.md=mine c.md=mine d.md",
            ),
            strict=True,
        )
    ),
    *in_turn(
        story(
            f"a pull request whose branch no longer adds a file stays open: {how}, {what}",
            *(push("a.md", to="main"), branch("earlier"), push("-a.md", to="main")),
            *(run("a.md"), *acts, withdraw(listed), sends(), says(note)),
            f"#1 open: {there}; branch earlier; {stands[listed]}".removesuffix("; "),
        )
        for how, acts, there, stands in (
            (
                "deleted",
                (push("-a.md b.md"),),
                "b.md",
                {"a.md": "a.md to create", "b.md": ""},
            ),
            (
                "reset",
                (branch("1", at="earlier"),),
                "",
                {"a.md": "", "b.md": "b.md to create"},
            ),
            (
                "merged",
                (push("a.md", to="main"), update_branch()),
                "",
                {"a.md": "", "b.md": "b.md to create"},
            ),
        )
        for what, listed, note in (
            ("listed", "a.md", f"{LEFT}_edited"),
            ("not listed", "b.md", f"{LEFT}_deleted" if how == "deleted" else f"{LEFT}_edited"),
        )
    ),
    *(
        story(
            f"a pull request whose files GitHub does not list stays open ({what})",
            *(run(AB), *(push(each) for each in pushed), quirk(most_in_tree=most), withdraw()),
            *(sends(), says(told)),
            state,
            ways="s",
        )
        for what, pushed, most, told, state in (
            ("no listing", (), 1, LEFT, f"#1 open: {AB}"),
            ("of before the branch", (), 2, LEFT, f"#1 open: {AB}"),
            (
                "of the branch",
                ("-a.md -README.md",),
                1,
                f"{LEFT}_edited",
                "#1 open: -README.md b.md; a.md declined in #1",
            ),
        )
    ),
    *in_turn(
        story(
            f"a pull request stays open if it is another one: {what}",
            *(run(AB), *changed, plan(), *foretold, withdraw(), sends()),
            state,
        )
        for what, changed, foretold, state in (
            (
                "of another list",
                (describe(1, lambda body: re.sub("list [0-9a-f]+", "list 0123456789", body)),),
                (never("many.withdrawable"),),
                f"#1 open: {AB}; {MISSING}",
            ),
            (
                "of a stranger",
                (change(1, author="stranger"),),
                # A plan does not look at authors, because that takes requests
                (only("m", says("many.withdrawable", count=1)),),
                f"#1 open by stranger: {AB}; {MISSING}",
            ),
            (
                "into another branch",
                (branch("docs"), change(1, base="docs")),
                (never("many.withdrawable"),),
                f"#1 open into docs: {AB}; {MISSING}",
            ),
        )
    ),
    *in_turn(
        story(
            f"a pull request that somebody {what} {when} stays as it is",
            *(run(AB), moment(withdraw(), act), *said, plan()),
            state,
        )
        for what, act, said, state in (
            (
                "edits",
                push("a.md=mine"),
                (says("progress.left_open_moved"),),
                "#1 open: a.md=mine b.md",
            ),
            (
                "closes",
                close(1),
                (never("progress.left_open_moved"),),
                f"#1 closed: {AB}; {AB} declined in #1",
            ),
            (
                "rewrites",
                describe(1, "mine"),
                (says("progress.left_open_moved"),),
                f"#1 open: {AB}",
            ),
        )
        for when, moment in MOMENTS.items()
    ),
    *in_turn(
        story(
            f"in a private repository, other paths are named if only readers see it: {who}",
            *(sets(private=True), run(AB), push("secret/plan.md"), withdraw(**where), look),
            f"#1 open: {AB} secret/plan.md",
            ways=ways,
        )
        for who, where, look, ways in (
            ("a shell", {}, shows("secret/plan.md"), "psm"),
            ("its own workflow", {"workflow": "octo/example"}, shows("secret/plan.md"), "psm"),
            ("another workflow", {"workflow": "octo/public"}, hides("secret/plan.md"), "ps"),
        )
    ),
)

test_what_people_do_to_a_withdrawn_one = told(
    story(
        "a file that was declined since is not proposed with the branch of a withdrawn one",
        *(run(AB), withdraw(), push("mine.txt"), run("a.md"), close(2), reset(), run(AB)),
        f"#1 withdrawn: {AB}; #2 closed from -2: a.md; #3 open from -3: b.md; a.md declined in #2",
    ),
    story(
        "a file that was declined before stays declined in a withdrawn one",
        *(run("a.md"), close(1), run(AB), withdraw()),
        "#1 closed: a.md; #2 withdrawn from -2: b.md; a.md declined in #1; b.md to create",
        run(),
        "#1 closed: a.md; #2 withdrawn from -2; #3 open from -2: b.md; a.md declined in #1",
        *(close(3), run()),
        "#1 closed: a.md; #2 withdrawn from -2; #3 closed from -2: b.md; "
        "a.md declined in #1; b.md declined in #3",
    ),
    *in_turn(
        story(
            f"a withdrawn one that a person opens again can be declined (update: {update})",
            *(run(AB), withdraw(), reopen(1)),
            f"#1 open (withdrawn): {AB}; {MISSING}",
            *(run(update=update), sends("PATCH pulls/1")),
            f"#1 open: {AB}",
            *(close(1), run(update=update)),
            f"#1 closed: {AB}; {AB} declined in #1",
            ways="pm",
        )
        for update in ("true", "false")
    ),
    story(
        "a file that is deleted after a withdrawal keeps the next pull request open",
        *(run(AB), withdraw("a.md"), run(AB), push("-b.md"), withdraw("a.md"), run(AB)),
        "#1 withdrawn; #2 open: a.md; b.md declined in #1",
    ),
    *in_turn(
        story(
            f"a deleted file is declined in the first pull request that had it: {path}",
            *(run("a.md"), withdraw(), run(AB), withdraw(), push(f"-{path}"), run()),
            f"#1 withdrawn; #2 withdrawn; #3 open: {left}; {path} declined in {first}",
            ways="pm",
        )
        for path, left, first in (("a.md", "b.md", "#1"), ("b.md", "a.md", "#2"))
    ),
    story(
        "a file that is deleted from a withdrawn branch stays away",
        *(run(ABC), withdraw(), push("-a.md"), run()),
        says("body.removed", in_="#2", count=1),
        "#1 withdrawn; #2 open: b.md c.md; a.md declined in #1",
    ),
    story(
        "nothing is proposed if the last missing file is deleted from a withdrawn branch",
        *(run(AB), withdraw(), push("-a.md"), push("b.md", to="main"), run(), sends()),
        "#1 withdrawn: b.md; a.md declined in #1",
    ),
    *in_turn(
        story(
            f"a withdrawn one that a person opens and closes declines what it lacks ({what})",
            *(run(ABC), withdraw(), reopen(1), push("-a.md"), close(1), *gone, run()),
            "#1 withdrawn; #2 open: b.md c.md; a.md declined in #1",
            but="limit-withdrawal",
            ways="pm",
        )
        for what, gone in (("its branch is there", ()), ("its branch is deleted", (delete(),)))
    ),
)

test_the_description = told(
    story(
        "a full description does not keep a pull request withdrawn",
        *(run(AB), withdraw(), describe(1, filled), reopen(1), run()),
        f"#1 open: {AB}",
        *(close(1), run()),
        f"#1 closed: {AB}; {AB} declined in #1",
    ),
    *in_turn(
        story(
            f"a full description can be closed, and keeps the text of others ({what})",
            *(run(AB), describe(1, edit), withdraw()),
            shows("x" * 60_000, in_="#1"),
            f"#1 withdrawn: {AB}; {MISSING}",
            ways="pm",
        )
        for what, edit in (
            ("whole", filled),
            ("only the record", lambda body: filled(without_words(body))),
        )
    ),
    story(
        "a description says once that the pull request is withdrawn",
        *(run(AB), withdraw(), copied := Copied(), reopen(1), withdraw(), copied.is_unchanged),
        f"#1 withdrawn: {AB}; {MISSING}",
    ),
    story(
        "a pull request whose description has only the record is withdrawn",
        *(run(AB), describe(1, lambda body: body.replace(BEGIN, "")), withdraw()),
        shows(BEGIN, in_="#1"),
        f"#1 withdrawn: {AB}; {MISSING}",
    ),
    *in_turn(
        story(
            f"the table of a closed one {what}",
            *(
                run(AB),
                describe(1, "x\n\n{}".format),
                opened := Copied(),
                withdraw(),
                reopen(1),
            ),
            describe(1, partial(fits, opened, more)),
            *(withdraw(), looks("| `a.md`", in_="#1")),
            f"#1 withdrawn: {AB}; {MISSING}",
            ways="pm",
        )
        for what, more, looks in (
            ("stays if there is just room for it", 0, shows),
            ("is left out if there is no room for it", 1, hides),
        )
    ),
)
