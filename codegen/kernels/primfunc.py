"""PrimFunc: one call bound to a kernel, with its workspaces, linked constants and sharing rules."""

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.ir import ANYWHERE, Let, Var, VirtualDevice
from codegen.ir.numbers import Varying
from codegen.kernels.block import Block, RowKernel
from codegen.kernels.call import CallArg, CStruct, Reverse, Split, UserSource, numbers_in
from codegen.kernels.contract import Inlet, LinkedConstant, MemoryDemand, Sharing, View, Workspace
from codegen.kernels.loop import LoopBody


@dataclass(frozen=True, kw_only=True, slots=True)
class PrimFunc:
    """`let` bound to kernel `symbol`.

    Time inside the step is divided into `sub_steps`; argument i is read for the last time before
    sub-step `argument_stops[i]` (default: to the end), the result is written from `result_start` on.
    """

    name: str
    let: Let
    kernel: str
    """Registry name of the kernel, e.g. `conv2d_s8_portable`."""
    symbol: str = ""
    """C function called; empty where no code runs (`is_call`)."""
    sources: tuple[str, ...] = ()
    """Files below runtime_c that must be compiled, e.g. `kernels/portable/conv2d_s8.c`."""
    user_source: UserSource | None = None
    """The file that defines `symbol` where a user wrote it; generated code declares it."""
    sub_steps: int = 1
    argument_stops: tuple[int, ...] = ()
    result_start: int = 0
    argument_alignment: int = 1
    """Alignment in bytes the kernel demands of every run-time argument and of the result."""
    reads: tuple[float, ...] = ()
    """How often the C code loads each byte of argument i (default: once); it stores results once."""
    workspaces: tuple[Workspace, ...] = ()
    memory: tuple[MemoryDemand, ...] = ()
    """Memories for what `symbol` works on; whatever is not listed may lie anywhere."""
    device: VirtualDevice = ANYWHERE
    """Device that `symbol` drives, if that is not the board's core: target and device id alone."""
    constants: tuple[LinkedConstant, ...] = ()
    sharing: tuple[Sharing, ...] = ()
    """Overlap that `symbol` permits below an argument, and above it (or what `reverse` permits there)."""
    reverse: Reverse | None = None
    """The call for plans with the result above an argument, as far as `sharing` permits."""
    view: View | None = None
    in_place: int | None = None
    """The result replaces run-time argument `in_place`, as large as it, which nobody reads any more."""
    joined: tuple[int, ...] = ()
    """Run-time arguments born in the result's bytes, where they come side by side; `symbol` copies others."""
    inlets: tuple[Inlet, ...] = ()
    """Places in the result's bytes where the step works on arguments, if it does: `joined` is of those."""
    changed: tuple[tuple[int, int], ...] = ()
    """With inlets: bytes [start, stop) of the result that `symbol` writes beside copied arguments. The others
    keep what they held."""
    result_alignment: int = 1
    """Alignment in bytes that is demanded of the result alone."""
    structs: tuple[CStruct, ...] = ()
    call_args: tuple[CallArg, ...] = ()
    macs: int = -1
    """Multiply-accumulates; by default those of `let`."""
    pixels_at_once: int = 1
    """Results that are computed from one reading of the weights: pixels of a tile."""
    instructions: int | None = None
    """Predicted instructions of one call, by the kernel's own model on its instruction set; None: there is no
    model."""
    measured_instructions: int | None = None
    """Instructions of one call by measured rates, for sums where there is no model. No kernel is selected
    by it."""
    cycles: int | None = None
    """Predicted cycles of one call where a part's flash is named (`--memory-model`), or the core's family
    compares kernels by cycles: they are chosen by it."""
    headers: tuple[str, ...] = ("cg_kernels.h",)
    """Headers of the runtime that declare `symbol` and the row kernel."""
    rows: RowKernel | None = None
    """How a block runs this call; None: not at all."""
    split: Split | None = None
    """How the call can be made by groups of outputs; None: not at all."""
    block: Block | None = None
    """The layers, if it is a block: `symbol` is then a function rendered for it, called with `call_args`."""
    loop: LoopBody | None = None
    """Steps that run again and again, if it is a loop: `symbol` is a function rendered for it too."""

    def __post_init__(self) -> None:
        arity = len(self.let.call.args)
        self._fill_in(arity)
        if len(self.reads) != arity:
            raise ValueError(f"{self.name}: {len(self.reads)} numbers of reads for {arity} arguments")
        if len(self.argument_stops) != arity or not 0 <= self.result_start < self.sub_steps:
            raise ValueError(f"{self.name}: sub-steps of arguments or result are wrong")
        if any(space.stop > self.sub_steps for space in self.workspaces):
            raise ValueError(f"{self.name}: a workspace outlives its step")
        for demand in self.memory:
            self._check_demand(demand)
        if self.joined:
            self._check_joined()
        silent = self.view is not None or len(self.joined) == arity > 0
        if silent == self.is_call:
            raise ValueError(f"{self.name}: a PrimFunc calls a symbol unless its result's bytes are there")
        if self.in_place is not None:
            self._check_in_place(self.in_place)

    def _fill_in(self, arity: int) -> None:
        if not self.argument_stops:
            object.__setattr__(self, "argument_stops", (self.sub_steps,) * arity)
        # What is not listed is read once.
        object.__setattr__(self, "reads", (*self.reads, *(1.0,) * (arity - len(self.reads))))
        if self.macs < 0:
            object.__setattr__(self, "macs", self.let.macs)

    def _check_demand(self, demand: MemoryDemand) -> None:
        spaces = [space.name for space in self.workspaces]
        known = demand.workspace in spaces if demand.workspace is not None else self.is_call
        if demand.argument is not None:
            known = 0 <= demand.argument < len(self.let.call.args)
        if not known:
            raise ValueError(f"{self.name}: demands a memory for {demand.what}, which it has not")

    def _check_joined(self) -> None:
        args = self.let.call.args
        if self.view is not None or self.in_place is not None or self.sharing:
            raise ValueError(f"{self.name}: a step that joins its arguments ties its result in no other way")
        if (
            not self.inlets
            and sum(0 if arg is None else arg.type.size_bytes for arg in args) != self.let.var.type.size_bytes
        ):
            raise ValueError(f"{self.name}: the arguments side by side are not as large as the result")
        passed = self.let.call.times_passed()
        for index in self.joined:
            arg = args[index]
            if not isinstance(arg, Var) or passed[arg.name] > 1:
                raise ValueError(f"{self.name}: argument {index} cannot lie in the result's bytes")
        if tuple(sorted(set(self.joined))) != self.joined:
            raise ValueError(f"{self.name}: joined arguments are listed in order, once each")

    def _check_in_place(self, index: int) -> None:
        replaced = self.let.call.args[index]
        if not isinstance(replaced, Var) or self.view is not None:
            raise ValueError(f"{self.name}: only a call can replace a run-time argument")
        if replaced.type.size_bytes != self.let.var.type.size_bytes:
            raise ValueError(f"{self.name}: the result is not as large as the argument it replaces")
        if self.let.call.args.count(replaced) > 1:
            raise ValueError(f"{self.name}: the argument it replaces is another argument too")

    @property
    def numbers(self) -> Iterator[Varying]:
        """Everything in its call that depends on sizes known at run time only."""
        yield from numbers_in((*(struct.fields for struct in self.structs), *self.call_args))
        if self.block is not None:
            yield from self.block.numbers

    @property
    def symbols(self) -> tuple[str, ...]:
        """C functions of the runtime or the user that it calls: of a block, those of its layers."""
        if self.loop is not None:
            return self.loop.symbols
        if self.block is not None:
            return self.block.symbols
        return (self.symbol,) if self.symbol else ()

    @property
    def is_rendered(self) -> bool:
        """True if `symbol` is a function that is rendered for this step."""
        return self.block is not None or self.loop is not None

    @property
    def work(self) -> int | None:
        """Cost by which kernels are chosen: predicted cycles where there are some, else instructions."""
        return self.instructions if self.cycles is None else self.cycles

    @property
    def is_call(self) -> bool:
        """True if code runs. The bytes of a view are there already, as are arguments that are all joined."""
        return self.symbol != ""

    @property
    def joins(self) -> tuple[tuple[Var, int], ...]:
        """(argument, its offset in the result's bytes) of every joined argument, in order."""
        placed: list[tuple[Var, int]] = []
        offset = 0
        if self.inlets:
            places = [(self.let.call.args[inlet.argument], inlet) for inlet in self.inlets]
            return tuple(
                (arg, inlet.offset_bytes)
                for arg, inlet in places
                if isinstance(arg, Var) and inlet.argument in self.joined
            )
        for index, arg in enumerate(self.let.call.args if self.joined else ()):
            if index in self.joined and isinstance(arg, Var):
                placed.append((arg, offset))
            offset += 0 if arg is None else arg.type.size_bytes
        return tuple(placed)

    def consumes(self, index: int) -> bool:
        """True if nothing is left of argument `index` that was born in the result's bytes."""
        [start] = [inlet.offset_bytes for inlet in self.inlets if inlet.argument == index]
        arg = self.let.call.args[index]
        stop = start + (0 if arg is None else arg.type.size_bytes)
        return any(first < stop and start < end for first, end in self.written)

    @property
    def written(self) -> tuple[tuple[int, int], ...]:
        """With inlets: bytes [start, stop) of the result that the step writes."""
        copied = [inlet for inlet in self.inlets if inlet.argument not in self.joined]
        sizes = [(inlet.offset_bytes, self.let.call.args[inlet.argument]) for inlet in copied]
        places = ((at, at + arg.type.size_bytes) for at, arg in sizes if arg is not None)
        return (*self.changed, *places)

    @property
    def worked_on(self) -> tuple[tuple[int, int], ...]:
        """With inlets: bytes [start, stop) of the result that the step writes or takes as arguments."""
        joined = ((start, start + arg.type.size_bytes) for arg, start in self.joins)
        return (*self.written, *joined)

    @property
    def tied(self) -> tuple[int, int] | None:
        """(argument whose bytes hold the result, offset in them) of a view or in place; else None."""
        if self.view is not None:
            return self.view.argument, self.view.offset_bytes
        return None if self.in_place is None else (self.in_place, 0)

    @property
    def constant_bytes(self) -> int:
        """Bytes of all its linked constants."""
        return sum(constant.data.nbytes for constant in self.constants)

    def allowed(self, *, argument: int | None = None, workspace: str | None = None) -> frozenset[str] | None:
        """Pools in which an argument, a workspace or (with neither) the result may lie; None: in any."""
        pools: frozenset[str] | None = None
        for demand in self.memory:
            if (demand.argument, demand.workspace) == (argument, workspace):
                scopes = frozenset(demand.scopes)
                pools = scopes if pools is None else pools & scopes
        return pools

    def constant(self, role: str) -> LinkedConstant:
        """The linked constant called `role`; raises KeyError."""
        return {constant.role: constant for constant in self.constants}[role]
