"""Where docs/troubleshooting.md explains an error."""

from __future__ import annotations

import re
from collections.abc import Mapping

from registrar.texts.messages import Message

PAGE = "docs/troubleshooting.md"
SECTIONS = {
    "input.": "inputs",
    "input.api_url": "the-address-of-the-api",
    "input.argument": "options-of-the-commands",
    "input.branch": "the-branch-name",
    "input.definitions": "the-file-is-not-found",
    "input.definitions_with_all": "definition-files",
    "input.holds_token": "the-token-is-in-an-input-or-a-list",
    "input.option": "options-of-the-commands",
    "input.target": "the-target-repository",
    "input.template": "placeholders",
    "input.token": "the-token-is-missing",
    "definitions.": "definition-files",
    "definitions.holds_token": "the-token-is-in-an-input-or-a-list",
    "definitions.path_below": "paths-in-a-list",
    "file.": "the-file-is-not-found",
    "path.": "paths-in-a-list",
    "preflight.": "the-repository-cannot-be-written-to",
    "preflight.no_properties": "a-permission-is-missing",
    "preflight.no_push": "a-permission-is-missing",
    "preflight.not_found": "the-repository-is-not-found",
    "preflight.own_token": "the-repository-is-not-found",
    "preflight.property_list": "definition-files",
    "preflight.rules": "paths-in-a-list",
    "preflight.scope": "a-permission-is-missing",
    "preflight.workflow_scope": "workflow-files",
    "refusal.": "github-refused",
    "refusal.actions_pull_requests": "the-pull-request-is-not-opened",
    "refusal.archived": "the-repository-cannot-be-written-to",
    "refusal.branch_protection": "a-rule-or-a-protection-refuses-it",
    "refusal.empty": "the-repository-cannot-be-written-to",
    "refusal.fine_grained_permission": "a-permission-is-missing",
    "refusal.installation_permission": "a-permission-is-missing",
    "refusal.no_place": "a-permission-is-missing",
    "refusal.label": "labels-and-people",
    "refusal.assignee": "labels-and-people",
    "refusal.team": "labels-and-people",
    "refusal.own_token": "a-permission-is-missing",
    "refusal.parent_is_file": "a-part-of-the-path-is-a-file",
    "refusal.redirect": "redirects",
    "refusal.reference": "the-branch-is-refused",
    "refusal.ruleset": "a-rule-or-a-protection-refuses-it",
    "refusal.secret": "a-rule-or-a-protection-refuses-it",
    "refusal.sso": "single-sign-on",
    "refusal.token_rejected": "the-token-is-not-accepted",
    "refusal.fine_grained_graphql": "the-token-is-not-accepted",
    "refusal.workflow_scope": "workflow-files",
    "reason.blocked": "a-part-of-the-path-is-a-file",
    "reason.declined": "a-closed-pull-request",
    "reason.not_committable": "many-repositories",
    "reason.unknown": "the-connection-fails",
    "branch.": "no-branch-name-is-free",
    "pull_request.": "labels-and-people",
    "pull_request.not_opened": "the-pull-request-is-not-opened",
    "limit.": "rate-limits",
    "fault.": "the-connection-fails",
    "fault.conflict": "others-write-to-the-branch",
    "fault.pace": "rate-limits",
    "fault.reference": "the-branch-is-refused",
    "fault.too_quickly": "rate-limits",
    "fault.proxy": "certificates-and-proxies",
    "fault.primary_limit": "rate-limits",
    "fault.secondary_limit": "rate-limits",
    "host.": "the-connection-fails",
    "host.api_version": "the-release-is-too-old",
    "host.ca_bundle": "certificates-and-proxies",
    "host.certificate": "certificates-and-proxies",
    "host.proxy_": "certificates-and-proxies",
    "host.tls": "certificates-and-proxies",
    "fleet.another_repository": "many-repositories",
    "fleet.other_name": "many-repositories",
    "fleet.listing_": "many-repositories",
    "fleet.no_owner": "many-repositories",
    "fleet.not_installed": "many-repositories",
    "fleet.not_separated": "many-repositories",
    "fleet.nothing_found": "many-repositories",
    "fleet.nothing_included": "many-repositories",
    "fleet.nothing_selected": "many-repositories",
    "fleet.out_of_minutes": "many-repositories",
    "fleet.property_name": "many-repositories",
    "fleet.own_token": "many-repositories",
    "fleet.pattern_": "many-repositories",
    "fleet.qualifier_without_value": "many-repositories",
    "fleet.same_cause": "many-repositories",
    "fleet.sso_partial": "single-sign-on",
    "fleet.stopped": "many-repositories",
    "fleet.too_few_minutes": "many-repositories",
    "fleet.too_few_points": "rate-limits",
    "fleet.too_many_files": "many-repositories",
    "fleet.too_many_shards": "many-repositories",
    "fleet.unknown": "many-repositories",
    "fleet.unreadable": "the-repository-is-not-found",
    "outcome.check": "files-are-missing",
    "check.codeowners": "files-are-missing",
    "check.fails_": "files-are-missing",
    "run.": "an-unexpected-error",
    "run.cancelled": "the-run-was-cancelled",
    "run.package_missing": "a-package-is-missing",
    "run.summary_cut": "outputs-summary-or-report-are-missing",
    "run.un": "outputs-summary-or-report-are-missing",
    "run.unexpected": "an-unexpected-error",
}
"""The beginnings of catalogue keys, and the section that explains them; the longest one counts."""

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_REFERENCE = re.compile(r"[\w./-]+", re.ASCII)


def section(message: Message) -> str:
    """The section that explains ``message``: that of the innermost reason that has one, or none."""
    for value in message.values.values():
        inner = section(value) if isinstance(value, Message) else ""
        if inner:
            return inner
    key = max((key for key in SECTIONS if message.key.startswith(key)), key=len, default="")
    return SECTIONS.get(key, "")


def page(environ: Mapping[str, str]) -> str:
    """The page: its address in the version that a workflow uses, or its path in a checkout.

    ``GITHUB_ACTION_REPOSITORY`` and ``GITHUB_ACTION_REF`` are empty for ``uses: ./``:
    https://docs.github.com/en/actions/reference/workflows-and-actions/variables
    """
    server = environ.get("GITHUB_SERVER_URL", "")
    repository = environ.get("GITHUB_ACTION_REPOSITORY", "")
    reference = environ.get("GITHUB_ACTION_REF", "")
    known = _REPOSITORY.fullmatch(repository) and _REFERENCE.fullmatch(reference)
    return f"{server}/{repository}/blob/{reference}/{PAGE}" if server and known else PAGE
