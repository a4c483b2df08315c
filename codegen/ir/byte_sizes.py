"""Sizes as people write them: `32768`, `0x8000`, `32K`, `32KiB`, `1M`."""

import re

NUMBER = r"0[xX][0-9a-fA-F]{1,20}|[0-9]{1,20}"
"""A whole number, decimal or hexadecimal, as a regular expression: as many digits as 64 bits can have."""

_SIZE = re.compile(rf"(?P<number>{NUMBER})(?:(?P<unit>[kKmM])(?:[iI][bB])?)?")
_BYTES = {"k": 1024, "m": 1024 * 1024}

SIZE_WORDS = (
    "bytes as 32768 or 0x8000; the suffixes are K and KiB (1024), M and MiB (1024 K), as in linker scripts"
)
"""Help of messages about a size that cannot be read."""


def whole_number(text: str) -> int:
    """The number that a text that matches `NUMBER` states."""
    return int(text, 16 if text[:2].lower() == "0x" else 10)


def size_bytes(text: str) -> int | None:
    """The bytes that `text` states; None if it states none.

    K and M, in either case and also written KiB and MiB, are 1024 and 1024 x 1024, as in linker scripts. KB
    and MB mean 1000 to some and 1024 to others, so they are not taken.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    return whole_number(match["number"]) * _BYTES.get((match["unit"] or "").lower(), 1)
