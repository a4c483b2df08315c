"""FULLY_CONNECTED of one row on RV32IM cores."""

from collections.abc import Mapping

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.output_groups import interleaved, output_groups
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import FULLY_CONNECTED, OneRowKernel
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.portable.convolution import FULLY_CONNECTED_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rv32.packing import HEADER, RV32, channels_of, fits, scale_reason
from codegen.kernels.rv32.price import row_instructions

SOURCES = (
    "kernels/rv32/fully_connected_groups_s8_rv32.S",
    "kernels/rv32/fully_connected_s8_rv32.c",
)
_LARGEST = 16
"""Outputs of the largest group that the assembly has."""


class Rv32FullyConnected(OneRowKernel):
    """FULLY_CONNECTED of one row, sixteen outputs at a time."""

    name, kernel_set, portable = "fully_connected_s8_rv32", RV32, FULLY_CONNECTED_S8

    def other_reason(self, let: Let) -> str | None:
        """Refuse several rows; a scale that is not requantized the short way."""
        return super().other_reason(let) or scale_reason(let, FULLY_CONNECTED)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where a sum or shift is too large, bind the portable kernel."""
        layer = FULLY_CONNECTED.layer(let, constants)
        if not fits(layer):
            return self.portable.bind(let, constants, name)
        channels = channels_of(layer, let.var.type)
        outputs, inputs = channels.weights.shape
        groups = list(output_groups(outputs, _LARGEST))
        # Before the last group reads the input, all others are written; with one group it is read first.
        below = groups[-1].start if len(groups) > 1 else None
        range_fields = (("act_min", layer.limits[0]), ("act_max", layer.limits[1]))
        numbers = params(
            "cg_fc_params_rv32",
            ("weights", ConstantPointer(role="weights")),
            ("channels", ConstantPointer(role="channels")),
            ("in_len", inputs),
            ("out_len", outputs),
            ("range", range_fields),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_fully_connected_s8_rv32",
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
                    data=channels.words().reshape(-1),
                    alignment=4,
                    layout="of each output four words of requantization",
                ),
            ),
            sharing=forward_sharing(let, 0, below),
            structs=(numbers,),
            call_args=(PARAMS, ARGUMENT, RESULT),
            instructions=row_instructions(inputs, [len(group) for group in groups]),
        )


register(Rv32FullyConnected())
