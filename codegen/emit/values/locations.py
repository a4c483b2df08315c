"""Places of values in C: bytes of a pool, or the caller's inputs and outputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from codegen.emit.c.c_text import hexadecimal
from codegen.emit.c.formula_text import SizeText
from codegen.emit.c.spelling import POOL_TYPES, PUBLIC_TYPES, c_name, io_stems, pool_array
from codegen.ir import DType, TensorType, Var
from codegen.ir.numbers import Number, varies
from codegen.lifetimes.ties import ties
from codegen.problem.problem import Buffer, Placement, steps_alive
from codegen.program.constants import Staged
from codegen.program.interface import IoTensor
from codegen.program.program import Bundle, Program, own_pools


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolBytes:
    """Bytes of a value in a pool: `size_bytes` of them from `offset` on, a part of buffer `buffer`."""

    pool: str
    offset: int
    size_bytes: int
    buffer: str
    at: Number | None = None
    """Offset as a formula of the sizes that a call is given; None where it is `offset` at all sizes."""

    @property
    def moves(self) -> bool:
        """True if the offset depends on the sizes that a call is given."""
        return self.at is not None

    def overlaps(self, other: "PoolBytes") -> bool:
        """True if the two have a byte in common."""
        start = max(self.offset, other.offset)
        stop = min(self.offset + self.size_bytes, other.offset + other.size_bytes)
        return self.pool == other.pool and start < stop


@dataclass(frozen=True, kw_only=True, slots=True)
class CallerBytes:
    """Bytes of a tensor that the caller owns: `field` of `inputs` or `outputs`, from `offset_bytes` on."""

    struct: str
    field: str
    offset_bytes: int
    at: Number | None = None
    """Elements in front as a formula of the sizes that a call is given; None if they do not vary."""

    @property
    def moves(self) -> bool:
        """True if the elements in front depend on the sizes that a call is given."""
        return self.at is not None


class Places:
    """The bytes of every value and workspace of a program of `bundle`.

    `fixed`: addresses are those of the pools' arrays, as the test link has them, whoever owns the pools.
    """

    def __init__(self, bundle: Bundle, program: Program, *, fixed: bool = False) -> None:
        self.bundle = bundle
        self.program = program
        self._from_caller = program.interface.caller_pools and not fixed
        self.variables: Mapping[str, Var] = {var.name: var for var in program.steps.function.variables()}
        self.buffers: Mapping[str, Buffer] = {buffer.id: buffer for buffer in program.memory.problem.buffers}
        self._anchors = ties(program.steps.function, program.steps.prim_funcs).anchors
        self._owned = _caller_owned(program, self._anchors)
        self._at: Mapping[str, Number] = {} if program.ranges is None else program.ranges.values
        self.sizes = None if program.ranges is None else SizeText(program.name, program.ranges)
        """Formulas of the program's sizes in C; None where all sizes are fixed."""

    def value(self, name: str) -> PoolBytes | CallerBytes:
        """Bytes of variable `name`; raises ValueError if it has none."""
        part = self.program.memory.slices.get(name)
        if part is not None:
            place = self.placement(part.buffer)
            offset = place.offset + part.offset_bytes
            return PoolBytes(
                pool=place.pool,
                offset=offset,
                size_bytes=part.size_bytes,
                buffer=part.buffer,
                at=self._at.get(name),
            )
        root, offset = self._anchors[name]
        if root not in self._owned:
            raise ValueError(f"{name} has no bytes")
        struct, field = self._owned[root]
        return CallerBytes(struct=struct, field=field, offset_bytes=offset, at=self._at.get(name))

    def workspace(self, prim: str, name: str) -> PoolBytes:
        """Bytes of a workspace."""
        part = self.program.memory.workspaces[prim, name]
        place = self.placement(part.buffer)
        ranges = self.program.ranges
        return PoolBytes(
            pool=place.pool,
            offset=place.offset + part.offset_bytes,
            size_bytes=part.size_bytes,
            buffer=part.buffer,
            at=None if ranges is None else ranges.workspaces.get((prim, name)),
        )

    def copy(self, copy: Staged) -> PoolBytes:
        """Bytes of a copy of a constant."""
        ranges = self.program.ranges
        at = None if ranges is None else ranges.buffers[copy.buffer][0]
        return PoolBytes(
            pool=copy.pool,
            offset=copy.offset,
            size_bytes=copy.size_bytes,
            buffer=copy.buffer,
            at=at if varies(at) else None,
        )

    def placement(self, buffer: str) -> Placement:
        """The buffer's place in the plan."""
        return self.program.memory.plan.placements[buffer]

    def byte_address(self, place: PoolBytes) -> str:
        """C address of pool bytes, a `uint8_t *`: the one place where a program's offset becomes C text."""
        return f"&{self._array(place.pool)}[{self._offset(place, self._base(place.pool))}]"

    def _array(self, pool: str) -> str:
        """The bytes of a pool in C."""
        return f"pools->{c_name(pool)}" if self._from_caller else pool_array(self.bundle, pool)

    def _base(self, pool: str) -> int:
        """Offset of the program's bytes in a pool."""
        return 0 if self._from_caller else self.bundle.base(self.program.name, pool)

    def _offset(self, place: PoolBytes, base: int) -> str:
        """C text of an offset from byte `base` of a pool on."""
        if place.at is None or self.sizes is None:
            return hexadecimal(base + place.offset)
        offset = self.sizes.spelled(place.at)
        return f"{hexadecimal(base)} + {offset}" if base else offset

    def pointer(self, place: PoolBytes, dtype: DType, types: Mapping[DType, str] = POOL_TYPES) -> str:
        """C pointer to pool bytes as elements of `dtype`: via `void *`, the plan keeps them aligned."""
        address, c_type = self.byte_address(place), types[dtype]
        if c_type in ("uint8_t", "void"):
            return address
        through = "" if dtype.size_bytes == 1 else "(void *)"
        return f"({c_type} *){through}{address}"

    def caller_pointer(self, place: CallerBytes, dtype: DType) -> str:
        """C pointer to bytes that the caller owns."""
        whole = f"{place.struct}->{place.field}"
        if place.at is not None and self.sizes is not None:
            return f"&{whole}[{self.sizes.spelled(place.at)}]"
        elements, rest = divmod(place.offset_bytes, dtype.size_bytes)
        if rest:
            raise ValueError(f"byte {place.offset_bytes} of {whole} is inside an element")
        return f"&{whole}[{elements}]" if elements else whole

    def alive_steps(self, buffer: str) -> tuple[int, int]:
        """First and last step in which a buffer is alive (graph inputs are born with step 0)."""
        alive = steps_alive(self.buffers[buffer], self.program.steps.times)
        return (alive[0], alive[-1]) if alive else (0, 0)

    def overwritten_from(self, place: PoolBytes) -> int | None:
        """First step in which something else may be written to `place`, None if nothing ever is."""
        buffer = self.buffers[place.buffer]
        births = [
            self.alive_steps(other.id)[0]
            for other in self.program.memory.problem.buffers
            if other.id != buffer.id
            and other.size_bytes
            and other.start >= buffer.start
            and self._may_overlap(other, place)
        ]
        # A result that replaces an argument has no buffer of its own.
        births += [
            step
            for step, prim in enumerate(self.program.steps.prim_funcs)
            if prim.in_place is not None and self._lies_in(prim.let.var.name, place)
        ]
        return min(births, default=None)

    def _may_overlap(self, other: Buffer, place: PoolBytes) -> bool:
        """True if a buffer has bytes of `place`; at some sizes it may wherever both are in one pool."""
        here = self.bytes_of(other)
        return here.overlaps(place) if self.sizes is None else here.pool == place.pool

    def _lies_in(self, name: str, place: PoolBytes) -> bool:
        value_place = self.value(name)
        return isinstance(value_place, PoolBytes) and value_place.overlaps(place)

    def bytes_of(self, buffer: Buffer) -> PoolBytes:
        """Bytes of a buffer, at the largest sizes."""
        place = self.placement(buffer.id)
        return PoolBytes(pool=place.pool, offset=place.offset, size_bytes=buffer.size_bytes, buffer=buffer.id)


def _caller_owned(program: Program, anchors: Mapping[str, tuple[str, int]]) -> dict[str, tuple[str, str]]:
    """Root variable -> (struct, field) of the caller's pointer to it; none where the plan owns I/O.

    A streamed input counts as the caller's, though no pointer leads to it.
    """
    if not program.edge.is_callers:
        streamed = [tensor for tensor in program.signature.inputs if tensor.value == program.edge.streamed]
        return {tensor.value: ("inputs", c_name(tensor.field)) for tensor in streamed}
    owned = {
        anchors[tensor.value][0]: ("outputs", c_name(tensor.field)) for tensor in program.signature.outputs
    }
    return owned | {tensor.value: ("inputs", c_name(tensor.field)) for tensor in program.signature.inputs}


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolSize:
    """A pool in which a program has bytes: planned peak, and the bytes of its array."""

    name: str
    section: str
    peak_bytes: int
    size_bytes: int
    lower_bound_bytes: int


def used_pools(program: Program) -> tuple[PoolSize, ...]:
    """Pools with bytes of the program in them, in the board's order."""
    return tuple(
        PoolSize(
            name=pool.name,
            section=pool.section,
            peak_bytes=program.memory.peak_bytes(pool.name),
            size_bytes=pool.size_bytes,
            lower_bound_bytes=program.memory.plan.lower_bounds.get(pool.name, 0),
        )
        for pool in own_pools(program)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorPlace:
    """The place of an input or output in the pools."""

    accessor: str
    """Name of the function that says where it lives (I/O in the pools)."""
    pointer: str
    """Its address in a pool; empty if the caller owns it."""
    late: tuple[str, ...]
    """Declarations of the sizes that `pointer` names; empty where it is an address of the image."""
    overwriter: int | None
    """First step that may write to an input's bytes in a pool; None if nothing does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorView:
    """An input or output in C."""

    kind: Literal["input", "output"]
    field: str
    origin: str
    """Its name in the model's file."""
    stem: str
    macro: str
    """Stem of its macros, `TINYRES_IMAGE`."""
    type: TensorType
    c_type: str
    is_quantised: bool
    """True if one scale and one zero point hold for the whole tensor."""
    has_converter: bool
    """True if the header has inline functions between real numbers and stored ones."""
    place: TensorPlace
    is_streamed: bool
    size: str
    """Number of its bytes in C: a macro, or an expression of the sizes that a call is given."""


def io_views(program: Program, places: Places) -> tuple[list[TensorView], list[TensorView]]:
    """All inputs and all outputs."""
    input_stems, output_stems = io_stems(places.bundle, program)
    inputs = zip(program.signature.inputs, input_stems, strict=True)
    outputs = zip(program.signature.outputs, output_stems, strict=True)
    return (
        [_tensor(program, places, tensor, stem, "input") for tensor, stem in inputs],
        [_tensor(program, places, tensor, stem, "output") for tensor, stem in outputs],
    )


def callers_views(program: Program, places: Places) -> tuple[list[TensorView], list[TensorView]]:
    """The inputs and outputs that the application knows of: all but state."""
    inputs, outputs = io_views(program, places)
    return (
        [
            view
            for view, tensor in zip(inputs, program.signature.inputs, strict=True)
            if tensor in program.signature.written_inputs
        ],
        [
            view
            for view, tensor in zip(outputs, program.signature.outputs, strict=True)
            if tensor in program.signature.read_outputs
        ],
    )


def _tensor(
    program: Program, places: Places, tensor: IoTensor, stem: str, kind: Literal["input", "output"]
) -> TensorView:
    type_, field, place = tensor.type, c_name(tensor.field), places.value(tensor.value)
    in_pool = place if isinstance(place, PoolBytes) else None
    quantised = type_.quantization is not None and type_.quantization.axis is None and type_.dtype.is_integer
    pointer = places.pointer(in_pool, type_.dtype, PUBLIC_TYPES) if in_pool else ""
    return TensorView(
        kind=kind,
        field=field,
        origin=tensor.origin,
        stem=stem,
        macro=f"{program.name.upper()}_{stem.upper()}",
        type=type_,
        c_type=PUBLIC_TYPES[type_.dtype],
        is_quantised=quantised,
        has_converter=quantised and type_.dtype.size_bytes <= 2,  # cg_quantize is for 8 and 16 bits
        place=TensorPlace(
            accessor=f"{program.name}_{_access_word(program, field, kind)}",
            pointer=pointer,
            late=tuple(places.sizes.declarations([pointer])) if places.sizes else (),
            overwriter=places.overwritten_from(in_pool) if in_pool and kind == "input" else None,
        ),
        is_streamed=kind == "input" and tensor.value == program.edge.streamed,
        size=_size(places, tensor, f"{program.name.upper()}_{stem.upper()}"),
    )


def _size(places: Places, tensor: IoTensor, macro: str) -> str:
    """Bytes of an input or output in C."""
    ranges = places.program.ranges
    if ranges is None or places.sizes is None:
        return f"{macro}_SIZE"
    return f"(size_t)({places.sizes.size_bytes(tensor.type)})"


def _access_word(program: Program, field: str, kind: str) -> str:
    """Word that tells the accessors of a program's inputs and outputs apart.
    It is `input_image`, and `input_1`, not `input_input_1`, for a field that says what it is, unless there
    is a field `1` too.
    """
    rest = field.removeprefix(kind).removeprefix("_")
    says = field == kind or field.startswith(f"{kind}_")
    others = [
        c_name(tensor.field)
        for tensor in (program.signature.inputs if kind == "input" else program.signature.outputs)
    ]
    return field if says and rest not in others else f"{kind}_{field}"
