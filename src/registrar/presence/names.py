"""Compares names that git tells apart, but some operating systems do not."""

import unicodedata


def folded(path: str) -> str:
    """Return a form of the path that is equal for paths with the same letters.

    Letter case and Unicode form do not count.
    """
    return unicodedata.normalize("NFC", path).casefold()


def forms_of(path: str, other: str) -> tuple[str, str] | None:
    """Return the Unicode forms (``NFC``, ``NFD`` or both) of two paths, to explain a difference.

    ``other`` is equal to ``path``, or to a directory above it, after `folded`. ``None`` if they
    differ in letter case, too, because people can see that difference.
    """
    one, two = (unicodedata.normalize("NFC", each) for each in (path, other))
    return (_form(path), _form(other)) if one.startswith(two) else None


def _form(path: str) -> str:
    forms = (each for each in ("NFC", "NFD") if unicodedata.is_normalized(each, path))
    return next(forms, "NFC + NFD")
