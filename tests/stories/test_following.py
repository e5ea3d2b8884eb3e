"""When a list changes, a run updates the files of its open pull request that nobody has edited."""

from __future__ import annotations

import re
from functools import partial

from tests.fakehub import FaultKind, Refusal
from tests.harness import LIST_BRANCH
from tests.stories.story import *
from tests.stories.story import WAITS

ABC, NEW, MORE = "a.md b.md c.md", "a.md=new b.md c.md", "a.md b.md c.md d.md"
DESCRIBES = "will update the description of"
SECURITY, PUT = "SECURITY.md", "PUT /repos/octo/example/contents/SUPPORT.md"
NOT_UPDATED = says("progress.edited", paths="a.md")


@step
def amends(world: World, files: str) -> None:
    """Somebody amends the last commit of the branch."""
    world.person.amend(LIST_BRANCH, contents(files))


@step
def merges_main(world: World, files: str) -> None:
    """Somebody merges the default branch, and changes files in the merge commit itself."""
    push("README.md=more", to="main")(world)
    world.person.merge_into(LIST_BRANCH, world.repository.head("main"), contents(files))


@step
def keeps(world: World, side: str) -> None:
    """The branch becomes a merge with the default branch, and has the files of one of them."""
    heads = [world.repository.head(name) for name in (LIST_BRANCH, "main")]
    world.person.keep_ours(LIST_BRANCH, *(heads if side == "the branch" else heads[::-1]))


@step
def hands_down(world: World, files: str) -> None:
    """The owner's repository `.github` has files that the repository inherits."""
    world.action.host.create_repository("octo/.github", dict.fromkeys(files.split(), b"x\n"))


@step
def forbids(world: World, why: str) -> None:
    """From now on, GitHub refuses each commit of registrar for this reason."""
    if why == "push protection":
        world.person.change(secrets={b"C\n"})
        refusal = Refusal(409, "Repository rule violations found\n\nSecret detected in content")
        world.action.host.refused_mutations["createCommitOnBranch"] = refusal
    elif why == "permission":
        permissions = {"contents": "read", "pull_requests": "write"}
        world.action.default_token = world.action.host.create_token(
            "installation", permissions=permissions
        )
    else:
        world.person.protect(LIST_BRANCH, "classic" if why == "classic" else "ruleset")


@step
def allows(world: World) -> None:
    """GitHub does not refuse commits of registrar any more."""
    world.person.unprotect()
    world.person.change(secrets=frozenset())
    world.action.host.refused_mutations.clear()
    world.action.default_token = world.action.host.create_token()


test_edited_files = told(
    story(
        "an unchanged file gets the present content of the list, and later the earlier one again",
        *(run(ABC), run(), sends(), plan(NEW)),
        f"#1 open: {ABC}; a.md to update",
        *(run(), sends("POST /graphql", "PATCH pulls/1"), reports(operation="updated")),
        f"#1 open: {NEW}",
        run(ABC),
        f"#1 open: {ABC}",
    ),
    story(
        "another wording of the description is no reason to write, and a damaged one is",
        *(run(ABC, language="ja"), copy := Copied(), plan(language="en"), hides(DESCRIBES)),
        *(run(), sends(), copy.is_unchanged),
        # GitHub's own editor ends lines with CRLF
        *(
            describe(1, lambda body: f"Hello\n\n{body}\n\nBye".replace("\n", "\r\n")),
            run(),
            sends(),
        ),
        *(describe(1, partial(re.sub, "`b.md`", "")), plan(), only("ps", shows(DESCRIBES))),
        *(run(), only("ps", sends("PATCH pulls/1"))),
        f"#1 open: {ABC}",
    ),
    *in_turn(
        (
            story(
                f"what people change is left alone, and named: {how}",
                *(run(ABC), *acts, run(NEW), *said),
                f"#1 open: {there}",
            )
            for how, acts, said, there in (
                ("edited", (push("a.md=mine"),), (NOT_UPDATED,), "a.md=mine b.md c.md"),
                ("amended", (amends("a.md=mine"),), (NOT_UPDATED,), "a.md=mine b.md c.md"),
                (
                    "in a merge",
                    (merges_main("a.md=mine"),),
                    (NOT_UPDATED,),
                    "a.md=mine b.md c.md",
                ),
                ("a link", (push("a.md->b.md"),), (NOT_UPDATED,), "a.md->b.md b.md c.md"),
                ("edited and back", (push("a.md=mine"), push("a.md")), (), NEW),
                ("another file", (push("x.md"),), (), f"{NEW} x.md"),
                (
                    "the description without a record",
                    (describe(1, "Mine\n\n<!-- registrar:many -->"),),
                    (NOT_UPDATED,),
                    ABC,
                ),
            )
        ),
        (
            story(
                f"a file that somebody deletes stays away until it is back: {how}",
                *(run(ABC), *acts, plan()),
                "#1 open: b.md c.md; a.md declined in #1",
                run(),
                "#1 open: b.md c.md; a.md declined in #1",
                *(push("a.md"), run()),
                f"#1 open: {ABC}",
            )
            for how, acts in (
                ("deleted", (push("-a.md"),)),
                ("amended", (amends("-a.md"),)),
                ("in a merge", (merges_main("-a.md"),)),
                ("squashed", (branch("1"), push("b.md c.md"))),
                ("one side is kept", (push("-a.md"), keeps("the branch"))),
            )
        ),
    ),
    story(
        "the files are declined if somebody keeps only those of the default branch",
        *(run(ABC), push("README.md=more", to="main"), keeps("the default branch"), plan(), run()),
        f"#1 open: ; {ABC} declined in #1",
        *(push(ABC), run()),
        f"#1 open: {ABC}",
    ),
    story(
        "the description comes last, also if files are new",
        *(run(ABC), run(f"{NEW} d.md")),
        only("sm", sends("POST /graphql", "PATCH pulls/1")),
        only("p", sends("POST /graphql", "PUT contents/d.md", "PATCH pulls/1")),
        f"#1 open: {NEW} d.md",
    ),
    story(
        "`update: false` leaves the pull request as it is",
        *(run(ABC), run(f"{NEW} d.md", update="false"), sends()),
        only("ps", says("reason.no_update", in_="summary")),
        *(plan(), never("progress.edited"), check(), never("progress.edited")),
        f"#1 open: {ABC}; d.md to create; exit 1",
    ),
    story(
        "a branch that somebody resets to an earlier commit of ours is left alone",
        *(run(ABC), run(NEW), reset(), run(), NOT_UPDATED),
        f"#1 open: {ABC}",
    ),
    story(
        "a file that a stopped run committed is recorded from then on",
        *(run(ABC), leaves("d.md"), run(MORE), never("progress.edited")),
        *(run(f"{ABC} d.md=new"), f"#1 open: {ABC} d.md=new", push("-d.md"), run()),
        f"#1 open: {ABC}; d.md declined in #1",
    ),
    story(
        "a file that a stopped run committed is left alone if the list has changed since",
        *(run(ABC), leaves("d.md"), run(f"{ABC} d.md=new"), says("progress.edited", paths="d.md")),
        f"#1 open: {MORE}",
    ),
    story(
        "a file that the default branch had then was never proposed",
        *(push("d.md", to="main"), run(ABC), close(1), push("-d.md", to="main"), run(MORE)),
        f"#1 closed: {ABC}; #2 open from -2: d.md; {ABC} declined in #1",
    ),
    story(
        "a file that somebody adds as listed counts as one of registrar",
        *(run("a.md"), push("b.md"), run("a.md b.md"), run("a.md b.md=new")),
        "#1 open: a.md b.md=new",
        but="limit-same",
    ),
)

test_disturbed_updates = told(
    story(
        "what people write in the description during the run stays, and ticks as well",
        run("a.md c.md="),
        run("a.md=new c.md=").at(
            "a write",
            describe(1, lambda body: f"Above.\n\n{body}\n\nBelow.".replace("- [ ] ", "- [x] ")),
        ),
        *(shows(each, in_="#1") for each in ("Above.\n\n", "\n\nBelow.", "- [x] `c.md`")),
        *(hides("- [ ] ", in_="#1"), run("a.md=newer c.md=")),
        "#1 open: a.md=newer c.md=",
    ),
    story(
        "labels and people that a killed run did not get to are set by the next one",
        run("a.md", labels="docs", assignees="octocat").killed("the labels", applied=False),
        *(run(), only("ps", sends("POST issues/1/labels", "POST issues/1/assignees"))),
        only("m", sends()),
        "#1 open: a.md",
    ),
    story(
        "a file that somebody removes before the last look stays away, and the others follow",
        *(run(ABC), run("a.md=new b.md=new c.md").at("the last look", push("-a.md")), run()),
        "#1 open: b.md=new c.md; a.md declined in #1",
        ways="ps",
    ),
    story(
        "if a rule refuses the commit, the file has failed, and a later run updates it",
        *(run(ABC), protects("1"), run(NEW), run()),
        f"#1 open: {ABC}; a.md failed; exit 1",
        *(unprotects(), run()),
        f"#1 open: {NEW}",
    ),
    story(
        "the description names the files of the branch that replace inherited ones, and no others",
        *(hands_down("SECURITY.md SUPPORT.md"), refusing(PUT, 422, "Odd")),
        *(run(f"SUPPORT.md {SECURITY}"), says("body.not_handed_down", "#1", paths=[SECURITY])),
        "#1 open: SECURITY.md; SUPPORT.md failed; exit 1",
        *(recovers(), push(f"{SECURITY}=mine"), run()),
        says("body.not_handed_down", "#1", paths=["SUPPORT.md", SECURITY]),
        "#1 open: SECURITY.md=mine SUPPORT.md",
        ways="p",
    ),
    *in_turn(
        story(
            f"a file whose commit GitHub refuses is not declined ({why})",
            *(run("a.md b.md"), forbids(why), run(ABC), run()),
            "#1 open: a.md b.md; c.md failed; exit 1",
            *(allows(), withdraw(), run()),
            f"#1 withdrawn; #2 open: {ABC}",
            ways="sm",
        )
        for why in ("classic", "ruleset", "push protection", "permission")
    ),
    *in_turn(
        story(
            f"nothing is committed to a branch whose pull request somebody has just {how}",
            *(branch("docs"), run(ABC), run("a.md=new b.md=new c.md").at("the last look", act)),
            there,
            ways="ps",
        )
        for how, act, there in (
            ("closed", close(1), f"#1 closed: {ABC}; branch docs; {ABC} to create; exit 1"),
            (
                "moved",
                change(1, base="docs"),
                f"#1 open into docs: {ABC}; {ABC} to create; exit 1",
            ),
        )
    ),
    *in_turn(
        story(
            f"nothing is committed if somebody closes it while the commit waits ({kind})",
            *(run(ABC), run(NEW).waiting("a write", close(1), kind=kind)),
            f"#1 closed: {ABC}; {states}; exit 1",
            ways="pm",
        )
        for kind, states in (
            (WAITS, f"{ABC} to create"),
            (FaultKind.ERROR_503, "a.md unknown; b.md c.md to create"),
        )
    ),
    story(
        "nothing is committed if somebody closes it while the commit of a new file waits",
        *(run(ABC), run(MORE).waiting("a write", close(1))),
        only("p", f"#1 closed: {ABC}; d.md to create; exit 1"),
        only("sm", f"#1 closed: {ABC}; {MORE} to create; exit 1"),
    ),
    *in_turn(
        story(
            f"what somebody does while the description waits stays: {what} ({kind})",
            *(run(ABC), run(NEW).waiting("the description", act, kind=kind)),
            *(sends("POST /graphql", *["PATCH pulls/1"] * 2), shows(text, in_="#1")),
            *(run("a.md=newer b.md=new c.md"), *said),
            f"#1 open: {there}",
        )
        for what, act, text, said, there in (
            (
                "words",
                describe(1, lambda body: f"Mine.\n{body}"),
                "Mine.\n",
                (),
                "a.md=newer b.md=new c.md",
            ),
            (
                "a push",
                push("b.md=mine"),
                "registrar:wrote",
                (says("progress.edited", paths="b.md"),),
                "a.md=newer b.md=mine c.md",
            ),
        )
        for kind in (WAITS, FaultKind.ERROR_503)
    ),
    story(
        "of two runs at once, the later description keeps what the other one wrote",
        *(run(ABC), run(MORE).at("a write", run(f"{ABC} e.md")), run(f"{ABC} d.md=new e.md=new")),
        f"#1 open: {ABC} d.md=new e.md=new",
        *(push("-d.md -e.md"), run(f"{MORE} e.md")),
        f"#1 open: {ABC}; d.md e.md declined in #1",
    ),
    story(
        "a file that another run commits and names while this one reads is not declined",
        *(run("a.md"), run("a.md b.md").at("the list of pull requests", run("a.md b.md"))),
        "#1 open: a.md b.md",
        ways="p",
    ),
    story(
        "two lists whose branches have one name update their own pull requests",
        *(
            run("a.md"),
            run("a.md=theirs d.md", file="other.json"),
            run("a.md=new", file="list.json"),
        ),
        "#1 open: a.md=new; #2 open from -2: a.md=theirs d.md",
    ),
)
