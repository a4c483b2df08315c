"""Program: everything emit needs. PrimFuncs in order, the memory plan, linked constants, I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.ir import Board, Function
from codegen.kernels.primfunc import PrimFunc
from codegen.program.constants import Compression, ConstantCosts, ConstantPool, Staged
from codegen.program.interface import Interface, IoMode, IoTensor, State
from codegen.program.problem import MemoryPlan, Pool, Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class BufferSlice:
    """A value's bytes: `size_bytes` from `offset_bytes` inside buffer `buffer`."""

    buffer: str
    offset_bytes: int
    size_bytes: int


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
    interface: Interface = field(default_factory=Interface)
    metadata: Mapping[str, str]
    """`format`, `sha256`, `file`, `options` (the flags that matter, spelled out)."""
    staged: tuple[Staged, ...] = ()
    """Linked constants that are read from copies; each copy is a buffer of the plan."""
    compression: Compression | None = None
    """What storing constants compressed gave; None where all are as kernels read them."""
    constant_costs: ConstantCosts = field(default_factory=ConstantCosts)
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
