"""Branch, title, body and commit message of the caller's own, with placeholders."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from registrar.errors import InvalidInput
from registrar.inputs.interface import INPUTS, NAMES
from registrar.inputs.reader import read
from registrar.texts.escaping import Redactor
from registrar.texts.messages import Catalogue
from tests.contract.test_hostile_texts import check_plain
from tests.fakehub import Repository, StandInHost
from tests.harness import (
    LIST_BRANCH,
    PER_FILE,
    SINGLE,
    TARGET,
    Action,
    Start,
    clean_environment,
)

BEGIN = "<!-- registrar:begin -->"
RUN = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "42"}
TEMPLATES = ("branch", "commit_message", "title", "body")


GOOD = {"HOST_TOKEN": "ghp_abc", "TARGET_REPO": TARGET, "INPUT_PROFILE": "scaffold"}


def diagnostics(**given: str) -> list[str]:
    """The keys of what is wrong with these inputs: nothing when all is well."""
    environ = {f"INPUT_{name.upper()}": value for name, value in given.items()}
    try:
        read({**GOOD, **environ})
    except InvalidInput as invalid:
        return [diagnostic.message.key for diagnostic in invalid.diagnostics]
    return []


# --- Placeholders -------------------------------------------------------------------------


def test_every_placeholder_is_filled_in(
    start: Start, action: Action, repository: Repository, strategy: str
) -> None:
    run = start(
        definitions=action.listing("README.md", "a", "b"),
        branch="add/{profile}-{owner}-{repo}",
        title="{profile} {count} {owner} {repo} {run_url}",
        body="# {profile} {count} {owner} {repo}\n\n{run_url}\n\n| {{kept}} |",
        commit_message="{path} {profile} {count} {owner} {repo} {run_url}",
        env={**RUN, "GITHUB_REPOSITORY": "Octo/Example"},
    ).or_fail()
    url = "https://github.com/Octo/Example/actions/runs/42"
    [pull] = repository.pull_requests
    assert pull.head == run.outputs["branch"] == "add/missing-octo-example"
    assert pull.title == f"missing 2 octo example {url}"
    assert (pull.body or "").startswith(
        f"# missing 2 octo example\n\n{url}\n\n| {{kept}} |\n\n{BEGIN}\n"
    )
    said = [commit.message.splitlines()[0] for commit in repository.log(pull.head)[:-1]]
    paths = {PER_FILE: ["b", "a"], SINGLE: ["2 files"]}[strategy]
    assert said == [f"{path} missing 2 octo example {url}" for path in paths]


@pytest.mark.parametrize("caller", ["octo/other", ""])
def test_a_run_of_another_repository_is_not_named(
    action: Action, repository: Repository, caller: str
) -> None:
    action(
        definitions=action.listing("a"),
        title="Files {run_url}",
        body="From {run_url}.",
        commit_message="add {path} {run_url}",
        env={**RUN, "GITHUB_REPOSITORY": caller},
    ).or_fail()
    [pull] = repository.pull_requests
    assert pull.title.rstrip() == "Files"
    assert (pull.body or "").startswith("From .")
    texts = (pull.title, pull.body or "", repository.log(LIST_BRANCH)[0].message)
    assert not any("runs/42" in text or "octo/other" in text for text in texts)


@pytest.mark.parametrize(
    ("template", "unknown"),
    [
        ("x {other}", "{other}"),
        ("x {}", "{}"),
        ("x {0} {PROFILE}", "{0}, {PROFILE}"),
        ("x {profile.name}", "{profile.name}"),
        ("x {profile[0]}", "{profile[0]}"),
        ("x {profile!r} {profile:>99}", "{profile!r}, {profile:>99}"),
        ("x {profile:{repo}}", "{profile:{repo}}"),
        ("x { profile }", "{ profile }"),
        # Of very many, the first are named
        (
            "{a} {b} {c} {d} {e} {f} {g} {h} {i} {j} {k} {l}",
            "{a}, {b}, {c}, {d}, {e}, {f}, {g}, {h}, {i}, {j}",
        ),
    ],
)
def test_an_unknown_placeholder_names_the_known_ones(template: str, unknown: str) -> None:
    for name in TEMPLATES:
        with pytest.raises(InvalidInput) as invalid:
            read({**GOOD, f"INPUT_{name.upper()}": template})
        [diagnostic] = invalid.value.diagnostics
        assert diagnostic.message.key.startswith("input.template_unknown")
        known = ", ".join(f"{{{each}}}" for each in INPUTS[name].placeholders)
        shown = Catalogue("en").text(diagnostic.message)
        assert shown.startswith(f"{name} has unknown placeholders: {unknown}. ")
        assert shown.endswith(f" Known: {known}.")


def test_a_brace_without_its_partner() -> None:
    for template in ("x {", "x }", "x {profile", "x profile}", "x {{}", "x {{a}"):
        for name in TEMPLATES:
            assert diagnostics(**{name: template}) == ["input.template_broken"]


def test_no_input_may_hold_the_token() -> None:
    """Most of what the inputs say is published."""
    token = "ghp_0123456789"
    catalogue = Catalogue("en", Redactor(token))
    for name in {*NAMES} - {"host_token"}:
        given = {"HOST_TOKEN": token, "TARGET_REPO": TARGET, f"INPUT_{name.upper()}": f"x{token}y"}
        with pytest.raises(InvalidInput) as invalid:
            read(given)
        said = [each.message for each in invalid.value.diagnostics]
        assert "input.holds_token" in {each.key for each in said}, name
        assert all(token not in catalogue.text(each) for each in said)


SIGN_OFF = "Signed-off-by: registrar[bot] <1+registrar[bot]@users.noreply.github.com>"


@pytest.mark.parametrize(
    ("template", "per_file", "single"),
    [
        # GitHub's form of a box has CRLF, a block of YAML ends with a line feed
        (
            f"add {{path}}\r\n\r\nFor {{repo}}.\r\n  As is.\r\n\r\nRefs: {{path}}\r\n{SIGN_OFF}\n",
            f"add b\n\nFor example.\n  As is.\n\nRefs: b\n{SIGN_OFF}",
            f"add 2 files\n\nFor example.\n  As is.\n\n- a\n- b\n\nRefs: 2 files\n{SIGN_OFF}",
        ),
        (
            f"docs: add files\n{SIGN_OFF}",
            f"docs: add files\n\n{SIGN_OFF}",
            f"docs: add files\n\n- a\n- b\n\n{SIGN_OFF}",
        ),
        ("add {path}\n\nx\n \ny", "add b\n\nx\n\ny", "add 2 files\n\nx\n\ny\n\n- a\n- b"),
        # Only a value may not make a trailer
        (
            "add {path}\n\nRefs: {repo}\n\nx",
            "add b\n\nRefs: example\n\nx",
            "add 2 files\n\nRefs: example\n\nx\n\n- a\n- b",
        ),
        # A paragraph has trailers only if each of its lines is one
        (
            "add {path}\n\nSee: x\nand y",
            "add b\n\nSee: x\nand y",
            "add 2 files\n\nSee: x\nand y\n\n- a\n- b",
        ),
        # What has no value is left out, and the lines around it stay
        (
            "add {path}\n\nx {run_url}\n{run_url} {run_url}\ny",
            "add b\n\nx\ny",
            "add 2 files\n\nx\ny\n\n- a\n- b",
        ),
        (
            "{property:team}\n\nx\n{property:team}\nz {property:team}\n\n\nTeam: {property:team}\n"
            + SIGN_OFF,
            f"chore: add b\n\nx\nz\n\n{SIGN_OFF}",
            f"chore: add missing files\n\nx\nz\n\n- a\n- b\n\n{SIGN_OFF}",
        ),
    ],
)
def test_a_commit_message_of_several_lines(
    start: Start,
    action: Action,
    host: StandInHost,
    repository: Repository,
    strategy: str,
    template: str,
    per_file: str,
    single: str,
) -> None:
    """The trailing block, which GitHub and checks for sign-offs read, stays at the end."""
    start(definitions=action.listing("a", "b"), commit_message=template).or_fail()
    message = repository.log(LIST_BRANCH)[0].message.rstrip("\n")
    assert message == {PER_FILE: per_file, SINGLE: single}[strategy]
    # Nobody is named, so GitHub signs
    assert not any({"author", "committer"} & each.fields.keys() for each in host.requests)


def test_the_number_of_files_has_those_of_the_branch(
    start: Start, action: Action, repository: Repository
) -> None:
    for listed, count in ((("a", "README.md"), 1), (("a", "b", "README.md"), 2)):
        start(definitions=action.listing(*listed), commit_message="{count}: add").or_fail()
        assert repository.log(LIST_BRANCH)[0].message.startswith(f"{count}: add")


def test_sign_offs_in_many_repositories_and_in_corrections(
    action: Action, repository: Repository
) -> None:
    inputs = {"target_repos": "octo/*", "commit_message": f"add files\n\n{SIGN_OFF}"}
    for content, path in (("1", "b"), ("2", "c")):
        listing = action.listing_of({"a": content, path: "x"})
        assert action(inputs, definitions=listing).exit_code == 0
        message = repository.log(LIST_BRANCH)[0].message.rstrip("\n")
        assert message == f"add files\n\n- a\n- {path}\n\n{SIGN_OFF}"


@pytest.mark.parametrize("path", ["x: y", "Signed-off-by: m"])
@pytest.mark.parametrize(
    ("way", "template", "expected"),
    [
        (SINGLE, f"add\n\n{{path}}\n\n{SIGN_OFF}", f"add\n\n{{0}}\n\n- {{0}}\n\n{SIGN_OFF}"),
        (PER_FILE, "add\n\nto {owner}\n\n{path}", "add\n\nto octo\n\n- {0}"),
    ],
)
def test_a_value_never_makes_a_trailer(
    action: Action, repository: Repository, path: str, way: str, template: str, expected: str
) -> None:
    listed = action.listing(path)
    action(definitions=listed, commit_message=template, commit_strategy=way).or_fail()
    message = repository.log(LIST_BRANCH)[0].message.rstrip("\n")
    assert message == expected.format(path)


def test_templates_are_never_filled_in_twice(action: Action, repository: Repository) -> None:
    definitions = action.listing("{profile} {0} {{x}}")
    run = action(definitions=definitions, commit_message="add {path}", title="{{profile}}")
    assert run.exit_code == 0, run.text
    assert repository.log(LIST_BRANCH)[0].message == "add {profile} {0} {{x}}"
    assert repository.pull_requests[0].title == "{profile}"


# --- Whose words they are -----------------------------------------------------------------


def test_the_callers_own_instructions_are_kept(
    single: Start, action: Action, repository: Repository
) -> None:
    single(
        definitions=action.listing("a"),
        commit_message="add {path} [skip ci]",
        title="Files, fixes #1",
        body="Fixes #1\n\n@octo/maintainers, see https://example.com | <b>x</b> [skip ci]",
    ).or_fail()
    [pull] = repository.pull_requests
    assert pull.title == "Files, fixes #1"
    assert (pull.body or "").startswith(
        "Fixes #1\n\n@octo/maintainers, see https://example.com | <b>x</b> [skip ci]\n\n"
    )
    assert repository.log(LIST_BRANCH)[0].message.splitlines()[0].endswith(" [skip ci]")


@pytest.mark.parametrize("template", ["add {path}", "{path}"])
def test_a_paths_instructions_are_not(
    action: Action, repository: Repository, template: str
) -> None:
    paths = ("[skip ci]", "Fixes #1", "@octo", "skip-checks: true")
    listed = {"definitions": action.listing(*paths), "commit_message": template}
    action(listed, commit_strategy=PER_FILE).or_fail()
    commits = repository.log(LIST_BRANCH)[: len(paths)]
    for line in "\n".join(each.message for each in commits).splitlines():
        check_plain(line)


# --- Branches -----------------------------------------------------------------------------


def is_branch(name: str) -> bool:
    """The trailers, as git itself reads them."""
    command = ["git", "check-ref-format", "--branch", name]
    ended = subprocess.run(command, env=clean_environment(), capture_output=True, check=False)
    return ended.returncode == 0 and ended.stdout.decode() == f"{name}\n"


ODD = st.text("ab/.-@{}~^:?*[\\ \x7f\t_#!é日", max_size=8) | st.sampled_from(
    ["a.lock", "lock", "a.lock/b", "HEAD", "a/HEAD", "@", "a@", "@/a", "-a", "a/-b", "a..b"]
)


@pytest.mark.large
@given(st.lists(ODD, min_size=1, max_size=3).map("/".join).map(str.strip).filter(bool))
@example("HEAD")
@example("@")
@example("@{-1}")
@example("a.lock/b")
@example("a/.b")
@example("a@{b")
@example("refs")
def test_a_branch_is_what_git_takes_for_one(name: str) -> None:
    template = name.replace("{", "{{").replace("}", "}}")
    # What is `HEAD` to git's own commands, and a name with the prefix that we add ourselves
    confusing = name == "@" or name.startswith("refs/")
    assert (diagnostics(branch=template) == []) is (is_branch(name) and not confusing), name


@pytest.mark.parametrize(
    ("found", "target", "branches"),
    [
        ("malformed", "octo/a", ("é" * 100 + "x" * 41, "{profile}" + "x" * 233)),
        (
            "",
            "octo/a",
            (
                *("é" * 100 + "x" * 40, "{profile}" + "x" * 232, "0123456"),
                *("add/heads/main", "head", "pull/scaffold"),
            ),
        ),
        ("", "octo/.github", ("add/{repo}", "add/x{repo}", "add/{owner}")),
        ("", "octo/x.lock", ("add/{repo}",)),
        ("", "octo/a..b", ("{repo}",)),
        ("other_reference", "heads/a", ("{owner}/main",)),
        (
            "other_reference",
            "octo/a",
            (
                *("refs/heads/x", "heads/main", "tags/v1", "remotes/origin/main", "pull/7/head"),
                *("HEAD", "FETCH_HEAD", "01234567" * 5, "0123456789ABCDEF" * 4),
            ),
        ),
    ],
)
def test_a_branch_is_checked_as_it_will_be_called(
    found: str, target: str, branches: Sequence[str]
) -> None:
    """With the placeholders, it has at most 240 bytes."""
    for branch in branches:
        keys = [f"input.branch_{found}"] if found else []
        assert diagnostics(target_repo=target, branch=branch) == keys, branch


def test_both_profiles_need_a_branch_each() -> None:
    for branch in ("add", "add/{owner}-{repo}", "add/{{profile}}"):
        assert diagnostics(profile="all", branch=branch) == ["input.branch_with_all"]


def test_all_with_a_branch_of_ones_own(single: Start, repository: Repository) -> None:
    single(profile="all", branch="add/{profile}").or_fail()
    assert repository.branches == ["add/health", "add/scaffold", "main"]
    assert [pull.head for pull in repository.pull_requests] == ["add/health", "add/scaffold"]


def test_a_branch_of_ones_own_with_our_files_is_continued(
    single: Start, action: Action, repository: Repository
) -> None:
    repository.person.commit({"a": b"\n"}, branch="wip")
    run = single(definitions=action.listing("a", "b"), branch="wip").or_fail()
    assert [pull.head for pull in repository.pull_requests] == ["wip"]
    assert run.outcomes == {"a": "skipped", "b": "created"}
