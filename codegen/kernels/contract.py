"""Facts that planning needs of a kernel: workspaces, linked constants, memory demands, permitted overlap."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.ir.function import ReadOnlyData


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """Bytes a kernel needs while it runs, alive in the sub-steps `[start, stop)` of its step; 0 of a size at
    which it needs none."""

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
        if self.size_bytes < 0 or not 0 <= self.start < self.stop:
            raise ValueError(
                f"workspace {self.name}: size {self.size_bytes}, sub-steps [{self.start}, {self.stop})"
            )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LinkedConstant(ReadOnlyData):
    """Read-only data as the kernel wants it (packed). `role` names it in the kernel's call, e.g. `bias`."""

    role: str
    reads: float | None = None
    """How often each byte is read in one inference, on average; None: `constant_reads` derives it."""
    op: str = ""
    steps: tuple[str, ...] = ()
    """Names of its step inside a block (kernel's call, file's tensor), `op` the step's operator; else
    empty."""
    layout: str = ""
    """Order of the data, in one line for readers of the generated table."""
    is_plain: bool = False
    """True if each element is a number that a person reads (a bias, a shift, a result): C has it in decimal.
    Other integers are packed for the kernel: C has their bits in hexadecimal, as they lie in memory."""
    rounded: tuple[int, int] | None = None
    """Output channels rounded as ONNX does: those by a fixed point that is proved equal, and those by
    float32. None: the layer rounds as TFLite does."""

    def mistake(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str | None:
        del dtype
        return None if len(shape) == 1 else f"linked constant {self.role} must be flat"


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
class Inlet:
    """Argument `argument` may be born in the result's bytes, `offset_bytes` from their first: the step works
    there. An argument that lies elsewhere is copied there."""

    argument: int
    offset_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """The result is the bytes of argument `argument` from `offset_bytes` on: no code runs."""

    argument: int
    offset_bytes: int = 0
    is_alone: bool = False
    """Bytes of the argument beside these are free once nobody reads the argument by its own name."""


DMA = "dma"
"""Word for every pool that DMA reaches (`Region.dma`); boards say which those are."""
NPU = "npu"
"""Word for every pool that the board's NPU reaches."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryDemand:
    """Argument `argument`, workspace `workspace` or, where neither is set, the result has to lie in one of
    the pools `scopes`.

    As kernels state it, `scopes` may hold `DMA` or `NPU`; once devices are planned it holds names of pools.
    Raises ValueError for a demand of both, or of no memory at all.
    """

    scopes: tuple[str, ...]
    argument: int | None = None
    workspace: str | None = None
    who: str = ""
    """Name of whoever demands it, if that is not the kernel."""

    def __post_init__(self) -> None:
        if not self.scopes or (self.argument is not None and self.workspace is not None):
            raise ValueError(f"a demand of one thing, for some memory: {self}")

    @property
    def what(self) -> str:
        """Words of messages for what has to lie there."""
        if self.argument is not None:
            return f"argument {self.argument}"
        return "its result" if self.workspace is None else f"workspace {self.workspace}"
