"""PrimFunc: one call bound to a kernel, with its workspaces, linked constants and sharing rules."""

from dataclasses import dataclass

import numpy as np

from codegen.ir import ANYWHERE, DType, Let, Var, VirtualDevice
from codegen.kernels.memory_demand import MemoryDemand
from codegen.kernels.rows import Axis
from codegen.kernels.split import Split


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """Bytes a kernel needs while it runs, alive in the sub-steps `[start, stop)` of its step."""

    name: str
    size_bytes: int
    alignment: int = 4
    start: int = 0
    stop: int = 1
    is_activation: bool = False
    """It holds (part of) a value of the model, as the lines of a block do: no workspace in reports."""
    reads: float = 1.0
    writes: float = 1.0
    """How often each byte is read and written in one run, on average."""

    def __post_init__(self) -> None:
        if self.size_bytes <= 0 or not 0 <= self.start < self.stop:
            raise ValueError(
                f"workspace {self.name}: size {self.size_bytes}, sub-steps [{self.start}, {self.stop})"
            )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LinkedConstant:
    """Read-only data as the kernel wants it (packed). `role` names it in the kernel's call, e.g. `bias`."""

    role: str
    data: np.ndarray
    alignment: int
    section: str | None = None
    memory_scope: str | None = None
    reads: float | None = None
    """How often each byte is read in one inference, on average; None: `constant_reads` derives it."""
    op: str = ""
    steps: tuple[str, ...] = ()
    """Inside a block its operator, and the names of its step (kernel's call, file's tensor); else empty."""
    layout: str = ""
    """What follows what, in one line for whoever reads the generated table."""

    def __post_init__(self) -> None:
        if self.data.ndim != 1:
            raise ValueError(f"linked constant {self.role} must be flat")
        self.data.setflags(write=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sharing:
    """How far the result may overlap argument `argument`, which must die in this step.

    `below`: the result may start below the argument as soon as offset(result) + below <= offset(argument)
    (below = result bytes: plain disjointness; 0: in place; may be negative). `above`: the mirror,
    offset(argument) + above <= offset(result). None: only plain disjointness on that side.
    Source: diagonal memory optimisation, arXiv 2010.01668.
    """

    argument: int
    below: int | None = None
    above: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """The result is the bytes of argument `argument` from `offset_bytes` on: no code runs."""

    argument: int
    offset_bytes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantPointer:
    """In C: the address of this PrimFunc's linked constant `role`."""

    role: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StructPointer:
    """In C: the first element of this PrimFunc's array of structs `suffix`, defined before."""

    suffix: str


@dataclass(frozen=True, kw_only=True, slots=True)
class UserSource:
    """A source that a user wrote: where it goes in the emitted folder, what it says."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reverse:
    """The same call from the last pixel to the first: the C function `symbol` in `sources`."""

    symbol: str
    sources: tuple[str, ...]


CScalar = int | float | bool


@dataclass(frozen=True, kw_only=True, slots=True)
class CStruct:
    """A `static const c_type` object named `<primfunc>_<suffix>`; fields in order of initialisation.

    A field is a number, a constant's address, another struct's, None (NULL), or a nested tuple of fields;
    those of an array are called `[0]`, `[1]`, ...
    """

    suffix: str
    c_type: str
    fields: tuple[tuple[str, object], ...]
    is_array: bool = False
    """The object is an array of `c_type`, and `fields` are its elements."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StructArg:
    """Pass the address of the struct `suffix`."""

    suffix: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueArg:
    """Pass the address of call argument `index` (run-time value or linked constant of a const argument)."""

    index: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultArg:
    """Pass the address of the result."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkspaceArg:
    """Pass the address of workspace `name`."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantArg:
    """Pass the address of linked constant `role`."""

    role: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LiteralArg:
    """Pass a number as it is."""

    value: CScalar


@dataclass(frozen=True, kw_only=True, slots=True)
class NullArg:
    """Pass NULL: there is nothing to read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArrayArg:
    """Pass an array of addresses, in C `(const void *const[]){a, b}`."""

    items: tuple[ValueArg | ConstantArg | NullArg, ...]


CallArg = StructArg | ValueArg | ResultArg | WorkspaceArg | ConstantArg | LiteralArg | NullArg | ArrayArg


@dataclass(frozen=True, kw_only=True, slots=True)
class RowKernel:
    """The C function that computes one row of a kernel's result, for blocks.

    With a window it is called (..., rows of the argument, address, y, x_start, x_stop), else, by elements,
    (..., addresses of the arguments, address, count); `...`: the PrimFunc's `call_args` in front of its first
    value, without workspaces of the whole step.
    """

    symbol: str
    window: tuple[Axis, Axis] | None = None
    """Rows and columns of the window."""
    workspace: Workspace | None = None
    """What it needs while it computes a row, passed as the last of `...`; nothing in it outlives the call."""
    reads_row_last: bool = False
    """It reads a row's windows until its last write, as by groups of channels. Otherwise a pixel's window is
    read before the pixel is written, and pixels are written in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lines:
    """An image of a block: an argument or the result in whole, or a ring of the last `ring_rows` rows."""

    name: str
    place: ValueArg | ResultArg | WorkspaceArg
    columns: int
    """Columns held: the whole image's, or those of the widest stripe."""
    dtype: DType
    pixel_bytes: int
    ring_rows: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockStage:
    """One layer of a block, or the delivery of a streamed input; stage i fills `Block.lines[i]`."""

    name: str
    op: str
    """Name of the operator; empty for a streamed input."""
    kernel: RowKernel | None
    """None: the caller delivers the row."""
    leading: tuple[CallArg, ...] = ()
    """Arguments of the C function in front of the images."""
    sources: tuple[int, ...] = ()
    """Lines it reads, in the order of the call."""
    producers: tuple[int, ...] = ()
    """Stages it reads from, in order of demand."""
    stride: int = 1
    reach: int = 0
    last_row: int = 0
    """As in `cg_stage`."""
    rows: int
    """Rows it computes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Several layers computed together, row by row (`cg_next_stage`), once for each stripe of columns."""

    stages: tuple[BlockStage, ...]
    lines: tuple[Lines, ...]
    """Of every stage, then of every argument."""
    stripes: tuple[tuple[tuple[int, int], ...], ...]
    """Per stripe and stage: columns [start, stop)."""
    streamed: str | None = None
    """The argument that is delivered row by row, by stage 0."""


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
    """Where `symbol` wants what it works on; whatever is not listed may lie anywhere."""
    device: VirtualDevice = ANYWHERE
    """What `symbol` drives, if that is not the board's core: target and device id alone."""
    constants: tuple[LinkedConstant, ...] = ()
    sharing: tuple[Sharing, ...] = ()
    """What `symbol` permits below an argument, and above it (or what `reverse` does, if there is one)."""
    reverse: Reverse | None = None
    """How to run it where the plan has its result above an argument, as far as `sharing` permits."""
    view: View | None = None
    in_place: int | None = None
    """The result replaces run-time argument `in_place`, as large as it, which nobody reads any more."""
    joined: tuple[int, ...] = ()
    """Run-time arguments born in the result's bytes, where they come side by side; `symbol` copies others."""
    structs: tuple[CStruct, ...] = ()
    call_args: tuple[CallArg, ...] = ()
    macs: int = 0
    pixels_at_once: int = 1
    """Results that are computed from one reading of the weights: pixels of a tile."""
    instructions: int | None = None
    """Predicted for one call, by the kernel's own model on its instruction set; None: there is no model."""
    headers: tuple[str, ...] = ("cg_kernels.h",)
    """Headers of the runtime that declare `symbol` and the row kernel."""
    rows: RowKernel | None = None
    """How a block runs this call; None: not at all."""
    split: Split | None = None
    """How the call can be made by groups of outputs; None: not at all."""
    block: Block | None = None
    """The layers, if it is a block: `symbol` is then a function rendered for it, called with `call_args`."""

    def __post_init__(self) -> None:
        arity = len(self.let.call.args)
        if not self.argument_stops:
            object.__setattr__(self, "argument_stops", (self.sub_steps,) * arity)
        if not self.reads:
            object.__setattr__(self, "reads", (1.0,) * arity)
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
        if sum(0 if arg is None else arg.type.size_bytes for arg in args) != self.let.var.type.size_bytes:
            raise ValueError(f"{self.name}: the arguments side by side are not as large as the result")
        for index in self.joined:
            if not isinstance(args[index], Var) or args.count(args[index]) > 1:
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
    def is_call(self) -> bool:
        """Whether code runs: the bytes of a view are there already, as are arguments that are all joined."""
        return self.symbol != ""

    @property
    def joins(self) -> tuple[tuple[Var, int], ...]:
        """(argument, its offset in the result's bytes) of every joined argument, in order."""
        found: list[tuple[Var, int]] = []
        offset = 0
        for index, arg in enumerate(self.let.call.args if self.joined else ()):
            if index in self.joined and isinstance(arg, Var):
                found.append((arg, offset))
            offset += 0 if arg is None else arg.type.size_bytes
        return tuple(found)

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
        found: frozenset[str] | None = None
        for demand in self.memory:
            if (demand.argument, demand.workspace) == (argument, workspace):
                scopes = frozenset(demand.scopes)
                found = scopes if found is None else found & scopes
        return found

    def constant(self, role: str) -> LinkedConstant:
        """The linked constant called `role`; raises KeyError."""
        return {constant.role: constant for constant in self.constants}[role]
