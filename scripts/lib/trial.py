"""`scripts/try-on-github` checks that registrar works on the real GitHub as the tests expect."""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import requests

from registrar.github.case import API_VERSION
from registrar.inputs.reader import DEFAULT_API_URL, api_url_diagnostic
from registrar.main import main as registrar
from registrar.models.standing import blob_id
from registrar.runtime.cancellation import Cancellation, Clock

EXIT_AS_EXPECTED, EXIT_OTHERWISE, EXIT_REFUSED = 0, 1, 2
DESCRIPTION = """\
Runs registrar at the real GitHub. With each strategy it makes a plan, opens a pull request, closes
the pull request to decline its files, and runs once more. It prints a table with the expected and
the actual results.

It writes a README, then files on branches of their own, and opens pull requests. So it needs an
empty repository that you make for it, and refuses any other one. If it was stopped, start it again
with the same repository. Delete the repository afterwards.

  gh repo create OWNER/SCRATCH --private
  HOST_TOKEN=... scripts/try-on-github OWNER/SCRATCH
  gh auth refresh -s delete_repo
  gh repo delete OWNER/SCRATCH
"""
EPILOG = """\
The token is read from HOST_TOKEN: a classic one with the scope repo, a fine-grained one or an App's
with Contents and Pull requests (read and write). It takes about 45 requests, and less than three
minutes; if GitHub limits it, it waits.
Exit code: 0 all is as expected; 1 something is not, or it was stopped; 2 nothing was written.
"""
FORM = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
EMPTY = "Git Repository is empty."
README = b"# Scratch\n\nMade by scripts/try-on-github of registrar. Delete it.\n"
NEW = {"new.md": b"New\n", "docs/deep/日本語 100%.md": b"Odd\n"}
STRATEGIES = ("per-file", "single")
SECONDS = 60
TRIES, PAUSE_SECONDS = 6, 2.0
"""For ten seconds after a write, GitHub may still answer as before the write."""


class NotScratch(Exception):
    """The repository must not be written to; the text says why."""


class Row(NamedTuple):
    """The expected and the actual result of a step."""

    step: str
    about: str
    expected: object
    real: object

    @property
    def is_right(self) -> bool:
        """Whether both are the same."""
        return self.expected == self.real


class Api(NamedTuple):
    """Asks GitHub itself, beside registrar."""

    root: str
    token: str
    clock: Clock

    def __call__(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Return status and JSON; repeat the request after a server error and at a limit."""
        answer = self._once(method, path, body)
        for _ in range(TRIES):
            pause = answer.headers.get("retry-after", "")
            if answer.status_code < requests.codes.server_error and not pause.isdigit():
                break
            self.clock.sleep(float(pause) if pause.isdigit() else PAUSE_SECONDS)
            answer = self._once(method, path, body)
        try:
            return answer.status_code, answer.json()
        except ValueError:
            return answer.status_code, {}

    def _once(self, method: str, path: str, body: object) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}", "X-GitHub-Api-Version": API_VERSION}
        with requests.Session() as session:
            # Otherwise a password for the host in ~/.netrc would replace the token
            session.auth = lambda request: request
            url = self.root + path
            return session.request(method, url, json=body, headers=headers, timeout=SECONDS)


class Scratch(NamedTuple):
    """A repository of the caller that is empty, or has only our README and earlier tries."""

    full_name: str
    default_branch: str
    commit: str
    """Id of the commit with the README; empty if the repository is empty."""


def find(api: Api, full_name: str) -> Scratch:
    """Return a repository that was made for this trial.

    Raises:
        NotScratch: there is none, or it looks used; or the token or the address is wrong.
    """
    if api_url_diagnostic(api.root):
        raise NotScratch(f"{api.root} is not the address of a REST API, such as {DEFAULT_API_URL}.")
    if not api.token:
        where = "https://github.com/settings/tokens"
        raise NotScratch(f"HOST_TOKEN is empty: set it to a token ({where}).")
    if not FORM.fullmatch(full_name):
        raise NotScratch(f"{full_name!r} is not of the form OWNER/REPOSITORY.")
    status, found = api("GET", f"/repos/{full_name}")
    if status == requests.codes.unauthorized:
        raise NotScratch("GitHub does not accept the token (HOST_TOKEN): it is wrong, or ended.")
    if status != requests.codes.ok:
        raise NotScratch(
            f"There is no repository {full_name} that the token may see (HTTP {status}). "
            f"Make it, empty: gh repo create {full_name} --private"
        )
    branch = found["default_branch"]
    status, commits = api("GET", f"/repos/{full_name}/commits?sha={branch}&per_page=2")
    is_empty = status == requests.codes.conflict and commits.get("message") == EMPTY
    is_filled = status == requests.codes.ok and _is_ours(api, full_name, commits)
    used = {
        "is a fork": found.get("fork"),
        "is archived": found.get("archived"),
        "has issues or pull requests": found.get("open_issues_count") and not is_filled,
        "has stars": found.get("stargazers_count"),
        "has forks": found.get("forks_count"),
        "has commits": not is_empty and not is_filled,
    }
    if reasons := [reason for reason, holds in used.items() if holds]:
        raise NotScratch(
            f"{full_name} looks used: it {', '.join(reasons)}. This writes to the repository, so "
            "it takes only an empty one, made for it: gh repo create OWNER/NAME --private"
        )
    return Scratch(found["full_name"], branch, commits[0]["sha"] if is_filled else "")


def _is_ours(api: Api, full_name: str, commits: Sequence[Any]) -> bool:
    """Whether the one commit of a branch is the README of an earlier try."""
    if len(commits) != 1:
        return False
    _, tree = api("GET", f"/repos/{full_name}/git/trees/{commits[0]['sha']}?recursive=1")
    return _blobs(tree) == {"README.md": blob_id(README)}


def _blobs(tree: Any) -> dict[str, str]:
    """Return the blob ids of the files in an answer of ``GET git/trees``, by their paths."""
    found = tree.get("tree", ())
    return {each["path"]: each["sha"] for each in found if each["type"] == "blob"}


@dataclass
class Trial:
    """Tries everything once; ``rows`` are the results."""

    api: Api
    scratch: Scratch
    directory: Path
    """An empty directory for the list and the reports."""
    tell: Callable[[str], object]
    rows: list[Row] = field(default_factory=list)

    def play(self) -> None:
        """Plan, register, decline the pull request, and register again, with both strategies."""
        if not self.scratch.commit:
            self.begin()
        # A new prefix each time, so that branches of an earlier try do not matter
        prefix = f"try-{secrets.token_hex(3)}"
        for strategy in STRATEGIES:
            self.with_strategy(strategy, f"{prefix}/{strategy}")
        owned = {f"{prefix}/{strategy}" for strategy in STRATEGIES}
        refs = self.ask("GET", "git/matching-refs/heads/")
        heads = {each["ref"].removeprefix("refs/heads/"): each["object"]["sha"] for each in refs}
        self.expect("In the end", "branches of this try", owned, {*heads} & owned)
        default = self.scratch.default_branch
        unchanged = self.scratch.commit
        self.expect("In the end", f"commit of {default}", unchanged, heads.get(default))

    def begin(self) -> None:
        """Make the first commit, and wait until GitHub knows its branch."""
        self.tell(f"Adding a README to {self.scratch.full_name}")
        content = base64.b64encode(README).decode()
        made = self.ask("PUT", "contents/README.md", {"message": "Begin", "content": content})
        self.scratch = self.scratch._replace(commit=made["commit"]["sha"])
        place = f"git/ref/heads/{self.scratch.default_branch}"
        self.until(made["commit"]["sha"], lambda: self.ask("GET", place)["object"]["sha"])

    def with_strategy(self, strategy: str, branch: str) -> None:
        """Try a small list: plan, register, decline the pull request, and register again."""
        files = {"README.md": blob_id(README)} | {
            path: blob_id(content) for path, content in NEW.items()
        }
        self.run("Plan", strategy, branch, "to create", mode="plan")
        self.run("Registered", strategy, branch, "proposed", "created")
        owner = self.scratch.full_name.partition("/")[0]
        place = f"git/trees/{branch}?recursive=1"
        found = self.until(files, lambda: _blobs(self.ask("GET", place)))
        self.expect(f"Registered, {strategy}", "files of the branch", files, found)
        found = self.ask("GET", f"pulls?head={owner}:{branch}&state=all")
        # The filter was seen to find other branches at the same commit (octokit/octokit.js#2056)
        pulls = [each for each in found if each["head"]["ref"] == branch]
        bases = [(each["state"], each["base"]["ref"]) for each in pulls]
        expected = [("open", self.scratch.default_branch)]
        self.expect(f"Registered, {strategy}", "its pull requests", expected, bases)
        for pull in pulls:
            self.ask("PATCH", f"pulls/{pull['number']}", {"state": "closed"})
        self.run("Declined", strategy, branch, "declined")

    def run(  # noqa: PLR0913 (what a row is about, and what is expected)
        self,
        step: str,
        strategy: str,
        branch: str,
        standing: str,
        operation: str = "none",
        *,
        mode: str = "register",
    ) -> None:
        """Run registrar, and compare its report with the expected states of the new files."""
        of_readme = {"path": "README.md", "content": README.decode()}
        new = [{"path": path, "content": content.decode()} for path, content in NEW.items()]
        listed = self.directory / "list.json"
        listed.write_text(json.dumps([of_readme, *new]), "utf-8")
        given = {
            "host_token": self.api.token,
            "api_url": self.api.root,
            "target_repo": self.scratch.full_name,
            "definitions": listed.name,
            "commit_strategy": strategy,
            "branch": branch,
            "mode": mode,
            "language": "en",
        }
        environ = {f"INPUT_{name.upper()}": value for name, value in given.items()}
        environ |= {"RUNNER_TEMP": f"{self.directory}", "GITHUB_WORKSPACE": f"{self.directory}"}
        log = io.StringIO()
        exit_code = registrar([], environ, log, log, Cancellation(self.api.clock))
        about, expected = (
            f"{step}, {strategy}",
            {"README.md": "same"} | dict.fromkeys(NEW, standing),
        )
        self.expect(about, "exit code", 0, exit_code)
        [report] = self.directory.glob("registrar-report-*.json")
        registrations = json.loads(report.read_text("utf-8"))["registrations"]
        report.unlink()
        standings: dict[str, str] = {}
        did = "nothing"
        for each in registrations:
            standings |= {file["path"]: file["standing"] for file in each["files"]}
            did = (each["pull_request"] or {"operation": "none"})["operation"]
        self.expect(about, "how the files stand", expected, standings)
        self.expect(about, "done about the pull request", operation, did)
        if exit_code:
            self.tell(log.getvalue())

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Send a request about the repository, and return the JSON of the answer.

        Raises:
            requests.HTTPError: GitHub refuses the request.
        """
        status, answer = self.api(method, f"/repos/{self.scratch.full_name}/{path}", body)
        if status >= requests.codes.bad_request:
            words = answer.get("message", "") if isinstance(answer, dict) else ""
            raise requests.HTTPError(f"{method} {path} is answered {status} {words}")
        return answer

    def until(self, expected: object, read: Callable[[], object]) -> object:
        """Read until the answer is as expected, because GitHub may lag behind a write."""
        found: object = None
        for _ in range(TRIES):
            try:
                found = read()
            except requests.HTTPError as error:
                found = f"{error}"
            if found == expected:
                break
            self.api.clock.sleep(PAUSE_SECONDS)
        return found

    def expect(self, step: str, about: str, expected: object, real: object) -> None:
        """Add a row to the table."""
        self.rows.append(Row(step, about, expected, real))


def main(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    tell: Callable[[str], object],
    clock: Clock | None = None,
) -> int:
    """Try everything once, and return the exit code."""
    given = parser().parse_args(arguments)
    root = (given.api_url or environ.get("HOST_API_URL") or DEFAULT_API_URL).rstrip("/")
    api = Api(root, environ.get("HOST_TOKEN", "").strip(), clock or time)

    def without_token(text: object) -> str:
        return str(text).replace(api.token, "***") if api.token else str(text)

    try:
        scratch = find(api, given.repository)
    except (NotScratch, requests.RequestException) as error:
        tell(f"Error: {without_token(error)}")
        return EXIT_REFUSED
    except KeyboardInterrupt:
        tell("Error: interrupted, nothing was written.")
        return EXIT_REFUSED
    stopped = ""
    with tempfile.TemporaryDirectory(prefix="try-on-github-") as directory:
        trial = Trial(api, scratch, Path(directory), tell)
        try:
            trial.play()
        except requests.RequestException as error:
            stopped = without_token(error)
        except KeyboardInterrupt:
            stopped = "interrupted"
    show(trial.rows, tell)
    if stopped:
        tell(f"\nStopped: {stopped}. Run the same again: it begins anew.")
    tell("\nDelete what was made:\n  gh auth refresh -s delete_repo")
    tell(f"  gh repo delete {scratch.full_name}")
    is_green = not stopped and all(row.is_right for row in trial.rows)
    return EXIT_AS_EXPECTED if is_green else EXIT_OTHERWISE


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="scripts/try-on-github",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("repository", metavar="OWNER/SCRATCH", help="an empty repository of yours")
    made.add_argument("--api-url", metavar="URL", help=f"default: {DEFAULT_API_URL}")
    return made


def show(rows: Sequence[Row], tell: Callable[[str], object]) -> None:
    """Print the table of expected and actual results."""
    step = ""
    for row in rows:
        if row.step != step:
            step = row.step
            tell(f"\n{step}")
        tell(f"  {'ok' if row.is_right else 'WRONG':7} {row.about}: {row.expected}")
        if not row.is_right:
            tell(f"          got {row.real}")
    right = sum(row.is_right for row in rows)
    tell(f"\n{right} as expected, {len(rows) - right} not as expected.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ, lambda line: print(line, flush=True)))
