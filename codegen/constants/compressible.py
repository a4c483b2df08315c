"""Constants that can be stored compressed, and every way to do so with buffers for what is decoded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from codegen.constants.coding import Coder, decode_instructions
from codegen.constants.merging import Piece
from codegen.constants.staging import Room
from codegen.kernels.primfunc import PrimFunc
from codegen.program.constants import ConstantPart, Packing, Staged, Unpacking
from codegen.program.program import Program, core_of

MOST_TOGETHER = 10
"""Constants of steps that hang together, the largest, that are combined in every way, at most."""

_LEAST_SAVED = 16
"""Bytes below which nothing is tried: a call's code takes as many."""


class SharedConstant:
    """A constant that is there once, with all who read it.

    Who reads its beginning decodes as far as that goes. Once it is compressed, parts that begin elsewhere are
    constants by themselves again.
    """

    def __init__(
        self, program: Program, piece: Piece, readers: Sequence[tuple[ConstantPart, PrimFunc]], optimize: str
    ) -> None:
        """`readers`: those of `piece.readers` that decode, with their steps."""
        self.users = tuple(part.user for part, _ in readers)
        self.steps = tuple(program.steps.prim_funcs.index(prim) for _, prim in readers)
        self._piece = piece
        self._readers = tuple(readers)
        self._apart_bytes = _apart_bytes(piece, self.users)
        self._target, self._optimize = program.board.target, optimize
        self._alignment = max(piece.alignment, program.board.buffer_alignment_bytes)
        self._coder = Coder(piece.data.tobytes())
        self._packed: dict[Packing, np.ndarray] = {}
        whole = self._coder.packing()
        packings = [whole, *(self._coder.packing(sizes) for sizes in self._splits())]
        self.packings = tuple(packing for packing in packings if self.saved_bytes(packing) >= _LEAST_SAVED)

    def _splits(self) -> Iterator[tuple[int, ...]]:
        """Sizes of pieces that every reader's calls take one by one."""
        piece_counts = [
            {split.outputs // group for group in split.groups()}
            if (split := prim.split) and split.role == part.user[1] and self._is_whole(part)
            else set[int]()
            for part, prim in self._readers
        ]
        for count in sorted(set[int].intersection(*piece_counts)):
            yield (self._piece.size_bytes // count,) * count

    def _is_whole(self, part: ConstantPart) -> bool:
        return part.size_bytes == self._piece.size_bytes

    @property
    def size_bytes(self) -> int:
        """Bytes as they are."""
        return self._piece.size_bytes

    def saved_bytes(self, packing: Packing) -> int:
        """By how much smaller it is, at least: parts that are apart then may lie in other constants."""
        return self._piece.size_bytes - packing.stored_bytes - self._apart_bytes

    def stored(self, packing: Packing) -> np.ndarray:
        """Stored bytes of the constant. Raises ValueError if they do not decode to it."""
        if packing not in self._packed:
            self._packed[packing] = np.frombuffer(self._coder.packed(packing), np.uint8)
        return self._packed[packing]

    def staged(self, packing: Packing, pool: str) -> Iterator[Staged]:
        """A buffer for each reader, at offset 0 of `pool`."""
        for step, (part, prim) in zip(self.steps, self._readers, strict=True):
            constant = prim.constant(part.user[1])
            mine = packing if self._is_whole(part) else self._coder.beginning(part.size_bytes)
            largest, reads = max(mine.piece_bytes), 1.0 if constant.reads is None else constant.reads
            further = (len(mine.piece_bytes) - 1) * (prim.split.instructions if prim.split else 0)
            decoding = decode_instructions(mine, self._target, self._optimize)
            yield Staged(
                user=part.user,
                buffer=".".join((*part.user, "unpacked")),
                size_bytes=largest,
                alignment=self._alignment,
                reads=reads * part.size_bytes / largest,
                copied_at=step,
                used_at=step,
                pool=pool,
                offset=0,
                unpacking=Unpacking(packing=mine, dtype=constant.data.dtype, instructions=decoding + further),
            )


def _apart_bytes(piece: Piece, users: Sequence[tuple[str, str]]) -> int:
    """Bytes of parts of `piece` that others than `users` read, each once, with the padding they may need."""
    apart = {(part.offset_bytes, part.size_bytes) for part in piece.readers if part.user not in users}
    return sum(size + piece.alignment - 1 for _, size in apart)


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """Some members of a unit in one way each, buffers placed in one pool."""

    packings: tuple[tuple[SharedConstant, Packing], ...]
    staged: tuple[Staged, ...]
    pool: str
    end_bytes: int
    """End of the last buffer."""
    saved_bytes: int
    instructions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantGroup:
    """Constants that have a step in common, or a step with one that has: no other's buffers meet theirs."""

    options: tuple[Option, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Units:
    """Every way to compress constants for which the plan leaves room; `kept`: why others stay as they are ->
    their bytes."""

    units: tuple[ConstantGroup, ...]
    kept: Mapping[str, int]


NO_ROOM = "no pool has room for what would be decoded"
NO_GAIN = "compressing makes them no smaller"
PINNED = "[[constant]] tables of codegen.toml say where they lie"
NOT_DECODED = "their steps run on core 1, or want their bytes in a certain memory"


def units(program: Program, pieces: Sequence[Piece], optimize: str) -> Units:
    """The ways to compress `pieces`, the constants of `program`."""
    prims = {prim.name: prim for prim in program.steps.prim_funcs}
    kept: dict[str, int] = {}
    members: list[SharedConstant] = []
    for piece in pieces:
        reason = _refusal(piece, prims)
        if reason is None:
            readers = [(part, prims[part.user[0]]) for part in piece.readers if _decodes(piece, part, prims)]
            member = SharedConstant(program, piece, readers, optimize)
            if member.packings:
                members.append(member)
                continue
        reason = reason or NO_GAIN
        kept[reason] = kept.get(reason, 0) + piece.size_bytes
    program_units = tuple(_unit(program, group) for group in _groups(members))
    placed = {member for unit in program_units for option in unit.options for member, _ in option.packings}
    homeless = sum(member.size_bytes for member in members if member not in placed)
    return Units(units=program_units, kept={**kept, **({NO_ROOM: homeless} if homeless else {})})


def _refusal(piece: Piece, prims: Mapping[str, PrimFunc]) -> str | None:
    """Why a piece stays as it is: not all who read the whole of it find it in a pool as well."""
    whole = [part for part in piece.readers if part.size_bytes == piece.size_bytes]
    reason = next(filter(None, (_refused(part, prims) for part in whole)), None)
    return reason or (NO_GAIN if piece.size_bytes <= _LEAST_SAVED else None)


def _refused(part: ConstantPart, prims: Mapping[str, PrimFunc]) -> str | None:
    """Why who reads `part` does not decode it."""
    prim = prims[part.user[0]]
    constant = prim.constant(part.user[1])
    if constant.memory_scope is not None or constant.section is not None:
        return PINNED
    decodes = prim.is_call and not prim.memory and prim.device.is_free and core_of(prim) == 0
    return None if decodes else NOT_DECODED


def _decodes(piece: Piece, part: ConstantPart, prims: Mapping[str, PrimFunc]) -> bool:
    """True if the reader of `part` decodes `piece`, or its beginning where that pays."""
    if part.size_bytes == piece.size_bytes:
        return True
    return not part.offset_bytes and part.size_bytes > _LEAST_SAVED and _refused(part, prims) is None


def _groups(members: Sequence[SharedConstant]) -> list[list[SharedConstant]]:
    """Members with a step in common, directly or through others."""
    groups: list[tuple[set[int], list[SharedConstant]]] = []
    for member in members:
        steps, together = set(member.steps), [member]
        for other in [group for group in groups if group[0] & steps]:
            groups.remove(other)
            steps |= other[0]
            together = [*other[1], *together]
        groups.append((steps, together))
    return [together for _, together in groups]


def _unit(program: Program, members: Sequence[SharedConstant]) -> ConstantGroup:
    largest = sorted(members, key=lambda member: -member.size_bytes)[:MOST_TOGETHER]
    # Beside others of the same step pieces gain little, and ways would multiply.
    choices = [(None, *(member.packings if len(largest) == 1 else member.packings[:1])) for member in largest]
    room = Room(
        program.memory.problem,
        program.memory.plan,
        program.steps.times,
        program.copy_limits,
    )
    options: list[Option] = []
    for combination in product(*choices):
        packings = [
            (member, packing)
            for member, packing in zip(largest, combination, strict=True)
            if packing is not None
        ]
        options += filter(
            None, (_placed(room, packings, pool.name) for pool in program.memory.problem.pools if packings)
        )
    return ConstantGroup(options=tuple(options))


def _placed(room: Room, packings: Sequence[tuple[SharedConstant, Packing]], pool: str) -> Option | None:
    """The buffers of `packings`, largest first, each at the lowest free bytes of the pool; None
    without room."""
    copies = [copy for member, packing in packings for copy in member.staged(packing, pool)]
    placed_copies: list[Staged] = []
    for copy in sorted(copies, key=lambda copy: -copy.size_bytes):
        placed = room.placed(copy)
        if placed is None:
            break
        placed_copies.append(placed)
    for copy in placed_copies:
        room.take_back(copy)
    if len(placed_copies) < len(copies):
        return None
    return Option(
        packings=tuple(packings),
        staged=tuple(placed_copies),
        pool=pool,
        end_bytes=max(copy.offset + copy.size_bytes for copy in placed_copies),
        saved_bytes=sum(member.saved_bytes(packing) for member, packing in packings),
        instructions=sum(copy.unpacking.instructions for copy in placed_copies if copy.unpacking),
    )
