"""What <model>.h says of inputs and outputs."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.emit.c.c_text import COLUMNS, comment_lines, comment_text, macros, wrapped
from codegen.emit.c.literals import PUBLIC_TYPES, float32, integer
from codegen.emit.c.program_names import c_name, io_stems, reader_name
from codegen.emit.values.locations import Places, PoolBytes
from codegen.emit.values.ownership import pools_type
from codegen.ir import TensorType
from codegen.program.interface import IoTensor
from codegen.program.program import Program


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorView:
    """An input or output in C."""

    field: str
    stem: str
    macro: str
    """Stem of its macros, `TINYRES_IMAGE`."""
    c_type: str
    comment: str
    """What it is: name, type, shape, quantisation."""
    macros: str
    """Its `#define` lines."""
    converter: "ConverterView | None"
    """None for a tensor that is not quantised per tensor."""
    accessor: str
    """Name of the function that says where it lives (I/O in the pools)."""
    accessor_head: str
    """That function, as its definition begins; a declaration has a semicolon more."""
    accessor_declaration: str
    pointer: str
    """Where it lives in a pool; empty if the caller owns it."""
    lifetime: str
    """For an input in a pool: how long its bytes last."""
    is_streamed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ConverterView:
    """The inline function between real numbers and what a tensor stores."""

    verb: str
    """`quantize` for an input, `dequantize` for an output."""
    signature: str
    statement: str


def io_views(program: Program, places: Places) -> tuple[list[TensorView], list[TensorView]]:
    """All inputs and all outputs."""
    input_stems, output_stems = io_stems(places.bundle, program)
    inputs = [
        _tensor(program, places, tensor, stem, "input")
        for tensor, stem in zip(program.inputs, input_stems, strict=True)
    ]
    outputs = [
        _tensor(program, places, tensor, stem, "output")
        for tensor, stem in zip(program.outputs, output_stems, strict=True)
    ]
    return inputs, outputs


def callers_views(program: Program, places: Places) -> tuple[list[TensorView], list[TensorView]]:
    """The inputs and outputs that the application knows of: all but state."""
    inputs, outputs = io_views(program, places)
    return (
        [view for view, tensor in zip(inputs, program.inputs, strict=True) if tensor in program.given],
        [view for view, tensor in zip(outputs, program.outputs, strict=True) if tensor in program.wanted],
    )


def _tensor(program: Program, places: Places, tensor: IoTensor, stem: str, kind: str) -> TensorView:
    c_type = PUBLIC_TYPES[tensor.type.dtype]
    macro = f"{program.name.upper()}_{stem.upper()}"
    converter = _converter(program, tensor.type, stem, macro, kind)
    field = c_name(tensor.field)
    place = places.value(tensor.value)
    in_pool = isinstance(place, PoolBytes)
    accessor, const = (
        f"{program.name}_{_access_word(program, field, kind)}",
        "const " if kind == "output" else "",
    )
    given = [f"const {pools_type(program)} *pools" if program.interface.caller_pools else "void"]
    return TensorView(
        field=field,
        stem=stem,
        macro=macro,
        c_type=c_type,
        comment=_comment(tensor, field, kind),
        macros=macros(_macros(macro, tensor.type)),
        converter=converter,
        accessor=accessor,
        accessor_head=wrapped(f"{const}{c_type} *{accessor}(", given, ")"),
        accessor_declaration=wrapped(f"{const}{c_type} *{accessor}(", given, ");"),
        pointer=places.pointer(place, tensor.type.dtype, PUBLIC_TYPES) if in_pool else "",
        lifetime=_lifetime(program, places, tensor) if kind == "input" else "",
        is_streamed=kind == "input" and tensor.value == program.streamed,
    )


def _access_word(program: Program, field: str, kind: str) -> str:
    """What tells the accessors of a program's inputs and outputs apart: `input_image`, and `input_1`, not
    `input_input_1`, for a field that says what it is, unless there is a field `1` as well."""
    rest = field.removeprefix(kind).removeprefix("_")
    says = field == kind or field.startswith(f"{kind}_")
    others = [c_name(tensor.field) for tensor in (program.inputs if kind == "input" else program.outputs)]
    return field if says and rest not in others else f"{kind}_{field}"


def _converter(program: Program, type_: TensorType, stem: str, macro: str, kind: str) -> ConverterView | None:
    if not _quantised(type_) or type_.dtype.size_bytes > 2:  # cg_quantize is for 8 and 16 bits
        return None
    c_type, parameters = PUBLIC_TYPES[type_.dtype], [f"{macro}_SCALE", f"{macro}_ZERO_POINT"]
    if kind == "input":
        limits = [integer(limit) for limit in type_.dtype.limits]
        function = f"static inline {c_type} {program.name}_quantize_{stem}("
        statement = wrapped(f"    return ({c_type})cg_quantize(", ["value", *parameters, *limits], ");")
        return ConverterView(
            verb="quantize", signature=wrapped(function, ["float value"], ")"), statement=statement
        )
    function = f"static inline float {program.name}_dequantize_{stem}("
    statement = wrapped("    return cg_dequantize(", ["stored", *parameters], ");")
    return ConverterView(
        verb="dequantize", signature=wrapped(function, [f"{c_type} stored"], ")"), statement=statement
    )


def _quantised(type_: TensorType) -> bool:
    return type_.quantization is not None and type_.quantization.axis is None and type_.dtype.is_integer


def _comment(tensor: IoTensor, field: str, kind: str) -> str:
    shape = dimensions(tensor.type.shape)
    origin = f' (in the file "{comment_text(tensor.origin)}")' if tensor.origin not in ("", field) else ""
    text = f'{kind} "{field}"{origin}, {tensor.type.dtype.value}, shape {shape}'
    if _quantised(tensor.type):
        text += f", scale {tensor.type.scale:.9g}, zero point {tensor.type.zero_point}"
    single = f"/* {text} */"
    if len(single) <= COLUMNS:
        return single
    return "\n".join(["/*", *comment_lines(text, first=" * ", rest=" * "), " */"])


def dimensions(shape: Sequence[int]) -> str:
    """A shape as comments show it: 1x16x16x1."""
    return "x".join(map(str, shape)) or "scalar"


def _macros(macro: str, type_: TensorType) -> list[tuple[str, str]]:
    found = [
        (f"{macro}_SIZE", f"{type_.size_bytes}u"),
        (f"{macro}_ELEMENTS", f"{type_.elements}u"),
        (f"{macro}_RANK", f"{len(type_.shape)}u"),
    ]
    if type_.shape:
        found.append((f"{macro}_SHAPE", ", ".join(map(str, type_.shape))))
    if _quantised(type_):
        found.append((f"{macro}_SCALE", float32(type_.scale)))
        found.append((f"{macro}_ZERO_POINT", f"({integer(type_.zero_point)})"))
    return found


def _lifetime(program: Program, places: Places, tensor: IoTensor) -> str:
    if tensor.value == program.streamed:
        return f"delivered row by row, see {reader_name(program.name)}"
    place = places.value(tensor.value)
    if not isinstance(place, PoolBytes):
        return ""
    step = places.overwritten_from(place)
    if step is None:
        return "nothing overwrites it"
    return f"overwritten from step {step} ({program.prim_funcs[step].name}) on"


def direction(tensor: TensorView, struct: str, pools: str) -> tuple[str, str]:
    """Where a copy goes to and comes from; `pools`: what accessors are called with."""
    place, caller = f"{tensor.accessor}({pools})", f"{struct}->{tensor.field}"
    return (place, caller) if struct == "inputs" else (caller, place)
