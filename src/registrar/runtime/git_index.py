"""Reads the index of git, which names the files that git tracks in a checkout.

https://git-scm.com/docs/index-format describes the index.
"""

import os
from collections.abc import Mapping
from contextlib import suppress

_SHORTENED = 4
"""The version in which a name has only its end, behind the number of bytes that it takes off the
name before."""
_VERSIONS = (2, 3, _SHORTENED)
_SIZES_OF_IDS = (20, 32)
"""Bytes of an id: SHA-1 and SHA-256. The index does not say which of them it has."""
_EXTENDED = 0x4000
"""The flag of an entry with two more bytes of flags."""
_LEFT_OUT = 0x4000
"""The flag in these two bytes for a file that a sparse checkout leaves out."""
_LENGTH = 0xFFF
"""The flags that have the length of the name, or this number if it is longer."""


def tracked_paths(index: bytes) -> Mapping[str, bool] | None:
    """Return the paths in an index, each with whether a sparse checkout leaves the file out.

    ``None`` if the index cannot be read, or if it was split and so names only a part of the paths.
    """
    for size in _SIZES_OF_IDS:
        with suppress(IndexError, ValueError):
            return _entries(index, size)
    return None


def _entries(index: bytes, size: int) -> Mapping[str, bool]:
    """Read the entries with ids of ``size`` bytes; each name's length shows whether that is right.

    Raises `IndexError` or `ValueError` if the index cannot be read so.
    """

    def number(at: int, length: int) -> int:
        return int.from_bytes(index[at : at + length], "big")

    at, name, found = 12, b"", dict[str, bool]()
    version = number(4, 4)
    if index[:4] != b"DIRC" or version not in _VERSIONS or len(index) < at + size:
        raise ValueError
    for _ in range(number(8, 4)):
        begin, place = at, at + 40 + size
        flags = number(place, 2)
        more = number(place + 2, 2) if flags & _EXTENDED else 0
        at = place + (4 if flags & _EXTENDED else 2)
        kept = 0
        if version == _SHORTENED:
            cut = index[at] & 0x7F
            while index[at] & 0x80:
                at += 1
                cut = cut + 1 << 7 | index[at] & 0x7F
            at, kept = at + 1, len(name) - cut
        end = index.index(0, at)
        name = name[:kept] + index[at:end]
        if flags & _LENGTH != min(len(name), _LENGTH):
            raise ValueError
        found[os.fsdecode(name)] = bool(more & _LEFT_OUT)
        at = end + (1 if version == _SHORTENED else 8 - (end - begin) % 8)
    while at < len(index) - size:
        if index[at : at + 4] == b"link":
            raise ValueError
        at += 8 + number(at + 4, 4)
    return found
