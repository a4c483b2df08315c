"""The kernel of UNIDIRECTIONAL_SEQUENCE_LSTM: all steps in one call, gates of one step in a workspace."""

from dataclasses import replace

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops.recurrent import GATES, lstm_numbers, lstm_sizes, sigmoid_table
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    constant_data,
    value_argument,
)
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import PARAMS, RESULT, ConstantArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.pairwise import FAMILIES_HEADER
from codegen.kernels.primfunc import PrimFunc

_SPACE = "gates"


def _pair(pair: tuple[int, int]) -> Fields:
    return (("multiplier", pair[0]), ("shift", pair[1]))


def _pairs(pairs: tuple[tuple[int, int], ...]) -> Fields:
    return tuple((f"[{gate}]", _pair(pair)) for gate, pair in enumerate(pairs))


class LstmS8(PortableKernel):
    """UNIDIRECTIONAL_SEQUENCE_LSTM of int8, cell states int16."""

    op, stem, name = "UNIDIRECTIONAL_SEQUENCE_LSTM", "lstm_s8", "lstm_s8_portable"
    argument = result = DType.INT8

    @property
    def header(self) -> str:
        """See `PortableKernel.header`."""
        return FAMILIES_HEADER

    def check(self, let: Let) -> None:
        """Numbers in range."""
        lstm_numbers(let.call.attrs, let.call.types, let.var.type)

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        """Cell states are int16 among bytes."""
        return replace(super().bind(let, constants, name), argument_alignment=4)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """The weights of four gates for one unit lie side by side, and so do their biases, first for the
        sequence, then for the hidden state, less what zero points add."""
        attrs, types, result = let.call.attrs, let.call.types, let.var.type
        sizes, numbers = lstm_sizes(attrs, types), lstm_numbers(attrs, types, result)
        sequence, linked = value_argument(let, 0, "sequence", constants)
        state, more = value_argument(let, 4, "state", constants)
        struct = params(
            "cg_lstm_params",
            ("batches", sizes.batches),
            ("steps", sizes.steps),
            ("inputs", sizes.inputs),
            ("units", sizes.units),
            ("step_rows", sizes.step_rows),
            ("batch_rows", sizes.batch_rows),
            ("input", _pairs(numbers.inputs)),
            ("recurrent", _pairs(numbers.recurrent)),
            ("forget", _pair(numbers.forget)),
            ("update", _pair(numbers.update)),
            ("hidden", _pair(numbers.hidden)),
            ("hidden_zero", result.zero_point),
            ("tanh_multiplier", numbers.tanh_multiplier),
            ("tanh_shift", numbers.tanh_shift),
            ("clip", numbers.clip),
        )
        weights, recurrent, bias = (constant_data(let, index, constants) for index in (1, 2, 3))
        assert weights is not None and recurrent is not None and bias is not None
        sums = (
            bias - _zero_sums(weights, arg_type(let, 0).zero_point),
            -_zero_sums(recurrent, result.zero_point),
        )
        biases = np.stack(sums).transpose(2, 0, 1).reshape(-1)
        roles = {
            "sigmoid": sigmoid_table(),
            "weights": weights.transpose(1, 2, 0).reshape(-1),
            "recurrent": recurrent.transpose(1, 2, 0).reshape(-1),
            "bias": biases.astype(np.int64).astype(np.uint32).view(np.int32),
        }
        layouts = {
            "sigmoid": "2^16 / (1 + exp(-i / 24))",
            "bias": "by unit, for sequence and hidden state, by gate",
        }
        packed = tuple(
            LinkedConstant(
                role=role,
                data=np.ascontiguousarray(data),
                alignment=4,
                layout=layouts.get(role, "by unit, by input, by gate"),
            )
            for role, data in roles.items()
        )
        space = Workspace(name=_SPACE, size_bytes=2 * GATES * sizes.units)
        return Parts(
            structs=(struct,),
            call_args=(
                PARAMS,
                *(ConstantArg(role=role) for role in roles),
                sequence,
                state,
                WorkspaceArg(name=_SPACE),
                RESULT,
            ),
            constants=(*packed, *linked, *more),
            workspaces=(space,),
        )


def _zero_sums(weights: np.ndarray, zero_point: int) -> np.ndarray:
    return weights.astype(np.int64).sum(axis=2) * zero_point


register(LstmS8())
