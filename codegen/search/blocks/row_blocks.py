"""Rewrites runs of consecutive steps to one step each: FUSED, bound as a block that goes row by row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codegen.ir import Call, Function, Let, Source, Var
from codegen.ir.ops.inserted import FUSED, FusedAttrs, constants_of
from codegen.kernels.fused import bind_fused, can_fuse, fused_arguments, layout, outside
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import WHOLE, Grid
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.costs import cost
from codegen.search.kernels.selection import with_shared_code


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """Steps [start, stop) run as one block, its result cut by `grid`.

    `streamed` names the argument that is delivered row by row instead of lying in memory.
    """

    start: int
    stop: int
    grid: Grid = WHOLE
    streamed: str | None = None


def row_steps(
    prim_funcs: Sequence[PrimFunc], binder: Binder, flash_worth: int = 0
) -> tuple[PrimFunc | None, ...]:
    """Per step the kernel that a block can run, selected among all there are, None where there is none."""
    candidates = [_row_candidates(prim, binder) for prim in prim_funcs]
    chosen = iter(with_shared_code([rows for rows in candidates if rows], flash_worth))
    return tuple(
        replace(next(chosen), let=prim.let) if rows else None
        for prim, rows in zip(prim_funcs, candidates, strict=True)
    )


def row_choices(prim_funcs: Sequence[PrimFunc], binder: Binder) -> list[tuple[PrimFunc | None, ...]]:
    """Rows of `prim_funcs` as blocks may run them, from the fewest instructions to the fewest bytes.

    Some pay with instructions for each byte that a kernel works in or keeps for several rows a turn. The
    others take a row a turn and limit what a kernel works in: steps of a block share these bytes.
    """
    able = [_row_candidates(prim, binder, every=True, turns=True) for prim in prim_funcs]
    choices = [_cheapest_rows(prim_funcs, able, price) for price in _BYTE_PRICES]
    able = [[row for row in rows if _goes_by_rows(row)] for rows in able]
    sizes = sorted({_row_bytes(row) for rows in able for row in rows}, reverse=True)
    kept = sizes[:: max(-(-len(sizes) // _WORKSPACES), 1)] + sizes[-1:]
    choices += [_cheapest_rows(prim_funcs, able, 0, within_bytes=size) for size in kept]
    return list({tuple(row and row.kernel for row in rows): rows for rows in choices}.values())


_BYTE_PRICES = 0, 16, 256
"""Instructions that a byte is worth where rows of several a turn are chosen."""
_WORKSPACES = 6
"""Limits of what kernels work in that are tried."""


def _cheapest_rows(
    prim_funcs: Sequence[PrimFunc],
    able: Sequence[Sequence[PrimFunc]],
    byte_price: int,
    *,
    within_bytes: int | None = None,
) -> tuple[PrimFunc | None, ...]:
    """Per step its cheapest row kernel, bytes beyond `within_bytes` first; None where there is none."""

    def price(row: PrimFunc) -> tuple[int, float]:
        over_bytes = 0 if within_bytes is None else max(_row_bytes(row), within_bytes)
        return over_bytes, cost(row, 0) + byte_price * (_row_bytes(row) + _turn_bytes(row))

    return tuple(
        replace(min(rows, key=price), let=prim.let) if rows else None
        for prim, rows in zip(prim_funcs, able, strict=True)
    )


def _turn_bytes(row: PrimFunc) -> int:
    """Bytes of the rows beyond the first that a kernel reads and writes a turn."""
    more = row.rows.turn_rows - 1 if row.rows else 0
    variables = [row.let.var, *(arg for arg in row.let.call.args if isinstance(arg, Var))]
    return more * sum(var.type.size_bytes // var.type.shape[1] for var in variables) if more else 0


def _row_bytes(prim: PrimFunc) -> int:
    space = prim.rows.workspace if prim.rows else None
    return space.size_bytes if space else 0


def _row_candidates(
    prim: PrimFunc, binder: Binder, *, every: bool = False, turns: bool = False
) -> list[PrimFunc]:
    """Kernels that a block can run a row at a time; the step's own alone if it is one, unless `every` one is
    asked for. `turns`: those of several rows at a time, too."""
    if _goes_by_rows(prim) and not every:
        return [prim]
    if prim.memory or not prim.device.is_free:
        return []
    able = [*binder.able(prim.let), *binder.able(prim.let, in_place=True)]
    bound = [binder.bind(kernel, prim.let, prim.name) for kernel in able]
    return [other for other in bound if _goes_by_rows(other) or (turns and can_fuse(other))]


def _goes_by_rows(prim: PrimFunc) -> bool:
    """True if a block can run it a row at a time, as blocks are chosen. Kernels of several rows a turn come
    in where a plan has blocks (`search.memory.wider_turns`)."""
    return can_fuse(prim) and prim.rows is not None and prim.rows.turn_rows == 1


class BlockRuns:
    """Which runs of steps may become a block: no inner value is used outside or has a device (only its last
    rows would lie there), no last one of several is on another core than the first, and every step leads to
    the last one. A single step is one too: it is of use where its argument is streamed."""

    def __init__(self, function: Function, steps: Sequence[PrimFunc | None]) -> None:
        """`steps` from `row_steps`."""
        self._body, self._steps = function.body, steps
        uses = function.uses()
        self._last_use = [max(uses[let.var.name], default=-1) for let in function.body]

    def __len__(self) -> int:
        """Number of steps of the function."""
        return len(self._steps)

    def starts(self, stop: int) -> Iterator[int]:
        """First steps of the runs that end in front of step `stop`, those of short runs first."""
        if self._steps[stop - 1] is None:
            return
        yield stop - 1
        if self._body[stop - 1].var.device.device_id:
            return
        for start in range(stop - 2, -1, -1):
            # Its value would be an inner one: read in the run and nowhere else, without a memory of its own.
            is_read_inside = 0 <= self._last_use[start] < stop
            if self._steps[start] is None or not is_read_inside or not self._body[start].var.device.is_free:
                return
            yield start


def apply(
    function: Function,
    prim_funcs: Sequence[PrimFunc],
    steps: Sequence[PrimFunc | None],
    chosen: Sequence[Segment],
) -> tuple[Function, tuple[PrimFunc, ...]]:
    """`function` and its PrimFuncs, every chosen segment (disjoint) one step; `steps` from `row_steps`."""
    starts = {segment.start: segment for segment in chosen}
    prims: list[PrimFunc] = []
    index = 0
    while index < len(prim_funcs):
        segment = starts.get(index)
        if segment is None:
            prims.append(prim_funcs[index])
            index += 1
        else:
            prims.append(_fuse(function, steps, segment))
            index = segment.stop
    return replace(function, body=tuple(prim.let for prim in prims)), tuple(prims)


def _fuse(function: Function, steps: Sequence[PrimFunc | None], segment: Segment) -> PrimFunc:
    chosen = steps[segment.start : segment.stop]
    inner = [step for step in chosen if step is not None]
    if len(inner) != len(chosen):
        raise ValueError(f"{function.name}: a step of the block has no row kernel")
    planned = layout(inner, segment.grid, segment.streamed)
    lets = tuple(prim.let for prim in inner)
    body = Function(
        name=f"{function.name}_{lets[-1].var.name}",
        params=outside(inner),
        body=lets,
        results=(lets[-1].var,),
    )
    arguments = fused_arguments(inner, constants_of(body))
    call = Call(op=FUSED, args=arguments, attrs=FusedAttrs(function=body))
    let = replace(lets[-1], call=call, source=_source(lets))
    return bind_fused(let, inner, planned, segment.streamed)


def _source(lets: Sequence[Let]) -> Source | None:
    """The last step's, saying from where on the block reaches."""
    first, last = lets[0].source, lets[-1].source
    if first is None or last is None:
        return last
    return replace(last, op_name=f"{FUSED.name} from op {first.op_index}")
