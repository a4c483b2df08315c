"""Random int8 networks with much to reduce: zero weights, extreme biases, odd zero points, padding, joins."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from codegen.ir import Arg, ConstRef, Module, TensorType, Var, ops
from codegen.ir.builder import Builder
from codegen.ir.ops.base.weighted import WeightedOp
from tests.tensor_types import per_channel, per_tensor, tensor_type

METADATA = {"sha256": "0" * 64, "format": "made up", "file": "network"}


def _rounded(
    args: Sequence[Arg | None], attrs: ops.RoundedAttrs, result: TensorType
) -> tuple[list[Arg | None], ops.Attrs]:
    """A layer with weights as ONNX has it: one float32 scale a result channel, none of the weights."""
    image, weights, *rest = args
    assert image is not None and isinstance(weights, ConstRef) and weights.type.quantization is not None
    count = weights.type.shape[3 if isinstance(attrs, ops.DepthwiseConvAttrs) else 0]
    factors = np.float32(image.type.scale) * np.array(weights.type.quantization.scales, np.float32)
    scales = np.broadcast_to(factors / np.float32(result.scale), count).tolist()
    plain = replace(weights, type=replace(weights.type, quantization=None))
    return [image, plain, *rest], replace(attrs, rounding=ops.OnnxRounding(scales=tuple(scales)))


class Network:
    """Adds random layers; any earlier value may be an argument, so that channels are shared by readers.

    Layers with weights of every third network are rounded as ONNX does."""

    def __init__(self, seed: int) -> None:
        self.rounds_as_onnx = seed % 3 == 2
        self.rng: Generator = np.random.default_rng(seed)
        self.builder = Builder()
        self.values: list[Var] = []
        for index in range(self._integer(1, 2)):
            shape = (self._integer(1, 2), self._integer(1, 6), self._integer(1, 6), self._integer(1, 4))
            self.values.append(self.builder.param(f"in{index}", self._type(shape)))

    def module(self, layers: int) -> Module:
        """The network of `layers` layers; the last value is a result, sometimes another one too."""
        makers: list[Callable[[Var], Var | None]] = [
            *[self._conv] * 8,
            *[self._depthwise] * 6,
            *[self._connected] * 3,
            *[self._binary] * 3,
            *[self._concatenation] * 2,
            self._pool,
            self._pool,
            self._unary,
            self._unary,
            self._pad,
            self._reshape,
            self._mean,
            self._transpose,
            self._slice,
        ]
        target = len(self.values) + layers
        for _ in range(40 * layers):
            if len(self.values) == target:
                break
            back = 1 if self.rng.random() < 0.75 else self._integer(1, len(self.values))
            made = makers[self._integer(0, len(makers) - 1)](self.values[-back])
            if made is not None:
                self.values.append(made)
        results = [self.values[-1]]
        if self.rng.random() < 0.3:
            results.append(self.values[self._integer(0, len(self.values) - 1)])
        return self.builder.build(results, METADATA)

    def _integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high, endpoint=True))

    def _type(self, shape: tuple[int, ...] = ()) -> TensorType:
        scale = float(np.float32(self.rng.choice([0.01, 0.05, 0.1, 0.25, 1.0])))
        zero_point = int(self.rng.choice([-128, -128, -127, -3, 0, 5, 127]))
        return tensor_type(shape, scale=scale, zero=zero_point)

    def _activation(self) -> ops.Activation:
        return list(ops.Activation)[self._integer(0, len(ops.Activation) - 1)]

    def _call(self, op: str, args: Sequence[Arg | None], attrs: ops.Attrs, type_: TensorType) -> Var | None:
        declared = ops.OPS[op]
        if self.rounds_as_onnx and isinstance(declared, WeightedOp) and isinstance(attrs, ops.RoundedAttrs):
            args, attrs = _rounded(args, attrs, type_)
        types = [None if arg is None else arg.type for arg in args]
        try:
            shape = declared.result_shape(attrs, types)
            declared.check(attrs, types, replace(type_, shape=shape))
        except ValueError:
            return None
        if not 0 < int(np.prod(shape)) < 2000:
            return None
        return self.builder.call(declared, args, attrs, replace(type_, shape=shape))

    # Weights.

    def _weights(
        self, shape: tuple[int, ...], axis: int, type_: TensorType, image: TensorType
    ) -> list[Arg | None]:
        """Weights with zero rows and columns; a bias from none to far beyond the clamp."""
        rng, count = self.rng, shape[axis]
        values = rng.integers(-128, 128, shape, np.int8)
        for each in range(len(shape)):
            dead = rng.random(shape[each]) < (0.35 if each in (axis, len(shape) - 1) else 0.1)
            np.moveaxis(values, each, 0)[dead] = 0
        single = rng.random() < 0.3
        factors = rng.choice([0.003, 0.01, 0.3, 40.0], 1 if single else count, p=[0.4, 0.4, 0.15, 0.05])
        scales = tuple(float(np.float32(f * type_.scale / image.scale)) for f in factors)
        along = None if single else axis
        quantization = per_channel(scales, along)
        weights = self.builder.constant(values, quantization=quantization)
        if rng.random() < 0.2:
            return [weights, None]
        reach = rng.choice([100, 20_000, 2_000_000, 2**31 - 1], count, p=[0.4, 0.3, 0.25, 0.05])
        bias = (rng.uniform(-1, 1, count) * reach).astype(np.int32)
        # FULLY_CONNECTED with one scale checks the bias against it.
        scale = per_tensor(image.scale * scales[0]) if single else None
        return [weights, self.builder.constant(bias, quantization=scale)]

    def _window(self) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], ops.Padding2D]:
        kernel = (self._integer(1, 3), self._integer(1, 3)) if self.rng.random() < 0.6 else (1, 1)
        stride = (1, 1) if self.rng.random() < 0.7 else (self._integer(1, 2), self._integer(1, 3))
        dilation = (1, 1) if self.rng.random() < 0.8 else (self._integer(1, 2), self._integer(1, 2))
        sides = [0, 0, 0, 0]
        if self.rng.random() < 0.5:
            sides = [self._integer(0, kernel[side // 2] - 1) for side in range(4)]
        padding = ops.Padding2D(top=sides[0], bottom=sides[1], left=sides[2], right=sides[3])
        return kernel, stride, dilation, padding

    def _conv(self, image: Var) -> Var | None:
        if len(image.type.shape) != 4:
            return None
        kernel, stride, dilation, padding = self._window()
        inputs = image.type.shape[3]
        groups = 2 if inputs % 2 == 0 and self.rng.random() < 0.15 else 1
        outputs, type_ = groups * self._integer(1, 6 // groups), self._type()
        attrs = ops.ConvAttrs(
            stride=stride, dilation=dilation, padding=padding, activation=self._activation()
        )
        constants = self._weights((outputs, *kernel, inputs // groups), 0, type_, image.type)
        return self._call("CONV_2D", [image, *constants], attrs, type_)

    def _depthwise(self, image: Var) -> Var | None:
        if len(image.type.shape) != 4:
            return None
        kernel, stride, dilation, padding = self._window()
        multiplier, type_ = (1 if self.rng.random() < 0.7 else self._integer(2, 3)), self._type()
        attrs = ops.DepthwiseConvAttrs(
            multiplier=multiplier,
            stride=stride,
            dilation=dilation,
            padding=padding,
            activation=self._activation(),
        )
        constants = self._weights((1, *kernel, image.type.shape[3] * multiplier), 3, type_, image.type)
        return self._call("DEPTHWISE_CONV_2D", [image, *constants], attrs, type_)

    def _connected(self, image: Var) -> Var | None:
        """The last extent, some of the axes flattened, or whatever divides the elements, as a row."""
        shape, type_ = image.type.shape, self._type()
        extent = int(np.prod(shape[self._integer(0, max(len(shape) - 1, 0)) :]))
        if self.rng.random() < 0.2:
            extent = self._integer(1, max(extent, 1))
        keep = bool(shape) and extent == shape[-1] and self.rng.random() < 0.5
        attrs = ops.FullyConnectedAttrs(activation=self._activation(), keep_num_dims=keep)
        constants = self._weights((self._integer(1, 6), extent), 0, type_, image.type)
        return self._call("FULLY_CONNECTED", [image, *constants], attrs, type_)

    # Operators that move channels along.

    def _binary(self, image: Var) -> Var | None:
        """With an earlier value (equal or broadcast), itself or a constant."""
        op = ("ADD", "ADD", "SUB", "MUL")[self._integer(0, 3)]
        others: list[Arg] = [value for value in self.values if value.type.shape == image.type.shape]
        others += [value for value in self.values if value.type.elements <= 6]
        if self.rng.random() < 0.4:
            type_ = image.type
            shape = type_.shape if type_.shape and self.rng.random() < 0.5 else (1, *type_.shape[-1:])
            data = self.rng.integers(-128, 128, shape, np.int8)
            others = [self.builder.constant(data, quantization=self._type().quantization)]
        args: list[Arg] = [image, others[self._integer(0, len(others) - 1)]]
        if self.rng.random() < 0.5:
            args.reverse()
        return self._call(op, args, ops.BinaryAttrs(activation=self._activation()), self._type())

    def _concatenation(self, image: Var) -> Var | None:
        if not image.type.shape:
            return None
        axis = len(image.type.shape) - 1 if self.rng.random() < 0.7 else 0
        alike = [
            value
            for value in self.values
            if value.type.quantization == image.type.quantization
            and len(value.type.shape) == len(image.type.shape)
        ]
        args: list[Arg] = [alike[self._integer(0, len(alike) - 1)] for _ in range(self._integer(0, 2))]
        if self.rng.random() < 0.4:
            data = self.rng.integers(-128, 128, image.type.shape, np.int8)
            args.append(self.builder.constant(data, quantization=image.type.quantization))
        return self._call("CONCATENATION", [image, *args], ops.ConcatAttrs(axis=axis), image.type)

    def _pool(self, image: Var) -> Var | None:
        if len(image.type.shape) != 4:
            return None
        kernel, stride, _, padding = self._window()
        attrs = ops.PoolAttrs(window=kernel, stride=stride, padding=padding, activation=self._activation())
        op = "MAX_POOL_2D" if self.rng.random() < 0.5 else "AVERAGE_POOL_2D"
        return self._call(op, [image], attrs, image.type)

    def _unary(self, image: Var) -> Var | None:
        fixed = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0), "SOFTMAX": (1 / 256, -128)}
        op = ("RELU", "RELU6", "LEAKY_RELU", "QUANTIZE", "LOGISTIC", "TANH", "SOFTMAX")[self._integer(0, 6)]
        type_ = self._type()
        if op in fixed:
            scale, zero_point = fixed[op]
            type_ = replace(type_, quantization=per_tensor(scale, zero_point))
        attrs: ops.Attrs = ops.RoundedAttrs() if op == "QUANTIZE" else ops.Attrs()
        if op == "LEAKY_RELU":
            attrs = ops.LeakyReluAttrs(alpha=float(np.float32(self.rng.uniform(-1, 1))))
        elif op == "SOFTMAX":
            attrs = ops.SoftmaxAttrs(beta=1.0)
        return self._call(op, [image], attrs, type_)

    def _pad(self, image: Var) -> Var | None:
        """Around rows and columns, sometimes around channels; the zero point or another value."""
        every = len(image.type.shape)
        if not every:
            return None
        pads = [(0, 0)] * every
        for axis in range(every):
            if self.rng.random() < (0.3 if axis == every - 1 else 0.6):
                pads[axis] = (self._integer(0, 2), self._integer(0, 2))
        value = image.type.zero_point if self.rng.random() < 0.6 else self._integer(-128, 127)
        return self._call("PAD", [image], ops.PadAttrs(paddings=tuple(pads), value=value), image.type)

    def _reshape(self, image: Var) -> Var | None:
        """Flat, a row a batch, four axes again, or split and joined channels."""
        count, batch = image.type.elements, max(1, image.type.shape[0] if image.type.shape else 1)
        last = image.type.shape[-1] if image.type.shape else 1
        divisor = self._integer(1, 4)
        choices = [(count,), (batch, count // batch), (1, 1, count // last, last), (1, 1, 1, count)]
        if last % divisor == 0:
            choices.append((1, 1, count // divisor, divisor))
        shape = choices[self._integer(0, len(choices) - 1)]
        return self._call("RESHAPE", [image], ops.ReshapeAttrs(shape=shape), image.type)

    def _mean(self, image: Var) -> Var | None:
        axes = tuple(axis for axis in range(len(image.type.shape)) if self.rng.random() < 0.4)
        attrs = ops.MeanAttrs(axes=axes, keep_dims=self.rng.random() < 0.5)
        return self._call("MEAN", [image], attrs, self._type()) if axes else None

    def _transpose(self, image: Var) -> Var | None:
        axes = [int(axis) for axis in self.rng.permutation(len(image.type.shape))]
        if self.rng.random() < 0.5 and axes:
            axes = [*sorted(axes, reverse=True)[1:], len(axes) - 1]
        return self._call("TRANSPOSE", [image], ops.TransposeAttrs(permutation=tuple(axes)), image.type)

    def _slice(self, image: Var) -> Var | None:
        """A part of each axis; mostly all channels."""
        shape = image.type.shape
        begins = [self._integer(0, extent - 1) for extent in shape]
        if self.rng.random() < 0.7 and shape:
            begins[-1] = 0
        counts = tuple(extent - begin for extent, begin in zip(shape, begins, strict=True))
        steps = (1,) * len(shape)
        attrs = ops.StridedSliceAttrs(begins=tuple(begins), strides=steps, counts=counts, shape=counts)
        return self._call("STRIDED_SLICE", [image], attrs, image.type)


def random_network(seed: int) -> Module:
    """The network of `seed`, of 2 to 9 layers."""
    network = Network(seed)
    return network.module(2 + seed % 8)


def inputs_of(module: Module, seed: int) -> list[list[np.ndarray]]:
    """Random inputs, the extremes, and rows of both: enough to move whatever is not constant."""
    rng = np.random.default_rng(seed)
    shapes = [param.type.shape for param in module.main.params]
    return [
        [rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes],
        [rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes],
        [np.full(shape, -128, np.int8) for shape in shapes],
        [np.full(shape, 127, np.int8) for shape in shapes],
        [rng.choice([-128, 127], shape).astype(np.int8) for shape in shapes],
    ]
