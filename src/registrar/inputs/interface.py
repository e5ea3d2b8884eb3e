"""The inputs with their names, defaults, valid values and placeholders."""

from typing import NamedTuple

from registrar.lists import profiles
from registrar.models.selection import VISIBILITIES
from registrar.models.settings import CommitStrategy, FailOn, Mode
from registrar.texts.messages import LANGUAGES, Message, msg
from registrar.texts.spelling import closest
from registrar.texts.templates import PROPERTY

_SWITCH = ("true", "false")


class Input(NamedTuple):
    """One input, which a step of a workflow, a variable or an option can give."""

    name: str
    """Name of the input in ``action.yml``."""
    description: Message
    default: str = ""
    choices: tuple[str, ...] = ()
    placeholders: tuple[str, ...] = ()
    plain_variables: tuple[str, ...] = ()
    """Variables without ``INPUT_`` that are read after the input's own, in this order.

    Only names that the two commands or the runner use. A plain ``LANGUAGE`` or ``BRANCH`` would
    often be set for other reasons.
    """
    workflow_default: str = ""
    """Default in ``action.yml``, for an input that has a default only in workflows."""

    @property
    def variable(self) -> str:
        return f"INPUT_{self.name.upper()}"

    @property
    def option(self) -> str:
        """Name of the option on a command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def is_switch(self) -> bool:
        return self.choices == _SWITCH

    def accepted(self, value: str) -> str:
        """Return the valid value that equals ``value`` in any letter case; empty if none does."""
        return next((choice for choice in self.choices if choice == value.lower()), "")


_TEXT = ("profile", "count", "owner", "repo", "base", "run_url", PROPERTY)

INPUTS = {
    each.name: each
    for each in (
        Input(
            "host_token",
            msg("option.host_token"),
            plain_variables=("HOST_TOKEN",),
            workflow_default="${{ github.token }}",
        ),
        Input(
            "target_repo",
            msg("option.target_repo"),
            plain_variables=("TARGET_REPO",),
            workflow_default="${{ github.repository }}",
        ),
        Input("target_repos", msg("option.target_repos")),
        Input("profile", msg("option.profile"), choices=profiles.CHOICES),
        Input("definitions", msg("option.definitions")),
        Input("respect_alternatives", msg("option.respect_alternatives"), "false", _SWITCH),
        Input("mode", msg("option.mode"), Mode.REGISTER, tuple(Mode)),
        Input("fail_on", msg("option.fail_on"), FailOn.MISSING, tuple(FailOn)),
        Input("ref", msg("option.ref")),
        Input("base", msg("option.base")),
        # The default is one commit for each file in one repository, and a single one over many
        Input("commit_strategy", msg("option.commit_strategy"), choices=tuple(CommitStrategy)),
        Input("update", msg("option.update"), "true", _SWITCH),
        # The next run must find the same name, so it cannot contain the number of missing files
        Input("branch", msg("option.branch"), placeholders=("profile", "owner", "repo")),
        Input("commit_message", msg("option.commit_message"), placeholders=("path", *_TEXT)),
        Input("title", msg("option.title"), placeholders=_TEXT),
        Input("body", msg("option.body"), placeholders=_TEXT),
        Input("labels", msg("option.labels"), placeholders=(PROPERTY,)),
        Input("assignees", msg("option.assignees"), placeholders=(PROPERTY,)),
        Input("reviewers", msg("option.reviewers"), placeholders=(PROPERTY,)),
        Input("team_reviewers", msg("option.team_reviewers"), placeholders=(PROPERTY,)),
        Input("draft", msg("option.draft"), "false", _SWITCH),
        # The default depends on the list, and in a shell on the locale
        Input("language", msg("option.language"), choices=LANGUAGES),
        Input("max_wait_minutes", msg("option.max_wait_minutes"), "15"),
        Input("max_pull_requests", msg("option.max_pull_requests"), "10"),
        Input("max_minutes", msg("option.max_minutes"), "50"),
        # Undocumented, but in the table of rhysd/actionlint. Whether it is allowed in a default is
        # not confirmed; without it, the event and GitHub are asked
        Input(
            "workflow_visibility",
            msg("option.workflow_visibility"),
            choices=VISIBILITIES,
            workflow_default="${{ github.repository_visibility }}",
        ),
        # The runner sets GITHUB_API_URL to the API of the GitHub with the workflow
        Input("api_url", msg("option.api_url"), plain_variables=("HOST_API_URL", "GITHUB_API_URL")),
    )
}
"""Every input by its name, in the order of ``action.yml`` and of the help."""

NAMES = tuple(INPUTS)

_OTHER_NAMES = {
    "host_token": ("token", "github_token", "gh_token", "gh_pat"),
    "target_repo": ("repo", "repository", "github_repository"),
    "target_repos": ("repos", "repositories", "target_repositories"),
    "definitions": ("definition_file", "definitions_file", "config_path"),
    "mode: plan": ("dry_run", "dryrun", "plan"),
    "mode: check": ("check",),
    "mode: validate": ("validate", "check_list", "lint"),
    "fail_on": ("fail_if",),
    "commit_strategy": ("strategy",),
    "base": ("base_branch", "target_branch"),
    "branch": ("branch_name",),
    "title": ("pr_title", "pull_request_title"),
    "body": ("pr_body", "pull_request_body"),
    "labels": ("pr_labels",),
    "language": ("lang", "locale"),
    "max_wait_minutes": ("max_wait",),
    "max_pull_requests": ("max_prs",),
}
"""Other names that people use for an input, or for an input with a value, for example because
similar actions have these names."""


class Meant(NamedTuple):
    """The input, and perhaps the value, that an unknown name probably means."""

    input: Input
    value: str = ""
    """The value; empty if the name does not imply one."""


_MEANT = {name: Meant(each) for name, each in INPUTS.items()} | {
    other: Meant(INPUTS[name], value)
    for meaning, others in _OTHER_NAMES.items()
    for name, _, value in [meaning.partition(": ")]
    for other in others
}


def meant(name: str) -> Meant | None:
    """Return the input that ``name`` probably means; ``None`` if no name is close."""
    return _MEANT.get(closest(name.lower().replace("-", "_"), _MEANT))
