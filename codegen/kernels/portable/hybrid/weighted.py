"""Portable kernels of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of dynamic range."""

import math
from dataclasses import replace

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs, HybridRounding
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.ir.ops.rounded.hybrid import is_asymmetric, is_scaled_by_channel_first
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    constant_data,
    value_argument,
)
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limit_fields
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import need_constant_weights, weight_data, weight_scales, window_of
from codegen.kernels.call import PARAMS, RESULT, ConstantPointer, CStruct, StructArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.primfunc import PrimFunc

_QUANTIZE = "kernels/portable/hybrid_quantize.c"
_SPACE = "image"


class HybridConv(PortableKernel):
    """CONV_2D or DEPTHWISE_CONV_2D of dynamic range, an image at a time."""

    argument = result = DType.FLOAT32
    rounding = HybridRounding

    def __init__(self, op: str) -> None:
        self.op, self.stem = op, "hybrid_" + op.lower().replace("conv_2d", "conv2d")
        self.name = f"{self.stem}_portable"

    @property
    def header(self) -> str:
        return "cg_kernels_hybrid.h"

    def check(self, let: Let) -> None:
        """Refuse weights and biases that are computed at run time."""
        need_constant_weights(let)

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        bound = super().bind(let, constants, name)
        return replace(bound, sources=(*bound.sources, _QUANTIZE))

    def numbers(self, let: Let) -> tuple[CStruct, int, int]:
        """(parameters, images, elements of one)."""
        attrs = let.call.attrs
        assert isinstance(attrs, ConvAttrs | DepthwiseConvAttrs)
        window, depthwise = window_of(let, attrs), isinstance(attrs, DepthwiseConvAttrs)
        groups = 1 if depthwise else window.image[3] // arg_type(let, 1).shape[3]
        geometry = (("window", window.fields), ("groups", groups))
        numbers = params("cg_conv_params_f32", *geometry, *limit_fields(let))
        return numbers, window.image[0], math.prod(window.image[1:])

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """Parts of a call. A single image is not read again once it is quantised: the result may lie over
        it."""
        image, linked = value_argument(let, 0, "image", constants)
        numbers, count, elements = self.numbers(let)
        packed = _packed(let, constants)
        call, op = let.call, let.call.op
        assert isinstance(op, WeightedOp), "it has weights"
        weights = CStruct(
            suffix="weights",
            c_type="cg_hybrid_weights",
            fields=(
                *((constant.role, ConstantPointer(role=constant.role)) for constant in packed),
                ("asymmetric", int(is_asymmetric(call.attrs))),
                ("channel_first", int(is_scaled_by_channel_first(op, call.types))),
            ),
        )
        stop = 1 if count == 1 else 2
        reads = let.macs / elements
        space = Workspace(
            name=_SPACE, size_bytes=elements, alignment=1, stop=2, reads=reads, writes=float(count)
        )
        return Parts(
            structs=(numbers, weights),
            call_args=(PARAMS, StructArg(suffix="weights"), image, WorkspaceArg(name=_SPACE), RESULT),
            constants=(*packed, *linked),
            workspaces=(space,),
            sub_steps=2,
            argument_stops=(stop,) * len(call.args),
            result_start=1 if count == 1 else 0,
            image_reads=2.0,
        )


class HybridFullyConnected(HybridConv):
    """FULLY_CONNECTED of dynamic range, a row at a time."""

    def numbers(self, let: Let) -> tuple[CStruct, int, int]:
        outputs, inputs = arg_type(let, 1).shape
        rows = arg_type(let, 0).elements // inputs
        sizes = (("rows", rows), ("in_len", inputs), ("out_len", outputs))
        return params("cg_fc_params_f32", *sizes, *limit_fields(let)), rows, inputs


def _packed(let: Let, constants: ConstantData) -> tuple[LinkedConstant, ...]:
    """Linked constants: weights as they are, a bias and a scale for each channel."""
    channels = let.var.type.shape[-1]
    bias = constant_data(let, 2, constants)
    biases = np.zeros(channels, np.float32) if bias is None else np.array(bias).reshape(-1)
    scales = np.broadcast_to(np.array(weight_scales(let), np.float32), channels)
    flat, layout = np.array(weight_data(let, constants)).reshape(-1), "one a channel"
    return (
        LinkedConstant(role="weight", data=flat, alignment=1, layout="as in the file, the last axis fastest"),
        LinkedConstant(role="bias", data=biases, alignment=4, layout=layout, is_plain=True),
        LinkedConstant(role="scale", data=np.array(scales), alignment=4, layout=layout),
    )


register(HybridConv("CONV_2D"))
register(HybridConv("DEPTHWISE_CONV_2D"))
register(HybridFullyConnected("FULLY_CONNECTED"))
