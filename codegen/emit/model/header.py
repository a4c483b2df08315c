"""The header <model>.h: provenance, pools, inputs and outputs, and what the linked image was measured at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.emit.c.c_text import fill
from codegen.emit.c.spelling import c_name, reader_name
from codegen.emit.model.header_memory import MemoryView, memory_view
from codegen.emit.values.copies import has_start, saved_state_bytes
from codegen.emit.values.locations import Places, TensorView, callers_views, used_pools
from codegen.ir.numbers import Number, number_of
from codegen.program.image import ElfSizes
from codegen.program.interface import axes_of
from codegen.program.program import Bundle, Program

RUNTIME_ABI = 1
"""`CG_RUNTIME_ABI` of runtime_c/include/cg_runtime.h that rendered code is made for."""

_LARGEST = (1 << 32) - 1


FIGURES_MARK = "@FIGURES@"
"""Stands in a header where `figures` puts what is known once all is rendered."""


# ---- figures ----------------------------------------------------------------------------


def entry_function(program: Program) -> str:
    """The function that runs an inference."""
    return f"{program.name}_run"


def other_functions(program: Program) -> tuple[str, ...]:
    """Further functions that an application calls and the entry function does not."""
    constants = (f"{program.name}_set_constants",) if program.interface.external else ()
    state = ("reset", "save", "load") if program.signature.states else ()
    return (*constants, *(f"{program.name}_{word}" for word in state))


def stack_bytes(program: Program, sizes: ElfSizes) -> int | None:
    """Static bound of the stack that any call of a model takes; None where nothing is known (`host`)."""
    called = (entry_function(program), *other_functions(program))
    known = [sizes.stack_bounds[name] for name in called if name in sizes.stack_bounds]
    return max(known, default=None)


def figures(
    bundle: Bundle, files: Mapping[str, str], build_sha256: str, sizes: ElfSizes | None = None
) -> Mapping[str, str]:
    """Path -> text of the models' headers in `files` with what was measured; without `sizes` nothing was yet.

    They are macros, which no code of the models reads: nothing that is compiled depends on them.
    """
    headers: dict[str, str] = {}
    for program in bundle.programs:
        before, after = (_figures(program, build_sha256, known) for known in (None, sizes))
        text = files[f"{program.name}.h"]
        headers[f"{program.name}.h"] = text.replace(FIGURES_MARK, before).replace(before, after)
    return headers


def _figures(program: Program, build_sha256: str, sizes: ElfSizes | None) -> str:
    return fill(
        "c/model_figures.h.j2",
        macro=program.name.upper(),
        build_sha256=build_sha256,
        stack_bytes=None if sizes is None else stack_bytes(program, sizes),
        core1_stack_bytes=None if sizes is None else sizes.core1_stack_bound_bytes,
    ).strip()


# ---- the header -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class PackedView:
    """Constants that are stored compressed."""

    arrays: int
    stored_bytes: int
    decoded_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamView:
    """The function with which an application delivers a streamed input."""

    function: str
    field: str
    c_type: str
    rows: Number
    row_bytes: int
    row_elements: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StateView:
    """Bytes that last from one inference to the next."""

    old_name: str
    new_name: str
    """Names of the input and of the output in the model's file."""
    size_bytes: int
    is_files: bool
    """A variable of the file, `old_name`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """Which model it is, and what made the code."""

    version: str
    """The generator's."""
    abi: int
    model: str
    """The model's file and its format."""
    sha256: str
    options: str
    planner: str
    is_proved: bool
    packed: PackedView | None
    macs: str
    step_names: tuple[str, ...]
    without_elements: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SizeView:
    """A size that the application says with each call."""

    field: str
    macro: str
    low: int
    high: int
    axes: str
    """Axes that have this size, for a comment: `axis 1 of x`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SizedPool:
    """Bytes of a pool at the sizes of a call."""

    macro: str
    index: int
    late: tuple[str, ...]
    """Declarations of the sizes that it depends on."""
    size: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SizedShape:
    """The extents of an input or output at the sizes of a call."""

    stem: str
    rank_macro: str
    late: tuple[str, ...]
    extents: tuple[str, ...]
    said: str
    """For a comment: `1xTx8`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SizesView:
    """Sizes that are known at run time only, and what the application may ask of them."""

    symbols: tuple[SizeView, ...]
    pools: tuple[SizedPool, ...]
    shapes: tuple[SizedShape, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class BusyView:
    """The word of bits that says which models run."""

    object: str
    bit: int
    conflicting: int
    """Bits of the models that share memory with this one, its own too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeaderState:
    """State of a model, as its header tells of it."""

    pairs: tuple[StateView, ...]
    saved_bytes: int
    """Bytes that `<model>_save` writes."""
    ready_calls: str
    """Calls until a window that slides is full; empty where none slides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeaderCalls:
    """Functions of a model that an application calls."""

    parameters: tuple[str, ...]
    """Parameters of the entry function (templates/c/parameters.c.j2)."""
    step_parameters: tuple[str, ...]
    """Parameters of the function that runs one step; empty where there is none."""
    has_start: bool
    """There is a function that copies constants at start-up."""
    busy: "BusyView | None"
    """The flag that refuses a second call; None without `--busy-flag`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeaderView:
    """Everything model.h.j2 and model.c.j2 show of the interface."""

    name: str
    macro: str
    provenance: Provenance
    memory: MemoryView
    io: str
    inputs: tuple[TensorView, ...]
    outputs: tuple[TensorView, ...]
    stream: StreamView | None
    state: "HeaderState"
    sizes: "SizesView | None"
    """Sizes that are known at run time only."""
    calls: "HeaderCalls"


def header_view(program: Program, places: Places, version: str) -> HeaderView:
    """The view of one program; `version` is the generator's."""
    if not program.signature.read_outputs and not program.without_elements:
        raise ValueError(f"{program.name}: a model without outputs has no C interface")
    inputs, outputs = callers_views(program, places)
    pools = ("pools",) if program.interface.caller_pools else ()
    return HeaderView(
        name=program.name,
        macro=program.name.upper(),
        provenance=_provenance(program, version),
        memory=memory_view(places.bundle, program),
        io=program.edge.io.value,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        stream=_stream(program, inputs),
        state=HeaderState(
            pairs=tuple(
                StateView(
                    old_name=old.origin or old.field,
                    new_name=new.origin or new.field,
                    size_bytes=old.type.size_bytes,
                    is_files=state.is_files,
                )
                for state, (old, new) in zip(
                    program.signature.states, program.signature.state_tensors, strict=True
                )
            ),
            saved_bytes=saved_state_bytes(program),
            ready_calls=program.metadata.get("ready_calls", ""),
        ),
        sizes=_sizes(program, places, (*inputs, *outputs)),
        calls=HeaderCalls(
            parameters=(*pools, "inputs", "outputs", *(("dims",) if program.ranges else ())),
            step_parameters=_step_parameters(program, pools) if program.interface.is_stepwise else (),
            has_start=has_start(program),
            busy=_busy(places.bundle, program) if program.interface.busy_flag else None,
        ),
    )


def _busy(bundle: Bundle, program: Program) -> BusyView:
    bits = {program_.name: 1 << index for index, program_ in enumerate(bundle.programs)}
    sharing = (program.name, *bundle.sharers(program.name))
    return BusyView(
        object=f"{bundle.prefix}_running",
        bit=bits[program.name],
        conflicting=sum(bits[name] for name in sharing),
    )


def _sizes(program: Program, places: Places, tensors: Sequence[TensorView]) -> SizesView | None:
    ranges, spelling = program.ranges, places.sizes
    if ranges is None or spelling is None:
        return None
    symbols = tuple(
        SizeView(
            field=c_name(symbol.name),
            macro=f"{program.name}_{symbol.name}".upper(),
            low=symbol.low,
            high=symbol.high,
            axes=", ".join(
                f"axis {axis} of {field}" for field, axis in axes_of(program.signature.inputs, symbol.name)
            ),
        )
        for symbol in ranges.symbols
    )
    pools: list[SizedPool] = []
    for index, pool in enumerate(used_pools(program)):
        size = spelling.spelled(ranges.pools[pool.name])
        macro, late = f"{program.name}_pool_{pool.name}".upper(), tuple(spelling.declarations([size]))
        pools.append(SizedPool(macro=macro, index=index, late=late, size=size))
    shapes: list[SizedShape] = []
    for view, tensor in zip(
        tensors, (*program.signature.written_inputs, *program.signature.read_outputs), strict=True
    ):
        extents = tuple(spelling.spelled(number_of(extent)) for extent in tensor.type.shape)
        shapes.append(
            SizedShape(
                stem=view.stem,
                rank_macro=f"{view.macro}_RANK",
                late=tuple(spelling.declarations(extents)),
                extents=extents,
                said=spelling.shape(tensor.type),
            )
        )
    return SizesView(symbols=symbols, pools=tuple(pools), shapes=tuple(shapes))


def _step_parameters(program: Program, pools: Sequence[str]) -> tuple[str, ...]:
    """The step's number, then what steps reach."""
    dims = ("dims",) if program.ranges else ()
    if program.edge.is_callers:
        return ("step", *pools, "inputs", "outputs", *dims)
    return ("step", *pools, *(("context",) if program.edge.streamed else ()), *dims)


def _provenance(program: Program, version: str) -> Provenance:
    metadata, work = program.metadata, program.steps.macs
    return Provenance(
        version=version,
        abi=RUNTIME_ABI,
        model=f"{metadata.get('file', program.name)} ({metadata.get('format', 'built in memory')})",
        sha256=metadata["sha256"],
        options=metadata.get("options") or f"--board {program.board.name}",
        planner=program.memory.plan.planner,
        is_proved=program.memory.plan.proved_optimal,
        packed=_packed(program),
        macs=f"{work}u" if work <= _LARGEST else f"{work}ull",
        step_names=tuple(prim.name for prim in program.steps.prim_funcs) or ("",),  # C has no empty list
        without_elements=program.without_elements,
    )


def _packed(program: Program) -> PackedView | None:
    unpackings = [copy.unpacking for copy in program.constants.unpacked if copy.unpacking is not None]
    if not unpackings:
        return None
    return PackedView(
        arrays=len(unpackings),
        stored_bytes=sum(unpacking.packing.stored_bytes for unpacking in unpackings),
        decoded_bytes=sum(unpacking.original_bytes for unpacking in unpackings),
    )


def _stream(program: Program, inputs: Sequence[TensorView]) -> StreamView | None:
    for view, tensor in zip(inputs, program.signature.written_inputs, strict=True):
        if view.is_streamed:
            blocks = [prim.block for prim in program.steps.prim_funcs if prim.block]
            size_bytes = tensor.type.size_bytes // tensor.type.shape[1]
            return StreamView(
                function=reader_name(program.name),
                field=view.field,
                c_type=view.c_type,
                rows=next(block.stages[0].rows for block in blocks if block.streamed == tensor.value),
                row_bytes=size_bytes,
                row_elements=size_bytes // tensor.type.dtype.size_bytes,
            )
    return None
