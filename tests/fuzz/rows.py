"""Row kernels as blocks call them: rows of the image come into a ring, results leave row by row, or a few
together."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from codegen.ir import Var
from codegen.kernels.base.window import nhwc
from codegen.kernels.block import RowKernel
from codegen.kernels.call import CallArg, ValueArg, WorkspaceArg
from codegen.kernels.primfunc import PrimFunc

RING = "ring"
"""Name of the buffer that holds rows of the image."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stripe:
    """Columns [start, stop) of the result, and those of the image that they read: [first, end)."""

    start: int
    stop: int
    first: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """A window's row kernel: rows that the ring holds at a time, and the stripes. Both are nothing where it
    goes element by element."""

    kernel: RowKernel
    ring_rows: int = 0
    stripes: tuple[Stripe, ...] = ()


def rows_of(prim: PrimFunc) -> Rows | None:
    """The whole result row by row, from as few rows of the image as will do; wide ones in two stripes.
    None: blocks cannot run it."""
    if prim.rows is None:
        return None
    if prim.rows.window is None:
        return Rows(kernel=prim.rows)
    down, across = prim.rows.window
    half = across.count // 2
    if prim.rows.turn_rows > 1 and half > 1:
        half = across.count - half  # the wider one first: columns behind it are beyond the ring
    spans = [(0, half), (half, across.count)] if half > 1 else [(0, across.count)]
    covered = [(a, b, *across.cover(a, b)) for a, b in spans]
    stripes = [Stripe(start=a, stop=b, first=first, end=end) for a, b, first, end in covered]
    turns = [
        range(y, min(y + prim.rows.turn_rows, down.count)) for y in range(0, down.count, prim.rows.turn_rows)
    ]
    most = max((down.lasts[turn[-1]] - down.firsts[turn[0]] + 1 for turn in turns), default=1)
    return Rows(kernel=prim.rows, ring_rows=max(1, most), stripes=tuple(stripes))


def ring_bytes(prim: PrimFunc, rows: Rows) -> int:
    """Bytes of the ring, as wide as the widest stripe reads."""
    [image] = [arg for arg in prim.let.call.args if isinstance(arg, Var)]
    return rows.ring_rows * _pixel_bytes(image) * max(stripe.end - stripe.first for stripe in rows.stripes)


def _pixel_bytes(var: Var) -> int:
    return nhwc(var.type.shape)[3] * var.type.dtype.size_bytes


def leading(prim: PrimFunc, rows: Rows) -> list[CallArg]:
    """Arguments in front of the images, see `RowKernel`."""
    found: list[CallArg] = []
    for arg in prim.call_args:
        if isinstance(arg, ValueArg):
            break
        if not isinstance(arg, WorkspaceArg):
            found.append(arg)
    if rows.kernel.workspace is not None:
        found.append(WorkspaceArg(name=rows.kernel.workspace.name))
    return found


@dataclass(kw_only=True, slots=True)
class Operands:
    """What a call is given beside its buffers, so that calls that differ in nothing else share a function."""

    pointers: list[str] = field(default_factory=lambda: list[str]())
    numbers: list[int] = field(default_factory=lambda: list[int]())

    def pointer(self, address: str) -> str:
        """`address` (C) as the function gets it."""
        self.pointers.append(address)
        return f"of[{len(self.pointers) - 1}]"

    def number(self, value: int) -> str:
        """`value`, which an int32_t holds, as the function gets it."""
        self.numbers.append(value)
        return f"n[{len(self.numbers) - 1}]"


def window_body(
    prim: PrimFunc, rows: Rows, before: Sequence[str], ring: int, image_at: int, given: Operands
) -> str:
    """Statements that compute the result in buffer 0. `before`: the leading arguments in C, `ring`: number
    of its buffer, `image_at`: where the image lies in the blob; `given` gets the numbers."""
    assert rows.kernel.window is not None
    down, across = rows.kernel.window
    [image] = [arg for arg in prim.let.call.args if isinstance(arg, Var)]
    number = given.number
    pixel, result, width = _pixel_bytes(image), _pixel_bytes(prim.let.var), number(across.count)
    turn_rows = rows.kernel.turn_rows
    place = f"(void *)(at[0] + ((b * {number(down.count)} + y) * {width} + stripe[0]) * {number(result)})"
    if turn_rows > 1:
        first = f"(const int8_t *)at[0] + b * {number(down.count)} * {width} * {number(result)}"
        place = (
            f"&(cg_rows){{{first}, {width} * {number(result)}, {number(down.count)}, 0, {number(result)}}}"
        )
    call = ", ".join([*before, "&rows", place, "y", "stripe[0]", "stripe[1]"])
    edges = [number(edge) for s in rows.stripes for edge in (s.start, s.stop, s.first, s.end)]
    batch, stripes = number(nhwc(image.type.shape)[0]), number(len(rows.stripes))
    extent, columns = number(down.extent), number(across.extent)
    return f"""    const int32_t pixel = {number(pixel)}, ring_rows = {number(rows.ring_rows)};
    for (int32_t i = 0; i < {batch} * {stripes}; i++) {{
        const int32_t b = i / {stripes};
        const int32_t *const stripe = &{edges[0]} + 4 * (i % {stripes});
        const int32_t row_bytes = (stripe[3] - stripe[2]) * pixel;
        const cg_rows rows = {{(const int8_t *)at[{ring}], row_bytes, ring_rows, stripe[2], pixel}};
        int32_t there = 0;
        for (int32_t y = 0; y < {number(down.count)}; y += {number(turn_rows)}) {{
            const int32_t last = (y + {number(turn_rows - 1)}) * {number(down.stride)} + {number(down.reach)};
            for (; (there < {extent}) && (there <= last); there++) {{
                memcpy(at[{ring}] + (there % ring_rows) * row_bytes,
                       fuzz_blob + {number(image_at)}
                           + ((b * {extent} + there) * {columns} + stripe[2]) * pixel,
                       (size_t)row_bytes);
            }}
            {rows.kernel.symbol}({call});
        }}
    }}"""


def elements_body(
    prim: PrimFunc, rows: Rows, before: Sequence[str], places: Sequence[int], given: Operands
) -> str:
    """The same element by element, in two runs; `places`: numbers of the arguments' buffers."""
    count, width = prim.let.var.type.elements, prim.let.var.type.dtype.size_bytes
    calls: list[str] = []
    for start, stop in ((0, count // 2), (count // 2, count)):
        if stop > start:
            images = [f"(void *)(at[{place}] + {given.number(start * width)})" for place in (*places, 0)]
            arguments = [*before, *images, given.number(stop - start)]
            calls.append(f"    {rows.kernel.symbol}({', '.join(arguments)});")
    return "\n".join(calls)
