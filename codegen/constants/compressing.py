"""Which linked constants are stored compressed, where they do not fit their pools as they are.

A constant that is stored compressed is decoded into a buffer of the plan in front of the step that reads it,
or in pieces in front of each of its calls (`Split`). Of all ways to get below the limits of the
constant pools the one with the fewest predicted instructions is taken; unless `may_raise`, among those whose
buffers raise the peaks least.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.constants import linking
from codegen.constants.compressible import Option, units
from codegen.constants.constant_pools import smallest_limit
from codegen.constants.knapsack import KnapsackItem, cheapest
from codegen.constants.linking import missing_bytes, size_bytes
from codegen.constants.merging import Piece, merge
from codegen.constants.staging import with_staged
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.call import CStruct, Split
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.shortage import ConstantShortage, DoesNotLink, FlashShortage
from codegen.program.constants import Compression, Unpacking
from codegen.program.program import Program
from codegen.settings import CompressMode


def linked(
    program: Program, mode: CompressMode, *, optimize: str, may_raise: bool, may_grow: bool
) -> Program:
    """`program` with its constants linked, as they are if they fit.

    `may_raise`: the fewest instructions whatever that does to peaks, else the lowest peaks first; `may_grow`:
    peaks may be raised at all. Raises CodegenError as `link` does; DoesNotLink says what compression reaches.
    """
    try:
        return _with_pools(program)
    except DoesNotLink as missed:
        lacking = missed.shortage.shares
    if mode == "off":
        raise _does_not_link(program, program, lacking, {}) from None
    choice = CompressionChoice(program, optimize=optimize, may_grow=may_grow)
    fitting = choice.fitting(may_raise=may_raise)
    if fitting is None:
        raise choice.shortage(lacking) from None
    return fitting


def _with_pools(program: Program) -> Program:
    pools = linking.link(program.steps.prim_funcs, program.constants.candidates)
    return replace(program, constants=replace(program.constants, pools=pools))


def _does_not_link(
    program: Program, smallest: Program, missed: Sequence[ConstantShortage], kept: Mapping[str, int]
) -> DoesNotLink:
    """`smallest`: `program` with everything compressed that may be."""
    pieces, pools = pieces_of(smallest), program.constants.candidates
    smallest_one = smallest_limit(pieces, pools, missed)
    return DoesNotLink(
        FlashShortage(
            shares=tuple(missed),
            smallest=smallest_one and replace(smallest_one, kept=kept),
            lacking_bytes=missing_bytes(pieces, pools),
        )
    )


class CompressionChoice:
    """The ways to compress constants of a program."""

    def __init__(self, program: Program, *, optimize: str, may_grow: bool) -> None:
        """`may_grow`: buffers may raise peaks."""
        self._program = program
        self._pieces = pieces_of(program)
        self._peaks = program.memory.peaks
        compressible = units(program, self._pieces, optimize)
        self._units, self._kept = compressible.units, compressible.kept
        raises = {self._raise(option) for unit in self._units for option in unit.options}
        self._raises = sorted({0, *raises} if may_grow else {0})

    def _raise(self, option: Option) -> int:
        return max(option.end_bytes - self._peaks[option.pool], 0)

    def _options(self, raised_bytes: int) -> list[list[Option]]:
        """Per unit its options that raise no peak by more."""
        return [
            [option for option in unit.options if self._raise(option) <= raised_bytes] for unit in self._units
        ]

    def _most_saved(self, raised_bytes: int) -> int:
        options = self._options(raised_bytes)
        return sum(max((option.saved_bytes for option in unit), default=0) for unit in options)

    def options(self, *, may_raise: bool) -> list[list[Option]]:
        """Per unit its options, those that raise no peak unless `may_raise`."""
        return self._options(self._raises[-1] if may_raise else 0)

    def fitting(self, *, may_raise: bool) -> Program | None:
        """The program with the cheapest choice that fits; None if none does."""
        need = missing_bytes(self._pieces, self._program.constants.candidates)
        while True:
            raised = self._raised(need, may_raise=may_raise)
            options = self._options(raised)
            chosen = cheapest(
                [
                    [KnapsackItem(saved=option.saved_bytes, cost=option.instructions) for option in unit]
                    for unit in options
                ],
                need,
            )
            if chosen is None:
                return self._most_compressed()
            taken = [unit[item] for unit, item in zip(options, chosen.items, strict=True) if item is not None]
            attempt = self._with(taken)
            left = missing_bytes(pieces_of(attempt), attempt.constants.candidates)
            if not left:
                return self._linked(attempt, chosen.cost, chosen.bound, raised)
            # Padding, or pieces that do not fit side by side. This choice would be the cheapest again up to
            # what it saves.
            need = max(need + left, 1 + sum(option.saved_bytes for option in taken))

    def _most_compressed(self) -> Program | None:
        """The program with everything compressed that gains, where that fits: `shortage` promises it."""
        most = self._most()
        compressed_program = self._with(most)
        if missing_bytes(pieces_of(compressed_program), compressed_program.constants.candidates):
            return None
        cost = sum(option.instructions for option in most)
        return self._linked(compressed_program, cost, cost, self._raises[-1])

    def _linked(self, program: Program, cost: int, bound: int, raised: int) -> Program:
        summary = Compression(
            original_bytes=size_bytes(self._pieces),
            least_bytes=size_bytes(pieces_of(self._with(self._most()))),
            instructions=cost,
            instructions_bound=bound,
            raised_bytes=raised,
        )
        program = _with_pools(program)
        return replace(program, constants=replace(program.constants, compression=summary))

    def _raised(self, need: int, *, may_raise: bool) -> int:
        """By how much a peak may rise: as little as saves `need`, or all there is."""
        if may_raise:
            return self._raises[-1]
        place = bisect_left(self._raises, need, key=self._most_saved)
        return self._raises[min(place, len(self._raises) - 1)]

    def shortage(self, missed: Sequence[ConstantShortage]) -> DoesNotLink:
        """`missed`, with what would do if everything is compressed that gains and finds room."""
        return _does_not_link(self._program, self._with(self._most()), missed, self._kept)

    def least_bytes(self) -> Mapping[str, int]:
        """By step the bytes of its constants if everything is compressed that gains."""
        bytes_of_step: dict[str, int] = {}
        for prim in self._with(self._most()).steps.prim_funcs:
            for constant in prim.constants:
                owner = (*constant.steps, prim.name)[0]
                bytes_of_step[owner] = bytes_of_step.get(owner, 0) + constant.data.nbytes
        return bytes_of_step

    def _most(self) -> list[Option]:
        options = self._options(self._raises[-1])
        return [
            min(unit, key=lambda option: (-option.saved_bytes, option.instructions))
            for unit in options
            if unit
        ]

    def _with(self, options: Sequence[Option]) -> Program:
        """The program with these, before linking."""
        program = self._program
        staged = tuple(copy for option in options for copy in option.staged)
        stored = {
            user: member.stored(packing)
            for option in options
            for member, packing in option.packings
            for user in member.users
        }
        decoded = {copy.user: copy.unpacking for copy in staged if copy.unpacking}
        prims = tuple(compressed(prim, stored, decoded) for prim in program.steps.prim_funcs)
        return replace(
            program,
            steps=replace(program.steps, prim_funcs=prims),
            memory=with_staged(program.memory, staged, program.steps.times),
            constants=replace(program.constants, staged=staged),
        )


def pieces_of(program: Program) -> list[Piece]:
    """The constants of `program`, each once. Raises CodegenError E404 as `merge` does."""
    owned = ((prim.name, constant) for prim in program.steps.prim_funcs for constant in prim.constants)
    return merge(owned, program.constants.candidates)


def compressed(
    prim: PrimFunc,
    stored: Mapping[tuple[str, str], np.ndarray],
    decoded: Mapping[tuple[str, str], Unpacking],
) -> PrimFunc:
    """`prim` with what is stored of its constants; where one comes in pieces, with calls for a piece each."""
    mine = {role: unpacking for (name, role), unpacking in decoded.items() if name == prim.name}
    if not mine:
        return prim
    constants = tuple(
        replace(constant, data=stored[prim.name, constant.role], alignment=1, reads=1.0)
        if constant.role in mine
        else constant
        for constant in prim.constants
    )
    calls = max(len(unpacking.packing.piece_bytes) for unpacking in mine.values())
    more = sum(unpacking.instructions for unpacking in mine.values())
    return replace(
        prim,
        constants=constants,
        structs=tuple(_of_a_group(struct, prim.split, calls) for struct in prim.structs),
        instructions=None if prim.instructions is None else prim.instructions + more,
        measured_instructions=estimated_work(prim) + more,
        cycles=None if prim.cycles is None else prim.cycles + more,
    )


def _of_a_group(struct: CStruct, split: Split | None, calls: int) -> CStruct:
    """Parameters of one of `calls` calls."""
    if split is None or calls == 1 or struct.suffix != split.struct:
        return struct
    fields = tuple(
        (name, split.outputs // calls if name == split.field else value) for name, value in struct.fields
    )
    return replace(struct, fields=fields)
