"""Names that some systems take for one, though git tells them apart."""

import unicodedata


def folded(path: str) -> str:
    """Give what is equal for paths that differ in letter case or Unicode form at most."""
    return unicodedata.normalize("NFC", path).casefold()


def forms_of(path: str, other: str) -> tuple[str, str] | None:
    """Give the Unicode forms of two paths that `folded` takes for one, as far as ``other`` goes.

    ``None`` if they differ in letter case as well, so that people see the difference.
    """
    one, two = (unicodedata.normalize("NFC", each) for each in (path, other))
    return (_form(path), _form(other)) if one.startswith(two) else None


def _form(path: str) -> str:
    forms = (each for each in ("NFC", "NFD") if unicodedata.is_normalized(each, path))
    return next(forms, "NFC + NFD")
