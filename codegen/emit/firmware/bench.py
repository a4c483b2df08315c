"""Facts that the test link is told of a model (<model>_bench.c, see cg_bench.h)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.emit.c.c_tables import byte_rows
from codegen.emit.c.c_text import quoted
from codegen.emit.c.spelling import base_macro, c_name, pool_array, pool_macro
from codegen.emit.firmware.folder_files import GUARD_BYTES
from codegen.emit.values.locations import CallerBytes, Places, PoolBytes, TensorView, io_views, used_pools
from codegen.ir import Runner, Var
from codegen.ir.numbers import varies
from codegen.problem.problem import Buffer, alive_by_step
from codegen.program.interface import IoTensor
from codegen.program.program import Program
from codegen.targets.families import isolates_buffers

EDGE = 0xFFFF
"""In place of a step: where inputs are copied into pools, and outputs out of them (CG_BENCH_EDGE)."""

Cells = tuple[str, ...]
"""A row of a table: initialisers of the members of its struct."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchPool:
    """A pool as the test firmware has it."""

    array: str
    size_macro: str
    field: str
    """In the struct that hands pools over."""
    start: str
    """First byte of the program in it."""
    cells: Cells


@dataclass(frozen=True, kw_only=True, slots=True)
class MovingRows:
    """Rows of a table of ranges that lie elsewhere, or are larger, at other sizes."""

    name: str
    table: str
    cells: tuple[Cells, ...]
    rows: tuple[tuple[int, str, str], ...]
    """(row, offset, bytes), as expressions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SizedRows:
    """Rows of the bench's tables that depend on the sizes of a call."""

    results: tuple[tuple[int, str, str], ...]
    """(step, address, bytes) of results that lie elsewhere, or are larger, at other sizes."""
    moving: tuple[MovingRows, ...]
    """Tables of live or touched bytes with such rows."""
    declarations: tuple[str, ...]
    """Declarations of the sizes that these name."""
    tables: tuple[str, ...]
    """Tables that formulas of these read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchView:
    """Fields of bench.c.j2."""

    name: str
    sha256: tuple[str, ...]
    input_tensors: tuple[TensorView, ...]
    output_tensors: tuple[TensorView, ...]
    """With state, which the header keeps from the application: a run sets it, and says what became of it."""
    buffers: tuple[TensorView, ...]
    """Buffers that the test firmware owns, as a caller would."""
    pools: tuple[BenchPool, ...]
    inputs: tuple[Cells, ...]
    outputs: tuple[Cells, ...]
    steps: tuple[Cells, ...]
    sized: SizedRows
    live: tuple[Cells, ...]
    touched: tuple[Cells, ...]


def bench_view(program: Program, places: Places) -> BenchView:
    """The view of one program; raises ValueError if its metadata lack the model's sha256."""
    digest = bytes.fromhex(program.metadata["sha256"])
    if len(digest) != 32:
        raise ValueError(f"{program.name}: sha256 has {len(digest)} bytes")
    inputs, outputs = io_views(program, places)
    signature = program.signature
    lasting = [tensor for pair in signature.state_tensors for tensor in pair]
    sized, sizes = tuple(_sized(program, places)), places.sizes
    owners = {"live": _alive(program), "touched": _touched(program)}
    moving = tuple(_moving(program, places, owners))
    tables = {name: tuple(_ranges(program, places, buffers)) for name, buffers in owners.items()}
    tables |= {table.name: table.cells for table in moving}
    rows = (*sized, *(row for table in moving for row in table.rows))
    named = [text for _, *texts in rows for text in texts]
    declared = () if sizes is None else tuple(sizes.declarations(named))
    return BenchView(
        name=program.name,
        sha256=byte_rows(digest),
        input_tensors=tuple(inputs),
        output_tensors=tuple(outputs),
        buffers=tuple(
            view
            for view, tensor in zip((*inputs, *outputs), (*signature.inputs, *signature.outputs), strict=True)
            if not view.place.pointer or (program.ranges and tensor not in lasting)
        ),
        pools=tuple(_pools(program, places)),
        inputs=(
            *(_tensor(places, t, view) for t, view in zip(program.signature.inputs, inputs, strict=True)),
            *_dims(program),
        ),
        outputs=tuple(
            _tensor(places, t, view) for t, view in zip(program.signature.outputs, outputs, strict=True)
        ),
        steps=tuple(_step(places, program, index) for index in range(len(program.steps.prim_funcs))),
        sized=SizedRows(
            results=sized,
            moving=moving,
            declarations=declared,
            tables=() if sizes is None else sizes.tables_in([*named, *declared]),
        ),
        live=tables["live"],
        touched=tables["touched"],
    )


def _pools(program: Program, places: Places) -> Iterator[BenchPool]:
    for pool in used_pools(program):
        array, size = pool_array(places.bundle, pool.name), pool_macro(program.name, pool.name)
        base = base_macro(program.name, pool.name)
        start = array if places.bundle.is_single else f"&{array}[{base}]"
        yield BenchPool(
            array=array,
            size_macro=size,
            field=c_name(pool.name),
            start=start,
            cells=(quoted(pool.name), start, size, f"{pool.peak_bytes}u", f"{GUARD_BYTES}u"),
        )


def _tensor(places: Places, tensor: IoTensor, view: TensorView) -> Cells:
    # New state is in the place of the old one when a call is over; that place is the same at all sizes.
    olds = {new.value: old.value for old, new in places.program.signature.state_tensors}
    is_state = tensor.value in {*olds, *olds.values()}
    moves = places.sizes is not None
    place = places.value(olds.get(tensor.value, tensor.value) if moves else tensor.value)
    if isinstance(place, PoolBytes) and (is_state or not moves):
        data = places.byte_address(place)
    else:
        data = f"{view.kind}_{view.field}"
    # The header has no macros of state.
    public = tensor in (
        places.program.signature.written_inputs
        if view.kind == "input"
        else places.program.signature.read_outputs
    )
    return quoted(view.field), data, f"{view.macro}_SIZE" if public else f"{tensor.type.size_bytes}u"


def _dims(program: Program) -> Iterator[Cells]:
    """Sizes of a call, which the host says like one more input."""
    if program.ranges is not None:
        yield quoted("dims"), "bench_dims", f"{4 * len(program.ranges.symbols)}u"


def _step(places: Places, program: Program, index: int) -> Cells:
    """Place and bytes of a step's result; a view has none of its own."""
    prim = program.steps.prim_funcs[index]
    if prim.view is not None:
        return quoted(prim.name), "NULL", "0u"
    place = places.value(prim.let.var.name)
    data = "NULL" if place.moves else _address(places, place)
    return quoted(prim.name), data, f"{prim.let.var.type.size_bytes}u"


def _address(places: Places, place: PoolBytes | CallerBytes) -> str:
    """Address of a value; the caller's tensors are the test firmware's own."""
    if isinstance(place, PoolBytes):
        return places.byte_address(place)
    if place.at is not None and places.sizes is not None:
        return f"&output_{place.field}[{places.sizes.spelled(place.at)}]"
    return f"output_{place.field}"


def _sized(program: Program, places: Places) -> Iterator[tuple[int, str, str]]:
    for index, prim in enumerate(program.steps.prim_funcs):
        if prim.view is None and places.sizes is not None:
            var = prim.let.var
            place, size = places.value(var.name), places.sizes.size_bytes(var.type)
            if place.moves or not size.isdigit():
                yield index, _address(places, place), size


def _alive(program: Program) -> list[list[Buffer]]:
    """Buffers alive in any sub-step of each step."""
    return alive_by_step(program.memory.problem.buffers, program.steps.times)


def _touched(program: Program) -> list[list[Buffer]]:
    """Buffers alive in each step that hold an argument, its result, a workspace, or live only in it."""
    touched: list[list[Buffer]] = []
    steps = zip(program.steps.prim_funcs, program.steps.times, _alive(program), strict=True)
    for step, (prim, (start, stop), alive) in enumerate(steps):
        values = [prim.let.var, *(arg for arg in prim.let.call.args if isinstance(arg, Var))]
        slices = [program.memory.slices[var.name] for var in values if var.name in program.memory.slices]
        used = {part.buffer for part in slices}
        used |= {program.memory.workspaces[prim.name, space.name] for space in prim.workspaces}
        used |= {copy.buffer for copy in program.constants.staged if step in (copy.copied_at, copy.used_at)}
        if step == len(program.steps.prim_funcs) - 1:
            used |= {
                program.memory.slices[tensor.value].buffer
                for pair in program.copied_states
                for tensor in pair
            } | _copied(program)
        touched.append([b for b in alive if b.id in used or (start <= b.start and b.stop <= stop)])
    return touched


def _is_moving(program: Program, table: str) -> bool:
    """True if a table of ranges depends on the sizes of each call: where somebody reads it.
    The sanitizers of the host read who is alive, an MPU what a step may use.
    """
    board = program.board
    read = board.runner is Runner.HOST if table == "live" else isolates_buffers(board)
    return program.ranges is not None and read


def _rows(program: Program, buffers: Sequence[Sequence[Buffer]]) -> Iterator[tuple[int, int, list[Buffer]]]:
    """(step, pool, buffers) of each step with code."""
    places, pools, silent = program.memory.plan.placements, used_pools(program), program.silent_steps
    for step, owners in enumerate(buffers):
        if step not in silent:
            for index, pool in enumerate(pools):
                yield step, index, [b for b in owners if places[b.id].pool == pool.name]


def _ranges(program: Program, places: Places, buffers: Sequence[Sequence[Buffer]]) -> Iterator[Cells]:
    """(step, pool, offset, bytes) of the buffers of each step with code; touching ranges merged."""
    for step, pool, here in _rows(program, buffers):
        for offset, end in _merged(places, here):
            yield f"{step}u", f"{pool}u", f"{offset}u", f"{end - offset}u"


def _moving_rows(program: Program, buffers: Sequence[Sequence[Buffer]]) -> list[tuple[int, int, Buffer]]:
    """(step, pool, buffer), each by itself: at some sizes only two touch. With the edge, behind all steps."""
    rows = [(step, pool, b) for step, pool, here in _rows(program, buffers) for b in here]
    names, copied = [pool.name for pool in used_pools(program)], _copied(program)
    for buffer in program.memory.problem.buffers:
        if buffer.id in copied:
            pool = program.memory.plan.placements[buffer.id].pool
            rows.append((EDGE, names.index(pool), buffer))
    return rows


def _copied(program: Program) -> frozenset[str]:
    """Buffers of inputs and outputs that a call copies: with sizes nobody knows before it where they lie."""
    if program.ranges is None:
        return frozenset()
    tensors = (*program.signature.inputs, *program.signature.outputs)
    slices = program.memory.slices
    return frozenset(slices[tensor.value].buffer for tensor in tensors if tensor.value in slices)


def _moving(
    program: Program, places: Places, owners: Mapping[str, Sequence[Sequence[Buffer]]]
) -> Iterator[MovingRows]:
    """The tables with rows of their own for each buffer, and what the sizes of a call make of these."""
    ranges, sizes = program.ranges, places.sizes
    for table, buffers in owners.items():
        if ranges is None or sizes is None or not _is_moving(program, table):
            continue
        cells: list[Cells] = []
        sized: list[tuple[int, str, str]] = []
        for row, (step, pool, buffer) in enumerate(_moving_rows(program, buffers)):
            start = places.placement(buffer.id).offset
            cells.append((f"{step}u", f"{pool}u", f"{start}u", f"{buffer.size_bytes}u"))
            offset, size = ranges.buffers[buffer.id]
            if varies(offset) or varies(size):
                sized.append((row, sizes.spelled(offset), sizes.spelled(size)))
        yield MovingRows(name=table, table=f"bench_{table}", cells=tuple(cells), rows=tuple(sized))


def _merged(places: Places, buffers: Iterable[Buffer]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    starts = [(range_.offset, range_.size_bytes) for range_ in map(places.bytes_of, buffers)]
    for offset, size in sorted(starts):
        if ranges and offset <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], offset + size))
        else:
            ranges.append((offset, offset + size))
    return ranges
