"""An open pull request that cannot be merged, or that GitHub does not list."""

from __future__ import annotations

from tests.stories.story import *

AB = "a.md b.md"
THEIRS = push("a.md=hand", to="main")
SAYS: tuple[Step, Step] = (
    only("ps", says("progress.conflicts", pull_request="#1")),
    only("m", says("many.state_with_conflict")),
)
NEVER = tuple(map(never, ("progress.conflicts", "advice.conflict", "many.state_with_conflict")))
CONFLICT = f"#1 open: {AB}; a.md in conflict"


def in_each_mode(state: str, *said: Step) -> list[Step | str]:
    """Each mode says that the pull request cannot be merged, and the description says it, too."""
    in_check: list[Step | str] = [check(), *SAYS, never("advice.merge"), *said, f"{state}; exit 1"]
    in_plan: list[Step | str] = [plan(), *SAYS, never("advice.merge"), state]
    return [*in_check, *in_plan, run(), *SAYS, says("body.conflicts", in_="#1"), state]


@step
def keeps(world: World, ours: str, theirs: str) -> None:
    """Somebody merges a branch into that of the list, and keeps the files of one of them."""
    heads = (world.repository.head(full(each)) for each in (ours, theirs))
    world.person.keep_ours(full("1"), *heads)


def merges(*, is_possible: bool) -> Step:
    """Git can merge the pull request, or it cannot."""

    def look(world: World) -> None:
        if world.repository.is_mergeable(1) != is_possible:
            world.fail(f"expected: mergeable: {is_possible}\nis:       {not is_possible}")

    return does(f"git can merge it: {is_possible}", look)


def no_conflict(world: World) -> None:
    """The description of the pull request does not say that it cannot be merged."""
    if "registrar:conflicts" in (world.repository.pull_request(1).body or ""):
        world.fail("expected: no conflict in the description\nis:       one")


test_conflicts = told(
    story(
        "a conflict is said everywhere, and ended by deleting the file from the branch",
        *(run(AB), plan(), never("progress.describes"), check(), THEIRS),
        merges(is_possible=False),
        *(check(), asks("/compare/", 1), never("progress.describes")),
        # The run that follows writes the description, and nothing else
        *(plan(), only("ps", says("progress.describes", pull_request="#1"))),
        *in_each_mode(CONFLICT),
        *(push("-a.md"), plan(), *NEVER, run(), *NEVER),
        does("the description says it no more", no_conflict),
        "#1 open: b.md",
        *(merge(1), check()),
        "#1 merged",
    ),
    story(
        "a withdrawn one that conflicts by now is not continued",
        *(run(AB), withdraw(), THEIRS, run()),
        f"#1 withdrawn: {AB}; #2 open from -2: b.md",
    ),
    story(
        "a branch that took the default branch and kept its own file does not conflict",
        *(run(AB), THEIRS, keeps("1", "main"), merges(is_possible=True)),
        *(check(), asks("/compare/", 1), *NEVER, plan(), *NEVER, run(), *NEVER),
        *(push("c.md", to="main"), merges(is_possible=True), check(), *NEVER),
        "#1 open: a.md b.md; exit 1",
    ),
    story(
        "a file that somebody has edited on the branch conflicts as well, until a merge",
        *(run(AB), push("a.md=edited"), THEIRS, check(), *SAYS, asks("/compare/", 1)),
        "#1 open: a.md=edited b.md; a.md in conflict; exit 1",
        *(keeps("1", "main"), check(), *NEVER),
        "#1 open: a.md=edited b.md; exit 1",
    ),
    *(
        story(
            f"a branch that also changes a file conflicts as well ({what})",
            *(run(AB), push("README.md=mine"), THEIRS, *quirks, check(), *said),
            state,
            files="README.md more.md",
        )
        for what, quirks, said, state in (
            ("listed", (), SAYS, "#1 open: README.md=mine a.md b.md; a.md in conflict; exit 1"),
            (
                "not listed, so it is not known",
                (quirk(most_in_tree=1),),
                NEVER,
                "#1 open: README.md=mine a.md b.md; exit 1",
            ),
        )
    ),
    story(
        "files that others have added on both branches are not called a conflict",
        *(run(AB), push("c.md=theirs"), push("c.md=hand", to="main"), check("a.md b.md c.md")),
        *NEVER,
        "#1 open: a.md b.md c.md=theirs; exit 1",
    ),
    story(
        "a directory in place of a file conflicts as well",
        *(run(AB), push("a.md/index.md", to="main"), merges(is_possible=False), check(), *SAYS),
        f"#1 open: {AB}; a.md not a file and in conflict; exit 1",
    ),
    story(
        "a file in place of a directory conflicts as well, until a merge",
        *(run("docs/a.md b.md"), push("docs=hand", to="main"), merges(is_possible=False)),
        *(check(), *SAYS, never("advice.merge")),
        "#1 open: b.md docs/a.md; docs/a.md blocked and in conflict; exit 1",
        *(plan(), *SAYS),
        "#1 open: b.md docs/a.md; docs/a.md blocked and in conflict",
        *(run(), *SAYS, says("body.conflicts", in_="#1")),
        # Over many repositories, a file that no run can add fails no run
        only("ps", "#1 open: b.md docs/a.md; docs/a.md failed and in conflict; exit 1"),
        only("m", "#1 open: b.md docs/a.md; docs/a.md blocked and in conflict"),
        *(keeps("1", "main"), merges(is_possible=True), check(), *NEVER),
        "#1 open: b.md -docs docs/a.md; docs/a.md blocked; exit 1",
    ),
    *(
        story(
            f"a file that is no longer listed conflicts as well ({what})",
            *(run(AB), check("b.md"), *NEVER, push(theirs, to="main"), merges(is_possible=False)),
            *in_each_mode(f"#1 open: {AB}", only("ps", says("progress.conflicts", paths="a.md"))),
            *(run(), sends(), push("-a.md"), check(), *NEVER),
            "#1 open: b.md; exit 1",
        )
        for what, theirs in (("a file", "a.md=hand"), ("a directory", "a.md/index.md"))
    ),
    *(
        story(
            f"in a private repository, the file is named if only its readers can see it: {own}",
            *(sets(private=True), run(AB), THEIRS, plan("b.md", workflow=own), look),
            f"#1 open: {AB}",
            ways="ps",
        )
        for own, look in (("octo/example", shows("a.md")), ("octo/public", hides("a.md")))
    ),
    story(
        "a pull request that is to be updated is updated all the same",
        *(run(AB), THEIRS, check("a.md b.md c.md"), never("advice.merge")),
        f"{CONFLICT}; c.md to create; exit 1",
        *(run(update="false"), *SAYS, sends()),
        f"{CONFLICT}; c.md to create",
        *(run("a.md b.md c.md"), *SAYS, says("body.conflicts", in_="#1")),
        "#1 open: a.md b.md c.md; a.md in conflict",
    ),
    story(
        "if nothing is missing, nothing is asked",
        *(run(AB), push("a.md=hand b.md=hand", to="main"), check(), *NEVER),
        only("p", asks("pulls", 0)),
        f"#1 open: {AB}",
    ),
    story(
        "files that both branches have added alike do not conflict",
        *(run(AB), push("a.md", to="main"), merges(is_possible=True), check(), *NEVER),
        asks("/compare/", 0),
        f"#1 open: {AB}; exit 1",
    ),
    story(
        "a pull request that GitHub does not list is ended by deleting its branch",
        *(run(AB), quirk(unlisted_pull_requests=frozenset({1})), run()),
        *(hides("compare/main..."), shows("#the-pull-request-is-not-opened")),
        f"#1 open: {AB}; {AB} to create; exit 1",
        *(delete(), run()),
        f"#1 closed; #2 open: {AB}",
    ),
    story(
        "a file of the branch in place of a directory blocks, and a directory counts as a file",
        *(run("a.md"), push("b=mine docs/c.md=mine"), plan("a.md b/x.md docs e.md")),
        only("ps", says("reason.blocked_on_branch", in_="summary", parent="b")),
        "#1 open: a.md b=mine docs/c.md=mine; b/x.md blocked; e.md to create",
        *(run(), only("ps", "#1 open: a.md b=mine docs/c.md=mine e.md; b/x.md failed; exit 1")),
        only("m", "#1 open: a.md b=mine docs/c.md=mine e.md; b/x.md blocked"),
    ),
)
