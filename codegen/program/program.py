"""Program: everything emit needs. PrimFuncs in order, the memory plan, linked constants, I/O."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.ir import Board, Function, TensorType
from codegen.kernels.primfunc import PrimFunc
from codegen.program.coding import Packing
from codegen.program.problem import MemoryPlan, Pool, Problem


class IoMode(enum.Enum):
    """Who owns inputs and outputs."""

    POOL = "pool"
    CALLER = "caller"


class EntryMode(enum.Enum):
    """How an application runs an inference."""

    RUN = "run"
    """One function."""
    STEPS = "steps"
    """That, and a function that runs one step, for schedulers and watchdogs."""


class PoolOwner(enum.Enum):
    """Who owns the pools."""

    STATIC = "static"
    """The generated code: arrays in the pools' sections."""
    CALLER = "caller"
    """The application, which hands them to every call: several instances may run at once."""


class ConstantsMode(enum.Enum):
    """Where the constants are."""

    LINKED = "linked"
    """In the image, as C tables."""
    EXTERNAL = "external"
    """In an image of their own, which the application hands over at run time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interface:
    """How firmware calls a model; decides nothing of the plan."""

    entry: EntryMode = EntryMode.RUN
    pools: PoolOwner = PoolOwner.STATIC
    constants: ConstantsMode = ConstantsMode.LINKED

    @property
    def is_stepwise(self) -> bool:
        """Whether there is a function that runs one step."""
        return self.entry is EntryMode.STEPS

    @property
    def caller_pools(self) -> bool:
        """Whether the application owns the pools."""
        return self.pools is PoolOwner.CALLER

    @property
    def external(self) -> bool:
        """Whether the constants are handed over at run time."""
        return self.constants is ConstantsMode.EXTERNAL


@dataclass(frozen=True, kw_only=True, slots=True)
class BufferSlice:
    """A value's bytes: `size_bytes` from `offset_bytes` inside buffer `buffer`."""

    buffer: str
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantPart:
    """What one (primfunc, role) reads of a member: bytes from `offset_bytes` on, as `dtype`."""

    user: tuple[str, str]
    offset_bytes: int
    size_bytes: int
    dtype: np.dtype[np.generic]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ConstantMember:
    """One piece of data in a constant pool, as who gave it its type and name (`parts[0]`) declares it."""

    name: str
    """C member name, e.g. `conv0_weight`."""
    offset: int
    data: np.ndarray
    alignment: int
    parts: tuple[ConstantPart, ...]
    """All who read it: most of them all of it, as it is."""
    reads: float = 1.0
    """How often each byte is read in one inference, on average."""

    @property
    def users(self) -> tuple[tuple[str, str], ...]:
        """(primfunc, role) of everyone who reads it or a part of it."""
        return tuple(part.user for part in self.parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantPool:
    """Members in offset order, as the C struct lays them out. `size_bytes` includes padding."""

    name: str
    region: str
    section: str
    alignment: int
    size_bytes: int
    members: tuple[ConstantMember, ...]
    merged_bytes: int
    """Bytes saved by merging: equal constants, and parts of others."""
    read_cost: float = 1.0
    """Cost of reading one byte, relative to other memories."""

    @property
    def unique_bytes(self) -> int:
        """Bytes of the members: the rest of `size_bytes` is padding."""
        return sum(member.data.nbytes for member in self.members)

    @property
    def access_cost(self) -> int:
        """Cost of all reads of one inference, in reads of one byte where that costs 1."""
        return sum(round(member.data.nbytes * member.reads * self.read_cost) for member in self.members)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unpacking:
    """How a linked constant that is stored compressed gets into its copy: decoded, in front of its step or in
    front of each of the step's calls."""

    packing: Packing
    dtype: np.dtype[np.generic]
    """Of the constant's elements."""
    instructions: int
    """Predicted for decoding in one inference, with what further calls of the step take."""

    @property
    def original_bytes(self) -> int:
        """Bytes of the constant."""
        return sum(self.packing.piece_bytes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Staged:
    """A linked constant that is read from a copy in a writable pool."""

    user: tuple[str, str]
    """(primfunc, role) that reads it."""
    buffer: str
    """The copy, of `size_bytes` at `offset` in `pool`."""
    size_bytes: int
    alignment: int
    reads: float
    copied_at: int | None
    """Step in front of which it is copied; None: once, at start-up."""
    used_at: int
    """Step that reads it."""
    pool: str
    offset: int
    unpacking: Unpacking | None = None
    """How it is decoded, where it is stored compressed; the copy holds its largest piece."""

    def interval(self, times: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """When the copy is alive, on the time axis of buffers; `times`: the interval of each step."""
        if self.copied_at is None:
            return 0, max(times[-1][1], 1)
        return times[self.copied_at][0], times[self.used_at][1]


@dataclass(frozen=True, kw_only=True, slots=True)
class IoTensor:
    """A graph input or output as firmware sees it: C field name, file's name, type."""

    field: str
    origin: str
    value: str
    """Name of the variable (or, for a constant output, the id of the constant)."""
    type: TensorType


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """A pair of tensors of one type, named by field: the output is the input of the next inference."""

    input: str
    output: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderCertificate:
    """What is known of the order of steps. Peaks are live bytes of whole tensors, before blocks."""

    searched: bool = False
    """Whether an order was looked for at all (`--schedule optimal`)."""
    reordered: bool = False
    """Whether it is another than the file's."""
    proved: bool = False
    """Whether no order of the plan's own steps can need fewer bytes than the plan does."""
    exhausted: bool = False
    """Whether no order of the whole-tensor steps has a lower peak: a stopped search never says so."""
    states: int = 0
    """Sets of finished steps that the search looked at."""
    peak_bytes: int = 0
    file_peak_bytes: int = 0
    lower_bound_bytes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantCosts:
    """Predicted cost of reading linked constants in one inference, in reads of a byte where that costs 1."""

    linked: int = 0
    """Where they are linked."""
    chosen: int = 0
    """As some are staged, copies included."""
    bound: int = 0
    """No choice of copies costs less."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compression:
    """What storing constants compressed gave: the fewest predicted instructions within the limits of
    constant pools and pools."""

    original_bytes: int
    """Of all constants, as kernels read them."""
    least_bytes: int
    """Of all constants, with every one compressed that gains and whose buffer finds room."""
    instructions: int
    """Predicted for decoding in one inference."""
    instructions_bound: int
    """No choice within the same limits of pools decodes with fewer."""
    raised_bytes: int
    """By how much buffers may raise a pool's peak, or limit it where it is lower."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """One model, fully decided. `prim_funcs[i]` runs `function.body[i]`."""

    name: str
    """C prefix."""
    function: Function
    prim_funcs: tuple[PrimFunc, ...]
    board: Board
    problem: Problem
    plan: MemoryPlan
    slices: Mapping[str, BufferSlice]
    """Where each variable lives; variables owned by the caller are missing."""
    workspaces: Mapping[tuple[str, str], str]
    """(primfunc, workspace name) -> buffer id."""
    constants: tuple[ConstantPool, ...]
    io: IoMode
    inputs: tuple[IoTensor, ...]
    outputs: tuple[IoTensor, ...]
    times: tuple[tuple[int, int], ...]
    """Interval `[start, stop)` on the buffers' time axis of each step."""
    order: OrderCertificate = OrderCertificate()
    streamed: str | None = None
    """The graph input that the application delivers row by row; it has no bytes of its own."""
    interface: Interface = Interface()
    metadata: Mapping[str, str]
    """`format`, `sha256`, `file`, `options` (the flags that matter, spelled out)."""
    staged: tuple[Staged, ...] = ()
    """Linked constants that are read from copies; each copy is a buffer of the plan."""
    compression: Compression | None = None
    """What storing constants compressed gave; None where all are as kernels read them."""
    constant_costs: ConstantCosts = ConstantCosts()
    constant_pools: tuple[Pool, ...] = ()
    """Where `constants` were linked, best first: what linking several models together needs again."""
    states: tuple[State, ...] = ()
    """What lasts from one inference to the next: the last step copies each output over its input."""

    @property
    def silent_steps(self) -> frozenset[int]:
        """Steps without code, around which no hook is called either: views, and joins of arguments that are
        all there, unless copies of constants are begun in them or they are the last one, with new state."""
        begun = {0 if copy.copied_at is None else copy.copied_at for copy in self.staged}
        last = {len(self.prim_funcs) - 1} if self.states else set[int]()
        return frozenset(
            step for step, prim in enumerate(self.prim_funcs) if not prim.is_call and step not in begun | last
        )

    @property
    def unpacked(self) -> tuple[Staged, ...]:
        """Copies that constants are decoded into."""
        return tuple(copy for copy in self.staged if copy.unpacking is not None)

    @property
    def copied(self) -> tuple[Staged, ...]:
        """Copies of constants that are stored as they are."""
        return tuple(copy for copy in self.staged if copy.unpacking is None)

    @property
    def state_tensors(self) -> tuple[tuple[IoTensor, IoTensor], ...]:
        """Input and output of each state."""
        inputs = {tensor.field: tensor for tensor in self.inputs}
        outputs = {tensor.field: tensor for tensor in self.outputs}
        return tuple((inputs[state.input], outputs[state.output]) for state in self.states)

    @property
    def given(self) -> tuple[IoTensor, ...]:
        """The inputs that the application writes: all but state."""
        own = {state.input for state in self.states}
        return tuple(tensor for tensor in self.inputs if tensor.field not in own)

    @property
    def wanted(self) -> tuple[IoTensor, ...]:
        """The outputs that the application reads: all but state."""
        own = {state.output for state in self.states}
        return tuple(tensor for tensor in self.outputs if tensor.field not in own)
