"""Operators of layers with a state that goes on from inference to inference.

UNIDIRECTIONAL_SEQUENCE_LSTM: gates over a sequence. Arguments: the sequence; weights of the sequence
[4, units, inputs] and of the hidden state [4, units, units]; biases [4, units]; the state. Gates are in the
order input, forget, cell, output. The state is cell states, then hidden states, in elements of the sequence's
type: of int8, cell states are pairs of bytes (int16). The result is the new state, then the hidden state of
each step.
Sources: tflite-micro, kernels/lstm_eval_common.cc (numbers), lstm_eval.h (steps).

SVDF_FEATURES and SVDF_TIME: the two products of an SVDF whose window is int16. Others are convolutions.
Source: tflite-micro, kernels/svdf_common.cc.
"""

import math
from dataclasses import dataclass

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import LstmAttrs
from codegen.ir.ops.base.curves import rescaled, sigmoid, tanh
from codegen.ir.ops.base.fixed_point import (
    Integers,
    multiply_by_quantized_multiplier,
    multiply_wide_by_quantized_multiplier,
    quantize_multiplier,
    reduced_multiplier,
    wrap_int32,
)
from codegen.ir.ops.base.operands import narrow, need_count, need_dtype, need_elements, operand, present
from codegen.ir.ops.base.parameters import (
    conv_multipliers,
    logistic_float,
    need_wide_shifts,
    tanh_float,
)
from codegen.ir.types import DType, TensorType

GATES = 4
INPUT, FORGET, CELL, OUTPUT = range(GATES)
_GATE_SCALE = 2.0**-12
"""Scale of a gate's sums."""
_ACTIVE_SCALE = 2.0**-15
"""Scale of a gate's result."""
_S16 = (-32768, 32767)


@dataclass(frozen=True, kw_only=True, slots=True)
class LstmSizes:
    """Extents of a call, and its elements from one step or batch to the next, in rows of the sequence."""

    batches: int
    steps: int
    inputs: int
    units: int
    step_rows: int
    batch_rows: int


def state_elements(dtype: DType, units: int) -> int:
    """Elements of a state: `units` hidden ones of this type, and as many cells of int16 or float32."""
    return units * (2 // min(dtype.size_bytes, 2) + 1)


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
    shapes = ((GATES, units, inputs), (GATES, units, units), (GATES, units))
    for weight, shape in zip((weights, recurrent, bias), shapes, strict=True):
        if weight.shape != shape:
            raise ValueError(f"weights or biases have shape {list(weight.shape)}, need {list(shape)}")
    sizes = LstmSizes(
        batches=batches,
        steps=steps,
        inputs=inputs,
        units=units,
        step_rows=batches if lstm.time_major else 1,
        batch_rows=1 if lstm.time_major else steps,
    )
    held = state_elements(sequence.dtype, batches * units)
    if state.shape != (held,):
        raise ValueError(f"the state has shape {list(state.shape)}, needs {held} elements")
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
    """Shift from the cell state's scale to that of the table of tanh."""
    clip: int
    """Largest cell state."""


def lstm_numbers(attrs: Attrs, args: Types, result: TensorType) -> LstmNumbers:
    """Raises ValueError for scales that TFLite's kernel cannot apply. Sums of int16 have 15 bits of them."""
    lstm = narrow(attrs, LstmAttrs)
    power = round(math.log2(lstm.cell_scale))
    if abs(math.log2(lstm.cell_scale) - power) > 1e-3:
        raise ValueError(f"the cell state has scale {lstm.cell_scale:g}, which is no power of two")
    sequence = operand(args, 0, "sequence")
    clip = _S16[1]
    if lstm.cell_clip > 0:
        clip = int(min(max(lstm.cell_clip / lstm.cell_scale, _S16[0]), _S16[1]))
    power_of_tanh = 15 + power - 3
    return LstmNumbers(
        inputs=tuple(_pair(sequence, scale) for scale in lstm.input_scales),
        recurrent=tuple(_pair(result, scale) for scale in lstm.recurrent_scales),
        forget=quantize_multiplier(_ACTIVE_SCALE * lstm.cell_scale / lstm.cell_scale),
        update=quantize_multiplier(_ACTIVE_SCALE * _ACTIVE_SCALE / lstm.cell_scale),
        hidden=quantize_multiplier(_ACTIVE_SCALE * _ACTIVE_SCALE / result.scale),
        tanh_multiplier=3 << max(power_of_tanh, 0),
        tanh_shift=max(-power_of_tanh, 0),
        clip=clip,
    )


def _pair(values: TensorType, weight_scale: float) -> tuple[int, int]:
    """Factor of a gate's products, whose scales tflite-micro multiplies in double."""
    multipliers, shifts = conv_multipliers(values.scale, [weight_scale], _GATE_SCALE)
    if values.dtype is DType.INT16:
        need_wide_shifts(shifts)
        return int(reduced_multiplier(multipliers[0])), int(shifts[0])
    return int(multipliers[0]), int(shifts[0])


_Rows = tuple[np.ndarray, np.ndarray]
"""Cell states and hidden states of all batches."""
_Layer = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Weights, recurrent weights and biases."""

LSTM_TYPES = {
    DType.INT8: (DType.INT8, DType.INT32),
    DType.INT16: (DType.INT8, DType.INT64),
    DType.FLOAT32: (DType.FLOAT32, DType.FLOAT32),
}
"""Types of weights and biases, by that of the sequence, the state and the result."""


class Lstm(Op):
    """UNIDIRECTIONAL_SEQUENCE_LSTM: int8 and int16 with cell states of int16, float32."""

    name = "UNIDIRECTIONAL_SEQUENCE_LSTM"
    short = "lstm"
    attrs_type = LstmAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The state and the hidden states of all steps."""
        sizes, state = lstm_sizes(attrs, args), operand(args, 4, "state")
        return (state.elements + sizes.steps * sizes.batches * sizes.units,)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """One type, with weights and biases to it."""
        super().check(attrs, args, result)
        sequence = operand(args, 0, "sequence")
        need_elements(sequence)
        need_dtype(sequence, "sequence", *LSTM_TYPES)
        weights, bias = LSTM_TYPES[sequence.dtype]
        for index, what in ((1, "weights"), (2, "recurrent weights")):
            need_dtype(operand(args, index, what), what, weights)
        need_dtype(operand(args, 3, "bias"), "bias", bias)
        need_dtype(operand(args, 4, "state"), "state", sequence.dtype)
        need_dtype(result, "result", sequence.dtype)
        if sequence.dtype is DType.INT16 and (sequence.zero_point or result.zero_point):
            raise ValueError("sequence or result of int16 has a zero point other than 0")
        if sequence.dtype is not DType.FLOAT32:
            lstm_numbers(attrs, args, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Step by step, all batches at once."""
        sizes, is_float = lstm_sizes(attrs, args), result.dtype is DType.FLOAT32
        sequence, weights, recurrent, bias, state = (present(values, index, "argument") for index in range(5))
        rows = sequence if narrow(attrs, LstmAttrs).time_major else sequence.swapaxes(0, 1)
        count, shape = sizes.batches * sizes.units, (sizes.batches, sizes.units)
        cell = state[:-count].view(np.float32 if is_float else "<i2").reshape(shape)
        held = cell, state[-count:].reshape(shape)
        hidden_rows: list[np.ndarray] = []
        for row in rows:
            if is_float:
                held = _float_step(narrow(attrs, LstmAttrs), row, held, (weights, recurrent, bias))
            else:
                numbers = lstm_numbers(attrs, args, result)
                zeros = operand(args, 0, "sequence").zero_point, result
                held = _integer_step(numbers, row, held, (weights, recurrent, bias), zeros)
            hidden_rows.append(held[1])
        hidden = np.stack(hidden_rows) if narrow(attrs, LstmAttrs).time_major else np.stack(hidden_rows, 1)
        kind = result.dtype.numpy
        state_now = held[0].reshape(-1).view(kind), held[1].reshape(-1)
        return np.concatenate([*state_now, hidden.reshape(-1)]).astype(kind)

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Multiply-accumulates of all gates and steps."""
        sizes = lstm_sizes(attrs, args)
        return sizes.steps * sizes.batches * GATES * sizes.units * (sizes.inputs + sizes.units)


def _float_step(lstm: LstmAttrs, row: np.ndarray, held: _Rows, layer: _Layer) -> _Rows:
    cell, hidden = held
    weights, recurrent, bias = layer
    sums = [row @ weights[gate].T + bias[gate] + hidden @ recurrent[gate].T for gate in range(GATES)]
    gates = [
        tanh_float(gate_sums) if gate == CELL else logistic_float(gate_sums)
        for gate, gate_sums in enumerate(sums)
    ]
    cell = gates[FORGET] * cell + gates[INPUT] * gates[CELL]
    if lstm.cell_clip > 0:
        cell = np.clip(cell, -np.float32(lstm.cell_clip), np.float32(lstm.cell_clip))
    cell = cell.astype(np.float32)
    return cell, (tanh_float(cell) * gates[OUTPUT]).astype(np.float32)


def _integer_step(
    numbers: LstmNumbers, row: np.ndarray, held: _Rows, layer: _Layer, zeros: tuple[int, TensorType]
) -> _Rows:
    in_zero, result = zeros
    wide = row.astype(np.int64) - in_zero, held[1].astype(np.int64) - result.zero_point
    gates = [_gate(gate, numbers, wide, layer, is_wide=result.dtype is DType.INT16) for gate in range(GATES)]
    cell = _cell(numbers, held[0].astype(np.int64), gates)
    active = tanh(rescaled(cell, numbers.tanh_multiplier, numbers.tanh_shift)) * gates[OUTPUT]
    hidden = multiply_by_quantized_multiplier(active, *numbers.hidden) + result.zero_point
    return cell.astype("<i2"), np.clip(hidden, *result.dtype.limits).astype(result.dtype.numpy)


def _gate(gate: int, numbers: LstmNumbers, rows: _Rows, layer: _Layer, *, is_wide: bool) -> Integers:
    total = np.zeros(1, np.int64)
    pairs = (numbers.inputs[gate], numbers.recurrent[gate])
    for row, weight, pair, more in zip(rows, layer[:2], pairs, (layer[2][gate], 0), strict=True):
        sums = row @ weight[gate].astype(np.int64).T + more
        if is_wide:
            scaled = multiply_wide_by_quantized_multiplier(sums, pair[0] << 16, pair[1])
        else:
            scaled = multiply_by_quantized_multiplier(wrap_int32(sums), *pair)
        total = total + np.clip(scaled, *_S16)
    total = np.clip(total, *_S16)
    return tanh(total * 3) if gate == CELL else sigmoid(total * 3)


def _cell(numbers: LstmNumbers, cell: Integers, gates: list[Integers]) -> Integers:
    kept = np.clip(multiply_by_quantized_multiplier(gates[FORGET] * cell, *numbers.forget), *_S16)
    added = np.clip(multiply_by_quantized_multiplier(gates[INPUT] * gates[CELL], *numbers.update), *_S16)
    total = np.clip(kept + added, *_S16)
    return np.clip(total, -numbers.clip, numbers.clip) if numbers.clip < _S16[1] else total


LSTM = Lstm()


def _requantized(sums: Integers, scales: tuple[TensorType, TensorType], result: TensorType) -> np.ndarray:
    """Sums of 32 bits in the result's type; scales: of values and weights."""
    (multiplier,), (shift,) = conv_multipliers(scales[0].scale, (scales[1].scale,), result.scale)
    scaled = multiply_by_quantized_multiplier(wrap_int32(sums), int(multiplier), int(shift))
    limited = np.clip(scaled + result.zero_point, *result.dtype.limits)
    return limited.astype(result.dtype.numpy).reshape(result.shape)


class SvdfFeatures(Op):
    """SVDF_FEATURES(rows int8 [..., I], weights int8 [F, I]): a frame of F numbers of int16 for each row."""

    name = "SVDF_FEATURES"
    short = "features"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The rows' but for the last axis."""
        del attrs
        need_count(args, 2, 2)
        rows, weights = operand(args, 0, "rows"), operand(args, 1, "weights")
        if len(weights.shape) != 2 or rows.shape[-1:] != weights.shape[1:]:
            raise ValueError(f"rows of shape {list(rows.shape)}, weights of {list(weights.shape)}")
        return (*rows.shape[:-1], weights.shape[0])

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 to int16, which has no zero point."""
        super().check(attrs, args, result)
        need_elements(result)
        rows, weights = operand(args, 0, "rows"), operand(args, 1, "weights")
        need_dtype(rows, "rows", DType.INT8)
        need_dtype(weights, "weights", DType.INT8)
        need_dtype(result, "result", DType.INT16)
        if weights.zero_point or result.zero_point:
            raise ValueError("weights and result have zero points other than 0")
        conv_multipliers(rows.scale, (weights.scale,), result.scale)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Sums of products in 32 bits."""
        del attrs
        rows, weights = present(values, 0, "rows"), present(values, 1, "weights")
        types = operand(args, 0, "rows"), operand(args, 1, "weights")
        sums = (rows.astype(np.int64) - types[0].zero_point) @ weights.astype(np.int64).T
        return _requantized(sums, types, result)

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """A product for each weight and row."""
        del attrs
        return result.elements * operand(args, 1, "weights").shape[1]


class SvdfTime(Op):
    """SVDF_TIME(window int16 [1, M, B, U * R], weights int16 [M, U, R], bias int32 [U]): [1, 1, B, U]."""

    name = "SVDF_TIME"
    short = "time"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """A row of units for each batch."""
        del attrs
        need_count(args, 3, 3)
        window, weights, bias = (operand(args, index, "argument") for index in range(3))
        if len(weights.shape) != 3 or len(window.shape) != 4 or bias.shape != weights.shape[1:2]:
            raise ValueError(f"a window of shape {list(window.shape)}, weights of {list(weights.shape)}")
        memory, units, rank = weights.shape
        if (window.shape[0], window.shape[1], window.shape[3]) != (1, memory, units * rank):
            raise ValueError(f"a window of shape {list(window.shape)}, weights of {list(weights.shape)}")
        return (1, 1, window.shape[2], units)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int16 to int8."""
        super().check(attrs, args, result)
        need_elements(result)
        window, weights, bias = (operand(args, index, "argument") for index in range(3))
        need_dtype(window, "window", DType.INT16)
        need_dtype(weights, "weights", DType.INT16)
        need_dtype(bias, "bias", DType.INT32)
        need_dtype(result, "result", DType.INT8)
        if weights.zero_point or window.zero_point:
            raise ValueError("weights and window have zero points other than 0")
        conv_multipliers(window.scale, (weights.scale,), result.scale)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Sums of products in 32 bits, which wrap."""
        del attrs
        window, weights, bias = (present(values, index, "argument").astype(np.int64) for index in range(3))
        memory, units, rank = weights.shape
        sums = np.einsum("mbur,mur->bu", window.reshape(memory, -1, units, rank), weights) + bias
        return _requantized(sums, (operand(args, 0, "window"), operand(args, 1, "weights")), result)

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """A product for each element of the window."""
        del attrs, result
        return operand(args, 0, "window").elements


SVDF_STEPS: tuple[Op, ...] = (SvdfFeatures(), SvdfTime())
