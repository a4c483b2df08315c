"""What the test link is told of a model (<model>_bench.c, see cg_bench.h)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codegen.emit.c.c_text import quoted
from codegen.emit.c.spelling import base_macro, c_name, pool_array, pool_macro
from codegen.emit.firmware.folder_files import GUARD_BYTES
from codegen.emit.values.locations import CallerBytes, Places, PoolBytes, TensorView, io_views, used_pools
from codegen.emit.values.model_data import byte_rows
from codegen.ir import Var
from codegen.program.interface import IoTensor
from codegen.program.problem import Buffer
from codegen.program.program import Program

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
class BenchView:
    """What bench.c.j2 shows."""

    name: str
    sha256: tuple[str, ...]
    input_tensors: tuple[TensorView, ...]
    output_tensors: tuple[TensorView, ...]
    """With state, which the header keeps from the application: a run sets it, and says what became of it."""
    buffers: tuple[TensorView, ...]
    """Those that the test firmware owns, as a caller would."""
    pools: tuple[BenchPool, ...]
    inputs: tuple[Cells, ...]
    outputs: tuple[Cells, ...]
    steps: tuple[Cells, ...]
    sized: tuple[tuple[int, str, str], ...]
    """(step, address, bytes) of results that lie elsewhere, or are larger, at other sizes."""
    sizes: tuple[str, ...]
    """Declarations of the sizes that these name."""
    tables: tuple[str, ...]
    """Tables that they read."""
    live: tuple[Cells, ...]
    touched: tuple[Cells, ...]


def bench_view(program: Program, places: Places) -> BenchView:
    """The view of one program; raises ValueError if its metadata lack the model's sha256."""
    digest = bytes.fromhex(program.metadata["sha256"])
    if len(digest) != 32:
        raise ValueError(f"{program.name}: sha256 has {len(digest)} bytes")
    inputs, outputs = io_views(program, places)
    sized, sizes = tuple(_sized(program, places)), places.sizes
    named = [text for _, *texts in sized for text in texts]
    declared = () if sizes is None else tuple(sizes.declarations(named))
    return BenchView(
        name=program.name,
        sha256=byte_rows(digest),
        input_tensors=tuple(inputs),
        output_tensors=tuple(outputs),
        buffers=tuple(view for view in (*inputs, *outputs) if not view.pointer or program.ranges),
        pools=tuple(_pools(program, places)),
        inputs=(
            *(_tensor(places, t, view) for t, view in zip(program.signature.inputs, inputs, strict=True)),
            *_dims(program),
        ),
        outputs=tuple(
            _tensor(places, t, view) for t, view in zip(program.signature.outputs, outputs, strict=True)
        ),
        steps=tuple(_step(places, program, index) for index in range(len(program.steps.prim_funcs))),
        sized=sized,
        sizes=declared,
        tables=() if sizes is None else sizes.tables_in([*named, *declared]),
        live=tuple(_ranges(program, places, _alive(program))),
        touched=tuple(_ranges(program, places, _touched(program))),
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
    place = places.value(tensor.value)
    if isinstance(place, PoolBytes) and places.sizes is None:
        data = places.byte_address(place)
    else:
        data = f"{view.kind}_{view.field}"
    # The header has no macros of state.
    public = tensor in (
        places.program.signature.given if view.kind == "input" else places.program.signature.wanted
    )
    return quoted(view.field), data, f"{view.macro}_SIZE" if public else f"{tensor.type.size_bytes}u"


def _dims(program: Program) -> Iterator[Cells]:
    """Sizes of a call, which the host says like one more input."""
    if program.ranges is not None:
        yield quoted("dims"), "bench_dims", f"{4 * len(program.ranges.symbols)}u"


def _step(places: Places, program: Program, index: int) -> Cells:
    """Where a step's result lies; a view has none of its own."""
    prim = program.steps.prim_funcs[index]
    if prim.view is not None:
        return quoted(prim.name), "NULL", "0u"
    place = places.value(prim.let.var.name)
    data = "NULL" if place.at is not None else _address(places, place)
    return quoted(prim.name), data, f"{prim.let.var.type.size_bytes}u"


def _address(places: Places, place: PoolBytes | CallerBytes) -> str:
    """Where a value begins; the caller's tensors are the test firmware's own."""
    if isinstance(place, PoolBytes):
        return places.byte_address(place)
    if place.at is not None and places.sizes is not None:
        return f"&output_{place.field}[{places.sizes.spelled(place.at)}]"
    return f"output_{place.field}"


def _sized(program: Program, places: Places) -> Iterator[tuple[int, str, str]]:
    for index, prim in enumerate(program.steps.prim_funcs):
        if prim.view is None and places.sizes is not None:
            var = prim.let.var
            place, size = places.value(var.name), places.sizes.product(var.name, var.type.dtype.size_bytes)
            if place.at is not None or not size.isdigit():
                yield index, _address(places, place), size


def _alive(program: Program) -> list[list[Buffer]]:
    """Of each step, the buffers alive in any of its sub-steps."""
    buffers = [buffer for buffer in program.memory.problem.buffers if buffer.size_bytes]
    return [[b for b in buffers if b.start < stop and b.stop > start] for start, stop in program.steps.times]


def _touched(program: Program) -> list[list[Buffer]]:
    """Of each step, those alive that hold an argument, its result, a workspace, or live only in it."""
    found: list[list[Buffer]] = []
    steps = zip(program.steps.prim_funcs, program.steps.times, _alive(program), strict=True)
    for step, (prim, (start, stop), alive) in enumerate(steps):
        values = [prim.let.var, *(arg for arg in prim.let.call.args if isinstance(arg, Var))]
        slices = [program.memory.slices[var.name] for var in values if var.name in program.memory.slices]
        used = {part.buffer for part in slices}
        used |= {program.memory.workspaces[prim.name, space.name] for space in prim.workspaces}
        used |= {copy.buffer for copy in program.constants.staged if step in (copy.copied_at, copy.used_at)}
        if step == len(program.steps.prim_funcs) - 1:
            used |= {
                program.memory.slices[each.value].buffer for pair in program.copied_states for each in pair
            }
        found.append([b for b in alive if b.id in used or (start <= b.start and b.stop <= stop)])
    return found


def _ranges(program: Program, places: Places, buffers: Sequence[Sequence[Buffer]]) -> Iterator[Cells]:
    """(step, pool, offset, bytes) of the buffers of each step with code; touching ranges merged."""
    pools, silent = [pool.name for pool in used_pools(program)], program.silent_steps
    for step, owners in enumerate(buffers):
        if step in silent:
            continue
        for index, pool in enumerate(pools):
            here = [b for b in owners if places.placement(b.id).pool == pool]
            for offset, end in _merged(places, here):
                yield f"{step}u", f"{index}u", f"{offset}u", f"{end - offset}u"


def _merged(places: Places, buffers: Iterable[Buffer]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    starts = [(places.placement(buffer.id).offset, buffer.size_bytes) for buffer in buffers]
    for offset, size in sorted(starts):
        if ranges and offset <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], offset + size))
        else:
            ranges.append((offset, offset + size))
    return ranges
