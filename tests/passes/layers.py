"""Small layers for the reduction's tests, with scales under which requantization is plain addition."""

from collections.abc import Sequence

import numpy as np

from codegen.ir import Arg, Module, TensorType, Var, ops
from codegen.ir.builder import Builder
from codegen.ir.evaluate import evaluate, steps
from codegen.ir.verify import verify
from codegen.passes.reduce import Reduction, reduce
from tests.tensor_types import per_channel, per_tensor, tensor_type

SAME = ops.Padding2D(top=1, bottom=1, left=1, right=1)
NONE = ops.Padding2D()


def int8(*shape: int, zero_point: int = 0, scale: float = 1.0) -> TensorType:
    quantization = per_tensor(scale, zero_point)
    return tensor_type(shape, quantization=quantization)


class Layers(Builder):
    """All scales are 1 unless stated, so a result is `clamp(sum + bias + zero point)`."""

    def _operands(
        self, weights: np.ndarray, bias: Sequence[int] | None, scales: int, axis: int, scale: float = 1.0
    ) -> list[Arg | None]:
        quantization = per_channel((scale,) * scales, axis)
        found: list[Arg | None] = [self.constant(weights.astype(np.int8), quantization=quantization)]
        if bias is None:
            return [*found, None]
        own = per_tensor(1.0)
        return [*found, self.constant(np.array(bias, np.int32), quantization=own)]

    def conv(
        self,
        image: Var,
        weights: np.ndarray,
        bias: Sequence[int] | None,
        *,
        padding: ops.Padding2D = NONE,
        activation: ops.Activation = ops.Activation.NONE,
        zero_point: int = 0,
        scale: float = 1.0,
        name: str | None = None,
    ) -> Var:
        """CONV_2D with OHWI weights, one scale (`scale`) a channel."""
        args = [image, *self._operands(weights, bias, weights.shape[0], 0, scale)]
        attrs = ops.ConvAttrs(padding=padding, activation=activation)
        return self._step("CONV_2D", args, attrs, zero_point, name)

    def depthwise(
        self,
        image: Var,
        weights: np.ndarray,
        bias: Sequence[int] | None,
        *,
        multiplier: int = 1,
        padding: ops.Padding2D = NONE,
        zero_point: int = 0,
        name: str | None = None,
    ) -> Var:
        """DEPTHWISE_CONV_2D with HWO weights."""
        args = [image, *self._operands(weights[None], bias, weights.shape[-1], 3)]
        attrs = ops.DepthwiseConvAttrs(multiplier=multiplier, padding=padding)
        return self._step("DEPTHWISE_CONV_2D", args, attrs, zero_point, name)

    def connected(
        self,
        image: Var,
        weights: np.ndarray,
        bias: Sequence[int] | None,
        *,
        scales: int = 1,
        name: str | None = None,
    ) -> Var:
        """FULLY_CONNECTED with `scales` weight scales."""
        args = [image, *self._operands(weights, bias, scales, 0)]
        return self._step("FULLY_CONNECTED", args, ops.FullyConnectedAttrs(), 0, name)

    def add(self, first: Arg, second: Arg, *, name: str | None = None) -> Var:
        """ADD without activation."""
        return self._step("ADD", [first, second], ops.BinaryAttrs(), 0, name)

    def step(self, op: str, args: Sequence[Arg | None], attrs: ops.Attrs, *, name: str | None = None) -> Var:
        """Any other operator; its result is quantised as its first argument."""
        first = args[0]
        return self._step(op, args, attrs, 0 if first is None else first.type.zero_point, name)

    def _step(
        self, op: str, args: Sequence[Arg | None], attrs: ops.Attrs, zero_point: int, name: str | None
    ) -> Var:
        types = [None if arg is None else arg.type for arg in args]
        shape = ops.OPS[op].result_shape(attrs, types)
        return self.call(ops.OPS[op], args, attrs, int8(*shape, zero_point=zero_point), name=name)


def dense(outputs: int, inputs: int, *window: int, seed: int = 0) -> np.ndarray:
    """Weights of OHWI (or OI) without any zero."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 6, (outputs, *window, inputs)) * rng.choice([-1, 1], (outputs, *window, inputs))
    return values.astype(np.int8)


def reduced(module: Module) -> Reduction:
    """The reduction, after a check that every surviving channel of every step is as before."""
    reduction = reduce(verify(module))
    verify(reduction.module)
    assert not reduce(reduction.module).removed, "one run is the fixed point"
    rng = np.random.default_rng(0)
    shapes = [param.type.shape for param in module.main.params]
    tried = [[rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes] for _ in range(3)]
    tried += [[np.full(shape, end, np.int8) for shape in shapes] for end in (-128, 0, 127)]
    for inputs in tried:
        same_values(reduction, inputs)
    return reduction


def same_values(reduction: Reduction, inputs: Sequence[np.ndarray]) -> None:
    """Results and all steps that are left compute what they did, in the channels they still have."""
    before, after = reduction.original, reduction.module
    whole = {let.var.name: value for let, value in steps(before, before.main, inputs)}
    for let, value in steps(after, after.main, inputs):
        left = reduction.surviving.get(let.var.name)
        wanted = whole[let.var.name] if left is None else whole[let.var.name][..., left]
        assert np.array_equal(value, wanted), let.where
    for one, two in zip(
        evaluate(before, before.main, inputs), evaluate(after, after.main, inputs), strict=True
    ):
        assert np.array_equal(one, two)


def shape_of(reduction: Reduction, name: str) -> tuple[int, ...] | None:
    """Shape of a step's result after reduction, None if the step is gone."""
    return {let.var.name: let.var.type.shape for let in reduction.module.main.body}.get(name)
