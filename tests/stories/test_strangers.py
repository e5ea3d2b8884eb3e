"""Everybody who may read a public repository may open a pull request between two of its branches.

The description of such a pull request has no effect, and nothing is written to its branch.
"""

from __future__ import annotations

from registrar.registration.mark import EMPTY_MARK
from tests.stories.story import *

AB = "a.md b.md"
NO = f"{AB} declined in #1"
MARK = "<!-- registrar:many -->"
"""Without a path it stands for all of them."""
OTHER = EMPTY_MARK.naming("profile other", {"theirs.md": "1" * 40}).text
IGNORED = only("ps", says("progress.ignored"))
ROLES = "/collaborators/"


@step
def copies(world: World, base: str) -> None:
    """A stranger opens a pull request with the description of ours."""
    body = world.repository.pull_request(1).body
    opens("1", base=base, body=body, author="stranger")(world)


def by(author: str) -> Act:
    """Our pull request is by somebody else."""
    return change(1, author=author)


test_strangers = told(
    *in_turn(
        story(
            f"a copy of our description takes no refusal back (into {base})",
            *(branch("docs"), run(AB), push("-a.md"), run(), close(1), copies(base)),
            *(plan(), only("psm", says("progress.ignored")), run(), IGNORED),
            f"#1 closed; #2 open{into} by stranger: b.md{bare}; {NO}",
            ways="pm",
        )
        for base, into, bare in (("main", "", "; branch docs"), ("docs", " into docs", ""))
    ),
    story(
        "a closed pull request of a stranger declines nothing, and only its author is asked about",
        *(branch("docs"), leaves("a.md"), opens("1", base="docs", body=MARK, author="stranger")),
        *(close(1), run(AB), asks(f"{ROLES}stranger/permission", 1), asks(ROLES, 1)),
        f"#1 closed into docs by stranger; #2 open: {AB}",
    ),
    *(
        story(
            f"a pull request {of} by {author} is named: {is_named}",
            *(branch("1", "theirs.md"), opens("1", body=body, author=author), run(AB)),
            says("progress.beside") if is_named else never("progress.beside"),
            f"#1 open by {author}: theirs.md; #2 open from -2: {AB}",
        )
        for of, body, author, is_named in (
            ("of another list", OTHER, "stranger", False),
            ("of another list", OTHER, "octo", True),
            ("of no list", "Mine", "octo", False),
        )
    ),
    story(
        "closed pull requests of strangers do not hide the no of a maintainer",
        *(run(AB), describe(1, "Rewritten"), close(1)),
        *(
            each
            for number in range(2, 14)
            for each in (opens("1", body="Mine", author="stranger"), close(number))
        ),
        run(),
        "#1 closed; "
        + "".join(f"#{number} closed by stranger; " for number in range(2, 13))
        + f"#13 closed by stranger: {AB}; {NO}",
        ways="s",
    ),
    *in_turn(
        story(
            f"whoever may push may decline: {role}",
            *(quirk(role=role), run(AB), by("member"), sets(private_members={"member"})),
            *(close(1), delete(), run()),
            f"#1 closed by member; {NO}",
        )
        for role in ("MAINTAIN", "ADMIN")
    ),
    story(
        "a private member counts if GitHub tells the role",
        *(run(AB), by("member"), sets(private_members={"member"}), close(1), delete(), run()),
        f"#1 closed by member; {NO}",
    ),
    story(
        "a private member does not count if GitHub does not tell the role",
        *(run(AB), by("member"), sets(private_members={"member"}), close(1), delete()),
        *(quirk(hides_permissions=True), plan(), says("progress.ignored"), run(), IGNORED),
        f"#1 closed by member; #2 open: {AB}",
        ways="sm",
    ),
    *(
        story(
            f"nobody is asked about an author who is {who}",
            *(run(AB), by(author), run(), asks(ROLES, 0), close(1), run(), asks(ROLES, 0)),
            f"#1 closed by {author}: {AB}; {NO}",
            ways="s",
        )
        for who, author in (("the owner", "octo"), ("a bot", "renovate[bot]"))
    ),
    story(
        "every run asks about another author once",
        *(run(AB), by("somebody"), run(), asks(ROLES, 1), close(1), run(), asks(ROLES, 1)),
        f"#1 closed by somebody: {AB}; {NO}",
    ),
    story(
        "nobody is asked about the token's own account if a query says which are its own",
        *(run(AB), run(), only("p", asks(ROLES, 1)), only("sm", asks(ROLES, 0)), close(1), run()),
        f"#1 closed: {AB}; {NO}",
    ),
    *in_turn(
        (
            story(
                f"somebody who may only read declines nothing ({state})",
                *(leaves("a.md"), sets(readers={"triage"})),
                *(opens("1", body=MARK, author="triage"), *acts, plan(AB), "".join(there)),
                run(),
                end,
            )
            for state, acts, there, end in (
                (
                    "open",
                    (),
                    (f"#1 open by triage: a.md; {AB} to create",),
                    f"#1 open by triage: a.md; #2 open from -2: {AB}",
                ),
                (
                    "closed",
                    (close(1),),
                    (f"#1 closed by triage: a.md; {AB} to create",),
                    f"#1 closed by triage; #2 open: {AB}",
                ),
            )
        ),
        (
            story(
                f"an account that is no user any more ends no run: {author}",
                *(run(AB), by(author), close(1), delete(), sets(mannequins={author}), plan()),
                f"#1 closed by {author}; {AB} to create",
                *(says("progress.ignored"), run()),
                f"#1 closed by {author}; #2 open: {AB}",
                ways="s",
            )
            for author in ("somebody", "stranger")
        ),
    ),
    *(
        story(
            f"the association decides about {author} if the token is not told the permission",
            *(run(AB), by(author), close(1), refusing("/permission", 403, "Must have push access")),
            plan(),
            f"#1 closed by {author}: {AB}; {found}",
            check(),
            f"#1 closed by {author}: {AB}; {found}{code}",
            ways="s",
        )
        for author, found, code in (
            ("somebody", NO, ""),
            ("stranger", f"{AB} to create", "; exit 1"),
        )
    ),
    story(
        "a pull request that a stranger opens before ours is not ours",
        run(AB).at("the pull request", opens("1", body="Mine", author="stranger")),
        f"#1 open by stranger: {AB}; {AB} to create; exit 1",
        ways="p",
    ),
    *(
        story(
            f"pull requests of strangers' forks do not hide ours ({what}, {where})",
            *(*fork, run(AB), *acts),
            *(opens("1", head_repository=f"stranger{n}/example") for n in range(100)),
            # Two names are looked at; of a fork, all pages are read for each
            *(run(), only("p", asks("/pulls", 2 * pages))),
            end,
            ways=ways,
        )
        for where, fork, pages in (("a fork", (sets(parent="octo/parent"),), 2), ("no fork", (), 1))
        for what, acts, ways, end in (
            ("closed", (close(1), delete()), "psm", f"#1 closed; {{}}; {NO}"),
            ("open", (), "s", f"#1 open; {{}}: {AB}"),
        )
        for end in (
            end.format(
                "; ".join(f"#{n + 2} open of stranger{n}/example by somebody" for n in range(100))
            ),
        )
    ),
)
