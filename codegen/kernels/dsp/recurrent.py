"""UNIDIRECTIONAL_SEQUENCE_LSTM on cores with the DSP extension."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let
from codegen.ir.ops.base.curves import sigmoid_table
from codegen.ir.ops.base.fixed_point import wrap_int32
from codegen.ir.ops.recurrent import (
    CELL,
    FORGET,
    GATES,
    INPUT,
    OUTPUT,
    lstm_numbers,
    lstm_sizes,
)
from codegen.kernels.base.c_kernel import ConstantData, FastKernel, value_argument
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import PARAMS, RESULT, ConstantArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.packing import GROUP, groups
from codegen.kernels.dsp.price import UNROLL
from codegen.kernels.portable.recurrent import LSTM_S8, folded_biases, size_fields, weights_of
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP

_SPACE = "rows"
_PAIRS = ((INPUT, FORGET), (CELL, OUTPUT))
"""Gates whose weights share a half of a word: the first in the low byte."""
_LARGEST_SUM = 1 << 23
"""Sums of the second gate stay below: 256 times them has 32 bits."""
_HALF = (1 << 30, -14)
"""Multiplier and shift of 2^-15."""
_LARGEST_TANH = 3 << 13
"""Factor of a cell state, at most: times 16 bits and two it fits 32 bits."""
_SEQUENCE, _STEP, _UNIT, _GROUP = 110, 110, 144, 14
"""Instructions: of C around each batch and each step, of each unit and of its groups of inputs."""
_ALIGNED_GROUP, _BYTE = 8, 12
"""Instructions to widen a group of four values, or one value."""


class LstmS8Dsp(FastKernel):
    """LSTM on int8: products of four gates at once, their weights in pairs of gates."""

    op, name, kernel_set, portable = LSTM_S8.op, "lstm_s8_dsp", DSP, LSTM_S8
    takes_constants = True

    def other_reason(self, let: Let) -> str | None:
        """Refuse scales from one half on; a cell state of a large scale."""
        numbers = lstm_numbers(let.call.attrs, let.call.types, let.var.type)
        scaled = (*numbers.inputs, *numbers.recurrent, numbers.update, numbers.hidden)
        if any(multiplier == 0 or not -31 <= shift <= -1 for multiplier, shift in scaled):
            return "a scale is not below one half"
        if numbers.forget != _HALF or numbers.tanh_multiplier > _LARGEST_TANH:
            return f"the kernel {self.name} is for cell states of a scale of 2 at most"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where weights or sums do not fit the stream, bind the portable kernel."""
        packed = _stream(let, constants)
        if packed is None:
            return self.portable.bind(let, constants, name)
        sequence, linked = value_argument(let, 0, "sequence", constants)
        state, more = value_argument(let, 4, "state", constants)
        sizes = lstm_sizes(let.call.attrs, let.call.types)
        table = LinkedConstant(
            role="sigmoid",
            data=_table(),
            alignment=4,
            layout="from -256 on: 2^16 / (1 + exp(-i / 24)) - 2^15, above it the difference to the next",
        )
        stream = LinkedConstant(
            role="stream",
            data=packed,
            alignment=4,
            layout="by unit, sequence then hidden state: words that sums begin with, pairs of weights",
        )
        size_bytes = 2 * GROUP * (groups(sizes.inputs) + groups(sizes.units))
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_lstm_s8_dsp",
            sources=(
                "kernels/dsp/lstm_s8_dsp.c",
                "kernels/dsp/lstm_step_s8_dsp.S",
                "kernels/dsp/gather_s8_dsp.S",
            ),
            headers=("cg_lstm_dsp.h",),
            argument_alignment=4,
            workspaces=(Workspace(name=_SPACE, size_bytes=size_bytes),),
            constants=(table, stream, *linked, *more),
            structs=(params("cg_lstm_params_dsp", *_fields(let)),),
            call_args=(
                PARAMS,
                ConstantArg(role="sigmoid"),
                ConstantArg(role="stream"),
                sequence,
                state,
                WorkspaceArg(name=_SPACE),
                RESULT,
            ),
            instructions=_instructions(let),
        )


def _fields(let: Let) -> Fields:
    attrs, types, result = let.call.attrs, let.call.types, let.var.type
    numbers = lstm_numbers(attrs, types, result)
    limits = DType.INT16.limits
    least = limits[0] if numbers.clip == limits[1] else -numbers.clip
    return (
        *size_fields(let),
        ("sequence", _scales(numbers.inputs)),
        ("recurrent", _scales(numbers.recurrent)),
        ("update_multiplier", _doubled(numbers.update[0])),
        ("update_shift", -numbers.update[1]),
        ("low", least),
        ("high", numbers.clip),
        ("tanh_multiplier", numbers.tanh_multiplier),
        ("tanh_half", (1 << numbers.tanh_shift) >> 1),
        ("tanh_shift", numbers.tanh_shift),
        ("hidden_multiplier", _doubled(numbers.hidden[0])),
        ("hidden_shift", -numbers.hidden[1]),
        ("hidden_zero", result.zero_point),
    )


def _doubled(multiplier: int) -> int:
    return 2 * multiplier - (1 << 32)


def _scales(pairs: tuple[tuple[int, int], ...]) -> Fields:
    multipliers = tuple((f"[{gate}]", _doubled(pair[0])) for gate, pair in enumerate(pairs))
    return (
        ("multipliers", multipliers),
        ("shifts", tuple((f"[{gate}]", -pair[1]) for gate, pair in enumerate(pairs))),
    )


def _table() -> NDArray[np.int32]:
    """Table of values and differences of both halves of the sigmoid; its last value is never exceeded."""
    values = sigmoid_table().astype(np.int64) - (1 << 15)
    half = np.append(values, values[-1])
    whole = np.concatenate([-half[:0:-1], half])
    return ((whole[:-1] & 0xFFFF) | (np.diff(whole) << 16)).astype(np.uint32).view(np.int32)


def _stream(let: Let, constants: ConstantData) -> NDArray[np.int32] | None:
    """Stream of all units; None if a weight or a sum does not fit."""
    biases = folded_biases(let, constants)
    parts: list[np.ndarray] = []
    for weights, bias in zip(weights_of(let, constants), biases, strict=True):
        units, count = weights.shape[1:]
        padded = np.zeros((GATES, units, groups(count) * GROUP), np.int64)
        padded[:, :, :count] = weights
        # By group: k0 and k2, then k1 and k3.
        ordered = padded.reshape(GATES, units, -1, 2, 2).swapaxes(3, 4)
        firsts, seconds = ([pair[which] for pair in _PAIRS] for which in range(2))
        halves = 256 * ordered[seconds] + ordered[firsts]
        sums = wrap_int32(bias)
        largest = np.abs(sums[seconds]) + 128 * np.abs(padded[seconds]).sum(axis=2)
        if halves.min() < DType.INT16.limits[0] or largest.max() >= _LARGEST_SUM:
            return None
        begun = np.stack([sums[firsts], 256 * sums[seconds] + sums[firsts]], axis=1)
        words = ((halves[..., 0] & 0xFFFF) | (halves[..., 1] << 16)).transpose(1, 2, 3, 0)
        parts += [begun.transpose(2, 0, 1).reshape(units, -1), words.reshape(units, -1)]
    return np.concatenate(parts, axis=1).reshape(-1).astype(np.uint32).view(np.int32)


def _instructions(let: Let) -> int:
    """Predicted instructions of a call."""
    sizes = lstm_sizes(let.call.attrs, let.call.types)
    unit, widening = _UNIT, 0
    for count in (sizes.inputs, sizes.units):
        length = groups(count)
        unit += _GROUP * length + 2 * (1 + length // UNROLL)
        widening += _ALIGNED_GROUP * length if count % GROUP == 0 else _BYTE * GROUP * length
    return sizes.batches * (_SEQUENCE + sizes.steps * (_STEP + widening + unit * sizes.units))


register(LstmS8Dsp())
