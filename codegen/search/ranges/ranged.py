"""One program for all sizes of a range: formulas where its members differ.

A member is the program at certain sizes. Each is a whole program that all checkers look at; the formulas are
found from the members and give, for every one of them, the numbers that it has.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.errors import CodegenError, Message
from codegen.ir import Module
from codegen.ir.formulas import EVERY, OpenSizes, Symbol, combinations, is_small
from codegen.ir.ranged import Axes, NamedSizes, Unlike
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.place.planners import Planner
from codegen.program.program import Program
from codegen.program.size_ranges import Ranges, turns
from codegen.progress import Progress, silent
from codegen.search.kernels.binding import Binder
from codegen.search.ranges.buffer_order import best_order, least_distances
from codegen.search.ranges.late_tables import may_be_late
from codegen.search.ranges.members import Member, check_alike, member, program_of
from codegen.search.ranges.substitution import Formulas
from codegen.search.ranges.unlike import unlike

_OF_SHAPES = {"E305", "E306"}
"""What an importer says of shapes: too large, or not what an operator takes."""

_MORE = 1000
"""So many turns are looked at besides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """What is known of a model's sizes. `module`: the model at any, its symbols' values given; `reference`:
    the same as the file has it."""

    symbols: tuple[Symbol, ...]
    axes: Axes
    module: Callable[[Mapping[str, int]], Module]
    reference: Callable[[Mapping[str, int]], Module]

    @property
    def largest(self) -> Mapping[str, int]:
        """Every symbol at its upper end."""
        return OpenSizes(symbols=self.symbols).largest


@dataclass(frozen=True, kw_only=True, slots=True)
class LookedAt:
    """Combinations of sizes, the largest last, and the module at each."""

    combinations: Sequence[Mapping[str, int]]
    modules: Sequence[Module]

    def turning(
        self, name: str, sizes: Sizes, ranges: Ranges | None, progress: Progress
    ) -> "LookedAt | None":
        """The same and where the formulas of `ranges` turn; None where that is nothing more, or as many are
        looked at as of a small range. Of very many turns some are left out, evenly."""
        if is_small(sizes.symbols) or len(self.combinations) >= EVERY:
            return None
        known = {tuple(each.values()) for each in self.combinations}
        more = [each for each in turns(ranges) if tuple(each.values()) not in known] if ranges else []
        if not more:
            return None
        more = more[:: -(-len(more) // _MORE)]
        pairs = [*zip(self.combinations, self.modules, strict=True)]
        pairs += zip(more, modules_at(name, sizes, more, progress), strict=True)
        pairs.sort(key=lambda pair: tuple(pair[0].values()))
        return LookedAt(combinations=[each for each, _ in pairs], modules=[module for _, module in pairs])


def ranged(
    program: Program,
    sizes: Sizes,
    looked: LookedAt,
    planner: Planner,
    check: Callable[[Program], None],
    progress: Progress,
) -> Program:
    """`program`, planned at the largest sizes, for all sizes; `looked`: those that its members are made at.

    Raises Unlike where its structure depends on the sizes, ValueError where `check` finds a member wrong.
    """
    if program.signature.states:
        raise Unlike("state lasts from one inference to the next, which sizes of a call cannot change")
    members: list[Member] = []
    for module, values in zip(looked.modules, looked.combinations, strict=True):
        data = {id_: constant.data for id_, constant in module.constants.items()}
        members.append(member(program, module, Binder(data, program.board.target), values))
    for each in members:
        check_alike(members[-1].problem, each.problem)
        _check_constants(members[-1].prim_funcs, each.prim_funcs)
    every = is_small(sizes.symbols)
    names = NamedSizes(
        sizes.symbols, [each.values for each in members], [each.function for each in members], complete=every
    )
    given = best_order(program.memory.plan, members, planner)
    least = least_distances(given, members, names)
    programs = [
        program_of(program, each, given, {pair: int(own[i]) for pair, (_, own) in least.items()})
        for i, each in enumerate(members)
    ]
    for index, each in enumerate(programs):
        progress(f"check {program.name} at its sizes", index, len(programs))
        check(each)
    return Formulas(
        program, sizes.symbols, sizes.axes, every, members, programs, given, least, names
    ).program()


def looked_at(name: str, sizes: Sizes, progress: Progress) -> LookedAt:
    """What is looked at first. Raises CodegenError as `modules_at` does."""
    values = combinations(sizes.symbols)
    return LookedAt(combinations=values, modules=modules_at(name, sizes, values, progress))


def largest_module(sizes: Sizes) -> Module:
    """The model at the largest sizes. Raises CodegenError: what shapes forbid as `modules_at` does."""
    try:
        return sizes.reference(sizes.largest)
    except CodegenError as error:
        if {message.code for message in error.messages} <= _OF_SHAPES:
            modules_at("", sizes, combinations(sizes.symbols), silent)
        raise


def modules_at(
    name: str, sizes: Sizes, combinations: Sequence[Mapping[str, int]], progress: Progress
) -> list[Module]:
    """The module at each of `combinations`.

    Raises CodegenError E307 with what an operator says of the first one that it forbids, and what is left.
    """
    found: list[Module] = []
    refused: list[tuple[Mapping[str, int], CodegenError]] = []
    for index, values in enumerate(combinations):
        progress(f"sizes of {name}", index, len(combinations))
        try:
            found.append(sizes.module(values))
        except CodegenError as error:
            refused.append((values, error))
    if not refused:
        return found
    values, error = refused[0]
    [first, *_] = error.messages
    at = ", ".join(f"{symbol}={value}" for symbol, value in values.items())
    barred = [each for each, _ in refused]
    left = [each for each in combinations if each not in barred]
    raise CodegenError(
        Message(
            code="E307",
            where=first.where,
            text=f"{at} is refused: {first.text}",
            help=_left(sizes.symbols, left),
            places=first.places,
        )
    ) from error


def _left(symbols: Sequence[Symbol], left: Sequence[Mapping[str, int]]) -> str:
    """What may be given instead: the range that holds all sizes that nothing forbids."""
    if not left:
        return "no size of the range is possible: look at the model's strides and windows"
    ranges = (
        f"--dim {symbol.name}={min(each[symbol.name] for each in left)}.."
        f"{max(each[symbol.name] for each in left)}"
        for symbol in symbols
    )
    return f"what is possible lies in {' '.join(ranges)}"


def _check_constants(prims: Sequence[PrimFunc], others: Sequence[PrimFunc]) -> None:
    """Raise Unlike for a constant whose numbers depend on the sizes, and that is no small table."""
    for prim, other in zip(prims, others, strict=True):
        own = {constant.role: constant.data for constant in prim.constants}
        for constant in other.constants:
            data = own.get(constant.role, constant.data)
            if not np.array_equal(data, constant.data) and not may_be_late(data, constant.data):
                raise unlike(prim, f"{prim.kernel} packs other constants at some sizes")
