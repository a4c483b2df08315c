"""What a file says of its graph inputs, and which extents of theirs are said from outside."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Extents = Mapping[tuple[int, int], int]
"""(graph input, axis) -> its extent, in place of the file's."""

NO_EXTENTS: Extents = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class InputSignature:
    """A graph input as the file declares it; extents that it leaves open are -1."""

    name: str
    shape: tuple[int, ...]
    symbols: tuple[str, ...] = ()
    """What the file calls each extent; empty, also as a whole, where it has no name."""
