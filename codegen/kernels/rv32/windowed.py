"""Calls of RV32 kernels that copy or pack windows into a workspace first, by scalars or by vectors."""

from dataclasses import dataclass, replace

from codegen.ir import Let
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import FastKernel, row_kernel
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.tiles import PixelTiling, tiled_below
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.base.weighted import DEPTHWISE
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rv32.packing import scale_reason


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowedCall:
    """Parts of a call that depend on the instruction set: function, files, parameters, constants."""

    symbol: str
    """C function; its row kernel has `_row` behind the name."""
    sources: tuple[str, ...]
    header: str
    space: Workspace
    constants: tuple[LinkedConstant, ...]
    struct: str
    fields: Fields
    """Fields of the struct, behind the window's."""
    instructions: int

    def bound(self, kernel: FastKernel, let: Let, name: str, window: WindowShape) -> PrimFunc:
        """Bind the call; overlaps and repeated reads are up to the caller."""
        row = None if kernel.is_in_place else row_kernel(let, f"{self.symbol}_row", window)
        return PrimFunc(
            name=name,
            let=let,
            kernel=kernel.name,
            symbol=self.symbol,
            sources=self.sources,
            headers=(self.header,),
            workspaces=(self.space,),
            constants=self.constants,
            structs=(params(self.struct, ("window", window.fields), *self.fields),),
            call_args=(
                PARAMS,
                WorkspaceArg(name=self.space.name),
                RESULT if kernel.is_in_place else ARGUMENT,
                RESULT,
            ),
            instructions=self.instructions,
            rows=None if row is None else replace(row, workspace=self.space),
            in_place=0 if kernel.is_in_place else None,
        )


def tiled(bound: PrimFunc, window: WindowShape, tiles: PixelTiling, pixels: int) -> PrimFunc:
    """`bound`, which computes `tiles` of up to `pixels` pixels from their windows."""
    return replace(
        bound,
        reads=(window.reads(1), *bound.reads[1:]),
        sharing=forward_sharing(bound.let, 0, tiled_below(window, tiles)),
        pixels_at_once=pixels,
    )


def by_kept_rows(bound: PrimFunc, below: int | None) -> PrimFunc:
    """`bound`, which reads rows once and keeps them; `below`: least safe distance in elements."""
    if bound.in_place is not None:
        return bound
    rows = None if bound.rows is None else replace(bound.rows, reads_row_last=True)
    return replace(bound, sharing=forward_sharing(bound.let, 0, below), rows=rows)


class KeptRowsDepthwise(FastKernel):
    """Depthwise convolution of 3x3, stride 1 or 2, multiplier 1."""

    op = "DEPTHWISE_CONV_2D"

    def other_reason(self, let: Let) -> str | None:
        """Refuse another window, stride, dilation or multiplier; a scale that is not requantized the short
        way."""
        attrs, window = narrow(let.call.attrs, DepthwiseConvAttrs), DEPTHWISE.window(let)
        if window.window != (3, 3) or window.stride not in ((1, 1), (2, 2)) or window.dilation != (1, 1):
            return f"the kernel {self.name} is for 3x3 windows of stride 1 or 2"
        if attrs.multiplier != 1:
            return f"the kernel {self.name} is for one result an input channel"
        return scale_reason(let, DEPTHWISE)

    def group_of(self, window: WindowShape) -> int:
        """Channels whose rows are kept together."""
        return window.image[3]
