"""CONV_2D, FULLY_CONNECTED, DEPTHWISE_CONV_2D of one channel, float32: cores with an FPU or float Helium."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.base.c_kernel import row_kernel
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.weighted import FULLY_CONNECTED
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import RowKernel
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantArg
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.fpu.price import conv_instructions
from codegen.kernels.fpu.tiles import (
    BLOCK,
    FloatKernel,
    Reals,
    conv_params,
    half_stream,
    limit_count,
    product_below,
    product_stream,
    weights_and_bias,
)
from codegen.kernels.portable.convolution import (
    CONV_2D_F32,
    CONV_2D_F32W16,
    DEPTHWISE_F32,
    FULLY_CONNECTED_F32,
    FULLY_CONNECTED_F32W16,
    Conv2D,
    DepthwiseConv2D,
    FullyConnected,
)
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import FLOAT_MVE, FPU
from codegen.targets.core_family import KernelSet

HEADER = "cg_kernels_fpu.h"


def tile_sources(*, is_vector: bool) -> tuple[str, ...]:
    """Sources of the loops in assembly."""
    return ("kernels/fpu/tile_f32_fpu.S", *(("kernels/mve/tile_f32_mve.S",) if is_vector else ()))


def by_rows(let: Let, symbol: str, window: WindowShape) -> RowKernel | None:
    """Row kernel of a convolution: windows of four pixels are read anew for every four channels."""
    rows = row_kernel(let, symbol, window)
    return None if rows is None else replace(rows, reads_row_last=True)


class FpuProduct(FloatKernel):
    """A convolution of one group: four pixels by four channels at a time, straight from the image."""

    stem = "conv2d_f32_fpu"
    layout = "by four channels: value by value a weight of each, then their biases"

    @property
    def tiles(self) -> tuple[str, ...]:
        """The loops in assembly."""
        return tile_sources(is_vector=self.is_vector)

    def stream(self, weights: Reals, bias: Reals) -> NDArray[np.float32] | NDArray[np.uint16]:
        """Weights and biases in the order in which they are read."""
        return product_stream(weights, bias)

    def predicted(self, window: WindowShape, limits: int) -> int:
        """Instructions of the whole step."""
        return conv_instructions(window, limits, is_vector=self.is_vector)

    def __init__(
        self, portable: Conv2D | DepthwiseConv2D | FullyConnected, stem: str, kernel_set: KernelSet
    ) -> None:
        self.op, self.portable, self.operator = portable.op, portable, portable.operator
        self.kernel_set = kernel_set
        self.name = f"{stem}_{self.suffix}"

    def other_reason(self, let: Let) -> str | None:
        """Refuse several groups or channels."""
        condition = None if self.operator is FULLY_CONNECTED else self.operator.condition(let)
        return condition and f"the kernel {self.name} is for {condition}"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        window = self.operator.window(let)
        blocks, rest = divmod(window.result[3], BLOCK)
        stream = self.stream(*weights_and_bias(self.operator, let, constants))
        reads = window.reads(window.image[3] * (blocks + rest))
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{self.stem}",
            sources=(*self.tiles, f"kernels/fpu/{self.stem}.c"),
            headers=(HEADER,),
            argument_alignment=4,
            reads=(reads,),
            constants=(LinkedConstant(role="stream", data=stream, alignment=4, layout=self.layout),),
            sharing=forward_sharing(let, 0, product_below(window)),
            structs=(conv_params(let, window),),
            call_args=(PARAMS, ConstantArg(role="stream"), ARGUMENT, RESULT),
            pixels_at_once=4,
            instructions=self.predicted(window, limit_count(let)),
            rows=by_rows(let, f"cg_{self.stem}_row", window),
        )


class FpuProductHalves(FpuProduct):
    """Convolutions by weights that lie as float16. Cores with float Helium run the loops of the FPU too."""

    stem = "conv2d_f32w16_fpu"
    layout = "by four channels: value by value a float16 weight of each, then their float32 biases"

    @property
    def tiles(self) -> tuple[str, ...]:
        """The loops in assembly."""
        return ("kernels/fpu/tile_f32w16_fpu.S",)

    def stream(self, weights: Reals, bias: Reals) -> NDArray[np.uint16]:
        """Weights as halves."""
        return half_stream(weights, bias)

    def predicted(self, window: WindowShape, limits: int) -> int:
        """Each weight is widened once a tile."""
        return conv_instructions(window, limits, is_vector=False, has_halves=True)


for _portable, _stem in (
    (CONV_2D_F32W16, "conv2d_f32w16"),
    (FULLY_CONNECTED_F32W16, "fully_connected_f32w16"),
):
    register(FpuProductHalves(_portable, _stem, FPU))
    register(FpuProductHalves(_portable, _stem, FLOAT_MVE))
for _portable, _stem in (
    (CONV_2D_F32, "conv2d_f32"),
    (DEPTHWISE_F32, "depthwise_conv2d_1_f32"),
    (FULLY_CONNECTED_F32, "fully_connected_f32"),
):
    register(FpuProduct(_portable, _stem, FPU))
    register(FpuProduct(_portable, _stem, FLOAT_MVE))
