"""BATCH_MATMUL of int8 in portable C, rounded as ONNX does: one scale for all sums."""

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import OnnxRounding
from codegen.ir.ops.rounded.as_onnx import layer_scales
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.registry import register
from codegen.kernels.base.step_proof import all_by_float, proved_scalings
from codegen.kernels.base.walk import Fields
from codegen.kernels.portable.matrices.batch_matmul import BatchMatMul


class QLinearBatchMatMul(BatchMatMul):
    """BATCH_MATMUL of int8; sums go by fixed point where that is proved equal to float32."""

    rounding = OnnxRounding

    def __init__(self) -> None:
        super().__init__(DType.INT8)
        self.stem, self.name = "qlinear_batch_matmul_s8", "qlinear_batch_matmul_s8_portable"

    @property
    def header(self) -> str:
        return "cg_kernels_qlinear.h"

    def scale_fields(self, let: Let) -> Fields:
        scales, result = layer_scales(let.call.attrs), let.var.type
        least, most = sums_of_products(let, self.sizes(let)["depth"])
        made = proved_scalings(
            scales, (np.array([least]), np.array([most])), result.zero_point, result.dtype.limits
        )
        return (("multiplier", int(made.factors[0])), ("shift", int(made.shifts[0])))


def float_scale_fields(let: Let) -> Fields:
    """`multiplier` and `shift` of kernels that multiply by float32."""
    made = all_by_float(layer_scales(let.call.attrs))
    return (("multiplier", int(made.factors[0])), ("shift", 0))


def sums_of_products(let: Let, depth: int) -> tuple[int, int]:
    """(least, most) sum of `depth` products, whatever the matrices hold."""
    ends = [[limit - arg_type(let, index).zero_point for limit in DType.INT8.limits] for index in (0, 1)]
    products = [first * second for first in ends[0] for second in ends[1]]
    return depth * min(products), depth * max(products)


QLINEAR_BATCH_MATMUL_S8 = QLinearBatchMatMul()
register(QLINEAR_BATCH_MATMUL_S8)
