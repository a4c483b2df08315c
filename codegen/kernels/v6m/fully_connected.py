"""FULLY_CONNECTED on ARMv6-M: several rows as pixels of a convolution, one row by groups of outputs."""

from collections.abc import Mapping

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import FullyConnectedAttrs, Padding2D
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import fully_connected_multipliers
from codegen.kernels.base.c_kernel import ConstantData, arg_type, arg_types
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ConstantPointer, CStruct, ResultArg, Split, StructArg, ValueArg
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.portable.convolution import FullyConnected
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.v6m.convolution import HEADER, Conv, TiledConv, V6mKernel, weight_data, weight_scales
from codegen.kernels.v6m.packing import groups, packed
from codegen.kernels.v6m.price import FURTHER_CALL, fully_connected_instructions

_SYMBOL = "cg_fully_connected_s8_v6m"
GROUP = 4
"""Outputs computed together."""
SOURCES = (
    "kernels/v6m/fully_connected_parts_v6m.S",
    "kernels/v6m/fully_connected_s8_v6m.c",
    "kernels/v6m/requantize_s8_v6m.c",
)


def fully_connected(let: Let, constants: ConstantData) -> Conv:
    """FULLY_CONNECTED as a convolution of 1x1 over one line: its rows are the pixels."""
    weights, bias = weight_data(let, constants)
    scales = arg_type(let, 0).scale, weight_scales(let), let.var.type.scale
    multipliers, shifts = fully_connected_multipliers(*scales)
    outputs, inputs = weights.shape
    rows = arg_type(let, 0).elements // inputs
    return Conv(
        window=WindowShape(
            image=(1, 1, rows, inputs),
            result=(1, 1, rows, outputs),
            window=(1, 1),
            stride=(1, 1),
            dilation=(1, 1),
            padding=Padding2D(),
        ),
        activation=narrow(let.call.attrs, FullyConnectedAttrs).activation,
        weights=weights,
        bias=bias,
        multipliers=multipliers,
        shifts=shifts,
    )


class V6mRows(TiledConv):
    """FULLY_CONNECTED of several rows."""

    op, stem = "FULLY_CONNECTED", "fully_connected_rows_s8"
    portable = FullyConnected("fully_connected_s8", DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """A single row."""
        if arg_type(let, 0).elements == arg_type(let, 1).shape[1]:
            return f"the kernel {self.name} is for several rows"
        return None

    def conv(self, let: Let, constants: ConstantData) -> Conv:
        """See `TiledConv.conv`."""
        return fully_connected(let, constants)


class V6mFullyConnected(V6mKernel):
    """FULLY_CONNECTED of one row, without a workspace."""

    op, name = "FULLY_CONNECTED", "fully_connected_s8_v6m"
    portable = FullyConnected("fully_connected_s8", DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """Several rows."""
        if arg_type(let, 0).elements != arg_type(let, 1).shape[1]:
            return f"the kernel {self.name} is for one row"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        conv = fully_connected(let, constants)
        described = conv.channels(let)
        channels = packed(described, lanes=False)
        outputs, inputs = conv.weights.shape
        numbers = params(
            "cg_fc_params",
            ("rows", 1),
            ("in_len", inputs),
            ("out_len", outputs),
            ("out_zero", let.var.type.zero_point),
            ("act_min", described.scale.low),
            ("act_max", described.scale.high),
        )
        weights = CStruct(
            suffix="weights",
            c_type="cg_fc_weights_v6m",
            fields=(("stream", ConstantPointer(role="stream")), ("middle", described.scale.middle)),
        )
        call_args = (
            StructArg(suffix="params"),
            StructArg(suffix="weights"),
            ValueArg(index=0),
            ResultArg(),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=_SYMBOL,
            sources=SOURCES,
            headers=(HEADER,),
            reads=(float(-(-outputs // GROUP)), *(1.0 for _ in let.call.args[1:])),
            constants=(
                LinkedConstant(
                    role="stream",
                    data=groups(channels, inputs, GROUP),
                    alignment=4,
                    layout="by four outputs: biases, input by input a weight of each, requantization",
                ),
            ),
            sharing=forward_sharing(let, 0, grouped_below(outputs)),
            structs=(numbers, weights),
            call_args=call_args,
            macs=let.call.op.macs(let.call.attrs, arg_types(let), let.var.type),
            instructions=fully_connected_instructions(channels, inputs),
            split=None
            if outputs % GROUP
            else Split(
                role="stream",
                outputs=outputs,
                multiple=GROUP,
                struct="params",
                field="out_len",
                next_symbol=_SYMBOL,
                next_args=call_args,
                instructions=FURTHER_CALL,
            ),
        )


def grouped_below(outputs: int) -> int | None:
    """Least safe distance in bytes from the start of the result up to the start of the input: all groups
    but the last are written before the input is read once more; None: any overlap is safe."""
    return (outputs - 1) // GROUP * GROUP or None


for most in (4, 2):
    register(V6mRows(most))
register(V6mFullyConnected())
