"""Each bad input ends a run before any request, with an error of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from registrar.errors import InvalidInput
from registrar.inputs.interface import INPUTS, NAMES
from registrar.inputs.reader import read
from registrar.lists.profiles import CHOICES
from registrar.reporting.reporter import HELP_PAGES
from registrar.texts.messages import Catalogue
from tests.fakehub import Repository, StandInHost
from tests.harness import Action


def visible(text: str) -> str:
    """As an error shows it."""
    for character, shown in (("\n", "\\n"), ("\x7f", "\\u007f"), ("\u202e", "\\u202e")):
        text = text.replace(character, shown)
    return text


NO_TOKEN = "host_token holds spaces or characters that no token has"
NO_LIST = (
    "There is no list: give definitions (a file with a list of your own), or profile"
    " (a list that comes with the action)"
)
UNASKED = (
    "host_token (HOST_TOKEN) is missing or empty. The variable {0} is set, but registrar does not"
    ' use it unasked. To pass it on, write in a shell `export HOST_TOKEN="${0}"`'
)
NO_ROOT = "api_url does not lead to the root of a REST API"

# Input, what is said of it, its values
VALUES = (
    ("host_token", "host_token (HOST_TOKEN) is missing or", ("", " \t ")),
    ("host_token", NO_TOKEN, ("ghp_abc def", '"ghp_abcdef"', "ghp_abc\nX-Evil: 1")),
    ("target_repo", "target_repo (TARGET_REPO) is missing or", ("", "  ")),
    (
        "target_repo",
        "target_repo is not of the form `owner/repo`: {}.",
        (
            *("https://github.com/octo/example", "octo/example/tree", "octo", "octo/", "/example"),
            *("octo/..", "octo/.", "../example", "octo/exa mple", "octo /example"),
            *("octo/example?a=b", "octo/exämple", "octo/example\n::error::x", "octo/ex\u202eample"),
        ),
    ),
    (
        "api_url",
        "api_url is not the address of a REST API: {}.",
        (
            *("api.github.com", "ftp://api.github.com", "https://", "https://api.github.com?a=b"),
            *("https://api.github.com/#a", "https://api.github.com:port"),
            *("https://api github.com", "https://[::1", "https://api.github.com/\\a"),
            *("https://api.github.com/\x7f", "https://api.gïthub.com"),
        ),
    ),
    (
        "max_wait_minutes",
        "max_wait_minutes is not a number of minutes from 0 to 360",
        ("-1", "abc", "361", "1e2", "nan", "1,5", "٣", "1 2"),
    ),
    (
        "api_url",
        "api_url would send the token without encryption: {}.",
        (
            *("http://api.github.com", "http://127.0.0.1.example.com"),
            *("http://localhost.example.com", "http://10.0.0.1"),
        ),
    ),
)

# id: (inputs and, in capitals, variables; what is said of them)
CASES: dict[str, tuple[dict[str, str], str]] = {
    **{
        f"{name} {value!r}": ({name: value}, words.format(visible(value)))
        for name, words, values in VALUES
        for value in values
    },
    "unknown profile": (
        {"profile": "everything"},
        f"Invalid value everything for profile. Valid values: {', '.join(CHOICES)}.",
    ),
    "profile mistyped": (
        {"profile": "helth"},
        "Invalid value helth for profile. Did you mean `health`? Valid values: scaffold, ",
    ),
    "mode mistyped": (
        {"mode": "Paln"},
        "Invalid value Paln for mode. Did you mean `plan`? Valid values: register, plan, check",
    ),
    **{
        f"API path {value!r}": ({"api_url": value}, f"{NO_ROOT}: {value}. Did you mean {meant}?")
        for value, meant in {
            "https://github.com": "https://api.github.com",
            "https://www.github.com/": "https://api.github.com",
            "https://github.com/octo/example": "https://api.github.com",
            "https://api.github.com/repos": "https://api.github.com",
            "https://api.github.com/api/v3": "https://api.github.com",
            "https://octo.ghe.com": "https://api.octo.ghe.com",
            "https://api.octo.ghe.com/api/v3": "https://api.octo.ghe.com",
            "https://ghe.example.com": "https://ghe.example.com/api/v3",
            "https://ghe.example.com:8443/": "https://ghe.example.com:8443/api/v3",
            "https://ghe.example.com/api/v3/repos": "https://ghe.example.com/api/v3",
            "https://ghe.example.com/api/graphql": "https://ghe.example.com/api/v3",
            "http://localhost:3000/x": "http://localhost:3000/api/v3",
        }.items()
    },
    **{
        f"API of another service {url}": (
            {"api_url": url},
            f"registrar works with GitHub only, and {url} (api_url) is the API of another service",
        )
        for url in (
            *("https://forge.example.com/api/v1", "https://codeberg.org/api/v1/"),
            *("https://gitlab.example.com/api/v4", "https://gitlab.com"),
            *("https://api.bitbucket.org/2.0", "https://dev.azure.com/octo"),
        )
    },
    **{
        f"several targets {value!r}": (
            {"target_repo": value},
            f"target_repo is one repository, but {visible(value)} is a pattern, or several of them",
        )
        for value in (
            *("octo/*", "octo/a*", "octo/a, octo/b", "octo/a\nocto/b"),
            *("-octo/*", '["octo/a", "octo/b"]', "octo/a octo/b.git"),
        )
    },
    # `test_selection` has more of them
    **{
        f"nearly a target {value!r}": (
            {"target_repo": value},
            f"target_repo is not of the form `owner/repo`: {value}. Did you mean octo/x?",
        )
        for value in (
            *("-octo/x", "!octo/x", "- octo/x", "octo/x.git", "@octo/x", "octo/x/", '"octo/x"'),
            *("[octo/x]", "`octo/x`", "octo/x,", "https://github.com/octo/x", "github.com/octo/x"),
        )
    },
    **{
        f"array: {name} {value!r}": (
            {name: value},
            f"{name} is an array: {visible(value)}. Give the values without brackets, quotes",
        )
        for name, value in (
            ("target_repos", "- octo/a\n- octo/b"),
            ("target_repos", '["octo/a", "octo/b"]'),
            ("target_repos", "['octo/a']"),
            *(("labels", each) for each in ("- bug", "docs\n- bug", "* bug\n* docs", "'bug'")),
            ("labels", "[bug, docs]"),
            ("assignees", '["hubot"]'),
            ("fail_on", "[missing, blank]"),
        )
    },
    **{
        f"placeholder of other inputs: {name} {value}": (
            {name: f"a, {value}"},
            f"{name} has unknown placeholders: {value}. Known: {{property:NAME}}.",
        )
        for name, value in (
            *(("labels", each) for each in ("{repo}", "{profile}", "${owner}", "{{ repo }}")),
            *(("assignees", "{owner}"), ("reviewers", "{repo}")),
            ("team_reviewers", "{default_branch}"),
        )
    },
    **{
        f"no {what}: {name} {value!r}": (
            {name: f"hubot, {value}"},
            f"{name} has no {what} in {value}",
        )
        for what, name, values in (
            (
                "login of GitHub",
                "reviewers",
                ("octo/docs", "@octo/docs", "-hubot", "!hubot", "a b"),
            ),
            ("login of GitHub", "assignees", ("a@example.com", "https://github.com/a", "a;b")),
            ("team", "team_reviewers", ("Docs Team", "octo/a/b", "!docs", "-docs", "a;b")),
        )
        for value in (each.removeprefix("@") for each in values)
    },
    "definitions from the web": (
        {"definitions": "https://example.com/list.json"},
        "definitions is a web address: https://example.com/list.json. Only files of the workspace",
    ),
    "team of another organisation": (
        {"team_reviewers": "docs, @other/docs"},
        "team_reviewers names a team of another organisation: other/docs. Only teams of octo",
    ),
    "team of one of several owners": (
        {"target_repos": "octo/*, other/*", "team_reviewers": "@octo/docs"},
        "team_reviewers names a team of another organisation: octo/docs. Only teams of ",
    ),
    "definitions with a profile": (
        {"profile": "health", "definitions": "list.json"},
        "Give definitions or profile, not both. To begin with a built-in list,",
    ),
    # A line that was lost: before, the scaffold went into every repository
    **{
        f"no list {more}": (
            {"profile": "", **more},
            f"{NO_LIST}: {', '.join(CHOICES)}.",
        )
        for more in ({}, {"target_repos": "octo/*"}, {"mode": "plan"})
    },
    "fail_on, nearly right": (
        {"mode": "check", "fail_on": "missig"},
        "Invalid value missig for fail_on. Did you mean `missing`?",
    ),
    "a placeholder, nearly right": (
        {"title": "{cuont}"},
        "title has unknown placeholders: {cuont}. Did you mean `{count}`?",
    ),
    **{
        f"an expression: {name}": (
            {name: "a ${{ vars.X }}"},
            f"{name} has an expression of GitHub that was not filled in: ${{{{ vars.X }}}}.",
        )
        for name in INPUTS
        if name not in {"host_token", "language"}
    },
    "a header as token": ({"host_token": "Bearer ghp_x"}, "host_token begins like a header"),
    "GitHub's header as token": ({"host_token": "token gh_x"}, "host_token begins like a header"),
    "an expression as token": (
        {"host_token": "${{ secrets.X }}"},
        "host_token is an expression of GitHub (`${{ … }}`) that was not filled in.",
    ),
    "fail_on": ({"mode": "check", "fail_on": "missing, empty"}, "Invalid value empty for fail_on"),
    # Texts and branches: more of them in test_custom_texts
    "a brace alone": ({"body": "a { b"}, "body has an unmatched brace: a { b."),
    **{
        f"two lines {text!r}": ({"title": text}, "title must be a single line.")
        for text in ("a\nb", "a\rb")
    },
    "a long first line": (
        {"commit_message": f"{'x' * 201}\r\n\r\nb"},
        "The first line of commit_message is longer than 200 characters.",
    ),
    **{
        f"a long {name}": ({name: text}, f"{name} is longer than {most} characters.")
        for name, text, most in (
            ("commit_message", "a\n" + "x" * 30_000, 30_000),
            ("title", "x" * 201, 200),
            ("body", "x" * 30_001, 30_000),
        )
    },
    **{
        f"{name} {value}": ({name: value}, f"{name} {words}")
        for name, value, words in (
            ("branch", "a b", "is not a valid name of a git branch: a b."),
            ("branch", "add-{property:team}", "has unknown placeholders: {property:team}"),
            ("labels", "a, {property:a b}", "has unknown placeholders: {property:a b}"),
            ("labels", f"bug, {'x' * 51}", "has a label that is longer than the 50 characters"),
            ("branch", "a..b", "is not a valid name of a git branch: a..b. Leave out spaces, the"),
            ("reviewers", "{property:team", "has an unmatched brace: {property:team"),
            ("base", "a b", "is not a valid name of a git branch: a b."),
        )
    },
    "another reference": (
        {"base": "refs/heads/develop"},
        "git could take base for something other than a branch",
    ),
    "one branch for two lists": (
        {"branch": "x", "profile": "all"},
        "profile is `all`, so branch needs the placeholder `{profile}`: x.",
    ),
    # Two inputs, and one would be ignored
    "a repository beside several": (
        {"target_repo": "octo/example", "target_repos": "octo/*"},
        "Give target_repo or target_repos, not both: octo/example",
    ),
    **{
        f"{name} for one repository": ({name: value}, f"{name} is only for target_repos")
        for name, value in (("max_pull_requests", "10"), ("max_minutes", "50"))
    },
    # What another program has set
    **{
        f"the token of another tool: {name}": (
            {"host_token": "", name: "x"},
            UNASKED.format(name),
        )
        for name in ("GH_TOKEN", "GITHUB_TOKEN")
    },
    **{
        f"no input: {name}={value}": ({name: value}, f"There is no input {words}")
        for value in ("plan", "")
        for name, words in {
            "INPUT_MODES": "modes. Did you mean the input mode?",
            "INPUT_DRY_RUN": "dry_run. Did you mean the input `mode: plan`?",
            "INPUT_DRY-RUN": "dry-run. Did you mean the input `mode: plan`?",
            "INPUT_LANGAGE": "langage. Did you mean the input language?",
            "INPUT_TOKEN": "token. Did you mean the input host_token?",
            "INPUT_COMMIT-STRATEGY": "commit-strategy. Did you mean the input commit_strategy?",
            "INPUT_mode": "INPUT_mode. Did you mean the input INPUT_MODE?",
            "input_mode": "input_mode. Did you mean the input INPUT_MODE?",
        }.items()
    },
    **{
        f"a password: {variable} {value}": (
            {"api_url": "", variable: value},
            "api_url holds an `@`",
        )
        for variable in ("INPUT_API_URL", "HOST_API_URL", "GITHUB_API_URL")
        for value in (
            *("https://user:hunter2@ghes.example/api/v3", "https://hunter2@api.github.com"),
            "https://user:hunter2%40ghes.example/api/v3",
            "https%3A%2F%2Fuser%3Ahunter2%2540ghes.example",
            *("https://user:hunter2@[ghes.example", "http://user:hunter2@ghes.example"),
        )
    },
    # A commit to compare
    "ref to register": ({"ref": "main"}, "ref works only with `mode: check` and `mode: plan`"),
    **{
        f"ref: {words}": ({"mode": "check", "fail_on": "removed", "ref": "main", **more}, words)
        for more, words in (
            ({"target_repos": "octo/*"}, "ref is a commit of one repository"),
            ({"ref": "a..b"}, "ref cannot be a commit, a branch or a tag: a..b."),
            ({"ref": ""}, "`fail_on: removed` needs ref: it compares that commit"),
            # It would read a link as the file that it leads to
            ({"commit_strategy": "per-file"}, "commit_strategy `per-file` cannot read a ref"),
        )
    },
}


def test_the_defaults_of_a_workflow_are_not_given(action: Action) -> None:
    """A workflow passes its own repository as `target_repo`, and the default of each limit."""
    own = {"target_repo": "Octo/App", "max_pull_requests": "10", "max_minutes": "50"}
    for more in (
        {"target_repos": "octo/*"},
        {},
        {"target_repos": "o/*", "target_repo": "octo/one"},
    ):
        env = {"GITHUB_REPOSITORY": "octo/app"}
        run = action({**own, "profile": "health", **more}, language="en", env=env, runner=True)
        assert "is only for target_repos" not in run.text
        assert ("not both" in run.text) is ("target_repo" in more)


def environment_of(action: Action, inputs: Mapping[str, str]) -> dict[str, str]:
    env = {name: value for name, value in inputs.items() if name not in NAMES}
    given = {name: value for name, value in inputs.items() if name in NAMES}
    return {**action.environment({**given, "language": "en"}), **env}


def test_each_bad_input_has_an_error_of_its_own(action: Action) -> None:
    """The reader is asked: what a run makes of an error does not depend on which one it is."""
    wrong = dict[str, list[str]]()
    for case, (inputs, words) in CASES.items():
        with pytest.raises(InvalidInput) as invalid:
            read(environment_of(action, inputs))
        said = [visible(Catalogue("en").text(each.message)) for each in invalid.value.diagnostics]
        # The values are read without the brackets, so nothing else is said of them
        is_alone = len(said) == 1 or not re.search("is an array|an expression", words)
        is_said = any(each.startswith(words) for each in said)
        if not (is_said and is_alone) or any("hunter2" in each for each in said):
            wrong[case] = said
    assert not wrong


COUNTS = (
    *("created", "skipped", "failed", "missing", "declined"),
    *("unset", "blank", "differing", "invalid", "removed"),
)
"""The outputs that are a number even if nothing was read."""


@pytest.mark.parametrize(
    "case",
    [
        "host_token ' \\t '",
        *(f"target_repo {value!r}" for value in ("octo/example\n::error::x", "octo/ex\u202eample")),
        "API path 'https://github.com/octo/example'",
        "placeholder of other inputs: labels ${owner}",
        "no list {'target_repos': 'octo/*'}",
        "an expression: definitions",
        "a long body",
        "a repository beside several",
        "the token of another tool: GH_TOKEN",
        "no input: INPUT_DRY-RUN=plan",
        "a password: GITHUB_API_URL https://user:hunter2@ghes.example/api/v3",
        "a password: INPUT_API_URL https%3A%2F%2Fuser%3Ahunter2%2540ghes.example",
    ],
)
def test_a_bad_input_ends_the_run_before_any_request(action: Action, case: str) -> None:
    action.secrets.append("hunter2")
    inputs, words = CASES[case]
    run = action.start(environment_of(action, inputs))
    assert any(line.startswith(f"Error: {words}") for line in run.stderr.splitlines()), run.stderr
    assert any(visible(error).startswith(words) for error in run.report["errors"])
    assert run.report["registrations"] == []
    assert run.stdout == ""
    assert "Nothing was registered" in run.summary
    told = {name: value for name, value in run.outputs.items() if value and name != "report"}
    assert told == dict.fromkeys(COUNTS, "0")
    assert (run.exit_code, action.host.requests) == (2, [])


DOUBTS: list[tuple[dict[str, str], str]] = [
    ({"title": "a {{ repo }}"}, "title holds {{ repo }}, which is not filled in. Write {repo}"),
    ({"body": "{{owner }}"}, "body holds {{owner }}, which is not filled in. Write {owner}"),
    ({"labels": "{{ property:team }}"}, "labels holds {{ property:team }}, which"),
    ({"title": "a {{repo}} {{ other }}", "labels": "[bug], {other}, {{ other }}"}, ""),
    *(
        ({"target_repos": f"octo/*, {entry}"}, f"target_repos: {words}")
        for entry, words in (
            ("-property:tier=bron*", "property compares whole values: in tier=bron*, `*`"),
            ("property:tier=a|b", "property compares whole values: in tier=a|b, `*`"),
            ("-property:tier={owner}", "property compares with the value as it is written"),
            ("language:golang", "golang is not among the languages that GitHub recognises"),
        )
    ),
    ({"target_repos": "octo/*, -property:tier=a-b & c, language:c++, -topic:x"}, ""),
]


def test_inputs_warn_of_probable_mistakes(action: Action) -> None:
    given = {"definitions": action.listing("a"), "language": "en", "mode": "validate"}
    for inputs, words in DOUBTS:
        run = action({**given, **inputs}).or_fail()
        assert (f"Warning: {words}" in run.stderr) if words else run.stderr == ""


def test_an_unknown_language_is_answered_in_both(action: Action, host: StandInHost) -> None:
    run = action(language="fr", runner=True)
    assert run.exit_code == 2
    [error] = run.annotations()
    japanese, english = error.data.splitlines()
    assert japanese.startswith("language に fr という値はありません。使える値: ja、en。 → docs/")
    assert english == (
        "There is no language fr. Valid values: ja, en. → docs/troubleshooting.md#inputs"
    )
    assert host.requests == []


@pytest.mark.parametrize(
    ("variable", "name", "value"),
    [("INPUT_COLOUR", "colour", "plan"), ("INPUT_METHOD", "method", ""), ("INPUT_", "", "plan")],
)
def test_on_a_runner_an_input_that_does_not_exist_is_an_error(
    action: Action, repository: Repository, variable: str, name: str, value: str
) -> None:
    """In a shell it is an ordinary variable of somebody else."""
    run = action(language="en", runner=True, env={variable: value})
    assert (run.exit_code, action.host.requests) == (2, [])
    [annotation] = run.annotations()
    known = "Known inputs: host_token, target_repo, "
    assert annotation.data.startswith(f"There is no input {name}. {known}")
    action(language="en", env={variable: value}).or_fail()


def test_what_the_runner_itself_reads_is_no_error(action: Action, repository: Repository) -> None:
    env = {"INPUT_ARGS": "x", "INPUT_ENTRYPOINT": "y"}
    assert action(runner=True, env=env).exit_code == 0


@pytest.mark.parametrize(
    "variable",
    [
        *("INPUT_HOST_TOKEN", "INPUT_LANGUAGE", "INPUT_DEFINITIONS", "INPUT_TITLE"),
        *("HOST_TOKEN", "TARGET_REPO", "HOST_API_URL", "GITHUB_API_URL"),
        *("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_BASE_REF"),
    ],
)
def test_bytes_that_are_not_utf8_are_an_error_of_their_own(
    action: Action, host: StandInHost, variable: str
) -> None:
    """Python gives such a byte as half of a surrogate pair (PEP 383)."""
    known = {"HOST_TOKEN": "host_token", "TARGET_REPO": "target_repo"}
    name = "api_url" if variable.endswith("API_URL") else known.get(variable, variable)
    name = name.removeprefix("INPUT_").lower() if name.startswith("INPUT_") else name
    environ = action.environment({}, runner=True)
    environ.pop(f"INPUT_{name.upper()}", None)
    run = action.start({**environ, "INPUT_LANGUAGE": "en", variable: "b\udce9\udcff"})
    [error] = run.annotations()
    assert (run.exit_code, host.requests) == (2, [])
    if variable == "INPUT_LANGUAGE":
        assert "UTF-8 ではない" in error.data
    assert f"{name} holds bytes that are not UTF-8" in error.data


def test_a_workspace_and_files_with_such_names_do_no_harm(
    action: Action, repository: Repository
) -> None:
    odd = action.directory / "b\udce9"
    odd.mkdir()
    (odd / "list.json").write_text('[{"path": "a"}]')
    env = {
        "GITHUB_WORKSPACE": str(odd),
        "GITHUB_STEP_SUMMARY": str(odd / "summary\udce9"),
        "GITHUB_OUTPUT": str(odd / "no\udce9" / "output"),
        "RUNNER_TEMP": str(odd / "no\udce9"),
    }
    action(definitions="list.json", env=env).or_fail()
    assert (odd / "summary\udce9").exists()


@pytest.mark.parametrize("between", [",", "\n", " ,\r\n, "])
def test_people_and_teams_may_be_written_as_in_a_mention(
    action: Action, repository: Repository, between: str
) -> None:
    action(
        profile="health",
        labels=between.join(["@label", "two words"]),
        assignees=between.join(["octocat", "@octocat"]),
        reviewers=between.join(["@hubot", "hubot"]),
        team_reviewers=between.join(["docs", "@docs", "octo/docs", "@Octo/docs"]),
    ).or_fail()

    def sent(call: str, key: str) -> list[str]:
        bodies = [r.json for r in action.host.requests if r.path.endswith(f"/{call}")]
        return [name for body in bodies for name in (body[key] if key else body)]

    assert sent("requested_reviewers", "reviewers") == ["hubot"]
    assert sent("requested_reviewers", "team_reviewers") == ["docs"]
    assert sent("assignees", "assignees") == ["octocat"]
    assert sent("labels", "") == ["@label", "two words"]


@pytest.mark.parametrize(("language", "file"), HELP_PAGES.items())
def test_an_error_ends_with_a_link_to_the_page_of_the_version_in_use(
    action: Action, language: str, file: str
) -> None:
    version = {
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_ACTION_REPOSITORY": "octo/registrar",
        "GITHUB_ACTION_REF": "v1",
    }
    run = action(target_repo="octo", language=language, runner=True, env=version)
    page = f"https://github.example/octo/registrar/blob/v1/{file}"
    [annotation] = run.annotations()
    assert annotation.data.endswith(f" → {page}#the-target-repository")
