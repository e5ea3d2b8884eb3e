"""A run closes an open pull request if the default branch now has all its files.

With `per-file` it only says so, because more would take more requests.
"""

from __future__ import annotations

import re
from functools import partial

from tests.stories import story as stories
from tests.stories.story import *

story = partial(stories.story, ways="sm")
AB, ABC = "a.md b.md", "a.md b.md c.md"
HAND = push("a.md=hand b.md", to="main")
"""People add the files themselves, one of them with another content."""
CLOSED = f"#1 needless: {AB}"
IN_CONFLICT = "#1 open: a.md b.md c.md; a.md in conflict"
NEVER = (never("progress.to_close"), never("many.to_close"))


def to_close(count: int) -> tuple[Step, Step]:
    """A plan or a check says how many pull requests a run will close."""
    return (
        only("s", says("progress.to_close", count=count)),
        only("m", says("many.to_close", count=count)),
    )


def refuses(status: int, message: str) -> Act:
    """GitHub refuses to close a pull request."""
    return refusing("PATCH", status, message)


def left_open(paths: str) -> tuple[Step, ...]:
    """Neither a plan nor a run closes it; both say why."""
    told = says("progress.left_open_edited", paths=paths.split())
    if not paths:
        told = says("progress.left_open")
    return (plan(), told, *NEVER, run(), sends(), told, *NEVER)


left, left_not = says("progress.left_open_complete"), never("progress.left_open_complete")
conflicting = says("progress.left_open_conflicting", paths=["a.md"])


@step
def copies(world: World, head: str) -> None:
    """Somebody opens a pull request with the description of the first one."""
    branch(head, at="1")(world)
    opens(head, body=world.repository.pull_request(1).body)(world)


test_closing = told(
    story(
        "a pull request whose files people have added themselves is closed",
        *(run(AB), copied := Copied(), HAND, check(), *to_close(1), plan(), *to_close(1)),
        f"#1 open: {AB}",
        *(run(), sends("PATCH pulls/1"), reports(operation="closed"), says("body.needless", "#1")),
        only("s", says("progress.pull_request_closed")),
        only("m", says("many.state_closed")),
        does("the words of the description stay", copied.words_stay),
        CLOSED,
        *(run(), sends(), *NEVER, plan(), *NEVER),
        CLOSED,
    ),
    *in_turn(
        story(
            f"a pull request with a later name is closed, too {how}",
            *(*quirks, branch("1", "m"), branch("-2", "m"), branch("-3", "m"), run(AB), HAND),
            *(plan(), *to_close(1), run(), sends("PATCH pulls/1")),
            f"#1 needless from -4: {AB}; branch 1: m; branch -2: m; branch -3: m",
        )
        for how, quirks in (("", ()), ("(read in parts)", (quirk(partial_above=4),)))
    ),
    story(
        "a pull request that GitHub refuses to close keeps nothing else from being proposed",
        *(run(AB), HAND, refuses(422, "Validation Failed"), run(ABC)),
        says("progress.left_open_refused"),
        f"#1 open: {AB}; #2 open from -2: c.md",
        *(recovers(), run()),
        f"{CLOSED}; #2 open from -2: c.md",
    ),
    story(
        "the result is about the closed one if nothing can be added to another one",
        *(run(AB), HAND, refuses(422, "Validation Failed"), run(ABC), recovers(), protects("-2")),
        *(run("a.md b.md d.md"), reports(number=1, operation="closed")),
        f"{CLOSED}; #2 open from -2: c.md; d.md failed; exit 1",
    ),
    *(
        story(
            f"nothing is opened after a closing that GitHub answers with {status}",
            *(run(AB), HAND, refuses(status, message), run(ABC), never("progress.left_open")),
            f"#1 open: {AB}; c.md to create; exit {code}",
            ways="s",
        )
        for status, message, code in ((401, "Bad credentials", 2), (500, "Server Error", 1))
    ),
    *in_turn(
        story(
            f"a file that is deleted later is proposed again ({what})",
            *(run(AB), push(f"a.md=hand {theirs}", to="main"), run(), push("-a.md", to="main")),
            plan(),
            f"{CLOSED}; a.md to create",
            run(),
            state,
        )
        for what, theirs, state in (
            ("from its branch", "b.md", "#1 needless; #2 open: a.md b.md"),
            ("another file conflicts", "b.md=hand", f"{CLOSED}; #2 open from -2: a.md"),
            ("another file is executable", "b.md*", f"{CLOSED}; #2 open from -2: a.md"),
        )
    ),
    story(
        "a branch is used again and again for one more file, so the names are not used up",
        *(run(AB), push(AB, to="main"), run(), CLOSED),
        *(run(ABC), "#1 needless; #2 open: a.md b.md c.md", push(ABC, to="main"), run()),
        *(run("a.md b.md c.md d.md"), merge(3), run()),
        "#1 needless; #2 needless; #3 merged",
    ),
    story(
        "a list that has grown takes the next name while a needless one is open",
        *(run(AB), HAND, plan(ABC), only("s", reports(number=None)), run()),
        reports(operation="created"),
        only("s", says("progress.closed", pull_request="#1")),
        f"{CLOSED}; #2 open from -2: c.md",
    ),
    story(
        "a list that has grown takes the next name after a needless one was closed",
        *(run(AB), HAND, run(), run(ABC), reports(operation="created"), never("progress.closed")),
        f"{CLOSED}; #2 open from -2: c.md",
    ),
    story(
        "two needless ones are closed, and plan and run name the same one",
        *(run(AB), copies("-2"), HAND, plan(), reports(number=2), run(), reports(number=2)),
        f"{CLOSED}; #2 needless from -2 by somebody: {AB}",
    ),
    *in_turn(
        story(
            f"a branch that could bring no missing file is not used ({what})",
            *(push("b.md", to="main"), *begun, push("a.md", to="main"), *ended),
            *(push("-b.md", to="main"), plan(AB), never("progress.from_base"), run()),
            never("progress.from_base"),
            state,
        )
        for what, begun, ended, state in (
            ("closed", (run(AB),), (run(),), "#1 needless: a.md; #2 open from -2: b.md"),
            (
                "withdrawn",
                (run(AB),),
                (withdraw(),),
                "#1 withdrawn: a.md; #2 open from -2: b.md",
            ),
            ("without a commit", (branch("1"),), (), "#1 open from -2: b.md; branch 1"),
        )
    ),
)

test_what_stays_open = told(
    story(
        "a closed one that a person opens again is theirs",
        *(run(AB), HAND, run(), reopen(1), plan(), *NEVER, withdraw(), sends(), *NEVER),
        f"#1 open (needless): {AB}",
        run(ABC),
        f"#1 open (needless): {AB}; #2 open from -2: c.md",
        *(close(1), push("-a.md", to="main"), plan()),
        f"{CLOSED}; #2 open from -2: c.md; a.md to create",
    ),
    story(
        "a withdrawn one that a person opens again is theirs",
        *(run(AB), withdraw(), reopen(1), HAND, run(), sends()),
        f"#1 open (withdrawn): {AB}",
    ),
    *in_turn(
        (
            story(
                f"a pull request stays open after somebody has pushed {files}",
                *(run(AB), HAND, push(files), *left_open(files.strip("-").split("=")[0])),
                f"#1 open: {there}",
            )
            for files, there in (
                ("a.md=mine", "a.md=mine b.md"),
                ("-a.md", "b.md"),
                ("c.md=mine", "a.md b.md c.md=mine"),
            )
        ),
        (
            story(
                f"a pull request stays open if GitHub does not list all files of {where}: {most}",
                *(run(AB), HAND, push("mine.md", to=on), quirk(most_in_tree=most), *left_open("")),
                f"#1 open: {there}",
            )
            for where, on, most, there in (
                ("the default branch", "main", 3, AB),
                ("its branch", "1", 3, f"{AB} mine.md"),
                ("both", "1", 2, f"{AB} mine.md"),
            )
        ),
        [
            story(
                "a pull request stays open if its branch took the default branch",
                *(run(AB), HAND, push("a.md", to="main"), update_branch(), *left_open("a.md b.md")),
                "#1 open: ",
            )
        ],
    ),
    *in_turn(
        story(
            f"a pull request stays open if it is another one: {what}",
            *(run(AB), HAND, *changed, plan(), *NEVER, *foretold, run(), sends()),
            f"#1 open{state}: {AB}",
        )
        for what, changed, foretold, state in (
            (
                "of another list",
                (describe(1, partial(re.sub, "list [0-9a-f]+", "list 0123456789")),),
                (never("many.alone"),),
                "",
            ),
            (
                "of a stranger",
                (change(1, author="stranger"),),
                # The query for many repositories does not show who may write
                (only("m", says("many.alone")),),
                " by stranger",
            ),
            ("without a record", (describe(1, "Mine."),), (never("many.alone"),), ""),
            (
                "into another branch",
                (branch("docs"), change(1, base="docs")),
                (never("many.alone"),),
                " into docs",
            ),
            (
                "without its list",
                (describe(1, partial(re.sub, "<!-- registrar:list [0-9a-f]+ -->", "")),),
                (never("many.alone"),),
                "",
            ),
        )
    ),
    story(
        "one file that the default branch lacks keeps it open, also if it is listed no more",
        *(run(ABC), HAND, run(), IN_CONFLICT, run(AB), sends()),
        "#1 open: a.md b.md c.md",
    ),
    story(
        "`update: false` leaves it open",
        *(run(AB), HAND, plan(update="false"), *NEVER, run(), sends(), *NEVER),
        f"#1 open: {AB}",
    ),
    story(
        "nothing is to close in an archived repository",
        *(run(AB), HAND, sets(archived=True), plan(), *NEVER),
        f"#1 open: {AB}",
        ways="s",
    ),
    story(
        "with `per-file`, one request finds it, and it is left open with a note",
        *(run(AB), push("a.md b.md", to="main"), check(), asks("pulls", 0)),
        *(plan(), asks("pulls", 1), left, run(), asks("pulls", 1), sends(), left),
        *(run(update="false"), asks("pulls", 0), sends()),
        # A token that may not read pull requests does not fail a run without work
        *(refusing("/pulls", 403, "Resource not accessible"), run(update="true"), sends()),
        *(asks("pulls", 1), never("progress.left_open_complete")),
        f"#1 open: {AB}",
        ways="p",
    ),
    story(
        "with `per-file`, the note names the files in which it conflicts",
        *(run(AB), HAND, plan(), conflicting, run(), conflicting, sends(), left_not),
        *(push("a.md", to="main"), run(), sends(), left, never("progress.left_open_conflicting")),
        f"#1 open: {AB}",
        ways="p",
    ),
    story(
        "with `per-file`, it is found under the second name, too",
        *(branch("1", "mine.md"), run("a.md"), push("a.md=hand", to="main")),
        *(plan(), conflicting, run(), conflicting, sends()),
        "#1 open from -2: a.md; branch 1: mine.md",
        *(close(1), run(), sends(), never("progress.left_open_conflicting")),
        "#1 closed from -2: a.md; branch 1: mine.md",
        ways="p",
    ),
)

test_at_the_last_moment = told(
    *(
        story(
            f"at the last moment, {what}",
            *(run(AB), HAND, *prepared, run().at("the last look", act), sends(), *said),
            *(push("-a.md", to="main"), plan()),
            state,
        )
        for what, prepared, act, said, state in (
            (
                "somebody edits it",
                (),
                push("a.md=mine"),
                (says("progress.left_open_moved"),),
                "#1 open: a.md=mine b.md",
            ),
            (
                "somebody closes it",
                (),
                close(1),
                (never("progress.left_open_moved"), never("progress.closed")),
                "#1 closed: a.md b.md; a.md declined in #1",
            ),
            (
                "somebody changes its base",
                (branch("docs"),),
                change(1, base="docs"),
                (says("progress.left_open_moved"),),
                "#1 open into docs: a.md b.md; a.md to create",
            ),
            (
                "somebody rewrites its description",
                (),
                describe(1, "Mine."),
                (says("progress.left_open_moved"),),
                "#1 open: a.md b.md; a.md to create",
            ),
        )
    ),
    story(
        "at the last moment, another run closes it",
        *(run(AB), HAND, run().at("the last look", run()), never("progress.left_open_moved")),
        *(push("-a.md", to="main"), plan()),
        f"{CLOSED}; a.md to create",
    ),
    story(
        "a pull request that a person closes first was not closed by the run",
        *(run(AB), HAND, run(ABC).at("the last look", close(1)), never("progress.closed")),
        f"#1 closed: {AB}; #2 open from -2: c.md",
    ),
    story(
        "a pull request to which somebody pushes while its closing waits stays open",
        *(run(AB), HAND, run().waiting("the description", push("mine.md"))),
        *(sends("PATCH pulls/1"), says("progress.left_open_moved")),
        f"#1 open: {AB} mine.md",
    ),
    *in_turn(
        story(
            f"the next run finishes the closing of a killed run, which was {what}",
            *(run(AB), HAND, run().killed("the description", applied=applied), before),
            *(run(), sends(*more), push("-a.md", to="main"), plan()),
            f"{CLOSED}; a.md to create",
        )
        for what, applied, before, more in (
            ("carried out", True, CLOSED, ()),
            ("not carried out", False, f"#1 open: {AB}", ("PATCH pulls/1",)),
        )
    ),
    story(
        "the next run opens the pull request that a killed run had no time to open",
        *(run(AB), HAND, run(ABC).killed("the pull request", applied=False), CLOSED, run()),
        f"{CLOSED}; #2 open from -2: c.md",
    ),
)
