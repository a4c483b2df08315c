"""Linked constants as a program has them: pools, members, copies, how they are stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from codegen.problem.problem import Pool


@dataclass(frozen=True, kw_only=True, slots=True)
class Packing:
    """How data are stored and what decoding them takes."""

    stored_bytes: int
    """Table, streams, padding."""
    table_bytes: int
    classes: int
    piece_bytes: tuple[int, ...]
    """Bytes of the data that each call of the decoder makes, in order."""
    taken: int
    """How often the decoder takes bits from the stream, besides at the start of a piece."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantPart:
    """Bytes that one role of a primfunc reads of a member: from `offset_bytes` on, as `dtype`."""

    user: tuple[str, str]
    offset_bytes: int
    size_bytes: int
    dtype: np.dtype[np.generic]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ConstantMember:
    """One piece of data in a constant pool, as who gave it its type and name (`parts[0]`) declares it."""

    name: str
    """C member name, e.g. `conv0_weight`."""
    offset: int
    data: np.ndarray
    alignment: int
    parts: tuple[ConstantPart, ...]
    """All who read it: most of them all of it, as it is."""
    reads: float = 1.0
    """How often each byte is read in one inference, on average."""

    @property
    def users(self) -> tuple[tuple[str, str], ...]:
        """(primfunc, role) of everyone who reads it or a part of it."""
        return tuple(part.user for part in self.parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantPool:
    """Members in offset order, as the C struct lays them out. `size_bytes` includes padding."""

    name: str
    region: str
    section: str
    alignment: int
    size_bytes: int
    members: tuple[ConstantMember, ...]
    merged_bytes: int
    """Bytes saved by merging: equal constants, and parts of others."""
    read_cost: float = 1.0
    """Cost of reading one byte, relative to other memories."""

    @property
    def unique_bytes(self) -> int:
        """Bytes of the members: the rest of `size_bytes` is padding."""
        return sum(member.data.nbytes for member in self.members)

    @property
    def access_cost(self) -> int:
        """Cost of all reads of one inference, in reads of one byte where that costs 1."""
        return sum(round(member.data.nbytes * member.reads * self.read_cost) for member in self.members)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unpacking:
    """How a linked constant that is stored compressed gets into its copy: decoded, in front of its step or in
    front of each of the step's calls."""

    packing: Packing
    dtype: np.dtype[np.generic]
    """Type of the constant's elements."""
    instructions: int
    """Predicted for decoding in one inference, with what further calls of the step take."""

    @property
    def original_bytes(self) -> int:
        """Bytes of the constant."""
        return sum(self.packing.piece_bytes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Staged:
    """A linked constant that is read from a copy in a writable pool."""

    user: tuple[str, str]
    """(primfunc, role) that reads it."""
    buffer: str
    """The copy, of `size_bytes` at `offset` in `pool`."""
    size_bytes: int
    alignment: int
    reads: float
    copied_at: int | None
    """Step in front of which it is copied; None: once, at start-up."""
    used_at: int
    """Step that reads it."""
    pool: str
    offset: int
    unpacking: Unpacking | None = None
    """How it is decoded, where it is stored compressed; the copy holds its largest piece."""

    def interval(self, times: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """When the copy is alive, on the time axis of buffers; `times`: the interval of each step."""
        if self.copied_at is None:
            return 0, max(times[-1][1], 1)
        return times[self.copied_at][0], times[self.used_at][1]


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantCosts:
    """Predicted cost of reading linked constants in one inference, in reads of a byte where that costs 1."""

    linked: int = 0
    """Cost of all reads from the places where constants are linked."""
    chosen: int = 0
    """Cost of all reads with the chosen copies, copying included."""
    bound: int = 0
    """No choice of copies costs less."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compression:
    """Result of compressing constants: the fewest predicted instructions within the limits of all pools."""

    original_bytes: int
    """Bytes of all constants, as kernels read them."""
    least_bytes: int
    """Bytes of all constants, with every one compressed that gains and whose buffer finds room."""
    instructions: int
    """Predicted for decoding in one inference."""
    instructions_bound: int
    """No choice within the same limits of pools decodes with fewer."""
    raised_bytes: int
    """By how much buffers may raise a pool's peak, or limit it where it is lower."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantLayout:
    """Places of a program's linked constants, and how they are stored and read."""

    candidates: tuple[Pool, ...]
    """Pools in which constants may be linked, best first. Linking several models together needs them again.
    """
    pools: tuple[ConstantPool, ...] = ()
    """Pools with the linked constants; none before linking."""
    staged: tuple[Staged, ...] = ()
    """Constants that are read from copies; each copy is a buffer of the plan."""
    compression: Compression | None = None
    """Result of compressing constants; None if all are stored as kernels read them."""
    costs: ConstantCosts = field(default_factory=ConstantCosts)

    @property
    def size_bytes(self) -> int:
        """Bytes of all pools."""
        return sum(pool.size_bytes for pool in self.pools)

    @property
    def unpacked(self) -> tuple[Staged, ...]:
        """Copies that constants are decoded into."""
        return tuple(copy for copy in self.staged if copy.unpacking is not None)

    @property
    def copied(self) -> tuple[Staged, ...]:
        """Copies of constants that are stored as they are."""
        return tuple(copy for copy in self.staged if copy.unpacking is None)
