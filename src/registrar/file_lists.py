"""A list with its texts, the same for every repository."""

from __future__ import annotations

import itertools
import os
from typing import NamedTuple

from registrar.errors import Diagnostic, InvalidInput
from registrar.inputs.settings import Settings, branch_diagnostic
from registrar.lists import loading, profiles
from registrar.lists.profiles import Profile
from registrar.models.files import FileDefinition, digest_of
from registrar.models.result import RegistrationResult
from registrar.models.rules import Rule
from registrar.models.spec import RegistrationSpec
from registrar.registration.proposal import Proposal
from registrar.reporting.reporter import Reporter
from registrar.runtime.workspace import Folder
from registrar.texts import templates
from registrar.texts.messages import Catalogue


class FileList(NamedTuple):
    """A list with what it comes with, loaded once a run."""

    settings: Settings
    profile: Profile
    definitions: tuple[FileDefinition, ...]
    rules: tuple[Rule, ...]
    list_id: str
    """What tells the list from others: a name, or the path of its file."""
    list_name: str
    """What people call the list: its name, or its file where it has none."""
    proposal: Proposal
    digest: str = ""
    """SHA-256 over the paths and contents of the list."""

    def nothing_yet(self, spec: RegistrationSpec) -> RegistrationResult:
        """Give the result of a registration in which nothing has been done."""
        return RegistrationResult(
            self.profile.name,
            spec.target,
            spec.mode,
            list_name=self.list_name,
            list_digest=self.digest,
            fail_on=spec.fail_on,
        )

    @property
    def asks_for_properties(self) -> bool:
        """Whether a rule asks about custom properties, or a template or a text names some."""
        return self.spec("o/r").asks_for_properties

    def spec(self, target: str) -> RegistrationSpec:
        """Ask for a registration in one repository (``owner/repo``)."""
        settings = self.settings
        owner, _, repo = target.partition("/")
        names = {"profile": self.profile.name, "owner": owner, "repo": repo}
        branch = templates.fill(settings.branch, names) or self.profile.branch
        return RegistrationSpec(
            target=target,
            definitions=self.definitions,
            rules=self.rules,
            branch=branch,
            texts_name_properties=bool(self.proposal.property_names),
            list_id=self.list_id,
            uses_profile_branch=branch == self.profile.branch,
            mode=settings.mode,
            fail_on=settings.fail_on,
            strategy=settings.commit_strategy,
            respect_alternatives=settings.respect_alternatives,
        )


def load(
    profile: Profile, settings: Settings, reporter: Reporter, catalogue: Catalogue
) -> FileList:
    """Load the list of a profile, or the one that is given in its place.

    ``catalogue`` has the texts of what is proposed.

    Raises:
        InvalidInput: with every diagnostic.
        Refused: the file cannot be read.
    """
    own_list = bool(settings.definitions)
    loaded = loading.load(
        Folder(settings.workspace if own_list else profiles.CONFIG),
        settings.definitions or profile.definitions,
        content_allowed=own_list or profile.content_allowed,
        secret=settings.token,
    )
    for diagnostic in loaded.warnings:
        reporter.warn(diagnostic)
    if not profile.definitions:
        profile = profiles.of_list(loaded.name or profiles.UNNAMED)
    path = ""
    if own_list:
        path = os.path.relpath(settings.workspace / settings.definitions, settings.workspace)
    proposal = Proposal(
        profile=profile,
        list_name=loaded.name if own_list else profile.name,
        list_path=path,
        title_template=settings.title,
        commit_template=settings.commit_message,
        options=settings.pull_request,
        run_url=settings.run_url,
        action_url=settings.action_url,
        workflow_repository=settings.workflow_repository,
        catalogue=catalogue,
    )
    kind = "profile" if not own_list else "list" if loaded.name else "file"
    name = proposal.list_name or path
    list_id = f"{kind} {name}"
    digest = digest_of(itertools.chain(loaded.definitions, *(r.definitions for r in loaded.rules)))
    file_list = FileList(
        settings, profile, loaded.definitions, loaded.rules, list_id, name, proposal, digest
    )
    # Only now the name of the list is known, which may be a part of the branch's
    if message := branch_diagnostic(file_list.spec(settings.target or "o/r").branch):
        raise InvalidInput([Diagnostic(message)])
    return file_list
