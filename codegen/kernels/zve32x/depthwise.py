"""DEPTHWISE_CONV_2D, 3x3, on RV32IM cores with vectors: through three padded rows of the image."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import FastKernel, arg_type, row_kernel
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import DEPTHWISE
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, WorkspaceArg
from codegen.kernels.contract import Workspace
from codegen.kernels.portable.convolution import DEPTHWISE_IN_PLACE_S8, DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rv32.depthwise import LINES, RING_BYTES, columns_of, rows_below
from codegen.kernels.rv32.packing import scale_reason
from codegen.kernels.zve32x.channels import HEADER, ZVE32X, linked_channels, products_fields
from codegen.kernels.zve32x.price import REGISTER_BYTES, depthwise_instructions


class Zve32xDepthwise(FastKernel):
    """3x3, stride 1 or 2, multiplier 1."""

    op, name = "DEPTHWISE_CONV_2D", "depthwise3x3_s8_zve32x"
    kernel_set, portable = ZVE32X, DEPTHWISE_S8

    def other_reason(self, let: Let) -> str | None:
        """Another window, stride, dilation or multiplier; a scale of one half and more."""
        attrs, window = narrow(let.call.attrs, DepthwiseConvAttrs), DEPTHWISE.window(let)
        if window.window != (3, 3) or window.stride not in ((1, 1), (2, 2)) or window.dilation != (1, 1):
            return f"the kernel {self.name} is for 3x3 windows of stride 1 or 2"
        if attrs.multiplier != 1:
            return f"the kernel {self.name} is for one result an input channel"
        return scale_reason(let, DEPTHWISE)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = DEPTHWISE.layer(let, constants)
        if not pairs_fit(layer.weights):
            return self.portable.bind(let, constants, name)
        window, group = layer.window, self.group_of(layer.window)
        space = Workspace(
            name="rows",
            size_bytes=workspace_bytes(window, group),
            reads=float(window.result[1]),
            writes=window.image[1] / LINES,
        )
        row = None if self.is_in_place else row_kernel(let, "cg_depthwise3x3_s8_zve32x_row", window)
        image = RESULT if self.is_in_place else ARGUMENT
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_depthwise3x3_s8_zve32x",
            sources=(
                "kernels/zve32x/copy_s8_zve32x.S",
                "kernels/zve32x/depthwise3x3_rows_s8_zve32x.S",
                "kernels/zve32x/depthwise3x3_s8_zve32x.c",
            ),
            headers=(HEADER,),
            workspaces=(space,),
            constants=linked_channels(layer),
            sharing=() if self.is_in_place else forward_sharing(let, 0, rows_below(window)),
            structs=(
                params(
                    "cg_depthwise_params_zve32x",
                    ("window", window.fields),
                    ("products", products_fields(layer, let.var.type.zero_point)),
                    ("in_zero", arg_type(let, 0).zero_point),
                    ("group", group),
                ),
            ),
            call_args=(PARAMS, WorkspaceArg(name=space.name), image, RESULT),
            instructions=depthwise_instructions(window, group),
            rows=None if row is None else replace(row, workspace=space, reads_row_last=True),
            in_place=0 if self.is_in_place else None,
        )

    def group_of(self, window: WindowShape) -> int:
        """Channels whose rows are kept together."""
        return window.image[3]


class Zve32xDepthwiseInPlace(Zve32xDepthwise):
    """A convolution whose result replaces its image: stride 1, same size, few channels at a time."""

    name, portable = "depthwise3x3_s8_zve32x_in_place", DEPTHWISE_IN_PLACE_S8
    is_in_place = True

    def group_of(self, window: WindowShape) -> int:
        """Channels of the fewest equal groups that `RING_BYTES` allow."""
        depth = window.image[3]
        vectors = -(-depth // REGISTER_BYTES)
        most = max(1, RING_BYTES // workspace_bytes(window, REGISTER_BYTES))
        return min(depth, REGISTER_BYTES * -(-vectors // -(-vectors // most)))


def workspace_bytes(window: WindowShape, channels: int) -> int:
    """Three rows of so many channels."""
    return LINES * columns_of(window) * channels


def pairs_fit(weights: NDArray[np.int8]) -> bool:
    """True if the products of two neighbouring weights [O, 9] with any pixels add up to 16 bits."""
    lowest = np.iinfo(np.int8).min
    return not ((weights[:, 0:8:2] == lowest) & (weights[:, 1:8:2] == lowest)).any()


register(Zve32xDepthwise())
register(Zve32xDepthwiseInPlace())
