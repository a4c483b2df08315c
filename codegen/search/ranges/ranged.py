"""One program for all sizes of a range: formulas where its members differ.

A member is the program at certain sizes. Each is a whole program that all checkers look at; the formulas are
found from the members and give, for every one of them, the numbers that it has.
"""

from collections.abc import Callable, Sequence

import numpy as np

from codegen.ir.formulas import EVERY, is_small
from codegen.ir.ranged import NamedSizes, merged
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.place.planners import Planner
from codegen.program.program import Program
from codegen.program.size_ranges import Ranges, turns
from codegen.progress import Progress
from codegen.search.ranges.buffer_order import least_distances, order_of_all
from codegen.search.ranges.late_tables import may_be_late
from codegen.search.ranges.members import Members, check_alike, check_lasting, lasting, program_of
from codegen.search.ranges.narrowing import modules_at
from codegen.search.ranges.offsets import Offsets
from codegen.search.ranges.sizes import LookedAt, Sizes, unlike
from codegen.search.ranges.substitution import Formulas

_MORE = 1000
"""So many turns are looked at besides."""


def ranged(
    program: Program,
    sizes: Sizes,
    looked: LookedAt,
    made: Members,
    planner: Planner,
    check_members: Callable[[Sequence[Program]], None],
) -> Program:
    """`program`, planned at the largest sizes, for all sizes; `looked`: those that its members are made at.

    Raises Unlike where its structure depends on the sizes, ValueError where `check_members` finds one wrong.
    """
    rows = zip(looked.modules, looked.combinations, strict=True)
    members = [made.at(module, values) for module, values in rows]
    for member in members:
        check_lasting(program, member)
        check_alike(members[-1].problem, member.problem)
        _check_constants(members[-1].prim_funcs, member.prim_funcs)
    every = is_small(sizes.symbols)
    functions = [member.function for member in members]
    names = NamedSizes(sizes.symbols, [member.values for member in members], functions, complete=every)
    function = merged(names, functions, sizes.axes)
    order = order_of_all(program.memory.plan, members, planner, lasting(program))
    distances = least_distances(order, members, names)
    programs = [
        program_of(program, member, order, {pair: int(values[i]) for pair, (_, values) in distances.items()})
        for i, member in enumerate(members)
    ]
    check_members(programs)
    offsets = Offsets(programs, order, distances, names)
    return Formulas(program, sizes, members, function, offsets).program()


def turning(
    name: str, sizes: Sizes, looked: LookedAt, ranges: Ranges | None, progress: Progress
) -> LookedAt | None:
    """Sizes to look at, with those where the formulas of `ranges` turn.
    None where that is nothing more, or as many are looked at as of a small range. Of very many turns some
    are left out, evenly.
    """
    if is_small(sizes.symbols) or len(looked.combinations) >= EVERY:
        return None
    known = {tuple(values.values()) for values in looked.combinations}
    more = [values for values in turns(ranges) if tuple(values.values()) not in known] if ranges else []
    if not more:
        return None
    more = more[:: -(-len(more) // _MORE)]
    pairs = [*zip(looked.combinations, looked.modules, strict=True)]
    pairs += modules_at(name, sizes, more, progress)
    pairs.sort(key=lambda pair: tuple(pair[0].values()))
    return LookedAt(combinations=[values for values, _ in pairs], modules=[module for _, module in pairs])


def _check_constants(prims: Sequence[PrimFunc], others: Sequence[PrimFunc]) -> None:
    """Raise Unlike for a constant whose numbers depend on the sizes, and that is no small table."""
    for prim, other in zip(prims, others, strict=True):
        data_of = {constant.role: constant.data for constant in prim.constants}
        for constant in other.constants:
            data = data_of.get(constant.role, constant.data)
            if not np.array_equal(data, constant.data) and not may_be_late(data, constant.data):
                raise unlike(prim, f"{prim.kernel} packs other constants at some sizes")
