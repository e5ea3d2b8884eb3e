"""The base branch of a run, and branches of other people, to which nothing is ever written."""

from __future__ import annotations

from functools import partial
from typing import Any

from registrar.registration.mark import CLOSED_BY_US
from tests.fakehub import FaultKind, Refusal
from tests.harness import LIST_BRANCH
from tests.stories.story import *


@step
def renames(world: World, name: str) -> None:
    """Somebody gives the repository another name."""
    world.person.rename(name)


@step
def pushes_in_between(world: World, files: str) -> None:
    """Somebody pushes as soon as the one request has made its branch; a rule refuses its commit."""

    class Pushing(dict[str, Refusal]):
        def get(self, name: str, _: object = None) -> Any:
            if name == "createCommitOnBranch":
                push(files)(world)
                protects("1")(world)
                world.action.host.refused_mutations = {}

    world.action.host.refused_mutations = Pushing()


AB, ABC = "a.md b.md", "a.md b.md c.md"
DEVELOP = (branch("develop", "a.md"), push("b.md", to="main"))
"""`develop` has a.md, and the default branch has b.md."""
OPEN, CLOSED = "#1 open into develop: b.md c.md", "#1 closed into develop: b.md c.md"
NO = "b.md c.md declined in #1"
on_develop = partial(run, ABC, base="develop")


def default(name: str) -> Act:
    """Another branch becomes the default branch."""
    return sets(default_branch=name)


def has_title(title: str, world: World) -> None:
    """The pull request has this title."""
    assert world.repository.pull_request(1).title == title


test_the_base_branch = told(
    story(
        "files are looked up on the base branch and proposed to it, and a no holds",
        *(*DEVELOP, check(ABC, base="develop")),
        "branch develop: a.md; b.md c.md to create; exit 1",
        on_develop(body="For {base}", title="{base}: {count}", commit_message="{base}: {path}"),
        does("its title names the base", partial(has_title, "develop: 2")),
        says("reason.exists", in_="#1", branch="develop"),
        OPEN,
        *(close(1), run()),
        f"{CLOSED}; {NO}",
    ),
    story(
        "a pull request into another base branch is withdrawn, and opened again",
        *(*DEVELOP, on_develop(), withdraw(), reports(operation="withdrawn")),
        "#1 withdrawn into develop: b.md c.md; b.md c.md to create",
        *(run(), reports(operation="created")),
        "#1 withdrawn into develop; #2 open into develop: b.md c.md",
    ),
    *in_turn(
        story(
            f"pull requests of another base branch are those of another list ({state})",
            *(*DEVELOP, run(ABC, branch="work"), *acts, on_develop(branch="work")),
            f"#1 {state} from work: a.md c.md; #2 open from work-2 into develop: b.md c.md",
            *(close(2), run()),
            f"#1 {state} from work: a.md c.md; #2 closed from work-2 into develop: b.md c.md; "
            "b.md c.md declined in #2",
            plan(base=""),
            f"#1 {state} from work: a.md c.md; #2 closed from work-2 into develop: b.md c.md{no}",
            ways="pm",
        )
        for state, acts, no in (
            ("open", (), ""),
            ("closed", (close(1),), "; a.md c.md declined in #1"),
        )
    ),
    story(
        "a base branch that is the default branch is the same as none",
        *(run(AB), run(base="main"), reports(operation="none"), close(1), run()),
        f"#1 closed: {AB}; {AB} declined in #1",
        *(branch("trunk"), default("trunk"), run(base="")),
        f"#1 closed into main: {AB}; {AB} declined in #1",
    ),
    *in_turn(
        story(
            f"what was said to a base branch holds if the default branch moves {how}, {state}",
            *(*DEVELOP, *before, on_develop(), *acts, default(then), run(base="develop")),
            end,
        )
        for how, before, then, into in (
            ("away from it", (default("develop"),), "main", " into develop"),
            ("to it", (), "develop", ""),
        )
        for state, acts in (("open", ()), ("closed", (close(1),)))
        for end in (
            f"#1 {state}{into}: b.md c.md"
            + ("" if into else "; branch main: b.md")
            + ("" if state == "open" else f"; {NO}"),
        )
    ),
    story(
        "somebody who points the pull request elsewhere makes it another list's",
        *(*DEVELOP, on_develop(), change(1, base="main"), run(), never("progress.ignored")),
        only("ps", says("progress.beside", branch=LIST_BRANCH, other="#1")),
        "#1 open: a.md b.md c.md; #2 open from -2 into develop: b.md c.md",
    ),
    story(
        "a list with another name begins anew, and keeps its pull request when its file is moved",
        *(run("a", called="old"), run(called="new"), run(), close(1), close(2)),
        *(run(called="newest"), run(file="moved.json")),
        "#1 closed from chore/add-old-files: a; #2 closed from chore/add-new-files: a; "
        "#3 open from chore/add-newest-files: a",
    ),
    story(
        "what one list was refused, another one may propose",
        *(run("a b", file="one.json"), close(1), run(), run("a", file="two.json")),
        "#1 closed: a b; #2 open from -2: a",
    ),
    *(
        story(
            f"a working branch that is the {what} branch is an error",
            *(*DEVELOP, plan(ABC, branch=name, base="develop"), says(key, branch=name)),
            only("ps", "branch develop: a.md; b.md c.md to create; exit 2"),
            only("m", "branch develop: a.md; b.md c.md to create; exit 1"),
        )
        for what, name, key in (
            ("base", "develop", "preflight.branch_is_base"),
            ("default", "main", "preflight.branch_is_default"),
        )
    ),
    *in_turn(
        story(
            f"a name that is the {what} branch is passed over",
            *(*DEVELOP, branch("work", "theirs.md"), branch("work-2", at="develop"), *acts),
            run("c.md", branch="work", base=base),
            f"#1 open from work-3 {end}",
            ways="pm",
        )
        for what, acts, base, end in (
            (
                "base",
                (),
                "work-2",
                "into work-2: c.md; branch develop: a.md; branch work: theirs.md",
            ),
            (
                "default",
                (default("work-2"),),
                "develop",
                "into develop: c.md; branch main: b.md; branch work: b.md theirs.md",
            ),
        )
    ),
)


# --- Branches of other people ---------------------------------------------------------------------

TAKES = branch("1", "mine.txt")
WORK = "branch work: b.md mine.txt"
LISTS = quirk(most_in_tree=100)
LOST = FaultKind.ERROR_502_HTML

test_branches_of_others = told(
    *in_turn(
        story(
            f"a branch with other work is left alone: {what}",
            *(branch("1"), *(push(each) for each in pushed), run(AB)),
            f"#1 open from -2: {AB}; branch 1{there}",
        )
        for what, pushed, there in (
            ("commits that change nothing", ("mine.txt", "-mine.txt"), ""),
            ("another file", ("a.md", "mine.txt"), ": a.md mine.txt"),
            ("another content", ("a.md", "b.md=mine"), ": a.md b.md=mine"),
            ("a change", ("a.md", "README.md=mine"), ": README.md=mine a.md"),
            ("a deletion", ("a.md", "-README.md"), ": -README.md a.md"),
            ("a link", ("a.md->B", "b.md"), ": a.md->B b.md"),
            ("an executable file", ("a.md*", "b.md"), ": a.md* b.md"),
        )
    ),
    story(
        "a branch of a chosen name whose commits change nothing is left alone",
        *(branch("theirs", "mine.txt"), push("-mine.txt", to="theirs"), run(AB, branch="theirs")),
        f"#1 open from theirs-2: {AB}; branch theirs",
    ),
    story(
        "a branch that somebody makes during the run is left alone",
        run(AB).at("the branch", TAKES),
        only("p", f"#1 open from -2: {AB}; branch 1: mine.txt"),
        # One request has done everything, so a pull request was opened, and is closed again
        only("s", says("progress.closed_again", branch=LIST_BRANCH, pull_request="#1")),
        only("sm", shows(CLOSED_BY_US, in_="#1")),
        only("sm", f"#1 closed: mine.txt; #2 open from -2: {AB}"),
    ),
    story(
        "a pull request that a run closes again declines nothing that its branch adds",
        *(run("b.md").at("the branch", branch("1", "a.md")), run(AB)),
        "#1 closed: a.md; #2 open from -2: a.md b.md",
        ways="sm",
    ),
    story(
        "a pull request that somebody opens during the run is left open",
        run(AB).at("the branch", TAKES, opens("1")),
        f"#1 open by somebody: mine.txt; #2 open from -2: {AB}",
    ),
    story(
        "a bare branch to which somebody pushes during the run is left alone",
        *(branch("1"), run(AB).at("the commit", push("mine.txt"))),
        f"#1 open from -2: {AB}; branch 1: mine.txt",
        ways="sm",
    ),
    story(
        "a push right before the first commit of a file is proposed as well",
        *(branch("1"), run(AB).at("the commit", push("mine.txt"))),
        f"#1 open: {AB} mine.txt",
        ways="p",
        but="limit-bare",
    ),
    *in_turn(
        story(
            f"a branch that another run makes during the run is continued ({there or 'bare'})",
            run(ABC, reviewers="monalisa").at("the branch", branch("1"), *map(push, there.split())),
            *(reports(operation="created"), asks("requested_reviewers", 1)),
            f"#1 open: {ABC}",
        )
        for there in ("", AB, ABC)
    ),
    *(
        story(
            f"the description names what is there, and then a commit is refused ({what})",
            *steps,
            only("s", sends(*sent, "PUT contents/c.md", "PATCH pulls/1")),
            only("m", sends(*sent, "PATCH pulls/1")),
            only("psm", f"#1 open: {AB}; c.md failed; exit 1"),
            *(unprotects(), run()),
            f"#1 open: {ABC}",
            ways=ways,
        )
        for what, steps, branches, ways in (
            (
                "another run is faster",
                (run(ABC).at("the branch", branch("1"), push(AB), protects("1")),),
                ["POST git/refs"],
                "psm",
            ),
            ("somebody pushes", (pushes_in_between(AB), run(ABC)), [], "sm"),
        )
        for sent in (["POST /graphql", *branches, "PATCH pulls/1", "POST /graphql"],)
    ),
    *(
        story(
            f"if somebody pushes before a commit, no file is lost (in other words: {words})",
            *(quirk(stale_in_other_words=words), run("a.md")),
            run(ABC).at("the commit", push("c.md=theirs")),
            only("sm", says("progress.edited", paths="c.md")),
            # The one commit is sent again, and no file alone
            only("sm", asks("PUT /", 0)),
            "#1 open: a.md b.md c.md=theirs",
            ways="s" if words else "psm",
        )
        for words in (False, True)
    ),
    story(
        "what somebody pushes to the default branch during the run stays as it is",
        *(run(AB).at("the branch", push("a.md=theirs", to="main")), f"#1 open: {AB}", check()),
        f"#1 open: {AB}; a.md in conflict; exit 1",
    ),
    story(
        "a branch that somebody makes during the run is left alone if a request failed",
        run(AB).waiting("the branch", TAKES, kind=LOST),
        f"#1 open from -2: {AB}; branch 1: mine.txt",
    ),
    story(
        "a branch that somebody makes during the run is left alone if an answer is lost",
        run(AB).losing("the branch", TAKES, kind=LOST),
        f"#1 open from -2: {AB}; branch 1: mine.txt",
        ways="p",
    ),
    story(
        "a lost request for one name says nothing about a bare branch with another name",
        run(AB, branch="theirs").waiting(
            "the branch", branch("theirs", "mine.txt"), branch("theirs-2"), kind=LOST
        ),
        f"#1 open from theirs-3: {AB}; branch theirs: mine.txt; branch theirs-2",
    ),
    story(
        "a default branch with a number is passed over if a request for the name before is lost",
        *(branch("release-2"), default("release-2"), delete("main")),
        run(AB, branch="release").waiting("the branch", branch("release", "mine.txt"), kind=LOST),
        f"#1 open from release-3: {AB}; branch release: mine.txt",
    ),
    story(
        "a later name that somebody makes the default branch during the run is left alone",
        *(*DEVELOP, branch("work", "mine.txt")),
        on_develop(branch="work").waiting(
            "the branch", branch("work-2", at="develop"), default("work-2"), kind=LOST
        ),
        only("p", "#1 open from work-3 into develop: b.md c.md; branch main: b.md; " + WORK),
        # The lost request had a commit, too, which may have gone there
        only("sm", says("branch.became_default", branch="work-2")),
        only("sm", f"branch develop; branch main: b.md; {WORK}; b.md c.md unknown; exit 1"),
    ),
    story(
        "of two pull requests that somebody opens first, the one to the default branch is used",
        branch("develop"),
        run(AB).at("the pull request", opens("1"), opens("1", base="develop")),
        reports(number=1),
        f"#1 open by somebody; #2 open into develop by somebody: {AB}",
        ways="p",
    ),
    story(
        "a pull request that a lost request opened from somebody's branch is closed again",
        run(AB).losing("the branch", TAKES, kind=LOST),
        f"#1 closed: mine.txt; #2 open from -2: {AB}",
        ways="sm",
    ),
    story(
        "a pull request of ours on which somebody works is continued",
        *(run(ABC), push("a.md=better mine.txt"), push("-c.md"), run()),
        only("ps", says("progress.removed", count=1)),
        "#1 open: a.md=better b.md mine.txt; c.md declined in #1",
    ),
    story(
        "a branch of a chosen name that appears at the base commit is used and named",
        run(AB, branch="theirs").waiting("the branch", branch("theirs"), kind=LOST),
        only("ps", says("progress.found_branch", branch="theirs")),
        f"#1 open from theirs: {AB}",
    ),
    story(
        "a branch that a refused commit leaves is used by the next run",
        *(protects("1"), run(AB), shows(LIST_BRANCH)),
        f"branch 1; {AB} failed; exit 1",
        *(unprotects(), run()),
        f"#1 open: {AB}",
    ),
    story(
        "a branch of a chosen name that a refused commit leaves is not used again",
        *(protects("own#1%"), run(AB, branch="own#1%"), shows("own#1%")),
        f"branch own#1%; {AB} failed; exit 1",
        *(unprotects(), run()),
        f"#1 open from own#1%-2: {AB}; branch own#1%",
    ),
    story(
        "if GitHub lists no files of a branch, nothing on it is replaced",
        *(branch("1", "m"), branch("-2", "m"), branch("-3", "m"), run("a.md")),
        *(push("b.md=mine", to="-4"), quirk(most_in_tree=1), run(ABC)),
        "#1 open from -4: a.md b.md=mine c.md; branch 1: m; branch -2: m; branch -3: m",
        *(LISTS, run()),
        "#1 open from -4: a.md b.md=mine c.md; branch 1: m; branch -2: m; branch -3: m",
        ways="s",
    ),
    story(
        "if GitHub lists no files, a plan shows what a pull request opened by hand proposes",
        *(branch("theirs", "a.md"), opens("theirs"), quirk(most_in_tree=0)),
        *(plan(AB, branch="theirs"), "#1 open from theirs by somebody: a.md; b.md to create"),
        *(run(), LISTS, run(), f"#1 open from theirs by somebody: {AB}"),
        ways="ps",
    ),
    *(
        story(
            f"if GitHub lists only one of two trees, the comparison decides: {what}",
            *(*before, branch("theirs"), push(pushed, to="theirs"), quirk(most_in_tree=most)),
            *(run(AB, branch="theirs"), end, LISTS, run()),
            end,
            ways="p",
        )
        for what, before, pushed, most, end in (
            ("adds", (), "a.md", 1, f"#1 open from theirs: {AB}"),
            (
                "removes",
                (push("1.md 2.md 3.md", to="main"),),
                "a.md -1.md -2.md -3.md",
                2,
                f"#1 open from theirs-2: {AB}; branch theirs: -1.md -2.md -3.md a.md",
            ),
        )
    ),
)

test_forgotten_branches = told(
    story(
        "the only name of a closed pull request has a number, and its branch is deleted",
        *(branch("1", "mine.txt"), run("a.md"), close(1), delete("-2"), delete("1"), run()),
        "#1 closed from -2; #2 open: a.md",
        ways="p",
        but="limit-number",
    ),
    story(
        "a branch is named after the repository, which gets another name",
        *(run("a.md", branch="{repo}"), renames("octo/other"), run(target_repo="octo/other")),
        "#1 open from example: a.md; #2 open from other: a.md",
        ways="ps",
        but="limit-renamed",
    ),
)
