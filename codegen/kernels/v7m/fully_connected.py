"""FULLY_CONNECTED on ARMv7-M cores without the DSP extension."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.output_groups import interleaved, output_groups
from codegen.kernels.base.overlap import forward_sharing, row_major_below
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import FULLY_CONNECTED, OneRowKernel, output_fields
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.portable.convolution import FULLY_CONNECTED_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.v7m.convolution import V7mTiled, conv_params
from codegen.kernels.v7m.packing import HEADER, Channels, channels_of, linked, runs_of
from codegen.kernels.v7m.price import row_instructions, runs_instructions
from codegen.targets.arm import V7M

SOURCES = (
    "kernels/v7m/fully_connected_groups_s8_v7m.S",
    "kernels/v7m/fully_connected_s8_v7m.c",
    "kernels/v7m/requantize_s8_v7m.c",
)
_LARGEST = 8
"""Outputs of the largest group that the assembly has."""


class V7mFullyConnected(OneRowKernel):
    """FULLY_CONNECTED of one row, eight outputs at a time."""

    name, kernel_set, portable = "fully_connected_s8_v7m", V7M, FULLY_CONNECTED_S8

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = FULLY_CONNECTED.layer(let, constants)
        channels = channels_of(layer, let.var.type)
        outputs, inputs = channels.weights.shape
        groups = list(output_groups(outputs, _LARGEST))
        # Before the last group reads the input, all others are written; with one group it is read first.
        below = groups[-1].start if len(groups) > 1 else None
        numbers = params(
            "cg_fc_params_v7m",
            ("weights", ConstantPointer(role="weights")),
            ("channels", ConstantPointer(role="channels")),
            ("range", output_fields(let)),
            ("in_len", inputs),
            ("out_len", outputs),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_fully_connected_s8_v7m",
            sources=SOURCES,
            headers=(HEADER,),
            reads=(float(len(groups)),),
            constants=(
                LinkedConstant(
                    role="weights",
                    data=interleaved(channels.weights, _LARGEST),
                    alignment=1,
                    layout="by groups of outputs: input after input, one weight of each output",
                ),
                LinkedConstant(
                    role="channels",
                    data=group_words(channels),
                    alignment=4,
                    layout="by groups of outputs: biases, then three words of requantization of each",
                ),
            ),
            sharing=forward_sharing(let, 0, below),
            structs=(numbers,),
            call_args=(PARAMS, ARGUMENT, RESULT),
            instructions=row_instructions(channels, [len(group) for group in groups]),
        )


class V7mRunsFullyConnected(OneRowKernel):
    """FULLY_CONNECTED of one row from the constants for several rows, without a workspace: for one of the
    sizes of a range. Other layers have faster kernels."""

    name, kernel_set, portable = "fully_connected_runs_s8_v7m", V7M, FULLY_CONNECTED_S8

    def other_reason(self, let: Let) -> str | None:
        """Refuse several rows, and an odd number of inputs, whose last weight has no pair."""
        odd = arg_type(let, 1).shape[1] % 2
        return super().other_reason(let) or (f"the kernel {self.name} reads pairs of inputs" if odd else None)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = FULLY_CONNECTED.layer(let, constants)
        channels = channels_of(layer, let.var.type)
        runs = runs_of(channels.weights)
        outputs = len(channels.weights)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_fully_connected_runs_s8_v7m",
            sources=(*SOURCES[:1], "kernels/v7m/fully_connected_runs_s8_v7m.c", SOURCES[2]),
            headers=(HEADER,),
            reads=(float(outputs),),
            constants=linked(channels, runs),
            sharing=forward_sharing(let, 0, row_major_below(np.zeros(1, np.int64), outputs)),
            structs=(conv_params(let, layer.window, 4),),
            call_args=(PARAMS, ARGUMENT, RESULT),
            instructions=runs_instructions(channels, runs),
        )


def group_words(channels: Channels) -> NDArray[np.int32]:
    """Words of each group: its biases, then three words of requantization of each output."""
    words = channels.requantization.words(np.zeros(len(channels.bias), np.int64))
    parts: list[NDArray[np.int32]] = []
    for group in output_groups(len(channels.bias), _LARGEST):
        part = slice(group.start, group.stop)
        parts += [channels.bias[part], words[part].reshape(-1)]
    return np.concatenate(parts)


for most in (4, 2):
    register(V7mTiled(FULLY_CONNECTED, FULLY_CONNECTED_S8, most))
register(V7mFullyConnected())
register(V7mRunsFullyConnected())
