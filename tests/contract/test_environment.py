"""Environment variables, the check of the token, and the order of the checks."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import HEALTH_BRANCH, SCAFFOLD_BRANCH, TARGET, Action, calls

NOT_HERE = "http://127.0.0.1:9"


def test_the_contracts_own_variables_are_enough(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    environ = {"HOST_TOKEN": action.default_token, "TARGET_REPO": TARGET, "HOST_API_URL": host.url}
    action.start(environ, "--command=scaffold").or_fail()
    assert repository.branches == [SCAFFOLD_BRANCH, "main"]


def test_an_empty_input_is_not_given(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    empty = {f"INPUT_{name}": "" for name in ("HOST_TOKEN", "TARGET_REPO", "API_URL", "LANGUAGE")}
    plain = {
        "HOST_TOKEN": action.default_token,
        "TARGET_REPO": TARGET,
        "HOST_API_URL": host.url,
        "INPUT_PROFILE": "health",
    }
    action.start(empty | plain).or_fail()
    assert repository.branches == [HEALTH_BRANCH, "main"]


def test_other_plain_variables_mean_nothing(action: Action, repository: Repository) -> None:
    plain = {
        "LANGUAGE": "en",
        "PROFILE": "all",
        "BRANCH": "other",
        "DEFINITIONS": "gone.json",
        "API_URL": NOT_HERE,
        "LANG": "C",
    }
    run = action(profile="health", env=plain).or_fail()
    assert repository.branches == [HEALTH_BRANCH, "main"]
    assert "完了サマリー" in run.lines


@pytest.mark.parametrize(
    "variables",
    [
        {"HOST_API_URL": "here"},
        {"GITHUB_API_URL": "here"},
        {"HOST_API_URL": "here", "GITHUB_API_URL": NOT_HERE},
        {"INPUT_API_URL": "here", "HOST_API_URL": NOT_HERE, "GITHUB_API_URL": NOT_HERE},
        {"INPUT_API_URL": "", "HOST_API_URL": "", "GITHUB_API_URL": "here"},
    ],
)
def test_address_of_the_api(
    action: Action, host: StandInHost, repository: Repository, variables: dict[str, str]
) -> None:
    host.revoke_token(action.default_token)  # one request shows where it goes
    environ = {name: host.url if value == "here" else value for name, value in variables.items()}
    run = action(api_url=None, env=environ)
    assert run.exit_code == 2
    assert calls(host) == ["GET /rate_limit"]


@pytest.mark.parametrize("suffix", ["/", "/api/v3", "/api/v3/"])
def test_api_address_of_an_enterprise_server(
    action: Action, host: StandInHost, repository: Repository, suffix: str
) -> None:
    action(profile="health", api_url=host.url + suffix).or_fail()
    assert len(repository.pull_requests) == 1
    prefix = suffix.rstrip("/")
    assert all(r.raw_target.startswith(f"{prefix}/r") for r in host.requests)


def test_blanks_around_the_values_are_trimmed(action: Action, repository: Repository) -> None:
    action(
        host_token=f" {action.default_token}\n", target_repo=f" {TARGET} ", profile=" health "
    ).or_fail()


@pytest.mark.parametrize("name", ["HOST_STEP_SUMMARY", "GITHUB_STEP_SUMMARY"])
def test_step_summary_goes_to_the_file_that_is_named(
    action: Action, repository: Repository, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "summary.md"
    file.write_text("# Before\n")
    run = action(profile="health", env={name: str(file)})
    assert file.read_text("utf-8").startswith("# Before\n")
    assert "| 項目 | 件数 |" in file.read_text("utf-8")
    assert run.summary == "", "the runner's own file stays empty where another one is named"


def test_no_summary_and_no_output_file_is_no_error(action: Action, repository: Repository) -> None:
    none = {"GITHUB_STEP_SUMMARY": "", "GITHUB_OUTPUT": ""}
    run = action(profile="health", env=none).or_fail()
    assert run.stderr == ""


def test_a_summary_that_cannot_be_written_is_reported(
    action: Action, repository: Repository, tmp_path: Path
) -> None:
    run = action(profile="health", language="en", env={"HOST_STEP_SUMMARY": str(tmp_path)})
    assert "Step summary or outputs cannot be written" in run.stderr
    assert len(repository.pull_requests) == 1
    assert run.outputs["created"] == "7"


def test_the_token_goes_to_the_api_in_a_header_only(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    assert action(profile="health").exit_code == 0
    assert {r.token for r in host.requests} == {action.default_token}
    for request in host.requests:
        assert action.default_token not in request.raw_target
        assert action.default_token not in str(request.json)


def test_an_enterprise_server_without_limits_accepts_the_token(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.rate_limit = None
    assert action(profile="health").exit_code == 0


@pytest.mark.parametrize(
    "limit", ["no more threads", 9, *(pytest.param(n, marks=pytest.mark.matrix) for n in (6, 14))]
)
def test_a_process_that_may_do_little_does_the_work_or_says_why(
    action: Action, repository: Repository, limit: int | str
) -> None:
    """No thread, whose stack would be larger than the memory; or only a few open files."""
    environ = action.environment({"profile": "scaffold", "language": "en"})

    def limited() -> None:
        if isinstance(limit, int):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        else:
            hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 46, hard))

    run = action.end(action.begin(environ, first=limited), environ)
    assert "bug in registrar" not in run.text
    assert run.summary
    if run.exit_code == 0:
        assert run.outputs["created"] == "27"
    else:
        assert "Too many open files" in run.stderr
    again = action(profile="scaffold", language="en")
    assert (again.exit_code, len(repository.pull_requests)) == (0, 1)
