"""Where values live in C: bytes of a pool, or what the caller's structs point to."""

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.emit.c.c_text import hexadecimal
from codegen.emit.c.literals import POOL_TYPES
from codegen.emit.c.program_names import c_name, pool_array
from codegen.ir import DType, Var
from codegen.plan.live.ties import ties
from codegen.program.interface import IoMode
from codegen.program.problem import Buffer, Placement, peak_bytes
from codegen.program.program import Bundle, Program, own_pools


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolBytes:
    """`size_bytes` from `offset` on in pool `pool`, of buffer `buffer`."""

    pool: str
    offset: int
    size_bytes: int
    buffer: str

    def overlaps(self, other: "PoolBytes") -> bool:
        """Whether the two have a byte in common."""
        start = max(self.offset, other.offset)
        stop = min(self.offset + self.size_bytes, other.offset + other.size_bytes)
        return self.pool == other.pool and start < stop


@dataclass(frozen=True, kw_only=True, slots=True)
class CallerBytes:
    """Bytes from `offset_bytes` on of input or output `field`; `struct` is `inputs` or `outputs`."""

    struct: str
    field: str
    offset_bytes: int


class Places:
    """The bytes of every value and workspace of a program of `bundle`.

    `fixed`: addresses are those of the pools' arrays, as the test link has them, whoever owns the pools.
    """

    def __init__(self, bundle: Bundle, program: Program, *, fixed: bool = False) -> None:
        self.bundle = bundle
        self.program = program
        self._from_caller = program.interface.caller_pools and not fixed
        self.variables: Mapping[str, Var] = {var.name: var for var in program.function.variables()}
        self.buffers: Mapping[str, Buffer] = {buffer.id: buffer for buffer in program.problem.buffers}
        self._anchors = ties(program.function, program.prim_funcs).anchors
        self._owned = _caller_owned(program, self._anchors)

    def value(self, name: str) -> PoolBytes | CallerBytes:
        """Bytes of variable `name`; raises ValueError if it has none."""
        part = self.program.slices.get(name)
        if part is not None:
            place = self.placement(part.buffer)
            offset = place.offset + part.offset_bytes
            return PoolBytes(pool=place.pool, offset=offset, size_bytes=part.size_bytes, buffer=part.buffer)
        root, offset = self._anchors[name]
        if root not in self._owned:
            raise ValueError(f"{name} has no bytes")
        struct, field = self._owned[root]
        return CallerBytes(struct=struct, field=field, offset_bytes=offset)

    def workspace(self, prim: str, name: str) -> PoolBytes:
        """Bytes of a workspace."""
        id_ = self.program.workspaces[prim, name]
        place = self.placement(id_)
        return PoolBytes(
            pool=place.pool, offset=place.offset, size_bytes=self.buffers[id_].size_bytes, buffer=id_
        )

    def placement(self, buffer: str) -> Placement:
        """Where the plan put a buffer."""
        return self.program.plan.placements[buffer]

    def byte_address(self, place: PoolBytes) -> str:
        """C address of pool bytes, a `uint8_t *`: the one place where a program's offset becomes C text."""
        if self._from_caller:
            return f"&pools->{c_name(place.pool)}[{hexadecimal(place.offset)}]"
        offset = self.bundle.base(self.program.name, place.pool) + place.offset
        return f"&{pool_array(self.bundle, place.pool)}[{hexadecimal(offset)}]"

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
        elements, rest = divmod(place.offset_bytes, dtype.size_bytes)
        if rest:
            raise ValueError(f"byte {place.offset_bytes} of {whole} is inside an element")
        return f"&{whole}[{elements}]" if elements else whole

    def alive_steps(self, buffer: str) -> tuple[int, int]:
        """First and last step in which a buffer is alive (graph inputs are born with step 0)."""
        start, stop = self.buffers[buffer].start, self.buffers[buffer].stop
        times = enumerate(self.program.times)
        alive = [step for step, (begin, end) in times if start < end and stop > begin]
        return (alive[0], alive[-1]) if alive else (0, 0)

    def overwritten_from(self, place: PoolBytes) -> int | None:
        """First step in which something else may be written to `place`, None if nothing ever is."""
        own = self.buffers[place.buffer]
        births = [
            self.alive_steps(other.id)[0]
            for other in self.program.problem.buffers
            if other.id != own.id
            and other.size_bytes
            and other.start >= own.start
            and self._bytes(other).overlaps(place)
        ]
        # A result that replaces an argument has no buffer of its own.
        births += [
            step
            for step, prim in enumerate(self.program.prim_funcs)
            if prim.in_place is not None and self._lies_in(prim.let.var.name, place)
        ]
        return min(births, default=None)

    def _lies_in(self, name: str, place: PoolBytes) -> bool:
        found = self.value(name)
        return isinstance(found, PoolBytes) and found.overlaps(place)

    def _bytes(self, buffer: Buffer) -> PoolBytes:
        place = self.placement(buffer.id)
        size = buffer.size_bytes
        return PoolBytes(pool=place.pool, offset=place.offset, size_bytes=size, buffer=buffer.id)


def _caller_owned(program: Program, anchors: Mapping[str, tuple[str, int]]) -> dict[str, tuple[str, str]]:
    """Root variable -> (struct, field) of the caller's pointer to it; none where the plan owns I/O.

    A streamed input counts as the caller's, though no pointer leads to it.
    """
    if program.io is IoMode.POOL:
        streamed = [tensor for tensor in program.inputs if tensor.value == program.streamed]
        return {tensor.value: ("inputs", c_name(tensor.field)) for tensor in streamed}
    owned = {anchors[tensor.value][0]: ("outputs", c_name(tensor.field)) for tensor in program.outputs}
    return owned | {tensor.value: ("inputs", c_name(tensor.field)) for tensor in program.inputs}


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
            peak_bytes=peak_bytes(program.problem, program.plan, pool.name),
            size_bytes=pool.size_bytes,
            lower_bound_bytes=program.plan.lower_bounds.get(pool.name, 0),
        )
        for pool in own_pools(program)
    )
