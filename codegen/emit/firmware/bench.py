"""What the test link is told of a model (<model>_bench.c, see cg_bench.h)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codegen.emit.c.c_text import call_assignment, declaration, quoted, wrapped
from codegen.emit.c.program_names import base_macro, c_name, pool_array, pool_macro
from codegen.emit.firmware.board_files import GUARD_BYTES
from codegen.emit.interface.header import HeaderView
from codegen.emit.values.constants import byte_rows
from codegen.emit.values.io_tensors import TensorView, io_views
from codegen.emit.values.locations import Places, PoolBytes, used_pools
from codegen.emit.values.ownership import ImageView
from codegen.emit.values.state import reset_function
from codegen.ir import Var
from codegen.program.interface import IoMode, IoTensor
from codegen.program.problem import Buffer
from codegen.program.program import Program


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchView:
    """Initialisers of the tables."""

    name: str
    sha256: tuple[str, ...]
    statics: tuple[str, ...]
    """Buffers of a caller, where the caller owns inputs and outputs."""
    structs: tuple[str, ...]
    """The caller's structs, empty where inputs and outputs live in the pools."""
    image: str
    """Declaration of the image of constants, as linked into the test firmware."""
    take: str
    """The statement that hands it over."""
    arrays: tuple[str, ...]
    """Declarations of the pools that the test firmware owns in the application's place."""
    handed: tuple[str, ...]
    """Members of the struct that hands them over."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    pools: tuple[str, ...]
    steps: tuple[str, ...]
    live: tuple[str, ...]
    live_count: int
    touched: tuple[str, ...]
    reset: tuple[str, ...]
    """Statements that set the state to zero; empty where there is none."""


def bench_view(
    program: Program, places: Places, header: HeaderView, image: ImageView | None = None
) -> BenchView:
    """The view of one program; raises ValueError if its metadata lack the model's sha256."""
    digest = bytes.fromhex(program.metadata["sha256"])
    if len(digest) != 32:
        raise ValueError(f"{program.name}: sha256 has {len(digest)} bytes")
    # State too, which the header keeps from the application: a run sets it, and says what became of it.
    input_views, output_views = io_views(program, places)
    sides = (("input", program.inputs, input_views), ("output", program.outputs, output_views))
    in_statics, out_statics = (
        [_static(kind, view) for t, view in zip(tensors, views, strict=True) if not _in_pool(places, t)]
        for kind, tensors, views in sides
    )
    inputs, outputs = (
        tuple(_tensor(places, kind, t, view) for t, view in zip(tensors, views, strict=True))
        for kind, tensors, views in sides
    )
    live = _rows(_ranges(program, places, _alive(program)))
    return BenchView(
        name=program.name,
        sha256=byte_rows(digest),
        statics=(*in_statics, *out_statics),
        structs=()
        if program.io is IoMode.POOL
        else tuple(_struct(program.name, kind, views) for kind, _, views in sides),
        image=declaration(f"extern const uint8_t {image.object}[{image.size_macro}];") if image else "",
        take=_take(program, image) if image else "",
        arrays=tuple(
            declaration(
                f"extern uint8_t {pool_array(places.bundle, p.name)}[{pool_macro(program.name, p.name)}];"
            )
            for p in used_pools(program)
            if program.interface.caller_pools
        ),
        handed=tuple(line for p in used_pools(program) for line in _handed(places, p.name)),
        inputs=inputs,
        outputs=outputs,
        pools=tuple(
            f"    {{{quoted(p.name)}, {_pool_start(places, p.name)}, {pool_macro(program.name, p.name)}, "
            f"{p.peak_bytes}u, {GUARD_BYTES}u}},"
            for p in used_pools(program)
        ),
        steps=tuple(_step(places, program, index) for index in range(len(program.prim_funcs))),
        live=live,
        live_count=len(live),
        touched=_rows(_ranges(program, places, _touched(program))),
        reset=_reset(program),
    )


def _reset(program: Program) -> tuple[str, ...]:
    function = reset_function(program)
    if not program.states:
        return ()
    if program.interface.caller_pools:
        return (f"    return {function}(&pools);",)
    return (f"    {function}();", "    return CG_OK;")


def _take(program: Program, image: ImageView) -> str:
    pools = ["&pools"] if program.interface.caller_pools else []
    function = f"{program.name}_set_constants"
    arguments = [*pools, image.object, image.size_macro]
    return call_assignment("        const cg_status found", function, arguments)


def _handed(places: Places, pool: str) -> tuple[str, str]:
    field, size = c_name(pool), pool_macro(places.program.name, pool)
    return f"    .{field} = {_pool_start(places, pool)},", f"    .{field}_size_bytes = {size},"


def _pool_start(places: Places, pool: str) -> str:
    """First byte of the program in a pool."""
    array = pool_array(places.bundle, pool)
    return array if places.bundle.is_single else f"&{array}[{base_macro(places.program.name, pool)}]"


def _struct(name: str, kind: str, views: Sequence[TensorView]) -> str:
    fields = [
        ".context = NULL" if view.is_streamed else f".{view.field} = {kind}_{view.field}" for view in views
    ]
    return wrapped(f"    const {name}_{kind}s {kind}s = {{", fields, "};")


def _in_pool(places: Places, tensor: IoTensor) -> bool:
    return isinstance(places.value(tensor.value), PoolBytes)


def _static(kind: str, view: TensorView) -> str:
    return declaration(f"static {view.c_type} {kind}_{view.field}[{view.macro}_ELEMENTS];")


def _tensor(places: Places, kind: str, tensor: IoTensor, view: TensorView) -> str:
    place = places.value(tensor.value)
    data = places.byte_address(place) if isinstance(place, PoolBytes) else f"{kind}_{view.field}"
    # The header has no macros of state.
    public = tensor in (places.program.given if kind == "input" else places.program.wanted)
    size = f"{view.macro}_SIZE" if public else f"{tensor.type.size_bytes}u"
    return f"    {{{quoted(view.field)}, {data}, {size}}},"


def _step(places: Places, program: Program, index: int) -> str:
    """Where a step's result lies; a view has none of its own."""
    prim = program.prim_funcs[index]
    size = prim.let.var.type.size_bytes
    if prim.view is not None:
        return f"    {{{quoted(prim.name)}, NULL, 0u}},"
    place = places.value(prim.let.var.name)
    data = places.byte_address(place) if isinstance(place, PoolBytes) else f"output_{place.field}"
    return f"    {{{quoted(prim.name)}, {data}, {size}u}},"


def _alive(program: Program) -> list[list[Buffer]]:
    """Of each step, the buffers alive in any of its sub-steps."""
    buffers = [buffer for buffer in program.problem.buffers if buffer.size_bytes]
    return [[b for b in buffers if b.start < stop and b.stop > start] for start, stop in program.times]


def _touched(program: Program) -> list[list[Buffer]]:
    """Of each step, those alive that hold an argument, its result, a workspace, or live only in it."""
    found: list[list[Buffer]] = []
    steps = zip(program.prim_funcs, program.times, _alive(program), strict=True)
    for step, (prim, (start, stop), alive) in enumerate(steps):
        values = [prim.let.var, *(arg for arg in prim.let.call.args if isinstance(arg, Var))]
        slices = [program.slices[var.name] for var in values if var.name in program.slices]
        used = {part.buffer for part in slices}
        used |= {program.workspaces[prim.name, space.name] for space in prim.workspaces}
        used |= {copy.buffer for copy in program.staged if step in (copy.copied_at, copy.used_at)}
        if step == len(program.prim_funcs) - 1:
            used |= {program.slices[each.value].buffer for pair in program.state_tensors for each in pair}
        found.append([b for b in alive if b.id in used or (start <= b.start and b.stop <= stop)])
    return found


def _rows(ranges: Iterable[tuple[int, int, int, int]]) -> tuple[str, ...]:
    return tuple(f"    {{{step}u, {pool}u, {offset}u, {size}u}}," for step, pool, offset, size in ranges)


def _ranges(
    program: Program, places: Places, buffers: Sequence[Sequence[Buffer]]
) -> Iterable[tuple[int, int, int, int]]:
    """(step, pool, offset, bytes) of the buffers of each step with code; touching ranges merged."""
    pools, silent = [pool.name for pool in used_pools(program)], program.silent_steps
    for step, owners in enumerate(buffers):
        if step in silent:
            continue
        for index, pool in enumerate(pools):
            here = [b for b in owners if places.placement(b.id).pool == pool]
            for offset, end in _merged(places, here):
                yield step, index, offset, end - offset


def _merged(places: Places, buffers: Iterable[Buffer]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    starts = [(places.placement(buffer.id).offset, buffer.size_bytes) for buffer in buffers]
    for offset, size in sorted(starts):
        if ranges and offset <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], offset + size))
        else:
            ranges.append((offset, offset + size))
    return ranges
