"""Random networks over a window of rows, and streams run through them whole and sliding."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from codegen.ir import Arg, DType, Module, TensorType, Var, ops
from codegen.ir.builder import Builder
from codegen.ir.evaluate import evaluate
from codegen.passes.sliding import Sliding, SlidingInput
from tests.tensor_types import per_tensor, tensor_type

Pair = tuple[int, int]
SCALE = float(np.float32(0.05))
WEIGHT_SCALE = float(np.float32(0.01))
NONE = ops.Padding2D()


class Streams(Builder):
    """Layers over an image of rows; every value has one scale, weights come from the dice."""

    def __init__(self, seed: int, dtype: DType = DType.INT8) -> None:
        super().__init__()
        self.dice, self.dtype = np.random.default_rng(seed), dtype

    def type(self, *shape: int) -> TensorType:
        if self.dtype is DType.FLOAT32:
            return tensor_type(shape, DType.FLOAT32)
        zero = -3 if self.dtype is DType.INT8 else 0
        return tensor_type(shape, self.dtype, scale=SCALE, zero=zero)

    def _weighted(self, op: str, image: Var, shape: Sequence[int], attrs: ops.Attrs, count: int) -> Var:
        """A layer with weights and a bias."""
        values, bias = self.dice.integers(-127, 128, shape), self.dice.integers(-200, 200, count)
        args: list[Arg] = [image]
        if self.dtype is DType.FLOAT32:
            args += [self.constant((values / 300).astype(np.float32)), self.constant(bias.astype(np.float32))]
        else:
            scales = per_tensor(WEIGHT_SCALE)
            bias_type = np.int32 if self.dtype is DType.INT8 else np.int64
            args += [
                self.constant(values.astype(np.int8), quantization=scales),
                self.constant(
                    bias.astype(bias_type),
                    quantization=per_tensor(float(np.float32(SCALE * WEIGHT_SCALE))),
                ),
            ]
        return self.step(op, args, attrs)

    def conv(
        self,
        image: Var,
        channels: int,
        window: Pair = (3, 1),
        *,
        stride: Pair = (1, 1),
        dilation: Pair = (1, 1),
        padding: ops.Padding2D = NONE,
    ) -> Var:
        """CONV_2D."""
        attrs = ops.ConvAttrs(
            stride=stride, dilation=dilation, padding=padding, activation=ops.Activation.RELU
        )
        shape = (channels, *window, image.type.shape[3])
        return self._weighted("CONV_2D", image, shape, attrs, channels)

    def depthwise(
        self,
        image: Var,
        window: Pair = (3, 1),
        *,
        stride: Pair = (1, 1),
        padding: ops.Padding2D = NONE,
    ) -> Var:
        """DEPTHWISE_CONV_2D."""
        attrs = ops.DepthwiseConvAttrs(stride=stride, padding=padding)
        channels = image.type.shape[3]
        return self._weighted("DEPTHWISE_CONV_2D", image, (1, *window, channels), attrs, channels)

    def dense(self, value: Var, units: int) -> Var:
        """FULLY_CONNECTED over all elements."""
        shape = (units, value.type.elements)
        return self._weighted("FULLY_CONNECTED", value, shape, ops.FullyConnectedAttrs(), units)

    def step(self, op: str, args: Sequence[Arg | None], attrs: ops.Attrs) -> Var:
        """Any operator."""
        types = [None if arg is None else arg.type for arg in args]
        return self.call(ops.OPS[op], args, attrs, self.type(*ops.OPS[op].result_shape(attrs, types)))

    def last_row(self, value: Var) -> Var:
        """STRIDED_SLICE of the last row."""
        shape = value.type.shape
        counts = (1, 1, *shape[2:])
        attrs = ops.StridedSliceAttrs(
            begins=(0, shape[1] - 1, 0, 0), strides=(1, 1, 1, 1), counts=counts, shape=counts
        )
        return self.step("STRIDED_SLICE", [value], attrs)


def same(extent: int, window: int, stride: int = 1, dilation: int = 1) -> Pair:
    """TFLite's SAME padding in front and behind."""
    reach = (window - 1) * dilation + 1
    total = max((-(-extent // stride) - 1) * stride + reach - extent, 0)
    return total // 2, total - total // 2


def tcn(dtype: DType) -> Module:
    """Residual blocks of causal convolutions with dilations 1, 2, 4; the last row decides."""
    net = Streams(1, dtype)
    value = net.conv(net.param("x", net.type(1, 32, 1, 3)), 4)
    for dilation in (1, 2, 4):
        branch = net.conv(value, 4, dilation=(dilation, 1), padding=ops.Padding2D(top=2 * dilation))
        value = net.step("ADD", [value, branch], ops.BinaryAttrs())
    return net.build([net.dense(net.last_row(value), 3)])


def imu(dtype: DType) -> Module:
    """256 samples of 6 channels: convolutions with strides along time, a global pool."""
    net = Streams(2, dtype)
    value: Var = net.param("x", net.type(1, 256, 1, 6))
    for stride in (4, 2, 1):
        value = net.conv(value, 6, (5, 1), stride=(stride, 1))
    return net.build([net.dense(net.step("MEAN", [value], ops.MeanAttrs(axes=(1, 2))), 3)])


def spotter(dtype: DType) -> Module:
    """Keywords: SAME padding, stride 2 in front, depthwise layers, a global pool."""
    net = Streams(3, dtype)
    top, bottom = same(24, 6, 2)
    value = net.param("x", net.type(1, 24, 3, 1))
    value = net.conv(value, 4, (6, 1), stride=(2, 1), padding=ops.Padding2D(top=top, bottom=bottom))
    for _ in range(2):
        value = net.depthwise(value, padding=ops.Padding2D(top=1, bottom=1))
        value = net.conv(value, 4, (1, 1))
    return net.build([net.dense(net.step("MEAN", [value], ops.MeanAttrs(axes=(1, 2))), 3)])


def frames(dtype: DType) -> Module:
    """An autoencoder's first layer over five frames."""
    net = Streams(4, dtype)
    return net.build([net.dense(net.param("x", net.type(1, 5, 1, 8)), 8)])


STREAMS = ((tcn, 1), (imu, 8), (imu, 3), (spotter, 1), (spotter, 2), (spotter, 3), (frames, 1))
"""Networks over windows, and the rows by which each moves."""


def random_network(seed: int) -> tuple[Module, SlidingInput]:
    """A network of up to six layers with branches, strides, padding, dilations and joins, and its window."""
    dice = np.random.default_rng(seed)
    dtype = (DType.INT8, DType.INT8, DType.INT16, DType.FLOAT32)[seed % 4]
    net = Streams(seed, dtype)
    rows, columns = int(dice.integers(6, 40)), int(dice.integers(1, 4))
    step = int(dice.integers(1, min(rows, 7) + 1))
    value = net.param("x", net.type(1, rows, columns, int(dice.integers(1, 4))))
    values = [value]
    for _ in range(int(dice.integers(1, 7))):
        value = _layer(
            net, dice, values[-1] if dice.random() < 0.8 else values[int(dice.integers(len(values)))]
        )
        twins = [each for each in values if each.type.shape == value.type.shape]
        if twins and dice.random() < 0.5:
            value = net.step("ADD", [value, twins[int(dice.integers(len(twins)))]], ops.BinaryAttrs())
        values.append(value)
    ends: list[Callable[[Var], Var]] = [
        lambda each: each,
        net.last_row,
        lambda each: net.dense(each, 3),
        lambda each: net.step("MEAN", [each], ops.MeanAttrs(axes=(1, 2))),
    ]
    results = [ends[int(dice.integers(4))](values[-1])]
    if dice.random() < 0.3:
        results.append(ends[int(dice.integers(4))](values[int(dice.integers(len(values)))]))
    return net.build(results), SlidingInput(name="x", axis=1, step=step, rows=rows)


def _layer(net: Streams, dice: np.random.Generator, value: Var) -> Var:
    height, width = value.type.shape[1:3]
    kind = int(dice.integers(7))
    window, dilation = int(dice.integers(1, 5)), int(dice.integers(1, 4))
    stride = int(dice.choice([1, 1, 1, 2, 2, 3, 4]))
    if kind < 3:
        padding = _padding(dice, height, width, window, stride, dilation)
        if padding is None:
            return value
        channels = int(dice.integers(1, 4))
        return net.conv(
            value, channels, (window, 1), stride=(stride, 1), dilation=(dilation, 1), padding=padding
        )
    padding = _padding(dice, height, width, window, stride, 1)
    if kind == 3 and padding is not None:
        return net.depthwise(value, (window, 1), stride=(stride, 1), padding=padding)
    if kind == 4 and padding is not None and max(padding.top, padding.bottom) < window:
        attrs = ops.PoolAttrs(window=(window, 1), stride=(stride, 1), padding=padding)
        op = "AVERAGE_POOL_2D" if dice.random() < 0.5 else "MAX_POOL_2D"
        return net.step(op, [value], attrs)
    if kind == 5:
        front, back = int(dice.integers(4)), int(dice.integers(3))
        zero = float(value.type.zero_point)
        pads = ops.PadAttrs(paddings=((0, 0), (front, back), (0, 0), (0, 0)), value=zero)
        return net.step("PAD", [value], pads)
    if kind == 6 and height > 3:
        begin, jump = int(dice.integers(3)), int(dice.integers(1, 3))
        counts = (1, (height - begin + jump - 1) // jump, *value.type.shape[2:])
        crop = ops.StridedSliceAttrs(
            begins=(0, begin, 0, 0), strides=(1, jump, 1, 1), counts=counts, shape=counts
        )
        return net.step("STRIDED_SLICE", [value], crop)
    return value


def _padding(
    dice: np.random.Generator, height: int, width: int, window: int, stride: int, dilation: int
) -> ops.Padding2D | None:
    """SAME, VALID or causal padding; None where no window fits."""
    reach = (window - 1) * dilation + 1
    kind = int(dice.integers(3))
    if kind == 0:
        top, bottom = same(height, window, stride, dilation)
        return ops.Padding2D(top=top, bottom=bottom)
    if kind == 1:
        return ops.Padding2D(top=reach - 1)
    return ops.Padding2D() if reach <= height else None


def stream(type_: TensorType, axis: int, rows: int, seed: int) -> np.ndarray:
    """So many random rows of a window's type."""
    shape = (*type_.shape[:axis], rows, *type_.shape[axis + 1 :])
    dice = np.random.default_rng(seed)
    if type_.dtype is DType.FLOAT32:
        return dice.standard_normal(shape).astype(np.float32)
    low, high = type_.dtype.limits
    return dice.integers(low, high, shape, endpoint=True).astype(type_.dtype.numpy)


def differences(sliding: Sliding, calls: int, seed: int = 0) -> int:
    """Calls, from the first full window on, whose results differ from those of the window computed whole."""
    return sum(
        any(one.tobytes() != two.tobytes() for one, two in zip(moved, whole, strict=True))
        for moved, whole in both(sliding, calls, seed)
    )


def both(
    sliding: Sliding, calls: int, seed: int
) -> Iterator[tuple[Sequence[np.ndarray], Sequence[np.ndarray]]]:
    """Results of each call from the first full window on: sliding, and whole."""
    window, function = sliding.window, sliding.module.main
    type_ = sliding.whole.main.params[0].type
    rows = stream(type_, window.axis, calls * window.step, seed)
    held: list[np.ndarray] = []
    for state in function.states:
        old = function.params[state.param].type
        held.append(np.frombuffer(state.initial, old.dtype.numpy).reshape(old.shape))
    for call in range(calls):
        end = (call + 1) * window.step
        new = rows.take(range(end - window.step, end), axis=window.axis)
        results = evaluate(sliding.module, function, [new, *held])
        count = len(results) - len(held)
        held = results[count:]
        if call >= sliding.calls - 1:
            whole = rows.take(range(end - window.rows, end), axis=window.axis)
            yield results[:count], evaluate(sliding.whole, sliding.whole.main, [whole])
