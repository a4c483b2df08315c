"""DEPTHWISE_CONV_2D with Helium: one output channel an input channel, sixteen at a time."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import DType, Let, Target, Var
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.parameters import activation_range
from codegen.ir.ops.rules import narrow
from codegen.kernels.convolution import DepthwiseConv2D, window_of
from codegen.kernels.mve.convolution import HEADER, conv_params, reverse_of
from codegen.kernels.mve.groups import CHUNK
from codegen.kernels.mve.model import depthwise_instructions
from codegen.kernels.mve.packing import Channels, depthwise_stream, depthwise_struct, fits_pairs, folded
from codegen.kernels.overlap import window_sharing
from codegen.kernels.portable import ConstantData, arg_type, arg_types, constant_data, row_kernel
from codegen.kernels.primfunc import PrimFunc, ResultArg, StructArg, ValueArg, Workspace, WorkspaceArg
from codegen.kernels.registry import Kernel, register
from codegen.kernels.window import WindowShape

PORTABLE = DepthwiseConv2D("depthwise_conv2d_s8", DType.INT8)
"""Its conditions hold here too; it runs what only the weights show to be out of range."""


class Depthwise(Kernel):
    """Any window, stride, dilation and padding; multiplier 1."""

    op, name = "DEPTHWISE_CONV_2D", "depthwise_conv_2d_s8_mve"

    def refusal(self, let: Let, target: Target) -> str | None:
        """A core without Helium, several output channels an input channel, a constant image."""
        if "mve" not in target.features:
            return f"the kernel {self.name} needs a core with Helium (MVE)"
        reason = PORTABLE.refusal(let, target)
        if reason is None and not isinstance(let.call.args[0], Var):
            reason = "the image is constant"
        if reason is None and narrow(let.call.attrs, DepthwiseConvAttrs).multiplier != 1:
            reason = f"the kernel {self.name} is for one output channel an input channel"
        return reason

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`; where two products of taps do not fit 16 bits, the portable kernel."""
        channels = _channels(let, constants)
        if not fits_pairs(channels.weights):
            return PORTABLE.bind(let, constants, name)
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        window = window_of(let, attrs)
        space = _space(window)
        limits = activation_range(attrs.activation, let.var.type)
        prim = PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_depthwise_conv2d_s8_mve",
            sources=("kernels/depthwise_conv2d_s8_mve.c", "kernels/depthwise_pixels_s8_mve.S"),
            headers=(HEADER,),
            workspaces=(space,),
            constants=(depthwise_stream(channels),),
            structs=(
                conv_params(window, arg_type(let, 0).zero_point),
                depthwise_struct(channels, let.var.type.zero_point, limits),
            ),
            call_args=(
                StructArg(suffix="params"),
                StructArg(suffix="layer"),
                WorkspaceArg(name=space.name),
                ValueArg(index=0),
                ResultArg(),
            ),
            sharing=window_sharing(let, window, outputs=CHUNK, inputs=CHUNK, either_way=True),
            macs=let.call.op.macs(let.call.attrs, arg_types(let), let.var.type),
            instructions=depthwise_instructions(window),
        )
        rows = row_kernel(let, f"{prim.symbol}_row", window)
        return replace(
            prim,
            reverse=reverse_of(prim, prim.sharing, "cg_depthwise_conv2d_reverse_s8_mve"),
            rows=None if rows is None else replace(rows, workspace=space),
        )


def _channels(let: Let, constants: ConstantData) -> Channels:
    weights, bias = constant_data(let, 1, constants), constant_data(let, 2, constants)
    if weights is None:
        raise ValueError("the weights are missing")
    rows = np.ascontiguousarray(weights.reshape(-1, weights.shape[3]).T)
    multipliers, shifts = PORTABLE.multipliers(let)
    total = None if bias is None else bias.reshape(-1).astype(np.int64)
    return Channels(
        weights=rows,
        bias=folded(total, rows, arg_type(let, 0).zero_point),
        multipliers=multipliers,
        shifts=shifts,
    )


def _space(window: WindowShape) -> Workspace:
    """Offsets of the taps, and a pixel of padding."""
    taps = window.window[0] * window.window[1]
    size = 4 * taps + (window.image[3] if window.is_padded else 0)
    return Workspace(name="taps", size_bytes=size)


register(Depthwise())
