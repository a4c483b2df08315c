"""FULLY_CONNECTED on ARMv6-M: several rows as pixels of a convolution, one row by groups of outputs."""

from collections.abc import Mapping

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.weighted import FULLY_CONNECTED, OneRowKernel, rows_params
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, CStruct, Split, StructArg
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.portable.convolution import FULLY_CONNECTED_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.v6m.convolution import HEADER, V6mTiled
from codegen.kernels.v6m.packing import channels_of, groups, packed
from codegen.kernels.v6m.price import FURTHER_CALL, fully_connected_instructions
from codegen.targets.arm import V6M

_SYMBOL = "cg_fully_connected_s8_v6m"
GROUP = 4
"""Outputs computed together."""
SOURCES = (
    "kernels/v6m/fully_connected_parts_v6m.S",
    "kernels/v6m/fully_connected_s8_v6m.c",
    "kernels/v6m/requantize_s8_v6m.c",
)


class V6mFullyConnected(OneRowKernel):
    """FULLY_CONNECTED of one row, without a workspace."""

    name, kernel_set, portable = "fully_connected_s8_v6m", V6M, FULLY_CONNECTED_S8

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        described = channels_of(FULLY_CONNECTED.layer(let, constants), let.var.type)
        channels = packed(described, lanes=False)
        outputs, inputs = described.weights.shape
        weights = CStruct(
            suffix="weights",
            c_type="cg_fc_weights_v6m",
            fields=(("stream", ConstantPointer(role="stream")), ("middle", described.scale.middle)),
        )
        call_args = (PARAMS, StructArg(suffix="weights"), ARGUMENT, RESULT)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=_SYMBOL,
            sources=SOURCES,
            headers=(HEADER,),
            reads=(float(-(-outputs // GROUP)),),
            constants=(
                LinkedConstant(
                    role="stream",
                    data=groups(channels, inputs, GROUP),
                    alignment=4,
                    layout="by four outputs: biases, input by input a weight of each, requantization",
                ),
            ),
            sharing=forward_sharing(let, 0, grouped_below(outputs)),
            structs=(rows_params(let), weights),
            call_args=call_args,
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
    register(V6mTiled(FULLY_CONNECTED, FULLY_CONNECTED_S8, most))
register(V6mFullyConnected())
