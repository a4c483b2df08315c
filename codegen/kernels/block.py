"""Blocks: several layers computed together, row by row, as one step."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from codegen.ir import DType
from codegen.ir.numbers import Number, Varying
from codegen.kernels.call import CallArg, ResultArg, ValueArg, WorkspaceArg, numbers_in
from codegen.kernels.contract import Workspace
from codegen.kernels.rows import Axis, Band, Grid

Span = tuple[int, int]
"""Columns [start, stop)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RowKernel:
    """The C function that computes one row of a kernel's result, or a few, for blocks.

    With a window it is called (..., rows of the argument, address, y, x_start, x_stop), for several rows with
    the rows of the result in place of the address; else, by elements, (..., addresses of the arguments,
    address, count). `...`: the PrimFunc's `call_args` in front of its first
    value, without workspaces of the whole step.
    """

    symbol: str
    window: tuple[Axis, Axis] | None = None
    """Rows and columns of the window."""
    workspace: Workspace | None = None
    """Bytes that a call needs, the last of its `...`; they hold nothing between calls."""
    reads_row_last: bool = False
    """It reads a row's windows until its last write, as by groups of channels. Otherwise a pixel's window is
    read before the pixel is written, and pixels are written in order."""
    turn_rows: int = 1
    """Rows of the result that a call computes, from a multiple of so many on; at the end those left."""
    price: Callable[[int, Span], float] | None = None
    """Instructions of a number of rows, from the first one on, in a stripe of columns. None: those of the
    whole step, in proportion to the pixels."""

    def __post_init__(self) -> None:
        if self.turn_rows > 1 and (self.window is None or not self.reads_row_last):
            raise ValueError(f"{self.symbol}: several rows are for windows, read until the last write")

    def renamed(self, names: Mapping[str, str]) -> "RowKernel":
        """Copy with the C function called by its new name in `names`, if it is there."""
        return replace(self, symbol=names.get(self.symbol, self.symbol))


@dataclass(frozen=True, kw_only=True, slots=True)
class Lines:
    """An image of a block: an argument or the result in whole, or a ring of the last `ring_rows` rows."""

    name: str
    place: ValueArg | ResultArg | WorkspaceArg
    columns: Number
    """Columns held: the whole image's, or those of the widest stripe."""
    dtype: DType
    pixel_bytes: int
    ring_rows: Number


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockStage:
    """One layer of a block, or the delivery of a streamed input; stage i fills `Block.lines[i]`."""

    name: str
    op: str
    """Name of the operator; empty for a streamed input."""
    kernel: RowKernel | None
    """Kernel of the layer; None: the caller delivers the row."""
    binding: str = ""
    """Registry name of the kernel that the step is bound to."""
    leading: tuple[CallArg, ...] = ()
    """Arguments of the C function in front of the images."""
    sources: tuple[int, ...] = ()
    """Lines it reads, in the order of the call."""
    producers: tuple[int, ...] = ()
    """Stages it reads from, in order of demand."""
    stride: int = 1
    reach: Number = 0
    last_row: Number = 0
    """Last row that is computed together with the next one, as in `cg_stage`."""
    rows: Number
    """Rows it computes."""

    @property
    def turn_rows(self) -> int:
        """Rows it computes together."""
        return self.kernel.turn_rows if self.kernel else 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Several layers computed together, row by row (`cg_next_stage`), once for each stripe of columns of each
    band of each image."""

    stages: tuple[BlockStage, ...]
    lines: tuple[Lines, ...]
    """Lines of every stage, then of every argument."""
    stripes: tuple[tuple[tuple[Number, Number], ...], ...]
    """Columns [start, stop) by stripe and stage."""
    bands: tuple[Band, ...] = ()
    """Bands of rows, each of which all stripes go through before the next one; none for all rows at once."""
    images: Number = 1
    """Images of arguments and result, one behind the other; lines serve one after the other."""
    streamed: str | None = None
    """The argument that is delivered row by row, by stage 0."""

    @property
    def call_args(self) -> tuple[CallArg, ...]:
        """Passed to the block's function: arguments, result, lines, and workspaces of its row kernels."""
        count = len(self.stages)
        images = (line.place for line in (*self.lines[count:], *reversed(self.lines[:count])))
        leading = (arg for stage in self.stages for arg in stage.leading)
        spaces = dict.fromkeys(arg for arg in leading if isinstance(arg, WorkspaceArg))
        return (*images, *spaces)

    @property
    def grid(self) -> Grid:
        """The patches that it is cut into."""
        return Grid(stripes=len(self.stripes), band_rows=self.bands[0].stop if self.bands else None)

    @property
    def symbols(self) -> tuple[str, ...]:
        """C functions of the runtime that it calls."""
        return tuple(stage.kernel.symbol for stage in self.stages if stage.kernel)

    def renamed(self, names: Mapping[str, str]) -> "Block":
        """Copy with C functions called by their new names in `names`."""
        stages = (
            replace(stage, kernel=stage.kernel and stage.kernel.renamed(names)) for stage in self.stages
        )
        return replace(self, stages=tuple(stages))

    @property
    def numbers(self) -> Iterator[Varying]:
        """Everything in it that depends on sizes known at run time only."""
        for stage in self.stages:
            yield from numbers_in((stage.leading, stage.reach, stage.last_row, stage.rows))
        for line in self.lines:
            yield from numbers_in((line.columns, line.ring_rows))
        yield from numbers_in((self.stripes, self.images))
