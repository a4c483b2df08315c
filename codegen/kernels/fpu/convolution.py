"""CONV_2D, FULLY_CONNECTED, DEPTHWISE_CONV_2D of one channel, float32: cores with an FPU or float Helium."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import Let, Target
from codegen.kernels.base.c_kernel import arg_types, row_kernel
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import RowKernel
from codegen.kernels.call import ConstantArg, ResultArg, StructArg, ValueArg
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.fpu.layer import (
    ConvSource,
    FullyConnectedSource,
    OneChannelSource,
    Source,
    conv_params,
    limits_of,
    product_stream,
    weights_and_bias,
)
from codegen.kernels.fpu.price import conv_instructions
from codegen.kernels.fpu.tiles import BLOCK, product_below
from codegen.kernels.primfunc import PrimFunc

HEADER = "cg_kernels_fpu.h"


def tile_sources(*, is_vector: bool) -> tuple[str, ...]:
    """The loops in assembly."""
    return ("kernels/fpu/tile_f32_fpu.S", *(("kernels/mve/tile_f32_mve.S",) if is_vector else ()))


def by_rows(let: Let, symbol: str, window: WindowShape) -> RowKernel | None:
    """The row kernel: of four pixels, windows are read anew for every four channels."""
    found = row_kernel(let, symbol, window)
    return None if found is None else replace(found, reads_row_last=True)


class FpuProduct(Kernel):
    """A convolution of one group: four pixels by four channels at a time, straight from the image."""

    def __init__(self, source: Source, *, is_vector: bool) -> None:
        self.op, self.source, self.is_vector = source.op, source, is_vector
        self.name = f"{source.stem}_mve" if is_vector else f"{source.stem}_fpu"

    def refusal(self, let: Let, target: Target) -> str | None:
        """See `Source.refusal`."""
        return self.source.refusal(let, target, self.name, is_vector=self.is_vector)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        window, activation = self.source.window(let), self.source.activation(let)
        blocks, rest = divmod(window.result[3], BLOCK)
        stream = product_stream(*weights_and_bias(self.source, let, constants))
        reads = window.reads(window.image[3] * (blocks + rest))
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_conv2d_f32_fpu",
            sources=(*tile_sources(is_vector=self.is_vector), "kernels/fpu/conv2d_f32_fpu.c"),
            headers=(HEADER,),
            argument_alignment=4,
            reads=(reads, *(1.0 for _ in let.call.args[1:])),
            constants=(
                LinkedConstant(
                    role="stream",
                    data=stream,
                    alignment=4,
                    layout="by four channels: value by value a weight of each, then their biases",
                ),
            ),
            sharing=forward_sharing(let, 0, product_below(window)),
            structs=(conv_params(window, activation),),
            call_args=(
                StructArg(suffix="params"),
                ConstantArg(role="stream"),
                ValueArg(index=0),
                ResultArg(),
            ),
            macs=let.call.op.macs(let.call.attrs, arg_types(let), let.var.type),
            pixels_at_once=4,
            instructions=conv_instructions(window, limits_of(activation), is_vector=self.is_vector),
            rows=by_rows(let, "cg_conv2d_f32_fpu_row", window),
        )


for _source in (ConvSource(), OneChannelSource(), FullyConnectedSource()):
    register(FpuProduct(_source, is_vector=False))
    register(FpuProduct(_source, is_vector=True))
