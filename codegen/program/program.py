"""Program: everything emit needs of a model: PrimFuncs in order, memory plan, constants, inputs, outputs.

Bundle: the models of one firmware with what they share: one set of pools, constants linked once. Which core
runs a step is asked here too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from codegen.ir import Board, Function
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.problem import MemoryPlan, Problem, peak_bytes, pool_alignment
from codegen.program.constants import ConstantLayout, ConstantPool
from codegen.program.interface import Edge, Interface, IoTensor, Signature
from codegen.program.size_ranges import Ranges


@dataclass(frozen=True, kw_only=True, slots=True)
class BufferSlice:
    """A value's bytes: `size_bytes` from `offset_bytes` inside buffer `buffer`."""

    buffer: str
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderCertificate:
    """Proofs about the order of the steps. Peaks are live bytes of whole tensors, before blocks."""

    searched: bool = False
    """True if an order was looked for at all (`--schedule optimal`)."""
    reordered: bool = False
    """True if it is another order than the file's."""
    proved: bool = False
    """True if no order of the plan's own steps can need fewer bytes than the plan does."""
    exhausted: bool = False
    """True if no order of the whole-tensor steps has a lower peak. A stopped search never says so."""
    states: int = 0
    """Sets of finished steps that the search looked at."""
    peak_bytes: int = 0
    file_peak_bytes: int = 0
    lower_bound_bytes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Steps:
    """The steps of one inference: `prim_funcs[i]` runs `function.body[i]` in `times[i]`."""

    function: Function
    prim_funcs: tuple[PrimFunc, ...]
    times: tuple[tuple[int, int], ...]
    """Interval `[start, stop)` on the buffers' time axis of each step."""

    @property
    def macs(self) -> int:
        """Multiply-accumulates that run: without channels that are left out, with those that run again."""
        return sum(prim.macs for prim in self.prim_funcs)


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryLayout:
    """Places of everything that changes in an inference: the planned buffers, and the values in them."""

    problem: Problem
    plan: MemoryPlan
    slices: Mapping[str, BufferSlice]
    """Buffer and offset of each variable. Variables that the caller owns are missing."""
    workspaces: Mapping[tuple[str, str], BufferSlice]
    """(primfunc, workspace name) -> its bytes."""

    def peak_bytes(self, pool: str) -> int:
        """One past the last byte used in `pool`."""
        return peak_bytes(self.problem, self.plan, pool)

    @property
    def peaks(self) -> dict[str, int]:
        """`peak_bytes` of every pool."""
        return {pool.name: self.peak_bytes(pool.name) for pool in self.problem.pools}


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """One model, fully decided."""

    name: str
    """C prefix."""
    board: Board
    metadata: Mapping[str, str]
    """`format`, `sha256`, `file`, `options` (the flags that matter, spelled out)."""
    steps: Steps
    memory: MemoryLayout
    constants: ConstantLayout
    edge: Edge
    signature: Signature
    interface: Interface = field(default_factory=Interface)
    order: OrderCertificate = OrderCertificate()
    ranges: Ranges | None = None
    """Sizes that are known as ranges; None where all are fixed."""

    @property
    def without_elements(self) -> tuple[str, ...]:
        """The model's inputs and outputs of no elements, which are none of the C interface."""
        return tuple(self.metadata.get("without_elements", "").splitlines())

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user on how the file was read and the plan was found."""
        return tuple(self.metadata.get("notes", "").splitlines())

    def with_note(self, note: str) -> "Program":
        """This program with one more of `notes`."""
        return replace(self, metadata={**self.metadata, "notes": "\n".join([*self.notes, note])})

    def running(self, prim_funcs: tuple[PrimFunc, ...]) -> "Program":
        """The program with these kernels for its steps."""
        return replace(self, steps=replace(self.steps, prim_funcs=prim_funcs))

    @property
    def silent_steps(self) -> frozenset[int]:
        """Steps without code, around which no hook is called either: views, and joins of arguments that are
        all there, unless copies of constants are begun in them or they are the last one, with new state."""
        prims = self.steps.prim_funcs
        begun = {0 if copy.copied_at is None else copy.copied_at for copy in self.constants.staged}
        last = {len(prims) - 1} if self.copied_states else set[int]()
        return frozenset(
            step for step, prim in enumerate(prims) if not prim.is_call and step not in begun | last
        )

    @property
    def copy_limits(self) -> Mapping[str, int]:
        """Pool -> bytes that copies of constants may end at: where state alone is to lie there are none."""
        taken = {state.memory for state in self.signature.states}
        pools = self.memory.problem.pools
        return {pool.name: pool.limit_bytes for pool in pools if pool.name not in taken}

    @property
    def copied_states(self) -> tuple[tuple[IoTensor, IoTensor], ...]:
        """State whose new value lies elsewhere, so that the last step has to copy it."""
        slices = self.memory.slices
        pairs = self.signature.state_tensors
        return tuple((old, new) for old, new in pairs if slices[old.value] != slices[new.value])


@dataclass(frozen=True, kw_only=True, slots=True)
class BundlePool:
    """A pool with bytes in it, as the firmware has it: `size_bytes` is the size of its array."""

    name: str
    region: str
    section: str
    alignment: int
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """Programs of one firmware. Raises ValueError for none, two of one name, programs of several boards, or
    one that does not lie inside the pools."""

    prefix: str
    """C prefix of the pools and constants: the model's name if there is one model."""
    programs: tuple[Program, ...]
    pools: tuple[BundlePool, ...]
    """In the board's order."""
    bases: Mapping[tuple[str, str], int]
    """(model, pool) -> where in the pool the model's offset 0 lies, in bytes; where a model has bytes."""
    constants: tuple[ConstantPool, ...]
    users: Mapping[tuple[str, str], str]
    """(model, primfunc) -> what the users of `constants` call it."""
    concurrent: tuple[tuple[str, ...], ...] = ()
    """Models that may run at the same time, a tuple a set: their bytes are apart."""
    plan: MemoryPlan | None = None
    """How the bases were found; None where all of them are 0."""

    def __post_init__(self) -> None:
        if not self.programs:
            raise ValueError("nothing to render: a bundle without programs")
        if len({program.name for program in self.programs}) != len(self.programs):
            raise ValueError("two programs have the same C prefix")
        if any(program.board != self.programs[0].board for program in self.programs):
            raise ValueError("programs for several boards cannot share one folder")
        object.__setattr__(self, "bases", MappingProxyType(dict(self.bases)))
        object.__setattr__(self, "users", MappingProxyType(dict(self.users)))
        sizes = {pool.name: pool for pool in self.pools}
        for program in self.programs:
            for pool_need in own_pools(program):
                pool, base = sizes[pool_need.name], self.base(program.name, pool_need.name)
                if base % pool_need.alignment or pool.alignment % pool_need.alignment:
                    raise ValueError(f"{program.name} is not aligned in pool {pool_need.name}")
                if base < 0 or base + pool_need.size_bytes > pool.size_bytes:
                    raise ValueError(f"{program.name} does not lie in pool {pool_need.name}")

    @property
    def is_single(self) -> bool:
        """True if there is one model, which then owns what several models would share."""
        return len(self.programs) == 1

    def base(self, model: str, pool: str) -> int:
        """Offset in `pool` of the first byte of `model`; the model has bytes there."""
        return self.bases[model, pool]

    def sharers(self, model: str) -> tuple[str, ...]:
        """The other models that never run while `model` does, so that they may use its bytes."""
        beside = {name for group in self.concurrent if model in group for name in group}
        return tuple(program.name for program in self.programs if program.name not in {*beside, model})


def own_pools(program: Program) -> tuple[BundlePool, ...]:
    """The pools that a program needs by itself, each as large as its peak: limits hold for arrays too."""
    needs: list[BundlePool] = []
    for pool in program.memory.problem.pools:
        peak = program.memory.peak_bytes(pool.name)
        if peak:
            needs.append(
                BundlePool(
                    name=pool.name,
                    region=pool.region,
                    section=pool.section or f".bss.cg.{pool.name}",
                    alignment=pool_alignment(program.memory.problem, program.memory.plan, pool.name),
                    size_bytes=peak,
                )
            )
    return tuple(needs)


def bundle_peak(bundle: Bundle, pool: str) -> int:
    """One past the last byte of a pool that any model of a bundle uses; 0 if none does."""
    ends = (
        bundle.base(program.name, pool) + program.memory.peak_bytes(pool)
        for program in bundle.programs
        if (program.name, pool) in bundle.bases
    )
    return max(ends, default=0)


def core_of(prim: PrimFunc) -> int:
    """The core that calls the kernel of a step: that of its result's device id, 0 where it has none or the
    kernel drives a device itself."""
    placed = prim.let.var.device.device_id if prim.is_call and prim.device.is_free else None
    return placed or 0


def second_core_steps(program: Program) -> tuple[int, ...]:
    """Steps that core 1 runs, in order."""
    return tuple(step for step, prim in enumerate(program.steps.prim_funcs) if core_of(prim))


def uses_second_core(programs: Iterable[Program]) -> bool:
    """True if any step of any program runs on core 1."""
    return any(second_core_steps(program) for program in programs)
