"""The summary at the end of the log."""

from __future__ import annotations

from registrar.models.result import RegistrationResult
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, msg

SEPARATOR = "=" * 50
COUNTS = ("created", "skipped", "failed")


def summary(registration: RegistrationResult, catalogue: Catalogue) -> list[str]:
    """The eight lines that scripts read: a frame, the repository and the three counts."""
    counts = [
        catalogue.text(msg(f"summary.{name}", count=getattr(registration, name))) for name in COUNTS
    ]
    repository = catalogue.shown(registration.repository, escaping.show_control_characters)
    return [
        SEPARATOR,
        catalogue.text(msg("summary.title")),
        SEPARATOR,
        f"Repository: {repository}",
        *counts,
        SEPARATOR,
    ]
