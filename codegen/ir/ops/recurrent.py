"""UNIDIRECTIONAL_SEQUENCE_LSTM: gates over a sequence, with a state that goes on from inference to inference.

Arguments: the sequence; weights of the sequence [4, units, inputs] and of the hidden state [4, units, units];
biases [4, units]; the state. Gates are in the order input, forget, cell, output. The state is cell states
(int16), then hidden states (int8), as bytes; the result is the new state, then the hidden state of each step.
Sources: tflite-micro, kernels/lstm_eval_common.cc (numbers), lstm_eval.h (steps); TFLite,
reference/integer_ops/{logistic,tanh}.h.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import LstmAttrs
from codegen.ir.ops.base.fixed_point import (
    Integers,
    multiply_by_quantized_multiplier,
    quantize_multiplier,
    wrap_int32,
)
from codegen.ir.ops.base.operands import narrow, need_count, need_dtype, need_elements, operand, present
from codegen.ir.ops.base.parameters import fully_connected_multipliers
from codegen.ir.types import DType, TensorType

GATES = 4
INPUT, FORGET, CELL, OUTPUT = range(GATES)
_GATE_SCALE = 2.0**-12
"""Of what a gate's sums are scaled to."""
_ACTIVE_SCALE = 2.0**-15
"""Of what a gate gives."""
_S16 = (-32768, 32767)
_ONE_MORE = (
    *(4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40, 41, 43, 44),
    *(45, 46, 49, 50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255),
)
"""Where TFLite's table of sigmoids is one above the rounded number."""


@lru_cache(maxsize=1)
def sigmoid_table() -> NDArray[np.uint16]:
    """TFLite's 2^16 / (1 + exp(-i / 24)), not rounded to the nearest everywhere."""
    exact = 65536.0 / (1.0 + np.exp(-np.arange(256) / 24.0))
    table = np.floor(exact + 0.5).astype(np.int64)
    table[list(_ONE_MORE)] += 1
    return table.astype(np.uint16)


@dataclass(frozen=True, kw_only=True, slots=True)
class LstmSizes:
    """Extents of a call, and its elements from one step or batch to the next, in rows of the sequence."""

    batches: int
    steps: int
    inputs: int
    units: int
    step_rows: int
    batch_rows: int

    @property
    def state_bytes(self) -> int:
        """Cell states of int16, hidden states of int8."""
        return 3 * self.batches * self.units


def lstm_sizes(attrs: Attrs, args: Types) -> LstmSizes:
    """Sizes of a call; raises ValueError where shapes do not fit."""
    need_count(args, 5, 5)
    lstm = narrow(attrs, LstmAttrs)
    sequence, weights, recurrent, bias, state = (operand(args, index, "argument") for index in range(5))
    if len(sequence.shape) != 3 or len(weights.shape) != 3:
        raise ValueError(f"a sequence of shape {list(sequence.shape)}, needs time, batch and inputs")
    units = weights.shape[1]
    steps, batches = sequence.shape[:2] if lstm.time_major else sequence.shape[1::-1]
    inputs = sequence.shape[2]
    wanted = ((GATES, units, inputs), (GATES, units, units), (GATES, units))
    for each, shape in zip((weights, recurrent, bias), wanted, strict=True):
        if each.shape != shape:
            raise ValueError(f"weights or biases have shape {list(each.shape)}, need {list(shape)}")
    sizes = LstmSizes(
        batches=batches,
        steps=steps,
        inputs=inputs,
        units=units,
        step_rows=batches if lstm.time_major else 1,
        batch_rows=1 if lstm.time_major else steps,
    )
    if state.shape != (sizes.state_bytes,):
        raise ValueError(f"the state has shape {list(state.shape)}, needs {sizes.state_bytes} bytes")
    return sizes


@dataclass(frozen=True, kw_only=True, slots=True)
class LstmNumbers:
    """(multiplier, shift) of everything that is scaled, by gate where there are four."""

    inputs: tuple[tuple[int, int], ...]
    recurrent: tuple[tuple[int, int], ...]
    forget: tuple[int, int]
    update: tuple[int, int]
    hidden: tuple[int, int]
    tanh_multiplier: int
    tanh_shift: int
    """Of the cell state to what the table is asked for."""
    clip: int
    """Largest cell state."""


def lstm_numbers(attrs: Attrs, args: Types, result: TensorType) -> LstmNumbers:
    """Raises ValueError for scales that TFLite's kernel cannot apply."""
    lstm = narrow(attrs, LstmAttrs)
    power = round(math.log2(lstm.cell_scale))
    if abs(math.log2(lstm.cell_scale) - power) > 1e-3:
        raise ValueError(f"the cell state has scale {lstm.cell_scale:g}, which is no power of two")
    sequence = operand(args, 0, "sequence")
    clip = _S16[1]
    if lstm.cell_clip > 0:
        clip = int(min(max(lstm.cell_clip / lstm.cell_scale, _S16[0]), _S16[1]))
    wanted = 15 + power - 3
    return LstmNumbers(
        inputs=tuple(_pair(sequence.scale, scale) for scale in lstm.input_scales),
        recurrent=tuple(_pair(result.scale, scale) for scale in lstm.recurrent_scales),
        forget=quantize_multiplier(_ACTIVE_SCALE * lstm.cell_scale / lstm.cell_scale),
        update=quantize_multiplier(_ACTIVE_SCALE * _ACTIVE_SCALE / lstm.cell_scale),
        hidden=quantize_multiplier(_ACTIVE_SCALE * _ACTIVE_SCALE / result.scale),
        tanh_multiplier=3 << max(wanted, 0),
        tanh_shift=max(-wanted, 0),
        clip=clip,
    )


def _pair(scale: float, weight_scale: float) -> tuple[int, int]:
    multipliers, shifts = fully_connected_multipliers(scale, [weight_scale], _GATE_SCALE)
    return int(multipliers[0]), int(shifts[0])


def _looked_up(scaled: Integers, bits: int) -> tuple[Integers, Integers]:
    """The table's value, interpolated between neighbours that are 2^bits apart, for magnitudes."""
    table = sigmoid_table().astype(np.int64)
    size = np.abs(scaled)
    place = np.minimum(size >> bits, 254)
    low, high = table[place], table[place + 1]
    between = (low << bits) + (size & ((1 << bits) - 1)) * (high - low)
    return size >> bits, between


def _sigmoid(values: Integers) -> Integers:
    scaled = values * 3
    place, found = _looked_up(scaled, 9)
    found = np.where(place >= 255, 0x7FFF << 10, found)
    return np.where(scaled >= 0, found + (1 << 9), (1 << 25) - found + (1 << 9) - 1) >> 10


def _tanh(values: Integers, multiplier: int, shift: int) -> Integers:
    scaled = (values * multiplier + ((1 << shift) >> 1)) >> shift
    place, found = _looked_up(scaled, 8)
    found = np.where(place >= 255, 0xFFFF << 8, found)
    half = 1 << 23
    return np.where(scaled >= 0, found - half + (1 << 7), half - found + (1 << 7) - 1) >> 8


class Lstm(Op):
    """UNIDIRECTIONAL_SEQUENCE_LSTM of int8 with cell states of int16."""

    name = "UNIDIRECTIONAL_SEQUENCE_LSTM"
    short = "lstm"
    attrs_type = LstmAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The state's bytes and the hidden states of all steps."""
        sizes = lstm_sizes(attrs, args)
        return (sizes.state_bytes + sizes.steps * sizes.batches * sizes.units,)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8; weights int8, biases int32."""
        super().check(attrs, args, result)
        need_elements(operand(args, 0, "sequence"))
        for index, what in ((0, "sequence"), (1, "weights"), (2, "recurrent weights"), (4, "state")):
            need_dtype(operand(args, index, what), what, DType.INT8)
        need_dtype(operand(args, 3, "bias"), "bias", DType.INT32)
        need_dtype(result, "result", DType.INT8)
        lstm_numbers(attrs, args, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Step by step, all batches at once."""
        sizes, numbers = lstm_sizes(attrs, args), lstm_numbers(attrs, args, result)
        sequence, weights, recurrent, bias, state = (present(values, index, "argument") for index in range(5))
        wide = sequence.astype(np.int64) - operand(args, 0, "sequence").zero_point
        wide = wide if narrow(attrs, LstmAttrs).time_major else wide.swapaxes(0, 1)
        cell_bytes = 2 * sizes.batches * sizes.units
        rows = (sizes.batches, sizes.units)
        cell = state[:cell_bytes].view("<i2").astype(np.int64).reshape(rows)
        hidden = state[cell_bytes:].astype(np.int64).reshape(rows)
        found: list[np.ndarray] = []
        for row in wide:
            gates = [
                self._gate(gate, numbers, (row, hidden - result.zero_point), (weights, recurrent), bias[gate])
                for gate in range(GATES)
            ]
            cell = self._cell(numbers, cell, gates)
            active = _tanh(cell, numbers.tanh_multiplier, numbers.tanh_shift) * gates[OUTPUT]
            hidden = multiply_by_quantized_multiplier(active, *numbers.hidden) + result.zero_point
            hidden = np.clip(hidden, *result.dtype.limits)
            found.append(hidden)
        given = np.stack(found) if narrow(attrs, LstmAttrs).time_major else np.stack(found, 1)
        state_now = cell.astype("<i2").reshape(-1).view(np.int8), hidden.astype(np.int8).reshape(-1)
        return np.concatenate([*state_now, given.astype(np.int8).reshape(-1)])

    def _gate(
        self,
        gate: int,
        numbers: LstmNumbers,
        rows: tuple[Integers, Integers],
        weights: tuple[np.ndarray, np.ndarray],
        bias: np.ndarray,
    ) -> Integers:
        total = np.zeros(1, np.int64)
        pairs = (numbers.inputs[gate], numbers.recurrent[gate])
        for row, weight, pair, more in zip(rows, weights, pairs, (bias, 0), strict=True):
            sums = wrap_int32(row @ weight[gate].astype(np.int64).T + more)
            total = total + np.clip(multiply_by_quantized_multiplier(sums, *pair), *_S16)
        total = np.clip(total, *_S16)
        return _tanh(total, 3, 0) if gate == CELL else _sigmoid(total)

    def _cell(self, numbers: LstmNumbers, cell: Integers, gates: list[Integers]) -> Integers:
        kept = np.clip(multiply_by_quantized_multiplier(gates[FORGET] * cell, *numbers.forget), *_S16)
        added = np.clip(multiply_by_quantized_multiplier(gates[INPUT] * gates[CELL], *numbers.update), *_S16)
        total = np.clip(kept + added, *_S16)
        return np.clip(total, -numbers.clip, numbers.clip) if numbers.clip < _S16[1] else total

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Of all gates and steps."""
        del result
        sizes = lstm_sizes(attrs, args)
        return GATES * sizes.batches * sizes.steps * sizes.units * (sizes.inputs + sizes.units)


LSTM = Lstm()
