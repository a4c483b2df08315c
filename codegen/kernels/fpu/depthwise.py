"""DEPTHWISE_CONV_2D, float32, on cores with an FPU or float Helium."""

import math
from collections.abc import Mapping

import numpy as np

from codegen.ir import DType, Let, Target
from codegen.kernels.base.c_kernel import arg_types
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.call import ConstantArg, ResultArg, StructArg, ValueArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.fpu.convolution import HEADER, by_rows, tile_sources
from codegen.kernels.fpu.layer import (
    DepthwiseInPlaceSource,
    DepthwiseSource,
    conv_params,
    depthwise_stream,
    limits_of,
    weights_and_bias,
)
from codegen.kernels.fpu.price import depthwise_instructions, in_place_instructions
from codegen.kernels.fpu.tiles import BLOCK, depthwise_below
from codegen.kernels.primfunc import PrimFunc


class FpuDepthwise(Kernel):
    """Any window, stride, dilation and padding; multiplier 1, at least four channels."""

    op, source = "DEPTHWISE_CONV_2D", DepthwiseSource()

    def __init__(self, *, is_vector: bool) -> None:
        self.is_vector = is_vector
        self.name = "depthwise_conv2d_f32_mve" if is_vector else "depthwise_conv2d_f32_fpu"

    def refusal(self, let: Let, target: Target) -> str | None:
        """See `Source.refusal`."""
        return self.source.refusal(let, target, self.name, is_vector=self.is_vector)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        window, activation = self.source.window(let), self.source.activation(let)
        channels = window.result[3]
        stream = depthwise_stream(*weights_and_bias(self.source, let, constants))
        reads = window.reads(-(-channels // BLOCK) * BLOCK)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_depthwise_conv2d_f32_fpu",
            sources=(*tile_sources(is_vector=self.is_vector), "kernels/fpu/depthwise_conv2d_f32_fpu.c"),
            headers=(HEADER,),
            argument_alignment=4,
            reads=(reads, *(1.0 for _ in let.call.args[1:])),
            constants=(
                LinkedConstant(
                    role="stream",
                    data=stream,
                    alignment=4,
                    layout="by four channels: tap by tap a weight of each, then their biases",
                ),
            ),
            sharing=forward_sharing(let, 0, depthwise_below(window)),
            structs=(conv_params(window, activation),),
            call_args=(
                StructArg(suffix="params"),
                ConstantArg(role="stream"),
                ValueArg(index=0),
                ResultArg(),
            ),
            macs=let.call.op.macs(let.call.attrs, arg_types(let), let.var.type),
            instructions=depthwise_instructions(window, limits_of(activation), is_vector=self.is_vector),
            rows=by_rows(let, "cg_depthwise_conv2d_f32_fpu_row", window),
        )


class FpuDepthwiseInPlace(Kernel):
    """The image is replaced, four channels at a time: stride 1, a result as large as the image."""

    op, source = "DEPTHWISE_CONV_2D", DepthwiseInPlaceSource()
    is_in_place = True

    def __init__(self, *, is_vector: bool) -> None:
        self.is_vector = is_vector
        self.name = f"depthwise_conv2d_f32_in_place_{'mve' if is_vector else 'fpu'}"

    def refusal(self, let: Let, target: Target) -> str | None:
        """See `Source.refusal`."""
        return self.source.refusal(let, target, self.name, is_vector=self.is_vector)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        window, activation = self.source.window(let), self.source.activation(let)
        stream = depthwise_stream(*weights_and_bias(self.source, let, constants))
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
            structs=(conv_params(window, activation),),
            call_args=(
                StructArg(suffix="params"),
                ConstantArg(role="stream"),
                ResultArg(),
                WorkspaceArg(name="ring"),
            ),
            macs=let.call.op.macs(let.call.attrs, arg_types(let), let.var.type),
            instructions=in_place_instructions(window, limits_of(activation), is_vector=self.is_vector),
        )


register(FpuDepthwise(is_vector=False))
register(FpuDepthwise(is_vector=True))
register(FpuDepthwiseInPlace(is_vector=False))
register(FpuDepthwiseInPlace(is_vector=True))
