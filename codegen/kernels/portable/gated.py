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
_LAYOUT = "by four rows, by input"
BLOCK = 4
"""Rows whose products are summed together."""


class GatedF32(PortableKernel):
    """GRU or RNN on float32: a layer of gated units."""

    argument = result = DType.FLOAT32

    def __init__(self, operator: Gated) -> None:
        self.op, self.operator = operator.name, operator
        self.stem = f"{operator.short}_f32"
        self.name = f"{self.stem}_portable"

    @property
    def header(self) -> str:
        return FAMILIES_HEADER

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """Parts of a call. Rows of weights lie four at a time; those of fresh states begin a block."""
        sizes, attrs = self.operator.sizes(let.call.types), narrow(let.call.attrs, GatedAttrs)
        sequence, linked = value_argument(let, 0, "sequence", constants)
        state, more = value_argument(let, 4, "state", constants)
        lengths, last = value_argument(let, 5, "lengths", constants)
        weights, recurrent, bias = (_data(let, index, constants) for index in (1, 2, 3))
        first_row = (self.operator.gates - 1) * sizes.units
        if self.operator.bias_rows > self.operator.gates and not attrs.linear_before_reset:
            bias = np.concatenate([bias[:2], bias[2:].sum(axis=0, keepdims=True)])
        rows = _padded(bias, first_row)
        packed = (
            LinkedConstant(role="weights", data=_blocks(weights, first_row), alignment=4, layout=_LAYOUT),
            LinkedConstant(role="recurrent", data=_blocks(recurrent, first_row), alignment=4, layout=_LAYOUT),
            LinkedConstant(role="bias", data=rows, alignment=4, layout="by row", is_plain=True),
        )
        struct = params(
            "cg_gated_params",
            *((name, getattr(sizes, name)) for name in ("moments", "batches", "inputs", "units")),
            ("linear_before_reset", int(attrs.linear_before_reset)),
            ("reverse", int(attrs.reverse)),
            ("clip", attrs.clip if attrs.clip > 0 else FLT_MAX),
            ("active", _functions(attrs)),
        )
        held = blocks_of(sizes.units) if self.operator.gates > 1 else 0
        count = BLOCK * (blocks_of(first_row) + blocks_of(sizes.units) + held)
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
            workspaces=(Workspace(name=_SPACE, size_bytes=4 * count, alignment=4),),
        )


def blocks_of(rows: int) -> int:
    """Blocks of four rows."""
    return -(-rows // BLOCK)


def _data(let: Let, index: int, constants: ConstantData) -> np.ndarray:
    data = constant_data(let, index, constants)
    if data is None:
        raise ValueError("weights and biases that are computed are not supported")
    return data


def _padded(rows: np.ndarray, first_row: int) -> np.ndarray:
    """Rows of all gates [gates, units, ...] with zeros behind the first ones, the next and the last, up to
    blocks of four."""
    flat = rows.reshape(-1, *rows.shape[2:])
    units = rows.shape[1]
    parts = [flat[:first_row], *(flat[at : at + units] for at in range(first_row, len(flat), units))]
    widths = [(0, 0)] * (flat.ndim - 1)
    return np.concatenate([np.pad(part, [(0, -len(part) % BLOCK), *widths]) for part in parts])


def _blocks(weights: np.ndarray, first_row: int) -> np.ndarray:
    """Four rows at a time, value by value."""
    rows = _padded(weights, first_row)
    return np.ascontiguousarray(rows.reshape(-1, BLOCK, rows.shape[1]).swapaxes(1, 2)).reshape(-1)


def _functions(attrs: GatedAttrs) -> Fields:
    triples: Sequence[tuple[int, float, float]] = list(
        zip(attrs.functions, attrs.alphas, attrs.betas, strict=True)
    )
    return tuple(
        (f"[{place}]", (("function", number), ("alpha", alpha), ("beta", beta)))
        for place, (number, alpha, beta) in enumerate(triples)
    )


GATED_F32 = tuple(GatedF32(operator) for operator in GATED)
for _kernel in GATED_F32:
    register(_kernel)
