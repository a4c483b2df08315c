"""AVERAGE_POOL_2D and MAX_POOL_2D on int8 with Helium."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import PoolAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import FastKernel, arg_type, row_kernel
from codegen.kernels.base.registry import register
from codegen.kernels.base.window import WindowShape, nhwc
from codegen.kernels.mve.convolution import HEADER, reverse_of
from codegen.kernels.mve.groups import striped_sharing
from codegen.kernels.portable.pooling import Pool
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import MVE


class PoolMve(FastKernel):
    """One of the pools: `channels` of a pixel at a time."""

    kernel_set = MVE

    def __init__(self, op: str, stem: str, channels: int) -> None:
        self.op, self.name = op, f"{stem}_s8_mve"
        self.symbol, self.channels = f"cg_{stem}_s8_mve", channels
        self.reverse_symbol = f"cg_{stem}_reverse_s8_mve"
        self.portable = Pool(op, f"{stem}_s8", DType.INT8)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        prim = self.portable.bind(let, constants, name)
        attrs = narrow(let.call.attrs, PoolAttrs)
        window = WindowShape(
            image=nhwc(arg_type(let, 0).shape),
            result=nhwc(let.var.type.shape),
            window=attrs.window,
            stride=attrs.stride,
            dilation=(1, 1),
            padding=attrs.padding,
        )
        sharing = striped_sharing(let, window, 1, chunk=self.channels)
        batch, height, width, channels = window.result
        taps = window.window[0] * window.window[1]
        blocks = -(-channels // self.channels)
        each = 30 + 6 * window.window[0] + 5 * taps + (80 if self.channels == 4 else 20)
        prim = replace(
            prim,
            kernel=self.name,
            symbol=self.symbol,
            sources=("kernels/mve/pool2d_s8_mve.c", "kernels/mve/pool_taps_s8_mve.S"),
            headers=(HEADER,),
            sharing=sharing,
            instructions=batch * height * width * (60 + blocks * each),
            rows=row_kernel(let, f"{self.symbol}_row", window),
        )
        return replace(prim, reverse=reverse_of(prim, sharing, self.reverse_symbol))


register(PoolMve("AVERAGE_POOL_2D", "avg_pool2d", 4))
register(PoolMve("MAX_POOL_2D", "max_pool2d", 16))
