"""Kernels of GRU and RNN on float32: all moments of a sequence in one call."""

from collections.abc import Sequence

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import GatedAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.gated import GATED, Gated
from codegen.kernels.base.c_kernel import ConstantData, Parts, PortableKernel, constant_data, value_argument
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import FLT_MAX
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import PARAMS, RESULT, ConstantArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.pairwise import FAMILIES_HEADER

_SPACE = "gates"


class GatedF32(PortableKernel):
    """GRU or RNN on float32: a layer of gated units."""

    argument = result = DType.FLOAT32

    def __init__(self, operator: Gated) -> None:
        self.op, self._operator = operator.name, operator
        self.stem = f"{operator.short}_f32"
        self.name = f"{self.stem}_portable"

    @property
    def header(self) -> str:
        return FAMILIES_HEADER

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """Parts of a call. Weights of all gates for one unit and input lie side by side, and so do biases of
        a unit."""
        sizes, attrs = self._operator.sizes(let.call.types), narrow(let.call.attrs, GatedAttrs)
        sequence, linked = value_argument(let, 0, "sequence", constants)
        state, more = value_argument(let, 4, "state", constants)
        lengths, last = value_argument(let, 5, "lengths", constants)
        packed = tuple(
            LinkedConstant(role=role, data=data, alignment=4, layout=layout, is_plain=role == "bias")
            for role, layout, data in (
                ("weights", "by unit, by input, by gate", _packed(let, 1, constants)),
                ("recurrent", "by unit, by input, by gate", _packed(let, 2, constants)),
                ("bias", "by unit, by gate", _packed(let, 3, constants)),
            )
        )
        struct = params(
            "cg_gated_params",
            *((name, getattr(sizes, name)) for name in ("moments", "batches", "inputs", "units")),
            ("linear_before_reset", int(attrs.linear_before_reset)),
            ("reverse", int(attrs.reverse)),
            ("clip", attrs.clip if attrs.clip > 0 else FLT_MAX),
            ("active", _functions(attrs)),
        )
        space = Workspace(name=_SPACE, size_bytes=4 * 3 * sizes.units, alignment=4)
        return Parts(
            structs=(struct,),
            call_args=(
                PARAMS,
                *(ConstantArg(role=constant.role) for constant in packed),
                sequence,
                state,
                lengths,
                WorkspaceArg(name=_SPACE),
                RESULT,
            ),
            constants=(*packed, *linked, *more, *last),
            workspaces=(space,),
        )


def _packed(let: Let, index: int, constants: ConstantData) -> np.ndarray:
    """A constant with its first axis, the gates, behind the others."""
    data = constant_data(let, index, constants)
    if data is None:
        raise ValueError("weights and biases that are computed are not supported")
    return np.ascontiguousarray(np.moveaxis(data, 0, -1)).reshape(-1)


def _functions(attrs: GatedAttrs) -> Fields:
    triples: Sequence[tuple[int, float, float]] = list(
        zip(attrs.functions, attrs.alphas, attrs.betas, strict=True)
    )
    return tuple(
        (f"[{place}]", (("function", number), ("alpha", alpha), ("beta", beta)))
        for place, (number, alpha, beta) in enumerate(triples)
    )


for _operator in GATED:
    register(GatedF32(_operator))
