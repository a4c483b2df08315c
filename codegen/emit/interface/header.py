"""What <model>.h says: provenance, pools, inputs and outputs."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.emit.c.c_text import comment_lines, comment_text, macros, members, wrapped
from codegen.emit.c.program_names import base_macro, pool_array, pool_macro, reader_name
from codegen.emit.interface.figures import figures_file, identity_macros, sha256_macro, step_names
from codegen.emit.values.io_tensors import TensorView, callers_views
from codegen.emit.values.locations import Places, PoolSize, used_pools
from codegen.emit.values.ownership import PoolsView, pools_type, pools_view
from codegen.emit.values.shared import constant_macros
from codegen.emit.values.staging import start_function
from codegen.emit.values.state import StateView, state_view
from codegen.emit.values.unpacking import packed_text
from codegen.program.interface import IoMode
from codegen.program.program import Bundle, Program

RUNTIME_ABI = 1
"""`CG_RUNTIME_ABI` of runtime_c/include/cg_runtime.h that rendered code is made for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamView:
    """The function with which an application delivers a streamed input."""

    comment: str
    prototype: str
    function: str
    row_bytes: int
    row_elements: int
    field: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HeaderView:
    """Everything model.h.j2 and model.c.j2 show of the interface."""

    name: str
    macro: str
    guard: str
    provenance: tuple[str, ...]
    """Comment lines: model, generator, options."""
    figures: str
    """The header with what was measured."""
    identity: str
    """Definitions that say which model it is."""
    sha256: str
    """Definition of the hash of its file."""
    step_names: str
    """Definition of the list of the steps' names."""
    pool_table: tuple[str, ...]
    pool_macros: str
    sharers: tuple[str, ...]
    """Comment lines on the models that use the same bytes."""
    io: str
    inputs: tuple[TensorView, ...]
    outputs: tuple[TensorView, ...]
    input_members: str
    output_members: str
    stream: StreamView | None
    prototype: str
    """The entry function without attribute, body or semicolon, as its definition begins."""
    declaration: str
    """Its declaration."""
    pool_parameters: tuple[str, ...]
    """In front of all others where the caller owns the pools."""
    io_parameters: tuple[str, ...]
    step_parameters: tuple[str, ...]
    """Of the function that runs one step; empty where there is none."""
    step_prototype: str
    step_declaration: str
    steps: int
    pools: PoolsView | None
    """None where they are the model's own."""
    takes_constants: str
    """Declaration of the function that takes an image of constants; empty where they are linked."""
    ending: str
    """What each call shares with others, and what it returns."""
    state: StateView | None
    """None where nothing lasts."""
    start: str
    """The function that copies constants at start-up; empty if there is none."""
    abi: int


def header_view(program: Program, places: Places, version: str) -> HeaderView:
    """The view of one program; `version` is the generator's."""
    if not program.given or not program.wanted:
        raise ValueError(f"{program.name}: a model without inputs or without outputs has no C interface")
    inputs, outputs = callers_views(program, places)
    name = program.name
    io = [f"const {name}_inputs *inputs", f"const {name}_outputs *outputs"]
    pools = [f"const {pools_type(program)} *pools"] if program.interface.caller_pools else []
    parameters = [*pools, *io]
    step = _step_parameters(program, pools, io) if program.interface.is_stepwise else []
    return HeaderView(
        name=name,
        macro=name.upper(),
        guard=f"{name.upper()}_H",
        provenance=_provenance(program, version),
        figures=figures_file(program),
        identity=identity_macros(program, version),
        sha256=sha256_macro(program),
        step_names=step_names(program),
        pool_table=_pool_table(places.bundle, program),
        pool_macros=macros(_pool_macros(places.bundle, program)),
        sharers=_sharers(places.bundle, program),
        io=program.io.value,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        input_members=members([_input_member(program, view) for view in inputs]),
        output_members=members([(f"{v.c_type} *{v.field}", f"{v.macro}_SIZE bytes") for v in outputs]),
        stream=_stream(program, inputs),
        prototype=wrapped(f"cg_status {name}_run(", parameters, ")"),
        declaration=wrapped(f"CG_CHECK_RESULT cg_status {name}_run(", parameters, ");"),
        pool_parameters=tuple(pools),
        io_parameters=tuple(io),
        step_parameters=tuple(step),
        step_prototype=wrapped(f"cg_status {name}_step(", step, ")") if step else "",
        step_declaration=wrapped(f"CG_CHECK_RESULT cg_status {name}_step(", step, ");") if step else "",
        steps=len(program.prim_funcs),
        pools=pools_view(program) if program.interface.caller_pools else None,
        takes_constants=_takes_constants(program),
        ending=_ending(program),
        state=state_view(program, places),
        start=start_function(program),
        abi=RUNTIME_ABI,
    )


def _step_parameters(program: Program, pools: Sequence[str], io: Sequence[str]) -> list[str]:
    """The step's number, then what steps reach."""
    if program.io is IoMode.CALLER:
        return ["uint32_t step", *pools, *io]
    return ["uint32_t step", *pools, *(["void *context"] if program.streamed else [])]


def _takes_constants(program: Program) -> str:
    if not program.interface.external:
        return ""
    own = [f"{pools_type(program)} *pools"] if program.interface.caller_pools else []
    parameters = [*own, "const void *image", "uint32_t size_bytes"]
    return wrapped(f"CG_CHECK_RESULT cg_status {program.name}_set_constants(", parameters, ");")


def _ending(program: Program) -> str:
    """The last paragraph of a function's contract."""
    interface, streamed = program.interface, program.streamed is not None
    shared = "Not re-entrant: all calls share the static pools above."
    if interface.caller_pools:
        shared = "Re-entrant: calls with different pools share nothing that is written."
    refused = ["CG_ERR_NULL_POINTER"] if program.io is IoMode.CALLER or interface.caller_pools else []
    refused += ["CG_ERR_POOL_SIZE", "CG_ERR_POOL_ALIGNMENT"] if interface.caller_pools else []
    refused += ["CG_ERR_CONSTANTS_MISSING"] if interface.external else []
    if not refused:
        return f"{shared} Returns CG_OK{' or CG_ERR_INPUT' if streamed else ''}."
    later = "; CG_ERR_INPUT" if streamed else ""
    return f"{shared} Returns CG_OK, or {' or '.join(refused)} before anything has been written{later}."


def _input_member(program: Program, view: TensorView) -> tuple[str, str]:
    if view.is_streamed:
        return "void *context", f"handed to {reader_name(program.name)}"
    return f"const {view.c_type} *{view.field}", f"{view.macro}_SIZE bytes"


def _stream(program: Program, inputs: Sequence[TensorView]) -> StreamView | None:
    for view, tensor in zip(inputs, program.given, strict=True):
        if view.is_streamed:
            name = reader_name(program.name)
            blocks = [prim.block for prim in program.prim_funcs if prim.block]
            rows = next(block.stages[0].rows for block in blocks if block.streamed == tensor.value)
            size_bytes = tensor.type.size_bytes // tensor.type.shape[1]
            text = (
                f'You write this function: it stores row y of input "{view.field}", {size_bytes} bytes, at '
                f"`row`. {program.name}_run calls it once for every row from 0 to "
                f"{rows - 1}, in order, while it runs. `context` is the one in the inputs, NULL without "
                "them. Return 0; anything else ends the run, which then returns CG_ERR_INPUT."
            )
            parameters = ["void *context", f"{view.c_type} *row", "uint32_t y"]
            return StreamView(
                comment="\n".join(["/*", *comment_lines(text, first=" * ", rest=" * "), " */"]),
                prototype=wrapped(f"int {name}(", parameters, ")"),
                function=name,
                row_bytes=size_bytes,
                row_elements=size_bytes // tensor.type.dtype.size_bytes,
                field=view.field,
            )
    return None


def _provenance(program: Program, version: str) -> tuple[str, ...]:
    given = program.metadata
    rows = [
        ("Model", f"{given.get('file', program.name)} ({given.get('format', 'built in memory')})"),
        ("sha256", given["sha256"]),
        ("Generator", f"codegen {version}, runtime ABI {RUNTIME_ABI}"),
        ("Options", given.get("options") or f"--board {program.board.name}"),
        ("Planner", f"{program.plan.planner}, {_proof(program)}"),
    ]
    if packed := packed_text(program):
        rows.append(("Weights", packed))
    lines: list[str] = []
    for label, text in rows:
        lines += comment_lines(comment_text(text), first=f" * {label:<11}", rest=f" * {'':<11}")
    return tuple(lines)


def _proof(program: Program) -> str:
    return "proved optimal" if program.plan.proved_optimal else "not proved optimal"


def _pool_table(bundle: Bundle, program: Program) -> tuple[str, ...]:
    """What the model takes of each pool; a model by itself has constants of its own as well."""
    rows = [
        (f"{p.name} (rw)", p.peak_bytes, p.lower_bound_bytes, _where(bundle, program, p))
        for p in used_pools(program)
    ]
    for pool in bundle.constants if bundle.is_single else ():
        section = "none (external)" if program.interface.external else pool.section
        filled = sum(member.data.nbytes for member in pool.members)
        rows.append((f"{pool.name} (ro)", pool.size_bytes, filled, section))
    if not rows:
        return (f" * Memory      none: no pools{', no constants' if bundle.is_single else ''}",)
    width = max(16, *(len(name) for name, _, _, _ in rows))
    last = "section" if bundle.is_single else "where"
    head = f" * {'Memory, bytes':<{width + 2}}   planned   lower bound   {last}"
    lines = (f" *   {n:<{width}}{planned:>10}{bound:>14}   {section}" for n, planned, bound, section in rows)
    return (head, *lines)


def _sharers(bundle: Bundle, program: Program) -> tuple[str, ...]:
    others = bundle.sharers(program.name)
    if not others or not used_pools(program):
        return ()
    text = (
        f"Bytes of the pools are shared with {', '.join(others)}: none of them may run, nor have its inputs "
    )
    text += f"written, between writing an input of {program.name} and reading its outputs."
    return tuple(comment_lines(text, first=" * ", rest=" * "))


def _where(bundle: Bundle, program: Program, pool: PoolSize) -> str:
    if bundle.is_single:
        return pool.section
    return f"{pool_array(bundle, pool.name)} from byte {bundle.base(program.name, pool.name)} on"


def _pool_macros(bundle: Bundle, program: Program) -> list[tuple[str, str]]:
    used = used_pools(program)
    found = [(pool_macro(program.name, pool.name), f"{pool.size_bytes}u") for pool in used]
    if bundle.is_single:
        return found + constant_macros(bundle)
    bases = [(base_macro(program.name, p.name), bundle.base(program.name, p.name)) for p in used]
    return found + [(name, f"{base}u") for name, base in bases]
