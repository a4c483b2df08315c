"""Drawn layers that are rounded as ONNX does, for one kernel each."""

from codegen.board import load_board
from codegen.ir import DType
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from tests.fuzz.layers import drawn
from tests.fuzz.rounded import kernels_of_kind
from tests.kernels.layers import Layer


def layers_of(
    op: str, kernel: str, count: int, *, least_macs: int, board: str, any_border: bool = False
) -> list[Layer]:
    """The first drawn layers that count and that the kernel takes; whole bands and groups of channels.

    Depthwise ones have, but for `any_border`, an image twice as large as the window, padded by half a window
    at most: kernels through lines count those beyond the border as if they were there.
    """
    [wanted] = [each for each in kernels_of_kind(op) if each.name == kernel]
    dtype = DType.INT16 if "s16" in kernel.split("_") else DType.INT8
    found: list[Layer] = []
    seed = 0
    while len(found) < count:
        layer = drawn(op, dtype, seed)
        call = layer.let.call
        is_large = call.op.macs(call.attrs, call.types, layer.let.var.type) >= least_macs
        is_depthwise = op == "DEPTHWISE_CONV_2D/onnx" and not any_border
        is_large &= not is_depthwise or not any(layer.let.var.type.shape[axis] % 4 for axis in (1, 3))
        is_large &= not is_depthwise or _is_mostly_inside(layer)
        if is_large and wanted.refusal(layer.let, load_board(board).target) is None:
            found.append(layer)
        seed += 1
    return found


def _is_mostly_inside(layer: Layer) -> bool:
    attrs, (image, weights) = narrow(layer.let.call.attrs, DepthwiseConvAttrs), layer.let.call.args[:2]
    assert image is not None and weights is not None
    rows, columns = weights.type.shape[1:3]
    pads = attrs.padding
    is_wide = image.type.shape[1] >= 2 * rows and image.type.shape[2] >= 2 * columns
    return is_wide and max(pads.top, pads.bottom) <= rows // 2 and max(pads.left, pads.right) <= columns // 2
