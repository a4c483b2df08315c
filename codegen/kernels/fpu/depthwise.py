"""DEPTHWISE_CONV_2D, float32, on cores with an FPU or float Helium."""

import math
from collections.abc import Mapping

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.weighted import DEPTHWISE
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.fpu.convolution import HEADER, by_rows, tile_sources
from codegen.kernels.fpu.price import depthwise_instructions, in_place_instructions
from codegen.kernels.fpu.tiles import (
    BLOCK,
    FloatKernel,
    conv_params,
    depthwise_below,
    depthwise_stream,
    limit_count,
    weights_and_bias,
)
from codegen.kernels.portable.convolution import DEPTHWISE_F32, DEPTHWISE_IN_PLACE_F32
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import FLOAT_MVE, FPU
from codegen.targets.core_family import KernelSet


class FpuDepthwise(FloatKernel):
    """Depthwise on float32: any window, stride, dilation and padding; multiplier 1, at least four
    channels."""

    op, operator, portable = "DEPTHWISE_CONV_2D", DEPTHWISE, DEPTHWISE_F32

    def __init__(self, kernel_set: KernelSet) -> None:
        self.kernel_set = kernel_set
        self.name = f"depthwise_conv2d_f32_{self.suffix}"

    def other_reason(self, let: Let) -> str | None:
        """Refuse several results a channel, and few channels."""
        channels = arg_type(let, 0).shape[3]
        if narrow(let.call.attrs, DepthwiseConvAttrs).multiplier != 1:
            return "an input channel has several output channels"
        return None if channels >= BLOCK else f"the image has less than {BLOCK} channels"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        window = self.operator.window(let)
        channels = window.result[3]
        stream = depthwise_stream(*weights_and_bias(self.operator, let, constants))
        reads = window.reads(-(-channels // BLOCK) * BLOCK)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_depthwise_conv2d_f32_fpu",
            sources=(*tile_sources(is_vector=self.is_vector), "kernels/fpu/depthwise_conv2d_f32_fpu.c"),
            headers=(HEADER,),
            argument_alignment=4,
            reads=(reads,),
            constants=(
                LinkedConstant(
                    role="stream",
                    data=stream,
                    alignment=4,
                    layout="by four channels: tap by tap a weight of each, then their biases",
                ),
            ),
            sharing=forward_sharing(let, 0, depthwise_below(window)),
            structs=(conv_params(let, window),),
            call_args=(PARAMS, ConstantArg(role="stream"), ARGUMENT, RESULT),
            instructions=depthwise_instructions(window, limit_count(let), is_vector=self.is_vector),
            rows=by_rows(let, "cg_depthwise_conv2d_f32_fpu_row", window),
        )


class FpuDepthwiseInPlace(FloatKernel):
    """Depthwise that replaces its image, four channels at a time: stride 1, a result as large as the
    image."""

    op, operator, portable = "DEPTHWISE_CONV_2D", DEPTHWISE, DEPTHWISE_IN_PLACE_F32
    is_in_place = True

    def __init__(self, kernel_set: KernelSet) -> None:
        self.kernel_set = kernel_set
        self.name = f"depthwise_conv2d_f32_in_place_{self.suffix}"

    def other_reason(self, let: Let) -> str | None:
        """Refuse channels that make no blocks of four."""
        rest = arg_type(let, 0).shape[3] % BLOCK
        return f"the channels are no multiple of {BLOCK}" if rest else None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        window = self.operator.window(let)
        stream = depthwise_stream(*weights_and_bias(self.operator, let, constants))
        size = window.covered_rows * window.image[2] * BLOCK
        elements = math.prod(window.image)
        ring = Workspace(
            name="ring",
            size_bytes=size * DType.FLOAT32.size_bytes,
            reads=elements * window.reads(1) / size,
            writes=elements / size,
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_depthwise_in_place_f32_fpu",
            sources=(*tile_sources(is_vector=self.is_vector), "kernels/fpu/depthwise_conv2d_f32_fpu.c"),
            headers=(HEADER,),
            argument_alignment=4,
            workspaces=(ring,),
            constants=(LinkedConstant(role="stream", data=stream, alignment=4),),
            in_place=0,
            structs=(conv_params(let, window),),
            call_args=(PARAMS, ConstantArg(role="stream"), RESULT, WorkspaceArg(name="ring")),
            instructions=in_place_instructions(window, limit_count(let), is_vector=self.is_vector),
        )


for _kernel_set in (FPU, FLOAT_MVE):
    register(FpuDepthwise(_kernel_set))
for _kernel_set in (FPU, FLOAT_MVE):
    register(FpuDepthwiseInPlace(_kernel_set))
