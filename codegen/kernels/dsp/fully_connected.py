"""FULLY_CONNECTED on cores with the DSP extension."""

from collections.abc import Mapping

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.overlap import forward_sharing, row_major_below
from codegen.kernels.base.registry import register
from codegen.kernels.base.weighted import OneRowKernel, rows_params
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantArg, Split, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.convolution import (
    EVEN_INT4_PIXEL_SOURCES,
    EVEN_PIXEL_SOURCES,
    HEADER,
    INT4_PIXEL_SOURCES,
    JOINED_PIXEL_SOURCES,
    PIXEL_SOURCES,
    DspTiled,
)
from codegen.kernels.dsp.packing import (
    GROUP,
    INT4_STREAM,
    INT8_STREAM,
    JOINED_STREAM,
    Channels,
    WeightStream,
    channels_of,
    groups,
)
from codegen.kernels.dsp.price import FURTHER_CALL, row_instructions, single_instructions
from codegen.kernels.portable.convolution import (
    FULLY_CONNECTED_S8,
    ONNX_FULLY_CONNECTED_S8,
    FullyConnected,
)
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP, ROUNDING_DSP

_NARROW, _SINGLE = "narrow_", "single_"
_SPACE = "inputs"
_FIRST = (PARAMS, ConstantArg(role="stream"))
_PIXEL = {"plain": PIXEL_SOURCES, "joined": JOINED_PIXEL_SOURCES, "int4": INT4_PIXEL_SOURCES}
_EVEN_PIXEL = {"plain": EVEN_PIXEL_SOURCES, "int4": EVEN_INT4_PIXEL_SOURCES}
"""Sources by the kind of weights, rounded as TFLite or as ONNX does."""
_PAIR = 2
"""Outputs that lie side by side in the stream."""


class DspFullyConnected(OneRowKernel):
    """FULLY_CONNECTED of one row, widened to a workspace once, or as it is read: `form` is "narrow_" (for
    each pair of outputs), or "single_" (there is one output)."""

    def __init__(
        self, weights: WeightStream, form: str = "", portable: FullyConnected = FULLY_CONNECTED_S8
    ) -> None:
        self.weights, self.form, self.is_narrow, self.is_single = weights, form, bool(form), form == _SINGLE
        self.portable = self.weighted = portable
        self.operator = portable.operator
        self.rounding, prefix = self.operator.rounding, self.operator.prefix
        rounds_even = self.operator.rounds_even
        self.kernel_set = ROUNDING_DSP if rounds_even else DSP
        self.name = f"{prefix}fully_connected_{form}{weights.suffix}_dsp"
        self.widened_symbol = f"cg_{prefix}fully_connected_widened_{weights.suffix}_dsp"
        even = "even_" if rounds_even else ""
        tile = f"kernels/dsp/tile1_{form}{even}{weights.suffix}_dsp.S"
        narrow = (f"kernels/dsp/requantize_{even}s8_dsp.c", tile)
        pixel = (_EVEN_PIXEL if rounds_even else _PIXEL)[weights.kind]
        self.sources = (*(narrow if form else pixel), f"kernels/dsp/{self.name}.c")

    def other_reason(self, let: Let) -> str | None:
        """Several rows; other weights; without a workspace: inputs that are no whole words, outputs."""
        reason = super().other_reason(let) or self.weights.refusal(let)
        if reason is None and self.is_single and let.var.type.shape[-1] != 1:
            return f"the kernel {self.name} is for one output"
        if reason is None and self.is_narrow and arg_type(let, 1).shape[1] % GROUP:
            return f"the kernel {self.name} is for inputs by the multiple of {GROUP}"
        return reason

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Widened, the input is read in sub-step 0, the result written in sub-step 1."""
        layer = self.operator.layer(let, constants)
        channels = channels_of(layer, let.var.type)
        if not self.weights.holds(channels):
            return DspFullyConnected(INT8_STREAM, self.form, self.weighted).bind(let, constants, name)
        outputs, inputs = layer.weights.shape
        numbers = rows_params(let)
        pairs = float((outputs + 1) // 2)
        space = Workspace(name=_SPACE, size_bytes=8 * groups(inputs), stop=2, reads=pairs)
        below = row_major_below(np.zeros(1, np.int64), outputs)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{self.name}",
            sources=self.sources,
            headers=(HEADER,),
            sub_steps=1 if self.is_narrow else 2,
            argument_stops=(1,) * len(let.call.args),
            result_start=0 if self.is_narrow else 1,
            argument_alignment=4 if inputs % GROUP == 0 else 1,
            reads=(pairs if self.is_narrow else 1.0,),
            workspaces=() if self.is_narrow else (space,),
            constants=(
                LinkedConstant(
                    role="stream",
                    data=self.weights.pack(channels),
                    alignment=4,
                    layout=self.weights.layout,
                    rounded=channels.rounded,
                ),
            ),
            sharing=forward_sharing(let, 0, below) if self.is_narrow else (),
            structs=(numbers,),
            call_args=(*_FIRST, *(() if self.is_narrow else (WorkspaceArg(name=_SPACE),)), ARGUMENT, RESULT),
            instructions=self._instructions(channels),
            split=None if outputs % _PAIR or self.weights.is_int4 else self._split(outputs),
        )

    def _instructions(self, channels: Channels) -> int:
        if self.is_single:
            return single_instructions(channels)
        return row_instructions(channels, is_narrow=self.is_narrow, kind=self.weights.kind)

    def _split(self, outputs: int) -> Split:
        """Pairs of outputs one after the other, as the stream has them; the input is widened once."""
        source = ARGUMENT if self.is_narrow else WorkspaceArg(name=_SPACE)
        return Split(
            role="stream",
            outputs=outputs,
            multiple=_PAIR,
            struct="params",
            field="out_len",
            next_symbol=f"cg_{self.name}" if self.is_narrow else self.widened_symbol,
            next_args=(*_FIRST, source, RESULT),
            instructions=FURTHER_CALL,
        )


for most in (4, 2, 1):
    register(DspTiled(ONNX_FULLY_CONNECTED_S8, most, INT8_STREAM))
    register(DspTiled(FULLY_CONNECTED_S8, most, INT8_STREAM))
    register(DspTiled(FULLY_CONNECTED_S8, most, JOINED_STREAM))
for weights in (INT8_STREAM, JOINED_STREAM):
    register(DspFullyConnected(weights))
    register(DspFullyConnected(weights, _NARROW))
register(DspFullyConnected(INT8_STREAM, _SINGLE))
register(DspTiled(FULLY_CONNECTED_S8, 4, INT4_STREAM))
register(DspFullyConnected(INT4_STREAM))
register(DspTiled(ONNX_FULLY_CONNECTED_S8, 4, INT4_STREAM))
register(DspFullyConnected(INT4_STREAM, portable=ONNX_FULLY_CONNECTED_S8))
register(DspFullyConnected(INT8_STREAM, portable=ONNX_FULLY_CONNECTED_S8))
register(DspFullyConnected(INT8_STREAM, _NARROW, ONNX_FULLY_CONNECTED_S8))
