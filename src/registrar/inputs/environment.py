"""Reads the environment: the values of inputs, and the variables and the event of the runner."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from registrar.inputs.interface import INPUTS, NAMES, meant
from registrar.lists.profiles import ALL, BOTH
from registrar.models.selection import VISIBILITIES
from registrar.runtime.workspace import Folder, Unreadable
from registrar.texts.escaping import SECRET_CHARACTERS, SURROGATE
from registrar.texts.messages import Languages, Message, msg

_KNOWN = {each.variable for each in INPUTS.values()} | {"INPUT_ARGS", "INPUT_ENTRYPOINT"}
"""The variables of the inputs, and of the keys of `with:` that the runner reads for a container
action."""
_RUNNERS_TEXTS = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_BASE_REF")
"""Variables of the runner whose values registrar publishes."""
_JAPANESE_LISTS = {ALL, *(each.name for each in BOTH)}
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
EVENT_BYTES = 25_000_000
"""The largest size of an event of GitHub
(https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap)."""


def value_of(environ: Mapping[str, str], name: str) -> str:
    """Return the value of an input without blanks around it; empty if it is not given."""
    variables = (INPUTS[name].variable, *INPUTS[name].plain_variables)
    values = (environ.get(variable, "").strip() for variable in variables)
    return next((value for value in values if value), "")


def languages(environ: Mapping[str, str], *, is_contracts: bool = False) -> Languages:
    """Choose the languages of a run.

    ``is_contracts`` says that one of the two commands for a single list started the run. The input
    ``language`` comes first. Without it, the lists of `BOTH` are Japanese in workflows and in these
    commands, and other lists are English there. Otherwise the locale decides, by its first variable
    that is not empty (https://pubs.opengroup.org/onlinepubs/9799919799/basedefs/V1_chap08.html).
    """
    if given := INPUTS["language"].accepted(value_of(environ, "language")):
        return Languages(given, given, are_chosen=True)
    if is_contracts or on_runner(environ):
        of_list = "ja" if value_of(environ, "profile").lower() in _JAPANESE_LISTS else "en"
        return Languages(of_list, of_list, are_chosen=False)
    locale = next(filter(None, (environ.get(each) for each in _LOCALE)), "")
    return Languages("ja" if locale.startswith("ja") else "en", "en", are_chosen=True)


def not_utf8(environ: Mapping[str, str]) -> list[str]:
    """Return the names of inputs and published variables whose bytes are not UTF-8, sorted."""
    values = {name: value_of(environ, name) for name in INPUTS}
    values |= {name: environ.get(name, "") for name in _RUNNERS_TEXTS}
    return sorted(name for name, value in values.items() if SURROGATE.search(value))


def unknown(environ: Mapping[str, str]) -> Iterator[Message]:
    """Report the variables ``INPUT_…`` that are not inputs.

    On a runner each of them is a key of ``with:``. Elsewhere only a name that is close to an input
    is reported, because many desktops set ``INPUT_METHOD``.
    """
    for variable in sorted(environ):
        prefix, name = variable[: len("INPUT_")], variable[len("INPUT_") :]
        if prefix.upper() != "INPUT_" or variable in _KNOWN:
            continue
        # The runner writes capitals. Elsewhere a name may differ in letter case only, so the
        # message shows it unchanged
        shown = name.lower() if variable.isupper() else variable
        if close := meant(name):
            suggestion, separator = close.input.variable, "="
            if variable.isupper():
                suggestion, separator = close.input.name, ": "
            if close.value:
                suggestion = f"`{suggestion}{separator}{close.value}`"
            yield msg("input.unknown_name_close", name=shown, close=suggestion)
        elif on_runner(environ):
            yield msg("input.unknown_name", name=shown, known=NAMES)


def leaks(environ: Mapping[str, str], secret: str) -> Iterator[Message]:
    """Report the inputs with the token in their value, because most values are published."""
    for name in INPUTS:
        value = value_of(environ, name)
        if name != "host_token" and len(secret) >= SECRET_CHARACTERS and secret in value:
            yield msg("input.holds_token", name=name)


def on_runner(environ: Mapping[str, str]) -> bool:
    """Whether the run is a step of a workflow."""
    return environ.get("GITHUB_ACTIONS") == "true"


def is_unattended(environ: Mapping[str, str]) -> bool:
    """Whether the variables say that no person is at a terminal, because ``CI`` is set.

    GitHub and most other services that run workflows set it
    (https://docs.github.com/en/actions/reference/workflows-and-actions/variables).
    """
    return on_runner(environ) or environ.get("CI", "").lower() not in {"", "0", "false"}


def run_url(environ: Mapping[str, str]) -> str:
    """Return the address of the workflow run; empty outside a workflow."""
    parts = [environ.get(f"GITHUB_{n}", "") for n in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
    server, repository, run = parts
    return f"{server}/{repository}/actions/runs/{run}" if all(parts) else ""


def action_url(environ: Mapping[str, str]) -> str:
    """Return the address of the action's repository; empty for ``uses: ./`` and in a shell."""
    server = environ.get("GITHUB_SERVER_URL")
    repository = environ.get("GITHUB_ACTION_REPOSITORY")
    return f"{server}/{repository}" if server and repository else ""


def workflow_repository(environ: Mapping[str, str], api_url: str) -> str:
    """Return the repository of the workflow (``owner/repo``); empty outside a workflow.

    Also empty if the workflow is on another host than ``api_url``, because its name would mean
    another repository there. ``api_url`` has no slash at its end.
    """
    theirs = environ.get("GITHUB_API_URL") or api_url
    is_here = theirs.rstrip("/").lower() == api_url.lower()
    return environ.get("GITHUB_REPOSITORY", "") if is_here else ""


def event_base(environ: Mapping[str, str], own: str, target: str) -> str:
    """Return the base branch of the pull request or merge group that started the workflow.

    Empty if neither started it, or if ``own``, the repository of the workflow, is not ``target``.
    The event has the base of a merge group, because ``GITHUB_BASE_REF`` is only for pull requests:
    https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#merge_group
    """
    if own.lower() != target.lower():
        return ""
    name = environ.get("GITHUB_BASE_REF") or _part_of_event(environ, "merge_group").get("base_ref")
    return name.removeprefix("refs/heads/") if isinstance(name, str) else ""


def attempt_of(environ: Mapping[str, str]) -> str:
    """Return the branch of the workflow if this is a later attempt of the run; otherwise empty.

    Every attempt has the commit and the reference of the first one:
    https://docs.github.com/en/actions/how-tos/manage-workflow-runs/re-run-workflows-and-jobs
    """
    _, is_branch, name = environ.get("GITHUB_REF", "").rpartition("refs/heads/")
    is_later = environ.get("GITHUB_RUN_ATTEMPT", "1") not in {"", "1"}
    return name if is_branch and is_later else ""


def is_of_dependabot(environ: Mapping[str, str]) -> bool:
    """Whether Dependabot started the workflow, which then gets only the secrets of Dependabot.

    This is so even if a person runs the workflow again:
    https://docs.github.com/en/code-security/dependabot/troubleshooting-dependabot/troubleshooting-dependabot-on-github-actions
    """
    return environ.get("GITHUB_ACTOR") == "dependabot[bot]"


def is_of_fork(environ: Mapping[str, str]) -> bool:
    """Whether a pull request from a fork started the workflow.

    Such a workflow gets no secrets, and its own token can only read:
    https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#workflows-in-forked-repositories
    """
    name = environ.get("GITHUB_EVENT_NAME", "")
    if not name.startswith("pull_request") or name == "pull_request_target":
        return False
    pull = _part_of_event(environ, "pull_request")
    head, base = (_repository_id(pull.get(each)) for each in ("head", "base"))
    # A deleted fork has no id, but the pull request is from another repository all the same
    return head != base


def _repository_id(branch: object) -> object:
    repository = branch.get("repo") if isinstance(branch, dict) else None
    return repository.get("id") if isinstance(repository, dict) else None


def workflow_visibility(environ: Mapping[str, str], given: str) -> str:
    """Return who can read the log of the run, as a visibility of a repository; empty if unknown.

    ``given`` is the value of the input. Without it, the event of the workflow may describe the
    workflow's repository. There ``private: true`` alone may also mean an internal repository, so it
    counts as internal. Outside a workflow, the log is private.
    """
    if given or not on_runner(environ):
        return given or "private"
    repository = _part_of_event(environ, "repository")
    visibility, is_private = repository.get("visibility"), repository.get("private")
    if visibility in VISIBILITIES:
        return str(visibility)
    if is_private is None:
        return ""
    return "internal" if is_private else "public"


def _part_of_event(environ: Mapping[str, str], name: str) -> Mapping[str, object]:
    """Return an object of the event that started the workflow; empty if there is none."""
    if not (path := environ.get("GITHUB_EVENT_PATH")):
        return {}
    file = Path(path)
    try:
        event = json.loads(Folder(file.parent).read(file.name, most=EVENT_BYTES))
    except (Unreadable, ValueError, RecursionError):
        return {}
    part = event.get(name) if isinstance(event, dict) else None
    return part if isinstance(part, dict) else {}
