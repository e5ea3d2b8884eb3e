"""The summary at the end of the log."""

from __future__ import annotations

from registrar.models.result import RegistrationResult
from registrar.reporting import outcome
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, msg

SEPARATOR = "=" * 50


def summary(registration: RegistrationResult, catalogue: Catalogue) -> list[str]:
    """The lines that scripts read: a frame, the repository and the counts."""
    counts = [
        catalogue.text(msg(f"summary.{name}", count=count))
        for name, count in outcome.counts(registration).items()
    ]
    repository = catalogue.shown(registration.repository, escaping.show_control_characters)
    return [
        SEPARATOR,
        catalogue.text(msg(f"summary.title_{registration.mode}")),
        SEPARATOR,
        f"Repository: {repository}",
        *counts,
        SEPARATOR,
    ]
