"""Portable kernels of SOFTMAX and LAYER_NORMALIZATION of int8, by integers alone."""

import numpy as np

from codegen.ir import ConstRef, DType, Let
from codegen.ir.ops import LayerNormAttrs, OnnxRounding, SoftmaxAttrs
from codegen.ir.ops.base.integer_rows import NormNumbers, norm_numbers, softmax_numbers
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    constant_data,
    value_argument,
)
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import PARAMS, RESULT, ConstantArg
from codegen.kernels.contract import LinkedConstant


class QLinearSoftmax(PortableKernel):
    """SOFTMAX of int8 by a table of exponentials."""

    rounding = OnnxRounding
    op, stem, name = "SOFTMAX", "qlinear_softmax_s8", "qlinear_softmax_s8_portable"
    argument = result = DType.INT8

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        result = let.var.type
        numbers = softmax_numbers(arg_type(let, 0), narrow(let.call.attrs, SoftmaxAttrs).beta, result)
        value, linked = value_argument(let, 0, "argument", constants)
        fields = (
            *_rows(let),
            ("inverse", numbers.inverse),
            ("shift", numbers.shift),
            ("out_zero", result.zero_point),
        )
        layout = "exponentials of -255 to 0"
        table = LinkedConstant(role="powers", data=numbers.powers, alignment=4, layout=layout)
        return Parts(
            structs=(params("cg_qlinear_softmax_params", *fields),),
            call_args=(PARAMS, ConstantArg(role="powers"), value, RESULT),
            constants=(table, *linked),
            sharing=in_place(let, 0),
        )


class QLinearLayerNorm(PortableKernel):
    """LAYER_NORMALIZATION of int8 by constant weights and bias."""

    rounding = OnnxRounding
    op, stem, name = "LAYER_NORMALIZATION", "qlinear_layer_norm_s8", "qlinear_layer_norm_s8_portable"
    argument = result = DType.INT8

    def check(self, let: Let) -> None:
        """Refuse weights or a bias that are computed at run time."""
        if not all(isinstance(arg, ConstRef) for arg in let.call.args[1:]):
            raise ValueError("weights or bias are computed at run time")

    def numbers(self, let: Let, constants: ConstantData) -> NormNumbers:
        """The constants of the arithmetic."""
        held = [constant_data(let, index, constants) for index in (1, 2)]
        epsilon = narrow(let.call.attrs, LayerNormAttrs).epsilon
        weights, bias = (np.asarray(numbers) for numbers in held)
        return norm_numbers(arg_type(let, 0), epsilon, weights, bias, let.var.type)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        numbers = self.numbers(let, constants)
        value, linked = value_argument(let, 0, "argument", constants)
        fields = (
            *_rows(let),
            ("epsilon", numbers.epsilon),
            ("epsilon_shift", numbers.epsilon_shift),
            ("aligned", numbers.aligned),
            ("shift", numbers.shift),
        )
        tables = {"scale": numbers.scales, "offset": numbers.offsets}
        return Parts(
            structs=(params("cg_qlinear_layer_norm_params", *fields),),
            call_args=(PARAMS, *(ConstantArg(role=role) for role in tables), value, RESULT),
            constants=(
                *(
                    LinkedConstant(role=role, data=data, alignment=4, layout="one a column")
                    for role, data in tables.items()
                ),
                *linked,
            ),
            sharing=in_place(let, 0),
        )


def _rows(let: Let) -> Fields:
    columns = let.var.type.shape[-1]
    return ("rows", let.var.type.elements // columns), ("columns", columns)


register(QLinearSoftmax())
register(QLinearLayerNorm())
