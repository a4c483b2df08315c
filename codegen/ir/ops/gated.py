"""GRU and RNN of float32, as ONNX has them: all moments of a sequence in one step.

Arguments: the sequence [moments, batch, inputs]; weights of the sequence [gates, units, inputs] and of the
hidden state [gates, units, units]; biases; the state [batch * units]; moments of each sequence, int32
[batch]. The gates of a GRU are update, reset, hidden. Its biases [4, units] are those of the gates, then what
the hidden state adds to the hidden gate behind the reset. An RNN has one gate and biases [1, units]. The
result is the new state, then the hidden state of each moment; moments behind a sequence's end are 0.
Source: the ONNX operator schemas.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import GatedAttrs
from codegen.ir.ops.base.operands import narrow, need_count, need_dtype, need_elements, operand, present
from codegen.ir.ops.base.parameters import logistic_float, tanh_float
from codegen.ir.types import DType, TensorType

FUNCTIONS: dict[str, Callable[[np.ndarray, np.float32, np.float32], np.ndarray]] = {
    "sigmoid": lambda x, alpha, beta: logistic_float(x),
    "tanh": lambda x, alpha, beta: tanh_float(x),
    "relu": lambda x, alpha, beta: np.maximum(x, np.float32(0)),
    "affine": lambda x, alpha, beta: x * alpha + beta,
    "elu": lambda x, alpha, beta: np.where(x < 0, alpha * np.expm1(x), x),
    "hardsigmoid": lambda x, alpha, beta: np.clip(x * alpha + beta, np.float32(0), np.float32(1)),
    "leakyrelu": lambda x, alpha, beta: np.where(x < 0, alpha * x, x),
    "scaledtanh": lambda x, alpha, beta: alpha * tanh_float(beta * x),
    "softsign": lambda x, alpha, beta: x / (np.abs(x) + np.float32(1)),
}
"""Activations in the order of their numbers in C."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GatedSizes:
    """Extents of a call."""

    moments: int
    batches: int
    inputs: int
    units: int


class Gated(Op):
    """Shared by GRU and RNN."""

    attrs_type = GatedAttrs
    gates = 1
    bias_rows = 1
    functions = 1
    """Activations that the attributes name."""

    def sizes(self, args: Types) -> GatedSizes:
        """Sizes of a call; raises ValueError where shapes do not fit."""
        need_count(args, 6, 6)
        sequence, weights, recurrent, bias, state, lengths = (
            operand(args, index, "argument") for index in range(6)
        )
        if len(sequence.shape) != 3 or len(weights.shape) != 3:
            raise ValueError(f"a sequence of shape {list(sequence.shape)}, needs moments, batch and inputs")
        units, (moments, batches, inputs) = weights.shape[1], sequence.shape
        shapes = {
            "weights": (weights.shape, (self.gates, units, inputs)),
            "recurrent weights": (recurrent.shape, (self.gates, units, units)),
            "biases": (bias.shape, (self.bias_rows, units)),
            "the state": (state.shape, (batches * units,)),
            "the lengths": (lengths.shape, (batches,)),
        }
        for what, (shape, needed) in shapes.items():
            if shape != needed:
                raise ValueError(f"{what} of shape {list(shape)}, need {list(needed)}")
        return GatedSizes(moments=moments, batches=batches, inputs=inputs, units=units)

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The state and the hidden states of all moments."""
        sizes = self.sizes(args)
        return ((sizes.moments + 1) * sizes.batches * sizes.units,)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """float32, lengths int32, as many functions as the operator has."""
        super().check(attrs, args, result)
        need_elements(operand(args, 0, "sequence"))
        for index in range(5):
            need_dtype(operand(args, index, "argument"), "argument", DType.FLOAT32)
        need_dtype(operand(args, 5, "lengths"), "lengths", DType.INT32)
        need_dtype(result, "result", DType.FLOAT32)
        gated = narrow(attrs, GatedAttrs)
        if {len(gated.functions), len(gated.alphas), len(gated.betas)} != {self.functions}:
            raise ValueError(f"needs {self.functions} activations with their numbers")
        if not all(0 <= number < len(FUNCTIONS) for number in gated.functions):
            raise ValueError(f"activations are numbers from 0 to {len(FUNCTIONS) - 1}")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Moment by moment, each batch by itself."""
        sizes, gated = self.sizes(args), narrow(attrs, GatedAttrs)
        sequence, weights, recurrent, bias, state, lengths = (
            present(values, index, "argument") for index in range(6)
        )
        hidden = state.reshape(sizes.batches, sizes.units).astype(np.float32)
        every = np.zeros((sizes.moments, sizes.batches, sizes.units), np.float32)
        for batch, length in enumerate(np.clip(lengths, 0, sizes.moments).tolist()):
            for time in range(length):
                moment = length - 1 - time if gated.reverse else time
                row = sequence[moment, batch]
                hidden[batch] = self.moment(gated, row, hidden[batch], (weights, recurrent, bias))
                every[moment, batch] = hidden[batch]
        return np.concatenate([hidden.reshape(-1), every.reshape(-1)])

    def moment(
        self, attrs: GatedAttrs, row: np.ndarray, hidden: np.ndarray, layer: tuple[np.ndarray, ...]
    ) -> np.ndarray:
        """The hidden state after one moment."""
        raise NotImplementedError

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Products of all gates and moments."""
        sizes = self.sizes(args)
        return sizes.moments * sizes.batches * self.gates * sizes.units * (sizes.inputs + sizes.units)


def _active(attrs: GatedAttrs, which: int, sums: np.ndarray) -> np.ndarray:
    """Sums, bounded, through one of the activations."""
    if attrs.clip > 0:
        sums = np.clip(sums, -np.float32(attrs.clip), np.float32(attrs.clip))
    function = list(FUNCTIONS.values())[attrs.functions[which]]
    numbers = np.float32(attrs.alphas[which]), np.float32(attrs.betas[which])
    return function(sums.astype(np.float32), *numbers).astype(np.float32)


class Gru(Gated):
    """GRU: gates update, reset and hidden."""

    name, short = "GRU", "gru"
    gates, bias_rows, functions = 3, 4, 2

    def moment(
        self, attrs: GatedAttrs, row: np.ndarray, hidden: np.ndarray, layer: tuple[np.ndarray, ...]
    ) -> np.ndarray:
        """ONNX's equations; `linear_before_reset`: the reset is behind the hidden gate's product."""
        weights, recurrent, bias = layer
        sums = [weights[gate] @ row + bias[gate] for gate in range(3)]
        update, reset = (_active(attrs, 0, sums[gate] + recurrent[gate] @ hidden) for gate in range(2))
        if attrs.linear_before_reset:
            more = reset * (recurrent[2] @ hidden + bias[3])
        else:
            more = recurrent[2] @ (reset * hidden) + bias[3]
        fresh = _active(attrs, 1, sums[2] + more)
        return (np.float32(1) - update) * fresh + update * hidden


class Rnn(Gated):
    """RNN: one gate, which is the hidden state."""

    name, short = "RNN", "rnn"

    def moment(
        self, attrs: GatedAttrs, row: np.ndarray, hidden: np.ndarray, layer: tuple[np.ndarray, ...]
    ) -> np.ndarray:
        """The activation of both products."""
        weights, recurrent, bias = layer
        return _active(attrs, 0, weights[0] @ row + bias[0] + recurrent[0] @ hidden)


GATED: tuple[Gated, ...] = (Gru(), Rnn())
"""All of this family."""
