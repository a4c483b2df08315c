"""Kernels of UNIDIRECTIONAL_SEQUENCE_LSTM (all steps in one call, gates of one step in a workspace) and of
SVDF with a window of int16."""

import math
from dataclasses import replace

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import LstmAttrs
from codegen.ir.ops.base.curves import sigmoid_table
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import conv_multipliers
from codegen.ir.ops.recurrent import GATES, lstm_numbers, lstm_sizes
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    constant_data,
    value_argument,
)
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import FLT_MAX
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import PARAMS, RESULT, ConstantArg, CStruct, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.pairwise import FAMILIES_HEADER
from codegen.kernels.primfunc import PrimFunc

_SPACE = "gates"


def _pair(pair: tuple[int, int]) -> Fields:
    return (("multiplier", pair[0]), ("shift", pair[1]))


def _pairs(pairs: tuple[tuple[int, int], ...]) -> Fields:
    return tuple((f"[{gate}]", _pair(pair)) for gate, pair in enumerate(pairs))


class Lstm(PortableKernel):
    """UNIDIRECTIONAL_SEQUENCE_LSTM of one type, cell states int16 or float32."""

    op = "UNIDIRECTIONAL_SEQUENCE_LSTM"

    def __init__(self, dtype: DType, suffix: str) -> None:
        self.argument = self.result = dtype
        self.stem = f"lstm_{suffix}"
        self.name = f"{self.stem}_portable"

    @property
    def header(self) -> str:
        return FAMILIES_HEADER

    def check(self, let: Let) -> None:
        if self.result is not DType.FLOAT32:
            lstm_numbers(let.call.attrs, let.call.types, let.var.type)

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        """Bind a call. Arguments are aligned to four bytes, for cell states of int16 lie among bytes."""
        return replace(super().bind(let, constants, name), argument_alignment=4)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """Parts of a call. The weights of four gates for one unit lie side by side, and so do their
        biases."""
        sizes = lstm_sizes(let.call.attrs, let.call.types)
        sequence, linked = value_argument(let, 0, "sequence", constants)
        state, more = value_argument(let, 4, "state", constants)
        is_float = self.result is DType.FLOAT32
        weights, recurrent = weights_of(let, constants)
        roles = {} if is_float else {"sigmoid": sigmoid_table()}
        roles |= {
            "weights": weights.transpose(1, 2, 0).reshape(-1),
            "recurrent": recurrent.transpose(1, 2, 0).reshape(-1),
            "bias": self._bias(let, constants),
        }
        both = self.result is DType.INT8
        layouts = {
            "sigmoid": "2^16 / (1 + exp(-i / 24))",
            "bias": "by unit, for sequence and hidden state, by gate" if both else "by unit, by gate",
        }
        packed = tuple(
            LinkedConstant(
                role=role,
                data=np.ascontiguousarray(data),
                alignment=min(8, max(4, data.itemsize)),
                layout=layouts.get(role, "by unit, by input, by gate"),
                is_plain=role in layouts,
            )
            for role, data in roles.items()
        )
        space = Workspace(name=_SPACE, size_bytes=(4 if is_float else 2) * GATES * sizes.units)
        return Parts(
            structs=(self._struct(let),),
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

    def _bias(self, let: Let, constants: ConstantData) -> np.ndarray:
        """Biases of the gates; for int8 minus what zero points add, also for the hidden state."""
        if self.result is DType.INT8:
            biases = np.stack(folded_biases(let, constants)).transpose(2, 0, 1).reshape(-1)
            return biases.astype(np.int64).astype(np.uint32).view(np.int32)
        bias = constant_data(let, 3, constants)
        assert bias is not None
        return bias.T.reshape(-1)

    def _struct(self, let: Let) -> CStruct:
        attrs, types, result = let.call.attrs, let.call.types, let.var.type
        sizes = size_fields(let)
        if self.result is DType.FLOAT32:
            clip = narrow(attrs, LstmAttrs).cell_clip
            return params("cg_lstm_params_f32", *sizes, ("clip", clip if clip > 0 else FLT_MAX))
        numbers = lstm_numbers(attrs, types, result)
        inputs, recurrent = numbers.inputs, numbers.recurrent
        if self.result is DType.INT16:  # sums of 64 bits
            inputs, recurrent = (
                tuple((multiplier, 15 - shift) for multiplier, shift in pairs)
                for pairs in (inputs, recurrent)
            )
        return params(
            "cg_lstm_params",
            *sizes,
            ("input", _pairs(inputs)),
            ("recurrent", _pairs(recurrent)),
            ("forget", _pair(numbers.forget)),
            ("update", _pair(numbers.update)),
            ("hidden", _pair(numbers.hidden)),
            ("hidden_zero", result.zero_point),
            ("tanh_multiplier", numbers.tanh_multiplier),
            ("tanh_shift", numbers.tanh_shift),
            ("clip", numbers.clip),
        )


def size_fields(let: Let) -> Fields:
    """First fields of all parameters: the extents of a call."""
    sizes = lstm_sizes(let.call.attrs, let.call.types)
    names = ("batches", "steps", "inputs", "units", "step_rows", "batch_rows")
    return tuple((name, getattr(sizes, name)) for name in names)


def weights_of(let: Let, constants: ConstantData) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the sequence [4, units, inputs] and of the hidden state [4, units, units]."""
    weights, recurrent = (constant_data(let, index, constants) for index in (1, 2))
    assert weights is not None and recurrent is not None
    return weights, recurrent


def folded_biases(let: Let, constants: ConstantData) -> tuple[np.ndarray, np.ndarray]:
    """Biases minus what zero points add, of the sequence and of the hidden state, both [4, units]."""
    weights, recurrent = weights_of(let, constants)
    bias = constant_data(let, 3, constants)
    assert bias is not None
    first = bias - _zero_sums(weights, arg_type(let, 0).zero_point)
    return first, -_zero_sums(recurrent, let.var.type.zero_point)


def _zero_sums(weights: np.ndarray, zero_point: int) -> np.ndarray:
    return weights.astype(np.int64).sum(axis=2) * zero_point


class _SvdfStep(PortableKernel):
    """One of the two products of an SVDF."""

    def __init__(self, op: str, argument: DType, result: DType) -> None:
        self.op, self.argument, self.result = op, argument, result
        self.stem = f"{op.lower()}_s16"
        self.name = f"{self.stem}_portable"

    @property
    def header(self) -> str:
        return FAMILIES_HEADER

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "values", constants)
        arguments = [
            value_argument(let, index, role, constants)
            for index, role in ((1, "weights"), (2, "bias"))[: len(let.call.args) - 1]
        ]
        types = arg_type(let, 0), arg_type(let, 1)
        (multiplier,), (shift,) = conv_multipliers(types[0].scale, (types[1].scale,), let.var.type.scale)
        rows = let.var.type.shape[-2]
        struct = params(
            "cg_svdf_params",
            ("rows", rows),
            ("filters", math.prod(types[1].shape) // self._length(let)),
            ("length", self._length(let)),
            ("rank", types[1].shape[2] if len(types[1].shape) == 3 else 1),
            ("multiplier", int(multiplier)),
            ("shift", int(shift)),
            ("zero", types[0].zero_point + let.var.type.zero_point),
        )
        return Parts(
            structs=(struct,),
            call_args=(PARAMS, value, *(passed for passed, _ in arguments), RESULT),
            constants=(*linked, *(constant for _, more in arguments for constant in more)),
        )

    def _length(self, let: Let) -> int:
        """Number of products of a filter."""
        weights = arg_type(let, 1).shape
        return weights[1] if len(weights) == 2 else weights[0]


LSTM_S8 = Lstm(DType.INT8, "s8")
register(LSTM_S8)
register(Lstm(DType.INT16, "s16"))
register(Lstm(DType.FLOAT32, "f32"))
register(_SvdfStep("SVDF_FEATURES", DType.INT8, DType.INT16))
register(_SvdfStep("SVDF_TIME", DType.INT16, DType.INT8))
